"""One iteration of training (Alg. 3) as a function of the state before it, the configuration and its number.

Nothing here touches a disk.  `iterate` leaves the state that it is given untouched, so that an interrupt in
the middle of an iteration loses that iteration and nothing else.
"""

import functools
import math
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from saz_jax.config import TrainConfig
from saz_jax.config.registry import MODELS, NETWORKS, PRIORS, SEARCHES
from saz_jax.games import make_game
from saz_jax.games.shapes import make_boards
from saz_jax.models import registry as models
from saz_jax.search.memory import check_memory
from saz_jax.search.tree_search import check as check_search
from saz_jax.storage.metrics import Row
from saz_jax.storage.named_arrays import mismatch
from saz_jax.training import devices
from saz_jax.training.learner import LearnerState, StepFn, as_batch, make_learner
from saz_jax.training.replay import Positions, Replay, release
from saz_jax.training.selfplay import Moves, PlayFn, make_new_games, make_play
from saz_jax.training.traced_programs import remembered
from saz_jax.types import Game, GameState, Model, Variables

CHUNK = 2
"""Moves per call of the compiled self-play: few enough to show progress and to stop soon."""

Progress = Callable[[str, int, int], None]
"""(phase, done, total) -> None."""


class DivergedError(FloatingPointError):
    """The loss is no longer a finite number."""


class Program(NamedTuple):
    """What is compiled once and stays the same over the whole run."""

    config: TrainConfig
    mesh: Mesh
    game: Game
    model: Model
    begin: Callable[[int], tuple[Variables, GameState]]
    """seed -> untrained weights and the first games."""
    play: PlayFn
    init_learner: Callable[[Any], LearnerState]
    learn: StepFn


class RunState(NamedTuple):
    """What an iteration changes."""

    iteration: int
    """Iterations done."""
    learner: LearnerState
    games: GameState
    """The games under way."""
    pending: Positions
    """Their positions so far."""
    replay: tuple[Positions, ...]
    seconds: float
    """Wall-clock time spent in iterations, over all stretches of the run."""


def make_program(config: TrainConfig, traced: Path | None = None) -> Program:
    """Everything that can be built, and checked, before the first computation.

    `traced` is a folder that remembers programs of earlier starts; it cannot know games of other people.
    """
    check(config)
    mesh = devices.make_mesh()
    devices.check_divides(mesh, "selfplay.games", config.selfplay.games)
    devices.check_divides(mesh, "learner.batch_size", config.learner.batch_size)
    game = make_game(config.game, max(config.sides), **config.game_options)
    for shape in make_boards(config.shapes, game.max_size).points if config.shapes else config.sizes:
        jax.eval_shape(functools.partial(game.init, shape))  # refuses a bad side or shape, computes nothing
    model = models.make_model(config.model_config, game)
    models.check_sizes(model, config.sides)
    if "ownership" in model.network.heads and game.ownership is None:
        raise ValueError(
            f"{game.name} says nothing about ownership; give its Game a function `ownership`, or set "
            f"network.ownership to False and network.readout to another one than ownership"
        )
    if mesh.size > 1 or not _is_ours(game, config):
        traced = None
    playing = model.evaluate
    if model.evaluate_once is not None and not config.selfplay.subgraphs:
        playing = model.evaluate_once
    init_learner, learn = make_learner(model.network, config.learner, game.symmetries)
    everywhere = NamedSharding(mesh, PartitionSpec())
    begin = make_begin(config, game, model)
    heads = model.network.heads
    play = make_play(
        game, playing, config.search, config.selfplay, config.boards, CHUNK, mesh, "ownership" in heads
    )
    if traced is not None:
        begin = remembered(begin, traced, "begin", config)
        play = remembered(play, traced, "play", config)
    return Program(
        config=config,
        mesh=mesh,
        game=game,
        model=model,
        begin=begin,
        play=play,
        init_learner=jax.jit(init_learner),
        learn=jax.jit(learn, donate_argnums=0, out_shardings=everywhere),
    )


def _is_ours(game: Game, config: TrainConfig) -> bool:
    """Whether all that takes part is code of this package, which traced programs are named by."""
    entries = (
        MODELS.find(config.model),
        NETWORKS.find(NETWORKS.name_of(config.network)),
        SEARCHES.find(config.search.kind),
        PRIORS.find(getattr(config.ensemble, "combine", "product")),
    )
    return all(origin.startswith("saz_jax.") for origin in (game.origin, *(e.origin for e in entries)))


def make_begin(config: TrainConfig, game: Game, model: Model) -> Callable[[int], tuple[Variables, GameState]]:
    """seed -> untrained weights and the first games; operation by operation they would take seconds."""
    selfplay = config.selfplay
    new_games = make_new_games(
        game, config.boards, selfplay.favour, selfplay.max_opening_moves, selfplay.size_weights
    )

    @jax.jit
    def begin(seed: int) -> tuple[Variables, GameState]:
        weights_key, games_key = jax.random.split(jax.random.key(seed))
        return model.network.init(weights_key), new_games(games_key, config.selfplay.games)

    return begin


