"""Tables and figures from results alone: the paper beside ours, nothing empty, the same every time."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.image import imread

from saz_jax.render import figures
from saz_jax.storage.metrics import Row
from saz_jax.storage.results import write_json
from saz_jax.studies import paper, tables
from saz_jax.studies.catalogue import STUDIES, count_states
from saz_jax.studies.reports import (
    INTRODUCTION,
    PAGE,
    REPORTS,
    has_results,
    section,
    write_page,
    write_section,
)

MODELS = ("saz", "model3", "model4", "model5")


def match(game, size, player, opponent, outcome=0.75, error: float | None = 0.05, **also):
    counts = {"wins": 6, "ties": 0, "losses": 2, "distinct_games": 7, "opponent_simulations": 4}
    who = {"game": game, "size": size, "player": player, "opponent": opponent}
    return {**who, "outcome": outcome, "standard_error": error, **counts, **also}


def data_of(study, matches=(), players=(), **also):
    budget = {"games": 4, "runs": 2, "opening_moves": 2, "simulations": 4}
    return {
        "config": {"study": study, "budget_name": "small", "budget": budget},
        "hardware": {"processor": "abacus", "cores": 2, "backend": "cpu"},
        "date": "2026-01-01T00:00:00+00:00",
        "seconds": 120.0,
        "players": {str(number): facts for number, facts in enumerate(players)},
        "matches": {str(number): found for number, found in enumerate(matches)},
        **also,
    }


def player(label, trained_as, plays_as):
    sizes = {"trained_sizes": [5, 6], "minutes": 30.0, "weights": "abc"}
    return {"label": label, "game": "othello", "trained_as": trained_as, "plays_as": plays_as, **sizes}


EXAMPLES = {
    "complexity": data_of("complexity", boards=[count_states(*board) for board in paper.COMPLEXITY]),
    "ablation": data_of(
        "ablation",
        [
            match(*board, model, "greedy", 0.6, 0.04)
            for board in paper.ABLATION
            for model in ("saz", "model1")
        ],
        [player("saz", "model3", "saz"), player("model1", "model1", "model1")],
    ),
    "generalisation": data_of(
        "generalisation",
        [
            match("othello", size, model, opponent, 0.9 - size / 40 - number / 20)
            for (number, model), size, opponent in itertools.product(
                enumerate((*MODELS, "fcn")), (6, 8, 16), ("random", "greedy")
            )
            if (model, size) != ("model5", 6)
        ],
    ),
    "embedding": data_of(
        "embedding",
        embedding={
            "features": "stones",
            "width": 48,
            "sizes": list(range(6, 60)),
            "components": [[[1 + n / 60, 0.1], [-1 - n / 60, np.sin(n)]] for n in range(54)],
            "shares": [0.7, 0.2],
            "separability": {
                "embedding": {"accuracy": 1.0, "ordered": 1.0, "gap": 7.5},
                "components": {"accuracy": 0.99, "ordered": 1.0, "gap": 6.0},
            },
        },
    ),
    "training_time": data_of(
        "training_time",
        [
            match(
                "othello", 16, f"{model}-stage-{n:06}", "greedy", n / 10, minutes=5.0 * n, positions=1000 * n
            )
            for model, n in itertools.product(("model3", "model1"), range(1, 6))
        ],
    ),
    "against_az": data_of(
        "against_az", [match(*board, model, "az") for board in paper.AGAINST_AZ for model in MODELS]
    ),
    "go": data_of("go", [match("go", size, "saz", "az", error=None) for size in (9, 15)]),
    "equal_compute": data_of(
        "equal_compute",
        [
            match("gomoku", size, "saz", f"model3-equal-{what}", opponent_simulations=count * size)
            for size in (6, 9)
            for count, what in enumerate(("simulations", "evaluations", "seconds"), 1)
        ],
    ),
    "fine_tuning": data_of(
        "fine_tuning",
        [
            match("othello", 16, *pair)
            for pair in (("model3", "greedy"), ("tuned", "greedy"), ("tuned", "model3"))
        ],
    ),
}
EMPTY = data_of("ablation")


def test_every_study_has_a_report_and_an_example_here():
    assert set(REPORTS) == set(STUDIES) == set(EXAMPLES)


@pytest.mark.parametrize("name", REPORTS)
def test_a_section_and_a_figure_are_made_of_the_json_alone_and_are_the_same_every_time(name, tmp_path):
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        write_json(folder / f"{name}.json", EXAMPLES[name])
        text = write_section(folder, name)
        assert (folder / f"{name}.md").read_text() == text
        assert f"]({name}.png)" in text
    for suffix in (".md", ".png"):
        first, second = ((tmp_path / folder / f"{name}{suffix}").read_bytes() for folder in ("a", "b"))
        assert first == second
    image = imread(tmp_path / "a" / f"{name}.png")
    assert min(image.shape[:2]) > 200
    assert np.unique(image.reshape(-1, image.shape[-1]), axis=0).shape[0] > 20, "more than a blank page"


def test_table_1_is_computed_and_equals_the_papers():
    for (game, size), (states, actions) in paper.COMPLEXITY.items():
        counted = count_states(game, size)
        assert (counted["states"], counted["actions"]) == (states, actions)
    assert count_states("othello", 8)["stones_log10"] == 30
    assert "| othello 16x16 | 16,777,216 | 16,777,216 | 257 | 257 | 10^122 |" in section(
        "complexity", EXAMPLES["complexity"]
    )


def test_the_papers_number_stands_beside_ours():
    text = section("ablation", EXAMPLES["ablation"])
    assert "| player | othello 16x16 | paper | gomoku 17x17 | paper |" in text
    assert "| SAZ [complete model] | 0.60 ± 0.04 | 0.85 ± 0.02 | 0.60 ± 0.04 | 0.80 ± 0.03 |" in text
    assert "[model1] | 0.60 ± 0.04 | 0.44 ± 0.02 |" in text
    assert "| SAZ [complete model] | 0.75 | 0.68 | 0.75 | 0.78 |" in section("go", EXAMPLES["go"])


def test_boards_that_the_paper_does_not_have_get_a_dash():
    text = section("ablation", data_of("ablation", [match("othello", 7, "saz", "greedy")]))
    assert "| SAZ [complete model] | 0.75 ± 0.05 | - |" in text


def test_a_table_leaves_room_for_what_is_not_played_yet():
    assert "| othello, model5 against greedy | - |" in section("generalisation", EXAMPLES["generalisation"])
    unfinished = data_of("equal_compute", list(EXAMPLES["equal_compute"]["matches"].values())[:4])
    assert "| gomoku 9x9 | 0.75 ± 0.05 (9) | - | - |" in section("equal_compute", unfinished)


def test_stages_are_rows_in_the_order_of_the_training():
    rows = [
        row
        for row in section("training_time", EXAMPLES["training_time"]).splitlines()
        if "16x16, model3" in row
    ]
    assert rows[0] == "| othello 16x16, model3 | 5.0 | 1,000 | 0.10 ± 0.05 |"
    assert len(rows) == 5


def test_fine_tuning_names_before_and_after():
    assert "before against greedy | after against greedy | after against before |" in section(
        "fine_tuning", EXAMPLES["fine_tuning"]
    )


def test_a_section_says_how_players_were_trained_and_whether_they_share_weights():
    text = section("ablation", EXAMPLES["ablation"])
    assert "Weights are shared" in text
    assert "- othello saz: trained as model3 on sides 5, 6, 30 minutes" in text
    assert "28 of 32 differ" in text
    own = data_of("go", [match("go", 9, "saz", "az")], [player("saz", "saz", "saz")])
    assert "Weights are shared" not in section("go", own)


def test_a_study_without_results_says_so_and_draws_nothing(tmp_path):
    assert not has_results(EMPTY)
    write_json(tmp_path / "ablation.json", EMPTY)
    assert "no results yet" in write_section(tmp_path, "ablation")
    assert not (tmp_path / "ablation.png").exists()


def test_the_page_holds_every_section_in_order(tmp_path):
    for name in ("go", "ablation"):
        write_json(tmp_path / f"{name}.json", EXAMPLES[name])
    page = write_page(tmp_path).read_text()
    sections = [(tmp_path / f"{name}.md").read_text() for name in ("ablation", "go")]
    assert page == INTRODUCTION + "\n".join(sections)
    assert (tmp_path / PAGE).exists()


def test_a_page_of_nothing_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no results of any study"):
        write_page(tmp_path)


def test_outcomes_as_text():
    assert figures.outcome_text({"outcome": 0.8549, "standard_error": 0.021}) == "0.85 ± 0.02"
    assert figures.outcome_text({"outcome": 1.0, "standard_error": None}) == "1.00"


def test_a_markdown_table():
    assert figures.markdown_table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |\n"


def test_groups_keep_the_order_of_appearance():
    found = tables.group([{"x": 2}, {"x": 1}, {"x": 2, "y": 0}], lambda m: m["x"])
    assert list(found.items()) == [(2, [{"x": 2}, {"x": 2, "y": 0}]), (1, [{"x": 1}])]


def test_a_run_of_one_iteration_that_was_never_evaluated_shows_its_losses(tmp_path, monkeypatch):
    rows: list[Row] = [{"iteration": 1, "seconds": 60.0, "policy_loss": 2.0, "value_loss": 1.0}]
    drawn, make = [], figures.figure
    monkeypatch.setattr(figures, "figure", lambda columns: drawn.append(make(columns)) or drawn[-1])
    assert figures.training_curve(rows, tmp_path / "curve.png", "a run").stat().st_size > 1000
    ((_, (left, _)),) = drawn
    assert [line.get_marker() for line in left.lines] == ["o", "o"]  # a line of one point is not seen


def test_a_training_curve_shows_losses_and_outcomes(tmp_path, monkeypatch):
    rows: list[Row] = [
        {
            "iteration": n,
            "seconds": 60.0 * n,
            "policy_loss": 3.0 / n,
            "value_loss": 1.0 / n,
            "greedy_8": n / 5,
        }
        for n in range(1, 5)
    ]
    rows[-1] |= {"greedy_16": 0.5, "random_8": 1.0}
    drawn, make = [], figures.figure
    monkeypatch.setattr(figures, "figure", lambda columns: drawn.append(make(columns)) or drawn[-1])
    image = imread(figures.training_curve(rows, tmp_path / "curve.png", "a run"))
    assert image.std() > 0.01
    ((_, (left, right)),) = drawn
    assert left.get_xlim() == right.get_xlim()
    assert left.get_xlim()[0] == 0
    labels = [text.get_text() for text in right.get_legend().get_texts()]
    assert labels == ["against greedy, 8x8", "against greedy, 16x16", "against random, 8x8"]


def test_reports_name_the_extra_that_figures_need():
    script = (
        "import sys; sys.modules['matplotlib.figure'] = None\n"
        "from saz_jax.render import figures\n"
        "try: figures.figure(1)\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "saz_jax[plots]" in done.stdout


def test_the_papers_numbers_are_outcomes():
    for numbers in (paper.ABLATION, paper.AGAINST_AZ, paper.GO):
        for players in numbers.values():
            assert set(players) <= set(paper.MODEL_NAMES)
            assert all(0 <= outcome.mean <= 1 for outcome in players.values())
    assert set(paper.STATEMENTS) <= set(REPORTS)
