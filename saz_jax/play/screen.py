"""A game on the whole terminal screen: cursor, value bar, win curve, hints.

Drawn with curses, so that it works over ssh, without colour, and in 80x24 up to 19x19.  What is drawn is made
by `picture`, which knows nothing of curses; thinking goes on in the background, and the screen stays alive.
"""

import curses
import io
import os
import queue
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from saz_jax.coordinates import ends
from saz_jax.games.notation import column_name
from saz_jax.play.seats import PERSON
from saz_jax.play.terminal import Terminal, bar, best_line, outcome_text, sparkline

if TYPE_CHECKING:
    from saz_jax.play.session import Session
    from saz_jax.play.thinking import Analysis

WIDTH, HEIGHT = 80, 24
KEYS = (
    "arrows  move the cursor",
    "enter   play there, or from and to",
    "p pass    u undo    r redo",
    "h hint    g let it move",
    "m show legal moves",
    "s save    o open    n new",
    "x resign  q quit",
    ":D3 plays D3",
    "space stops its thinking",
)
POLL = 50
"""Milliseconds between two looks at the keyboard."""


class Scene(NamedTuple):
    """All that the picture shows besides the game."""

    cursor: tuple[int, int]
    message: str = ""
    thinking: bool = False
    ready: bool = True
    """Whether everything is compiled."""
    analysis: "Analysis | None" = None
    analysed_for: int = 1
    """Whose turn it was when that analysis was made."""
    curve: tuple[float, ...] = ()
    show_legal: bool = False
    start: tuple[int, int] | None = None
    """Where the move starts that is being made; None: nothing is chosen yet."""
    prompt: str | None = None


class Cell(NamedTuple):
    """Some text at a place of the screen."""

    row: int
    column: int
    text: str
    bold: bool = False
    reverse: bool = False


def picture(session: "Session", scene: Scene, plain: bool = False) -> list[Cell]:
    """What is drawn, from the top left; `plain` uses ASCII alone."""
    stones = {1: "X", -1: "O", 0: "."} if plain else {1: "●", -1: "○", 0: "·"}
    size, board = session.size, session.view.board
    margin = len(str(size)) + 1
    wide = 2 if size <= 26 else 3
    moves = [points for points in map(ends, session.legal_points()) if points]
    legal = {points[-1] for points in moves if scene.show_legal and scene.start in (None, points[0])}
    head = "".join(f"{column_name(column):>{wide}}" for column in range(size))
    cells = [Cell(0, margin - 1, head)]
    last = ends(session.last_move)
    for row in range(size):
        cells.append(Cell(row + 1, 0, f"{row + 1:>{margin - 1}}"))
        for column in range(size):
            point, stone = (row, column), int(board[row, column])
            text = stones[stone] if session.points[row, column] else " "
            if stone == 0 and point in legal:
                text = "+"
            at = margin - 1 + wide * column + wide - 1
            marked = point in (scene.cursor, scene.start)
            cells.append(Cell(row + 1, at, text, bold=stone != 0, reverse=marked))
            if point in last:
                cells += [Cell(row + 1, at - 1, "("), Cell(row + 1, at + 1, ")")]
    right = margin + wide * size + 3
    lines = side_panel(session, scene)
    if right + 30 > WIDTH:  # a large board leaves no room at its side
        return cells + [Cell(size + 2 + n, 0, line) for n, line in enumerate(lines[:6])]
    cells += [Cell(n, right, line[: WIDTH - right]) for n, line in enumerate(lines[: HEIGHT - 2])]
    status = f":{scene.prompt}_" if scene.prompt is not None else scene.message
    return [*cells, Cell(max(size + 2, HEIGHT - 2), 0, status[: WIDTH - 1])]


