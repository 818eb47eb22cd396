"""What every game promises, whatever its rules; `check_game` tests it all on random games.

A promise is a function that raises `BrokenPromise`; its name and docstring say what is promised.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import chex
import jax
import jax.numpy as jnp
import numpy as np

from saz_jax.games import shapes
from saz_jax.games.actions import action_symmetry, kinds_before, repadded, source_and_target
from saz_jax.games.board import INVERSE_SYMMETRY, symmetry
from saz_jax.games.notation import draw
from saz_jax.games.playthrough import random_games, replay_games
from saz_jax.games.registry import checked
from saz_jax.types import Game, GameState

GameMaker: TypeAlias = Callable[[int], Game]
"""max_size -> Game"""


class BrokenPromise(AssertionError):
    """A game breaks a promise."""


COMPARED = tuple(field for field in GameState._fields if field not in ("aux", "margin"))
"""What all games have alike."""


class Sample(NamedTuple):
    """A game and what B random games of T actions each showed of it, two on every board."""

    make: GameMaker
    game: Game
    points: np.ndarray
    """bool[B, N, N]: the boards, see `trial_boards`."""
    states: GameState
    """[T + 1, B] without aux; every game goes on beyond its end."""
    actions: np.ndarray
    """int[T, B]"""


def check_game(make: GameMaker, largest: int = 13) -> tuple[str, ...]:
    """Raise `BrokenPromise` unless the game keeps all promises on sides up to `largest`; what was checked.

    make: max_size -> Game, as `register_game` takes it.  The symmetries that are tried are the game's own,
    and the boards besides squares those in which it sees no `shape_problem`.
    """
    sample = play_sample(make, largest)
    for promise in PROMISES:
        promise(sample)
    return tuple(promise.__name__.replace("_", " ") for promise in PROMISES)


def play_sample(make: GameMaker, largest: int) -> Sample:
    """Random games on squares of every side up to `largest`, and on other shapes."""

    def made(max_size: int) -> Game:
        return checked(make(max_size))

    game = made(largest)
    points = np.repeat(trial_boards(game), 2, axis=0)
    states, actions = random_games(game, points, seed=0, length=game.max_moves + 2)
    return Sample(made, game, points, states, actions)


def trial_boards(game: Game) -> np.ndarray:
    """bool[B, N, N]: squares of every side, and those of a list of other shapes that the game can use."""
    side = game.max_size
    half, third = max(side // 2, 1), max(side // 3, 1)
    random = [shapes.holes(jax.random.key(i), side, share) for i, share in enumerate((0.05, 0.1, 0.2))]
    others = [
        shapes.rectangle(side, half),
        shapes.rectangle(third, side),
        shapes.rectangle(side - 1, side),
        shapes.diamond(side),
        shapes.cross(side),
        shapes.ring(side),
        *map(np.asarray, random),
        shapes.rectangle(side, side) & (np.indices((side, side)).sum(0) != 1),  # the corner is an island
        shapes.rectangle(side, side) & (np.arange(side) != third)[:, None],  # two halves
    ]
    padded = [np.pad(points, [(0, side - length) for length in points.shape]) for points in others]
    fitting = [points for points in padded if not game.shape_problem(points)]
    squares = [shapes.rectangle(n, n) for n in range(game.min_size, side + 1)]
    return np.stack([*(np.pad(points, (0, side - len(points))) for points in squares), *fitting])


def dtypes_and_shapes_are_those_of_the_record(sample: Sample) -> None:
    """Every field of `GameState` is what its docstring says."""
    side, actions = sample.game.max_size, sample.game.num_actions
    expected = {
        "board": ((side, side), np.int8),
        "points": ((side, side), np.bool_),
        "size": ((), np.int32),
        "to_play": ((), np.int8),
        "legal": ((actions,), np.bool_),
        "terminated": ((), np.bool_),
        "outcome": ((), np.float32),
        "move_count": ((), np.int32),
    }
    for field, (shape, dtype) in expected.items():
        array = getattr(sample.states, field)
        is_so = (array.shape[2:], array.dtype) == (shape, dtype)
        _hold(is_so, f"{field} is {array.dtype}{array.shape[2:]}, not {np.dtype(dtype)}{shape}")


def there_is_always_a_legal_action(sample: Sample) -> None:
    """`legal` is never all False."""
    _hold(sample.states.legal.any(-1), "a position without a legal action")


def stones_are_placed_on_free_points_and_only_own_ones_are_moved(sample: Sample) -> None:
    """Nobody may play onto an own stone or off the live board; a stone is placed where there is none."""
    states, moves = sample.states, sample.game.moves
    own = states.board == states.to_play[..., None, None]
    free = (states.board == 0) & sample.points[None]
    not_own = ~own & sample.points[None]
    legal = states.legal[..., :-1].reshape(*own.shape[:-2], len(moves), *own.shape[-2:])
    for kind, step in enumerate(moves):
        places = step == (0, 0)
        wrong = "action on a stone" if places else "move of another's stone, onto an own one"
        allowed = free if places else own & _shifted(np.asarray(not_own), step)
        _hold(allowed | ~legal[..., kind, :, :], f"a legal {wrong} or off the live board")


def nothing_is_ever_placed_off_the_live_board(sample: Sample) -> None:
    """The padding and the holes stay empty, and the points and the live side what they were."""
    _hold(sample.states.board[:, ~sample.points] == 0, "a stone off the live board")
    _hold(sample.states.points == sample.points[None], "a board that changes its shape")
    sizes = np.array([1 + np.argwhere(points).max() for points in sample.points])
    _hold(sample.states.size == sizes[None], "a board that changes its side")


def a_finished_game_allows_exactly_pass(sample: Sample) -> None:
    """So that it can be stepped on inside a batch."""
    only_pass = np.arange(sample.game.num_actions) == sample.game.num_actions - 1
    _hold(sample.states.legal[sample.states.terminated] == only_pass[None], "another action than pass")


def a_finished_game_no_longer_changes(sample: Sample) -> None:
    """Whatever is played."""
    over = sample.states.terminated[:-1]
    _hold(over.any(), "no game that was played on after its end")
    for field in COMPARED:
        before, after = getattr(sample.states, field)[:-1], getattr(sample.states, field)[1:]
        _hold(before[over] == after[over], f"{field} changes after the end")


def the_sides_alternate_and_every_action_counts(sample: Sample) -> None:
    """Dark begins; a side that cannot move passes."""
    states, going = sample.states, ~sample.states.terminated[:-1]
    _hold(states.to_play[0] == 1, "a game that light begins")
    _hold(states.to_play[1:][going] == -states.to_play[:-1][going], "a side that moves twice in a row")
    _hold(states.move_count[0] == 0, "actions counted before the first")
    _hold(states.move_count[1:][going] == states.move_count[:-1][going] + 1, "an action that does not count")


def a_placed_stone_stays_and_a_pass_leaves_the_board_alone(sample: Sample) -> None:
    """At least until the other side's move.  A pass may swap, too: mirror the board, exchange the colours."""
    states, pass_action = sample.states, sample.game.num_actions - 1
    for t, b in np.argwhere(~states.terminated[:-1]):
        before, after, action = states.board[t, b], states.board[t + 1, b], sample.actions[t, b]
        if action == pass_action:
            swapped = (after == -before.T).all()
            _hold(swapped or (before == after).all(), "a pass that changes the board")
        else:
            source, target = source_and_target(int(action), sample.game.max_size, sample.game.moves)
            _hold(after[target] == states.to_play[t, b], "a stone that is not where it was placed")
            _hold(source == target or after[source] == 0, "a stone that stays where it was moved away")


