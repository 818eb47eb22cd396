"""What every game promises, whatever its rules; a new game is one more entry in CONTRACT."""

import functools
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax import make_game
from saz_jax.config.registry import GAMES
from saz_jax.games import contract
from saz_jax.games.actions import PLACING

CONTRACT = [
    ("othello", {}),
    ("gomoku", {}),
    ("gomoku", {"k": 3}),
    ("go", {}),
    ("hex", {}),
    ("hex", {"swap": True}),
    ("breakthrough", {}),
    ("clobber", {}),
]
LARGEST = 19
LARGEST_MOVING = 11
"""Where stones are moved there are more actions, and games may last longer."""


@pytest.fixture(scope="module", params=CONTRACT, ids=lambda entry: "-".join([entry[0], *entry[1]]))
def entry(request):
    return request.param


def make(entry, max_size):
    name, options = entry
    return make_game(name, max_size, **options)


@pytest.fixture(scope="module")
def sample(entry):
    """Random games, two on every side from the smallest to the largest, to their end and beyond."""
    largest = LARGEST if make(entry, LARGEST).moves == PLACING else LARGEST_MOVING
    return contract.play_sample(functools.partial(make, entry), largest)


def test_the_contract_covers_every_game():
    assert {name for name, _ in CONTRACT} <= set(GAMES.names())
    ours = {name for name in GAMES.names() if GAMES.find(name).origin.startswith("saz_jax.")}
    assert ours == {name for name, _ in CONTRACT}


@pytest.mark.parametrize("promise", contract.PROMISES, ids=lambda promise: promise.__name__)
def test_every_game_keeps(promise, sample):
    promise(sample)


def test_options_are_what_builds_the_game_again(entry):
    game = make(entry, 9)
    assert make_game(game.name, game.max_size, **dict(game.options)) is game


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_game("chess", 8), "unknown game 'chess'; choose one of .*othello, or register"),
        (lambda: make_game("othello", cast(int, 8.0)), "max_size must be a whole number, not 8.0"),
        (lambda: make_game("othello", True), "max_size must be a whole number, not True"),
        (lambda: make_game("othello", 2), "board side 2 is too small for othello; the smallest is 3"),
        (lambda: make_game("gomoku", 4), "board side 4 is too small for gomoku; the smallest is 5"),
        (lambda: make_game("othello", 8, k=5), "othello has no option 'k'; it takes none"),
        (lambda: make_game("go", 9, kom=5), "go has no option 'kom'; it takes komi, superko, move_cap"),
        (lambda: make_game("gomoku", 9, k=0), "k=0 .* at least 1"),
        (lambda: make_game("gomoku", 9, k=-5), "k=-5 .* at least 1"),
        (lambda: make_game("gomoku", 9, k=5.0), "option k of gomoku must be int, not 5.0"),
        (lambda: make_game("gomoku", 9, k=True), "option k of gomoku must be int, not True"),
        (lambda: make_game("gomoku", 9, k="5"), "option k of gomoku must be int, not '5'"),
        (lambda: make_game("gomoku", 9, k=[5]), r"option k of gomoku must be int, not \[5\]"),
        (lambda: make_game("othello", 8).init(0), "board side 0 is too small for othello; the smallest is 3"),
        (lambda: make_game("othello", 8).init(-1), "board side -1 is too small"),
        (lambda: make_game("othello", 8).init(9), "board side 9 exceeds max_size=8"),
        (lambda: make_game("gomoku", 9).init(4), "board side 4 is too small for gomoku; the smallest is 5"),
        (lambda: make_game("othello", 8).init(6.0), "board side must be one whole number, not 6.0"),
        (lambda: make_game("othello", 8).init([6, 7]), "not \\[6, 7\\]; use jax.vmap"),
        (lambda: jax.jit(make_game("othello", 8).init)(6.0), "board side is float32\\[\\]"),
    ],
)
def test_bad_settings_and_sizes_are_named_with_the_remedy(call, message):
    make_game("gomoku", 9, k=5)  # an equal number of another type must not be taken for this one
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (-1, "action -1 is out of range; use 0 to 64"),
        (65, "action 65 is out of range; use 0 to 64"),
        (2**40, "action 1099511627776 is out of range"),
        (19.0, "action is float64\\[\\]; use one integer"),
        (jnp.float32(19), "action is float32\\[\\]"),
        (True, "action is bool\\[\\]"),
        (jnp.array([19]), "action is int32\\[1\\]; use one integer from 0 to 64, or jax.vmap"),
        (0, "action 0 .A1. is illegal for dark .X. here; legal are C2, B3, E4, D5\n......\n......\n..OX"),
    ],
)
def test_bad_actions_are_named_with_the_remedy(action, message):
    game = make_game("othello", 8)
    with pytest.raises(ValueError, match=message):
        game.step(game.init(6), action)


def test_a_float_action_is_refused_inside_jit_too():
    game = make_game("othello", 8)
    with pytest.raises(ValueError, match="action is float32"):
        jax.jit(game.step)(game.init(6), 19.0)


@pytest.mark.parametrize(
    ("board", "size", "to_play", "message"),
    [
        (np.zeros((6, 6)), 6, 1, "shape \\(6, 6\\); pad it to \\(8, 8\\)"),
        (np.full((8, 8), 2), 8, 1, "board holds 2"),
        (np.ones((8, 8)), 6, 1, "outside its live 6 x 6 corner"),
        (np.zeros((8, 8)), 9, 1, "board side 9 exceeds max_size=8"),
        (np.zeros((8, 8)), 6, 0, "to_play=0 is nobody"),
    ],
)
def test_impossible_positions_are_named_with_the_remedy(board, size, to_play, message):
    with pytest.raises(ValueError, match=message):
        make_game("othello", 8).setup(board, size, to_play)


def test_equal_arguments_give_the_same_game():
    assert make_game("gomoku", 9) is make_game("gomoku", 9, k=5)
    assert make_game("gomoku", 9) is not make_game("gomoku", 9, k=4)
