"""Programs of others that we know how to start: a line for each, found if it is installed."""

import dataclasses

from saz_jax.arena.engines import EngineError, found_command


@dataclasses.dataclass(frozen=True)
class KnownEngine:
    """A program, the game and the boards it plays, and its levels."""

    name: str
    game: str
    player: str
    """The text of the player, with {level} where its level goes."""
    sides: tuple[int, int]
    """The smallest and the largest board that it plays."""
    levels: tuple[int, ...]

    def at(self, level: int) -> str:
        """The text of the player at a level."""
        return self.player.format(level=level)

    @property
    def installed(self) -> bool:
        """Whether its program is there."""
        try:
            return bool(found_command(self.player.partition(":")[2]))
        except EngineError:
            return False


GNUGO = "gtp:gnugo --mode gtp --level {level} --chinese-rules --positional-superko --capture-all-dead"
KNOWN = (
    KnownEngine("GNU Go", "go", GNUGO, sides=(5, 19), levels=(1, 10)),
    KnownEngine("grhino", "othello", "gtp:gtp-rhino --level {level}", sides=(8, 8), levels=(1, 3, 5)),
)
"""Add a line, and `saz ladder` plays it."""


def installed_engines(game: str, side: int) -> dict[str, str]:
    """{text of a player: its short name} of all programs here that play this board, at all their levels."""
    return {
        engine.at(level): f"{engine.name} level {level}"
        for engine in KNOWN
        if engine.game == game and engine.sides[0] <= side <= engine.sides[1] and engine.installed
        for level in engine.levels
    }
