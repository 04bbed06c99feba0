"""Formulas, set by KaTeX when the site is built: pages need no script for them, and a formula that
KaTeX does not understand is a warning, which fails a strict build.
"""

import shutil
from functools import cache
from typing import Any

import dukpy
import katex
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging

MACROS = {
    r"\vec": r"\boldsymbol{#1}",
    r"\d": r"\mathrm{d}",
    r"\e": r"\mathrm{e}",
    r"\i": r"\mathrm{i}",
    r"\T": r"{\mathsf{T}}",
    r"\inv": r"#1^{-1}",
    r"\norm": r"\lVert #1\rVert",
    r"\abs": r"\lvert #1\rvert",
    r"\R": r"\mathbb{R}",
    r"\dexp": r"\operatorname{dexp}",
    r"\ad": r"\operatorname{ad}",
    r"\sn": r"\operatorname{sn}",
    r"\cn": r"\operatorname{cn}",
    r"\dn": r"\operatorname{dn}",
}
STYLE = "katex/katex.min.css"


@cache
def engine() -> dukpy.JSInterpreter:
    """Return JavaScript with KaTeX loaded."""
    interpreter = dukpy.JSInterpreter()
    interpreter.evaljs((katex.fetched() / "katex.min.js").read_text(encoding="utf-8") + ";1")
    return interpreter


@cache
def rendered(tex: str, display: bool) -> str:
    """Return a formula as HTML and MathML."""
    options = {"displayMode": display, "throwOnError": True, "strict": "error", "macros": MACROS}
    return str(engine().evaljs("katex.renderToString(dukpy.tex, dukpy.o)", tex=tex, o=options))


def checked(node: nodes.Element, display: bool) -> str:
    """Return a formula as HTML; a warning says where one is wrong."""
    tex = node.astext()
    try:
        return rendered(tex, display)
    except dukpy.JSRuntimeError as error:
        first = str(error).splitlines()[0]
        logging.getLogger(__name__).warning("%s: %s", tex, first, location=node)
        return f"<code>{nodes.fully_normalize_name(tex)}</code>"


def visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(f'<span class="math">{checked(node, False)}</span>')
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node.get("number"):
        writer.body.append(f'<span class="eqno">({node["number"]})')
        writer.add_permalink_ref(node, _("Link to this equation"))
        writer.body.append("</span>")
    writer.body.append(f"{checked(node, True)}</div>\n")
    raise nodes.SkipNode


def add_style(app: Sphinx, name: str, template: str, context: dict, tree: Any) -> None:
    """Give KaTeX's style to the pages that have formulas."""
    if tree is not None and (any(tree.findall(nodes.math)) or any(tree.findall(nodes.math_block))):
        app.add_css_file(STYLE)


def copy_fonts(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        target = app.outdir / "_static" / "katex"
        shutil.copytree(katex.fetched(), target, dirs_exist_ok=True)
        (target / "katex.min.js").unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.connect("html-page-context", add_style)
    app.connect("build-finished", copy_fonts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
