"""Ensembles in a browser: points where NumPy says, the brush, the tip, who is picked."""

import numpy as np
import pytest

from polhode.view import crowd, save_html
from polhode.view.colours import LEVELS, palette
from support.browser import picture, settle, show, wait
from support.views import project

RATIO = 2  # pixels of the picture to a CSS pixel


class Directions:
    """A result whose third body axes point where they are told: (times, members, 3)."""

    labelled, t_reduced, varied_names, method = {}, np.empty(0), (), "by hand"

    def __init__(self, axes, x=None, t=None, members=None, status=None, name="by hand"):
        self.axes, self.x = np.asarray(axes, float), x
        self.t = np.arange(len(self.axes)) * 1.0 if t is None else t
        count = self.axes.shape[1]
        self.members = np.arange(count) * 3 + 7 if members is None else members
        self.status = np.zeros(count, int) if status is None else np.asarray(status)
        self.t_reached = np.where(self.status, 0.25, 1.0)
        self.problem_data = {"name": name, "model": "free"}
        self.nsteps = self.niter = np.zeros(count, int)

    def __len__(self):
        return len(self.members)

    def summary(self):
        return {"members": str(len(self)), "note": "<b>bold</b>"}

    def select(self, times, members):
        x = None if self.x is None else self.x[times][:, members]
        chosen = self.axes[times][:, members], x, self.t[times], self.members[members]
        return Directions(*chosen, self.status[members])

    @property
    def q(self):
        """The shortest turns of z to the axes."""
        a = self.axes / np.linalg.norm(self.axes, axis=-1, keepdims=True)
        q = np.stack([1 + a[..., 2], -a[..., 1], a[..., 0], 0 * a[..., 0]], axis=-1)
        return q / np.linalg.norm(q, axis=-1, keepdims=True)


@pytest.fixture
def opened(new_page, tmp_path):
    """Open the page of a result and hide what lies over the points."""

    def opened(result, plain=True, options=None, **asked):
        save_html(result, tmp_path / "crowd.html", **{"theme": "light", **asked})
        page = new_page(**{"device_scale_factor": RATIO, **(options or {})})
        show(page, tmp_path / "crowd.html")
        if plain:
            page.evaluate("""() => {
              for (const name of ["axes", "grid", "corner"]) polhode.show(name, false); }""")
        settle(page)
        return page

    return opened


def cloud(count, seed=1, axis=(0.7, 0.6, 0.4)):
    points = np.random.default_rng(seed).normal(size=(count, 3)) * 0.5 + np.asarray(axis)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def seen(page, points):
    """Where points are on the page, and which of them are on the near side of the sphere."""
    (pane,), camera = page.evaluate("polhode.panes()"), page.evaluate("polhode.camera()")
    assert pane["kind"] == "crowd"
    yaw, pitch = camera["yaw"], camera["pitch"]
    back = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
    eye = np.asarray(camera["target"]) + camera["distance"] * back
    box = page.locator("canvas.scene").bounding_box()
    corner = np.array([box["x"], box["y"]])
    return project(points, camera, pane) + corner, points @ eye > 1.0


def brush(page, low, high, keys=("Shift",)):
    for key in keys:
        page.keyboard.down(key)
    page.mouse.move(*low)
    page.mouse.down()
    page.mouse.move(*((np.array(low) + high) / 2))
    page.mouse.move(*high)
    page.mouse.up()
    for key in keys:
        page.keyboard.up(key)
    settle(page)


def inside(places, low, high):
    return ((places >= low) & (places <= high)).all(axis=1)


def between_points(places, corner):
    """Move a corner so that no point lies so close to its edges that 16 bits decide."""
    return np.array([_gap(places[:, k], corner[k]) for k in range(2)])


def _gap(values, near):
    values = np.sort(values)
    middles, wide = (values[1:] + values[:-1]) / 2, np.diff(values) > 0.15
    return middles[wide][np.abs(middles[wide] - near).argmin()]


def test_points_have_their_colours_where_they_must_be(opened):
    directions = np.array([[1, 0.2, 0.1], [0.5, 1, 0.2], [0.6, 0.5, 1], [1, 1, -0.3]], float)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    values = np.array([0.0, 1.0, 2.0, 5.0])
    page = opened(Directions(directions[None]), colour=values)
    places, near = seen(page, directions)
    assert near.all()
    image = picture(page)
    for place, value in zip(places, values, strict=True):
        x, y = np.rint(place * RATIO).astype(int)
        wanted = palette()[round(value / 5.0 * (LEVELS - 1))].astype(int)
        found = image[y - 2 : y + 2, x - 2 : x + 2].reshape(-1, 3).astype(int)
        assert np.abs(found - wanted).max() <= 2


