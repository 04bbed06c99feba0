"""The papers behind the methods and problems, from ``references.bib``."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from polhode._version import __version__
from polhode.errors import InputError

SOFTWARE = f"""@software{{polhode,
  author  = {{{{The polhode developers}}}},
  title   = {{polhode: the motion of rigid bodies}},
  version = {{{__version__}}},
  year    = {{2026}},
}}"""

_ENTRY = re.compile(r"^@\w+\{([^,]+),\n.*?^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", re.MULTILINE)


@cache
def bibliography() -> Mapping[str, str]:
    """Return every entry of the bibliography as BibTeX, by key."""
    text = (files("polhode.references") / "references.bib").read_text(encoding="utf-8")
    return MappingProxyType({match[1]: match[0] for match in _ENTRY.finditer(text)})


def bibtex(key: str) -> str:
    """Return the BibTeX entry of ``key``."""
    if key not in bibliography():
        close = get_close_matches(key, bibliography(), n=3)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise InputError(f"reference must be one of {', '.join(bibliography())}, got {key!r}{hint}")
    return bibliography()[key]


def citation(key: str) -> str:
    """Return one line: authors (year), title, journal, volume, pages, DOI."""
    return _line(fields(bibtex(key)))


def software_citation() -> str:
    """Return one line that cites this library."""
    return _line(fields(SOFTWARE))


def fields(entry: str) -> dict[str, str]:
    """Return the fields of a BibTeX entry as plain text."""
    return {
        name: value.replace("{", "").replace("}", "").replace("--", "–")
        for name, value in _FIELD.findall(entry)
    }


def _line(of: Mapping[str, str]) -> str:
    text = f"{_authors(of['author'])} ({of['year']}). {of['title']}."
    if "version" in of:
        text += f" Version {of['version']}."
    if "journal" in of:
        number = f"({of['number']})" if "number" in of else ""
        text += f" {of['journal']} {of['volume']}{number}, {of['pages']}."
    if "publisher" in of:
        series = f" {of['series']} {of['volume']}," if "series" in of else ""
        text += f"{series} {of['edition']} edition. {of['publisher']}."
    if "howpublished" in of:
        text += f" {of['howpublished']}."
    if "note" in of:
        text += f" {of['note'].capitalize()}."
    return text + (f" https://doi.org/{of['doi']}" if "doi" in of else "")


def _authors(text: str) -> str:
    names = [" ".join(reversed(name.split(", "))) for name in text.split(" and ")]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
