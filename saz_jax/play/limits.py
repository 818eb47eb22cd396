"""What a move may cost."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Limits:
    """The first one that is reached ends a search; without any it runs until it is stopped."""

    simulations: int | None = None
    """Simulations of the root in all, those of a subtree that was kept included."""
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.simulations is not None and self.simulations < 1:
            raise ValueError(f"simulations={self.simulations} is too few; use 1 or more")
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise ValueError(f"seconds={self.seconds} is no time limit; use a positive number")
