"""Where stores lie: made under another name, moved into place, and removed only if they are ours.

Every store has a mark among its attributes: the number of the run that made it.  A directory
without one, or with anything in it that this library does not write, is never removed; what a
checkpoint names is cleared only if it has the mark of the same run.
"""

import json
import os
import re
import secrets
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from polhode.errors import FileError, InputError
from polhode.files.whole import settle

ATTRIBUTES, MARK = ".zattrs", "run"  # the file, and the attribute in it
MOST = 1 << 22  # bytes that attributes may be long
LIST = ".contents"  # of all files, with checksums
GROUP_FILE = re.compile(r"\.zattrs|\.zgroup|\.zmetadata|\.contents")
ARRAY_FILE = re.compile(r"\.zarray|\.zattrs|\d+(\.\d+)*")
PARTIAL = (".partial", ".part")  # how names of files end that are being written
RUN = re.compile(r"[0-9a-f]{32}")


def new_run() -> str:
    """Return a number for a run that no other has."""
    return secrets.token_hex(16)


def run_of(place: Path) -> str | None:
    """Return the number of the run that made a store; None if it has no mark."""
    file = place / ATTRIBUTES
    if place.is_symlink() or file.is_symlink() or not file.is_file():
        return None
    if file.stat().st_size > MOST:
        return None
    try:
        run = json.loads(file.read_bytes())[MARK]
        return run if RUN.fullmatch(run) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def check_place(path: str | os.PathLike) -> Path:
    """Refuse a path for a new store where something else is; a store with a mark is replaced."""
    try:
        place = Path(path)
    except TypeError:
        raise InputError(f"out must be the name of a Zarr store, got {path!r}") from None
    if place.suffix != ".zarr":
        raise FileError(f"out must be the name of a Zarr store, ending in .zarr, got {str(path)!r}")
    if not place.parent.is_dir():
        raise FileError(f"there is no directory {str(place.parent)!r} to write {place.name!r} into")
    if not os.path.lexists(place):
        return place
    is_empty = place.is_dir() and not place.is_symlink() and not any(place.iterdir())
    if not is_empty:
        if run_of(place) is None:
            raise FileError(
                f"{str(path)!r} exists and is not a store that this version of polhode made: give"
                " another name, or remove it"
            )
        entries_of(place)
    return place


def draft_of(place: Path, run: str) -> Path:
    """Return the name under which a run makes its store."""
    return place.with_name(f".{place.name}.{run}.part")


def move_into_place(draft: Path, place: Path) -> None:
    """Give a store its name; an older store there is removed, or an empty directory."""
    settle_files([entry for entry in entries_of(draft) if entry.is_file()], draft)
    check_place(place)
    if place.exists():
        remove(place)
    os.rename(draft, place)
    settle(place.parent)


def clear_remains(place: Path, run: str, confirmed: bool) -> None:
    """Remove what a run left that was killed while it created its store.

    ``confirmed``: the caller named the place, so that another store there is replaced.
    """
    remove_draft(place, run)
    if run_of(place) == run:
        remove(place)
    if os.path.lexists(place) and not confirmed:
        raise FileError(
            f"{str(place)!r} is not a store of this run: move it away, or confirm that it may be"
            " replaced by giving out= again"
        )


def remove_draft(place: Path, run: str) -> None:
    """Remove the draft of a store, which is ours by its name, if it is there."""
    draft = draft_of(place, run)
    if os.path.lexists(draft):
        _remove(draft)


def remove(place: Path) -> None:
    """Remove a store with a mark, or an empty directory."""
    if run_of(place) is None and any(place.iterdir()):
        raise FileError(f"{str(place)!r} is not a store of this library: move it away")
    _remove(place)


def _remove(place: Path) -> None:
    """Remove exactly what this library writes into a store; anything else is refused before."""
    mark, entries = place / ATTRIBUTES, entries_of(place)
    for entry in entries:  # the mark goes last: what is left of a killed removal is still ours
        if entry != mark and not entry.is_dir():
            entry.unlink(missing_ok=True)
    for entry in entries:
        if entry.is_dir():
            entry.rmdir()
    mark.unlink(missing_ok=True)
    place.rmdir()


def settle_files(files: Collection[Path], place: Path) -> None:
    """Flush files of a store to the disk, and then the directories with their names."""
    with ThreadPoolExecutor(8) as pool:  # the disk takes many at once
        list(pool.map(settle, files))
        list(pool.map(settle, {file.parent for file in files} - {place}))
    settle(place)


def remove_partial_files(place: Path) -> None:
    """Remove the files that were being written when a process was killed."""
    for entry in entries_of(place):
        if entry.name.endswith(PARTIAL):
            entry.unlink(missing_ok=True)  # a thread of an interrupted run may just have moved it


def entries_of(place: Path) -> list[Path]:
    """All files and folders of a store; a link, or what this library does not write, is refused."""
    if place.is_symlink() or not place.is_dir():
        raise FileError(f"{str(place)!r} is not a directory of this library: move it away")
    found: list[Path] = []
    for entry in place.iterdir():
        is_folder = entry.is_dir() and not entry.is_symlink()
        inside = list(entry.iterdir()) if is_folder else []
        strange = [x for x in inside if not _is_ours(x, ARRAY_FILE)]
        if strange or not (is_folder or _is_ours(entry, GROUP_FILE)):
            name = [*strange, entry][0].relative_to(place).as_posix()
            raise FileError(
                f"{str(place)!r} holds {name!r}, which this library did not write: move it away,"
                " or give another name"
            )
        found += [entry, *inside]
    return found


def _is_ours(file: Path, names: re.Pattern) -> bool:
    if not os.path.lexists(file):
        return True  # a thread that was interrupted has just renamed it
    known = names.fullmatch(file.name) or file.name.endswith(PARTIAL)
    return bool(known) and file.is_file() and not file.is_symlink()
