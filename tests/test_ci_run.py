""".ci/run installs what the tests need and is missing, each by itself; the machine is made of stubs."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = ("bash", "cat", "dirname", "env", "mktemp", "rm", "tail")
APT_GET = """
echo "$@" >> apt-calls
case "$*" in *npm*) echo "E: held broken packages" >&2; exit 100;; esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A clone on a machine without npm for its node, with engines, browser and node, but without tmux."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (programs / tool).symlink_to(found)
    stubs = dict.fromkeys(("make", "node", "gnugo", "gtp-rhino", "google-chrome"), "")
    for name, body in {**stubs, "id": "echo 0", "apt-get": APT_GET}.items():
        (programs / name).write_text(f"#!/bin/bash\n{body}\n")
        (programs / name).chmod(0o755)
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tests" / "sabaki").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    return tmp_path


def run(machine: Path, **variables: str) -> tuple[list[str], str]:
    """(the calls of apt-get, what is printed)."""
    environment = {"PATH": str(machine / "bin"), "TMPDIR": str(machine), **variables}
    done = subprocess.run(
        [machine / ".ci" / "run", "test-fast"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    calls = machine / "apt-calls"
    return calls.read_text().splitlines() if calls.exists() else [], done.stdout + done.stderr


def test_only_what_is_missing_is_installed_and_one_failure_is_alone(machine: Path):
    calls, told = run(machine)
    assert calls == ["update -qq", "install -y -qq tmux", "install -y -qq npm"]
    assert "npm cannot be installed here; its tests are skipped:\nE: held broken packages" in told
    assert "tmux" not in told


def test_nothing_is_asked_of_apt_where_nothing_is_missing(machine: Path):
    for name in ("tmux", "npm"):
        shutil.copy(machine / "bin" / "node", machine / "bin" / name)
    assert run(machine) == ([], "")


def test_only_root_and_ci_machines_are_changed(machine: Path):
    (machine / "bin" / "id").write_text("#!/bin/bash\necho 1000\n")
    (machine / "bin" / "sudo").write_text('#!/bin/bash\n[ "$1" = -n ] && shift && exec "$@"\n')
    (machine / "bin" / "sudo").chmod(0o755)
    assert run(machine)[0] == []
    assert run(machine, CI="true")[0][1:] == ["install -y -qq tmux", "install -y -qq npm"]
