"""Links from names in texts to their pages: ``ph.solve``, and the names of methods.

Names in other literals, in headings and in links stay as they are.  A name that begins with ``ph.``
and is no public name is a warning.
"""

import re
from functools import cache

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

import polhode as ph
from extensions import python_names, registries

PUBLIC = re.compile(r"ph\.(\w+)((?:\.\w+)*)(?:\(.*\))?$", re.DOTALL)
KINDS = "methods", "integrators", "formulations", "coordinates", "problems"
WORDS = ("gauss", "generator", "quaternion", "rotor", "satellite", "free")  # of English, too
AROUND = nodes.reference, nodes.title, nodes.literal_block
log = logging.getLogger(__name__)


@cache
def pages() -> dict[str, str]:
    """Name of an entry -> its page."""
    found: dict[str, str] = {}
    for kind, name in registries.every():
        if kind in KINDS and name not in WORDS:
            found.setdefault(name, registries.page_name(kind, name).removesuffix(".md"))
    return found


def address(app: Sphinx, docname: str, text: str) -> str:
    """Return the address of the page of a name, or nothing."""
    public = PUBLIC.match(text)
    if public and public[1] in ph.__all__:
        page = f"{python_names.FOLDER}/{public[1].strip('_')}"
        anchor = f"#polhode.{public[1]}{public[2]}" if known(public[1], public[2]) else ""
        return app.builder.get_relative_uri(docname, page) + anchor
    if text in pages():
        return app.builder.get_relative_uri(docname, pages()[text])
    return ""


def known(name: str, rest: str) -> bool:
    """Whether the page has an anchor for a member."""
    made = getattr(ph, name)
    is_class = isinstance(made, type) and rest.count(".") == 1
    return is_class and callable(getattr(made, rest[1:], None))


def link(app: Sphinx, tree: nodes.document, docname: str) -> None:
    if docname.startswith((python_names.FOLDER, "source/")):
        return
    for node in list(tree.findall(nodes.literal)):
        if isinstance(node.parent, AROUND) or any_title(node):
            continue
        found = address(app, docname, node.astext())
        if found and not found.startswith("#"):
            place = nodes.reference("", "", node.deepcopy(), internal=True, refuri=found)
            place["classes"].append("name-link")
            node.replace_self(place)


def any_title(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, AROUND):
            return True
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
