"""The run: the same seed, the same bits, through any interruption; nothing overwritten, nothing lost."""

import copy
import dataclasses
import json
import os
import shutil
from typing import Any

import jax
import numpy as np
import pytest

from saz_jax.agents.agent import Agent, load_agent
from saz_jax.config import (
    EvaluationConfig,
    GINConfig,
    LearnerConfig,
    SearchConfig,
    SelfPlayConfig,
    SubgraphConfig,
    TrainConfig,
    to_json,
)
from saz_jax.config.versions import SCHEMA
from saz_jax.search import memory
from saz_jax.search.tree import tree_memory
from saz_jax.storage.checkpoint import Checkpoints
from saz_jax.storage.metrics import read_metrics
from saz_jax.training import loop
from saz_jax.training.iteration import (
    EARLIER,
    DivergedError,
    group_of,
    iterate,
    make_program,
    optimise,
    start,
    with_newest,
)
from saz_jax.training.learner import Losses
from saz_jax.training.replay import Positions, Replay

TINY = TrainConfig(
    game="gomoku",
    game_options={"k": 3},
    model="model3",
    sizes=(3, 4),
    network=GINConfig(layers=1, hidden=8, head=8, edges="compass8"),
    search=SearchConfig(kind="gumbel", simulations=2),
    selfplay=SelfPlayConfig(games=4, moves=8),
    learner=LearnerConfig(batch_size=8, history=2, ema_decay=0.9),
    evaluation=EvaluationConfig(every=0, games=2, simulations=2, sizes=(4, 6)),
)
MISSPELT: Any = "cosin"
HALF: Any = 7.5


def trained(workdir, iterations, config=TINY, **kwargs):
    """The weights after a run of so many iterations in `workdir`, and its rows."""
    rows = list(loop.run(config, workdir, iterations=iterations, **kwargs))
    return load_agent(workdir).variables, rows


