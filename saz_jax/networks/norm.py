"""Normalisation of node arrays."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from saz_jax.networks.kernels.product import product
from saz_jax.networks.nodes import Nodes, along_features, each, zero_absent

EPSILON = 1e-5


class CentredDense(nn.Module):
    """A linear layer, less the mean over its outputs: the first half of layer norm.

    The mean is taken out of the weights, once, instead of out of every output.
    """

    features: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        shape = (x.shape[-1], self.features)
        kernel = jnp.asarray(self.param("kernel", nn.initializers.lecun_normal(), shape))
        bias = jnp.asarray(self.param("bias", nn.initializers.zeros, shape[1:]))
        centred = kernel - kernel.mean(1, keepdims=True)
        return product(x, centred) + along_features(bias - bias.mean(), x)


class CentredNorm(nn.Module):
    """The second half of layer norm, for inputs whose mean over the features is 0, and a ReLU."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        scale = self.param("scale", nn.initializers.ones, x.shape[-1:])
        bias = self.param("bias", nn.initializers.zeros, x.shape[-1:])
        return normalise(x, jnp.asarray(scale), jnp.asarray(bias))


@jax.custom_vjp
def normalise(x: jax.Array, scale: jax.Array, bias: jax.Array) -> jax.Array:
    """ReLU(x / root mean square of the features * scale + bias), [..., F] -> [..., F]."""
    return _normalise(x, scale, bias)[0]


def _normalise(x: jax.Array, scale: jax.Array, bias: jax.Array) -> tuple[jax.Array, Any]:
    factor = jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + EPSILON)
    y = nn.relu(x * factor * along_features(scale, x) + along_features(bias, x))
    return y, (x, factor, y, scale)


def _normalise_backward(kept: Any, gradient: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What jax derives in fewer passes over memory."""
    x, factor, y, scale = kept
    gradient = jnp.where(y > 0, gradient, 0)
    unit = x * factor
    scaled, others = gradient * along_features(scale, x), range(x.ndim - 1)
    of_x = factor * (scaled - unit * jnp.mean(scaled * unit, axis=-1, keepdims=True))
    return of_x, jnp.sum(gradient * unit, others), jnp.sum(gradient, others)


normalise.defvjp(_normalise, _normalise_backward)


class MaskedBatchNorm(nn.Module):
    """Batch norm whose statistics come from the present nodes of a node array, and from no others.

    While training it normalises by the batch and moves the running statistics a tenth of the way towards it;
    otherwise it uses the running statistics.
    """

    @nn.compact
    def __call__(self, x: Nodes, present: Nodes, train: bool) -> Nodes:
        width = x[0].shape[-1]
        scale = self.param("scale", nn.initializers.ones, (width,))
        bias = self.param("bias", nn.initializers.zeros, (width,))
        running_mean = self.variable("batch_stats", "mean", jnp.zeros, (width,))
        running_var = self.variable("batch_stats", "var", jnp.ones, (width,))

        def mean_of(values: Nodes) -> jax.Array:
            sums = each(lambda v, p: zero_absent(v, p).sum(range(v.ndim - 1)), values, present)
            counts = each(jnp.sum, present)
            return jnp.stack(sums).sum(0) / jnp.maximum(jnp.stack(counts).sum(), 1)

        if train:
            mean = mean_of(x)
            var = mean_of(each(lambda v: jnp.square(v - along_features(mean, v)), x))
            if not self.is_initializing():
                running_mean.value += 0.1 * (mean - running_mean.value)
                running_var.value += 0.1 * (var - running_var.value)
        else:
            mean, var = running_mean.value, running_var.value
        factor = scale * jax.lax.rsqrt(var + EPSILON)
        shift = bias - mean * factor
        return each(lambda v: v * along_features(factor, v) + along_features(shift, v), x)
