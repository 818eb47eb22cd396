"""One process at a time in a folder."""

import contextlib
import datetime
import json
import logging
import os
import platform
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked
    fcntl = None

logger = logging.getLogger(__name__)

LOCK = "lock"
"""The file in a locked folder that says by whom; it stays there when the lock is released."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the lock of `folder`, an existing one; `ValueError` if another process has it.

    The system releases the lock when its process ends, however that happens.
    """
    if fcntl is None:
        yield
        return
    try:
        file = (folder / LOCK).open("a+")
    except OSError as error:
        raise ValueError(f"cannot write in {folder} ({error.strerror}); name another folder") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(folder / LOCK)
            raise ValueError(f"{folder} is in use by {holder}; stop that or name another folder") from None
        except OSError as error:
            logger.warning("%s cannot be locked (%s); start no second run in it", folder, error.strerror)
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": _now()}) + "\n")
        file.flush()
        yield


def _holder(path: Path) -> str:
    """Who holds the lock, as its file says."""
    try:
        holder = json.loads(path.read_text())
        return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):  # it has only just taken the lock
        return "another process"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