def test_points_move_on_great_circles(opened):
    a, b = cloud(1)[0], np.array([0.9, 0.1, 0.42])
    b /= np.linalg.norm(b)
    page = opened(Directions([[a, a], [b, a]]), colour=[0.0, 1.0])
    page.evaluate("polhode.seek(0.5)")
    settle(page)
    middle = (a + b) / np.linalg.norm(a + b)
    places, _ = seen(page, middle[None])
    x, y = np.rint(places[0] * RATIO).astype(int)
    assert np.abs(picture(page)[y, x].astype(int) - palette()[0].astype(int)).max() <= 2


@pytest.mark.parametrize("how", ["shift", "button"])
def test_brush_picks_who_is_inside(opened, how):
    directions = cloud(3000)
    result = Directions(directions[None])
    page = opened(result, colour=directions[:, 2])
    places, near = seen(page, directions)
    low, high = between_points(places, [520, 210]), between_points(places, [700, 400])
    expected = result.members[near & inside(places, low, high)]
    assert 50 < len(expected) < 2000
    if how == "button":
        page.locator("button.brush").click()
        assert page.locator("button.brush").get_attribute("aria-pressed") == "true"
    before = page.evaluate("polhode.camera()")
    brush(page, low, high, ("Shift",) if how == "shift" else ())
    assert page.evaluate("polhode.picked") == expected.tolist()
    assert page.evaluate("polhode.camera()") == before
    box = page.locator(".picked")
    assert f"{len(expected)} picked" in box.inner_text().replace("\u202f", "")
    assert ", ".join(map(str, expected[:5])) in box.inner_text()
    page.locator("button.clear").click()
    assert page.evaluate("polhode.picked") == []
    assert box.is_hidden()


def test_brush_in_space(opened):
    x = np.random.default_rng(5).uniform([0, 0, 0], [40.0, 20.0, 10.0], size=(1, 800, 3))
    result = Directions(np.ones((1, 800, 3)), x)
    page = opened(result, where="space", colour=x[0, :, 0])
    header = crowd.pack(result, where="space", colour=x[0, :, 0]).header["crowd"]["box"]
    low_corner, high_corner = (np.array(header[k]) for k in ("low", "high"))
    points = (x[0] - (low_corner + high_corner) / 2) / (high_corner - low_corner).max() * 2
    places, _ = seen(page, points)
    low, high = between_points(places, [500, 250]), between_points(places, [730, 420])
    brush(page, low, high)
    assert page.evaluate("polhode.picked") == result.members[inside(places, low, high)].tolist()


def test_more_brushes_add_with_control(opened):
    directions = cloud(500)
    result = Directions(directions[None])
    page = opened(result, colour=directions[:, 0])
    places, near = seen(page, directions)
    first = between_points(places, [400, 150]), between_points(places, [600, 300])
    second = between_points(places, [600, 310]), between_points(places, [750, 450])
    brush(page, *first)
    brush(page, *second, ("Shift", "Control"))
    either = near & (inside(places, *first) | inside(places, *second))
    assert page.evaluate("polhode.picked") == result.members[either].tolist()
    page.keyboard.press("Escape")
    assert page.evaluate("polhode.picked") == []


def test_picked_members_stand_out_and_survive_a_lost_context(opened):
    directions = cloud(50)
    page = opened(Directions(directions[None]), colour=directions[:, 0])
    page.evaluate("polhode.pick([7, 10])")
    settle(page)
    places, near = seen(page, directions)
    assert near[:2].all()

    def strong():
        x, y = np.rint(places[0] * RATIO).astype(int)
        return picture(page)[y, x].astype(int)

    before = strong()
    assert before.max() - before.min() > 40  # not faint
    page.evaluate("""() => new Promise((done) => {
      const gl = polhode.stage.painter.gl, lose = gl.getExtension("WEBGL_lose_context");
      polhode.canvas.addEventListener("webglcontextrestored", () => setTimeout(done, 50));
      lose.loseContext(); setTimeout(() => lose.restoreContext(), 50); })""")
    settle(page)
    assert np.abs(strong() - before).max() <= 2
    assert page.evaluate("polhode.picked") == [7, 10]


