"""Files that may come from anywhere: what is looked at before they are believed.

Only files of a disk are opened, never pipes or devices, which may not end.  Headers have the form
that their reader expects, and whatever else a damaged or forged file leads to is one error.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any, BinaryIO

from polhode.errors import FileError

DAMAGE = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, OSError),
    *(RuntimeError, TypeError, ValueError),  # recursion and invalid arguments among them
)
MOST = 2**53  # the largest count
WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # not for a pipe's other end


def open_file(path: str | os.PathLike) -> BinaryIO:
    """Open a file to read all of it.

    Anything else of that name is refused, and so is a file that does not fit into memory.
    """
    try:
        handle = os.open(path, os.O_RDONLY | WAIT)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise FileError(f"cannot read {os.fspath(path)!r}: {why}") from error
    about = os.fstat(handle)
    try:
        if not stat.S_ISREG(about.st_mode):
            what = "a directory" if stat.S_ISDIR(about.st_mode) else "a pipe or a device"
            raise FileError(f"cannot read {os.fspath(path)!r}: it is {what}, not a file")
        check_room(path, about.st_size)
    except FileError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


@contextmanager
def damage_refused(path: str | os.PathLike) -> Iterator[None]:
    """Turn what a damaged or forged file leads to into one error.

    Messages that name the file already are about what the caller gave, and stay.
    """
    try:
        yield
    except FileError:
        raise
    except DAMAGE as error:
        text = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        if repr(str(path)) in text:
            raise
        line = " ".join(text[:300].split())
        raise FileError(f"{str(path)!r} was edited or damaged: {line}") from error


# ---- forms
def check_form(path: str | os.PathLike, value: Any, form: Any, where: str) -> None:
    """Raise an error unless plain data have a form.

    A form is a type (``int``: a count; ``float``: a finite number), None, a range of whole numbers,
    a pattern of texts, a tuple of other forms, ``[form]`` for a list, ``[form, form]`` for a list
    of just these, ``{str: form}`` for names and values, or a dictionary of the forms of the keys
    that must be there; one whose form is among others with ``...`` need not be there.
    """
    if (place := _misfit(value, form, where)) is not None:
        raise FileError(f"{str(path)!r} was edited or damaged: its {place} is not what it must be")


def has_form(value: Any, form: Any) -> bool:
    """Whether plain data have a form."""
    return _misfit(value, form, "") is None


def _misfit(value: Any, form: Any, where: str) -> str | None:
    """Return where a value does not have the form, if anywhere."""
    if isinstance(form, tuple):
        found = [place for one in form if (place := _misfit(value, one, where))]
        return max(found, key=len) if len(found) == len(form) else None  # the one furthest inside
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return where
        forms = dict.fromkeys(value, form[str]) if str in form else form
        inner = ((value.get(key, ...), one, f"{where}.{key}") for key, one in forms.items())
    elif isinstance(form, list):
        if not isinstance(value, list) or len(value) != len(form) > 1:
            return where
        parts = zip(value, form if len(form) > 1 else form * len(value), strict=True)
        inner = ((part, one, f"{where}[{k}]") for k, (part, one) in enumerate(parts))
    else:
        return None if _is_a(value, form) else where
    return next(filter(None, (_misfit(*one) for one in inner)), None)


def _is_a(value: Any, form: Any) -> bool:
    if isinstance(form, range):
        return type(value) is int and value in form
    if isinstance(form, re.Pattern):
        return type(value) is str and form.fullmatch(value) is not None
    if form is int:
        return type(value) is int and 0 <= value <= MOST
    if form is float:
        return type(value) in (int, float) and abs(value) <= 1e308 and isfinite(value)
    return value is form if form is None or form is ... else type(value) is form


# ---- memory
def memory() -> int:
    """Return the memory of this machine in bytes; a terabyte if it is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 10**12


def shortage(size: float) -> str:
    """Return how many bytes are needed and there, if they do not fit into memory; else nothing."""
    room = memory()
    return f"{size / 1e9:.3g} GB, with {room / 1e9:.3g} GB of memory" if size > room else ""


def check_room(path: str | os.PathLike, size: int) -> None:
    """Raise an error if what a file declares does not fit into memory."""
    if short := shortage(size):
        raise FileError(f"{str(path)!r} declares {short}: it is damaged, or for a larger machine")
