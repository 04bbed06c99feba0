"""Cells of tables: numbers stay on one line, and words get room.

Browsers would break ``5e-14`` at its sign, and set sentences in columns of one word on phones.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SHORT = re.compile(  # with a sign or a unit, or several
    r"\S{1,12}( \S{1,6})?|[\d.e-]+( [/…] [\d.e-]+){1,2}"
)
SENTENCE = 36  # characters


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Give cells that hold a number or a sentence a class."""
    for cell in doctree.findall(nodes.entry):
        text = cell.astext().strip()
        if SHORT.fullmatch(text) and any(sign.isdigit() for sign in text):
            cell["classes"].append("number")
        elif len(text) >= SENTENCE:
            cell["classes"].append("words")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
