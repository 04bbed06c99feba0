"""Draw the pictures of the viewer with the browser of the tests: ``python docs/make/viewer.py``.

``python docs/make/viewer.py --catalogue FOLDER`` draws every problem of the catalogue instead.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.spatial.transform import Rotation

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import polhode as ph  # noqa: E402
from support import browser as web  # noqa: E402

IMAGES = ROOT / "docs" / "images"
STEP = 3  # of red, green and blue: a picture of fewer colours is a quarter smaller
MOST = 200_000  # bytes
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@dataclass
class Shot:
    """A picture: what is shown, at which time, and how."""

    run: Any
    time: float
    options: dict[str, Any] = field(default_factory=dict)  # of the context
    script: str = ""  # what is done before, to ``polhode``
    pane: str = ""  # only this one, of these: space, poinsot


def t_handle() -> Any:
    """A T-shaped handle of steel that turns over as it spins (the Dzhanibekov effect)."""
    steel = 7850.0  # kg/m³
    bar = ph.shapes.cylinder(0.008, 0.12, density=steel)
    stem = ph.shapes.cylinder(0.01, 0.06, density=steel).turned(Rotation.from_euler("y", 90, True))
    body = ph.RigidBody.from_shapes(bar, stem.moved([0.038, 0, 0]))
    return ph.solve(ph.Problem(body, omega=[10.0, 0.02, 0.05], name="T-handle"), (0, 8))


def satellite() -> Any:
    """A tumbling satellite with two solar panels."""
    panel = ph.shapes.box([0.7, 2.2, 0.04], mass=12.0)
    body = ph.RigidBody.from_shapes(
        ph.shapes.box([0.9, 0.9, 1.3], mass=120.0),
        panel.moved([0, 1.65, 0.2]),
        panel.moved([0, -1.65, 0.2]),
        ph.shapes.cone(0.4, 0.35, mass=6.0).moved([0, 0, 0.8]),
    )
    problem = ph.Problem(body, omega=[0.25, 0.12, 0.5], name="tumbling satellite")
    return ph.solve(problem, (0, 120))


def rolling() -> Any:
    problem = ph.Problem(ph.RigidBody([1.0, 1.8, 2.4]), omega=[0.9, 0.35, 0.5], name="rolling")
    return ph.solve(problem, (0, 60))


def shots() -> dict[str, Shot]:
    handle = t_handle()
    dark, phone = {"color_scheme": "dark"}, {**PHONE, "device_scale_factor": 2}
    large = {"viewport": {"width": 1500, "height": 620}}
    return {
        "viewer": Shot(handle, 2.3),
        "viewer-dark": Shot(satellite(), 41.0, dark),
        "viewer-phone": Shot(handle, 2.3, phone),
        "viewer-poinsot": Shot(rolling(), 31.0, large, "polhode.show('plots', false)", "poinsot"),
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
        png = page.screenshot(clip=clip(page, shot.pane) if shot.pane else None)
    finally:
        context.close()
    if watch.errors or watch.outside:
        raise RuntimeError(f"errors in the page: {watch.errors}; requests: {watch.outside}")
    return png


def clip(page: Any, kind: str) -> dict[str, float]:
    """Return the rectangle of a pane on the page."""
    box = page.locator("canvas.scene").bounding_box()
    pane = next(pane for pane in page.evaluate("polhode.panes()") if pane["kind"] == kind)
    sides = {side: pane[side] for side in ("width", "height")}
    return {"x": box["x"] + pane["x"], "y": box["y"] + pane["y"], **sides}


def save(png: bytes, path: Path) -> None:
    few = STEP * np.round(web.decode(png) / STEP)
    Image.fromarray(few.astype(np.uint8)).save(path, optimize=True)
    size = path.stat().st_size
    sys.stdout.write(f"wrote {path.name}, {size / 1000:.0f} kB\n")
    if size > MOST and path.parent == IMAGES:
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
