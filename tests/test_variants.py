"""The study of settings: what a variant changes, its page from the file alone, mistakes, and a tiny one."""

import dataclasses
import json
import re
import shlex

import pytest
import tyro

from experiments import variants as script
from saz_jax.studies import variants as study
from saz_jax.studies.variants import BASE, VariantsConfig
from saz_jax.training.presets import preset
from tests.tiny_agents import tiny_agent

TINY = VariantsConfig(
    variants=("learner.learning_rate=0.01",),
    game="gomoku",
    preset="smoke",
    minutes=0.001,
    seeds=2,
    sizes=(5,),
    games=2,
    simulations=2,
)


def test_a_variant_changes_what_it_names_and_nothing_else():
    base = preset("strong", "othello", "model3")
    found = study.changed(base, "network.readout=mean,selfplay.fork_share=0.1,search.solve=false")
    network = dataclasses.replace(base.network, readout="mean")
    search = dataclasses.replace(base.search, solve=False)
    selfplay = dataclasses.replace(base.selfplay, fork_share=0.1)
    assert found == dataclasses.replace(base, network=network, search=search, selfplay=selfplay)
    boards = study.changed(base, "sizes=[6, 7]")
    assert (boards.sizes, boards.selfplay.size_weights) == ((6, 7), ())


@pytest.mark.slow
def test_the_variants_of_the_default_can_be_trained():
    study.check(VariantsConfig())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variants": ()}, "one or more different variants"),
        ({"variants": ("selfplay.forks=1",)}, "selfplay.forks=1 changes no setting"),
        ({"variants": ("learner",)}, "learner changes no setting"),
        ({"variants": ("seed.x=1",)}, "seed.x=1 changes no setting"),
        ({"variants": ("selfplay.fork_share=2",)}, "fork_share=2.0; use a share from 0 to 1"),
        ({"variants": ("network.readout=most",)}, "network.readout must be one of"),
        ({"seeds": 0}, "seeds=0; use 1 to 8"),
        ({"games": 3}, "games=3; use an even number"),
        ({"sizes": ()}, "no games to play"),
        ({"sizes": (2,)}, "board side 2 is too small"),
    ],
)
def test_mistakes_are_named_before_any_training(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        study.open_results(dataclasses.replace(TINY, **changes), tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(ValueError, match=r"cannot make .*taken/results .*name another --results folder"):
        study.open_results(TINY, tmp_path / "taken" / "results")


def test_an_opponent_with_weights_is_refused(tmp_path):
    tiny_agent("gomoku", "model3", (5,)).export(tmp_path / "agent.npz")
    with pytest.raises(ValueError, match="has weights; name one without"):
        study.check(dataclasses.replace(TINY, opponents=(str(tmp_path / "agent.npz"),)))


def result(player, opponent, wins, losses):
    counts = {"wins": wins, "ties": 0, "losses": losses, "outcome": wins / (wins + losses)}
    return {"size": 8, "player": player, "opponent": opponent, **counts}


def test_the_page_is_made_from_the_file_alone(tmp_path):
    """Two seeds count as one player, each of which met the recipe of the same seed."""
    variant = "network.soft=false,network.reply=false"
    label = "network.soft=false-network.reply=false"
    names = [f"{name}-seed{seed}" for name in (BASE, label) for seed in (0, 1)]
    matches = [
        result(f"{label}-seed0", "base-seed0", 15, 5),
        result(f"{label}-seed1", "base-seed1", 15, 5),
        result("base-seed0", "greedy", 20, 0),
        result(f"{label}-seed0", "greedy", 10, 10),
    ]
    config = dataclasses.asdict(VariantsConfig(variants=(variant, "network.outcomes=true"), sizes=(8,)))
    data = {
        "command": "python x.py",
        "date": "today",
        "hardware": {"processor": "a chip", "cores": 2, "backend": "cpu"},
        "config": config,
        "players": {name: {"label": name, "positions": 2048} for name in names}
        | {"greedy": {"label": "greedy"}},
        "matches": {str(number): match for number, match in enumerate(matches)},
    }
    (tmp_path / "variants.json").write_text(json.dumps(data))
    script.main(["--report-only", "--results", str(tmp_path)])
    page = (tmp_path / "README.md").read_text()
    assert "| variant | positions | against base, 8x8 | against greedy, 8x8 |" in page
    assert re.search(rf"\| {variant} \| 2,048, 2,048 \| 0\.75 \(0\.60 to 0\.86\) \| 0\.50 \(", page)
    assert "| base | 2,048, 2,048 | - | 1.00 (0.84 to 1.00) |" in page
    assert "outcomes" not in page.partition("| variant")[2], "not trained yet"


def test_the_examples_name_settings_that_exist():
    assert script.__doc__ is not None
    examples = re.findall(r"python experiments/variants\.py(.*)", script.__doc__.replace("\\\n", ""))
    assert len(examples) == 5
    for example in examples:
        tyro.cli(script.Arguments, args=shlex.split(example, comments=True))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_tiny_study_is_trained_and_played_once(tmp_path):
    said = []
    data = study.run(TINY, tmp_path, said.append)
    assert sum(line.startswith("training") for line in said) == 4
    name = "learner.learning_rate=0.01"
    wanted = {f"gomoku-5-{player}-seed{seed}-greedy" for player in (BASE, name) for seed in (0, 1)}
    assert set(data["matches"]) == wanted | {f"gomoku-5-{name}-seed{seed}-base-seed{seed}" for seed in (0, 1)}
    said.clear()
    assert study.run(TINY, tmp_path, said.append)["matches"] == data["matches"]
    assert not any(line.startswith("training") for line in said)
