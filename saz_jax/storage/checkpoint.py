"""Checkpoints of a training run, whole or not at all; the only importer of orbax.

The bytes of all arrays are stored as one array, beside a JSON object with their names, dtypes, shapes and
checksum.  So any bits can be stored, a checkpoint can be read without a template and on any number of
devices, and one that was damaged after it was written is recognised.
"""

import contextlib
import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import orbax.checkpoint as ocp

from saz_jax.storage.named_arrays import NamedArrays, checksum, flatten, mismatch, named_leaves, nest

CHUNK = 2**22
"""Bytes that orbax compresses and writes at once."""

logger = logging.getLogger(__name__)
# orbax logs tracebacks of failures through absl; what matters is raised here, as one sentence.
logging.getLogger("absl").addFilter(lambda record: "orbax" not in Path(record.pathname).parts)


class Snapshot(NamedTuple):
    """All that a run needs to go on as if it had never stopped."""

    state: Any
    """PyTree of arrays with a structure known before restoring; PRNG keys as key data."""
    replay: list[NamedArrays]
    """Per remembered iteration, arrays of any shape by name."""
    meta: dict[str, Any]
    """JSON: config, versions, elapsed seconds, ..."""


class Checkpoints:
    """The checkpoints in `folder`, one per iteration, of which the newest `keep` are kept.

    In a run of several processes each one makes the same calls with host arrays that are equal on all of
    them, on a file system that they share; process 0 writes.  `read_only` leaves the folder of a live run
    as it is; otherwise what a killed run left half-written is removed.
    """

    def __init__(self, folder: Path, keep: int = 2, read_only: bool = False):
        self.folder = Path(folder).absolute()
        self._damaged: list[int] = []
        if read_only:
            options = ocp.CheckpointManagerOptions(read_only=True, save_interval_steps=0, create=False)
        else:
            options = ocp.CheckpointManagerOptions(
                preservation_policy=ocp.checkpoint_managers.LatestN(keep),
                cleanup_tmp_directories=True,
                lightweight_initialize=True,  # a damaged checkpoint must not stop the others from being read
            )
        try:
            if not read_only:
                self.folder.mkdir(parents=True, exist_ok=True)
            self._manager = ocp.CheckpointManager(self.folder, options=options, item_names=("bytes", "facts"))
        except OSError as error:
            raise OSError(f"cannot keep checkpoints in {self.folder}: {error}") from error

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def iterations(self) -> list[int]:
        """The iterations that have a checkpoint, oldest first."""
        return sorted(self._manager.all_steps())

    def save(self, iteration: int, snapshot: Snapshot) -> None:
        """Copy the snapshot and write it in the background; a failure is raised here or by the next call.

        Iterations are saved in rising order; one that is saved already is left as it is.
        """
        whole = [saved for saved in self.iterations() if saved not in self._damaged]
        if iteration in whole:
            return
        if whole and iteration < whole[-1]:
            raise ValueError(
                f"{self.folder} already holds iteration {whole[-1]}, after {iteration}; restore it first"
            )
        arrays = flatten({"state": snapshot.state, "replay": list(snapshot.replay)})
        facts = {
            "meta": snapshot.meta,
            "remembered": len(snapshot.replay),
            "arrays": [[name, str(array.dtype), array.shape] for name, array in arrays.items()],
            "sha256": checksum(arrays),
        }
        with self._writing():
            while self._damaged:
                self._manager.delete(self._damaged.pop())
            self._manager.save(
                iteration,
                args=ocp.args.Composite(
                    bytes=ocp.args.StandardSave(
                        {"all": _packed(arrays)}, {"all": ocp.SaveArgs(chunk_byte_size=CHUNK)}
                    ),
                    facts=ocp.args.JsonSave(facts),
                ),
            )

    def restore(self, template: Any) -> tuple[int, Snapshot] | None:
        """(iteration, snapshot) of the newest whole checkpoint, or None if there is none at all.

        The state has the structure of `template` (arrays or `jax.ShapeDtypeStruct`) and numpy leaves.
        Damaged checkpoints are passed over with a warning; the next save removes them.
        """
        newest = self._newest()
        if newest is None:
            return None
        iteration, arrays, facts = newest
        remembered: list[NamedArrays] = [{} for _ in range(facts["remembered"])]
        for name, array in _branch(arrays, "replay").items():
            index, field = name.split("/", maxsplit=1)
            remembered[int(index)][field] = array
            del arrays[f"replay/{name}"]
        if problem := mismatch(arrays, {"state": template}):
            raise ValueError(
                f"checkpoint {iteration} in {self.folder} does not fit this run: {problem}; "
                f"use the settings it was made with, or another workdir"
            )
        leaves = [arrays[name] for name in named_leaves({"state": template})]
        state = jax.tree.unflatten(jax.tree.structure(template), leaves)
        return iteration, Snapshot(state, remembered, facts["meta"])

    def read(self, branch: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """(the branch of the state as nested dictionaries, meta) of the newest whole checkpoint, or None.

        For readers that have no template; `branch` is a path such as "learner/variables".
        """
        newest = self._newest()
        if newest is None:
            return None
        _, arrays, facts = newest
        return nest(_branch(arrays, f"state/{branch}")), facts["meta"]

    def wait(self) -> None:
        """Return when everything saved is on disk; raise OSError if it could not be written."""
        with self._writing():
            self._manager.wait_until_finished()

    def close(self) -> None:
        """Wait, and end the background threads."""
        try:
            self.wait()
        finally:
            self._manager.close()

    def _newest(self) -> tuple[int, NamedArrays, dict[str, Any]] | None:
        self.wait()
        iterations = self.iterations()
        for iteration in reversed(iterations):
            try:
                return iteration, *self._read(iteration)
            except Exception as error:  # anything at all may be wrong with a damaged file
                logger.warning("checkpoint %d in %s is damaged (%s)", iteration, self.folder, _line(error))
                if iteration not in self._damaged:
                    self._damaged.append(iteration)
        if iterations:
            raise ValueError(f"every checkpoint in {self.folder} is damaged; start again in another workdir")
        return None

    def _read(self, iteration: int) -> tuple[NamedArrays, dict[str, Any]]:
        read = self._manager.restore(
            iteration,
            args=ocp.args.Composite(bytes=ocp.args.StandardRestore(), facts=ocp.args.JsonRestore()),
        )
        facts = read["facts"]
        arrays = _unpacked(read["bytes"]["all"], facts["arrays"])
        if checksum(arrays) != facts["sha256"]:
            raise ValueError("its arrays differ from their checksum")
        return arrays, facts

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except jax.errors.JaxRuntimeError:
            raise  # not the disk: another process of the run is gone
        except Exception as error:
            raise OSError(
                f"cannot write a checkpoint to {self.folder} ({_line(error)}); is the disk full?"
            ) from error


def _packed(arrays: NamedArrays) -> np.ndarray:
    """uint8[chunks, CHUNK]: one array after the other, then zeros.

    orbax cuts an axis into equal parts only, down to single elements if its length is prime, and stores
    no empty array: hence whole chunks, and at least one.
    """
    flat = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in arrays.values()]
    padding = CHUNK - sum(map(len, flat)) % CHUNK
    return np.concatenate([*flat, np.zeros(padding, np.uint8)]).reshape(-1, CHUNK)


def _unpacked(packed: np.ndarray, layout: list[tuple[str, str, list[int]]]) -> NamedArrays:
    """The inverse of `_packed`, given (name, dtype, shape) of each array."""
    flat, arrays, start = packed.reshape(-1), {}, 0
    for name, dtype, shape in layout:
        end = start + np.dtype(dtype).itemsize * math.prod(shape)
        arrays[name] = flat[start:end].copy().view(dtype).reshape(shape)  # a copy is aligned
        start = end
    return arrays


def _branch(arrays: NamedArrays, prefix: str) -> NamedArrays:
    """The arrays whose path starts with `prefix`, by the rest of their path."""
    start = f"{prefix}/"
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _line(error: Exception) -> str:
    """An error's message in one line of bearable length."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
