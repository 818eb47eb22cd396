"""A PyTree as named arrays, and the one-file export of a trained network: numbers and JSON, never code.

An export is an uncompressed `.npz`: one member per array, named by its path in the tree
("params/Dense_0/kernel"), and `about`, the bytes of a JSON object with the caller's facts, the version of
this format and a checksum of the arrays.
"""

import hashlib
import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from saz_jax.types import Variables

FORMAT = 1
"""Version of the export format; readers refuse other ones."""
_ABOUT = "about"


def flatten(tree: Any) -> dict[str, np.ndarray]:
    """{path: host array} of every leaf, where path joins keys, indices and field names with "/"."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(jax.device_get(tree))
    arrays = {path_name(path): np.asarray(leaf) for path, leaf in leaves}
    if len(arrays) != len(leaves):
        raise ValueError("two leaves of the tree share a path; use keys without '/'")
    return arrays


def path_name(path: Any) -> str:
    """A leaf's path, as `jax.tree_util` gives it, in the form that `flatten` uses."""
    return jax.tree_util.keystr(path, simple=True, separator="/")


def nest(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The inverse of `flatten` for dictionaries of dictionaries, such as flax variables."""
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        *parents, last = name.split("/")
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[last] = array
    return tree


def checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names, dtypes, shapes and bytes, whatever the order."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {arrays[name].shape}\n".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def export(path: str | os.PathLike, variables: Variables, meta: Mapping[str, Any]) -> None:
    """Write `variables` and the JSON object `meta` to the file `path`, at once or not at all."""
    path = Path(path)
    arrays = flatten(variables)
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} has dtype {array.dtype}, which .npz cannot hold; cast it to float32")
    about = json.dumps({**meta, "format": FORMAT, "sha256": checksum(arrays)}).encode()
    # Not in the temporary folder: only within one file system is the last step atomic.
    half = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(half, "wb") as file:
            np.savez(file, allow_pickle=False, **{_ABOUT: np.frombuffer(about, np.uint8)}, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(half, path)
    except OSError as error:
        raise OSError(f"cannot write the export {path}: {error}") from error
    finally:
        half.unlink(missing_ok=True)


def read_export(path: str | os.PathLike) -> tuple[dict[str, Any], dict[str, Any]]:
    """(variables as numpy arrays, meta) of the file that `export` wrote; runs no code found in it."""
    path = Path(path)
    try:
        with open(path, "rb") as file:
            arrays = dict(np.load(file, allow_pickle=False))
        meta = json.loads(arrays.pop(_ABOUT).tobytes())
        version, expected = meta.pop("format"), meta.pop("sha256")
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}; give the path of an export") from None
    except Exception as error:  # whatever zipfile, numpy and json stumble over: it is not an export
        raise ValueError(f"{path} is not a whole export ({error}); export the agent again") from error
    if version != FORMAT:
        raise ValueError(f"{path} has export format {version!r}, this version reads {FORMAT}; update saz_jax")
    if checksum(arrays) != expected:
        raise ValueError(f"{path} is damaged: its arrays differ from their checksum; export the agent again")
    return nest(arrays), meta
