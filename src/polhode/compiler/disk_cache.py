"""The disk cache of machine code: where it cannot be kept or is damaged, code is compiled again.

Numba stores compiled functions as pickles beside their source, in ``NUMBA_CACHE_DIR``, or in the
user's cache directory.  Reading one runs code, so a directory that others may write to is not used.
Every entry ends in a digest of its content; one that does not match is compiled again.
"""

import hashlib
import os
import pickle
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

from polhode.errors import PolhodeWarning

DIGEST = hashlib.sha256().digest_size
_warned: set[str] = set()


def open_cache(function: Callable) -> Any:
    """Return the disk cache of a function, or one that stores nothing, after one warning."""
    try:
        cache = DiskCache(function)
    except (RuntimeError, OSError) as error:  # Numba found no directory that it can write to
        _warn("any cache directory", str(error))
        return NullCache()
    if reason := _who_may_write(Path(cache.cache_path), Path(function.__code__.co_filename)):
        _warn(repr(cache.cache_path), reason)
        return NullCache()
    return cache


class DiskCache(FunctionCache):
    """Numba's cache of one function, for which errors of the disk are no reason to stop."""

    def __init__(self, function: Callable):
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = CheckedFile(
            self._cache_path, self._impl.filename_base, locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function; None if it is not there, or damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever the bytes of a damaged file lead to
            self._cache_file.forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled function, if that is possible."""
        try:
            super().save_overload(sig, data)
        except (OSError, ValueError) as error:
            self._cache_file.forget()
            _warn(repr(self.cache_path), getattr(error, "strerror", None) or str(error))


class CheckedFile(IndexDataCacheFile):
    """Cache files whose entries end in a digest of their content."""

    def _dump(self, obj: Any) -> bytes:
        data = super()._dump(obj)
        return data + hashlib.sha256(data).digest()

    def _load_index(self) -> dict:
        with suppress(FileNotFoundError):
            data = Path(self._index_path).read_bytes()
            lead = pickle.dumps(self._version, protocol=-1)
            if data.startswith(lead):
                stamp, entries = pickle.loads(_checked(data[len(lead) :]))
                return entries if stamp == self._source_stamp else {}
        return {}  # there is none, or one of another version

    def _load_data(self, name: str) -> Any:
        return pickle.loads(_checked(Path(self._data_path(name)).read_bytes()))

    def forget(self) -> None:
        """Remove the index, so that entries are written again."""
        with suppress(OSError):
            os.unlink(self._index_path)


def _checked(data: bytes) -> bytes:
    """Return bytes without the digest at their end; it must be theirs."""
    content = data[:-DIGEST]
    if hashlib.sha256(content).digest() != data[-DIGEST:]:
        raise ValueError("the file is damaged")
    return content


def _who_may_write(directory: Path, source: Path) -> str:
    """Return who else may write to a directory, in words; "" if nobody.

    The owner of the source may: they could change the source itself.
    """
    if os.name == "nt":
        return ""
    about = directory.stat()
    trusted = {0, os.geteuid()}
    with suppress(OSError):
        trusted.add(source.stat().st_uid)
    if about.st_uid not in trusted:
        return "it belongs to another user"
    if about.st_mode & stat.S_IWOTH:
        return "everybody may write to it"
    if about.st_mode & stat.S_IWGRP and not _is_private(about.st_gid):
        return "its group may write to it"
    return ""


def _is_private(gid: int) -> bool:
    """Whether a group is that of one user alone, by the convention that it has the user's name."""
    import grp
    import pwd

    try:
        return grp.getgrgid(gid).gr_name in {pwd.getpwuid(os.geteuid()).pw_name, "root"}
    except KeyError:
        return False


def _warn(directory: str, reason: str) -> None:
    if directory in _warned:
        return
    _warned.add(directory)
    warnings.warn(
        f"compiled code cannot be kept in {directory} ({reason}) and is compiled again in every"
        " process: set NUMBA_CACHE_DIR to a directory of your own with free space, or POLHODE_CACHE"
        " to 0 for no cache",
        PolhodeWarning,
        stacklevel=2,
    )
