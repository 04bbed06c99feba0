"""NetCDF files that somebody edited, with a checksum that is right."""

import hashlib
import json

import h5py
import numpy as np

from polhode.files import netcdf
from support.damaged_stores import forge


def seal(path):
    """Give a file that another program has changed a checksum that is right."""
    image = path.read_bytes()
    path.write_bytes(image + netcdf.SEAL + hashlib.sha256(image).digest())


VALUES = [7, -1, 0.5, float("nan"), "", "{", "[1, 2]", "[" * 5000, "null", b"x", [1.0, 2.0], []]


def forge_netcdf(path, rng):
    """Change, add or remove one attribute or one variable."""
    with h5py.File(path, "r+") as file:
        names = list(file)
        name = names[rng.integers(len(names))]
        owner = file if rng.random() < 0.7 else file[name]
        keys = [key for key in owner.attrs if key not in ("DIMENSION_LIST", "REFERENCE_LIST")]
        value, how = VALUES[rng.integers(len(VALUES))], rng.random()
        if how < 0.6 and keys:
            name = keys[rng.integers(len(keys))]
            old = owner.attrs[name]
            if isinstance(old, str) and old[:1] in ("{", "[") and rng.random() < 0.7:
                value = json.dumps(forge(json.loads(old), rng))
                value = value[:60_000]  # larger ones need other storage
            owner.attrs[name] = value
        elif how < 0.7 and keys:
            name = keys[rng.integers(len(keys))]
            del owner.attrs[name]
        else:
            shape = file[name].shape
            del file[name]
            if how < 0.9:
                kinds = np.zeros(shape, "i4"), np.ones(3), np.full(shape, np.nan), "text"
                file[name] = kinds[rng.integers(len(kinds))]
        told = f"{name} {value!r}"
    seal(path)
    return told