def assert_same(a, b):
    jax.tree.map(np.testing.assert_array_equal, a, b)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run of four iterations: (workdir, weights, rows)."""
    workdir = tmp_path_factory.mktemp("whole") / "run"
    return workdir, *trained(workdir, 4)


def test_a_run_with_all_heads_continues_to_the_same_bits(tmp_path):
    network = dataclasses.replace(TINY.network, readout="ownership", reply=True, soft=True)
    search = dataclasses.replace(TINY.search, solve=True)
    config = dataclasses.replace(TINY, network=network, search=search)
    weights, rows = trained(tmp_path / "whole", 3, config)
    trained(tmp_path / "cut", 1, config)
    assert_same(trained(tmp_path / "cut", 3, config)[0], weights)
    assert {"ownership_loss", "score_loss", "reply_loss", "soft_loss"} <= rows[-1].keys()


@pytest.mark.slow
def test_a_run_against_earlier_selves_continues_to_the_same_bits(whole, tmp_path):
    selfplay = dataclasses.replace(TINY.selfplay, earlier_share=0.5, fork_share=0.5)
    config = dataclasses.replace(TINY, selfplay=selfplay)
    weights, _ = trained(tmp_path / "whole", 4, config)
    trained(tmp_path / "cut", 2, config)
    assert_same(trained(tmp_path / "cut", 4, config)[0], weights)
    alone = jax.tree.leaves(whole[1])
    assert any((a != b).any() for a, b in zip(jax.tree.leaves(weights), alone, strict=True))


def test_the_earlier_selves_are_of_any_iteration_alike():
    """And each of them has its turn."""
    last, kept = 31, []
    for seed in range(300):
        earlier: tuple[int, ...] = (0,) * EARLIER
        for iteration in range(1, last + 1):
            earlier = with_newest(earlier, iteration, seed, iteration)
            assert iteration >= EARLIER or earlier == (
                *range(iteration + 1),
                *(0,) * (EARLIER - 1 - iteration),
            )
        assert len(set(earlier)) == EARLIER
        kept += earlier
    counts = np.bincount(kept, minlength=last + 1)
    assert np.abs(counts - 300 * EARLIER / (last + 1)).max() < 5 * 8  # five standard deviations
    assert with_newest((), 7, 0, 7) == ()
    config = dataclasses.replace(TINY, selfplay=dataclasses.replace(TINY.selfplay, earlier_share=0.5))
    state = start(make_program(config))._replace(earlier=tuple(range(EARLIER)))
    turns = [state._replace(iteration=i).opponent for i in range(2 * EARLIER)]
    assert turns == [*range(EARLIER)] * 2
    assert start(make_program(TINY)).opponent is None


def timeless(rows):
    """Rows without what depends on the clock."""
    clock = ("seconds", "cpu_seconds", "positions_per_second", "games_per_second", "selfplay_share")
    return [{name: value for name, value in row.items() if name not in clock} for row in rows]


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(whole, tmp_path):
    _, weights, rows = whole
    again, same_rows = trained(tmp_path / "again", 4)
    assert_same(again, weights)
    assert timeless(same_rows) == timeless(rows)
    other, _ = trained(tmp_path / "other", 4, dataclasses.replace(TINY, seed=1))
    assert any((a != b).any() for a, b in zip(jax.tree.leaves(other), jax.tree.leaves(weights), strict=True))


def test_a_run_in_two_stretches_equals_one_without_a_stop(whole, tmp_path):
    _, weights, rows = whole
    trained(tmp_path / "run", 2)
    resumed, new_rows = trained(tmp_path / "run", 4)
    assert_same(resumed, weights)
    assert [row["iteration"] for row in new_rows] == [3, 4]
    assert timeless(new_rows) == timeless(rows[2:])
    assert [row["iteration"] for row in read_metrics(tmp_path / "run")] == [1, 2, 3, 4]


def test_an_interrupt_in_the_middle_of_an_iteration_loses_only_that_iteration(whole, tmp_path):
    _, weights, _ = whole
    calls = []

    def interrupt(phase, done, total):
        calls.append(phase if done else "")
        if done and calls.count("learning") == 3 and phase == "learning":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(loop.run(TINY, tmp_path / "run", iterations=4, progress=interrupt))
    with Checkpoints(tmp_path / "run" / "checkpoints", read_only=True) as checkpoints:
        assert checkpoints.iterations() == [2]
    resumed, _ = trained(tmp_path / "run", 4)
    assert_same(resumed, weights)


def test_whoever_stops_asking_for_rows_finds_the_last_iteration_saved(whole, tmp_path):
    rows = loop.run(TINY, tmp_path / "run", iterations=4)
    assert [next(rows)["iteration"], next(rows)["iteration"]] == [1, 2]
    rows.close()
    assert load_agent(tmp_path / "run").meta["iteration"] == 2
    phases = []
    list(loop.run(TINY, tmp_path / "run", iterations=4, progress=lambda *phase: phases.append(phase)))
    assert phases[0] == (loop.CONTINUING, 2, 2)
    assert ("self-play", 0, TINY.selfplay.moves // 2) in phases
    assert any(phase.startswith("compiling: against greedy on side") for phase, _, _ in phases)
    assert_same(load_agent(tmp_path / "run").variables, whole[1])


def test_a_finished_run_is_not_trained_further(whole):
    workdir, weights, _ = whole
    again, rows = trained(workdir, 4)
    assert rows == []
    assert_same(again, weights)


def test_a_workdir_with_other_settings_is_refused_with_the_difference(whole):
    workdir, weights, _ = whole
    other = dataclasses.replace(TINY, learner=dataclasses.replace(TINY.learner, batch_size=16))
    with pytest.raises(ValueError, match=r"learner\.batch_size: 8 in the run, 16 asked for"):
        trained(workdir, 5, other)
    assert_same(load_agent(workdir).variables, weights)


def test_settings_younger_than_a_run_have_their_defaults_there(tmp_path):
    path = tmp_path / "config.json"
    settings = {"schema": SCHEMA, "config": to_json(TINY)}
    old = copy.deepcopy(settings)
    del old["config"]["selfplay"]["random_move_share"]
    path.write_text(json.dumps(old))
    loop.check_same_settings(path, loop.complete(TINY))
    other = dataclasses.replace(TINY, selfplay=dataclasses.replace(TINY.selfplay, random_move_share=0.5))
    with pytest.raises(ValueError, match=r"selfplay\.random_move_share: 0\.0 in the run, 0\.5 asked for"):
        loop.check_same_settings(path, loop.complete(other))
    path.write_text(json.dumps({**settings, "config": {**settings["config"], "forgotten": 3}}))
    with pytest.raises(ValueError, match="no setting 'forgotten'"):
        loop.check_same_settings(path, loop.complete(TINY))


def test_an_evaluation_that_does_not_fit_into_memory_with_its_proofs_is_refused(monkeypatch):
    search = dataclasses.replace(TINY.search, solve=True)
    evaluation = dataclasses.replace(TINY.evaluation, simulations=10**5, sizes=(4,))
    program = make_program(dataclasses.replace(TINY, search=search, evaluation=evaluation))
    game = loop.evaluation_game(program, 4)
    plain, proving = (memory.COMPILED * tree_memory(game, 1, 10**5, solve) for solve in (False, True))
    monkeypatch.setattr(memory, "available_memory", lambda: (plain + proving) / 2)
    with pytest.raises(ValueError, match=r"evaluation.sizes: trees of 1 games x 100000 simulations"):
        loop.check_evaluation(program)


def test_how_a_run_is_evaluated_may_change_between_its_stretches(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"schema": SCHEMA, "config": to_json(loop.complete(TINY))}))
    other = dataclasses.replace(TINY, evaluation=dataclasses.replace(TINY.evaluation, games=4))
    loop.check_same_settings(path, loop.complete(other))
    assert loop.stored_config(path).evaluation.games == 4


def test_the_learner_is_shown_what_surprised_the_search():
    """Every second position is a surprise, and nothing else is dealt out."""
    config = dataclasses.replace(TINY, learner=dataclasses.replace(TINY.learner, surprise_weight=1.0))
    shown = []

    def learn(state, key, batch):
        shown.extend(np.asarray(batch.outcome).tolist())
        return state, Losses(*[jax.numpy.zeros(())] * 4, heads={})

    program = make_program(config)
    program = program._replace(groups=tuple(group._replace(learn=learn) for group in program.groups))
    marks = np.arange(16, dtype=np.float32) % 2
    replay = Replay(config.learner.history)
    replay.add(Positions.blank(program.game.max_size, 16)._replace(surprise=marks, outcome=marks))
    optimise(program, start(program), replay, jax.random.key(0), lambda phase, done, total: None)
    assert len(shown) == 16
    assert set(shown) == {1.0}


def test_a_workdir_that_is_a_file_or_a_stranger_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="is a file"):
        trained(file, 1)
    with pytest.raises(ValueError, match="is not empty and holds no run"):
        trained(tmp_path, 1)
    assert file.read_text() == "mine"


def test_a_damaged_checkpoint_is_passed_over_and_the_run_made_whole_again(whole, tmp_path):
    _, weights, _ = whole
    workdir = tmp_path / "run"
    for iterations in (1, 2):
        trained(workdir, iterations)
    newest = workdir / "checkpoints" / "2"
    for path in newest.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    resumed, rows = trained(workdir, 4)
    assert [row["iteration"] for row in rows] == [2, 3, 4]
    assert_same(resumed, weights)


def test_a_loss_that_is_no_number_stops_the_run_and_leaves_the_last_checkpoint(tmp_path):
    wild = dataclasses.replace(TINY, learner=dataclasses.replace(TINY.learner, learning_rate=1e30))
    with pytest.raises(DivergedError, match=r"Lower learner\.learning_rate \(now 1e\+30\)"):
        list(loop.run(wild, tmp_path / "run", iterations=50))
    with Checkpoints(tmp_path / "run" / "checkpoints", read_only=True) as checkpoints:
        saved = checkpoints.iterations()
    assert saved == [] or load_agent(tmp_path / "run")


def test_the_evaluation_meets_both_opponents_on_a_trained_and_an_unseen_side(whole):
    workdir, _, rows = whole
    assert {"random_4", "greedy_4", "random_6", "greedy_6"} <= rows[-1].keys()
    assert not any(name.startswith("greedy") for row in rows[:-1] for name in row)
    assert load_agent(workdir / "stages" / "000004.npz").trained_sizes == (3, 4)


def test_the_workdir_says_how_the_run_was_made(whole):
    workdir, _, _ = whole
    facts = json.loads((workdir / "config.json").read_text())
    assert facts["config"]["seed"] == 0
    assert facts["versions"]["jax"] == jax.__version__
    assert facts["hardware"]["cores"]


def test_a_run_may_start_from_trained_weights_on_larger_boards(whole, tmp_path):
    workdir, weights, _ = whole
    larger = dataclasses.replace(TINY, sizes=(5,))
    program = make_program(larger)
    assert_same(start(program, weights).learner.variables, weights)
    list(loop.run(larger, tmp_path / "tuned", iterations=1, init_from=load_agent(workdir)))
    before, tuned = load_agent(workdir).meta, load_agent(tmp_path / "tuned")
    assert tuned.trained_sizes == (5,)
    assert tuned.meta["before"] == {name: before[name] for name in ("positions", "seconds", "cpu_seconds")}
    list(loop.run(larger, tmp_path / "tuned", iterations=2))
    list(loop.run(larger, tmp_path / "again", iterations=1, init_from=load_agent(tmp_path / "tuned")))
    assert load_agent(tmp_path / "again").meta["before"]["positions"] == before["positions"] + 2 * 4 * 8
    wider = dataclasses.replace(TINY, network=dataclasses.replace(TINY.network, hidden=16))
    with pytest.raises(ValueError, match="do not fit this network"):
        list(loop.run(wider, tmp_path / "wider", iterations=1, init_from=load_agent(workdir)))
    assert not (tmp_path / "wider").exists()


def test_evaluations_that_could_not_be_played_are_refused_before_anything_runs(tmp_path):
    for change in ({"games": 3}, {"games": -2}, {"sizes": (2,)}, {"simulations": 0}, {"every": -1}):
        config = dataclasses.replace(TINY, evaluation=dataclasses.replace(TINY.evaluation, **change))
        with pytest.raises(ValueError, match=f"evaluation.{next(iter(change))}"):
            list(loop.run(config, tmp_path / "run", iterations=1))
    assert not (tmp_path / "run").exists()


def test_an_iteration_leaves_the_state_before_it_as_it_was():
    program = make_program(TINY)
    before = start(program)
    copy = jax.tree.map(np.array, before.learner)
    once, _ = iterate(program, before, lambda *_: None)
    assert_same(before.learner, copy)
    twice, _ = iterate(program, before, lambda *_: None)
    assert_same(once.learner, twice.learner)


def test_boards_of_two_paddings_play_and_learn_in_programs_of_their_own(tmp_path):
    """Two thirds of the iterations play on 3x3 and 4x4, the others on 5x5; a stop changes nothing."""
    selfplay = dataclasses.replace(TINY.selfplay, paddings=(4, 5), size_weights=(1.0, 1.0, 1.0))
    config = dataclasses.replace(TINY, sizes=(3, 4, 5), selfplay=selfplay)
    assert [group_of(config, i) for i in range(12)].count(1) == 4
    program, sides, shown = make_program(config), [], []
    assert [group.game.max_size for group in program.groups] == [4, 5]

    def spy(learn):
        def spied(state, key, batch):
            shown.append(batch.policy.shape[-1])
            return learn(state, key, batch)

        return spied

    spied = tuple(group._replace(learn=spy(group.learn)) for group in program.groups)
    state = start(program)
    for _ in range(6):
        state, _ = iterate(program._replace(groups=spied), state, lambda *_: None)
        sides += [set(np.unique(state.replay[-1].observation.size))]
    assert set(shown) == {17, 26}
    assert {5} in sides
    assert set.union(*(side for side in sides if side != {5})) == {3, 4}
    *_, whole = loop.run(config, tmp_path / "whole", iterations=4)
    for iterations in (2, 4):
        *_, stopped = loop.run(config, tmp_path / "stopped", iterations=iterations)
    assert whole["policy_loss"] == stopped["policy_loss"]
    assert_same(load_agent(tmp_path / "whole").variables, load_agent(tmp_path / "stopped").variables)


def test_the_log_counts_processor_time_over_all_stretches(tmp_path):
    rows = [row for stop in (1, 2) for row in loop.run(TINY, tmp_path / "run", iterations=stop)]
    assert 0 < rows[0]["cpu_seconds"] < rows[1]["cpu_seconds"]
    assert load_agent(tmp_path / "run").meta["cpu_seconds"] == rows[1]["cpu_seconds"]
    assert not list(loop.run(TINY, tmp_path / "run", cpu_minutes=rows[1]["cpu_seconds"] / 60))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"selfplay": SelfPlayConfig(paddings=(4, 3))}, r"paddings=\(4, 3\); use rising sides"),
        ({"selfplay": SelfPlayConfig(paddings=(3,))}, "at least 4"),
        ({"selfplay": SelfPlayConfig(paddings=(2, 4))}, "no board has a side from 1 to 2"),
        ({"sizes": ()}, "at least one"),
        ({"sizes": (3, 3)}, "each board side once"),
        ({"sizes": (2, 4)}, "board side 2 is too small"),
        ({"sizes": (0,)}, "use board sides of 1 or more"),
        ({"selfplay": SelfPlayConfig(games=4, moves=7)}, "multiple of 2"),
        ({"selfplay": SelfPlayConfig(games=0)}, "selfplay.games=0"),
        ({"selfplay": SelfPlayConfig(size_weights=(1.0, 0.0, 1.0))}, r"size_weights=\(1.0, 0.0, 1.0\)"),
        ({"selfplay": SelfPlayConfig(size_weights=(1.0,))}, "a positive number for each of"),
        ({"learner": LearnerConfig(ownership_weight=-1.0)}, "learner.ownership_weight=-1.0"),
        ({"selfplay": SelfPlayConfig(fork_share=1.5)}, "selfplay.fork_share=1.5; use a share from 0 to 1"),
        ({"selfplay": SelfPlayConfig(earlier_share=-0.1)}, "selfplay.earlier_share=-0.1"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**40}, "seed=1099511627776"),
        ({"learner": LearnerConfig(learning_rate=-1.0)}, "learning_rate=-1.0"),
        ({"learner": LearnerConfig(l2=-1.0)}, "l2=-1.0"),
        ({"selfplay": SelfPlayConfig(games=10**9)}, "GB of memory"),
        (
            {"evaluation": EvaluationConfig(simulations=10**12)},
            "evaluation.sizes: trees of 1 games x 1000000000000 simulations",
        ),
        ({"learner": LearnerConfig(epochs=0.0)}, "more than 0 passes"),
        ({"learner": LearnerConfig(batch_size=8, microbatch=3)}, "microbatch=3; use 0 or a divisor"),
        ({"learner": LearnerConfig(ema_decay=1.0)}, "ema_decay=1.0"),
        ({"model": "saz", "ensemble": SubgraphConfig(shrink=2)}, "cannot play on board side 3"),
        ({"learner": LearnerConfig(schedule=MISSPELT)}, "learner.schedule must be one of constant, cosine"),
        ({"selfplay": SelfPlayConfig(moves=HALF)}, "selfplay.moves must be int, not 7.5"),
        ({"learner": LearnerConfig(history=10**9)}, r"GB are available; learner.history=\d{3,} would fit"),
        ({"selfplay": SelfPlayConfig(moves=10**10)}, "available; use smaller boards, fewer selfplay.games"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_is_written(change, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        list(loop.run(dataclasses.replace(TINY, **change), tmp_path / "run", iterations=1))
    assert not (tmp_path / "run").exists()


def test_a_run_without_an_end_is_refused(tmp_path):
    with pytest.raises(ValueError, match="give iterations, minutes or cpu_minutes"):
        list(loop.run(TINY, tmp_path / "run"))


def test_two_runs_in_one_workdir_are_refused_until_the_first_ends(tmp_path):
    first = loop.run(TINY, tmp_path / "run", iterations=2)
    next(first)
    with pytest.raises(ValueError, match=f"run is in use by process {os.getpid()} on"):
        next(loop.run(TINY, tmp_path / "run", iterations=2))
    assert [row["iteration"] for row in first] == [2]
    assert list(loop.run(TINY, tmp_path / "run", iterations=2)) == []


def test_a_run_killed_before_it_wrote_its_config_can_be_started_again(tmp_path):
    (tmp_path / "lock").write_text("")
    loop.claim(tmp_path, TINY, None)
    assert (tmp_path / "config.json").exists()


def test_a_strangers_folder_is_left_as_it_was(tmp_path):
    (tmp_path / "letter").write_text("mine")
    with pytest.raises(ValueError, match="holds no run"), loop.hold(tmp_path, TINY, None):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_a_run_whose_checkpoints_are_gone_is_not_started_again_over_its_agent(whole, tmp_path):
    workdir = shutil.copytree(whole[0], tmp_path / "run")
    shutil.rmtree(workdir / "checkpoints")
    before = (workdir / "agent.npz").read_bytes()
    with pytest.raises(ValueError, match=r"run holds agent\.npz but no checkpoint"):
        trained(workdir, 4)
    assert (workdir / "agent.npz").read_bytes() == before
    assert len(read_metrics(workdir)) == 4
    (workdir / "agent.npz").unlink()
    assert [row["iteration"] for row in loop.run(TINY, workdir, iterations=1)] == [1]


def test_no_agent_is_exported_before_the_first_checkpoint_is_whole(tmp_path, monkeypatch):
    saved = []

    def export(agent, path):
        if path.name == "agent.npz":
            with Checkpoints(tmp_path / "run" / "checkpoints", read_only=True) as checkpoints:
                saved.append(checkpoints.iterations())

    monkeypatch.setattr(Agent, "export", export)
    list(loop.run(TINY, tmp_path / "run", iterations=1))
    assert saved == [[1]]


@pytest.mark.parametrize("left", ["nothing", "half of it", "an older one"])
def test_the_agent_of_a_continued_run_is_that_of_its_checkpoint(left, whole, tmp_path):
    """Also of a run that is finished."""
    workdir = shutil.copytree(whole[0], tmp_path / "run")
    agent, path = load_agent(workdir), workdir / "agent.npz"
    if left == "nothing":
        path.unlink()
    elif left == "half of it":
        path.write_bytes(path.read_bytes()[:1000])
    else:
        older = jax.tree.map(np.zeros_like, agent.variables)
        dataclasses.replace(agent, variables=older, meta={**agent.meta, "iteration": 3}).export(path)
    again, rows = trained(workdir, 4)
    assert rows == []
    assert_same(again, agent.variables)
    assert load_agent(workdir).meta["iteration"] == 4
    before = path.read_bytes()
    trained(workdir, 4)
    assert path.read_bytes() == before
