"""Optimisation: positions per second, beside the forward pass alone.

gin64 and compass64 learn in pieces that fit the cache, as the small recipe does; paper64 has batch norm and
dropout, which take the batch as a whole.

python benchmarks/learner.py [--json FILE]
"""

import jax
import jax.numpy as jnp
import numpy as np
from timing import parser, report, take_turns

from saz_jax.cli import compilation_cache
from saz_jax.config import GINConfig, LearnerConfig
from saz_jax.games import make_game
from saz_jax.graphs.topology import live_nodes
from saz_jax.networks.gin import make_gin
from saz_jax.training.learner import as_batch, make_learner
from saz_jax.training.replay import Positions

SIDE, BATCH, STEPS = 9, 256, 4


def batch_of_positions() -> Positions:
    """Boards with stones at random and targets at random."""
    rng, blank = np.random.default_rng(0), Positions.blank(SIDE, BATCH)
    legal = rng.random(blank.observation.legal.shape) < 0.5
    legal[:, -1] = True
    return blank._replace(
        observation=blank.observation._replace(
            board=rng.integers(-1, 2, blank.observation.board.shape).astype(np.int8),
            size=np.full(BATCH, SIDE, np.int32),
            to_play=np.ones(BATCH, np.int8),
            legal=legal,
        ),
        policy=(legal / legal.sum(1, keepdims=True)).astype(np.float32),
        outcome=rng.choice([-1.0, 1.0], BATCH).astype(np.float32),
    )


def main() -> None:
    options = parser(__doc__).parse_args()
    compilation_cache.enable()
    figures = {}
    batch = jax.tree.map(jnp.asarray, as_batch(batch_of_positions()))
    states = batch.observation
    nodes = jax.vmap(live_nodes)(states)
    for name, config in {
        "gin64": GINConfig(hidden=64, head=64, norm="layer", dropout=0.0),
        "compass64": GINConfig(hidden=64, head=64, norm="layer", dropout=0.0, edges="compass8"),
        "paper64": GINConfig(hidden=64, head=64),
    }.items():
        network = make_gin(config, make_game("gomoku", SIDE).max_size)
        init, step = make_learner(network, LearnerConfig(microbatch=0 if name == "paper64" else 32))
        state, learn, infer = init(network.init(jax.random.key(0))), jax.jit(step), jax.jit(network.infer)

        def learning(state=state, learn=learn):
            for number in range(STEPS):
                state, _ = learn(state, jax.random.key(number), batch)
            return state

        def forward(state=state, infer=infer):
            return [infer(state.variables, states, nodes) for _ in range(STEPS)]

        times = take_turns({"learning": learning, "forward": forward}, options.rounds)
        speeds = {what: BATCH * STEPS / spent for what, spent in times.items()}
        ratio = times["learning"] / times["forward"]
        print(
            f"{name}, {SIDE}x{SIDE}, batch {BATCH}: {speeds['learning']:.0f} positions/s learned, "
            f"{speeds['forward']:.0f} evaluated: {ratio:.2f}x the time of the forward pass"
        )
        figures[f"{name}_positions_per_second"] = speeds["learning"]
        figures[f"{name}_vs_forward"] = ratio
    report(figures, options.json)


if __name__ == "__main__":
    main()
