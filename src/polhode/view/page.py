"""One HTML file with everything in it: the viewer's modules, the header and the data.

The page asks nobody for anything: its content-security policy allows its own scripts and style, by
their hashes, and nothing else.  A short script unpacks the modules, which lie compressed beside the
data, and adds them to the page.  Names and other texts of runs stay data: they lie in a block of
JSON, which no browser runs, and the viewer shows them as text.

The address may end in a theme and a time: ``run.html#theme=dark&time=2.5``.
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
COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*.*?\*/)[ \t]*\n", re.M | re.S)  # whole lines
STYLE = "html,body,#polhode{margin:0;height:100%}body{overflow:hidden}"
START = """
window.polhode = mount(
  document.getElementById("polhode"),
  JSON.parse(document.getElementById("header").textContent),
  await unpack(document.getElementById("data").textContent),
);
const heed = () => {
  const asked = new URLSearchParams(location.hash.slice(1));
  const theme = asked.get("theme"), time = asked.get("time");
  if (["auto", "light", "dark"].includes(theme)) window.polhode.setTheme(theme);
  if (time && Number.isFinite(Number(time))) window.polhode.seek(Number(time));
};
window.addEventListener("hashchange", heed);
heed();
"""
LOADER = """
const place = document.getElementById("polhode");
try {
  const packed = atob(document.getElementById("code").textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = await new Response(stream).text();
  document.head.append(script);
} catch (error) {
  place.textContent = `This page needs a browser of 2023 or newer (${error}).`;
}
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
<script type="application/json" id="code">{code}</script>
<script type="module">{loader}</script>
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
    return COMMENT.sub("", joined if with_default else DEFAULT.sub("", joined))


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


def packed_text(data: bytes) -> str:
    """Return data compressed, in letters that mean nothing in HTML."""
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def planes(data: bytes) -> bytes:
    """Return the first bytes of all words of four, then the second ones, and so on.

    Neighbouring numbers have similar bytes in the same places: a quarter less after compression.
    """
    return b"".join(data[k::4] for k in range(4))


def html_page(packed: Packed, connects: bool = False) -> str:
    """Return the text of a page that shows packed runs.

    ``connects``: it may ask the server from which it comes, and nobody else.
    """
    return page_of(packed.header, packed_text(planes(packed.data)), connects)


def page_of(header: dict[str, Any], data: str, connects: bool = False) -> str:
    """Return the text of a page whose data are text already."""
    script = module(with_default=False) + START
    policy = (
        f"default-src 'none'; script-src {hash_of(LOADER)} {hash_of(script)};"
        f" style-src {hash_of(STYLE)}; base-uri 'none'; form-action 'none'"
    )
    if connects:
        policy += "; connect-src 'self'"
    return PAGE.format(
        policy=policy,
        title=html.escape(header["title"]).encode("utf-8", "replace").decode(),
        style=STYLE,
        header=json_text(header),
        data=data,
        code=packed_text(script.encode()),
        loader=LOADER,
    )
