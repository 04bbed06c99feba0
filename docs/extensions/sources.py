"""Pages of source code, and links from formulas to the lines that carry their numbers.

``{source}`kernels/so3.py` `` is a link to the page of a file of the package,
``{source}`examples/tops.py` `` to one of another folder.
``{formula}`kernels/so3.py 3` `` is a link to the line with the number (3): one whose comment
has it, or else the line of the docstring that ends in it.
``{formula}`kernels/so3.py exp` `` is a link to a function, for a formula that is all of it.
If there is no such line, the build fails.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "polhode"
FOLDERS = ("examples", "design", "docs", "tests", "src")
log = logging.getLogger(__name__)


def file_of(name: str) -> Path:
    """Return the file that a name of the page of source code means."""
    return (ROOT if name.startswith(FOLDERS) else PACKAGE) / name


@cache
def text_of(name: str) -> str:
    return file_of(name).read_text(encoding="utf-8")


@cache
def lines_of(name: str) -> dict[str, int]:
    """Number of a formula, or name of a function -> line that carries it, from 1."""
    code: dict[str, int] = {}
    words: dict[str, int] = {}
    for place, line in enumerate(text_of(name).splitlines(), 1):
        comment = re.search(r"#.*$|//.*$", line)
        if comment:
            for number in re.findall(r"\((\d+)\)", comment[0]):
                code.setdefault(number, place)
        defined = re.match(r" *def (\w+)\(", line)
        if defined:
            words.setdefault(defined[1], place)
        written = re.search(r"\((\d+)\)$", line)
        if written:
            words.setdefault(written[1], place)
    return words | code


def link(role: SphinxRole, name: str, text: nodes.Node, line: int = 0) -> nodes.Node:
    """Return a link to a page of source code, which is then made."""
    env = role.env
    if not hasattr(env, "source_pages"):
        env.source_pages = {}
    env.source_pages.setdefault(env.docname, set()).add(name)
    node = nodes.reference("", "", text, internal=True, classes=["source-link"])
    node["source_page"], node["source_line"] = name, line
    return node


class Source(SphinxRole):
    """A link to a file."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name = self.text
        text = nodes.literal(name, name)
        if not file_of(name).is_file():
            log.warning("there is no file %s", name, location=self.get_location())
            return [text], []
        return [link(self, name, text)], []


class Formula(SphinxRole):
    """Links to the lines with the numbers of formulas."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name, _, numbers = self.text.partition(" ")
        found: list[nodes.Node] = []
        if not file_of(name).is_file():
            log.warning("there is no file %s", name, location=self.get_location())
            return [nodes.literal(name, name)], []
        for place, number in enumerate(re.findall(r"\w+", numbers)):
            line = lines_of(name).get(number)
            which = f"({number})" if number.isdigit() else number
            shown = f"{name} {which}" if place == 0 else which
            if line is None:
                log.warning("%s has no formula %s", name, which, location=self.get_location())
                continue
            if place:
                found.append(nodes.Text(", "))
            text = nodes.inline("", shown)
            found.append(link(self, name, text, line))
            found[-1]["classes"].append("formula-link")
        if not found:
            log.warning("name a formula: %s 1", name, location=self.get_location())
        return found, []


# ---- the pages
def page_of(name: str) -> str:
    return f"source/{name.removesuffix('.py')}"


def resolve(app: Sphinx, tree: nodes.document, docname: str) -> None:
    """Fill in the addresses, which depend on the page that has the link."""
    for node in tree.findall(nodes.reference):
        if "source_page" in node:
            address = app.builder.get_relative_uri(docname, page_of(node["source_page"]))
            line = node["source_line"]
            node["refuri"] = f"{address}#L-{line}" if line else address


def pages(app: Sphinx) -> Any:
    """Yield the pages of the files that others link to."""
    wanted: dict[str, set[str]] = {}
    for docname, names in getattr(app.env, "source_pages", {}).items():
        for name in names:
            wanted.setdefault(name, set()).add(docname)
    for name in sorted(wanted):
        language = {".py": "python", ".toml": "toml", ".c": "c"}.get(Path(name).suffix, "text")
        code = app.builder.highlighter.highlight_block(
            text_of(name), language, linenos="inline", linespans="L"
        )
        cited = ", ".join(
            f'<a href="{app.builder.get_relative_uri(page_of(name), place)}">{title}</a>'
            for place in sorted(wanted[name])
            if (title := app.env.titles[place].astext())
        )
        body = (
            f'<section class="source-page"><h1>{name}</h1><p>Cited in {cited}.</p>{code}</section>'
        )
        yield page_of(name), {"title": name, "body": body}, "page.html"


def forget(app: Sphinx, env: Any, docname: str) -> None:
    getattr(env, "source_pages", {}).pop(docname, None)


def merge(app: Sphinx, env: Any, docnames: set[str], other: Any) -> None:
    if not hasattr(env, "source_pages"):
        env.source_pages = {}
    env.source_pages.update(getattr(other, "source_pages", {}))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("source", Source())
    app.add_role("formula", Formula())
    app.connect("doctree-resolved", resolve)
    app.connect("html-collect-pages", pages)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
