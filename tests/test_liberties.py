"""How short of liberties chains are, against the flood fill of the oracle; and who gets to see it."""

import dataclasses

import jax
import numpy as np
import pytest

from saz_jax import make_game
from saz_jax.config import FCNConfig, GINConfig
from saz_jax.games.liberties import shortage
from saz_jax.games.playthrough import random_games
from saz_jax.games.shapes import make_boards
from saz_jax.graphs.topology import live_nodes, observe
from saz_jax.networks.registry import make_network_of
from tests.oracles.go import GoOracle


def test_chains_short_of_liberties_are_those_of_the_oracle():
    """On a square, a rectangle and a board with holes, padded to 7."""
    game = make_game("go", 7)
    boards = make_boards((5, "4x7", "ring:7"), 7).points
    states, _ = random_games(game, boards, seed=3, length=40)
    found = np.asarray(jax.jit(jax.vmap(jax.vmap(shortage)))(observe(states)))
    seen = set()
    for t in range(0, 41, 2):
        for which, points in enumerate(boards):
            board = states.board[t, which]
            stones = {(int(r), int(c)): int(board[r, c]) for r, c in np.argwhere(board != 0)}
            oracle = GoOracle({(int(r), int(c)) for r, c in np.argwhere(points)}, komi=0)
            wanted = np.zeros((7, 7))
            for point in stones:
                count = len(oracle.chain(stones, point)[1])
                seen.add(min(count, 4))
                wanted[point] = {1: 1.0, 2: 0.5}.get(count, 0.0)
            np.testing.assert_array_equal(found[t, which], wanted)
    assert seen == {1, 2, 3, 4}


@pytest.mark.parametrize("config", [GINConfig(layers=1, hidden=4, head=4), FCNConfig(blocks=1, channels=4)])
def test_a_network_sees_the_extra_planes_if_it_asks_for_them(config):
    game = make_game("go", 5)
    asked = dataclasses.replace(config, extra_planes=True)
    plain, tactical = make_network_of(config, game), make_network_of(asked, game)
    states = jax.vmap(game.init)(np.array([5, 4]))
    for network in (plain, tactical):
        variables = network.init(jax.random.key(0))
        nodes = jax.vmap(live_nodes)(observe(states))
        assert network.infer(variables, observe(states), nodes).value.shape == (2,)
    weights = [sum(x.size for x in jax.tree.leaves(n.init(jax.random.key(0)))) for n in (plain, tactical)]
    assert weights[1] > weights[0]
    with pytest.raises(ValueError, match="gomoku offers none"):
        make_network_of(asked, make_game("gomoku", 5))
