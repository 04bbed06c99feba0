"""Results in files: NetCDF with provenance, written whole or not at all."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polhode.errors import FileError

if TYPE_CHECKING:
    import xarray

FORMAT = "polhode trajectory 1"


def write(path: str | os.PathLike, dataset: "xarray.Dataset") -> Path:
    """Write a data set beside its final place, then move it there in one operation."""
    path = Path(path)
    if path.suffix != ".nc":
        raise FileError(f"path must end in .nc (NetCDF), got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into")
    handle, draft = tempfile.mkstemp(suffix=".nc", dir=path.parent)
    os.close(handle)
    try:
        dataset.to_netcdf(draft, engine="h5netcdf")
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(path: str | os.PathLike, formats: Sequence[str] = (FORMAT,)) -> "xarray.Dataset":
    """The data set of a file that ``write`` wrote; anything else is refused."""
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