def side_panel(session: "Session", scene: Scene) -> list[str]:
    """Players, turn, value, curve, best line and keys."""
    setup = session.setup
    turn = "dark" if session.to_play == 1 else "light"
    state = outcome_text(session) if session.over else f"{turn} to play, move {len(session.moves) + 1}"
    lines = [
        f"{session.game.name} {session.size}x{session.size}",
        f"● {setup.dark}",
        f"○ {setup.light}",
        state,
        "" if not scene.thinking else "thinking ..." if scene.ready else "getting ready ...",
    ]
    if scene.analysis is not None and scene.analysis.value is not None:
        chance = (1 + scene.analysis.value * scene.analysed_for) / 2
        line = " ".join(session.name(session.point(a)) for a in best_line(scene.analysis)[:6])
        lines += [
            f"dark {bar(chance, 16)} {100 * chance:3.0f}%",
            f"{scene.analysis.simulations} simulations, {scene.analysis.seconds:.1f} s",
            line,
        ]
    else:
        lines += ["", "", ""]
    lines += [sparkline(list(scene.curve), 30), ""]
    return lines + list(KEYS)


class Screen:
    """The game on the screen, and the thread that thinks."""

    def __init__(self, session: "Session", plain: bool = False):
        self.session, self.plain = session, plain
        self.words = io.StringIO()
        self.terminal = Terminal(session, self.words)
        middle = session.size // 2
        self.scene = Scene((middle, middle))
        self._news: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.over = False

    def run(self) -> None:
        """Takes the screen until the game is left."""
        os.environ.setdefault("ESCDELAY", "25")
        curses.wrapper(self._loop)

    def _loop(self, window: Any) -> None:
        curses.curs_set(0)
        window.timeout(POLL)
        self._get_ready()
        while not self.over:
            self.advance()
            self._paint(window)
            key = window.getch()
            if key != -1:
                self.press(key)
        self._stop.set()

    def _get_ready(self) -> None:
        """Compiles in the background while the person looks at the board."""

        def prepare() -> None:
            try:
                self.session.prepare()
                self._news.put(("ready", "ready"))
            except Exception as error:  # its first move will say so again
                self._news.put(("ready", str(error)))

        self.scene = self.scene._replace(ready=False)
        self.tell("getting ready")
        threading.Thread(target=prepare, daemon=True).start()

    def _paint(self, window: Any) -> None:
        window.erase()
        height, width = window.getmaxyx()
        for cell in picture(self.session, self.scene, self.plain):
            if 0 <= cell.row < height and 0 <= cell.column < width - 1:
                style = (curses.A_BOLD if cell.bold else 0) | (curses.A_REVERSE if cell.reverse else 0)
                window.addstr(cell.row, cell.column, cell.text[: width - 1 - cell.column], style)
        window.refresh()

    def tell(self, message: str) -> None:
        """A sentence below the board."""
        self.scene = self.scene._replace(message=" ".join(message.split()))

    def advance(self) -> None:
        """Takes in what the thinking brought, and begins the next one."""
        while not self._news.empty():
            kind, value = self._news.get()
            if kind == "report":
                self.scene = self.scene._replace(analysis=value[0], analysed_for=value[1])
            elif kind == "done":
                self._thread = None
                analysis, colour, hint = value
                if not hint:
                    self.terminal.note(analysis, colour)
                self.scene = self.scene._replace(analysis=analysis, analysed_for=colour, thinking=False)
                move = self.session.name(self.session.point(analysis.action))
                self.tell(f"hint: {move}" if hint else f"it played {move}")
            elif kind == "ready":
                self.scene = self.scene._replace(ready=True)
                self.tell(str(value))
            else:
                self._thread = None
                self.scene = self.scene._replace(thinking=False)
                self.tell(str(value))
        session = self.session
        self.terminal.forget()
        self.scene = self.scene._replace(curve=tuple(self.terminal.curve.values()))
        if self._thread is None and not session.over and session.player(session.to_play) != PERSON:
            if self.scene.message.startswith("it cannot move"):
                return
            self._begin(hint=False)

    def _begin(self, hint: bool) -> None:
        """Thinks in the background: a move, or a hint."""
        if self._thread is not None:
            return
        self._stop.clear()
        colour = self.session.to_play

        def report(analysis: "Analysis") -> None:
            self._news.put(("report", (analysis, colour)))

        def think() -> None:
            try:
                work = self.session.think if hint else self.session.move
                analysis = work(stop=self._stop, report=report)
                self._news.put(("done", (analysis, colour, hint)))
            except Exception as error:  # shown to the person, who can take back or begin anew
                self._news.put(("error", f"it cannot move: {error}"))

        self.scene = self.scene._replace(thinking=True)
        self._thread = threading.Thread(target=think, daemon=True)
        self._thread.start()

    def press(self, key: int) -> None:
        """One key."""
        if self.scene.prompt is not None:
            self._type(key)
            return
        row, column = self.scene.cursor
        last = self.session.size - 1
        steps = {
            curses.KEY_UP: (-1, 0),
            curses.KEY_DOWN: (1, 0),
            curses.KEY_LEFT: (0, -1),
            curses.KEY_RIGHT: (0, 1),
        }
        if key in steps:
            down, right = steps[key]
            cursor = (min(max(row + down, 0), last), min(max(column + right, 0), last))
            self.scene = self.scene._replace(cursor=cursor)
            return
        if key == ord(" ") and self._thread is not None:
            self._stop.set()
            return
        name = chr(key) if 0 < key < 256 else ""
        if name == "q":
            self.over = True
        elif name == ":":
            self.scene = self.scene._replace(prompt="")
        elif name == "m":
            self.scene = self.scene._replace(show_legal=not self.scene.show_legal)
        elif self._thread is not None:
            self.tell("it is thinking; space stops it")
        else:
            self._act(key, name)

    def _act(self, key: int, name: str) -> None:
        session = self.session
        actions = {
            "p": lambda: session.play(None),
            "u": self.terminal.undo,
            "r": self.terminal.redo,
            "h": lambda: self._begin(hint=True),
            "g": lambda: self._begin_move(),
            "n": self.terminal.new,
            "x": session.resign,
            "s": lambda: self._open_prompt("save "),
            "o": lambda: self._open_prompt("load "),
        }
        try:
            if key in (curses.KEY_ENTER, ord("\n"), ord("\r")):
                self._enter()
            elif name in actions:
                self.tell("")
                actions[name]()
        except (ValueError, OSError, ImportError) as error:
            self.tell(str(error))

    def _enter(self) -> None:
        """Plays at the cursor, or chooses the stone there to be moved."""
        here, start = self.scene.cursor, self.scene.start
        starts = {points[0] for points in map(ends, self.session.legal_points()) if len(points) == 2}
        if here in starts and start != here:
            self.scene = self.scene._replace(start=here)
            self.tell("where to?")
            return
        self.scene = self.scene._replace(start=None)
        if start != here:
            self.session.play(here if start is None else (start, here))
        self.tell("")

    def _begin_move(self) -> None:
        """The other player makes a person's move."""
        if self.session.player(self.session.to_play) == PERSON:
            self.terminal.go()

    def _open_prompt(self, text: str) -> None:
        self.scene = self.scene._replace(prompt=text)

    def _type(self, key: int) -> None:
        prompt = self.scene.prompt or ""
        if key in (curses.KEY_ENTER, ord("\n"), ord("\r")):
            self.scene = self.scene._replace(prompt=None)
            before = len(self.words.getvalue())
            self.terminal.hear(prompt.strip())
            said = self.words.getvalue()[before:].strip().splitlines()
            self.tell(said[-1] if said else "")
            self.over = self.over or self.terminal.over
        elif key == 27:
            self.scene = self.scene._replace(prompt=None)
        elif key in (curses.KEY_BACKSPACE, 127, 8):
            self.scene = self.scene._replace(prompt=prompt[:-1])
        elif 32 <= key < 127:
            self.scene = self.scene._replace(prompt=prompt + chr(key))


def wait_for(screen: Screen, seconds: float = 10.0) -> None:
    """Lets the thinking come to its end; for whoever drives a screen without a terminal."""
    end = time.monotonic() + seconds
    screen.advance()
    while screen._thread is not None and time.monotonic() < end:
        time.sleep(0.01)
        screen.advance()
