"""Execute the gallery and store its results: ``python docs/make/gallery.py [NAME …]``.

Without names, those that have changed since; with ``--all``, all of them.  ``--quick`` executes the
short forms of the tests, and stores nothing.
"""

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1] / "extensions"))

import matplotlib as mpl

mpl.use("agg")

from entries import RESULTS, THEMES, Entry, entries, quickly
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from polhode.ensembles.result import EnsembleResult
from polhode.plot import style
from polhode.view import crowd, packing, page

DPI, COLOURS = 130, (96, 64, 40, 24, 16)  # a palette makes a picture a third of the size
LARGEST = {"light.png": 60_000, "dark.png": 60_000, "viewer.json": 40_000, "checks.json": 8_000}
OPENS = 0.37  # of the time of a run: when the viewer opens
TOLERANCE = 4e-3  # of the viewer, in radians
BUCKETS = 120  # of its curves, which are small in a page
WIDEST, TALLEST = 9.0, 7.0  # inches
LONGEST = 120.0  # seconds that an entry may take


class Failed(Exception):
    """What an entry did wrong."""


# ---- themes
def look(name: str) -> dict[str, Any]:
    """Return matplotlib's settings for a theme."""
    theme = style.THEMES[name]
    ground = dict.fromkeys(
        ("figure.facecolor", "axes.facecolor", "savefig.facecolor"), theme.ground
    )
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor"), theme.ink)
    ticks = {f"{axis}tick.{part}": colour for axis in "xy" for part, colour in
             (("color", theme.grey), ("labelcolor", theme.ink))}  # fmt: skip
    sizes = {"font.size": 9, "axes.labelsize": 9, "xtick.labelsize": 8, "ytick.labelsize": 8}
    return {
        **ground, **ink, **ticks, **sizes,
        "axes.prop_cycle": mpl.cycler(color=[*theme.colours, theme.grey]),
        "axes.edgecolor": theme.grey, "axes.grid": True, "axes.axisbelow": True,
        "axes.spines.top": False, "axes.spines.right": False,
        "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left",
        "figure.figsize": (8.0, 3.4), "figure.constrained_layout.use": True,
        "figure.constrained_layout.wspace": 0.05,
        "grid.color": theme.faint, "grid.linewidth": 0.6, "lines.linewidth": 1.3,
        "legend.frameon": False, "legend.fontsize": 8, "legend.labelcolor": theme.ink,
        "xtick.major.size": 3, "ytick.major.size": 3, "image.cmap": "viridis",
        "hatch.color": theme.grey, "svg.hashsalt": "polhode",
    }  # fmt: skip


@contextlib.contextmanager
def drawn_in(name: str) -> Iterator[None]:
    """Draw in a theme, and without windows."""
    with mpl.rc_context(look(name)), style.drawn_in(name), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        yield


# ---- execution
class Execution:
    """An entry that is executed part by part, in a directory of its own."""

    def __init__(self, entry: Entry, quick: bool = False):
        self.entry, self.quick = entry, quick
        self.names: dict[str, Any] = {"__name__": f"gallery_{entry.name}"}

    def part(self, number: int) -> None:
        """Execute code (0), picture (1) or checks (2)."""
        source = self.entry.parts[number]
        above = self.entry.source[: self.entry.source.index(source)].count("\n")
        if self.quick:
            source = quickly(source)
        exec(compile("\n" * above + source, str(self.entry.path), "exec"), self.names)

    def code(self) -> None:
        self.part(0)

    def picture(self, theme: str) -> Figure:
        """Draw the picture in a theme."""
        plt.close("all")
        with drawn_in(theme):
            self.part(1)
            if len(plt.get_fignums()) != 1:
                raise Failed(f"draws {len(plt.get_fignums())} pictures, not one")
            figure = plt.gcf()
            width, height = figure.get_size_inches()
            if width > WIDEST or height > TALLEST:
                raise Failed(f"has a picture of {width:g} by {height:g} inches")
            figure.canvas.draw()
            return figure

    def checks(self) -> tuple[dict[str, tuple[float, float]], dict[str, str]]:
        """Return (deviation, bound) by what is compared, and the numbers of the text."""
        self.part(2)
        checks = {
            what: (float(x), float(bound)) for what, (x, bound) in self.names["checks"].items()
        }
        for what, (deviation, bound) in checks.items():
            if not 0.0 <= deviation < bound:
                raise Failed(f"{what}: {deviation:.3g}, not below {bound:g}")
        return checks, {
            name: re.sub(r"e-0(\d)", r"e-\1", str(x))
            for name, x in self.names.get("measured", {}).items()
        }

    def packed(self) -> packing.Packed:
        """Return what the viewer shows."""
        run, options = self.names["run"], dict(self.names.get("view", {}))
        options.setdefault("title", self.entry.title)
        if isinstance(run, EnsembleResult):
            return crowd.pack(run, **options)
        with patch.object(packing, "BUCKETS", BUCKETS):
            return packing.pack(run, packing.Options(**{"tolerance": TOLERANCE, **options}))

    @property
    def time(self) -> float:
        """The time at which the viewer opens."""
        run = self.names["run"]
        times = (run[0] if isinstance(run, list) else run).t
        return float(f"{times[0] + OPENS * (times[-1] - times[0]):.3g}")