def check(config: TrainConfig) -> None:
    """Raise `ValueError` for settings that make no sense, alone or together."""
    if not config.boards or len(set(config.boards)) != len(config.boards):
        if config.shapes:
            raise ValueError(f"shapes={config.shapes}; name each shape once")
        raise ValueError(f"sizes={config.sizes}; name each board side once, at least one")
    if isinstance(config.seed, bool) or not isinstance(config.seed, int) or not 0 <= config.seed < 2**32:
        raise ValueError(f"seed={config.seed}; use a whole number from 0 to {2**32 - 1}")
    selfplay, learner, search = config.selfplay, config.learner, config.search
    _demand("selfplay.games", selfplay.games, selfplay.games >= 1, "1 or more")
    even = selfplay.moves >= CHUNK and selfplay.moves % CHUNK == 0
    _demand("selfplay.moves", selfplay.moves, even, f"a multiple of {CHUNK}")
    _demand(
        "selfplay.temperature_moves", selfplay.temperature_moves, selfplay.temperature_moves >= 0, "0 or more"
    )
    weights = selfplay.size_weights
    fine = len(weights) in (0, len(config.boards)) and all(0 < weight < math.inf for weight in weights)
    _demand("selfplay.size_weights", weights, fine, f"a positive number for each of {config.boards}")
    plies, share = selfplay.max_opening_moves, selfplay.random_move_share
    _demand("selfplay.max_opening_moves", plies, plies >= 0, "0 (none) or more plies")
    _demand("selfplay.random_move_share", share, 0 <= share < 1, "a share from 0 to below 1")
    _demand("learner.history", learner.history, learner.history >= 1, "at least 1 iteration")
    _demand("learner.epochs", learner.epochs, 0 < learner.epochs < math.inf, "more than 0 passes")
    _demand("learner.batch_size", learner.batch_size, learner.batch_size >= 1, "1 or more")
    weight, piece = learner.surprise_weight, learner.microbatch
    _demand("learner.surprise_weight", weight, 0 <= weight <= 1, "a share from 0 to 1")
    divides = piece >= 0 and (not piece or learner.batch_size % piece == 0)
    _demand(
        "learner.microbatch", piece, divides, f"0 or a divisor of learner.batch_size={learner.batch_size}"
    )
    rate, norm = learner.learning_rate, learner.max_grad_norm
    _demand("learner.learning_rate", rate, 0 < rate < math.inf, "a positive number")
    _demand("learner.max_grad_norm", norm, 0 <= norm < math.inf, "0 (no clipping) or more")
    _demand("learner.l2", learner.l2, 0 <= learner.l2 < math.inf, "0 or more")
    _demand("learner.warmup_steps", learner.warmup_steps, learner.warmup_steps >= 0, "0 or more")
    _demand("learner.decay_steps", learner.decay_steps, learner.decay_steps >= 1, "1 or more")
    for name in ("ownership", "score", "reply", "soft"):
        weight = getattr(learner, f"{name}_weight")
        _demand(f"learner.{name}_weight", weight, 0 <= weight < math.inf, "0 (off) or more")
    decay = learner.ema_decay
    _demand("learner.ema_decay", decay, 0 <= decay < 1, "0 (off) or a decay such as 0.999")
    check_search(search)
    check_memory_of(config)


def check_memory_of(config: TrainConfig) -> None:
    """Refuse self-play whose search trees do not fit into memory, before anything is compiled."""
    game = make_game(config.game, max(config.sides), **config.game_options)
    check_memory(game, config.selfplay.games, config.search.simulations, solve=config.search.solve)


def _demand(name: str, value: Any, fine: bool, wanted: str) -> None:
    if not fine:
        raise ValueError(f"{name}={value}; use {wanted}")


def start(program: Program, weights: Variables | None = None) -> RunState:
    """The state before the first iteration, the same for the same seed; from `weights` if they are given."""
    untrained, games = program.begin(program.config.seed)
    if weights is not None and (problem := mismatch(weights, untrained)):
        raise ValueError(
            f"the weights to start from do not fit this network: {problem}; "
            f"use the model and network settings they were trained with"
        )
    learner = program.init_learner(untrained if weights is None else weights)
    learner, games = jax.device_get((learner, games))
    return RunState(
        iteration=0,
        learner=devices.copy(program.mesh, learner),
        games=devices.split(program.mesh, games),
        pending=Positions.blank(program.game.max_size, heads=program.model.network.heads),
        replay=(),
        seconds=0.0,
    )


