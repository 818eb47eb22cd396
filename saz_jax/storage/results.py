"""Files of results: JSON that grows, survives an interruption and is never overwritten by other settings."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from saz_jax.config import difference, to_json
from saz_jax.config.versions import SCHEMA, check_schema, migrated_match
from saz_jax.storage.provenance import provenance


class ResultsFile:
    """`data` with what it came from: config, versions, hardware, date, and `seconds` of work so far.

    A file of the same config is continued, also on another machine, which is then added to `continued`;
    any other file is refused.  Settings in `extends` only say how much is wanted: they may change, and the
    file then holds the newest.  Without a path the results stay in memory.  `empty` is what a new file begins
    with besides.
    """

    def __init__(
        self, path: str | Path | None, config: Mapping[str, Any], *, extends: Sequence[str] = (), **empty: Any
    ):
        self.path = Path(path) if path is not None else None
        settings = to_json(config)  # tuples become lists, as they will when read again
        self.data: dict[str, Any] = {
            "schema": SCHEMA,
            "config": settings,
            **provenance(),
            "seconds": 0.0,
            **empty,
        }
        if self.path is not None and self.path.is_file():
            self.data = _continue(self.path, self.data, extends)
        self._since = time.monotonic()
        self.save()

    def save(self) -> None:
        """Writes the file whole or not at all, with the time spent since the last call."""
        now = time.monotonic()
        self.data["seconds"] = round(self.data["seconds"] + now - self._since, 3)
        self._since = now
        if self.path is not None:
            write_json(self.path, self.data)


def write_json(path: Path, data: Any) -> None:
    """Replaces `path` at once, so that a reader or a crash never sees half of it."""
    if path.is_dir() or not path.name:
        raise ValueError(f"cannot write {path} (it is a folder); name a file in it")
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ValueError(f"{path} is no ordinary file; name another one")
    half = path.with_name(path.name + ".tmp")
    if path.exists() and not os.access(path, os.W_OK):  # replacing it would succeed all the same
        raise ValueError(f"cannot write {path} (it is read-only); make it writable, or name another file")
    try:
        half.write_text(json.dumps(data, indent=2, allow_nan=False) + "\n")
        os.replace(half, path)
    except OSError as error:
        raise ValueError(f"cannot write {path} ({error.strerror}); {_remedy(path)}") from error


def _remedy(path: Path) -> str:
    """The remedy for a file that cannot be written."""
    if not path.parent.is_dir():
        return "name a file in a folder that exists"
    if not os.access(path.parent, os.W_OK):
        return f"make the folder {path.parent} writable, or name a file elsewhere"
    return "name another file"


def read_json(path: Path) -> Any:
    """The contents of a JSON file, such as results or a run's settings."""
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise ValueError(f"cannot read {path} ({error.strerror}); name another file") from error
    except ValueError as error:  # neither JSON nor text
        raise ValueError(f"{path} holds no JSON ({error}); name another file") from error


def _continue(path: Path, fresh: dict[str, Any], extends: Sequence[str]) -> dict[str, Any]:
    data = read_json(path)
    if not isinstance(data, dict) or not isinstance(data.get("config"), dict):
        raise ValueError(f"{path} exists and is no file of results; name another file")
    schema = check_schema(data.get("schema", 1), str(path))
    data["config"], data["schema"] = migrated_match(data["config"], schema), SCHEMA
    if "origin" in fresh["config"]:
        data["config"].setdefault("origin", fresh["config"]["origin"])
    wanted = {name: fresh["config"][name] for name in extends}
    data["config"] |= wanted
    if lines := difference(data["config"], fresh["config"]):
        raise ValueError(
            f"{path} holds results of other settings ({'; '.join(lines)}); "
            "use those to continue it, or name another file"
        )
    session = {name: fresh[name] for name in ("command", "versions", "hardware", "date")}
    return {**data, "continued": [*data.get("continued", []), session]}
