"""The gallery in the site, a Sphinx extension: pages and cards from stored results.

An entry, ``docs/gallery/NAME.py``, is a page itself: Sphinx reads the file, and gets a text in MyST
Markdown instead of it.  Nothing is executed.  The directive ``gallery`` draws cards of the entries
that it names, and lists them in the navigation under the title of their section.  After the build,
the viewers and the pictures of the cards lie in ``_static/gallery``.
"""

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from entries import Entry, entries
from pages import STATIC, cards, page, write_static
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = "gallery/"
STYLE = """\
.gallery-cards { display: grid; gap: 1rem; margin: 1rem 0 2rem;
  grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); }
.gallery-cards a { display: flex; flex-direction: column; overflow: hidden; border-radius: .4rem;
  border: 1px solid var(--pst-color-border); text-decoration: none; }
.gallery-cards a:hover,
.gallery-cards a:focus-visible { border-color: var(--pst-color-link-hover); }
.gallery-cards img { width: 100%; aspect-ratio: 3 / 2; }
.gallery-cards span { padding: .4rem .7rem .6rem; font-weight: 600; line-height: 1.25; }
html[data-theme="dark"] .gallery-light,
html:not([data-theme="dark"]) .gallery-dark { display: none; }
.gallery-viewer { width: 100%; height: min(30rem, 85vh); margin: .5rem 0 0; border-radius: .4rem;
  border: 1px solid var(--pst-color-border); }
.bd-content .gallery-picture.gallery-picture { width: 100%; max-width: 65rem; padding: 0;
  background: none; border-radius: 0; }
.gallery-checks summary { cursor: pointer; }
"""
SCRIPT = """\
const frames = () => document.querySelectorAll("iframe.gallery-viewer");
const follow = () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  for (const frame of frames()) {
    const [page, asked] = frame.src.split("#"), time = asked.split("&")[0];
    if (frame.dataset.theme === theme) continue;
    const first = !frame.dataset.theme;
    frame.dataset.theme = theme;
    if (first && theme === system) continue; // the viewer finds that by itself
    if (frame.dataset.loaded) frame.contentWindow.location.replace(`${page}#theme=${theme}`);
    else frame.src = `${page}#${time}&theme=${theme}`;
  }
};
new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ["data-theme"] });
document.addEventListener("DOMContentLoaded", () => {
  for (const frame of frames())
    frame.addEventListener("load", () => (frame.dataset.loaded = "yes"));
  follow();
});
"""


class Gallery(SphinxDirective):
    """Cards of the entries that it names, one on a line."""

    has_content = True
    known: ClassVar[dict[str, Entry]] = {}

    def run(self) -> list[nodes.Node]:
        names = [line.strip() for line in self.content if line.strip()]
        unknown = [name for name in names if name not in self.known]
        if unknown:
            raise self.error(f"there is no entry {unknown[0]!r} in docs/gallery")
        return [
            nodes.raw("", cards([self.known[name] for name in names]), format="html"),
            self._contents([FOLDER + name for name in names]),
        ]

    def _contents(self, documents: list[str]) -> nodes.Node:
        """A hidden table of contents."""
        tree = addnodes.toctree(
            parent=self.env.docname, entries=[(None, name) for name in documents],
            includefiles=documents, maxdepth=-1, caption=None, glob=False, hidden=True,
            includehidden=False, numbered=0, titlesonly=False,
        )  # fmt: skip
        return nodes.compound("", tree, classes=["toctree-wrapper"])


def caption(app: Sphinx, doctree: nodes.document) -> None:
    """Call each table of contents of the gallery as its section."""
    if app.env.docname == f"{FOLDER}index":
        for tree in doctree.findall(addnodes.toctree):
            section = tree.parent.parent
            tree["caption"] = tree["rawcaption"] = section[0].astext()


def read(app: Sphinx, docname: str, content: list[str]) -> None:
    """Give Sphinx the page of an entry instead of its code."""
    name = docname.removeprefix(FOLDER)
    if docname.startswith(FOLDER) and name in Gallery.known:
        entry = Gallery.known[name]
        content[0] = page(entry)
        app.env.note_dependency(str(entry.results / "checks.json"))


def configure(app: Sphinx, config: Any) -> None:
    """Read only the entries of all Python files."""
    Gallery.known = entries()
    config.exclude_patterns += ["conf.py", "make/**", "extensions/**", "gallery/results/**"]


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write what pages of the site show beside their text."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, STATIC)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gallery.css").write_text(STYLE, encoding="utf-8")
    (folder / "gallery.js").write_text(SCRIPT, encoding="utf-8")
    for entry in Gallery.known.values():
        write_static(entry, folder)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_source_suffix(".py", "markdown")
    app.add_directive("gallery", Gallery)
    app.add_css_file("gallery/gallery.css")
    app.add_js_file("gallery/gallery.js")
    app.connect("config-inited", configure)
    app.connect("source-read", read)
    app.connect("doctree-read", caption, priority=400)  # before Sphinx collects them
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
