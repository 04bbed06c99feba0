"""Pixels of known colours where NumPy says, for states made by hand; the motion as NumPy has it."""

import numpy as np
import pytest

from polhode.view.keyframes import between
from polhode.view.page import module
from support.browser import hide_labels, picture, settle, show, wait
from support.views import Blob, header, matrix, project, save_page, still_run

INERTIA = 1.0, 2.0, 2.5
COLOURS = {
    "axis 1": (0x56, 0xB4, 0xE9),
    "axis 2": (0xE6, 0x9F, 0x00),
    "axis 3": (0x00, 0x72, 0xB2),
    "omega": (0xD5, 0x5E, 0x00),
    "momentum": (0x00, 0x9E, 0x73),
}
AXIS, OMEGA, MOMENTUM = 1.25, 0.93 * 1.5, 1.5  # lengths of arrows in units of the body's reach
STATES = [  # attitude and angular velocity: no arrow points at the eye, none covers another
    ((0.3, 0.0, 1.2, 0.6), (-0.8, -0.2, 0.6)),
    ((-0.2, 0.7, 0.7, 0.4), (1.7, 0.8, -0.3)),
    ((-1.8, 0.3, -0.3, 1.2), (-1.1, 1.0, 0.1)),
    ((-1.0, -0.8, -1.3, 0.9), (-2.0, -0.2, -1.2)),
]
RATIO = 2  # pixels of the picture to a CSS pixel


def tips(q, omega, reach):
    """Where the arrows end, in inertial axes."""
    turn = matrix(q)
    spin, momentum = turn @ omega, turn @ (np.asarray(INERTIA) * omega)
    found = {f"axis {k + 1}": AXIS * reach * turn[:, k] for k in range(3)}
    found["omega"] = OMEGA * reach * spin / np.linalg.norm(spin)
    found["momentum"] = MOMENTUM * reach * momentum / np.linalg.norm(momentum)
    return found


def of_hue(image, colour):
    """Where a picture has a colour, a little shaded or not."""
    pixels, colour = image.astype(np.float32), np.asarray(colour, np.float32)
    shade = pixels @ colour / (colour @ colour)
    apart = np.abs(pixels - shade[..., None] * colour).max(axis=-1)
    return (apart < 14) & (shade > 0.8) & (shade < 1.1)


def farthest(image, colour, base, tip):
    """Return the pixel of a colour that lies farthest towards a tip, in CSS pixels."""
    rows, columns = np.nonzero(of_hue(image, colour))
    places = (np.stack([columns, rows], axis=-1) + 0.5) / RATIO
    way = (tip - base) / np.linalg.norm(tip - base)
    along = (places - base) @ way
    across = np.abs((places - base) @ [-way[1], way[0]])
    assert len(places), "the colour is nowhere"
    on_it = across < 6
    return places[on_it][along[on_it].argmax()]


@pytest.mark.parametrize(("q", "omega"), STATES)
def test_tips_of_arrows_lie_where_they_must(new_page, tmp_path, q, omega):
    blob = Blob()
    run = still_run(blob, "still", [0.0], [q], [omega], INERTIA)
    save_page(tmp_path / "still.html", header([run]), blob)
    page = new_page(device_scale_factor=RATIO, viewport={"width": 720, "height": 560})
    show(page, tmp_path / "still.html")
    page.evaluate(
        """() => {
          for (const name of ["body", "trail", "poinsot", "grid", "plots", "corner"])
            polhode.show(name, false);
        }"""
    )
    hide_labels(page)
    settle(page)
    (pane,) = page.evaluate("polhode.panes()")
    camera = page.evaluate("polhode.camera()")
    box = page.locator("canvas.scene").bounding_box()
    image = picture(page)
    image = image[: RATIO * round(box["y"] + box["height"])]  # the scene, without the bar
    ends = tips(q, omega, run["reach"])
    base = project(np.zeros(3), camera, pane)[0] + (box["x"], box["y"])
    for name, end in ends.items():
        tip = project(end, camera, pane)[0] + (box["x"], box["y"])
        found = farthest(image, COLOURS[name], base, tip)
        assert np.linalg.norm(found - tip) <= 2.0, name


def test_a_still_run_has_a_slider_that_does_nothing(page, tmp_path):
    blob = Blob()
    save_page(
        tmp_path / "still.html",
        header([still_run(blob, "still", [3.0], [[1, 0, 0, 0]], [[0, 0, 0]])]),
        blob,
    )
    show(page, tmp_path / "still.html")
    page.evaluate("polhode.seek(5); polhode.play()")
    settle(page)
    assert page.evaluate("polhode.time") == 3


def test_the_motion_between_keyframes_is_that_of_numpy(page, rng):
    """Single floats in, double precision between: both do the same."""
    count = 12
    t = np.cumsum(rng.uniform(0.05, 2.0, count))
    q = rng.normal(size=(count, 4))
    q = (q / np.linalg.norm(q, axis=1, keepdims=True)).astype(np.float32)
    omega = rng.normal(scale=6.0, size=(count, 3)).astype(np.float32)
    times = np.sort(np.concatenate([t, rng.uniform(t[0], t[-1], 300)]))
    page.goto("about:blank")
    page.add_script_tag(type="module", content=module(False) + ";window.between = between;")
    wait(page, "window.between")
    rows = page.evaluate(
        """([t, q, omega, times]) => {
          const motion = {
            t: Float64Array.from(t), q: Float32Array.from(q), omega: Float32Array.from(omega),
          };
          return times.map((time) => {
            const q = new Float64Array(4), omega = new Float64Array(3);
            between(motion, time, q, omega);
            return [...q, ...omega];
          });
        }""",
        [t.tolist(), q.ravel().tolist(), omega.ravel().tolist(), times.tolist()],
    )
    there = np.array(rows)
    attitudes, rates = between(t, q, omega, times)
    signs = np.sign(np.einsum("ij,ij->i", there[:, :4], attitudes))[:, None]  # -q turns as q does
    assert np.abs(signs * there[:, :4] - attitudes).max() < 1e-12
    assert np.abs(there[:, 4:] - rates).max() < 1e-12 * np.abs(rates).max() * 10
