"""Trajectories as Zarr stores: directories of format 3, which any reader of Zarr can open.

Each array is one chunk, its bytes followed by their CRC32C.  The attributes of the group list the
arrays with their shapes and hold a CRC32C of themselves, so that a store that was changed or is
incomplete is refused.  Nothing is decoded that this library does not write.
"""

import json
import math
import os
import re
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import FileError
from polhode.files import whole
from polhode.files.given import damage_refused
from polhode.files.netcdf import BESIDE, GEOMETRY, SENSITIVITY, Data

GROUP = "zarr.json"
MOST = 2**24  # bytes of metadata
SUM = struct.Struct("<I")


def write(path: str | os.PathLike, data: Data) -> Path:
    """Write a store, completely or not at all; a place that is taken is refused."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into")
    draft = whole.draft_of(path)
    for taken in (path, draft):
        if os.path.lexists(taken):
            raise FileError(f"{str(taken)!r} exists: move it away, or use another name")
    try:
        draft.mkdir()
        try:
            for name, content in _files(data).items():
                _write_file(draft / name, content)
            for folder in [*(x for x in draft.rglob("*") if x.is_dir()), draft]:
                whole.settle(folder)
            draft.rename(path)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    except OSError as error:
        reason = f"{error.strerror}; {whole.ROOM}"
        raise FileError(f"cannot write the store {str(path)!r}: {reason}") from error
    whole.settle(path.parent)
    return path


def _write_file(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "xb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _files(data: Data) -> dict[str, bytes]:
    """Return the contents of all files by their names; coordinates of letters are left out."""
    found, shapes = {}, {}
    for name, entry in {**data.coordinates, **data.variables}.items():
        if not isinstance(entry, tuple):
            continue
        if not is_name(name):
            raise FileError(f"a Zarr store cannot hold {name!r}: a name must not contain / or \\")
        dims, values, attributes, *_ = entry
        array = np.ascontiguousarray(values, dtype=_type(name))
        shapes[name] = array.shape
        found[f"{name}/{GROUP}"] = _json(_metadata(array, dims, attributes))
        if array.size:
            found[f"{name}/{_chunk(array.shape)}"] = array.tobytes() + _sum(array.tobytes())
    attributes = {**data.attributes, "arrays": shapes}
    attributes = json.loads(_json(attributes))
    attributes["crc32c"] = _sum(_json(attributes)).hex()
    group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    return {GROUP: _json(group), **found}


def is_name(name: str) -> bool:
    """Whether an array of this name is one folder of a store."""
    return re.fullmatch(r"[^/\\\0]+", name) is not None and name.strip(".") != ""


def _type(name: str) -> str:
    """Return the type of the array of this name."""
    return GEOMETRY[name][1] if name in GEOMETRY else "<f8"


def _metadata(array: np.ndarray, dims: Any, attributes: Mapping[str, Any]) -> dict[str, Any]:
    chunks = [max(n, 1) for n in array.shape]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": array.shape,
        "data_type": array.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "NaN" if array.dtype.kind == "f" else 0,
        "codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "crc32c"},
        ],
        "attributes": attributes,
        "dimension_names": dims,
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=lambda x: np.asarray(x).tolist()).encode()


def _chunk(shape: tuple[int, ...]) -> str:
    return "/".join(["c", *("0" for _ in shape)])


def _sum(content: bytes) -> bytes:
    from numcodecs import CRC32C

    return SUM.pack(CRC32C.checksum(content))


def is_store(path: str | os.PathLike) -> bool:
    """Return whether a directory looks like one of these stores."""
    return (Path(path) / GROUP).is_file()


def read(path: str | os.PathLike, form: str) -> Any:
    """Read a store of this ``form`` as an xarray data set; any change of its numbers is refused."""
    import xarray

    path = Path(path)
    attributes = _attributes(path, form)
    variables = {}
    for name, shape in attributes.pop("arrays").items():
        last = "quaternion" if shape[1:] == [4] else "component"
        last = f"{name}_part" if name.startswith(BESIDE) else last
        dims: tuple[str, ...] = GEOMETRY[name][0] if name in GEOMETRY else ("time", last)
        if name.startswith(SENSITIVITY):
            dims = "time", "of", f"by_{name.removeprefix(SENSITIVITY)}"
        variables[name] = dims[: len(shape)], _read_array(path / name, shape, np.dtype(_type(name)))
    with damage_refused(path):  # shapes that do not go together
        return xarray.Dataset(variables, attrs=attributes)


def _attributes(path: Path, form: str) -> dict[str, Any]:
    try:
        attributes = dict(json.loads(_content(path / GROUP, MOST))["attributes"])
        found = attributes.pop("crc32c", None)
        shapes = attributes["arrays"]
        fine = found == _sum(_json(attributes)).hex() and attributes.get("format") == form
        fine = fine and all(
            is_name(name) and all(type(n) is int and n >= 0 for n in shape) and shape
            for name, shape in shapes.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fine = False
    if not fine:
        raise FileError(
            f"{str(path)!r} is not a trajectory of this library, or is damaged: {GROUP!r} is not as"
            " it was written"
        )
    return attributes


def _read_array(folder: Path, shape: list[int], dtype: np.dtype) -> np.ndarray:
    size = dtype.itemsize * math.prod(shape)
    if size == 0:
        return np.empty(shape, dtype)
    file = folder / _chunk(tuple(shape))
    content = _content(file, size + SUM.size)
    if len(content) != size + SUM.size or _sum(content[:size]) != content[size:]:
        raise FileError(f"{str(file)!r} is damaged: its bytes are not as they were written")
    return np.frombuffer(content[:size], dtype).reshape(shape).astype(dtype.newbyteorder("="))


def _content(file: Path, most: int) -> bytes:
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > most:
            raise FileError(f"{str(file)!r} is missing, or not as it was written")
        return file.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {str(file)!r}: {error.strerror}") from error
