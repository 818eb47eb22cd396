"""A locked folder: one process at a time, and a killed one leaves it free."""

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from saz_jax.storage import lock
from saz_jax.storage.lock import LOCK, locked

pytestmark = pytest.mark.skipif(lock.fcntl is None, reason="this system has no flock")

HOLD = """
import sys, time
from pathlib import Path
from saz_jax.storage.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """A process that holds the lock of `tmp_path`."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_a_second_process_is_told_who_holds_the_folder(holder, tmp_path: Path):
    who = f"process {holder.pid} on {platform.node()} since 20"
    with pytest.raises(ValueError, match=f"{tmp_path} is in use by {who}"), locked(tmp_path):
        pass


def test_a_killed_process_leaves_the_folder_free(holder, tmp_path: Path):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with locked(tmp_path):
        assert f'"pid": {os.getpid()}' in (tmp_path / LOCK).read_text()


def test_the_lock_is_released_at_the_end_also_after_an_error(tmp_path: Path):
    for _ in range(2):
        with pytest.raises(KeyError), locked(tmp_path):
            raise KeyError
    assert (tmp_path / LOCK).read_text().count("pid") == 1


def test_a_holder_that_has_not_signed_yet_is_another_process(tmp_path: Path):
    with locked(tmp_path):
        (tmp_path / LOCK).write_text("")
        with pytest.raises(ValueError, match="in use by another process"), locked(tmp_path):
            pass


def test_nothing_is_locked_on_a_system_without_flock(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(lock, "fcntl", None)
    with locked(tmp_path), locked(tmp_path):
        assert not list(tmp_path.iterdir())


def test_a_file_system_without_locks_is_used_with_a_warning(tmp_path: Path, monkeypatch, caplog):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(lock.fcntl, "flock", refuse)
    with locked(tmp_path):
        assert f"{tmp_path} cannot be locked (Operation not supported)" in caplog.text