def every_game_ends_within_its_cap_and_not_before_it_begins(sample: Sample) -> None:
    """`max_moves` holds on every side."""
    _hold(sample.states.terminated[sample.game.max_moves], "a game longer than max_moves")
    _hold(~sample.states.terminated[0], "a game that is over before the first move")


def the_outcome_is_a_win_a_tie_or_a_loss_and_zero_until_the_end(sample: Sample) -> None:
    """And it is not always the same."""
    states = sample.states
    _hold(np.isin(states.outcome, (-1, 0, 1)), "an outcome other than -1, 0 and 1")
    _hold(states.outcome[~states.terminated] == 0, "an outcome before the end")
    _hold(len(np.unique(states.outcome[-1])) > 1, "one outcome for all games played at random")


def the_heuristic_is_zero_sum(sample: Sample) -> None:
    """What is good for dark is as bad for light."""
    third = len(sample.actions) // 3
    boards, to_play = sample.states.board[third], sample.states.to_play[third]
    middle = jax.vmap(sample.game.setup)(boards, sample.points, to_play)  # with the aux that it may need
    scores = jax.jit(jax.vmap(sample.game.heuristic, (0, None)))
    dark, light = np.asarray(scores(middle, 1)), np.asarray(scores(middle, -1))
    _hold(dark == -light, "scores of dark and light that do not cancel")
    _hold((dark != 0).any(), "a heuristic that is always 0")


