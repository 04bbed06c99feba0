"""Files that are written completely or not at all, and never through somebody else's file.

``replace`` writes the new content under another name in the same directory, flushes it to disk and
moves it into place: a process killed at any instant leaves the old file or the new one.  The draft
is created exclusively, so that no link and no foreign file of its name is ever written to.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from polhode.errors import FileError

ROOM = "its directory must exist, be writable and have room for it"
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
START = 8  # bytes by which our own files are recognised


def replace(path: Path, pieces: Sequence[bytes | memoryview], what: str) -> None:
    """Replace a file by the pieces, joined; a failure leaves nothing behind.

    ``what`` it is in messages, such as "the checkpoint".
    """
    draft = draft_of(path)
    try:
        handle = create(draft, bytes(pieces[0][:START]))
        try:
            with os.fdopen(handle, "wb") as file:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"cannot write {what} {str(path)!r}: {error.strerror}; {ROOM}") from error
    settle(path.parent)


def draft_of(path: Path) -> Path:
    """Return the name of a draft: always the same, so that killed processes leave one at most."""
    return path.with_name(f".{path.name}.part")


def create(path: Path, start: bytes) -> int:
    """Create a file that does not exist yet, and return its descriptor.

    What a killed process left is replaced: a file that begins with ``start``, or was cut off there.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINKS
    try:
        return os.open(path, flags, 0o666)
    except FileExistsError:
        remove_own(path, start)
        return os.open(path, flags, 0o666)


def remove_own(path: Path, start: bytes) -> None:
    """Remove a file of ours, if it is there; one that does not begin with ``start`` is refused."""
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(about.st_mode):
        raise refusal(path)
    handle = os.open(path, os.O_RDONLY | NO_LINKS)
    try:
        found = os.read(handle, START)
    finally:
        os.close(handle)
    if not start.startswith(found):
        raise refusal(path)
    path.unlink(missing_ok=True)


def refusal(path: Path) -> FileError:
    """Return the error for a file in the way that this library did not write."""
    kind = "a link" if path.is_symlink() else "not a file of this library"
    return FileError(
        f"{str(path)!r} is in the way and is {kind}: move it away, or use another name"
    )


def settle(directory: Path) -> None:
    """Flush a directory's list of files to disk, where that is possible."""
    if os.name == "nt":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