def test_tip_names_the_member(opened):
    directions = cloud(200)
    result = Directions(directions[None])
    page = opened(result, colour=np.arange(200.0), colour_label="number <i>")
    places, near = seen(page, directions)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=-1) + 1e3 * np.eye(200)
    alone = int(np.argmax(np.where(near, gaps.min(axis=1), 0)))
    page.mouse.move(*places[alone])
    wait(page, f"!{SHADOW}.querySelector('.member').hidden")
    tip = page.locator(".member").inner_text()
    assert f"member {result.members[alone]}" in tip
    assert "number <i>: " in tip
    value = float(tip.split("number <i>: ")[1])
    assert abs(value - alone) <= 0.5 * 199 / (LEVELS - 1) + 0.5
    page.mouse.move(20, 650)
    wait(page, f"{SHADOW}.querySelector('.member').hidden")


SHADOW = "document.getElementById('polhode').shadowRoot"


def test_numbers_are_copied(opened):
    page = opened(Directions(cloud(50)[None]), colour=np.arange(50.0))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("polhode.pick([10, 7, 154, 8])")
    page.locator("button.copy").click()
    wait(page, f"{SHADOW}.querySelector('button.copy').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == "7, 10, 154"


def test_failed_members_are_crosses(opened):
    directions = np.array([[1, 0.2, 0.1], [0.6, 0.5, 0.4]], float)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    still = np.stack([directions, directions])
    page = opened(Directions(still, status=[0, 2]), colour=[0.0, 1.0])
    places, _ = seen(page, directions)

    def at(k):
        x, y = np.rint(places[k] * RATIO).astype(int)
        return picture(page)[y, x].astype(int)

    assert np.abs(at(1) - palette()[-1]).max() <= 2
    page.evaluate("polhode.seek(0.5)")  # after it has failed
    settle(page)
    assert np.abs(at(1) - (0xD5, 0x5E, 0x00)).max() <= 4
    assert np.abs(at(0) - palette()[0]).max() <= 2
    page.mouse.move(*places[1])
    wait(page, f"!{SHADOW}.querySelector('.member').hidden")
    assert "failed at t = 0.25 s" in page.locator(".member").inner_text()


def test_texts_stay_texts(opened):
    name = "<img src=x onerror=alert(1)>"
    page = opened(Directions(cloud(20)[None], name=name), plain=False, colour=np.arange(20.0))
    text = page.locator("details.corner").inner_text()
    assert name in text
    assert "<b>bold</b>" in text
    assert "20 members, 1 time" in text
    assert page.locator(".ph img").count() == 0


def test_a_hundred_thousand_points(opened):
    directions = cloud(100_000)
    page = opened(Directions(directions[None]), colour=directions[:, 2])
    took = page.evaluate("""() => {
      const gl = polhode.stage.painter.gl, pixel = new Uint8Array(4), begun = performance.now();
      for (let i = 0; i < 5; i++) {
        polhode.draw(); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); }
      return (performance.now() - begun) / 5; }""")
    assert took < 3000  # milliseconds, on a machine without a graphics card under load
    places, near = seen(page, directions)
    low, high = np.array([560.25, 260.25]), np.array([640.75, 330.75])
    brush(page, low, high)
    expected = np.flatnonzero(near & inside(places, low, high)) * 3 + 7
    found = np.array(page.evaluate("polhode.picked"))
    differing = np.setxor1d(found, expected)  # the 16 bits decide within 0.05 pixels of an edge
    edge = np.minimum(np.abs(places - low), np.abs(places - high)).min(axis=1)
    assert (edge[(differing - 7) // 3] < 0.05).all()
    assert len(found) > 500


def test_phones(opened):
    phone = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
    directions = cloud(300)
    page = opened(Directions(directions[None]), options=phone, colour=directions[:, 2])
    places, near = seen(page, directions)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=-1) + 1e3 * np.eye(300)
    alone = int(np.argmax(np.where(near, gaps.min(axis=1), 0)))
    page.touchscreen.tap(*places[alone])
    wait(page, f"!{SHADOW}.querySelector('.member').hidden")
    assert f"member {3 * alone + 7}" in page.locator(".member").inner_text()
    heights = [page.locator(f"button.{name}").bounding_box()["y"] for name in ("brush", "menu")]
    assert abs(heights[0] - heights[1]) < 4  # in one row
