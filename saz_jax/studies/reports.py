"""Every study as a section of Markdown and a figure, and all of them as one page, from JSON files alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from saz_jax.storage.results import read_json
from saz_jax.studies import figures, paper, tables
from saz_jax.studies.tables import Data

PAGE = "README.md"
INTRODUCTION = """# Train on small, play the large: the experiments

An average outcome counts 1 for a win, 0.5 for a tie and 0 for a loss; ± is the standard error over
independent runs of games between the same trained networks. `python experiments/reproduce.py --report-only`
makes this page of the JSON files beside it.

"""
SHARED = (
    "Weights are shared: a player that was trained as another model differs from it at play time only, while "
    "the paper leaves components out of the training too."
)


class Report(NamedTuple):
    """How a study is shown."""

    title: str
    table: Callable[[Data], str]
    draw: Callable[[Data], Any]
    """-> a matplotlib figure"""


def _models(title: str, numbers: paper.Outcomes) -> Report:
    """Models in rows and boards in columns, beside the paper's numbers."""
    return Report(title, tables.models(numbers), figures.models(numbers))


REPORTS = {
    "complexity": Report("Table 1: states and actions", tables.complexity, figures.complexity),
    "ablation": _models("Table 2: one component left out, against greedy", paper.ABLATION),
    "generalisation": Report(
        "Figure: generalisation to larger boards", tables.generalisation, figures.generalisation
    ),
    "embedding": Report("Figure: embeddings of a good and a bad action", tables.embedding, figures.embedding),
    "training_time": Report("Figure: skill over the training", tables.training_time, figures.training_time),
    "against_az": _models("Table 3: against AZ trained on the tested board", paper.AGAINST_AZ),
    "go": _models("Go: against AZ trained on the tested board", paper.GO),
    "equal_compute": Report("Subgraphs at equal compute", tables.equal_compute, figures.equal_compute),
    "fine_tuning": Report("Fine-tuning on the large board", tables.fine_tuning, figures.fine_tuning),
}
"""In the order of the page."""


def write_section(results: Path, name: str) -> str:
    """Writes the section and the figure of a study beside its file of results; returns the section."""
    data = read_json(results / f"{name}.json")
    text = section(name, data)
    if has_results(data):
        REPORTS[name].draw(data).savefig(results / f"{name}.png", dpi=110)
    (results / f"{name}.md").write_text(text)
    return text


def write_page(results: Path) -> Path:
    """Writes the sections and figures of all studies with a file of results, and one page of them all."""
    text = page(results)
    for name in _studied(results):
        write_section(results, name)
    path = results / PAGE
    path.write_text(text)
    return path


def page(results: Path) -> str:
    """The sections of all studies with a file of results as one page."""
    known = _studied(results)
    if not known:
        raise ValueError(f"{results} holds no results of any study; run one first, or name another --results")
    return INTRODUCTION + "\n".join(section(name, read_json(results / f"{name}.json")) for name in known)


def _studied(results: Path) -> list[str]:
    return [name for name in REPORTS if (results / f"{name}.json").exists()]


def section(name: str, data: Data) -> str:
    """Title, what the paper says, table, figure and notes of a study."""
    title, table, _ = REPORTS[name]
    parts = [f"## {title}"]
    if name in paper.STATEMENTS:
        parts.append(f"The paper: {paper.STATEMENTS[name]}")
    if has_results(data):
        parts += [table(data).rstrip(), f"![{title}]({name}.png)"]
    else:
        parts.append("There are no results yet.")
    return "\n\n".join([*parts, *notes(data)]) + "\n"


def has_results(data: Data) -> bool:
    """Whether there is anything to show yet."""
    return bool(data["matches"] or data.get("boards") or data.get("embedding"))


def notes(data: Data) -> list[str]:
    """What a reader needs to judge the numbers: the games, how each player was trained, the hardware."""
    agents = [facts for facts in data["players"].values() if "weights" in facts]
    trained = [_training(facts) for facts in agents if "-stage-" not in facts["label"]]
    hardware = data["hardware"]
    machine = f"{hardware['processor']}, {hardware['cores']} cores, {hardware['backend']}"
    shared = any(facts["plays_as"] != facts["trained_as"] for facts in agents)
    paragraphs = [
        _games(data) if data["matches"] else "",
        SHARED if shared else "",
        "\n".join(trained),
        f"{machine}; {data['date']}; {data['seconds'] / 60:.1f} minutes.",
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def _games(data: Data) -> str:
    """The games that were played."""
    name, budget, matches = data["config"]["budget_name"], data["config"]["budget"], data["matches"].values()
    played = sum(match["wins"] + match["ties"] + match["losses"] for match in matches)
    distinct = sum(match["distinct_games"] for match in matches)
    return (
        f"Budget {name}: {budget['games']} games x {budget['runs']} runs a match, {budget['opening_moves']} "
        f"random plies first, {budget['simulations']} simulations a move; {distinct} of {played} differ."
    )


def _training(facts: Data) -> str:
    """How a player was trained, in one line."""
    name = facts["label"].partition("-")[0]  # model3-equal-seconds is model3
    sides = ", ".join(map(str, facts["trained_sizes"]))
    length = "" if facts["minutes"] is None else f", {facts['minutes']:g} minutes"
    return f"- {facts['game']} {name}: trained as {facts['trained_as']} on sides {sides}{length}"
