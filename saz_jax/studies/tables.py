"""The results of every study as Markdown tables, the paper's numbers beside ours; imports no jax."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from saz_jax.render.figures import markdown_table, outcome_text
from saz_jax.studies import paper

Data: TypeAlias = Mapping[str, Any]
"""What a study's file of results holds."""
Key = TypeVar("Key", bound=Hashable)
DASH = "-"
EQUAL = {f"model3-equal-{what}": f"equal {what}" for what in ("simulations", "evaluations", "seconds")}
"""Opponents of the comparison at equal compute, and what they have as much of."""


def group(matches: Iterable[Data], key: Callable[[Data], Key]) -> dict[Key, list[Data]]:
    """The matches of each key, in order of appearance."""
    groups: dict[Key, list[Data]] = {}
    for match in matches:
        groups.setdefault(key(match), []).append(match)
    return groups


def board(match: Data) -> paper.Board:
    """(game, side)"""
    return match["game"], match["size"]


def board_name(board: paper.Board) -> str:
    """othello 16x16"""
    return f"{board[0]} {board[1]}x{board[1]}"


def boards(data: Data) -> dict[paper.Board, list[Data]]:
    """The matches on each board."""
    return group(data["matches"].values(), board)


def by_size(data: Data) -> list[Data]:
    """All matches, small boards first."""
    return sorted(data["matches"].values(), key=lambda match: match["size"])


def by_model(matches: Iterable[Data]) -> dict[str, list[Data]]:
    """The matches of each model, in the order of the paper's tables; stages of one model together."""
    found = group(matches, lambda match: match["player"].partition("-stage-")[0])
    return {model: found[model] for model in paper.MODEL_NAMES if model in found}


def pairing(match: Data) -> str:
    """Who met whom in the fine-tuning."""
    names = {"model3": "before", "tuned": "after", "greedy": "greedy"}
    return f"{names[match['player']]} against {names[match['opponent']]}"


def complexity(data: Data) -> str:
    """States and actions, by the paper's formula and in the paper."""
    header = ["board", "states (n²)³", "paper", "actions n² + 1", "paper", "states 3^(n²), all stones"]
    rows = []
    for facts in data["boards"]:
        states, actions = paper.COMPLEXITY[board(facts)]
        numbers = (facts["states"], states, facts["actions"], actions)
        name = board_name(board(facts)).replace("gomoku", "gomoku, go")
        rows.append([name, *(f"{number:,}" for number in numbers), f"10^{facts['stones_log10']}"])
    return markdown_table(header, rows)


def models(numbers: paper.Outcomes) -> Callable[[Data], str]:
    """Models in rows, boards in columns, ours beside `numbers`, the paper's."""

    def table(data: Data) -> str:
        columns = {on: {match["player"]: match for match in found} for on, found in boards(data).items()}
        rows = []
        for model in by_model(data["matches"].values()):
            row = [paper.MODEL_NAMES[model]]
            for on, players in columns.items():
                row += [outcome_text(players[model]) if model in players else DASH]
                row += [_paper_text(numbers.get(on, {}).get(model))]
            rows.append(row)
        header = ["player", *(text for on in columns for text in (board_name(on), "paper"))]
        return markdown_table(header, rows)

    return table


def _paper_text(outcome: paper.Outcome | None) -> str:
    return outcome_text({"outcome": outcome.mean, "standard_error": outcome.error}) if outcome else DASH


def generalisation(data: Data) -> str:
    """A row for each game, opponent and player, a column for each board."""
    sizes = list(dict.fromkeys(match["size"] for match in by_size(data)))
    rows = []
    for (game, opponent), found in group(by_size(data), lambda m: (m["game"], m["opponent"])).items():
        for model, matches in by_model(found).items():
            outcomes = {match["size"]: outcome_text(match) for match in matches}
            rows.append([f"{game}, {model} against {opponent}", *(outcomes.get(n, DASH) for n in sizes)])
    return markdown_table(["", *(f"{size}x{size}" for size in sizes)], rows)


def embedding(data: Data) -> str:
    """How separable good and bad actions are, in the whole embedding and in the figure's plane."""
    found, sizes = data["embedding"], data["embedding"]["sizes"]
    shares = f"{sum(found['shares']):.0%} of the variance"
    names = {"embedding": f"all {found['width']} dimensions", "components": f"2 components, {shares}"}
    rows = [
        [names[space], f"{s['accuracy']:.1%}", f"{s['ordered']:.1%}", f"{s['gap']:.2f}"]
        for space, s in found["separability"].items()
    ]
    told = "reads stones only" if found["features"] == "stones" else "reads stones and legal moves"
    ends = f"{sizes[0]}x{sizes[0]} to {sizes[-1]}x{sizes[-1]}"
    header = ["space", "nearer to the mean of its kind", "good further along than bad", "gap / spread"]
    return f"{len(sizes)} boards, {ends}; the network {told}.\n\n{markdown_table(header, rows)}"


def training_time(data: Data) -> str:
    """A row for every stage."""
    rows = [
        [f"{board_name(on)}, {model}", f"{m['minutes']:.1f}", f"{m['positions']:,}", outcome_text(m)]
        for on, found in boards(data).items()
        for model, matches in by_model(found).items()
        for m in matches
    ]
    return markdown_table(["", "minutes", "positions", "against greedy"], rows)


def equal_compute(data: Data) -> str:
    """SAZ's outcome against model3, and the simulations that model3 had for it."""
    rows = []
    for on, found in boards(data).items():
        cells = {m["opponent"]: f"{outcome_text(m)} ({m['opponent_simulations']})" for m in found}
        rows.append([board_name(on), *(cells.get(opponent, DASH) for opponent in EQUAL)])
    return markdown_table(["SAZ against model3 (its simulations)", *EQUAL.values()], rows)


def fine_tuning(data: Data) -> str:
    """Before and after the fine-tuning, against greedy and against each other."""
    names = list(group(data["matches"].values(), pairing))
    rows = []
    for on, found in boards(data).items():
        cells = {pairing(match): outcome_text(match) for match in found}
        rows.append([board_name(on), *(cells.get(name, DASH) for name in names)])
    return markdown_table(["", *names], rows)
