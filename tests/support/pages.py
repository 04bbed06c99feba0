"""The pages of the docs, their blocks of code, and what they need."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = "made by docs/extensions"  # in the first line of pages that the site makes
CONTINUED = "start", "peers"  # folders whose blocks continue the one before
FENCE = re.compile(r"^```(\w*) ?(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """The pages that people wrote."""
    found = sorted(DOCS.rglob("*.md"))
    return [page for page in found if MADE not in page.read_text(encoding="utf-8")[:60]]


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """(language, the package that it needs, code) of each block of a page."""
    for found in FENCE.finditer(page.read_text(encoding="utf-8")):
        yield found[1], found[2], found[3]


def is_installed(package: str) -> bool:
    return not package or importlib.util.find_spec(package) is not None


def is_continued(page: Path) -> bool:
    return page.parent.name in CONTINUED


def commands(page: Path) -> Iterator[str]:
    """The lines of a page that call ``polhode``, without comments."""
    console = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            console = line == "```console"
        found = re.match(r" *(polhode [a-z].*?)(?:\s{2,}#.*)?$", line)
        if found and (console or line.startswith("    ")):
            yield found[1].removesuffix("\\")
