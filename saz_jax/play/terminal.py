"""A game in the terminal, line by line: for scripts, and where there is no screen to draw on.

Every line is a move (D3, pass) or a word from `HELP`; whoever is no person moves by itself.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from saz_jax.play.seats import PERSON
from saz_jax.render.text import show

if TYPE_CHECKING:
    from saz_jax.play.session import Session
    from saz_jax.play.thinking import Analysis

HELP = """D3, pass      play a move; where stones are moved, B2-C3 or b2c3
undo, redo    take back or play again, both sides' last moves
hint          what the other player would do
go            let the other player make this move
moves         all that is legal
save FILE     write the game as SGF, or as JSON where SGF knows no such game; load FILE reads one
new, resign, show, help, quit"""
BARS = "▁▂▃▄▅▆▇█"


class Terminal:
    """A session, a text stream to read from and one to write to."""

    def __init__(self, session: "Session", out: IO[str]):
        self.session, self.out = session, out
        self.curve: dict[int, float] = {}
        """{moves so far: dark's chance to win}, as the player that searches sees it after its own moves."""
        self.over = False

    def say(self, text: str) -> None:
        """Writes a line or more."""
        self.out.write(text + "\n")
        self.out.flush()

    def run(self, lines: IO[str]) -> None:
        """Plays until the lines end, or somebody quits."""
        self.show()
        self.session.prepare()
        self.others_move()
        for line in lines:
            self.hear(line.strip())
            if self.over:
                return
            self.others_move()

    def hear(self, line: str) -> None:
        """One line of a person; mistakes are answered in a sentence."""
        word, _, rest = line.partition(" ")
        words: dict[str, Callable[[str], None]] = {
            "undo": lambda rest: self.undo(),
            "redo": lambda rest: self.redo(),
            "hint": lambda rest: self.hint(),
            "go": lambda rest: self.go(),
            "moves": lambda rest: self.say(" ".join(map(self.session.name, self.session.legal_points()))),
            "save": self.save,
            "load": self.load,
            "new": lambda rest: self.new(),
            "resign": lambda rest: self.resign(),
            "show": lambda rest: self.show(),
            "help": lambda rest: self.say(HELP),
            "quit": lambda rest: self.quit(),
        }
        if not line:
            return
        try:
            if word.lower() in words:
                words[word.lower()](rest.strip())
            else:
                self.session.play(self.session.read_move(line))
                self.show()
        except (ValueError, OSError, ImportError) as error:
            self.say(f"{error} (help lists what can be said)")

    def others_move(self) -> None:
        """Lets the players that are no people move."""
        session = self.session
        while not session.over and session.player(session.to_play) != PERSON:
            colour = session.to_play
            try:
                analysis = session.move()
            except ValueError as error:
                self.say(f"{session.player(colour)} cannot move: {error}")
                return
            self.note(analysis, colour)
            self.show()
            if not session.over:
                self.say(self.judgement(analysis, colour))

    def note(self, analysis: "Analysis", colour: int) -> None:
        """Adds to the win curve."""
        self.forget()
        if analysis.value is not None:
            self.curve[len(self.session.moves)] = (1 + analysis.value * colour) / 2

    def forget(self) -> None:
        """Takes what was taken back out of the win curve."""
        self.curve = {ply: chance for ply, chance in self.curve.items() if ply <= len(self.session.moves)}

    def judgement(self, analysis: "Analysis", colour: int) -> str:
        """What the search thinks, in a line."""
        if analysis.value is None:
            return ""
        chance = (1 + analysis.value * colour) / 2
        line = " ".join(self.session.name(self.session.point(a)) for a in best_line(analysis)[:6])
        return (
            f"dark {bar(chance)} {100 * chance:.0f}%   best line {line}   "
            f"{analysis.simulations} simulations in {analysis.seconds:.1f} s"
        )

    def show(self) -> None:
        """The board, and whose turn it is."""
        session = self.session
        last = session.action(session.last_move) if session.moves else None
        self.say(show(session.state, last, session.game))
        if session.over:
            self.say(f"the game is over: {outcome_text(session)}")

    def undo(self) -> None:
        """Takes moves back until a person is to move again."""
        self.session.undo()
        while (
            self.session.moves and self.session.player(self.session.to_play) != PERSON and self.has_person()
        ):
            self.session.undo()
        self.show()

    def redo(self) -> None:
        """Plays again what `undo` took back."""
        self.session.redo()
        while (
            self.session.player(self.session.to_play) != PERSON
            and self.session.can_redo
            and self.has_person()
        ):
            self.session.redo()
        self.show()

    def has_person(self) -> bool:
        """Whether somebody sits at the keyboard."""
        return PERSON in (self.session.setup.dark, self.session.setup.light)

    def hint(self, stop: threading.Event | None = None) -> None:
        """What the other player would do."""
        colour = self.session.to_play
        analysis = self.session.think(stop=stop)
        self.say(
            f"{self.session.name(self.session.point(analysis.action))}   {self.judgement(analysis, colour)}"
        )

    def go(self) -> None:
        """The other player makes this move."""
        analysis = self.session.think()
        self.session.play(self.session.point(analysis.action))
        self.show()

    def save(self, path: str) -> None:
        """Writes the game."""
        if not path:
            raise ValueError("save takes the name of a file")
        Path(path).write_text(self.session.record_text())
        self.say(f"saved to {path}")

    def load(self, path: str) -> None:
        """Reads a game."""
        if not path:
            raise ValueError("load takes the name of a file")
        self.session.load_record(Path(path).read_text())
        self.curve.clear()
        self.show()

    def new(self) -> None:
        """Begins again."""
        self.session.restart()
        self.curve.clear()
        self.show()

    def resign(self) -> None:
        """The person gives up."""
        self.session.resign()
        self.show()

    def quit(self) -> None:
        """Ends the loop."""
        self.over = True


def best_line(analysis: "Analysis") -> tuple[int, ...]:
    """The variation of the move that would be played."""
    return analysis.candidates[0].variation if analysis.candidates else (analysis.action,)


def bar(chance: float, width: int = 20) -> str:
    """A value bar: dark's share is filled."""
    filled = round(chance * width)
    return "█" * filled + "░" * (width - filled)


def sparkline(chances: list[float], width: int) -> str:
    """The win curve: dark's chances, the newest to the right."""
    return "".join(BARS[min(int(chance * len(BARS)), len(BARS) - 1)] for chance in chances[-width:])


def outcome_text(session: "Session") -> str:
    """Who has won, and by how much."""
    winner = {1: "dark wins", -1: "light wins", 0: "a tie"}[session.outcome]
    return f"{winner} ({session.result()})"
