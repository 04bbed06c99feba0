"""The viewer in a real browser, from ``file://``: it draws, plays, seeks, switches and compares."""

import re
import time

import numpy as np
import pytest

import polhode as ph
from support.browser import colours, hide_labels, picture, settle, show, wait
from support.views import SPAN, book_page, turning_over

RED, GREEN, BLUE = (0xD5, 0x5E, 0x00), (0x00, 0x9E, 0x73), (0x00, 0x72, 0xB2)
ORANGE, SKY = (0xE6, 0x9F, 0x00), (0x56, 0xB4, 0xE9)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return book_page(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def pair():
    return turning_over(), turning_over(0.05)


@pytest.fixture(scope="module")
def both(pair, tmp_path_factory):
    path = tmp_path_factory.mktemp("pair") / "pair.html"
    ph.view.save_html(pair, path)
    return path


def near(image, colour, within=12):
    """How many pixels have a colour."""
    return int((np.abs(image.astype(int) - colour).max(axis=-1) <= within).sum())


def seek(page, t):
    page.evaluate(f"polhode.seek({float(t)!r})")
    settle(page)


def now(page):
    return page.evaluate("polhode.time")


# ---- drawing
def test_the_first_frame_is_drawn(page, book):
    begin = time.perf_counter()
    show(page, book)
    took = time.perf_counter() - begin
    print(f"first frame after {took:.2f} s")  # noqa: T201
    assert took < 20
    image = picture(page)
    assert len(colours(image)) > 200
    for colour in (RED, GREEN, BLUE):
        assert near(image, colour) > 20
    assert [pane["kind"] for pane in page.evaluate("polhode.panes()")] == ["space", "poinsot"]


def test_it_opens_paused_at_the_start(page, book):
    show(page, book)
    assert page.evaluate("[polhode.playing, polhode.time, polhode.start, polhode.end]") == [
        False, 0, 0, SPAN,
    ]  # fmt: skip
    frames = page.evaluate("polhode.frames")
    page.wait_for_timeout(300)
    assert page.evaluate("polhode.frames") == frames  # draws on demand only


def test_the_button_plays_and_pauses(page, book):
    show(page, book)
    button = page.locator("button.play")
    assert button.get_attribute("aria-label") == "Play"
    button.click()
    wait(page, "polhode.playing && polhode.time > 0.05")
    assert button.get_attribute("aria-label") == "Pause"
    button.click()
    t = now(page)
    page.wait_for_timeout(200)
    assert now(page) == t
    assert button.get_attribute("aria-label") == "Play"


def test_the_space_bar_plays_and_pauses(page, book):
    show(page, book)  # a page has the focus at once
    page.keyboard.press("Space")
    wait(page, "polhode.playing && polhode.time > 0.05")
    page.keyboard.press("Space")
    assert page.evaluate("polhode.playing") is False


def test_playing_ends_at_the_end(page, book):
    show(page, book)
    seek(page, SPAN - 0.05)
    page.evaluate("polhode.play()")
    wait(page, "!polhode.playing")
    assert now(page) == SPAN


# ---- seeking
def test_keys_seek(page, book):
    show(page, book)
    steps = {
        "ArrowRight": SPAN / 200,
        "Shift+ArrowRight": SPAN / 200 + SPAN / 20,
        "ArrowLeft": SPAN / 20,
        "Shift+ArrowLeft": 0.0,
        "End": SPAN,
        "Home": 0.0,
    }
    for key, t in steps.items():
        page.keyboard.press(key)
        assert now(page) == pytest.approx(t, abs=1e-9), key


def test_the_slider_seeks(page, book):
    show(page, book)
    slider = page.locator("input.time")
    box = slider.bounding_box()
    slider.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    assert now(page) == pytest.approx(SPAN / 2, abs=0.03 * SPAN)
    assert page.evaluate("polhode.playing") is False


def test_a_click_into_a_plot_seeks(page, book):
    show(page, book)
    box = page.locator("canvas.plots").bounding_box()
    middle = box["y"] + box["height"] / 2
    found = []
    for part in (0.08, 0.12, 0.16):  # of the width: all in the first plot
        page.mouse.click(box["x"] + part * box["width"], middle)
        found.append(now(page))
    assert 0 < found[0] < found[1] < found[2] < SPAN
    assert found[2] - found[1] == pytest.approx(found[1] - found[0], rel=1e-3)


def test_times_outside_are_clamped(page, book):
    show(page, book)
    seek(page, 1e9)
    assert now(page) == SPAN
    seek(page, -1e9)
    assert now(page) == 0


# ---- switches
@pytest.mark.parametrize(
    ("name", "colour"), [("omega", RED), ("momentum", GREEN), ("axes", ORANGE), ("axes", SKY)]
)
def test_what_is_switched_off_vanishes(page, book, name, colour):
    show(page, book)
    page.evaluate("for (const x of ['plots', 'poinsot', 'trail', 'grid']) polhode.show(x, false)")
    seek(page, 1.0)
    assert near(picture(page), colour, 24) > 50
    page.evaluate(f"polhode.show({name!r}, false)")
    settle(page)
    assert near(picture(page), colour, 24) <= 3  # blends at edges
    page.evaluate(f"polhode.show({name!r}, true)")
    settle(page)
    assert near(picture(page), colour, 24) > 50


def test_every_switch_of_the_menu_changes_the_picture(page, book):
    show(page, book)
    seek(page, 1.0)
    page.locator("button.menu").click()
    boxes = page.locator("div.menu input[type=checkbox]")
    names = boxes.evaluate_all("boxes => boxes.map(box => box.name)")
    wanted = {"body", "axes", "omega", "momentum", "trail", "poinsot", "grid", "plots", "corner"}
    assert wanted <= set(names)
    assert "ground" not in names  # a body without a path
    page.keyboard.press("Escape")
    hide_labels(page)  # the browser draws moving letters a little differently each time
    for name in wanted:
        before = picture(page)
        page.evaluate(f"polhode.show({name!r}, false)")
        settle(page)
        assert (picture(page) != before).any(), name
        page.evaluate(f"polhode.show({name!r}, true)")
        settle(page)
        assert (picture(page) == before).all(), name


def test_a_switch_of_the_menu(page, book):
    show(page, book)
    page.locator("button.menu").click()
    page.locator("div.menu input[name=omega]").uncheck()
    assert page.evaluate("polhode.shown().omega") is False
    page.keyboard.press("Escape")
    assert not page.locator("div.menu").is_visible()
    page.locator("canvas.scene").click()
    page.keyboard.press("m")
    assert page.locator("div.menu").is_visible()


# ---- the camera
def test_presets_of_the_camera(page, book):
    show(page, book)
    for key, preset in ("2", "body"), ("3", "momentum"), ("1", "inertial"):
        page.keyboard.press(key)
        wait(page, f"polhode.camera().preset === {preset!r}")
        assert page.locator(f"div.menu input[name=camera][value={preset}]").is_checked()


def test_the_mouse_turns_zooms_and_resets(page, book):
    show(page, book)
    first = page.evaluate("polhode.camera()")
    page.mouse.move(200, 200)
    page.mouse.down()
    page.mouse.move(260, 230, steps=3)
    page.mouse.up()
    turned = page.evaluate("polhode.camera()")
    assert turned["yaw"] != first["yaw"]
    assert turned["pitch"] != first["pitch"]
    page.mouse.wheel(0, -300)
    wait(page, f"polhode.camera().distance < {turned['distance']!r}")
    page.mouse.dblclick(15, 300)
    wait(page, f"Math.abs(polhode.camera().distance - {first['distance']!r}) < 1e-6")


def test_a_double_click_picks_a_point_of_the_body(page, book):
    show(page, book)
    pane = page.evaluate("polhode.panes()")[0]
    box = page.locator("canvas.scene").bounding_box()
    x, y = (box[k] + pane[k] + pane[side] / 2 for k, side in (("x", "width"), ("y", "height")))
    page.mouse.dblclick(x, y)
    wait(page, "polhode.picked")
    picked = page.evaluate("polhode.picked")
    assert picked["run"] == 0
    half = np.array([0.03, 0.17, 0.24]) / 2  # the sides of the book, by its moments
    assert (np.abs(picked["point"]) <= 1.05 * np.sort(half)[-1]).all()
    on_a_face = np.abs(np.abs(picked["point"])[:, None] - half).min()
    assert on_a_face < 2e-3


# ---- several runs
def angle_apart(pair, t):
    """The angle between two runs at a time of both, by SciPy."""
    first, other = (run.rotation[int(np.argmin(np.abs(run.t - t)))] for run in pair)
    return (first.inv() * other).magnitude()


def test_two_runs_side_by_side(page, both):
    show(page, both)
    page.evaluate("polhode.setLayout('side')")
    settle(page)
    panes = page.evaluate("polhode.panes()")
    assert [pane["run"] for pane in panes if pane["kind"] == "space"] == [0, 1]
    assert near(picture(page), RED) > 20


def test_ghosts_print_the_angle_between_them(page, both, pair):
    show(page, both)
    page.evaluate("polhode.setLayout('ghosts')")
    for t in (1.0, 2.5, 4.0):
        seek(page, t)
        panes = page.evaluate("polhode.panes()")
        assert len([pane for pane in panes if pane["kind"] == "space"]) == 1
        (printed,) = re.findall(r"([0-9.]+)° apart", page.locator(".ghosts").inner_text())
        assert float(printed) == pytest.approx(np.degrees(angle_apart(pair, t)), rel=1e-3, abs=0.06)
