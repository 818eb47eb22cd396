"""The names that other people's scripts call."""

import subprocess
import sys

import saz_jax

OPTIONAL = ("choix", "IPython", "matplotlib", "pgx", "sgfmill", "tensorboardX", "tyro", "wandb")


def test_every_public_name_exists():
    for name in saz_jax.__all__:
        assert getattr(saz_jax, name) is not None


def test_public_names_are_sorted_and_listed_once():
    assert saz_jax.__all__ == sorted(set(saz_jax.__all__))


def test_the_core_dependencies_are_enough_to_import_the_package_and_play():
    script = f"""
import sys
for name in {OPTIONAL}:
    sys.modules[name] = None          # importing it raises ImportError
import saz_jax
for name in saz_jax.__all__:
    getattr(saz_jax, name)
saz_jax.make_game("othello", max_size=8).init(6)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
