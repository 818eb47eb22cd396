# %% [markdown]
# # The paper's tables
#
# Every table and figure of the paper is a study: it plays the matches that are missing, keeps all results
# in a JSON file, and its table, with the paper's numbers beside ours, follows from that file alone. Here
# the studies run from a notebook; `experiments/reproduce.py` does the same from the command line.
#
# The default budget `smoke` plays two games a match on tiny boards, trains the players that are not shipped
# for seconds, and shows that it all works; its numbers say nothing about the method. `small` takes hours on
# two cores, `paper` has the paper's settings.

# %%
import os
from pathlib import Path

from IPython.display import Image, Markdown, display

from saz_jax.agents import shipped_agents
from saz_jax.arena import MatchConfig, series
from saz_jax.cli import enable_compilation_cache
from saz_jax.render import outcome_text
from saz_jax.studies import BUDGETS, REPORTS, Lab, run_study, write_page, write_section

enable_compilation_cache()
budget = os.environ.get("SAZ_JAX_BUDGET", "smoke")

# %% [markdown]
# ## From checkpoints
#
# `agents` names the players to use: shipped weights, exports, or folders of training runs. What they do
# not cover is trained under the budget, once for all studies. `games` says which games the tables are
# made for. Everything is kept in `results`, and a cell that was interrupted goes on where it stopped.

# %%
agents = tuple(sorted(shipped_agents()))  # add your own, for example "runs/quickstart-small"
games = ("othello", "gomoku")
results = Path("runs") / f"reproduce-{budget}"
lab = Lab(budget, BUDGETS[budget], results, agents, say=print)
print(*agents)

# %% [markdown]
# ## A shipped player on a board that it has never seen
#
# It was trained on sides 6 to 8. The match is kept too: more games, or other sizes, are added to the file.

# %%
results.mkdir(parents=True, exist_ok=True)
match = MatchConfig(
    game="othello", player="othello", opponent="greedy", sizes=(16,), games=8, runs=1, simulations=16
)
prepared = series.prepare(match, results / "othello-greedy.json")
found = series.evaluate(prepared)["sizes"]["16"]
print(f"othello against greedy on 16x16: {outcome_text(found)}, {found['distinct_games']} games differ")

# %% [markdown]
# ## Table 1: states and actions

# %%
data = run_study(lab, "complexity")
Markdown(REPORTS["complexity"].table(data))

# %% [markdown]
# ## Table 2: one component left out, against greedy
#
# SAZ; model 1 is a CNN for the tested board, model 2 is SAZ trained on it, model 3 reads the whole graph
# only, and model 4 the subgraphs only.

# %%
data = run_study(lab, "ablation", games)
write_section(results, "ablation")
display(Markdown(REPORTS["ablation"].table(data)), Image(filename=results / "ablation.png"))

# %% [markdown]
# ## Table 3: against AlphaZero trained on the tested board

# %%
data = run_study(lab, "against_az", games)
write_section(results, "against_az")
display(Markdown(REPORTS["against_az"].table(data)), Image(filename=results / "against_az.png"))

# %% [markdown]
# ## One page
#
# All studies that have results, with their figures, how each player was trained and on which machine. The
# other studies, among them `generalisation`, `embedding`, `training_time` and `equal_compute`, are run in
# the same way.

# %%
page = write_page(results)
print(f"{page.resolve()}: {len(page.read_text().splitlines())} lines")
