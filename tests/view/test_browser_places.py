"""The viewer in other places: small windows, phones, dark pages, iframes; after a lost context."""

import html

import numpy as np
import pytest

from support.browser import colours, decode, picture, settle, show, wait
from support.views import book_page

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return book_page(tmp_path_factory.mktemp("book"))


def brightness(page):
    """Of the scene's ground: the commonest colour of the picture."""
    counts = colours(picture(page))
    return np.mean(max(counts, key=counts.__getitem__))


def test_it_survives_a_resize(page, book):
    show(page, book)
    page.evaluate("polhode.seek(1)")
    settle(page)
    before = picture(page)
    frames = page.evaluate("polhode.frames")
    page.set_viewport_size({"width": 700, "height": 500})
    wait(page, f"polhode.frames > {frames}")
    settle(page)
    for pane in page.evaluate("polhode.panes()"):
        assert pane["x"] + pane["width"] <= 701
        assert pane["y"] + pane["height"] <= 501
    assert no_overflow(page)
    page.set_viewport_size({"width": 1200, "height": 720})
    settle(page)
    assert (picture(page) != before).mean() < 0.001  # texts are not rasterised alike each time


def no_overflow(page):
    return page.evaluate(
        "document.documentElement.scrollWidth <= innerWidth"
        " && document.documentElement.scrollHeight <= innerHeight"
    )


def test_it_survives_a_lost_context(page, book):
    show(page, book)
    page.evaluate("polhode.seek(1.3)")
    settle(page)
    before = picture(page)
    page.evaluate(
        """() => {
          const inside = document.getElementById("polhode").shadowRoot;
          const canvas = inside.querySelector("canvas.scene");
          window.loss = canvas.getContext("webgl2").getExtension("WEBGL_lose_context");
          window.lost = new Promise((f) => canvas.addEventListener("webglcontextlost", f));
          window.back = new Promise((f) => canvas.addEventListener("webglcontextrestored", f));
          loss.loseContext();
          return lost.then(() => undefined);
        }"""
    )
    page.evaluate("polhode.draw()")  # draws nothing, and does not fail
    page.evaluate("() => { loss.restoreContext(); return back.then(() => undefined); }")
    settle(page)
    assert page.evaluate("polhode.time") == 1.3
    assert (picture(page) != before).mean() < 0.001  # texts are not rasterised alike each time


def test_two_viewers_in_one_page_are_apart(page, book):
    show(page, book)
    other = page.context.new_page()
    show(other, book)
    other.evaluate("polhode.seek(2)")
    assert page.evaluate("polhode.time") == 0


# ---- phones
def test_on_a_phone(new_page, book):
    page = new_page(**PHONE, device_scale_factor=2)
    show(page, book)
    assert no_overflow(page)
    for name in ("button.play", "input.time", "button.menu"):
        box = page.locator(name).bounding_box()
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= 390, name
        assert box["y"] + box["height"] <= 844, name
    play = page.locator("button.play").bounding_box()
    assert min(play["width"], play["height"]) >= 32  # a fingertip
    page.locator("button.play").tap()
    wait(page, "polhode.playing && polhode.time > 0.02")
    page.locator("button.play").tap()
    assert page.evaluate("polhode.playing") is False


def test_fingers_turn_and_zoom(new_page, book):
    page = new_page(**PHONE)
    show(page, book)
    pane = page.evaluate("polhode.panes()")[0]
    box = page.locator("canvas.scene").bounding_box()
    x, y = box["x"] + pane["x"] + pane["width"] / 2, box["y"] + pane["y"] + pane["height"] / 2
    before = page.evaluate("polhode.camera()")
    touch(page, [[(x, y)], [(x + 20, y)], [(x + 60, y + 10)]])
    turned = page.evaluate("polhode.camera()")
    assert turned["yaw"] != before["yaw"]
    assert turned["distance"] == before["distance"]
    touch(
        page, [[(x - 20, y), (x + 20, y)], [(x - 30, y), (x + 30, y)], [(x - 60, y), (x + 60, y)]]
    )
    assert page.evaluate("polhode.camera().distance") < turned["distance"]


