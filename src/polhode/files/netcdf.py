"""NetCDF files of results, with their provenance; written completely or not at all.

After the end of the file, as the HDF5 library counts it, come 16 bytes ``SEAL`` and the SHA-256 of
everything before them.  Other programs do not see them, and drop them when they change the file.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.errors import FileError
from polhode.files import whole
from polhode.files.given import check_room, damage_refused, open_file

if TYPE_CHECKING:
    import xarray

FORMAT = "polhode trajectory 1"
BESIDE = "variable_"  # before the names of a model's variables in files
SENSITIVITY = "sensitivity_"  # before what the states were differentiated by
GEOMETRY = {  # triangles of the body: (dimensions, type); 64-bit floats keep what was given
    "geometry_vertices": (("vertex", "component"), "<f8"),
    "geometry_faces": (("face", "corner"), "<i4"),
}
VARIABLES: Any = {str: (float, [float])}  # the form of their initial values, see ``check_form``
SIGNATURE = b"\x89HDF\r\n\x1a\n"
END = slice(40, 48)  # where a file says how long it is
SEAL = b"polhode sha256\0\n"
SEALED = len(SEAL) + hashlib.sha256().digest_size


COMPRESSED = {"compression": "gzip", "compression_opts": 4, "shuffle": True}


class Data(NamedTuple):
    """The arguments of ``xarray.Dataset``: what a file holds, without importing xarray.

    Variables and coordinates are (dimensions, values, attributes), and perhaps an encoding, such
    as ``COMPRESSED``; a coordinate may also be just its values.
    """

    variables: Mapping[str, Any]
    coordinates: Mapping[str, Any]
    attributes: Mapping[str, Any]


def write(path: str | os.PathLike, data: Data) -> Path:
    """Write a NetCDF-4 file, completely or not at all.

    The file is the one that xarray would write, but importing xarray takes longer than most runs.
    """
    path = Path(path)
    if path.suffix != ".nc":
        raise FileError(f"path must end in .nc (NetCDF), got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into")
    image = _image(data)
    whole.replace(path, [image, SEAL, hashlib.sha256(image).digest()], "the file")
    return path


def _image(data: Data) -> bytes:
    """Return the bytes of the file.

    It is made in memory: the HDF5 library does not survive a disk that is full.
    """
    import h5netcdf
    import h5py

    variables = {
        name: entry if isinstance(entry, tuple) else ((name,), entry, {})
        for name, entry in {**data.variables, **data.coordinates}.items()
    }
    options: dict[str, Any] = {"driver": "core", "backing_store": False, "track_order": True}
    with h5py.File("in memory", "w", **options) as image:
        with h5netcdf.File(image, "w") as file:
            for name, value in data.attributes.items():
                file.attrs[name] = value
            for dimensions, values, *_ in variables.values():
                for name, length in zip(dimensions, np.shape(values), strict=True):
                    if name not in file.dimensions:
                        file.dimensions[name] = length
            for name, entry in variables.items():
                _write_variable(file, name, *entry)
        image.flush()
        return image.id.get_file_image()


def _write_variable(
    file: Any,
    name: str,
    dimensions: tuple[str, ...],
    values: Any,
    attributes: Mapping[str, Any],
    encoding: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write one variable with xarray's conventions for booleans, text and missing values."""
    import h5py

    if "/" in name:
        raise FileError(f"the name of a variable must not contain '/', got {name!r}")
    array = np.asarray(values)
    kind: Any = array.dtype
    if array.dtype.kind == "b":
        array, attributes = array.astype("i1"), {**attributes, "dtype": "bool"}
        kind = array.dtype
    elif array.dtype.kind == "U":
        kind = h5py.string_dtype()
    missing = array.dtype.type(np.nan) if array.dtype.kind == "f" else None
    variable = file.create_variable(name, dimensions, dtype=kind, fillvalue=missing, **encoding)
    for key, value in attributes.items():
        variable.attrs[key] = value
    variable[...] = array.astype(object) if array.dtype.kind == "U" else array


# ---- reading
PLACEHOLDER = "This is a netCDF dimension but not a netCDF variable"
DIMENSIONS = {"DIMENSION_LIST", "CLASS"}  # attributes of variables, and of their dimensions
RATIO = 2000  # of what is declared to what is there, at most: compression does not reach it
LOOK = """
import sys, xarray
from polhode.files.netcdf import examine
examine(sys.argv[1])
xarray.load_dataset(sys.argv[1], engine="h5netcdf")
"""  # for another process
PATIENCE, PACE = 20.0, 1e7  # seconds for a look at a file, and bytes a second beyond


