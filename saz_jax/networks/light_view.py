"""Light's positions as dark would see them, for games in which the two sides move in different directions.

Before a network reads a position in which light is to move, the board is turned by `Game.light_view` and the
colours are exchanged; what it says is turned back.  Both sides then look alike to it.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from saz_jax.games.actions import action_symmetry
from saz_jax.games.board import INVERSE_SYMMETRY, symmetry
from saz_jax.types import Array, Evaluation, Game, Network, Observation, Variables


def seen_by_light(network: Network, game: Game) -> Network:
    """`network`, which from now on is only shown positions in which dark is to move."""
    if not game.light_view:
        return network
    here, back = (0, game.light_view), (0, INVERSE_SYMMETRY[game.light_view])

    def infer(variables: Variables, seen: Observation, nodes: Array) -> Evaluation:
        turned = jax.vmap(turn)(seen, nodes)
        return jax.vmap(turn_back)(network.infer(variables, *turned), seen)

    def fit(
        variables: Variables, key: Array, seen: Observation, nodes: Array
    ) -> tuple[Evaluation, Variables]:
        said, updated = network.fit(variables, key, *jax.vmap(turn)(seen, nodes))
        return jax.vmap(turn_back)(said, seen), updated

    def embed(variables: Variables, seen: Observation, nodes: Array) -> Array:
        embedding = network.embed(variables, *jax.vmap(turn)(seen, nodes))
        return jax.vmap(lambda x, seen: x[_nodes(seen, back)])(embedding, seen)

    def turn(seen: Observation, nodes: Array) -> tuple[Observation, Array]:
        source, actions = _nodes(seen, here), _actions(seen, here)
        turned = seen._replace(
            board=_grid(seen.board * seen.to_play, source),
            points=_grid(seen.points, source),
            legal=seen.legal[actions],
            to_play=jnp.ones_like(seen.to_play),
            margin=None if seen.margin is None else seen.margin * seen.to_play,
        )
        return turned, nodes[source]

    def turn_back(said: Evaluation, seen: Observation) -> Evaluation:
        source, actions = _nodes(seen, back), _actions(seen, back)
        changes: dict[str, Any] = {"logits": said.logits[actions]}
        if said.ownership is not None:
            changes["ownership"] = _grid(said.ownership, source)
        for name in ("reply", "soft"):
            if getattr(said, name) is not None:
                changes[name] = getattr(said, name)[actions]
        return said._replace(**changes)

    def _which(seen: Observation, pair: tuple[int, int]) -> Array:
        return jnp.where(seen.to_play == 1, *pair)

    def _nodes(seen: Observation, pair: tuple[int, int]) -> Array:
        return symmetry(_which(seen, pair), seen.size, game.max_size)

    def _actions(seen: Observation, pair: tuple[int, int]) -> Array:
        return action_symmetry(_which(seen, pair), seen.size, game.max_size, game.moves)

    return dataclasses.replace(network, infer=infer, fit=fit, embed=embed)


def _grid(grid: Array, source: Array) -> Array:
    return grid.reshape(-1)[source[:-1]].reshape(grid.shape)
