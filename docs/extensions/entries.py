"""Entries of the gallery: their parts, and what is stored of them.

An entry is a file ``docs/gallery/NAME.py``: a docstring (title and text), code, and two parts that
begin with the lines ``# ---- picture`` and ``# ---- checks``.  Comment lines below the first of
these describe the picture.  ``NAME = 1000  # quick: 20`` has another value in the tests.

``docs/make/gallery.py`` executes entries and stores in ``docs/gallery/results/NAME``:

    light.png, dark.png   the picture
    viewer.json           what the viewer shows: its header, and its data compressed
    checks.json           the checks, the numbers in the text, the digest of the code
"""

import ast
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

GALLERY = Path(__file__).parents[1] / "gallery"
RESULTS = GALLERY / "results"
THEMES = "light", "dark"
PICTURE, CHECKS = "# ---- picture\n", "# ---- checks\n"
QUICK = re.compile(r"^([\w, ]+ = ).+?  # quick: (.+)$", re.M)
QUICKLY = re.compile(r"  # quick: .+$", re.M)
NUMBER = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Entry:
    """An entry, as it is written."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @cached_property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def _docstring(self) -> ast.Constant:
        first = ast.parse(self.source).body[0]
        if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
            raise ValueError(f"{self.path.name} has no docstring")
        return first.value

    @property
    def title(self) -> str:
        return str(self._docstring.value).split("\n", 1)[0].removesuffix(".")

    @property
    def text(self) -> str:
        """The text in MyST Markdown, with places for numbers, ``{{name}}``."""
        return str(self._docstring.value).split("\n", 1)[1].strip()

    @cached_property
    def parts(self) -> tuple[str, str, str]:
        """The sources of code, picture and checks."""
        lines = self.source.splitlines(keepends=True)
        rest = "".join(lines[self._docstring.end_lineno :])
        try:
            code, rest = rest.split(PICTURE)
            picture, checks = rest.split(CHECKS)
        except ValueError:
            raise ValueError(f"{self.path.name} needs one {PICTURE!r} and one {CHECKS!r}") from None
        return code, picture, checks

    @property
    def description(self) -> str:
        """What is seen in the picture, for those who cannot see it."""
        said = re.match(r"(?:# .*\n)+", self.parts[1])
        if said is None:
            raise ValueError(f"{self.path.name}: comments below {PICTURE!r} describe the picture")
        return " ".join(line.removeprefix("# ") for line in said[0].splitlines())

    @property
    def shown(self) -> tuple[str, str]:
        """The code and the checks, as pages show them."""
        code, picture, checks = (QUICKLY.sub("", part) for part in self.parts)
        picture = re.sub(r"\A(?:# .*\n)+", "", picture)
        return f"{code.strip()}\n\n{picture.strip()}", checks.strip()

    @property
    def digest(self) -> str:
        """The digest of all that is executed: text may change without a new execution."""
        return hashlib.sha256("".join(self.parts).encode()).hexdigest()[:16]

    # ---- what is stored
    @property
    def results(self) -> Path:
        return RESULTS / self.name

    @cached_property
    def stored(self) -> dict[str, Any]:
        """Checks, numbers and digest."""
        return json.loads((self.results / "checks.json").read_text(encoding="utf-8"))

    @property
    def is_current(self) -> bool:
        """Whether the results are those of this code."""
        return (self.results / "checks.json").exists() and self.stored["digest"] == self.digest

    @property
    def filled(self) -> str:
        """The text with the numbers that the entry measured."""
        measured = self.stored["measured"]

        def number(place: re.Match) -> str:
            if place[1] not in measured:
                known = ", ".join(measured) or "none"
                raise ValueError(f"{self.path.name}: {place[0]} is not measured; there are {known}")
            return measured[place[1]]

        return NUMBER.sub(number, self.text)


def entries() -> dict[str, Entry]:
    """Return all entries by name."""
    return {path.stem: Entry(path) for path in sorted(GALLERY.glob("*.py"))}


def quickly(source: str) -> str:
    """Return a source with the values of the tests."""
    return QUICK.sub(r"\1\2", source)
