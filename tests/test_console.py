"""Manners of the scripts."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("pass", False),
        ("sys.exit(2)", False),
        ("raise RuntimeError('lost')", True),
        ("os.kill(os.getpid(), 9)", True),
    ],
)
def test_only_a_sudden_end_is_explained(end, told):
    code = (
        f"import os, sys; from saz_jax.cli.console import explain_sudden_end; explain_sudden_end('ah'); {end}"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ended.stderr.strip().splitlines()[-1:] == ["ah"]) == told
