"""The reference opponents: random is uniform, greedy is the brute-force best."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax import make_game
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.games import board
from saz_jax.games.playthrough import random_games
from saz_jax.search.tree_search import prefer_wins
from tests.built_in import NAMES


def repeated(state, times):
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (times, *x.shape)), state)


def midgame(game, sizes, moves, seed):
    """States with aux after some random moves."""
    _, actions = random_games(game, sizes, seed, moves)
    states = jax.vmap(game.init)(jnp.asarray(sizes))
    step = jax.jit(jax.vmap(game.step))
    for action in actions:
        states = step(states, action)
    return states


def test_random_plays_every_legal_move_equally_often():
    game, times = make_game("othello", 8), 8000
    actions = np.asarray(jax.jit(random_player())(jax.random.key(0), repeated(game.init(8), times)))
    counts = np.bincount(actions, minlength=65)
    assert (counts[np.flatnonzero(~game.init(8).legal)] == 0).all()
    # Four moves of 2000 each; the standard deviation is 39.
    assert (np.abs(counts[np.flatnonzero(game.init(8).legal)] - times / 4) < 200).all()


@pytest.mark.parametrize("name", NAMES)
def test_random_and_greedy_play_legal_moves_on_mixed_sides(name):
    game = make_game(name, 9)
    states = midgame(game, np.repeat(np.arange(5, 10), 4), moves=8, seed=1)
    for player in (random_player(), greedy_player(game)):
        actions = jax.jit(player)(jax.random.key(1), states)
        assert (actions.dtype, actions.shape) == (jnp.int32, (20,))
        assert jnp.take_along_axis(states.legal, actions[:, None], axis=1).all()


@pytest.mark.parametrize("name", NAMES)
def test_both_players_pass_when_the_game_is_over(name):
    game = make_game(name, 5)
    state = game.init(5)._replace(
        terminated=jnp.bool_(True), legal=jnp.arange(game.num_actions) == game.num_actions - 1
    )
    for player in (random_player(), greedy_player(game)):
        assert player(jax.random.key(0), repeated(state, 3)).tolist() == [game.num_actions - 1] * 3


@pytest.mark.parametrize("name", NAMES)
def test_greedy_plays_the_best_of_all_moves_and_every_best_move(name):
    game = make_game(name, 7)
    states = midgame(game, [5, 6, 7, 7], moves=9, seed=2)
    step, heuristic, player = jax.jit(game.step), jax.jit(game.heuristic), jax.jit(greedy_player(game))
    for b in range(4):
        state = jax.tree.map(lambda x, b=b: x[b], states)
        scores = {
            a: float(heuristic(step(state, a), state.to_play)) for a in np.flatnonzero(state.legal).tolist()
        }
        best = {action for action, score in scores.items() if score == max(scores.values())}
        chosen = player(jax.random.key(b), repeated(state, 40 * len(best)))
        assert set(np.asarray(chosen).tolist()) == best


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("greedy_side", [1, -1])
def test_greedy_clearly_beats_random(name, greedy_side):
    # In Clobber a look one move ahead says little, so only more games tell it from chance.
    game, games, margin = make_game(name, 6), *((1600, 0.025) if name == "clobber" else (400, 0.1))
    greedy, chance, step = greedy_player(game), random_player(), jax.vmap(game.step)

    @jax.jit
    def play(key):
        def move(progress):
            number, states = progress
            greedy_key, random_key = jax.random.split(jax.random.fold_in(key, number))
            by_greedy, by_chance = greedy(greedy_key, states), chance(random_key, states)
            after = step(states, jnp.where(states.to_play == greedy_side, by_greedy, by_chance))
            return number + 1, after

        starts = jax.vmap(game.init)(jnp.full(games, 6))
        return jax.lax.while_loop(lambda progress: ~progress[1].terminated.all(), move, (0, starts))

    number, final = play(jax.random.key(5))
    assert number <= game.max_moves
    assert final.terminated.all()
    score = float((greedy_side * final.outcome).mean())
    # Between equals the mean of 400 games strays by 0.05, that of 1600 by 0.025.
    assert score > margin


def test_moves_are_read_in_chunks_where_all_successors_would_not_fit(monkeypatch):
    game = make_game("gomoku", 200)
    states = jax.eval_shape(jax.vmap(game.init), jax.ShapeDtypeStruct((2,), jnp.int32))
    prior = jax.ShapeDtypeStruct((2, game.num_actions), jnp.float32)
    greedy = jax.jit(greedy_player(game)).lower(jax.random.key(0), states)
    wins = jax.jit(jax.vmap(functools.partial(prefer_wins, game))).lower(states, prior)
    for program in (greedy, wins):
        memory = program.compile().memory_analysis()
        assert memory is not None
        assert memory.temp_size_in_bytes < 2e8
    small = make_game("gomoku", 7)
    starts = jax.vmap(small.init)(jnp.array([5, 7]))
    key = jax.random.key(0)
    whole = greedy_player(small)(key, starts).tolist()
    monkeypatch.setattr(board, "CHUNK_POINTS", 350)
    assert greedy_player.__wrapped__(small)(key, starts).tolist() == whole
