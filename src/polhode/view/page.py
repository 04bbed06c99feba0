"""One HTML file with everything in it: the viewer's modules, the header and the data.

The page asks nobody for anything: its content-security policy allows its own script and style, by
their hashes, and nothing else.  Names and other texts of runs stay data: they lie in a block of
JSON, which no browser runs, and the viewer shows them as text.
"""

import base64
import gzip
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from polhode.view.packing import Packed

WEB = Path(__file__).with_name("web")
ENTRY = "viewer.js"
IMPORT = re.compile(r'^import\s*\{[^}]*\}\s*from\s*"\./([\w-]+\.js)";[ \t]*\n?', re.M)
EXPORT = re.compile(r"^export (?!default)", re.M)
DEFAULT = re.compile(r"^export default [^;]*;[ \t]*\n?", re.M)
FORBIDDEN = "</script", "<!--", "]]>"  # would end the script, or begin something else
TOKENS = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<template>`(?:\\.|[^`\\])*`)
    |(?P<regex>(?:(?<=[(,=:\[!&|?{;+\-*%~^<>])|(?<=return))[ \t]*
        /(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/)
    |(?P<space>[ \t]*\n\s*)
    """,
    re.X | re.S,
)
STYLE = "html,body,#polhode{margin:0;height:100%}body{overflow:hidden}"
START = """
window.polhode = mount(
document.getElementById("polhode"),
JSON.parse(document.getElementById("header").textContent),
await unpack(document.getElementById("data").textContent),
);
"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="polhode"></div>
<script type="application/json" id="header">{header}</script>
<script type="application/json" id="data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


# ---- the modules
@cache
def module(with_default: bool) -> str:
    """Return all modules of the viewer as one, in the order of their imports.

    ``with_default`` keeps the default export, by which notebooks find the viewer.
    """
    texts: dict[str, str] = {}
    _gather(ENTRY, texts, ())
    joined = "\n".join(EXPORT.sub("", IMPORT.sub("", text)) for text in texts.values())
    joined = shortened(joined if with_default else DEFAULT.sub("", joined))
    for word in FORBIDDEN:
        if word in joined:
            raise ValueError(f"the viewer's modules must not contain {word!r}")
    return joined


def _gather(name: str, texts: dict[str, str], above: tuple[str, ...]) -> None:
    """Collect a module after those that it imports."""
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join([*above, name])}")
    if name in texts:
        return
    text = (WEB / name).read_text(encoding="utf-8")
    for other in IMPORT.findall(text):
        _gather(other, texts, (*above, name))
    texts[name] = text


def shortened(script: str) -> str:
    """Return JavaScript without comments, indentation and empty lines; texts stay as they are."""

    def short(match: re.Match) -> str:
        found = match[0]
        if match["comment"] is not None:
            return "\n" if "\n" in found else " "
        return "\n" if match["space"] is not None else found

    lines = TOKENS.sub(short, script)
    return TOKENS.sub(short, lines).strip() + "\n"


# ---- the page
def json_text(value: Any) -> str:
    """Return JSON that cannot end the block in which it lies."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def hash_of(text: str) -> str:
    """Return the source by which a policy allows an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page(packed: Packed) -> str:
    """Return the text of a page that shows packed runs."""
    script = module(with_default=False) + START
    policy = (
        f"default-src 'none'; script-src {hash_of(script)}; style-src {hash_of(STYLE)};"
        " base-uri 'none'; form-action 'none'"
    )
    return PAGE.format(
        policy=policy,
        title=html.escape(packed.header["title"]),
        style=STYLE,
        header=json_text(packed.header),
        data=base64.b64encode(gzip.compress(packed.data, 9, mtime=0)).decode(),
        script=script,
    )
