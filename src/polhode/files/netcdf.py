"""NetCDF files of results, with their provenance; written completely or not at all."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.errors import FileError
from polhode.files import whole

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
    """Write a NetCDF-4 file, completely or not at all.

    The file is the one that xarray would write, but importing xarray takes longer than most runs.
    """
    path = Path(path)
    if path.suffix != ".nc":
        raise FileError(f"path must end in .nc (NetCDF), got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into")
    whole.replace(path, [_image(data)], "the file")
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
            for dimensions, values, _ in variables.values():
                for name, length in zip(dimensions, np.shape(values), strict=True):
                    if name not in file.dimensions:
                        file.dimensions[name] = length
            for name, entry in variables.items():
                _write_variable(file, name, *entry)
        image.flush()
        return image.id.get_file_image()


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
