"""Learning really happens: tic-tac-toe from scratch, judged by perfect play; Breakthrough on a new side."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax.agents.agent import load_agent
from saz_jax.agents.players import random_player
from saz_jax.arena import play_match
from saz_jax.config import (
    EvaluationConfig,
    GINConfig,
    LearnerConfig,
    SearchConfig,
    SelfPlayConfig,
    TrainConfig,
)
from saz_jax.games import make_game
from saz_jax.training import loop
from tests.oracles import tictactoe

pytestmark = pytest.mark.usefixtures("optimised_programs")

CONFIG = TrainConfig(
    game="gomoku",
    game_options={"k": 3},
    model="model3",
    sizes=(3,),
    network=GINConfig(layers=3, hidden=32, head=32, edges="compass8", norm="layer", dropout=0.0),
    search=SearchConfig(kind="gumbel", simulations=16),
    selfplay=SelfPlayConfig(games=64, moves=16, temperature_moves=9),
    learner=LearnerConfig(
        batch_size=128, epochs=0.5, learning_rate=3e-3, policy_over="legal", symmetries=True
    ),
    evaluation=EvaluationConfig(every=0, games=2, simulations=2, sizes=(3,)),
)


def losses(player, colour):
    """Positions in which the player, moving as `colour`, has lost to perfect play, all its replies tried."""
    game = make_game("gomoku", 3, k=3)
    lost, frontier = [], {tictactoe.EMPTY}
    while frontier:
        ours = sorted(board for board in frontier if tictactoe.player(board) == colour)
        boards = jnp.asarray(ours, jnp.int8).reshape(-1, 3, 3)
        others = [board for board in frontier if tictactoe.player(board) != colour]
        following = {after for board in others for after in perfect_replies(board)}
        if ours:
            states = jax.vmap(game.setup)(
                boards, jnp.full(len(ours), 3), jnp.full(len(ours), colour, jnp.int8)
            )
            actions = np.asarray(player(jax.random.key(0), states)).tolist()
            following |= {tictactoe.play(board, move) for board, move in zip(ours, actions, strict=True)}
        lost += [board for board in following if tictactoe.result(board) == -colour]
        frontier = {board for board in following if tictactoe.result(board) is None}
    return lost


def perfect_replies(board):
    """The positions after each move that keeps the value of the game."""
    after = [tictactoe.play(board, move) for move in tictactoe.moves(board)]
    return [
        board_after for board_after in after if -tictactoe.perfect(board_after) == tictactoe.perfect(board)
    ]


@pytest.mark.slow
def test_tic_tac_toe_is_learned_from_scratch_to_no_losses_against_perfect_play(tmp_path):
    game = make_game("gomoku", 3, k=3)
    list(loop.run(CONFIG, tmp_path / "young", iterations=1))
    young = load_agent(tmp_path / "young").player(game, raw=True)
    assert losses(young, 1) + losses(young, -1)
    list(loop.run(CONFIG, tmp_path / "trained", iterations=60))
    trained = load_agent(tmp_path / "trained")
    player = trained.player(game, simulations=64, search="puct")
    assert losses(player, 1) == []
    assert losses(player, -1) == []


@pytest.mark.slow
def test_moves_along_edges_are_learned_and_carry_over_to_a_larger_board(tmp_path):
    """Without any search: what the network has learned on sides 4 and 5, on side 6 against random play."""
    evaluation = dataclasses.replace(CONFIG.evaluation, sizes=(6,))
    config = dataclasses.replace(
        CONFIG, game="breakthrough", game_options={}, sizes=(4, 5), evaluation=evaluation
    )
    list(loop.run(config, tmp_path, iterations=20))
    game = make_game("breakthrough", 6)
    player = load_agent(tmp_path).player(game, raw=True, temperature=0.5)
    dark = play_match(game, player, random_player(), jax.random.key(1), [6] * 100)
    light = play_match(game, random_player(), player, jax.random.key(2), [6] * 100)
    # Between equals the mean of 200 games strays by 0.07: five times that is no accident.
    assert float(dark.mean() - light.mean()) / 2 > 0.35
