"""Numbers in the cells of tables stay on one line: browsers would break ``5e-14`` at its sign."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SHORT = re.compile(r"\S{1,12}( \S{1,3})?")  # a number, perhaps with a unit


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Give cells that hold one number a class."""
    for cell in doctree.findall(nodes.entry):
        text = cell.astext().strip()
        if SHORT.fullmatch(text) and any(sign.isdigit() for sign in text):
            cell["classes"].append("number")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
