"""What a store holds: looked at before Zarr decodes anything, and listed when it is finished.

A chunk is compressed and ends with the CRC32C of its bytes, which all readers of Zarr compare.  The
list, ``.contents``, is written last: a line for each file with its CRC32C (of a chunk, the one at
its end), and the CRC32C of these lines.  Metadata that this library does not write are refused.
"""

import itertools
import json
import math
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles import places
from polhode.errors import FileError
from polhode.files import whole
from polhode.files.given import memory

LIST = places.LIST
COMPARED = 2**28  # bytes of chunks that are compared on opening; those of more, when they are read
HEADER = struct.Struct("<4x3I")  # of Blosc: bytes of the numbers, of a block, and of all this
SUM = struct.Struct("<I")
DTYPE = re.compile(r"[<>][fi][48]|[<>]U[1-9]\d?")
METADATA = {".zarray", ".zattrs"}
PACKED = 1000  # times that arrays are larger than their files, at most
SMALL = 2**26  # bytes of arrays that are never too many


def codecs() -> dict[str, Any]:
    """Return how chunks are encoded, as arguments for Zarr."""
    from numcodecs import CRC32C, Blosc

    packed = Blosc(cname="lz4", clevel=5, shuffle=Blosc.SHUFFLE)
    return {"filters": [packed, CRC32C()], "compressors": None}


def crc32c(data: Any) -> int:
    from numcodecs import CRC32C

    return CRC32C.checksum(data)


