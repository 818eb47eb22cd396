"""One iteration of training (Alg. 3) as a function of the state before it, the configuration and its number.

Nothing here touches a disk.  `iterate` leaves the state that it is given untouched, so that an interrupt in
the middle of an iteration loses that iteration and nothing else.
"""

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from saz_jax.config import TrainConfig
from saz_jax.config.registry import MODELS, NETWORKS, PRIORS, SEARCHES
from saz_jax.games import make_game
from saz_jax.games.actions import num_kinds
from saz_jax.games.shapes import make_boards
from saz_jax.models import registry as models
from saz_jax.search.memory import check_memory, machine_memory
from saz_jax.search.tree_search import check as check_search
from saz_jax.storage.metrics import Row
from saz_jax.storage.named_arrays import mismatch
from saz_jax.training import devices
from saz_jax.training.learner import LearnerState, StepFn, as_batch, make_learner
from saz_jax.training.replay import Positions, Replay, release
from saz_jax.training.selfplay import Moves, PlayFn, make_new_games, make_play
from saz_jax.training.traced_programs import remembered
from saz_jax.types import Game, GameState, Model, Variables

EARLIER = 8
"""Earlier selves that are kept to play against."""
CHUNK = 2
"""Moves per call of the compiled self-play: few enough to show progress and to stop soon."""

Progress = Callable[[str, int, int], None]
"""(phase, done, total) -> None."""


class DivergedError(FloatingPointError):
    """The loss is no longer a finite number."""


class Group(NamedTuple):
    """Boards that are padded to the same side, and what is compiled for them."""

    game: Game
    model: Model
    share: float
    """How many of the iterations play on these boards."""
    position_bytes: int
    """Memory of one position in the history."""
    begin: Callable[[int], tuple[Variables, GameState]]
    """seed -> untrained weights, the same for every group, and the first games."""
    play: PlayFn
    learn: StepFn


class Program(NamedTuple):
    """What is compiled once and stays the same for the whole run."""

    config: TrainConfig
    mesh: Mesh
    groups: tuple[Group, ...]
    """By padded side, the smallest first."""
    init_learner: Callable[[Any], LearnerState]

    @property
    def game(self) -> Game:
        """The game on the largest boards."""
        return self.groups[-1].game

    @property
    def model(self) -> Model:
        """The model for the largest boards; its weights are everybody's."""
        return self.groups[-1].model


class RunState(NamedTuple):
    """What an iteration changes."""

    iteration: int
    """Iterations done."""
    learner: LearnerState
    games: tuple[GameState, ...]
    """The games under way, by group."""
    pending: tuple[Positions, ...]
    """Their positions so far."""
    replay: tuple[Positions, ...]
    seconds: float
    """Wall-clock time spent in iterations, over all stretches of the run."""
    cpu_seconds: float = 0.0
    """Processor time spent in them by this process, all cores added up: a busy machine does not change it."""
    earlier: tuple[Variables, ...] = ()
    """The weights of `EARLIER` earlier iterations, any of them alike; () if nobody plays against them."""
    before: Mapping[str, float] = MappingProxyType({})
    """Training of the weights that the run began with, as `agents.agent.spent` tells it."""

    @property
    def opponent(self) -> Variables | None:
        """The earlier self that plays in the next iteration."""
        return self.earlier[self.iteration % EARLIER] if self.earlier else None


def make_program(config: TrainConfig, traced: Path | None = None) -> Program:
    """Builds and checks all that can be before the first computation.

    `traced` is a folder that remembers programs of earlier starts; it cannot know games of other people.
    """
    check(config)
    mesh = devices.make_mesh()
    devices.check_divides(mesh, "selfplay.games", config.selfplay.games)
    devices.check_divides(mesh, "learner.batch_size", config.learner.batch_size)
    if mesh.size > 1 or not _is_ours(config):
        traced = None
    groups = tuple(_make_group(config, index, mesh, traced) for index in range(len(group_boards(config))))
    check_history(config, groups)
    init_learner, _ = make_learner(groups[-1].model.network, config.learner)
    return Program(config=config, mesh=mesh, groups=groups, init_learner=jax.jit(init_learner))


