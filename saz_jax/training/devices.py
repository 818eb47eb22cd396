"""One program over all devices of all processes: the mesh, how arrays are split over it and gathered.

Games and batches are split along the one axis of the mesh; weights, keys and optimiser state are copied to
every device.  Host arrays are the same on every process: what self-play produces is gathered, so that any
process can save it and a run can continue on another number of devices.
"""

from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

AXIS = "devices"


def make_mesh() -> Mesh:
    """All devices of all processes in one row."""
    return jax.make_mesh((jax.device_count(),), (AXIS,), axis_types=(AxisType.Auto,))


def check_divides(mesh: Mesh | AbstractMesh, name: str, count: int) -> None:
    """Raise `ValueError` if `count` things cannot be split evenly over the devices."""
    if count < 1 or count % mesh.size:
        nearest = max(mesh.size, round(count / mesh.size) * mesh.size)
        raise ValueError(f"{name}={count} does not divide by {mesh.size} devices; use {nearest}")


def split(mesh: Mesh, tree: Any, axis: int = 0) -> Any:
    """Host arrays, equal on all processes, as device arrays split along `axis`."""
    return _place(tree, NamedSharding(mesh, PartitionSpec(*[None] * axis, AXIS)))


def copy(mesh: Mesh, tree: Any) -> Any:
    """Host arrays, equal on all processes, as device arrays with a copy on each device."""
    return _place(tree, NamedSharding(mesh, PartitionSpec()))


def fetch(tree: Any) -> Any:
    """Device arrays as whole host arrays, on every process."""
    if jax.process_count() == 1:
        return jax.device_get(tree)
    return jax.tree.map(_gather, tree)


def agree(condition: bool) -> bool:
    """What process 0 says; for decisions that depend on a clock."""
    if jax.process_count() == 1:
        return condition
    return bool(multihost_utils.broadcast_one_to_all(np.asarray(condition)))


def wait_for_all(name: str) -> None:
    """Returns when every process has come to the point `name`."""
    multihost_utils.sync_global_devices(name)


def _place(tree: Any, sharding: NamedSharding) -> Any:
    def place(x: Any) -> jax.Array:
        x = np.asarray(x)
        return jax.make_array_from_callback(x.shape, sharding, lambda index: x[index])

    if jax.process_count() == 1:
        return jax.device_put(tree, sharding)
    return jax.tree.map(place, tree)


def _gather(x: jax.Array) -> np.ndarray:
    if x.is_fully_replicated:
        return np.asarray(x.addressable_data(0))
    return np.asarray(multihost_utils.process_allgather(x, tiled=True))
