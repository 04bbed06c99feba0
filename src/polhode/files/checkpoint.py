"""Checkpoint files: written completely or not at all, read completely or refused.

    write(path, kind, header, arrays)    replace the file in one operation
    read(path, kind) -> header, arrays   all of it, verified
    read_any(path, forms) -> kind, header, arrays
    head(path) -> header, kind_of(path)  without reading the arrays
    Journal(path)                        rows that are only appended, in a file beside it

A checkpoint is

    polhode checkpoint 1\\n              the version of the format, in ASCII
    size, length                        of the file and of the header in bytes, two uint64
    header                              JSON in UTF-8: ``kind``; ``made``, by which software and
                                        processor; ``arrays``, their names, types and shapes in
                                        order; ``data``, what ``write`` was given
    arrays                              each at the next multiple of 8 bytes, row by row
    digest                              SHA-256 of everything before it

with all numbers little-endian.  ``write`` makes it under another name in the same directory,
flushes it to disk and moves it into place: a process killed at any instant leaves the old file or
the new one.  A file that was truncated, edited or is of another kind is refused with a message that
says what is wrong.

Growing data are not rewritten each time.  A journal is a sequence of pieces

    length, digest, payload             length a uint64, digest = SHA-256(digest before, payload)

and a mark (size, digest) in the checkpoint says how much of it is valid.  Pieces are flushed to
disk before the mark that includes them; anything after the mark was being written when the process
was killed, and is cut off.
"""

import hashlib
import json
import os
import platform
import re
import stat
import struct
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from polhode._version import __version__
from polhode.errors import FileError, PolhodeWarning
from polhode.files import whole
from polhode.files.given import check_form, damage_refused, open_file

VERSION = 1
MAGIC = b"polhode checkpoint "
DIGEST = hashlib.sha256().digest_size
SIZES = struct.Struct("<QQ")
FRAME = struct.Struct(f"<Q{DIGEST}s")
TYPES = "<f8", "<i8", "|u1", "|b1"
PLACE = 8  # bytes: arrays begin at multiples of this
LONGEST = 2**48  # bytes of a piece: text and other files begin with larger numbers
HEADER = {"kind": str, "made": dict, "arrays": [list], "data": dict}
MARK = [int, re.compile(f"[0-9a-f]{{{2 * DIGEST}}}")]  # the form of a mark, see ``check_form``
RESTART = "start the run again, or use a copy of the file"


