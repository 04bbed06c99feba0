"""Registries that find their own files: one file, one entry, and no list of names anywhere.

A package with a registry holds one file for each entry.  A file that belongs to it has a line
``PLACE = 120``: entries are listed in the order of these numbers, and a new one takes any number
between those of its neighbours.  Files without ``PLACE``, and files whose names begin with an
underscore, are helpers.  An entry in a file without ``PLACE`` would never be found, and one with a
name that is taken would replace another, so both are errors.

What an entry is depends on the package: a record (``METHOD = Method(...)``), or the function that
has the name of the file (``def heavy_top(...)`` in ``heavy_top.py``).  A file with several entries
has ``METHODS``, a mapping from names to functions without arguments that make the records.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


def file_names(package: str) -> list[str]:
    """The names of the modules of ``package`` that may hold an entry; nothing is imported."""
    names = [found.name for found in iter_modules(import_module(package).__path__)]
    return [name for name in names if not name.startswith("_")]


def entry_files(package: str) -> Iterator[ModuleType]:
    """The modules of ``package`` that hold an entry, in the order of their ``PLACE``."""
    yield from sorted((m for m in _modules(package) if hasattr(m, "PLACE")), key=_place)


def _modules(package: str) -> Iterator[ModuleType]:
    return (import_module(f"{package}.{name}") for name in file_names(package))


def _place(module: ModuleType) -> tuple[float, str]:
    return module.PLACE, module.__name__


def makers(module: ModuleType, kind: str) -> Mapping[str, Callable[[], Any]]:
    """Name -> function that makes the record, of the entries of one ``kind`` in a file.

    ``kind`` is the name of a single record, ``METHOD``; that of a mapping of several adds an S.
    """
    if hasattr(module, kind):
        record = getattr(module, kind)
        return {record.name: lambda: record}
    return getattr(module, f"{kind}S", {})


def all_makers(package: str, *kinds: str) -> tuple[dict[str, Callable[[], Any]], ...]:
    """``makers`` of all files of a package, a dictionary for each of ``kinds``."""
    found: tuple[dict[str, Callable[[], Any]], ...] = tuple({} for _ in kinds)
    files: dict[str, str] = {}
    for module in _modules(package):
        if not hasattr(module, "PLACE") and any(makers(module, kind) for kind in kinds):
            raise _without_place(module, "a record")
    for module in entry_files(package):
        made = [makers(module, kind) for kind in kinds]
        if not any(made):
            raise ImportError(f"{module.__name__} has PLACE, but no {' or '.join(kinds)}")
        for entries, of_file in zip(found, made, strict=True):
            for name, make in of_file.items():
                file = files.setdefault(name, module.__name__)
                if file != module.__name__:
                    both = f"{file} and {module.__name__}"
                    raise ImportError(f"{both} have the same name {name!r}; rename one of them")
                entries[name] = make
    return found


def _without_place(module: ModuleType, entry: str) -> ImportError:
    return ImportError(
        f"{module.__name__} has {entry}, but no PLACE; add a line such as PLACE = 45, or begin the"
        " name of the file with an underscore if it is a helper"
    )


def records(package: str, *kinds: str) -> tuple[dict[str, Any], ...]:
    """The records of a package by name, a dictionary for each of ``kinds``."""
    return tuple(
        {name: make() for name, make in entries.items()} for entries in all_makers(package, *kinds)
    )


def functions(package: str) -> dict[str, Callable]:
    """The functions that have the names of their files, by name."""
    for module in _modules(package):
        name = _file_name(module)
        if not hasattr(module, "PLACE") and hasattr(module, name):
            raise _without_place(module, f"a function {name}")
    found = {}
    for module in entry_files(package):
        name = _file_name(module)
        if not callable(getattr(module, name, None)):
            raise ImportError(f"{module.__name__} has PLACE, but no function {name}")
        found[name] = getattr(module, name)
    return found


def _file_name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]
