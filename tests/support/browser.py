"""Chromium under playwright: found, or installed where that is possible; pages that are watched.

``POLHODE_CHROMIUM`` names the program.  With ``POLHODE_REQUIRE_BROWSER=1`` tests fail without it.
"""

import fcntl
import io
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",  # tests may run as root
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
]
LOCAL = ("file", "data", "blob", "about")  # schemes that leave no trace outside
SIZE = {"width": 1200, "height": 720}
PATIENCE = 60_000  # milliseconds, for machines under load


class NoBrowser(Exception):
    """Why there is no browser."""


def required() -> bool:
    return os.environ.get("POLHODE_REQUIRE_BROWSER") == "1"


def find_chromium() -> str | None:
    named = os.environ.get("POLHODE_CHROMIUM")
    if named:
        return shutil.which(named)
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def install_chromium() -> None:
    """Install Debian's package; one process at a time, and only if it is still missing."""
    if os.environ.get("POLHODE_CHROMIUM"):
        raise NoBrowser("POLHODE_CHROMIUM names no program")
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise NoBrowser("install Chromium, or name the program in POLHODE_CHROMIUM")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with (Path(tempfile.gettempdir()) / "polhode-chromium.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if find_chromium():
            return
        for arguments in ("update", "install -y --no-install-recommends chromium"):
            command = ["apt-get", "-q", *arguments.split()]
            done = subprocess.run(command, env=quiet, capture_output=True, text=True, timeout=900)
            if done.returncode != 0:
                last = (done.stderr or done.stdout).strip().splitlines()[-1:]
                raise NoBrowser(f"{' '.join(command)} failed: {' '.join(last)}")


def chromium() -> str:
    """Return the path of the program; raise NoBrowser where there is none."""
    if not find_chromium():
        install_chromium()
    path = find_chromium()
    if not path:
        raise NoBrowser("apt-get installed no Chromium")
    return path


@contextmanager
def launched():
    """A browser without windows."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise NoBrowser("playwright is missing: pip install playwright") from error
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Watch:
    """What went wrong in the pages of a context: errors, and requests to the outside."""

    def __init__(self, context, origins=()):
        self.errors: list[str] = []
        self.outside: list[str] = []
        self.origins = tuple(origins)  # "host:port" of servers of the test
        context.on("request", lambda request: self.note(request.url))
        context.on("page", self.add)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def add(self, page) -> None:
        page.on("console", self.hear)
        page.on("websocket", lambda socket: self.note(socket.url))

    def hear(self, message) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL and parts.netloc not in self.origins:
            self.outside.append(url)


def show(page, file) -> None:
    """Open a page of the viewer from the disk and wait for its first frame."""
    page.goto(Path(file).resolve().as_uri())
    wait(page, "window.polhode && window.polhode.frames > 0")


def wait(page, condition: str) -> None:
    """Ask until a condition holds; playwright's own waiting needs what the policy forbids."""
    until = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(f"Boolean({condition})"):
        if time.monotonic() > until:
            raise TimeoutError(f"never true: {condition}")
        page.wait_for_timeout(10)


def settle(page) -> None:
    """Wait until what was asked for is drawn: two frames of the browser."""
    twice = "() => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))"
    page.evaluate(twice)


def hide_labels(page) -> None:
    page.locator("div.labels").evaluate("labels => { labels.hidden = true }")


def picture(page, **options) -> np.ndarray:
    """Return what is seen, (height, width, 3) bytes."""
    return decode(page.screenshot(animations="disabled", **options))


def decode(png: bytes) -> np.ndarray:
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


def colours(image: np.ndarray) -> dict[tuple[int, int, int], int]:
    """Return how often each colour is in a picture."""
    packed = image.astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
    values, counts = np.unique(packed, return_counts=True)
    pixels = [(v >> 16, v >> 8 & 255, v & 255) for v in map(int, values)]
    return dict(zip(pixels, map(int, counts), strict=True))
