"""The site as it is built: its links, what it loads, and how it looks in a browser without a net.

``POLHODE_SITE`` names a site that is there already; otherwise it is built, where the extra ``docs``
is installed.
"""

import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from support import browser as web
from support.pages import DOCS, ROOT, pages

NEEDED = "sphinx", "myst_parser", "pydata_sphinx_theme", "numpydoc", "dukpy"
LOADED = {  # what a browser fetches by itself
    **dict.fromkeys(("img", "script", "iframe", "source", "video", "audio"), ("src", "srcset")),
    "link": ("href",),
    "object": ("data",),
    "embed": ("src",),
    "use": ("href",),
}
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site; processes of one run of the tests share it."""
    given = os.environ.get("POLHODE_SITE")
    if given:
        return Path(given).resolve()
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing or not shutil.which("npm"):
        pytest.skip(f"{', '.join(missing) or 'npm'} missing: pip install -e '.[docs]'")
    shared = tmp_path_factory.getbasetemp().parent
    with (shared / "site.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "site" / "index.html").exists():
            command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-n", DOCS, shared / "site"]
            done = subprocess.run(
                [sys.executable, *map(str, command)],
                env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr[-4000:]
    return shared / "site"


# ---- what pages say
class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors, self.links, self.loads = set[str](), list[str](), list[str]()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        for name in LOADED.get(tag, ()):
            if name in given:
                self.loads += [part.split()[0] for part in given[name].split(",") if part.strip()]
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style", ""))


@cache
def page_of(file: Path) -> Page:
    return Page(file.read_text(encoding="utf-8"))


def html(site: Path) -> list[Path]:
    """The pages; a file of the theme is a template of its own, which nothing shows."""
    return [file for file in sorted(site.rglob("*.html")) if file.name != "webpack-macros.html"]


def is_outside(address: str) -> bool:
    parts = urlsplit(address.strip("'\" "))
    return bool(parts.netloc) or parts.scheme not in ("", "data", "blob", "file")


def test_no_page_loads_anything_from_outside(site):
    found = {
        (str(file.relative_to(site)), address)
        for file in html(site)
        for address in page_of(file).loads
        if is_outside(address)
    }
    for file in site.rglob("*.css"):
        text = file.read_text(encoding="utf-8")
        addresses = re.findall(r"(?:url\(|@import\s+)([^);]*)", text)
        found |= {(str(file.relative_to(site)), a) for a in addresses if is_outside(a)}
    assert found == set()
    assert len(html(site)) > 300


def test_what_pages_load_is_there(site):
    missing = {
        (str(file.relative_to(site)), address)
        for file in html(site)
        for address in page_of(file).loads
        if not address.startswith(("data:", "blob:", "about:"))
        and not (file.parent / unquote(urlsplit(address).path)).exists()
    }
    assert missing == set()


def test_links_lead_to_pages_and_anchors_that_exist(site):
    broken = set()
    for file in html(site):
        for link in page_of(file).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in ("", "#"):
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.exists():
                broken.add((str(file.relative_to(site)), link))
            elif not parts.fragment or target.suffix != ".html":
                continue
            elif unquote(parts.fragment) not in page_of(target).anchors:
                broken.add((str(file.relative_to(site)), link))
    assert broken == set()


def test_formulas_are_set_and_linked_to_their_lines(site):
    text = (site / "theory" / "exact.html").read_text(encoding="utf-8")
    assert text.count('class="katex-display"') > 10
    for line in re.findall(r'href="\.\./source/kernels/free_flow\.html#(L-\d+)"', text):
        source = page_of(site / "source" / "kernels" / "free_flow.html")
        assert line in source.anchors


# ---- in a browser
@pytest.fixture(scope="module")
def browser():
    opened = web.launched()
    try:
        started = opened.__enter__()
    except web.NoBrowser as reason:
        if web.required():
            pytest.fail(f"no browser: {reason}")
        pytest.skip(f"no browser: {reason}")
    yield started
    opened.__exit__(None, None, None)


WRITTEN = [str(page.relative_to(DOCS).with_suffix(".html")) for page in pages()]
WRITTEN += ["reference/python/solve.html", "reference/python/Trajectory.html", "search.html"]
WRITTEN += ["reference/entries/methods/strang.html", "reference/commands/run.html"]
WRITTEN += ["source/kernels/free_flow.html", "project/contributing.html"]


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_their_window_without_a_net(site, browser, size, scheme):
    """No request leaves, nothing is an error, and no page is wider than the window."""
    context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
    watch, wide = web.Watch(context), []
    try:
        page = context.new_page()
        for name in WRITTEN:
            page.goto((site / name).as_uri())
            assert page.evaluate("document.documentElement.dataset.theme") == scheme
            width = page.evaluate("document.documentElement.scrollWidth")
            if width > size["width"]:
                wide.append((name, width))
    finally:
        context.close()
    assert (wide, watch.outside, watch.errors) == ([], [], [])


def test_the_fonts_of_formulas_are_those_of_the_site(site, browser):
    page = browser.new_page()
    page.goto((site / "theory" / "exact.html").as_uri())
    page.evaluate("document.fonts.ready")
    assert page.evaluate("document.fonts.check('16px KaTeX_Math')")


def test_search_finds_a_name_from_the_disk(site, browser):
    page = browser.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q=solve_ensemble")
    web.wait(page, "document.querySelectorAll('#search-results li').length > 0")
    assert "solve_ensemble" in page.inner_text("#search-results")
