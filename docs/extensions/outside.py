"""Links from pages to files outside of ``docs``.

On GitHub they lead to the file.  Here the pages of the repository (CONTRIBUTING, CHANGELOG) are
pages of the site, and every other file is a page of source code.
"""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

from extensions import writing
from extensions.writing import DOCS, ROOT

LINK = re.compile(r"\[([^\]]*)\]\((\.\.?/[^)#\s]*)(#[^)\s]*)?\)")
RELATIVE = re.compile(r"\]\((?!https?:|#)")
PAGES = {"CONTRIBUTING.md": "project/contributing.md", "CHANGELOG.md": "project/changes.md"}


def write(app: Sphinx) -> None:
    """Make pages of the site of those of the repository."""
    texts = {page: (ROOT / name).read_text(encoding="utf-8") for name, page in PAGES.items()}
    made = {page: RELATIVE.sub("](../../", text) for page, text in texts.items()}
    writing.write(made, "project")


def inside(text: str, folder: Path) -> str:
    """Return the text of a page with links to pages of the site in place of links to files."""

    def changed(found: re.Match) -> str:
        words, place, anchor = found[1], found[2], found[3] or ""
        target = Path(os.path.normpath(folder / place))
        if target.is_relative_to(DOCS) or not target.is_relative_to(ROOT):
            return found[0]
        name = str(target.relative_to(ROOT))
        if name in PAGES:
            return f"[{words}]({os.path.relpath(DOCS / PAGES[name], folder)}{anchor})"
        if not target.is_file():
            return words
        return f"{words} ({{source}}`{name.removeprefix('src/polhode/')}`)"

    return LINK.sub(changed, text)


def replace(app: Sphinx, docname: str, content: list[str]) -> None:
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md":
        content[0] = inside(content[0], page.parent)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    app.connect("source-read", replace)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
