"""Games on squares, recorded before boards had shapes: every position is still the same, bit for bit."""

import hashlib
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saz_jax import make_game
from saz_jax.games.playthrough import replay_games

GOLDEN = json.loads((Path(__file__).parent / "golden" / "squares.json").read_text())
"""By game: random games on sides 5 to 9 of a board padded to 9, 120 actions each, those after the end too."""
FIELDS = {
    "board": np.int8,
    "to_play": np.int8,
    "legal": np.bool_,
    "terminated": np.bool_,
    "outcome": np.float32,
}


@pytest.mark.parametrize("how", ["side", "mask"])
@pytest.mark.parametrize("name", GOLDEN)
def test_recorded_games_are_the_same_to_the_last_bit(name, how):
    game, records = make_game(name, 9), GOLDEN[name]
    actions = np.array([record["actions"].split() for record in records], np.int32).T
    sides = jnp.array([record["side"] for record in records])
    index = jnp.arange(9)
    inside = index[None, :] < sides[:, None]
    shapes = sides if how == "side" else inside[:, :, None] & inside[:, None, :]
    states = replay_games(game, jax.vmap(game.init)(shapes), actions)
    for b, record in enumerate(records):
        digest = hashlib.blake2b(digest_size=8)
        for field, dtype in FIELDS.items():
            array = getattr(states, field)[:, b]
            assert array.dtype == dtype
            digest.update(np.ascontiguousarray(array).tobytes())
        assert states.outcome[-1, b] == record["outcome"]
        assert states.terminated[record["length"], b] or record["length"] == 120
        assert digest.hexdigest() == record["digest"]
