"""How strong the shipped players are on boards that they never saw: the matches and their table."""

import dataclasses
from pathlib import Path
from typing import Any

from saz_jax.agents.agent import load_agent, shipped_agents
from saz_jax.arena.series import MatchConfig
from saz_jax.render.figures import markdown_table, outcome_text
from saz_jax.storage.results import read_json
from saz_jax.studies import paper

UNSEEN = {
    "othello": (16, 20),
    "gomoku": (17, 19),
    "go": (9, 15),
    "hex": (11, 13),
    "breakthrough": (10, 12),
    "clobber": (10, 12),
}
"""Board sides of the matches, larger than any trained one."""
OPPONENTS = ("greedy", "random")
RIVAL_OPENING = 6
"""Random plies before two deterministic players take over, so that their games differ."""
BEGIN, END = "<!-- strength: begin -->\n", "<!-- strength: end -->\n"
"""Marks around the table in the page."""


def matches(games: int, runs: int, simulations: int) -> dict[str, MatchConfig]:
    """By file: all players against greedy and random, the default ones against their rivals as well."""
    game_of = {name: load_agent(name).game_name for name in sorted(shipped_agents())}
    found = {}
    for name, game in game_of.items():
        config = MatchConfig(
            game=game, player=name, sizes=UNSEEN[game], games=games, runs=runs, simulations=simulations
        )
        for opponent in OPPONENTS:
            found[f"{name}-{opponent}.json"] = dataclasses.replace(config, opponent=opponent)
        rivals = [other for other in game_of if name == game == game_of[other] and other != name]
        for rival in rivals:
            found[f"{name}-{rival}.json"] = dataclasses.replace(
                config, opponent=rival, opening_moves=RIVAL_OPENING
            )
    return found


def table(folder: Path) -> str:
    """All files of results in `folder` as one Markdown table."""
    header = [
        "board",
        "player",
        "opponent",
        "outcome",
        "95% interval",
        "won / tied / lost",
        "different games",
    ]
    header += ["runs x games", "simulations", "paper's SAZ"]
    rows = []
    for path in sorted(folder.glob("*.json")):
        data = read_json(path)
        config = data["config"]
        for size, result in sorted(data["sizes"].items(), key=lambda item: int(item[0])):
            rows.append([f"{config['game']} {size}x{size}", *_cells(config, int(size), result)])
    return markdown_table(header, sorted(rows, key=lambda row: (row[0].split()[0], row[2], row[0], row[1])))


def with_table(page: str, folder: Path) -> str:
    """The text of a page with the table of the results in `folder` between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(
            f"the page has no place for the table; write {BEGIN.strip()} and {END.strip()} into it"
        )
    return f"{before}{BEGIN}\n{table(folder)}\n{END}{after}"


def _cells(config: dict[str, Any], size: int, result: dict[str, Any]) -> list[str]:
    low, high = result["wilson"]
    theirs = (
        paper.ABLATION.get((config["game"], size), {}).get("saz") if config["opponent"] == "greedy" else None
    )
    return [
        config["player"],
        config["opponent"],
        outcome_text(result),
        f"{low:.2f} to {high:.2f}",
        f"{result['wins']} / {result['ties']} / {result['losses']}",
        str(result["distinct_games"]),
        f"{len(result['runs'])} x {config['games']}",
        str(config["simulations"]),
        f"{theirs.mean:.2f} ± {theirs.error:.2f}" if theirs else "-",
    ]
