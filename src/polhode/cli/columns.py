"""Values of members read from files: a variable of NetCDF or Zarr, or columns of CSV."""

import csv
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import FileError
from polhode.files.given import DAMAGE, damage_refused, open_file
from polhode.files.netcdf import SIGNATURE, inspect

LETTERS = {"x": 0, "y": 1, "z": 2}


def column(name: str, path: Path) -> Any:
    """Read the values of ``name`` for all members; attitudes become a ``Rotation``.

    In NetCDF and Zarr: the variable ``varied_name``, as ensembles write it, or ``name``, with the
    dimension ``member``.  In CSV: the column ``name``, or ``name_x``, ``name_y`` and ``name_z``.
    """
    found = _from_text(name, path) if path.suffix == ".csv" else _from_data(name, path)
    if not np.isfinite(found).all():
        member = int(np.argwhere(~np.isfinite(found))[0, 0])
        raise FileError(f"{name} of member {member} is missing")
    return attitudes(found) if name == "attitude" else found


def attitudes(values: np.ndarray) -> Any:
    """Make rotations of rotation vectors or quaternions (w, x, y, z); leave matrices alone."""
    from scipy.spatial.transform import Rotation

    if values.ndim == 2 and values.shape[1] == 3:
        return Rotation.from_rotvec(values)
    if values.ndim == 2 and values.shape[1] == 4:
        return Rotation.from_quat(values, scalar_first=True)
    return values


def _from_text(name: str, path: Path) -> np.ndarray:
    try:
        with TextIOWrapper(open_file(path), newline="", encoding="utf-8-sig") as file:
            header, *lines = ([cell.strip() for cell in line] for line in csv.reader(file) if line)
    except (OSError, csv.Error) as error:
        raise FileError(f"cannot be read: {error}") from error
    except FileError:
        raise
    except ValueError as error:
        raise FileError("has no header with the names of its columns") from error
    vector = [f"{name}_{letter}" for letter in LETTERS]
    wanted = [name] if name in header else vector
    if not set(wanted) <= set(header):
        raise FileError(f"has neither a column {name} nor {', '.join(vector)}: {', '.join(header)}")
    places = [header.index(one) for one in wanted]
    rows = np.empty((len(lines), len(places)))
    for k, line in enumerate(lines):
        try:
            rows[k] = [float(line[place]) for place in places]
        except (ValueError, IndexError):
            raise FileError(f"line {k + 2} has no number for {', '.join(wanted)}") from None
    return rows[:, 0] if len(wanted) == 1 else rows


def _from_data(name: str, path: Path) -> np.ndarray:
    import xarray

    if not path.exists():
        raise FileError("there is no such file")
    if not path.is_dir():
        with open_file(path) as file:
            is_hdf = file.read(len(SIGNATURE)) == SIGNATURE
        if is_hdf:
            inspect(path)
    try:
        data = xarray.open_zarr(path) if path.is_dir() else xarray.open_dataset(path)
    except DAMAGE as error:
        raise FileError(f"is not a NetCDF file, Zarr store or .csv: {error}") from None
    with data, damage_refused(path):
        for key in (f"varied_{name}", name):
            if key in data and "member" in data[key].dims and "time" not in data[key].dims:
                return np.array(data[key].transpose("member", ...).values, dtype=float)
        known = ", ".join(str(k) for k in data.data_vars if "member" in data[k].dims)
    raise FileError(f"has no variable {name} with the dimension member; it has {known or 'none'}")