def iterate(program: Program, state: RunState, progress: Progress) -> tuple[RunState, Row]:
    """One iteration: self-play, then optimisation on the history; `state` itself stays untouched."""
    config, began = program.config, time.monotonic()
    key = jax.random.fold_in(jax.random.key(config.seed), state.iteration + 1)
    play_key, learn_key = jax.random.split(key)
    games, pending, positions, played = self_play(program, state, play_key, progress)
    played_in = time.monotonic() - began
    replay = Replay(config.learner.history)
    for block in (*state.replay, positions):
        replay.add(block)
    learner, losses = optimise(program, state, replay, learn_key, progress)
    seconds = time.monotonic() - began
    row: Row = {
        "iteration": state.iteration + 1,
        "seconds": state.seconds + seconds,
        "positions": config.selfplay.games * config.selfplay.moves * (state.iteration + 1),
        "positions_per_second": config.selfplay.games * config.selfplay.moves / played_in,
        "games_per_second": played["games"] / played_in,
        "selfplay_share": played_in / seconds,
        "history": len(replay),
        **played,
        **losses,
    }
    state = RunState(
        state.iteration + 1, learner, games, pending, tuple(replay.iterations), state.seconds + seconds
    )
    return state, row


def self_play(
    program: Program, state: RunState, key: jax.Array, progress: Progress
) -> tuple[GameState, Positions, Positions, Row]:
    """(games under way, their positions, positions of the games that ended, figures)."""
    games, pending, ended = state.games, state.pending, []
    finished, dark, entropy = 0, 0.0, []
    chunks = program.config.selfplay.moves // CHUNK
    progress("self-play", 0, chunks)
    for chunk in range(chunks):
        games, moves = program.play(state.learner.average, jax.random.fold_in(key, chunk), games)
        moves: Moves = devices.fetch(moves)
        made = as_positions(moves, program.model.network.heads)
        released, pending = release(pending, made, moves.ended, moves.outcome, moves.ownership)
        ended.append(released)
        finished += int(moves.ended.sum())
        dark += float(((moves.outcome + 1) / 2)[moves.ended].sum())
        policy = moves.policy.reshape(-1, moves.policy.shape[-1])
        entropy.append(-np.sum(policy * np.log(np.where(policy > 0, policy, 1)), axis=-1))
        progress("self-play", chunk + 1, chunks)
    positions = Positions.join(ended)
    figures: Row = {
        "games": finished,
        "game_length": len(positions.outcome) / max(finished, 1),
        "dark_outcome": dark / max(finished, 1),
        "policy_entropy": float(np.concatenate(entropy).mean()),
    }
    return games, pending, positions, figures


def as_positions(moves: Moves, heads: Collection[str] = ()) -> Positions:
    """The positions of T moves in B lanes, move by move, with room for what these heads learn from."""
    count, lanes = moves.ended.shape

    def flatten(x: Any) -> np.ndarray:
        return np.asarray(x).reshape(count * lanes, *x.shape[2:])

    return Positions.blank(moves.observation.board.shape[-1], count * lanes, heads)._replace(
        observation=jax.tree.map(flatten, moves.observation),
        policy=flatten(moves.policy),
        surprise=flatten(moves.surprise),
        lane=np.tile(np.arange(lanes, dtype=np.int32), count),
    )


def optimise(
    program: Program, state: RunState, replay: Replay, key: jax.Array, progress: Progress
) -> tuple[LearnerState, Row]:
    """The learner after its passes over the history, and the mean losses; nothing without finished games."""
    config = program.config.learner
    if not len(replay):
        return state.learner, {}
    # The steps overwrite their input; the state before the iteration must survive an interrupt.
    learner = jax.tree.map(jnp.copy, state.learner)
    seed = (program.config.seed, state.iteration + 1)
    steps = replay.steps(config.batch_size, config.epochs)
    losses = []
    progress("learning", 0, steps)
    batches = replay.batches(seed, config.batch_size, config.epochs, config.surprise_weight)
    for step, positions in enumerate(batches):
        batch = devices.split(program.mesh, as_batch(positions))
        learner, loss = program.learn(learner, jax.random.fold_in(key, step), batch)
        losses.append(loss)
        if step % 16 == 15 or step + 1 == steps:
            jax.block_until_ready(loss)
            progress("learning", step + 1, steps)
    mean = jax.tree.map(lambda *x: float(np.mean(x)), *devices.fetch(losses))
    if not np.isfinite(mean.total):
        raise DivergedError(
            f"the loss is {mean.total} in iteration {state.iteration + 1}; the last checkpoint is intact. "
            f"Lower learner.learning_rate (now {config.learning_rate}) or set learner.max_grad_norm to 1, "
            f"in a new workdir"
        )
    figures = {"loss": mean.total, "policy_loss": mean.policy, "value_loss": mean.value}
    figures |= {f"{name}_loss": loss for name, loss in mean.heads.items()}
    return learner, {**figures, "gradient_norm": mean.gradient}
