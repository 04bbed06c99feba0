"""Pages that are made before Sphinx reads the folder, and written only where they change."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
HAND_WRITTEN = ("start", "guide", "theory", "peers", "papers", "gallery", "reference")
MARK = "made by docs/extensions"


def write(pages: Mapping[str, str], *folders: str) -> None:
    """Write pages by name, and remove what is left of others in their folders."""
    kept = set()
    for name, text in pages.items():
        page = DOCS / name
        kept.add(page)
        page.parent.mkdir(parents=True, exist_ok=True)
        marked = f".. {MARK}\n\n{text}" if page.suffix == ".rst" else f"% {MARK}\n\n{text}"
        if not page.exists() or page.read_text(encoding="utf-8") != marked:
            page.write_text(marked, encoding="utf-8")
    for folder in folders:
        for page in (DOCS / folder).rglob("*.*"):
            if page not in kept and page.suffix in (".md", ".rst"):
                page.unlink()


def is_made(page: Path) -> bool:
    """Whether a page was made by these extensions."""
    return MARK in page.read_text(encoding="utf-8")[:60]


@cache
def hand_written() -> dict[str, str]:
    """Name -> text of the pages that people wrote, in the order in which they are read."""
    found = {}
    for folder in HAND_WRITTEN:
        for page in sorted((DOCS / folder).rglob("*.md")):
            text = page.read_text(encoding="utf-8")
            if MARK not in text[:60]:
                found[str(page.relative_to(DOCS))] = text
    return found


@cache
def title(name: str) -> str:
    """The title of a page."""
    start = re.search(r"^# (.*)$", hand_written()[name], re.MULTILINE)
    return start[1].replace("`", "") if start else name


def mentioning(pattern: str, most: int = 6) -> list[str]:
    """The pages whose text matches: guides first, and of these those that match most often."""
    counts = {name: len(re.findall(pattern, text)) for name, text in hand_written().items()}
    skipped = ("reference/benchmarks.md", "reference/methods.md", "reference/architecture.md")
    found = [name for name, count in counts.items() if count and name not in skipped]
    order = ("start", "guide", "theory", "reference", "peers", "papers", "gallery")
    places = {folder: max(place - 1, 0) for place, folder in enumerate(order)}
    return sorted(found, key=lambda name: (places[name.split("/")[0]], -counts[name]))[:most]


def heading(text: str, mark: str = "=") -> list[str]:
    return [text, mark * len(text), ""]


def toctree(names: Iterable[str], *options: str) -> Iterator[str]:
    yield from (".. toctree::", *(f"   :{option}:" for option in ("hidden", *options)), "")
    yield from (f"   {name}" for name in names)
    yield ""