def illegal_and_out_of_range_actions_change_nothing_inside_jit(sample: Sample) -> None:
    """Outside of `jit` a game may refuse them; inside, it cannot."""
    game = _make(sample, 7)
    states = jax.vmap(game.init)(jnp.asarray(trial_boards(game)))
    for t in range(6):
        states = jax.jit(jax.vmap(game.step))(states, jnp.argmax(jnp.roll(states.legal, t, 1), 1) - t)
    actions = jnp.append(jnp.arange(-60, game.num_actions + 60), jnp.array([-(2**31), 2**31 - 1]))
    every = jax.jit(jax.vmap(jax.vmap(game.step, (None, 0)), (0, None)))(states, actions)
    allowed = np.zeros((len(states.size), len(actions)), bool)
    allowed[:, 60 : 60 + game.num_actions] = np.asarray(states.legal & ~states.terminated[:, None])
    _hold(allowed.any(), "no game that lasts for six actions")
    for before, after in zip(jax.tree.leaves(states), jax.tree.leaves(every), strict=True):
        same = np.asarray(after == before[:, None]).reshape(*allowed.shape, -1)
        _hold(same[~allowed], "an illegal or out-of-range action that changes the position")
    counted = np.asarray(every.move_count) == np.asarray(states.move_count)[:, None] + allowed
    _hold(counted, "a legal action that does not count")


def plain_jit_and_vmap_agree(sample: Sample) -> None:
    """And `scan`, which played the random games."""
    game = _make(sample, 6)
    size = game.max_size - 1
    states, actions = random_games(game, [size], seed=3, length=6)
    plain = jitted = game.init(size)
    several = jax.vmap(game.init)(jnp.array([size, game.max_size, size]))
    step, steps = jax.jit(game.step), jax.jit(jax.vmap(game.step))
    for t, (action,) in enumerate(actions):
        plain, jitted = game.step(plain, action), step(jitted, action)
        several = steps(several, jnp.array([action, 0, action]))
        expected = jax.tree.map(lambda x, t=t: x[t + 1, 0], states)
        for state in (plain, jitted, *(jax.tree.map(lambda x, i=i: x[i], several) for i in (0, 2))):
            for field in COMPARED:
                same = np.asarray(getattr(state, field) == getattr(expected, field))
                _hold(same, f"{field} depends on how step is compiled")


def one_trace_serves_every_side(sample: Sample) -> None:
    """The live side is data, and so is the shape."""
    game = sample.game
    chex.clear_trace_counter()
    init = jax.jit(chex.assert_max_traces(game.init, n=2))  # for sides and for masks
    step = jax.jit(chex.assert_max_traces(game.step, n=1))
    squares = [jnp.int32(size) for size in range(game.min_size, game.max_size + 1)]
    for shape in (*squares, *map(jnp.asarray, sample.points[::2])):
        try:
            state = init(shape)
            state = step(state, jnp.argmax(state.legal))
        except AssertionError as error:
            raise BrokenPromise("a side or a shape that compiles again") from error
        _hold(int(state.move_count) == 1, f"no first move on\n{draw(state)}")
        _hold(shape.ndim == 2 or state.size == shape, "a side that is not the one asked for")


def a_side_and_its_square_are_the_same_board(sample: Sample) -> None:
    """Whether a board is given by its side, its rows and columns or its points."""
    game = _make(sample, 6)
    for size in (game.min_size, game.max_size):
        points = shapes.rectangle(size, size)
        leaves = [jax.tree.leaves(game.init(shape)) for shape in (size, (size, size), points)]
        for same in zip(*leaves, strict=True):
            _hold([(same[0] == other).all() for other in same], "a square that depends on how it is given")