def read(path: str | os.PathLike, formats: Sequence[str] = (FORMAT,)) -> "xarray.Dataset":
    """Read a file written by ``write``; refuse any other.

    The HDF5 library may crash, or never return, where bytes are damaged.  So it gets to see only
    files whose checksum is right, and others after another process has read them.
    """
    import xarray

    if not Path(path).is_file():
        raise FileError(f"there is no file {str(path)!r}")
    inspect(path, formats)
    with damage_refused(path):
        return xarray.load_dataset(path, engine="h5netcdf")


def is_sealed(path: str | os.PathLike) -> bool:
    """Whether a file ends in a checksum, which must be right; files of 0.1.0 have none."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(END.stop)
        if not start.startswith(SIGNATURE):
            raise FileError(f"{str(path)!r} is not a NetCDF-4 file: it does not begin like one")
        file.seek(max(size - SEALED, 0))
        seal = file.read()
        if not seal.startswith(SEAL) or len(seal) < SEALED:
            says = int.from_bytes(start[END], "little")
            if start[len(SIGNATURE)] == 0 and says != size:  # version 0 of HDF5 files, as ours are
                raise FileError(
                    f"{str(path)!r} was edited or damaged: it has {size} bytes, and says that it"
                    f" has {says}"
                )
            return False
        file.seek(0)
        digest, left = hashlib.sha256(), size - SEALED
        while left and (piece := file.read(min(left, 1 << 20))):
            digest.update(piece)
            left -= len(piece)
    if digest.digest() != seal[len(SEAL) :]:
        raise FileError(
            f"{str(path)!r} was edited or damaged: its checksum does not match its content; use a"
            " copy of the file"
        )
    return True


def _look(path: str | os.PathLike) -> None:
    """Let another process read a file first, for a limited time."""
    if not sys.executable:
        return
    limit = PATIENCE + os.path.getsize(path) / PACE
    paths = os.pathsep.join(place for place in sys.path if place)
    try:
        found = subprocess.run(
            [sys.executable, "-P", "-c", LOOK, os.path.abspath(path)],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        why = f"the HDF5 library did not read it within {limit:.0f} s"
    else:
        if found.returncode == 0:
            return
        words = found.stderr.decode(errors="replace").strip().splitlines()
        why = words[-1][:300] if words and found.returncode > 0 else "the HDF5 library crashed"
    raise FileError(f"{str(path)!r} is not a NetCDF-4 file, or damaged: {why}")


def inspect(path: str | os.PathLike, formats: Sequence[str] | None = None) -> None:
    """Refuse a file that is damaged, or not of these formats, before its numbers are read."""
    if not is_sealed(path):
        _look(path)
    examine(path, formats)


def examine(path: str | os.PathLike, formats: Sequence[str] | None = None) -> None:
    """Check that all variables lie in the file itself, and that what they declare is there."""
    import h5py

    with damage_refused(path), h5py.File(path, "r") as file:
        found = file.attrs.get("format")
        if formats is not None and (not isinstance(found, str) or found not in formats):
            raise FileError(
                f"{str(path)!r} is not a trajectory of this library: its attribute 'format' is"
                f" {str(found)[:80]!r}, not {' or '.join(map(repr, formats))}"
            )
        size = 0
        for name in file:
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                raise ValueError(f"{name} is a link")
            item = file[name]
            if not isinstance(item, h5py.Dataset):
                raise ValueError(f"{name} is not a variable")
            if item.external or item.is_virtual:
                raise ValueError(f"{name} lies in another file")
            if not _is_dimension(item):
                there = item.id.get_storage_size()
                if item.nbytes > RATIO * there:
                    raise ValueError(f"{name} declares {item.nbytes} bytes, and has {there}")
                size += item.nbytes
            if formats is not None and item.ndim and DIMENSIONS.isdisjoint(item.attrs):
                raise ValueError(f"{name} has no dimensions")
        check_room(path, size)


def _is_dimension(item: Any) -> bool:
    """Whether a variable only stands for a dimension without coordinates."""
    name = item.attrs.get("NAME", b"")
    return name.startswith(PLACEHOLDER.encode()) if isinstance(name, bytes) else False