def touch(page, moments):
    """Move fingers: a list of their places at each moment."""
    session = page.context.new_cdp_session(page)
    for number, places in enumerate(moments):
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        kind = "touchMove" if number else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()
    settle(page)


# ---- themes and motion
def test_the_theme_follows_the_system(new_page, book):
    light, dark = new_page(color_scheme="light"), new_page(color_scheme="dark")
    for page in (light, dark):
        show(page, book)
    assert brightness(light) == 255
    assert brightness(dark) == pytest.approx(np.mean([0x16, 0x18, 0x1C]), abs=2)
    dark.emulate_media(color_scheme="light")  # it changes while the page is open
    settle(dark)
    assert brightness(dark) == 255


def test_the_theme_can_be_chosen(page, book):
    show(page, book)
    page.evaluate("polhode.setTheme('dark')")
    settle(page)
    assert brightness(page) < 40
    assert page.locator(".ph").get_attribute("data-theme") == "dark"
    page.evaluate("polhode.setTheme('light')")
    settle(page)
    assert brightness(page) == 255


def test_less_motion_where_it_is_asked_for(new_page, book):
    moving, calm = new_page(), new_page(reduced_motion="reduce")
    steps = {}
    for name, page in ("moving", moving), ("calm", calm):
        show(page, book)
        before = page.evaluate("polhode.frames")
        page.evaluate("polhode.setCamera('momentum')")
        page.wait_for_timeout(1500)
        steps[name] = page.evaluate("polhode.frames") - before
    assert steps["calm"] <= 2
    assert steps["moving"] > steps["calm"]


# ---- pictures, focus, frames
def test_screenshots(page, book):
    show(page, book)
    size = page.evaluate(
        """async () => {
          const blob = await polhode.screenshot(), bitmap = await createImageBitmap(blob);
          return [blob.type, bitmap.width, bitmap.height];
        }"""
    )
    assert size[0] == "image/png"
    assert min(size[1:]) > 300
    with page.expect_download() as waiting:
        page.locator("button.shot").click()
    saved = waiting.value
    assert saved.suggested_filename.endswith(".png")
    with open(saved.path(), "rb") as file:
        image = decode(file.read())
    assert len(colours(image)) > 100


def test_buttons_have_names_and_can_be_reached_by_keyboard(page, book):
    show(page, book)
    assert page.locator("button.full").is_visible()
    nameless = page.locator("button").evaluate_all(
        "buttons => buttons.filter(b => !b.getAttribute('aria-label') && !b.textContent.trim())"
        ".map(b => b.className)"
    )
    assert nameless == []
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(document.getElementById('polhode').shadowRoot.activeElement?.className ?? '')"
                ".split(' ')[0]"
            )
        )
    assert {"play", "time", "speed", "full", "shot", "menu"} <= reached
    page.locator("button.menu").focus()
    assert page.locator("button.menu").evaluate(
        "button => getComputedStyle(button).outlineStyle !== 'none'"
        " || getComputedStyle(button).boxShadow !== 'none'"
    )


def test_full_screen(page, book):
    show(page, book)
    page.locator("button.full").click()
    wait(page, "document.fullscreenElement !== null")
    page.evaluate("document.exitFullscreen()")


def test_it_works_in_srcdoc(page, book, tmp_path):
    outer = tmp_path / "outer.html"
    inner = html.escape(book.read_text(encoding="utf-8"), quote=True)
    outer.write_text(
        '<!doctype html><meta charset="utf-8">'
        f'<iframe width="800" height="500" srcdoc="{inner}"></iframe>',
        encoding="utf-8",
    )
    page.goto(outer.as_uri())
    frame = page.frames[1]
    wait(frame, "window.polhode && polhode.frames > 0")
    frame.evaluate("polhode.seek(1)")
    assert frame.evaluate("polhode.time") == 1