class Array(NamedTuple):
    """An array of a store, as its metadata describe it; ``summed``: its chunks have checksums."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: np.dtype
    dims: tuple[str, ...]
    attrs: dict[str, Any]
    summed: bool

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def chunk_bytes(self) -> int:
        return math.prod(self.chunks) * self.dtype.itemsize

    @property
    def grid(self) -> list[int]:
        return [-(-n // k) for n, k in zip(self.shape, self.chunks, strict=True)]


class Contents(NamedTuple):
    """The attributes of a store, its arrays and the files of their chunks; the checksums of all
    files by their names, and their bytes.
    """

    place: Path
    attrs: dict[str, Any]
    arrays: dict[str, Array]
    chunks: dict[str, dict[str, Path]]
    sums: dict[str, int]
    total: int


# ---- metadata
def read_json(file: Path) -> dict[str, Any]:
    """Read one of the files with metadata."""
    if file.is_symlink() or not file.is_file():
        raise FileError(f"{str(file)!r} is missing or not a file")
    try:
        found = json.loads(_read(file, places.MOST))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{str(file)!r} is damaged: {error}") from None
    if not isinstance(found, dict):
        raise FileError(f"{str(file)!r} is damaged: it holds no names and values")
    return found


def _read(file: Path, most: int) -> bytes:
    if file.stat().st_size > most:
        raise FileError(f"{str(file)!r} has {file.stat().st_size} bytes, more than {most}")
    return file.read_bytes()


def _read_array(folder: Path) -> Array:
    """Read the metadata of an array; what this library does not write is refused by its name."""
    about, attrs = read_json(folder / ".zarray"), read_json(folder / ".zattrs")

    def refuse(name: str, value: Any, wanted: str) -> FileError:
        text = repr(value)
        text = text if len(text) < 200 else text[:200] + "…"
        return FileError(f"{str(folder)!r} has the {name} {text}: it must be {wanted}")

    for name, value in {"zarr_format": 2, "order": "C", "dimension_separator": "."}.items():
        if about.get(name) != value:
            raise refuse(name, about.get(name), repr(value))
    shape: Any = about.get("shape")
    chunks: Any = about.get("chunks")
    if not _is_list(shape, int) or not shape or min(shape) < 0:
        raise refuse("shape", shape, "a list of whole numbers")
    fits = _is_list(chunks, int) and len(chunks) == len(shape)
    if not fits or any(not 1 <= k <= max(n, 1) for n, k in zip(shape, chunks, strict=True)):
        raise refuse("chunks", chunks, f"whole numbers within the shape {shape}")
    dtype: Any = about.get("dtype")
    dims: Any = attrs.get("_ARRAY_DIMENSIONS")
    if not isinstance(dtype, str) or not DTYPE.fullmatch(dtype):
        raise refuse("dtype", dtype, "one of numbers or letters")
    if not _is_list(dims, str) or len(dims) != len(shape):
        raise refuse("_ARRAY_DIMENSIONS", dims, f"a name for each of {len(shape)} dimensions")
    if about.get("fill_value") not in (None, "NaN", 0, ""):
        raise refuse("fill_value", about["fill_value"], "null or NaN")
    names = [_codec(about.get("compressor")), about.get("filters")]
    if isinstance(names[1], list):
        names[1] = [_codec(one) for one in names[1]]
    if names not in ([None, ["blosc", "crc32c"]], ["blosc", None]):
        raise refuse("codecs", names, "blosc and crc32c, the only ones that are ever decoded")
    found = Array(tuple(shape), tuple(chunks), np.dtype(dtype), tuple(dims), attrs, not names[0])
    if found.chunk_bytes >= 2**31:
        raise refuse("chunks", chunks, f"smaller than 2 GB, not {found.chunk_bytes / 1e9:.3g} GB")
    return found


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(x) is kind for x in value)


def _codec(about: Any) -> Any:
    """The name of a codec with settings that are numbers or names; anything else as it is."""
    if not isinstance(about, dict) or not all(type(x) in (int, str) for x in about.values()):
        return about
    return about.get("id")


# ---- files
def survey(place: Path, names: Collection[str] | None = None, compared: bool = True) -> Contents:
    """Look at all files of a store but the list; nothing is decoded.

    ``names``: at these arrays only.  ``compared``: the chunks with their checksums, unless they
    are too many.
    """
    attrs = read_json(place / places.ATTRIBUTES)
    arrays: dict[str, Array] = {}
    chunks: dict[str, dict[str, Path]] = {}
    sums, total = {}, 0
    for file in places.entries_of(place):
        if file.is_dir() or file.name.endswith(places.PARTIAL) or file.name == LIST:
            continue
        if names is not None and file.parent != place and file.parent.name not in names:
            continue
        name = file.relative_to(place).as_posix()
        total += file.stat().st_size
        if file.parent == place or file.name in METADATA:
            sums[name] = crc32c(_read(file, 4 * places.MOST))
        else:
            chunks.setdefault(file.parent.name, {})[file.name] = file
        if file.name == ".zarray":
            arrays[file.parent.name] = _read_array(file.parent)
    compared = compared and total <= COMPARED
    for name, files in chunks.items():
        for chunk, file in files.items():
            known = name in arrays
            sums[f"{name}/{chunk}"] = check_chunk(file, arrays[name], compared) if known else 0
    return Contents(place, attrs, arrays, chunks, sums, total)


def check_size(found: Contents, names: Collection[str]) -> None:
    """Refuse arrays that do not fit into memory, or that so small files cannot hold."""
    size = sum(found.arrays[name].nbytes for name in names)
    if size > min(max(SMALL, PACKED * found.total), memory()):
        raise FileError(
            f"{str(found.place)!r} declares arrays of {size / 1e9:.3g} GB in files of"
            f" {found.total / 1e9:.3g} GB, with {memory() / 1e9:.3g} GB of memory"
        )


def check_chunk(file: Path, array: Array, compared: bool = True) -> int:
    """Return the checksum at the end of a chunk (0: it has none) after a look at its sizes.

    ``compared``: with the checksum of its bytes.
    """

    def refuse(why: str) -> FileError:
        return FileError(f"the chunk {file.name!r} in {str(file.parent)!r} {why}")

    at, grid = [int(k) for k in file.name.split(".")], array.grid
    if len(at) != len(grid) or any(k >= n for k, n in zip(at, grid, strict=True)):
        raise refuse(f"is outside the array of the shape {list(array.shape)}")
    end = SUM.size if array.summed else 0
    with open(file, "rb") as handle:
        size = handle.seek(0, 2) - end
        handle.seek(0)
        begin = handle.read(HEADER.size)
        if len(begin) < HEADER.size or size > array.chunk_bytes + HEADER.size:
            raise refuse(f"is damaged: it has {size + end} bytes")
        count, _, packed = HEADER.unpack(begin)
        if (count, packed) != (array.chunk_bytes, size):
            raise refuse(
                f"is damaged: it declares {count} bytes in {packed}, not {array.chunk_bytes} in"
                f" {size}"
            )
        if not array.summed:
            return 0
        handle.seek(size)
        (found,) = SUM.unpack(handle.read(end))
        if compared:
            handle.seek(0)
            if crc32c(handle.read(size)) != found:
                raise refuse("is damaged: its checksum is another one")
    return found


def check_chunks(found: Contents, names: Collection[str]) -> None:
    """Refuse arrays that lack a chunk."""
    for name in names:
        one, there = found.arrays[name], found.chunks.get(name, {})
        if len(there) < math.prod(one.grid):
            lost = next(key for key in _keys(one.grid) if key not in there)
            raise FileError(f"{str(found.place)!r} lacks the chunk '{name}/{lost}'")


def _keys(grid: list[int]) -> Iterator[str]:
    """The names of all chunks, one after another."""
    return (".".join(map(str, place)) for place in itertools.product(*map(range, grid)))


# ---- the list
def write_list(found: Contents) -> None:
    """Write the list of a store in which every chunk is there."""
    check_chunks(found, found.arrays)
    lines = "".join(f"{value:08x} {name}\n" for name, value in sorted(found.sums.items())).encode()
    whole.replace(found.place / LIST, [lines, b"%08x\n" % crc32c(lines)], "the list of a store")


def check_list(found: Contents) -> None:
    """Compare a store with its list."""
    file = found.place / LIST
    lines = _read(file, memory())
    if lines[-9:] != b"%08x\n" % crc32c(lines[:-9]):
        raise FileError(f"{str(file)!r} is damaged: its checksum is another one")
    pairs = [line.partition(" ") for line in lines[:-9].decode().splitlines()]
    listed: Mapping[str, str] = {name: value for value, _, name in pairs}
    for name in [*listed, *found.sums]:
        if name not in found.sums:
            raise FileError(f"{str(found.place)!r} lacks {name!r}, which is on its list")
        if name not in listed:
            raise FileError(f"{str(found.place)!r} holds {name!r}, which is not on its list")
        if listed[name] != f"{found.sums[name]:08x}":
            raise FileError(f"{str(found.place)!r}: {name!r} is not as it was written")
    check_chunks(found, found.arrays)


def explain(array: Any, error: Exception) -> FileError:
    """Return the error for an array of Zarr that cannot be read, with the name of the chunk."""
    folder = array.store.root / array.path
    try:
        about = _read_array(folder)
        for file in sorted(folder.iterdir()):
            if file.name not in METADATA:
                check_chunk(file, about)
    except FileError as found:
        return found
    except OSError as found:
        error = found
    return FileError(f"cannot read {str(folder)!r}: {error}")