def group_boards(config: TrainConfig) -> list[tuple[int, TrainConfig]]:
    """(padded side, settings for the boards that are padded to it) for each group, the smallest first."""
    sides = config.selfplay.paddings or (max(config.sides),)
    groups = []
    for low, high in zip((0, *sides), sides, strict=False):
        inside = [i for i, side in enumerate(config.board_sides) if low < side <= high]
        if not inside:
            raise ValueError(f"selfplay.paddings={sides}; no board has a side from {low + 1} to {high}")
        boards = {"shapes" if config.shapes else "sizes": tuple(config.boards[i] for i in inside)}
        weights = tuple(config.selfplay.size_weights[i] for i in inside if config.selfplay.size_weights)
        selfplay = dataclasses.replace(config.selfplay, size_weights=weights, paddings=())
        groups.append((high, dataclasses.replace(config, selfplay=selfplay, **boards)))
    return groups


def group_shares(config: TrainConfig) -> list[float]:
    """How many of the iterations play on the boards of each group: the weights of its boards."""
    weights = [sum(each.selfplay.size_weights) or len(each.boards) for _, each in group_boards(config)]
    return [weight / sum(weights) for weight in weights]


def group_of(config: TrainConfig, iteration: int) -> int:
    """The group that plays in an iteration: evenly spread by their shares, the same in every stretch."""
    golden = (math.sqrt(5) - 1) / 2
    bounds = np.cumsum(group_shares(config))
    return min(int(np.searchsorted(bounds, iteration * golden % 1, side="right")), len(bounds) - 1)


def _make_group(config: TrainConfig, index: int, mesh: Mesh, traced: Path | None) -> Group:
    padded, own = group_boards(config)[index]
    game = make_game(config.game, padded, **config.game_options)
    for shape in make_boards(own.shapes, game.max_size).points if own.shapes else own.sizes:
        jax.eval_shape(functools.partial(game.init, shape))  # refuses a bad side or shape, computes nothing
    model = models.make_model(config.model_config, game)
    models.check_sizes(model, own.sides)
    heads = model.network.heads
    if "ownership" in heads and game.ownership is None:
        raise ValueError(
            f"{game.name} says nothing about ownership; give its Game a function `ownership`, or set "
            f"network.ownership to False and network.readout to another one than ownership"
        )
    playing = model.evaluate
    if model.evaluate_once is not None and not config.selfplay.subgraphs:
        playing = model.evaluate_once
    _, learn = make_learner(model.network, config.learner, game.symmetries, game.moves)
    everywhere = NamedSharding(mesh, PartitionSpec())
    begin = make_begin(own, game, model, index)
    play = make_play(
        game, playing, config.search, own.selfplay, own.boards, CHUNK, mesh, "ownership" in heads
    )
    if traced is not None:
        begin = remembered(begin, traced, f"begin-{index}", config)
        play = remembered(play, traced, f"play-{index}", config)
    learn = jax.jit(learn, donate_argnums=0, out_shardings=everywhere)
    position_bytes = Positions.bytes_each(game.max_size, heads, len(game.moves))
    return Group(game, model, group_shares(config)[index], position_bytes, begin, play, learn)


def _is_ours(config: TrainConfig) -> bool:
    """Whether only code of this package takes part: traced programs are named by its digest alone."""
    game = make_game(config.game, max(config.sides), **config.game_options)
    entries = (
        MODELS.find(config.model),
        NETWORKS.find(NETWORKS.name_of(config.network)),
        SEARCHES.find(config.search.kind),
        PRIORS.find(getattr(config.ensemble, "combine", "product")),
    )
    return all(origin.startswith("saz_jax.") for origin in (game.origin, *(e.origin for e in entries)))