def padding_changes_nothing(sample: Sample) -> None:
    """A game on a shape is the same on every padded side."""
    small = _make(sample, 9)
    side = small.max_size
    large = sample.make(side + 4)
    points = np.repeat(trial_boards(small), 4, axis=0)
    states, actions = random_games(small, points, seed=1, length=small.max_moves)
    moved = repadded(actions, side, side + 4)
    moved[actions == small.num_actions - 1] = large.num_actions - 1
    wide = jnp.pad(jnp.asarray(points), ((0, 0), (0, 4), (0, 4)))
    padded = replay_games(large, jax.vmap(large.init)(wide), moved)
    for field in ("size", "to_play", "terminated", "outcome", "move_count"):
        _hold(getattr(padded, field) == getattr(states, field), f"{field} depends on the padding")
    _hold(padded.board[..., :side, :side] == states.board, "board depends on the padding")
    lead = padded.board.shape[:-2]
    by_kind = padded.legal[..., :-1].reshape(*lead, len(large.moves), side + 4, side + 4)
    inside = by_kind[..., :side, :side].reshape(states.legal[..., :-1].shape)
    _hold(inside == states.legal[..., :-1], "legal depends on the padding")
    _hold(by_kind.sum() == inside.sum(), "a legal action in the padding")
    _hold(padded.legal[..., -1] == states.legal[..., -1], "pass depends on the padding")


def neighbours_are_mutual_and_the_symmetries_keep_them(sample: Sample) -> None:
    """`directions` are steps to adjacent points, each with its opposite, and turn with the board.

    `moves` go along them, or stay where they are, and turn with the board as well.
    """
    directions, moves = sample.game.directions, sample.game.moves
    _hold(len(moves) > 0 and len(set(moves)) == len(moves), "no kind of move, or one that is named twice")
    _hold([step in ((0, 0), *directions) for step in moves], "a move that goes along no edge of the graph")
    for which in (*sample.game.symmetries, sample.game.light_view):
        _hold(kinds_before(moves)[which] >= 0, f"symmetry {which} changes the kinds of moves")
    adjacent = [max(abs(row), abs(column)) == 1 for row, column in directions]
    _hold(adjacent, "a direction that leads to no adjacent point")
    _hold(len(set(directions)) == len(directions), "a direction that is named twice")
    _hold([(-row, -column) in directions for row, column in directions], "a direction without its opposite")
    around = np.zeros((1, 3, 3), bool)
    around[0, [1 + row for row, _ in directions], [1 + column for _, column in directions]] = True
    for which in sample.game.symmetries:
        turned = _transform(np.asarray(symmetry(which, 3, 3))[None], around)
        _hold(turned == around, f"symmetry {which} changes the neighbours")


def the_symmetries_commute_with_step(sample: Sample) -> None:
    """A turned or mirrored game, move by move, is the game turned or mirrored.

    So is the game that light sees, where light sees it turned and with the colours exchanged.
    """
    game = _make(sample, 9)
    side, points = game.max_size, trial_boards(game)
    states, actions = random_games(game, points, seed=2, length=game.max_moves)
    sizes = jnp.asarray(states.size[0])
    turns = jax.jit(jax.vmap(lambda which, size: action_symmetry(which, size, side, game.moves), (None, 0)))
    views = [(game.light_view, -1)] if game.light_view else []
    for which, colour in (*((which, 1) for which in game.symmetries), *views):
        nodes = np.asarray(jax.vmap(symmetry, (None, 0, None))(which, sizes, side))  # [B, V]
        source = np.asarray(turns(which, sizes))  # [B, A]
        target = np.asarray(turns(INVERSE_SYMMETRY[which], sizes))
        transform = functools.partial(_transform, nodes)
        board, to_play = colour * transform(states.board[0]), colour * states.to_play[0]
        starts = jax.vmap(game.setup)(board, transform(points), to_play)
        turned = replay_games(game, starts, np.take_along_axis(target, actions.T, 1).T)
        legal = np.take_along_axis(np.asarray(states.legal), np.broadcast_to(source, states.legal.shape), -1)
        _hold(turned.board == colour * transform(states.board), f"symmetry {which} changes the stones")
        _hold(turned.legal == legal, f"symmetry {which} changes the legal actions")
        _hold(turned.outcome == colour * states.outcome, f"symmetry {which} changes the outcome")


