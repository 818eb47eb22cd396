"""Everything here computes with 32 bits."""

import jax.numpy as jnp


def check_precision() -> None:
    """Refuse to work while JAX makes 64-bit numbers by default.

    Shipped weights would not fit, and the same seed would give other games.
    """
    if jnp.result_type(float) == jnp.float64:
        raise ValueError(
            "jax_enable_x64 is on, and saz_jax computes with 32 bits; unset JAX_ENABLE_X64, "
            'or call jax.config.update("jax_enable_x64", False) first'
        )
