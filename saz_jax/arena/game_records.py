"""Records of an arena's games as files: SGF, or plain text on boards too large for it."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from saz_jax.arena.lanes import Records
from saz_jax.games.shapes import to_text
from saz_jax.render.sgf import MAX_SIZE, to_sgf
from saz_jax.render.text import move_name
from saz_jax.types import Game

RESULTS = {1: "dark wins", 0: "tie", -1: "light wins"}


def check_writable(folder: Path) -> None:
    """Makes the folder; `ValueError` if that fails or SGF cannot be written, before any game is played."""
    if importlib.util.find_spec("sgfmill") is None:
        raise ValueError("records need sgfmill; pip install 'saz_jax[sgf]'")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {folder} ({error.strerror}); name another one") from error


def write_records(
    folder: Path, stem: str, game: Game, names: tuple[str, str], records: Records
) -> list[Path]:
    """One file for each game, `stem`-000.sgf and so on; `names` are those of the player and its opponent."""
    paths = []
    for index, (actions, points) in enumerate(zip(records.actions, records.points, strict=True)):
        size = int(records.sizes[index])
        shape: Any = size if points.sum() == size**2 else points
        moves = actions[actions >= 0].tolist()
        dark, light = names if records.colours[index] == 1 else names[::-1]
        if game.sgf is not None and size <= MAX_SIZE:
            kind, text = "sgf", to_sgf(game, shape, moves, dark, light)
        else:
            kind, text = (
                "txt",
                plain_record(game, to_text(points), moves, dark, light, records.outcomes[index]),
            )
        paths.append(folder / f"{stem}-{index:03d}.{kind}")
        paths[-1].write_text(text)
    return paths


def plain_record(
    game: Game, shape: str, moves: list[int], dark: str, light: str, outcome: float | np.floating
) -> str:
    """Game, names and result, then a numbered line for each move."""
    head = [
        f"{game.name} {shape}",
        f"dark: {dark}",
        f"light: {light}",
        f"result: {RESULTS[int(outcome)]}",
    ]
    lines = [
        f"{number}. {move_name(move, game.max_size, game.moves)}"
        for number, move in enumerate(moves, start=1)
    ]
    return "\n".join([*head, "", *lines]) + "\n"
