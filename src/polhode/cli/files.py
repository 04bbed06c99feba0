"""Output files of the commands."""

import os
from collections.abc import Collection
from pathlib import Path

from polhode.errors import FileError


def place(out: Path | None, name: str, suffixes: Collection[str]) -> Path:
    """The file to write: ``out`` if it ends in one of the suffixes, else ``name`` inside it.

    A path that looks like a file of another kind counts as a directory only if it exists.  The
    directory is made if needed and must be writable, so that a long run does not end in vain.
    """
    out = out or Path()
    file = out if out.suffix in suffixes else out / name
    if file is not out and out.suffix[1:2].isalpha() and not out.is_dir():
        raise FileError(
            f"--out {str(out)!r} must end in {' or '.join(suffixes)}, or be a directory; make it"
            " first if it is meant to be one"
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make {str(file.parent)!r}: {error.strerror}") from error
    if not os.access(file.parent, os.W_OK):
        raise FileError(f"cannot write into {str(file.parent)!r}")
    return file