def make_begin(
    config: TrainConfig, game: Game, model: Model, group: int = 0
) -> Callable[[int], tuple[Variables, GameState]]:
    """seed -> untrained weights and the first games; operation by operation they would take seconds."""
    new_games = make_new_games(game, config.boards, config.selfplay)

    @jax.jit
    def begin(seed: int) -> tuple[Variables, GameState]:
        weights_key, games_key = jax.random.split(jax.random.key(seed))
        if group:
            games_key = jax.random.fold_in(games_key, group)
        return model.network.init(weights_key), new_games(games_key, config.selfplay.games)

    return begin


def check(config: TrainConfig) -> None:
    """Raise `ValueError` for settings that make no sense, alone or together."""
    if not config.boards or len(set(config.boards)) != len(config.boards):
        if config.shapes:
            raise ValueError(f"shapes={config.shapes}; name each shape once")
        raise ValueError(f"sizes={config.sizes}; name each board side once, at least one")
    if min(config.sides) < 1:
        raise ValueError(f"sizes={config.sizes}; use board sides of 1 or more")
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
    sides = selfplay.paddings
    rising = not sides or (list(sides) == sorted(set(sides)) and sides[-1] >= max(config.sides))
    _demand("selfplay.paddings", sides, rising, f"rising sides, the last one at least {max(config.sides)}")
    plies, share = selfplay.max_opening_moves, selfplay.random_move_share
    _demand("selfplay.max_opening_moves", plies, plies >= 0, "0 (none) or more plies")
    _demand("selfplay.random_move_share", share, 0 <= share < 1, "a share from 0 to below 1")
    for name in ("fork_share", "earlier_share"):
        share = getattr(selfplay, name)
        _demand(f"selfplay.{name}", share, 0 <= share <= 1, "a share from 0 to 1")
    noise = selfplay.margin_noise
    _demand("selfplay.margin_noise", noise, 0 <= noise < math.inf, "0 (none) or more points")
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
    for padded, _ in group_boards(config):
        game = make_game(config.game, padded, **config.game_options)
        searched = math.ceil((1 + config.selfplay.earlier_share) * config.selfplay.games)
        check_memory(game, searched, config.search.simulations, solve=config.search.solve)


def check_history(config: TrainConfig, groups: Sequence[Group]) -> None:
    """Refuse a history that does not fit into memory beside the games under way, half of a board each."""
    available, each = machine_memory(), iteration_bytes(config, groups)
    under_way = max(g.position_bytes * g.game.max_size**2 for g in groups) * config.selfplay.games // 2
    needed = under_way + each * config.learner.history
    if needed > available:
        fitting = (available - under_way) // each
        remedy = "use smaller boards, fewer selfplay.games or fewer selfplay.moves"
        raise ValueError(
            f"a history of {config.learner.history} iterations and the games under way need "
            f"{needed / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB are available; "
            + (f"learner.history={fitting} would fit" if fitting > 0 else remedy)
        )


def iteration_bytes(config: TrainConfig, groups: Sequence[Group]) -> int:
    """Memory of the positions of one iteration."""
    positions = config.selfplay.games * config.selfplay.moves
    return max(int(positions * sum(g.share * g.position_bytes for g in groups)), 1)


def _demand(name: str, value: Any, fine: bool, wanted: str) -> None:
    if not fine:
        raise ValueError(f"{name}={value}; use {wanted}")


def start(program: Program, weights: Variables | None = None) -> RunState:
    """The state before the first iteration, the same for the same seed; from `weights` if they are given."""
    begun = [group.begin(program.config.seed) for group in program.groups]
    untrained, games = begun[0][0], tuple(games for _, games in begun)
    if weights is not None and (problem := mismatch(weights, untrained)):
        raise ValueError(
            f"the weights to start from do not fit this network: {problem}; "
            f"use the model and network settings they were trained with"
        )
    learner = program.init_learner(untrained if weights is None else weights)
    learner, games = jax.device_get((learner, games))
    learner = devices.copy(program.mesh, learner)
    return RunState(
        iteration=0,
        learner=learner,
        games=devices.split(program.mesh, games),
        pending=tuple(
            Positions.blank(g.game.max_size, heads=g.model.network.heads, kinds=len(g.game.moves))
            for g in program.groups
        ),
        replay=(),
        seconds=0.0,
        earlier=(learner.average,) * (EARLIER if program.config.selfplay.earlier_share else 0),
    )


