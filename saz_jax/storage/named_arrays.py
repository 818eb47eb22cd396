"""PyTrees as named arrays: {path: array}, where path joins keys, indices and field names with "/"."""

import hashlib
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

NamedArrays = dict[str, np.ndarray]


def flatten(tree: Any) -> NamedArrays:
    """Every leaf as a host array, by its path ("params/Dense_0/kernel")."""
    return {name: np.asarray(leaf) for name, leaf in named_leaves(jax.device_get(tree)).items()}


def named_leaves(tree: Any) -> dict[str, Any]:
    """Every leaf as it is, by its path, in the order of `jax.tree.leaves`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    named = {jax.tree_util.keystr(path, simple=True, separator="/"): leaf for path, leaf in leaves}
    if len(named) != len(leaves):
        raise ValueError(f"two leaves share one of the paths {', '.join(named)}; use keys without '/'")
    return named


def nest(arrays: Mapping[str, Any]) -> dict[str, Any]:
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
        array = arrays[name]
        digest.update(f"{name} {spec(array)}\n".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def mismatch(found: Any, wanted: Any) -> str | None:
    """How one tree of arrays (or `jax.ShapeDtypeStruct`s) differs from another; None if they match."""
    there, here = ({name: spec(x) for name, x in named_leaves(tree).items()} for tree in (found, wanted))
    for name in sorted(there.keys() | here.keys()):
        if there.get(name) != here.get(name):
            return f"{name} is {there.get(name, 'absent')} there and {here.get(name, 'absent')} here"
    return None


def spec(leaf: Any) -> str:
    """Dtype and shape, such as float32[2, 3]."""
    leaf = leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
    return f"{leaf.dtype}{list(leaf.shape)}"