# ---- whole files
def write(
    path: str | os.PathLike, kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Replace the checkpoint at ``path`` in one operation.

    ``header`` must be JSON data; its floats are restored with all their bits, but infinities and
    NaN belong in arrays.  Arrays are of floats, 64-bit integers, bytes or booleans.
    """
    path = Path(path)
    data = {name: _portable(name, array) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in data.items()]
    text = {"kind": kind, "made": made_by(), "arrays": listed, "data": dict(header)}
    head = json.dumps(text, ensure_ascii=False, allow_nan=False).encode()
    first = MAGIC + b"%d\n" % VERSION
    begin = _next_place(len(first) + SIZES.size + len(head))
    size = begin + sum(_next_place(array.nbytes) for array in data.values()) + DIGEST
    lead = (first + SIZES.pack(size, len(head)) + head).ljust(begin, b"\0")
    pieces = [lead, *map(_padded, data.values())]
    total = hashlib.sha256()
    for piece in pieces:
        total.update(piece)
    whole.replace(path, [*pieces, total.digest()], "the checkpoint")


def read(
    path: str | os.PathLike, kind: str | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return (header, arrays) of the checkpoint at ``path``; an incomplete one is refused.

    Warns if it was made by other software or on another processor.
    """
    return read_any(path, {} if kind is None else {kind: dict})[1:]


def read_any(
    path: str | os.PathLike, forms: Mapping[str, Any]
) -> tuple[str, dict[str, Any], dict[str, np.ndarray]]:
    """Do the same for one of several kinds, and return (kind, header, arrays).

    ``forms`` are those that the headers of each kind must have, see ``check_form``.
    """
    path = Path(path)
    data, text, begin = _read(path, forms)
    if hashlib.sha256(memoryview(data)[:-DIGEST]).digest() != data[-DIGEST:]:
        raise FileError(
            f"{str(path)!r} was edited or damaged: its checksum does not match its content;"
            f" {RESTART}"
        )
    arrays = {}
    for name, dtype, shape in text["arrays"]:
        array = np.frombuffer(data, dtype, prod(shape), begin)
        with damage_refused(path):
            array = array.reshape(shape)
        arrays[name] = array.astype(array.dtype.newbyteorder("="))  # a writable copy
        begin += _next_place(array.nbytes)
    warn_if_made_elsewhere(path, text["made"])
    return text["kind"], text["data"], arrays


def head(path: str | os.PathLike, kind: str | None = None, form: Any = dict) -> dict[str, Any]:
    """Return the header alone, which must have this form; the checksum is not verified."""
    forms = {} if kind is None else {kind: form}
    return _read(Path(path), forms, header_only=True)[1]["data"]


def kind_of(path: str | os.PathLike) -> str:
    """Return the kind of a checkpoint; the checksum is not verified."""
    return _read(Path(path), {}, header_only=True)[1]["kind"]


def _read(
    path: Path, forms: Mapping[str, Any], header_only: bool = False
) -> tuple[bytes, dict[str, Any], int]:
    """Return (bytes, JSON of the header, where the arrays begin); the header is checked first."""
    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(1 << 16)
            lead = len(data.partition(b"\n")[0]) + 1 + SIZES.size
            if data.startswith(MAGIC) and len(data) >= lead:
                _, length = SIZES.unpack(data[lead - SIZES.size : lead])
                data += file.read(max(0, lead + min(length, size) - len(data)))
            text, begin = _check_header(path, data, size, forms)
            return data if header_only else data + file.read(), text, begin
    except (OSError, MemoryError) as error:
        raise FileError(f"cannot read {str(path)!r}: {error}") from error


def _check_header(
    path: Path, data: bytes, size: int, forms: Mapping[str, Any]
) -> tuple[dict[str, Any], int]:
    """Return (the JSON of the header, where the arrays begin) of a file of ``size`` bytes."""
    name, foreign = repr(str(path)), "is not a checkpoint of this library"
    first, newline, _ = data.partition(b"\n")
    number = first[len(MAGIC) :]
    if not first.startswith(MAGIC) or not newline or not number.isdigit() or len(number) > 9:
        if size < len(MAGIC) + 2 and (MAGIC + b"1\n").startswith(data):
            raise FileError(f"{name} is cut off after {size} bytes; {RESTART}")
        raise FileError(f"{name} {foreign}: it does not begin with {MAGIC.decode().strip()!r}")
    if int(number) > VERSION:
        raise FileError(
            f"{name} has version {int(number)} of the format, newer than {VERSION}, the newest that"
            f" polhode {__version__} knows; update polhode"
        )
    if int(number) < 1:
        raise FileError(f"{name} {foreign}: there is no version {int(number)} of the format")
    lead = len(first) + 1 + SIZES.size
    if len(data) < lead:
        raise FileError(f"{name} is cut off after {size} bytes; {RESTART}")
    whole, length = SIZES.unpack(data[lead - SIZES.size : lead])
    if size < whole:
        raise FileError(f"{name} is cut off: it has {size} of its {whole} bytes; {RESTART}")
    damaged = f"{name} was edited or damaged"
    if size > whole or lead + length + DIGEST > whole:
        raise FileError(
            f"{damaged}: it has {size} bytes, and says that it has {whole}, {length} of them in its"
            f" header; {RESTART}"
        )
    try:
        text = json.loads(data[lead : lead + length].decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{damaged}: its header cannot be read ({error}); {RESTART}") from error
    found = str(text.get("kind")) if isinstance(text, dict) else ""
    check_form(path, text, {**HEADER, "data": forms.get(found, dict)}, "header")
    listed = text["arrays"]
    begin = _next_place(lead + length)
    known = all(len(a) == 3 and _is_array(*a) for a in listed)
    if not known or len({a[0] for a in listed}) < len(listed):
        raise FileError(f"{damaged}: its list of arrays is {str(listed)[:200]}; {RESTART}")
    sizes = (prod(shape) * np.dtype(dtype).itemsize for _, dtype, shape in listed)
    fits = begin + sum(map(_next_place, sizes)) + DIGEST == whole
    if not fits:
        raise FileError(f"{damaged}: its arrays do not fit its size of {whole} bytes; {RESTART}")
    if forms and found not in forms:
        needed = " or ".join(map(repr, forms))
        raise FileError(f"{name} is a checkpoint of kind {found!r}, and {needed} is needed here")
    return text, begin


def _is_array(name: Any, dtype: Any, shape: Any) -> bool:
    """Whether these are the name, the type and the shape of an array."""
    counts = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    return isinstance(name, str) and isinstance(dtype, str) and dtype in TYPES and counts


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _portable(name: str, array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    array = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    if array.dtype.str not in TYPES:
        raise TypeError(f"array {name!r} is of type {array.dtype}, and not one of {TYPES}")
    return array


def _next_place(size: int) -> int:
    return -(-size // PLACE) * PLACE


def _padded(array: np.ndarray) -> bytes | memoryview:
    fits = array.nbytes % PLACE == 0 and array.nbytes > 0
    return array.data.cast("B") if fits else array.tobytes().ljust(_next_place(array.nbytes), b"\0")


def remove(path: str | os.PathLike) -> None:
    """Remove a checkpoint, and any draft of its next version left by a killed process."""
    path = Path(path)
    path.unlink(missing_ok=True)
    whole.settle(path.parent)  # before the journal that it needs is emptied or removed
    whole.remove_own(whole.draft_of(path), MAGIC)


# ---- origin
@cache
def made_by() -> dict[str, str]:
    """Return what determines the bits of a run besides its input."""
    found = {"polhode": __version__}
    for package in ("numba", "llvmlite"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return {**found, "processor": _processor()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        name = platform.processor()
    return f"{platform.machine()} {name}".strip()


def warn_if_made_elsewhere(path: str | os.PathLike, made: Mapping[str, str]) -> None:
    """Warn of any differences in software and processor."""
    here = made_by()
    other = [f"{k} {v}, here {here.get(k)}"[:80] for k, v in made.items() if here.get(k) != v]
    if other:
        warnings.warn(
            f"{str(path)!r} was made elsewhere ({'; '.join(other)}): the results may differ from"
            " those of the uninterrupted run in the last bits",
            PolhodeWarning,
            stacklevel=2,
        )


# ---- journals
class Mark(NamedTuple):
    """The valid part of a journal: its size in bytes, and the digest of its last piece."""

    size: int = 0
    digest: str = "00" * DIGEST


class Journal:
    """An append-only file of rows, written by one process at a time.

    ``mark`` says how much of the file is valid; anything after it is cut off.  The default mark is
    that of an empty journal, which empties an existing file.  Use it in ``with``.
    """

    def __init__(self, path: str | os.PathLike, mark: Mark | None = None):
        self.path, self.mark = Path(path), mark or Mark()
        self.rows = np.empty(0)  # all pieces that were read
        if self.mark.size > 0 and not self.path.exists():
            raise self._cut(0)
        try:
            new = not os.path.lexists(self.path)
            how = os.O_CREAT | os.O_EXCL if new else 0
            handle = os.open(self.path, os.O_RDWR | how | whole.NO_LINKS, 0o666)
        except OSError as error:
            if self.path.is_symlink():
                raise whole.refusal(self.path) from error
            raise self._unwritable(error) from error
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise whole.refusal(self.path)
        self._file = os.fdopen(handle, "r+b")
        try:
            self._lock()
            if self.mark.size == 0 and not is_journal(self._file):
                raise whole.refusal(self.path)
            self.rows = self._read()
            self._file.truncate(self.mark.size)
            self._file.seek(self.mark.size)
            if self.mark.size == 0:  # else its name reached the disk before that mark
                whole.settle(self.path.parent)
        except BaseException:
            self._close()
            raise

    def append(self, rows: np.ndarray) -> Mark:
        """Append rows of floats and flush them to disk; return the mark that includes them."""
        payload = np.ascontiguousarray(rows, "<f8").data.cast("B") if rows.size else b""
        if len(payload):
            digest = hashlib.sha256(bytes.fromhex(self.mark.digest))
            digest.update(payload)
            try:
                self._file.write(FRAME.pack(len(payload), digest.digest()))
                self._file.write(payload)
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError as error:
                raise self._unwritable(error) from error
            size = self.mark.size + FRAME.size + len(payload)
            self.mark = Mark(size, digest.hexdigest())
        return self.mark

    def cut(self, mark: Mark) -> None:
        """Return to an earlier mark, the one in the checkpoint."""
        self.mark = mark
        self._file.truncate(mark.size)
        self._file.seek(mark.size)

    def remove(self) -> None:
        """Remove the file, once its content is stored elsewhere."""
        self._close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        with suppress(OSError):  # an error in writing was reported before
            self._file.close()

    def _unwritable(self, error: OSError) -> FileError:
        return FileError(f"cannot write {str(self.path)!r}: {error.strerror}; {whole.ROOM}")

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(
                f"another process is writing {str(self.path)!r}: wait for it, or take another file"
            ) from None
        except OSError:
            pass  # a file system without locks

    def _read(self) -> np.ndarray:
        size = self.path.stat().st_size
        if size < self.mark.size:
            raise self._cut(size)
        pieces = list(self._pieces())
        return np.concatenate(pieces) if pieces else np.empty(0)

    def _pieces(self) -> Iterator[np.ndarray]:
        place, before = 0, bytes(DIGEST)
        while place < self.mark.size:
            length, digest = FRAME.unpack(self._file.read(FRAME.size).ljust(FRAME.size, b"\0"))
            payload = self._file.read(min(length, self.mark.size - place))
            whole_rows = len(payload) == length and length % 8 == 0
            if not whole_rows or hashlib.sha256(before + payload).digest() != digest:
                raise self._edited(place)
            yield np.frombuffer(payload, "<f8").astype(float)
            place, before = place + FRAME.size + length, digest
        if (place, before.hex()) != tuple(self.mark):
            raise self._edited(place)

    def _cut(self, size: int) -> FileError:
        return FileError(
            f"{str(self.path)!r} is cut off or missing: it has {size} of the {self.mark.size} bytes"
            f" that its checkpoint counts, and the two files belong together; {RESTART}"
        )

    def _edited(self, place: int) -> FileError:
        return FileError(
            f"{str(self.path)!r} was edited or damaged at byte {place}, or belongs to another"
            f" checkpoint; {RESTART}"
        )


def is_journal(file: BinaryIO) -> bool:
    """Whether a file is empty or begins like a journal, as far as it was written."""
    file.seek(0)
    lead = file.read(FRAME.size)
    if not lead:
        return True
    length = int.from_bytes(lead[:8], "little")
    if len(lead) < 8 or length == 0 or length % 8 or length >= LONGEST:
        return False
    total, left = hashlib.sha256(bytes(DIGEST)), length
    while left and (some := file.read(min(left, 1 << 20))):
        total.update(some)
        left -= len(some)
    return left > 0 or total.digest() == lead[8:]


def remove_journal(path: Path) -> None:
    """Remove a journal, if there is one; any other file is refused."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file():
        raise whole.refusal(path)
    with path.open("rb") as file:
        ours = is_journal(file)
    if not ours:
        raise whole.refusal(path)
    path.unlink(missing_ok=True)
