"""How long a move may take: main time and overtime of both sides, as GTP and Gomocup tell them."""

import dataclasses

from saz_jax.play.limits import Limits

RESERVE = 0.1
"""Seconds of every limit that are kept back for talking."""
SHARE = 0.9
"""What is spent of a limit that must not be exceeded."""
FEWEST_MOVES = 8
"""A side is believed to have at least so many moves ahead of it."""


@dataclasses.dataclass
class Clock:
    """Limits in seconds; None: no such limit."""

    per_move: float | None = None
    """No move may take longer."""
    main: float | None = None
    overtime: float = 0.0
    """Time for each `stones` moves once the main time is over; 0: there is none."""
    stones: int = 0
    left: dict[int, float] = dataclasses.field(default_factory=dict)
    """{colour: seconds left}, of the main time or of the overtime at hand."""
    stones_left: dict[int, int] = dataclasses.field(default_factory=dict)
    """{colour: moves to play in the overtime at hand}; absent in main time."""

    def spend(self, colour: int, seconds: float) -> None:
        """A move took so long."""
        if colour in self.left:
            self.left[colour] = max(self.left[colour] - seconds, 0.0)
        if self.stones_left.get(colour, 0) > 1:
            self.stones_left[colour] -= 1

    def allows(self, colour: int, moves_ahead: int) -> float | None:
        """Seconds for the next move of a side that has about `moves_ahead` moves to make; None: no limit."""
        bounds = [] if self.per_move is None else [SHARE * self.per_move]
        if self.main is not None:
            left = self.left.get(colour, self.main)
            stones = self.stones_left.get(colour, 0)
            if stones or (left <= 0 and self.stones):
                left, stones = (left, stones) if stones else (self.overtime, self.stones)
                bounds.append(SHARE * left / stones)
            else:
                ahead = max(moves_ahead, FEWEST_MOVES)
                # With overtime to fall back on, the main time may be spent sooner.
                bounds.append(left / (ahead / 2 if self.stones else ahead))
        if not bounds:
            return None
        return max(min(bounds) - RESERVE, min(bounds) / 2)

    def limits(self, own: Limits, colour: int, moves_ahead: int) -> Limits:
        """`own`, but within what the clock allows."""
        allowed = self.allows(colour, moves_ahead)
        if allowed is None:
            return own
        return Limits(own.simulations, allowed if own.seconds is None else min(own.seconds, allowed))
