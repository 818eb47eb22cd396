"""Checkpoints of a training run, whole or not at all; the only importer of orbax.

A checkpoint has three items: the pytrees of arrays `state` and `replay`, and the JSON object `facts`.  The
facts list dtype, shape and checksum of every array.  So a checkpoint can be read without a template, in part
and on any number of devices, one that was damaged after it was written is recognised, and arrays without
elements, which orbax does not store, come back as well.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import orbax.checkpoint as ocp

from saz_jax.storage.named_arrays import NamedArrays, checksum, flatten, mismatch, named_leaves, nest

SCHEMA = 2
"""Version of the layout; readers refuse other ones."""
ITEMS = ("state", "replay")
"""The items that hold arrays."""

logger = logging.getLogger(__name__)
# orbax logs tracebacks of failures through absl; what matters is raised here, as one sentence.
logging.getLogger("absl").addFilter(lambda record: "orbax" not in Path(record.pathname).parts)


class Snapshot(NamedTuple):
    """Everything a run needs to continue as if it had never stopped."""

    state: Any
    """PyTree of arrays with a structure known before restoring; PRNG keys as key data."""
    replay: list[NamedArrays]
    """Per remembered iteration, arrays of any shape by name."""
    meta: dict[str, Any]
    """JSON: config, versions, elapsed seconds, ..."""


class _EachArrayAlone(ocp.type_handlers.NumpyHandler):
    """Handles every array by itself, and finishes them all before it reports that one failed.

    orbax closes an event loop at the first failure; the other arrays of that loop would complain to stderr.
    """

    async def serialize(self, values: Any, infos: Any, args: Any = None) -> Any:
        writes = [
            super(_EachArrayAlone, self).serialize([x], [info], [arg])
            for x, info, arg in zip(values, infos, args, strict=True)
        ]
        return [future for futures in await asyncio.gather(*writes) for future in futures]

    async def deserialize(self, infos: Any, args: Any = None) -> Any:
        reads = [
            super(_EachArrayAlone, self).deserialize([info], [arg])
            for info, arg in zip(infos, args, strict=True)
        ]
        arrays = []
        for found in await asyncio.gather(*reads, return_exceptions=True):
            if isinstance(found, BaseException):
                raise found
            arrays.extend(found)
        return arrays


NUMPY = ocp.type_handlers.create_type_handler_registry((np.ndarray, _EachArrayAlone()))


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
            self._manager = ocp.CheckpointManager(
                self.folder,
                options=options,
                item_handlers={
                    **{item: ocp.PyTreeCheckpointHandler(type_handler_registry=NUMPY) for item in ITEMS},
                    "facts": ocp.JsonCheckpointHandler(),
                },
            )
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
            "schema": SCHEMA,
            "meta": snapshot.meta,
            "remembered": len(snapshot.replay),
            "arrays": {name: _describe(name, array) for name, array in arrays.items()},
        }
        stored = nest({name: array for name, array in arrays.items() if array.size})
        items = {item: ocp.args.PyTreeSave({item: stored[item]}) for item in ITEMS if item in stored}
        with self._writing():
            while self._damaged:
                self._manager.delete(self._damaged.pop())
            self._manager.save(iteration, args=ocp.args.Composite(facts=ocp.args.JsonSave(facts), **items))

    def restore(
        self, template: Any, upgrade: Callable[[NamedArrays], NamedArrays] = lambda arrays: arrays
    ) -> tuple[int, Snapshot] | None:
        """(iteration, snapshot) of the newest whole checkpoint, or None if there is none at all.

        The state has the structure of `template` (arrays or `jax.ShapeDtypeStruct`) and numpy leaves;
        `upgrade` brings the arrays of an older version, by their paths, up to date.
        Damaged checkpoints are passed over with a warning; the next save removes them.
        """
        newest = self._newest(*ITEMS)
        if newest is None:
            return None
        iteration, arrays, facts = newest
        remembered: list[NamedArrays] = [{} for _ in range(facts["remembered"])]
        for name, array in _branch(arrays, "replay").items():
            index, field = name.split("/", maxsplit=1)
            remembered[int(index)][field] = array
            del arrays[f"replay/{name}"]
        arrays = upgrade(arrays)
        if problem := mismatch(arrays, {"state": template}):
            raise ValueError(
                f"checkpoint {iteration} in {self.folder} does not fit this run: {problem}; "
                f"use the settings it was made with, or another workdir"
            )
        leaves = [arrays[name] for name in named_leaves({"state": template})]
        state = jax.tree.unflatten(jax.tree.structure(template), leaves)
        return iteration, Snapshot(state, remembered, facts["meta"])

    def read(self, branch: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """(the branch of the state as nested dictionaries, meta) of the newest checkpoint that has it whole.

        None if there is no checkpoint at all.  For readers that have no template; `branch` is a path such as
        "learner/variables", and nothing else is read.
        """
        newest = self._newest(f"state/{branch}")
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

    def _newest(self, *branches: str) -> tuple[int, NamedArrays, dict[str, Any]] | None:
        """(iteration, the arrays of these branches by path, facts) of the newest checkpoint that is whole."""
        self.wait()
        iterations = self.iterations()
        for iteration in reversed(iterations):
            try:
                facts = self._read(iteration, facts=ocp.args.JsonRestore())["facts"]
                schema = int(facts.get("schema", 1))  # the first layout had no number
                arrays = self._arrays(iteration, facts["arrays"], branches) if schema == SCHEMA else {}
            except Exception as error:  # anything at all may be wrong with a damaged file
                logger.warning("checkpoint %d in %s is damaged (%s)", iteration, self.folder, _line(error))
                if iteration not in self._damaged:
                    self._damaged.append(iteration)
                continue
            if schema != SCHEMA:
                remedy = (
                    "update saz_jax" if schema > SCHEMA else "continue the run with the version it began with"
                )
                raise ValueError(
                    f"checkpoint {iteration} in {self.folder} has schema {schema}, this version reads "
                    f"{SCHEMA}; {remedy}, or start again in another workdir"
                )
            return iteration, arrays, facts
        if iterations:
            raise ValueError(f"every checkpoint in {self.folder} is damaged; start again in another workdir")
        return None

    def _arrays(self, iteration: int, layout: dict[str, list], branches: tuple[str, ...]) -> NamedArrays:
        """The arrays of these branches, by path; `ValueError` unless they are as `layout` describes them."""
        starts = tuple(f"{branch}/" for branch in branches)
        wanted = {
            name: jax.ShapeDtypeStruct(shape, np.dtype(dtype))
            for name, (dtype, shape, _) in layout.items()
            if f"{name}/".startswith(starts)
        }
        stored = nest({name: leaf for name, leaf in wanted.items() if leaf.size})
        read = self._read(iteration, **{item: _partly({item: tree}) for item, tree in stored.items()})
        found = flatten({item: read[item][item] for item in stored})
        arrays = {
            name: found[name] if leaf.size else np.zeros(leaf.shape, leaf.dtype)
            for name, leaf in wanted.items()
        }
        for name, array in arrays.items():
            if _describe(name, array) != layout[name]:
                raise ValueError(f"{name} differs from its checksum")
        return arrays

    def _read(self, iteration: int, **items: ocp.args.CheckpointArgs) -> Any:
        return self._manager.restore(iteration, args=ocp.args.Composite(**items)) if items else {}

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


def _describe(name: str, array: np.ndarray) -> list:
    """[dtype, shape, checksum], as JSON gives it back."""
    return [str(array.dtype), list(array.shape), checksum({name: array})]


def _partly(tree: Any) -> ocp.args.CheckpointArgs:
    """Reads the arrays in `tree`, and no others, as numpy arrays."""
    as_numpy = jax.tree.map(lambda _: ocp.RestoreArgs(restore_type=np.ndarray), tree)
    return ocp.args.PyTreeRestore(tree, as_numpy, partial_restore=True)


def _branch(arrays: NamedArrays, prefix: str) -> NamedArrays:
    """The arrays whose path starts with `prefix`, by the rest of their path."""
    start = f"{prefix}/"
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _line(error: Exception) -> str:
    """An error's message in one line of limited length."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
