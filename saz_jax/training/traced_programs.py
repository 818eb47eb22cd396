"""Traced programs on disk, so that a second start need not trace them again.

JAX's compilation cache keeps what XLA makes of a program; to look that up, the program itself has to be made
first, which takes as long as all else that a start does.  What a traced program depends on is in the name of
its file: the code of this package, the versions of those below it, JAX's settings and the arguments.
"""

import functools
import hashlib
import importlib.metadata
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
from jax import export

from saz_jax.games.go import GoAux
from saz_jax.training.selfplay import Moves
from saz_jax.types import GameState, Observation

logger = logging.getLogger(__name__)

BELOW = ("jax", "jaxlib", "flax", "mctx", "optax", "chex")
"""Packages that take part in the tracing."""
DIGEST = hashlib.sha256().digest_size

for kind in (GameState, GoAux, Moves, Observation):
    export.register_namedtuple_serialization(kind, serialized_name=f"saz_jax.{kind.__name__}")


def remembered(function: Callable[..., Any], folder: Path, *settings: Any) -> Callable[..., Any]:
    """`function`, compiled for one device, traced once and from then on read from `folder`.

    It must always be called with arguments of the same shapes, and depend on nothing but them, this package
    and the `settings`, whose `repr` is looked at.
    """
    program: Callable[..., Any] | None = None

    def call(*arguments: Any) -> Any:
        nonlocal program
        if program is None:
            kinds = jax.tree.map(jax.typeof, arguments)
            path = folder / f"{_digest(repr((settings, kinds)))}.traced"
            exported = _read(path)
            if exported is None:
                exported = export.export(jax.jit(function))(*arguments)
                _write(path, exported)
            program = jax.jit(exported.call)
        return program(*arguments)

    return call


def _digest(text: str) -> str:
    versions = [importlib.metadata.version(name) for name in BELOW]
    facts = (_code(), versions, sorted(jax.config.values.items()), jax.default_backend(), text)
    return hashlib.sha256(repr(facts).encode()).hexdigest()


@functools.cache
def _code() -> str:
    """A digest of the code of this package."""
    digest, root = hashlib.sha256(), Path(__file__).parent.parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()


def _read(path: Path) -> export.Exported | None:
    """What `_write` wrote; None if there is nothing, or something else."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, program = data[:DIGEST], data[DIGEST:]
    return export.deserialize(bytearray(program)) if hashlib.sha256(program).digest() == digest else None


def _write(path: Path, exported: export.Exported) -> None:
    """Writes the whole file or nothing; a folder that cannot be written costs a warning."""
    program = bytes(exported.serialize())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(program).digest() + program)
        os.replace(file.name, path)
    except OSError as error:
        logger.warning("the next start will trace its programs again: %s", error)
