# %% [markdown]
# # A game of your own
#
# Any game on a board of points fits if it can be written as functions of one position whose shape is data.
# This notebook takes Connect Four, whose rule is unlike those of the games that are included: discs fall.
# It shows the rules, puts them to the same test as every other game, trains a player on small boards, keeps
# and passes it on, and lets it play the usual board of 6 rows and 7 columns and others that it never saw.

# %%
import dataclasses
import inspect
import itertools
import os
import tempfile
from pathlib import Path

import connect_four
import jax
from gallery import gallery
from moments import snapshots

import saz_jax
from saz_jax import arena, shapes, svg, text
from saz_jax.agents import ship
from saz_jax.cli import enable_compilation_cache
from saz_jax.config import EvaluationConfig
from saz_jax.games import BrokenPromise
from saz_jax.render import training_curve
from saz_jax.storage import read_metrics
from saz_jax.training import preset, run

enable_compilation_cache()
budget = os.environ.get("SAZ_JAX_BUDGET", "small")

# %% [markdown]
# ## The rules
#
# They are in `connect_four.py` beside this notebook. A game is a `Game`: its name, the limits of its sides,
# its symmetries, and four functions: `init`, `step`, `setup` and the greedy player's `heuristic`. All of them
# work on the padded board, and which points exist is data. One registration, and the game has a name that
# everything else knows:

# %%
saz_jax.register_game("connect-four", connect_four.make)
game = saz_jax.make_game("connect-four", max_size=9)

# %% [markdown]
# An action is a point. Players choose a column, but what the network, the search and the pictures see is the
# point where the disc comes to rest: the game says that only one point per column is legal, and nothing else
# has to know of gravity. Here are three openings with their legal moves tinted, one of them among holes:

# %%
drawn = shapes.from_text("......./.....#./......./...#.../......./.......")
boards = {"6 rows, 7 columns": (6, 7), "9 rows, 5 columns": (9, 5), "a board with holes": drawn}
openings = {name: game.init(shape) for name, shape in boards.items()}
gallery({name: svg.render(state, game, heat=state.legal, width=240) for name, state in openings.items()})

# %% [markdown]
# Gravity takes two short functions. They know nothing of rows and columns of one certain board: a disc enters
# a column at its highest point, and falls until something stops it.

# %%
print(inspect.getsource(connect_four.landings))
print(inspect.getsource(connect_four.falls))

# %% [markdown]
# Nothing is decided with Python's `if`, because under `vmap` one program steps many games at once. Every
# `step` ends alike, with `unless_over_or_illegal`: the position after the move, or the one before it if the
# game is over or the move illegal.

# %%
print(inspect.getsource(connect_four.position))

# %% [markdown]
# The same count of discs in a line tells who has won and gives the greedy player its score. A line that both
# sides have entered is worth nothing:

# %%
print(inspect.getsource(connect_four.heuristic))

# %%
position = text.parse(
    game,
    """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . O . . .
    . . O X . . .
    . X X X O O .
    """,
)
print(f"dark's score is {game.heuristic(position, 1):.0f}")
svg.render(position, game, heat=position.legal, width=300)

# %% [markdown]
# ## The contract
#
# `check_game` plays at random on squares of all sides, on rectangles and among holes, and tries what every
# game promises: a finished game no longer changes, padding changes nothing, one compilation serves every
# shape, and so on. It also tries the symmetries that the game claims. Connect Four has one besides the
# identity: left and right may be exchanged, but nothing may be turned.

# %%
for promise in saz_jax.check_game(connect_four.make, largest={"smoke": 6, "small": 9}[budget]):
    print("kept:", promise)

# %% [markdown]
# It finds mistakes, too. Here is Connect Four whose finished games go on:

# %%
try:
    saz_jax.check_game(connect_four.make_endless, largest=6)
except BrokenPromise as problem:
    print("broken:", problem)

# %% [markdown]
# ## Training
#
# A registered game trains like those that are included. Self-play draws its boards from a list of shapes;
# examples are mirrored by the game's own symmetries only. Everything else that suits the game better than the
# defaults stands in its `recipes`: here the search asks the rules for moves that win at once.

# %%
config = preset(budget, "connect-four", "model3")
config = dataclasses.replace(
    config, shapes=("4x5", "5x5", "5x6", "6x6"), evaluation=EvaluationConfig(every=0, games=0)
)
limit = {"smoke": {"iterations": 2}, "small": {"minutes": 3.0}}[budget]
workdir = f"runs/connect-four-{budget}"
for row in run(config, workdir, **limit):
    loss = f"loss {row['loss']:.2f}" if "loss" in row else "no game has ended yet"
    print(f"iteration {row['iteration']:3}  {row['seconds']:4.0f} s  {row['positions']:6} moves  {loss}")

# %% [markdown]
# The folder of a run is an agent, and the same call with a later limit goes on where the run stopped.
# `export` makes one small file of it that others load; `ship` puts that file beside the settings, the log and
# the curve.

# %%
later = {"smoke": {"iterations": 3}, "small": {"minutes": 4.0}}[budget]
print("more iterations:", len(list(run(config, workdir, **later))))

agent = saz_jax.load_agent(workdir)
agent.export(f"{workdir}.npz")
agent = saz_jax.load_agent(f"{workdir}.npz")
print(f"an agent of {agent.game_name} that has seen {agent.meta['positions']} moves")

training_curve(read_metrics(workdir), Path(workdir) / "curve.png", title="connect-four")
shipped = Path(tempfile.mkdtemp()) / "connect-four"
ship(Path(workdir), shipped)
print(*sorted(file.name for file in shipped.iterdir()))

# %% [markdown]
# ## On larger boards
#
# The agent meets two reference players on boards that it never saw.

# %%
games, simulations = {"smoke": (2, 4), "small": (16, 16)}[budget]
player = agent.player(game, simulations=simulations)
opponents = {"random": saz_jax.random_player(), "greedy": saz_jax.greedy_player(game)}
for shape in ("6x7", "8x9", "holes:8:0.1"):
    for name, opponent in opponents.items():
        result = arena.match(
            game, player, opponent, jax.random.key(0), size=shape, games=games, opening_moves=2
        )
        print(f"{shape:12} against {name:6}  average outcome {result.outcome:.2f} of {games} games")

# %%
colour = {1: "dark", -1: "light"}[int(result.records.colours[-1])]
print(f"the agent is {colour}")
gallery(snapshots(game, game.init(result.records.points[-1]), result.records.actions[-1], count=6))

# %% [markdown]
# Everybody against everybody, on one board; `saz round-robin` makes ratings of such games.

# %%
players = {"the agent": player, **opponents}
for first, second in itertools.combinations(players, 2):
    result = arena.match(
        game, players[first], players[second], jax.random.key(1), size="6x7", games=games, opening_moves=2
    )
    print(f"{first} against {second}: {result.wins} won, {result.ties} tied, {result.losses} lost")

# %% [markdown]
# To make your own: copy `connect_four.py`, change the rules, and keep `check_game` quiet. On a command line,
# `--game connect_four:make` in the folder of the file registers it: for `experiments/train.py`, `evaluate.py`
# and `round_robin.py` alike.
