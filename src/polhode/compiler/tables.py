"""Arrays of a user that machine code gets at run time: read-only tables of floats."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.errors import InputError

FEW = 16  # numbers of an array that stay a tuple, and so in registers
MANY = 100  # entries of a list that stay a tuple; each of them costs time to compile


def as_table(value: Any, argument: str) -> np.ndarray | None:
    """Return an array as a read-only table, and None for what is no array or has few numbers."""
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.size <= FEW:
            return None
        if array.dtype.kind not in "biuf" or np.ma.is_masked(value):
            kind = "masked entries" if np.ma.is_masked(value) else f"dtype {array.dtype}"
            raise InputError(f"{argument} must be an array of real numbers, got one with {kind}")
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and len(value) > MANY:
        try:
            array = np.asarray(value)
        except ValueError:  # rows of different lengths
            return None
        if array.dtype.kind not in "biuf":
            return None
    else:
        return None
    table = np.array(array, dtype=np.float64, order="C")
    if not np.isfinite(table).all():
        place = tuple(np.argwhere(~np.isfinite(table))[0].tolist())
        where = ", ".join(map(str, place))
        raise InputError(f"{argument} must be finite, but {argument}[{where}] is {table[place]}")
    table.flags.writeable = False
    return table
