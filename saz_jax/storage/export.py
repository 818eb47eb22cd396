"""A trained network in one small file: numbers and JSON, never code.

An export is an uncompressed `.npz`: one member per array, named by its path in the variables, and
`about`, the bytes of a JSON object with the writer's facts, the version of this format and a checksum of
the arrays.  A path that ends in `.safetensors` is written and read in that format instead, with the same
names and the same JSON as its metadata `about`: other programs read it without us.
"""

import json
import os
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from saz_jax.config.json_form import shown
from saz_jax.storage.named_arrays import NamedArrays, checksum, flatten, nest
from saz_jax.types import Variables

FORMAT = 1
"""Version of the format; readers refuse other ones."""
SAFETENSORS = ".safetensors"
MAX_NAME = 300
"""Characters of an array's name: the names of real networks are far shorter."""


def export(path: str | os.PathLike, variables: Variables, meta: Mapping[str, Any]) -> None:
    """Write `variables` and the JSON object `meta` to the file `path`, at once or not at all."""
    path = Path(path)
    arrays = flatten(variables)
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} has dtype {array.dtype}, which .npz cannot hold; cast it to float32")
    about = json.dumps({**meta, "format": FORMAT, "sha256": checksum(arrays)})
    write = _write_safetensors if path.suffix == SAFETENSORS else _write_npz
    # Beside its goal, not in the temporary folder: the last step is atomic only within one file system.
    half = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(half, "wb") as file:
                write(file, about, arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(half, path)
        finally:
            half.unlink(missing_ok=True)
    except ImportError as error:
        raise ValueError(f"{path} needs safetensors; pip install 'saz_jax[safetensors]'") from error
    except OSError as error:
        raise OSError(f"cannot write the export {path}: {error}") from error


def read_export(path: str | os.PathLike) -> tuple[dict[str, Any], dict[str, Any]]:
    """(variables as numpy arrays, meta) of the file that `export` wrote; runs no code found in it."""
    try:
        about, arrays = (_read_safetensors if Path(path).suffix == SAFETENSORS else _read_npz)(path)
        meta = json.loads(about)
        version, expected = meta.pop("format"), meta.pop("sha256")
        variables = nest(arrays)
    except ImportError as error:
        raise ValueError(f"{path} needs safetensors; pip install 'saz_jax[safetensors]'") from error
    except OSError as error:
        raise ValueError(f"cannot read {path} ({error.strerror}); give the path of an export") from error
    except Exception as error:  # whatever zipfile, numpy and json raise
        raise ValueError(f"{path} is not a whole export of saz_jax; export the agent again") from error
    if version != FORMAT:
        raise ValueError(
            f"{path} has export format {shown(version)}, this version reads {FORMAT}; update saz_jax"
        )
    if checksum(arrays) != expected:
        raise ValueError(f"{path} is damaged: its arrays differ from their checksum; export the agent again")
    return variables, meta


def _write_npz(file: BinaryIO, about: str, arrays: NamedArrays) -> None:
    np.savez(file, allow_pickle=False, about=np.frombuffer(about.encode(), np.uint8), **arrays)


def _read_npz(path: str | os.PathLike) -> tuple[bytes, NamedArrays]:
    with zipfile.ZipFile(path) as members:
        _check_members(members.infolist(), os.path.getsize(path))
    with np.load(path, allow_pickle=False) as members:
        arrays = dict(members)
    return arrays.pop("about").tobytes(), arrays


def _write_safetensors(file: BinaryIO, about: str, arrays: NamedArrays) -> None:
    from safetensors.numpy import save

    file.write(save({name: np.asarray(x, order="C") for name, x in arrays.items()}, {"about": about}))


def _read_safetensors(path: str | os.PathLike) -> tuple[str, NamedArrays]:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return file.metadata()["about"], {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def _check_members(members: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Refuse what could keep a reader busy: more bytes than the file has, or names that nest deeply."""
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("an export is never compressed")
    if sum(member.file_size for member in members) > size:
        raise ValueError("the members of an export share no bytes")
    if any(len(member.filename) > MAX_NAME for member in members):
        raise ValueError(f"the names in an export have at most {MAX_NAME} characters")
