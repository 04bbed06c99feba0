"""NetCDF files of results, with their provenance; written completely or not at all."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.errors import FileError

if TYPE_CHECKING:
    import xarray

FORMAT = "polhode trajectory 1"


class Data(NamedTuple):
    """The arguments of ``xarray.Dataset``: what a file holds, without importing xarray.

    Variables and coordinates are (dimensions, values, attributes); a coordinate may also be just
    its values.
    """

    variables: Mapping[str, Any]
    coordinates: Mapping[str, Any]
    attributes: Mapping[str, Any]


def write(path: str | os.PathLike, data: Data) -> Path:
    """Write a NetCDF-4 file under a temporary name, then move it into place in one operation.

    The file is the one that xarray would write, but importing xarray takes longer than most runs.
    """
    path = Path(path)
    if path.suffix != ".nc":
        raise FileError(f"path must end in .nc (NetCDF), got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into")
    handle, draft = tempfile.mkstemp(suffix=".nc", dir=path.parent)
    os.close(handle)
    try:
        _write(draft, data)
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return path


def _write(path: str, data: Data) -> None:
    import h5netcdf

    variables = {
        name: entry if isinstance(entry, tuple) else ((name,), entry, {})
        for name, entry in {**data.variables, **data.coordinates}.items()
    }
    with h5netcdf.File(path, "w") as file:
        for name, value in data.attributes.items():
            file.attrs[name] = value
        for dimensions, values, _ in variables.values():
            for name, length in zip(dimensions, np.shape(values), strict=True):
                if name not in file.dimensions:
                    file.dimensions[name] = length
        for name, entry in variables.items():
            _write_variable(file, name, *entry)


def _write_variable(
    file: Any, name: str, dimensions: tuple[str, ...], values: Any, attributes: Mapping[str, Any]
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
    variable = file.create_variable(name, dimensions, dtype=kind, fillvalue=missing)
    for key, value in attributes.items():
        variable.attrs[key] = value
    variable[...] = array.astype(object) if array.dtype.kind == "U" else array


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(path: str | os.PathLike, formats: Sequence[str] = (FORMAT,)) -> "xarray.Dataset":
    """Read a file written by ``write``; refuse any other."""
    import xarray

    if not Path(path).is_file():
        raise FileError(f"there is no file {str(path)!r}")
    try:
        dataset: Any = xarray.load_dataset(path, engine="h5netcdf")
    except (OSError, ValueError) as error:
        raise FileError(f"{str(path)!r} is not a NetCDF-4 file: {error}") from error
    if dataset.attrs.get("format") not in formats:
        raise FileError(
            f"{str(path)!r} is not a trajectory of this library: its attribute 'format' is"
            f" {dataset.attrs.get('format')!r}, not {' or '.join(map(repr, formats))}"
        )
    return dataset
