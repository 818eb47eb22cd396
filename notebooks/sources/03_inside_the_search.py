# %% [markdown]
# # Inside the search
#
# What happens between a position and a move: the network's opinion, the opinions of the subgraphs, the
# tree that grows from them, and what the tree says in the end. The game is Gomoku with four in a row.

# %%
import dataclasses
import os

import jax
import jax.numpy as jnp
from gallery import gallery
from moments import snapshots
from opinions import network_value, priors, search, subgraph_heat, subgraphs
from tree_picture import draw_tree, outline

import saz_jax
from saz_jax import svg, text
from saz_jax.cli import enable_compilation_cache
from saz_jax.config import EvaluationConfig
from saz_jax.training import preset, run

enable_compilation_cache()
budget = os.environ.get("SAZ_JAX_BUDGET", "small")
simulations = {"smoke": 100, "small": 400}[budget]

# %% [markdown]
# A little training on sides 5 and 6 gives the network some idea of the game. Any other agent will do as
# well: `agent = saz_jax.load_agent("path/to/a/run")`.

# %%
config = dataclasses.replace(
    preset(budget, "gomoku", "saz"),
    game_options={"k": 4},
    sizes=(5, 6),
    evaluation=EvaluationConfig(every=0, games=0),
)
limit = {"smoke": {"iterations": 2}, "small": {"minutes": 2.0}}[budget]
workdir = f"runs/inside-{budget}"
for row in run(config, workdir, **limit):
    print(f"iteration {row['iteration']:3}  {row['seconds']:4.0f} s  {row['positions']:6} moves")
agent = saz_jax.load_agent(workdir)

# %% [markdown]
# ## The position
#
# Light is to move on a board larger than those of the training. Dark threatens to make four at D3; light
# has three in a column, and one move that wins at once.

# %%
game = agent.game(max_size=8)
position = text.parse(
    game,
    """
    . . . . . . . .
    . . . . . . . .
    X X X . . . . .
    . . . . . X . .
    . . . . . O . .
    . . . . . O . .
    . . . . . O . .
    . . . . . . . .
    """,
    to_play=-1,
)
svg.render(position, "gomoku")

# %% [markdown]
# ## The network alone
#
# p1 comes from the whole board, p2 from the subgraphs, and the search is guided by (p1 + p1 * p2) / 2,
# renormalised over the legal moves.

# %%
key = jax.random.key(0)
print(f"the network's value for light: {network_value(agent, game, position):+.2f}")
opinion = priors(agent, game, position, key)
gallery({name: svg.render(position, "gomoku", heat=heat, width=300) for name, heat in opinion.items()})

# %% [markdown]
# ## The subgraphs
#
# Each one holds a random part of the points, always with the dummy node that is joined to all of them.
# Points that are left out are blue; the others carry the prior that the network gives when it sees this
# part alone. p2 at a point is the mean over the subgraphs that hold it.

# %%
nodes, opinions_of_parts = subgraphs(agent, game, position, key)
gallery(
    {
        f"subgraph {k + 1}, {held[:-1].sum()} of {8 * 8} points": svg.render(
            position, "gomoku", heat=subgraph_heat(held, prior), width=300
        )
        for k, (held, prior) in enumerate(zip(nodes, opinions_of_parts, strict=True))
    }
)

# %% [markdown]
# ## Visits and values
#
# The search looks at one new position per simulation. Moves that look good are visited more often, and
# their values get more certain. Values are seen by the player to move: red is good, blue is bad.

# %%
output, tree = search(agent, game, position, key, simulations)
gallery(
    {
        "visits": svg.render(position, "gomoku", heat=output.visits, width=300),
        "values": svg.render(position, "gomoku", heat=output.qvalues, width=300),
        "policy": svg.render(position, "gomoku", heat=output.policy, width=300),
    }
)

# %%
move = text.move_name(output.action, game.max_size)
print(f"{simulations} simulations: light plays {move}, value {output.value:+.2f}")

# %% [markdown]
# ## The tree
#
# The most visited moves and their most visited answers, with visits and values. The larger a disc, the more
# visits; red is good for the player at the root, whoever is to move.

# %%
draw_tree(tree, depth=2, width=4)

# %%
print(outline(tree, depth=3, width=3))

# %% [markdown]
# ## A quiet position
#
# Nothing is decided here, so the search spreads out, and the principal variation, the most visited path,
# is longer.

# %%
quiet = text.parse(
    game,
    """
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . X O . . .
    . . . O X . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    """,
)
output, tree = search(agent, game, quiet, key, simulations)
variation = [int(action) for action in output.principal_variation if action >= 0]
print("principal variation:", " ".join(text.move_name(action, game.max_size) for action in variation))
gallery(snapshots(game, quiet, variation, count=len(variation) + 1, width=220))

# %%
draw_tree(tree, depth=2, width=4)

# %% [markdown]
# ## Deeper
#
# How far below the root the positions of the tree are, in moves:

# %%
depth = tree.states.move_count - quiet.move_count
counts = jnp.bincount(depth[tree.node_visits > 0])
for moves, count in enumerate(counts.tolist()):
    print(f"{moves:2} moves deep: {count:4} positions")
