# %% [markdown]
# # A game of your own
#
# Any game on a square board fits if it can be written as functions of one position whose side is data.
# This notebook takes Hex, whose rule is unlike those of the games that are included: a chain of stones
# from side to side. It shows the rules, puts them to the same test as every other game, and trains a
# player on small boards.

# %%
import dataclasses
import inspect
import os

import hex
import jax
from gallery import gallery
from moments import snapshots

import saz_jax
from saz_jax import arena, svg, text
from saz_jax.cli import enable_compilation_cache
from saz_jax.config import EvaluationConfig
from saz_jax.games import BrokenPromise
from saz_jax.training import preset, run

enable_compilation_cache()
budget = os.environ.get("SAZ_JAX_BUDGET", "small")

# %% [markdown]
# ## The rules
#
# They are in `hex.py` beside this notebook. Dark joins top and bottom, light joins left and right. A game
# is a `Game`: its name, the limits of its sides, its symmetries, and four functions: `init`, `step`, `setup`
# and the greedy player's `heuristic`. All of them work on the padded board, and the live side is a traced
# number. One registration, and the game has a name that everything else knows:

# %%
saz_jax.register_game("my-hex", hex.make_hex)
game = saz_jax.make_game("my-hex", max_size=11)

# %% [markdown]
# One thing has to be designed rather than programmed. The network sees own and other stones, turned to
# the player to move, and no colours. In Hex the two players want different things, so the position has to
# show it: the sides are stones that lie on the board from the start.

# %%
gallery({f"side {size}": svg.render(game.init(size), game, width=260) for size in (5, 7, 11)})

# %% [markdown]
# Every `step` ends alike: the position after the move, or the position before it if the game is over or
# the move illegal. Nothing is decided with Python's `if`, because under `vmap` one program steps many
# games at once.

# %%
print(inspect.getsource(hex.step))
print(inspect.getsource(hex.position))

# %% [markdown]
# The rule of Hex is a shortest path: count the stones that a player still needs to join its sides. Zero
# means won, and the difference makes a good score for the greedy player, so one function serves both.

# %%
print(inspect.getsource(hex.stones_to_cross))

# %%
position = text.parse(
    game,
    """
    . X X X X X .
    O . . X . . O
    O . . X . . O
    O . X O O . O
    O . . . . . O
    O . . . . . O
    . X X X X X .
    """,
)
dark, light = hex.stones_needed(position.board, position.size)
print(f"dark needs {dark} more stones, light {light}")
svg.render(position, game, width=300)

# %% [markdown]
# ## The contract
#
# `check_game` plays at random on all sides and tries what every game promises: a finished game no longer
# changes, padding changes nothing, one compilation serves every side, and so on. It also tries the
# symmetries that the game claims. Hex has only one of the square besides the identity, half a turn; the
# others would exchange what the players want, or shear the cells.

# %%
for promise in saz_jax.check_game(hex.make_hex, largest=11):
    print("kept:", promise)

# %% [markdown]
# It finds mistakes, too. Here is Hex with a forgotten last line, so that a finished game goes on:

# %%
try:
    saz_jax.check_game(hex.make_endless_hex, largest=9)
except BrokenPromise as problem:
    print("broken:", problem)

# %% [markdown]
# ## Training
#
# A registered game trains like those that are included. The network needs directions, because a cell of Hex
# touches only two of its four diagonal neighbours: `edges="compass8"`, which these presets have. Examples are
# turned by the game's own symmetries only, and the board sides of the training stand in its `recipes`.

# %%
config = preset(budget, "my-hex", "saz")
config = dataclasses.replace(config, sizes=(5, 6, 7), evaluation=EvaluationConfig(every=0, games=0))
limit = {"smoke": {"iterations": 2}, "small": {"minutes": 3.0}}[budget]
workdir = f"runs/hex-{budget}"
for row in run(config, workdir, **limit):
    loss = f"loss {row['loss']:.2f}" if "loss" in row else "no game has ended yet"
    print(f"iteration {row['iteration']:3}  {row['seconds']:4.0f} s  {row['positions']:6} moves  {loss}")

# %% [markdown]
# ## On a larger board

# %%
agent = saz_jax.load_agent(workdir)
games, simulations = {"smoke": (2, 4), "small": (16, 16)}[budget]
player = agent.player(game, simulations=simulations)
opponents = {"random": saz_jax.random_player(), "greedy": saz_jax.greedy_player(game)}
for size in (7, 11):
    for name, opponent in opponents.items():
        result = arena.match(
            game, player, opponent, jax.random.key(size), size=size, games=games, opening_moves=1
        )
        print(f"{size:2} x {size:<2} against {name:6}  average outcome {result.outcome:.2f} of {games} games")

# %%
colour = {1: "dark", -1: "light"}[int(result.records.colours[-1])]
print(f"the agent is {colour}")
gallery(snapshots(game, game.init(11), result.records.actions[-1], count=6))

# %% [markdown]
# To make your own: copy `hex.py`, change the rules, and keep `check_game` quiet. On a command line,
# `--game hex:make_hex` in the folder of the file registers it: for `experiments/train.py`, `evaluate.py` and
# `round_robin.py` alike.
