"""The ways to combine the prior of the whole graph with that of its subgraphs (Sec. 3.2)."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from saz_jax.config.registry import PRIORS
from saz_jax.types import Array


def register_prior(name: str, log_prior: Callable[[Array, Array], Array]) -> None:
    """Makes a way to combine priors known by `name`, as `SubgraphConfig.combine`.

    `log_prior(log_p1, p2) -> [..., A]`: log_p1 is the log-probability of every action on the whole graph, p2
    the scattered probability of the subgraphs (0 at an action that none of them holds).  The result need not
    be normalised; -inf leaves a move out.
    """
    PRIORS.add(name, log_prior)


def combine(log_p1: Array, p2: Array, legal: Array, how: str) -> Array:
    """The prior of the whole graph and its subgraphs as logits over legal moves, all of shape [..., A].

    Both priors come from a softmax over present actions, legal or not, and only their combination is
    renormalised over legal moves.
    """
    return legal_logits(PRIORS.find(how).make(log_p1, p2), legal)


def product(log_p1: Array, p2: Array) -> Array:
    """(p1 + p1 * p2) / 2, so an action of no subgraph keeps p1 / 2."""
    return log_p1 + jnp.log1p(p2)


def mean(log_p1: Array, p2: Array) -> Array:
    """(p1 + p2) / 2."""
    return jnp.logaddexp(log_p1, jnp.log(p2))


def only(log_p1: Array, p2: Array) -> Array:
    """p2, so an action of no subgraph is not searched."""
    del log_p1
    return jnp.log(p2)


def legal_logits(log_prior: Array, legal: Array) -> Array:
    """Log-probabilities renormalised over legal moves, [..., A]; the dtype's minimum where zero or illegal.

    Where every legal move has probability zero, all legal moves are alike.
    """
    log_prior = jnp.where(legal, log_prior, -jnp.inf)
    lost = jnp.all(jnp.isneginf(log_prior), axis=-1, keepdims=True)
    log_prior = jax.nn.log_softmax(jnp.where(legal & lost, 0, log_prior))
    return jnp.maximum(log_prior, jnp.finfo(log_prior.dtype).min)


register_prior("product", product)
register_prior("mean", mean)
register_prior("only", only)
