"""Tables of numbers for other programs, .csv and .parquet; written completely or not at all."""

import json
import os
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import FileError
from polhode.files import whole

SUFFIXES = ".csv", ".parquet"


def write(
    path: str | os.PathLike, columns: Mapping[str, np.ndarray], about: Mapping[str, Any]
) -> Path:
    """Write columns by name; the suffix chooses the format.

    Numbers in text files have all digits, and nothing stands for NaN.  Parquet files also hold
    ``about``, as JSON under the key "polhode".
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileError(f"there is no directory {str(path.parent)!r} to write {path.name!r} into")
    image = _text(columns) if path.suffix == ".csv" else _parquet(columns, about)
    whole.replace(path, [image], "the file")
    return path


def _text(columns: Mapping[str, np.ndarray]) -> bytes:
    values = (np.asarray(column).tolist() for column in columns.values())
    rows = (",".join("" if x != x else repr(x) for x in row) for row in zip(*values, strict=True))
    return "\n".join(chain([",".join(columns)], rows, [""])).encode()


def _parquet(columns: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise FileError(
            "Parquet files need PyArrow: pip install 'polhode[parquet]', or save as .nc or .csv"
        ) from None
    facts = json.dumps(about, default=lambda value: np.asarray(value).tolist())
    table = pyarrow.table({name: np.asarray(values) for name, values in columns.items()})
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table.replace_schema_metadata({"polhode": facts}), sink)
    return memoryview(sink.getvalue())
