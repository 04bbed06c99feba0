"""Draw the pictures of the viewer with the browser of the tests: ``python docs/make/viewer.py``.

``python docs/make/viewer.py --catalogue FOLDER`` draws every problem of the catalogue instead.
"""

import argparse
import io
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import polhode as ph  # noqa: E402
from support import browser as web  # noqa: E402

IMAGES = ROOT / "docs" / "images"
COLOURS = 128  # a palette makes a picture a third of the size
MOST = 200_000  # bytes
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@dataclass
class Shot:
    """A picture: what is shown, at which time, and how."""

    run: Any
    time: float
    options: dict[str, Any] = field(default_factory=dict)  # of the context
    script: str = ""  # what is done before, to ``polhode``


def t_handle() -> Any:
    """A T-shaped handle of steel that turns over as it spins (the Dzhanibekov effect)."""
    bar = ph.shapes.cylinder(0.008, 0.12, density=7850)
    stem = ph.shapes.cylinder(0.008, 0.06, density=7850)
    body = ph.RigidBody.from_shapes(bar, stem.rotated([0, np.pi / 2, 0]).moved([0.038, 0, 0]))
    omega = body.principal_axes @ np.array([0.05, 10.0, 0.0])
    return ph.solve(ph.Problem(body, omega=omega, name="T-handle"), (0, 12), dt=0.005)


def top() -> Any:
    entry = ph.problems.CATALOGUE["slow-top"]
    return ph.solve(entry.make(), (0, entry.t_end), method=entry.method, dt=entry.dt)


def shots() -> dict[str, Shot]:
    handle, slow = t_handle(), top()
    dark = {"color_scheme": "dark"}
    return {
        "viewer": Shot(handle, 2.3),
        "viewer-dark": Shot(slow, 7.0, dark),
        "viewer-phone": Shot(handle, 2.3, {**PHONE, "device_scale_factor": 2}),
        "viewer-poinsot": Shot(handle, 2.3, {"viewport": {"width": 700, "height": 600}}),
    }


def catalogue() -> dict[str, Shot]:
    """Every problem, as its paper runs it, after 0.37 of the time."""
    found = {}
    for name, entry in ph.problems.CATALOGUE.items():
        run = ph.solve(entry.make(), (0, entry.t_end), method=entry.method, dt=entry.dt)
        found[name] = Shot(run, 0.37 * entry.t_end)
    for name, make in ph.problems.RATES.items():
        given = make()
        start, end = given.span
        run = ph.integrate_angular_velocity(
            given.omega,
            (start, start + 0.01 * (end - start)),
            frame=given.frame,
            attitude=given.attitude,
            scalar_first=True,
        )
        found[name] = Shot(run, start + 0.0037 * (end - start))
    return found


def take(browser: Any, shot: Shot) -> bytes:
    """Return a picture of the page, as PNG."""
    context = browser.new_context(**{"viewport": web.SIZE, **shot.options})
    watch = web.Watch(context)
    try:
        page = context.new_page()
        with tempfile.TemporaryDirectory() as place:
            shot.run.save_html(Path(place) / "run.html")
            web.show(page, Path(place) / "run.html")
        page.evaluate(f"polhode.seek({shot.time!r}); {shot.script}")
        web.settle(page)
        png = page.screenshot()
    finally:
        context.close()
    if watch.errors or watch.outside:
        raise RuntimeError(f"errors in the page: {watch.errors}; requests: {watch.outside}")
    return png


def save(png: bytes, path: Path) -> None:
    with Image.open(io.BytesIO(png)) as full:
        full.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    sys.stdout.write(f"wrote {path.name}, {size / 1000:.0f} kB\n")
    if size > MOST:
        raise RuntimeError(f"{path.name} has {size} bytes, more than {MOST}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogue", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", help="only these pictures")
    asked = parser.parse_args()
    folder = asked.catalogue or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    wanted = catalogue() if asked.catalogue else shots()
    with web.launched() as browser:
        for name, shot in wanted.items():
            if not asked.names or name in asked.names:
                save(take(browser, shot), folder / f"{name}.png")


if __name__ == "__main__":
    main()