@contextlib.contextmanager
def somewhere() -> Iterator[None]:
    """Work in an empty directory."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            yield
        finally:
            os.chdir(before)


def execute(entry: Entry, quick: bool = False) -> dict[str, bytes]:
    """Execute an entry, and return what is stored of it, by the name of the file."""
    run = Execution(entry, quick)
    try:
        with somewhere(), drawn_in("light"):
            run.code()
            pictures = {}
            for theme in THEMES[:1] if quick else THEMES:
                figure = run.picture(theme)
                if theme == THEMES[0]:
                    thumbnail = corner(figure, run.names.get("thumbnail"))
                pictures[f"{theme}.png"] = b"" if quick else png(figure)
            checks, measured = run.checks()
            packed = run.packed()
    finally:
        plt.close("all")
    found = {
        "digest": entry.digest,
        "checks": [
            {"what": what, "deviation": float(f"{x:.3g}"), "bound": bound}
            for what, (x, bound) in checks.items()
        ],
        "measured": measured,
        "thumbnail": thumbnail,
        "view": viewed(run.names.get("view", {})),
        "time": run.time,
    }
    shown = {"header": packed.header, "data": page.packed_text(page.planes(packed.data))}
    return {
        **pictures,
        "checks.json": f"{json.dumps(found, indent=1, ensure_ascii=False)}\n".encode(),
        "viewer.json": f"{json.dumps(shown, indent=1, ensure_ascii=False)}\n".encode(),
    }


def viewed(options: dict[str, Any]) -> str:
    """Return the options of the viewer as a user writes them."""
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def corner(figure: Figure, axes: Any = None) -> list[float]:
    """Return left, top, right and bottom of the axes for the thumbnail, as parts of the picture."""
    chosen = axes if axes is not None else figure.axes[0]
    box = chosen.get_tightbbox().padded(0.04 * figure.dpi)
    width, height = figure.bbox.width, figure.bbox.height
    sides = box.x0 / width, 1 - box.y1 / height, box.x1 / width, 1 - box.y0 / height
    return [round(min(max(float(side), 0.0), 1.0), 4) for side in sides]


def png(figure: Figure) -> bytes:
    """Return a picture as PNG, in as many colours as fit into the limit."""
    raw = io.BytesIO()
    figure.savefig(raw, dpi=DPI, format="png", facecolor=figure.get_facecolor())
    for colours in COLOURS:
        small = io.BytesIO()
        with Image.open(raw) as full:
            full.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(
                small, "png", optimize=True
            )
        if len(small.getvalue()) <= LARGEST["light.png"]:
            break
    return small.getvalue()


def store(entry: Entry) -> None:
    """Execute an entry and store its results, if all is well."""
    begin = time.perf_counter()
    files = execute(entry)
    took = time.perf_counter() - begin
    for name, content in files.items():
        if len(content) > LARGEST[name]:
            raise Failed(f"{name} has {len(content)} bytes, more than {LARGEST[name]}")
    entry.results.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (entry.results / name).write_bytes(content)
    vars(entry).pop("stored", None)
    assert entry.filled
    sizes = ", ".join(f"{name} {len(content) / 1000:.0f} kB" for name, content in files.items())
    sys.stdout.write(f"{entry.name}: {took:.1f} s; {sizes}\n")
    for check in entry.stored["checks"]:
        sys.stdout.write(f"    {check['what']}: {check['deviation']:.2g} < {check['bound']:g}\n")
    for name, value in entry.stored["measured"].items():
        sys.stdout.write(f"    {name} = {value}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="also those whose results are current")
    parser.add_argument("--quick", action="store_true", help="short forms; nothing is stored")
    asked = parser.parse_args()
    known = entries()
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"there is no entry {unknown[0]!r}; there are {', '.join(known)}")
    chosen = [known[name] for name in asked.names] or [
        entry for entry in known.values() if asked.all or asked.quick or not entry.is_current
    ]
    begin, failed = time.perf_counter(), []
    for entry in chosen:
        start = time.perf_counter()
        try:
            execute(entry, quick=True) if asked.quick else store(entry)
        except Exception as error:
            failed.append(entry.name)
            if not isinstance(error, Failed):
                traceback.print_exc()
            sys.stdout.write(f"{entry.name} FAILED: {error}\n")
        else:
            if asked.quick:
                sys.stdout.write(f"{entry.name}: {time.perf_counter() - start:.1f} s\n")
        sys.stdout.flush()
    size = sum(path.stat().st_size for path in RESULTS.rglob("*") if path.is_file())
    sys.stdout.write(
        f"{len(chosen) - len(failed)} of {len(chosen)} entries in"
        f" {time.perf_counter() - begin:.0f} s; all results have {size / 1e6:.2f} MB\n"
    )
    if failed:
        sys.stdout.write(f"failed: {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
