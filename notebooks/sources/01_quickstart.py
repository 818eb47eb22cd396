# %% [markdown]
# # Quickstart: train on small, play the large
#
# This notebook plays a few moves by hand, trains a player on boards of side 5 and 6, and then lets it
# play on boards that it never saw. At its default it takes a few minutes on two CPU cores; a GPU is used
# if there is one.

# %%
import dataclasses
import os

import jax
from gallery import gallery
from moments import snapshots
from opinions import priors, search

import saz_jax
from saz_jax import arena, svg, text
from saz_jax.cli import enable_compilation_cache
from saz_jax.config import EvaluationConfig
from saz_jax.training import preset, run

enable_compilation_cache()
# "smoke" is a check of the pipeline, far too short to learn
budget = os.environ.get("SAZ_JAX_BUDGET", "small")
print(f"budget {budget} on {jax.devices()[0].device_kind}")

# %% [markdown]
# ## A position
#
# A game is a record of pure functions. The padded side `max_size` is fixed, the side that is played on is
# data. Outside of `jit`, an illegal move is refused with an explanation.

# %%
game = saz_jax.make_game("othello", max_size=12)
state = game.init(8)
for name in ["D3", "C3", "C4"]:
    action = text.parse_move(name, size=8, max_size=12)
    state = game.step(state, action)
print(text.show(state, last_move=action))

# %% [markdown]
# The same as a picture, with the legal moves of the player to move as heat:

# %%
svg.render(state, "othello", heat=state.legal, last_move=action)

# %% [markdown]
# ## Training
#
# A preset is a complete set of settings; change what you like with `dataclasses.replace`. `run`
# yields a row of figures per iteration. The run lives in a folder: run the cell again and it goes on
# where it stopped.

# %%
config = dataclasses.replace(
    preset(budget, "othello", "saz"),
    sizes=(5, 6),
    evaluation=EvaluationConfig(every=0, games=0),
)
limit = {"smoke": {"iterations": 2}, "small": {"minutes": 3.0}}[budget]
workdir = f"runs/quickstart-{budget}"
for row in run(config, workdir, **limit):
    loss = f"loss {row['loss']:.2f}" if "loss" in row else "no game has ended yet"
    print(f"iteration {row['iteration']:3}  {row['seconds']:4.0f} s  {row['positions']:6} moves  {loss}")

# %% [markdown]
# ## On a larger board
#
# The agent in the folder plays on boards of every side. Here it meets the paper's reference opponents on
# a side that it was trained on and on one with four times the points.

# %%
agent = saz_jax.load_agent(workdir)
games, simulations = {"smoke": (2, 4), "small": (16, 16)}[budget]
player = agent.player(game, simulations=simulations)
opponents = {"random": saz_jax.random_player(), "greedy": saz_jax.greedy_player(game)}
for size in (6, 12):
    for name, opponent in opponents.items():
        result = arena.match(
            game, player, opponent, jax.random.key(size), size=size, games=games, opening_moves=2
        )
        print(f"{size:2} x {size:<2} against {name:6}  average outcome {result.outcome:.2f} of {games} games")

# %% [markdown]
# The last game of the last match, against greedy on 12 x 12:

# %%
moves = result.records.actions[-1]
colour = {1: "dark", -1: "light"}[int(result.records.colours[-1])]
print(f"the agent is {colour}")
gallery(snapshots(game, game.init(12), moves, count=6))

# %% [markdown]
# ## What it thinks
#
# The network reads the whole board (prior p1) and several sampled subgraphs of it (prior p2); the player
# searches with their combination. All four pictures are of one position: warm is likely.

# %%
position = arena.random_openings(game, jax.random.key(1), jax.numpy.array([10]), moves=12)[0]
position = jax.tree.map(lambda x: x[0], position)
opinion = priors(agent, game, position, jax.random.key(2))
output, _ = search(agent, game, position, jax.random.key(3), simulations={"smoke": 16, "small": 100}[budget])
opinion["search"] = output.policy
gallery({name: svg.render(position, "othello", heat=heat, width=300) for name, heat in opinion.items()})

# %%
best = text.move_name(output.action, game.max_size)
print(f"the search plays {best} and expects {output.value:+.2f} for the player to move")

# %% [markdown]
# Next: `02_your_own_game` brings a new game, `03_inside_the_search` opens the tree, `04_reproduce` makes
# the paper's tables.