def iterate(program: Program, state: RunState, progress: Progress) -> tuple[RunState, Row]:
    """One iteration: self-play, then optimisation on the history; `state` itself stays untouched."""
    config, began, cpu_began = program.config, time.monotonic(), time.process_time()
    key = jax.random.fold_in(jax.random.key(config.seed), state.iteration + 1)
    play_key, learn_key = jax.random.split(key)
    which = group_of(config, state.iteration)
    games, pending, positions, played = self_play(program, state, which, play_key, progress)
    played_in = time.monotonic() - began
    replay = Replay(config.learner.history)
    for block in (*state.replay, positions):
        replay.add(block)
    learner, losses = optimise(program, state, replay, learn_key, progress)
    seconds, cpu_seconds = time.monotonic() - began, time.process_time() - cpu_began
    row: Row = {
        "iteration": state.iteration + 1,
        "seconds": state.seconds + seconds,
        "cpu_seconds": state.cpu_seconds + cpu_seconds,
        "positions": config.selfplay.games * config.selfplay.moves * (state.iteration + 1),
        "positions_per_second": config.selfplay.games * config.selfplay.moves / played_in,
        "games_per_second": played["games"] / played_in,
        "selfplay_share": played_in / seconds,
        "history": len(replay),
        **played,
        **losses,
    }
    state = RunState(
        iteration=state.iteration + 1,
        learner=learner,
        games=_replaced(state.games, which, games),
        pending=_replaced(state.pending, which, pending),
        replay=tuple(replay.iterations),
        seconds=state.seconds + seconds,
        cpu_seconds=state.cpu_seconds + cpu_seconds,
        earlier=with_newest(state.earlier, learner.average, config.seed, state.iteration + 1),
        before=state.before,
    )
    return state, row


def with_newest(earlier: tuple[Any, ...], newest: Any, seed: int, iteration: int) -> tuple[Any, ...]:
    """The earlier selves once `iteration` is one of them: at any time each iteration is among them as likely.

    The same for the same seed and iteration (reservoir sampling); those before the first iteration count as
    iteration 0.
    """
    place = iteration
    if iteration >= len(earlier):
        place = int(np.random.default_rng((seed, iteration, EARLIER)).integers(iteration + 1))
    return _replaced(earlier, place, newest) if place < len(earlier) else earlier


def _replaced(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    return (*items[:index], item, *items[index + 1 :])


def self_play(
    program: Program, state: RunState, which: int, key: jax.Array, progress: Progress
) -> tuple[GameState, Positions, Positions, Row]:
    """(games under way, their positions, positions of the games that ended, figures) of one group."""
    group, games, pending, ended = program.groups[which], state.games[which], state.pending[which], []
    finished, dark, entropy = 0, 0.0, []
    chunks = program.config.selfplay.moves // CHUNK
    progress("self-play", 0, chunks)
    for chunk in range(chunks):
        chunk_key = jax.random.fold_in(key, chunk)
        games, moves = group.play(state.learner.average, chunk_key, games, state.opponent)
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

    max_size = moves.observation.board.shape[-1]
    kinds = num_kinds(moves.policy.shape[-1], max_size)
    return Positions.blank(max_size, count * lanes, heads, kinds)._replace(
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
    learners = {group.game.max_size: group.learn for group in program.groups}
    batches = replay.batches(seed, config.batch_size, config.epochs, config.surprise_weight)
    for step, positions in enumerate(batches):
        batch = devices.split(program.mesh, as_batch(positions))
        learn = learners[positions.padded_side]
        learner, loss = learn(learner, jax.random.fold_in(key, step), batch)
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