def the_ownership_lies_on_the_board_and_turns_with_it(sample: Sample) -> None:
    """Where a game tells whose the points are in the end: numbers from -1 to 1, 0 off the board."""
    game = _make(sample, 6)
    if game.ownership is None:
        return
    ownership = jax.vmap(game.ownership)

    @jax.jit
    def owned(starts: GameState, actions: Any) -> Any:
        ends, _ = jax.lax.scan(lambda s, a: (jax.vmap(game.step)(s, a), None), starts, actions)
        return ownership(ends)

    side, points = game.max_size, trial_boards(game)
    states, actions = random_games(game, points, seed=4, length=game.max_moves)
    starts = jax.vmap(game.setup)(states.board[0], points, states.to_play[0])
    found = np.asarray(owned(starts, actions))
    expected = (len(points), side, side), np.float32
    _hold((found.shape, found.dtype) == expected, f"ownership is {found.dtype}{found.shape[1:]}")
    _hold(np.abs(found) <= 1, "ownership beyond -1 and 1")
    _hold(found[~points] == 0, "ownership off the live board")
    sizes = jnp.asarray(states.size[0])
    for which in game.symmetries:
        nodes = np.asarray(jax.vmap(symmetry, (None, 0, None))(which, sizes, side))
        back = jax.vmap(
            lambda size, which=which: action_symmetry(INVERSE_SYMMETRY[which], size, side, game.moves)
        )
        transform = functools.partial(_transform, nodes)
        turned = jax.vmap(game.setup)(transform(states.board[0]), transform(points), states.to_play[0])
        moved = np.take_along_axis(np.asarray(back(sizes)), actions.T, 1).T
        same = owned(turned, moved) == transform(found)
        _hold(same, f"symmetry {which} changes the ownership")


PROMISES: tuple[Callable[[Sample], None], ...] = (
    dtypes_and_shapes_are_those_of_the_record,
    there_is_always_a_legal_action,
    stones_are_placed_on_free_points_and_only_own_ones_are_moved,
    nothing_is_ever_placed_off_the_live_board,
    a_finished_game_allows_exactly_pass,
    a_finished_game_no_longer_changes,
    the_sides_alternate_and_every_action_counts,
    a_placed_stone_stays_and_a_pass_leaves_the_board_alone,
    every_game_ends_within_its_cap_and_not_before_it_begins,
    the_outcome_is_a_win_a_tie_or_a_loss_and_zero_until_the_end,
    the_heuristic_is_zero_sum,
    illegal_and_out_of_range_actions_change_nothing_inside_jit,
    plain_jit_and_vmap_agree,
    one_trace_serves_every_side,
    a_side_and_its_square_are_the_same_board,
    padding_changes_nothing,
    neighbours_are_mutual_and_the_symmetries_keep_them,
    the_symmetries_commute_with_step,
    the_ownership_lies_on_the_board_and_turns_with_it,
)


def _hold(condition: Any, otherwise: str) -> None:
    if not np.all(condition):
        raise BrokenPromise(otherwise)


def _make(sample: Sample, max_size: int) -> Game:
    """The game on boards of side `max_size`, or more if its smallest is too near."""
    return sample.make(max(max_size, sample.game.min_size + 2))


def _shifted(x: np.ndarray, step: tuple[int, int]) -> np.ndarray:
    """[..., N, N]: what lies one `step` away from each point; 0 or False beyond the board."""
    around = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(1, 1), (1, 1)])
    rows, columns = (slice(1 + d, 1 + d + x.shape[-1]) for d in step)
    return around[..., rows, columns]


def _transform(source: np.ndarray, boards: Any) -> np.ndarray:
    """Boards [..., B, N, N] whose nodes come from `source`: int[B, V]."""
    flat = boards.reshape(*boards.shape[:-2], -1)
    points = np.broadcast_to(source[:, :-1], flat.shape)
    return np.take_along_axis(flat, points, -1).reshape(boards.shape)
