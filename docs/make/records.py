"""Write everything that follows from the registries: ``python docs/make/records.py [--check]``.

The pages of methods and benchmarks, the tables in other pages, and the stubs for type checkers.
``--check`` writes nothing, lists the files that are not current, and fails if there are any.
"""

import sys
from pathlib import Path

import benchmarks
import stubs
import tables

import methods

COMMAND = "python docs/make/records.py"


def stale() -> dict[Path, str]:
    """The files that are not current, and what should be in them."""
    found = methods.pages() | benchmarks.pages() | tables.pages() | stubs.pages()
    return {
        file: text
        for file, text in found.items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    }


def main() -> int:
    check = "--check" in sys.argv[1:]
    found = stale()
    for file, text in found.items():
        if not check:
            file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{'not current' if check else 'wrote'}: {file.name}\n")
    if check and found:
        sys.stdout.write(f"run {COMMAND}\n")
    return int(check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
