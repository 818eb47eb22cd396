"""Model cards of the shipped players: what they were trained on, how strong they are, where they are weak.

A card is made of the player's own files, of the results of its matches and of `notes.md` in its folder, which
holds what only a person can tell.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saz_jax.agents.agent import EXPORT, Agent, load_agent
from saz_jax.agents.shipping import TENSORS, command, facts_of
from saz_jax.config import SearchConfig, to_json
from saz_jax.render.figures import markdown_table, outcome_text
from saz_jax.storage.metrics import read_metrics
from saz_jax.storage.results import read_json

CARD = "README.md"
NOTES = "notes.md"
MATCH_HEADER = ("board", "opponent", "outcome", "95% interval", "won / tied / lost", "simulations")


def card(folder: Path, results: Path) -> str:
    """The text of the card of the player in `folder`, with the matches in `results` that it played."""
    name, agent, facts = folder.name, load_agent(folder), facts_of(folder)
    last, notes = read_metrics(folder)[-1], folder / NOTES
    sides = ", ".join(map(str, agent.trained_sizes))
    parts = [
        f"# {name}",
        f"A player of {agent.game_name}, trained by self-play on boards of side {sides} and meant for any "
        f'side. `saz_jax.load_agent("{name}")` loads it, `saz play --game {agent.game_name} --agent {name}` '
        "plays it.",
        "## Training",
        markdown_table(("", ""), _training(agent, facts, last)),
        f"The same training again:\n\n```\n{command(folder.parent, name, agent, facts)}\n```",
        "`metrics.csv` is its log, `curve.png` its curve, `config.json` holds every setting.",
        "## How it plays",
        markdown_table(("setting", "value"), _settings(agent)),
        *_beyond_the_paper(agent.search),
        "## Measured strength",
        _strength(name, results),
        "## Known weaknesses",
        notes.read_text().strip() if notes.exists() else "Nobody has written any down yet.",
        "## Files",
        f"`{EXPORT}` and `{TENSORS}` hold the same arrays by the same names, with the facts about the player "
        "as JSON (`about`). The weights are under the licence of this repository, Apache-2.0.",
        "This card is written by `python experiments/ship.py`.",
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def write_cards(weights: Path, results: Path) -> None:
    """Writes a card into every folder of weights."""
    for path in sorted(weights.glob(f"*/{EXPORT}")):
        (path.parent / CARD).write_text(card(path.parent, results))


def _training(agent: Agent, facts: Mapping[str, Any], last: Mapping[str, Any]) -> list[list[str]]:
    hardware, before = facts["hardware"], agent.meta.get("before")
    earlier = f"{before['positions']:,} positions, {before['seconds'] / 60:.0f} minutes" if before else ""
    return [
        ["model", agent.model.name],
        ["board sides", ", ".join(map(str, agent.trained_sizes))],
        ["positions of self-play", f"{last['positions']:,}"],
        ["minutes", f"{last['seconds'] / 60:.0f}"],
        *([["trained before, in other runs", earlier]] if before else []),
        ["hardware", f"{hardware['processor']}, {hardware['cores']} cores, {hardware['backend']}"],
        ["seed", str(facts["config"]["seed"])],
        ["date", facts["date"][:10]],
        ["jax", facts["versions"]["jax"]],
    ]


def _settings(agent: Agent) -> list[list[str]]:
    """What differs from the defaults, which are the paper's."""
    network, search = to_json(agent.model)["network"], to_json(agent.search)
    plain = {f"search.{key}": value for key, value in to_json(SearchConfig()).items()}
    rows = [[f"`network.{key}`", f"{value}"] for key, value in network.items()]
    return rows + [
        [f"`search.{key}`", f"{value}"]
        for key, value in search.items()
        if plain.get(f"search.{key}") != value or key in ("kind", "simulations")
    ]


def _beyond_the_paper(search: SearchConfig) -> list[str]:
    """What its search is told that the paper's player has to find out."""
    told = []
    if search.heuristic_weight:
        told.append(
            f"Its search weighs the greedy player's score against the network ({search.heuristic_weight:g} : "
            f"{1 - search.heuristic_weight:g}). With `heuristic_weight=0` the network decides alone."
        )
    if search.take_wins:
        told.append("The rules tell its search which moves win at once.")
    return told


def _strength(name: str, results: Path) -> str:
    rows = []
    for path in sorted(results.glob("*.json")):
        data = read_json(path)
        config = data["config"]
        if config["player"] != name:
            continue
        for side, result in sorted(data["sizes"].items(), key=lambda item: int(item[0])):
            low, high = result["wilson"]
            rows.append(
                [
                    f"{side}x{side}",
                    config["opponent"],
                    outcome_text(result),
                    f"{low:.2f} to {high:.2f}",
                    f"{result['wins']} / {result['ties']} / {result['losses']}",
                    str(config["simulations"]),
                ]
            )
    if not rows:
        return "Not measured yet; `python experiments/strength.py` does it."
    return (
        "A win counts 1, a tie 0.5, a loss 0; half of the games with each colour.\n\n"
        f"{markdown_table(MATCH_HEADER, rows)}\n"
        "Measured by `python experiments/strength.py`."
    )
