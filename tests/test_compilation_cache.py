"""The compilation cache of the scripts; each test is a fresh process, as a script is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import jax
from saz_jax.cli import compilation_cache
print(compilation_cache.enable())
jax.jit(lambda x: x * 2 + 1)(3.0)
"""


def run(home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    ours = ("SAZ_JAX_CACHE", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR")
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=inherited | {"HOME": str(home)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def programs(folder: Path) -> list[Path]:
    return list(folder.rglob("jit_*"))


def test_compiled_programs_are_kept_however_small_in_the_users_cache_folder(tmp_path):
    result = run(tmp_path, XDG_CACHE_HOME=str(tmp_path / "xdg"))
    folder = tmp_path / "xdg" / "saz_jax" / "xla"
    assert result.stdout.strip() == str(folder)
    assert programs(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="HOME is not what names the folder there")
def test_without_xdg_the_folder_lies_in_the_home_folder(tmp_path):
    run(tmp_path)
    assert programs(tmp_path)


def test_the_variable_turns_it_off(tmp_path):
    result = run(tmp_path, SAZ_JAX_CACHE="off")
    assert result.stdout.strip() == "None"
    assert not programs(tmp_path)


def test_the_variable_names_another_folder(tmp_path):
    run(tmp_path / "home", SAZ_JAX_CACHE=str(tmp_path / "elsewhere" / "cache"))
    assert programs(tmp_path / "elsewhere" / "cache")
    assert not (tmp_path / "home").exists()


def test_a_folder_set_for_jax_itself_is_left_alone(tmp_path):
    settings = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    result = run(tmp_path / "home", **settings)
    assert result.stdout.strip() == str(tmp_path / "jax")
    assert programs(tmp_path / "jax")
    assert not (tmp_path / "home").exists()


def test_an_unwritable_folder_costs_one_line_of_warning(tmp_path):
    (tmp_path / "file").write_text("a file where a folder should be")
    result = run(tmp_path, SAZ_JAX_CACHE=str(tmp_path / "file" / "cache"))
    assert result.stdout.strip() == "None"
    (line,) = result.stderr.strip().splitlines()
    assert "compiling without a cache" in line
    assert "SAZ_JAX_CACHE" in line
