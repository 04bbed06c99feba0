"""A page that follows a simulation, in a real browser: it draws, follows, pushes and lets go."""

import http.server
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest

import polhode as ph
from support.browser import picture, settle, wait
from support.views import project

BODY = ph.RigidBody.from_shapes(ph.shapes.box((0.6, 0.4, 0.3), mass=12.0))
REACH = 0.5 * np.linalg.norm([0.6, 0.4, 0.3])
BLUE, PURPLE = (0x00, 0x72, 0xB2), (0xCC, 0x79, 0xA7)
NOTICE = "polhode.host.shadowRoot.querySelector('.notice')"
PATIENCE = 30.0


def near(image, colour, within=12):
    return np.argwhere(np.abs(image.astype(int) - colour).max(axis=-1) <= within)


def go(page, live):
    page.watch.origins = (urlsplit(live.address).netloc,)
    page.goto(live.address)
    wait(page, "window.polhode && window.polhode.frames > 0 && window.polhode.follower.page > 0")


def steps(sim, count, dt=1 / 60):
    """Step in real time, so that pages can follow."""
    for _ in range(count):
        time.sleep(dt)
        sim.step(dt)


def caught_up(page, sim):
    wait(page, f"polhode.time === {sim.t!r}")
    settle(page)


def steps_until(sim, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        steps(sim, 1)


@pytest.fixture
def followed(browser, new_page):
    sim = ph.Simulator(BODY, position=(3.0, -2.0, 1.0))
    with sim.view(browser=False, theme="light") as live:
        yield sim, live
        for page in [page for context in browser.contexts for page in context.pages]:
            page.goto("about:blank")  # before the server ends: no connection is broken off


# ---- following
def test_the_page_draws_the_state(page, followed):
    sim, live = followed
    go(page, live)
    sim.set_state(omega=(0.3, 0.2, 2.0), velocity=(0.2, 0.0, 0.0))
    steps(sim, 30)
    caught_up(page, sim)
    mover = "polhode.staged.scenes.side[0].first"
    state = sim.state
    assert page.evaluate(f"[...{mover}.q]") == state.q.tolist()
    assert page.evaluate(f"[...{mover}.omega]") == state.omega.tolist()
    place = np.array(page.evaluate(f"[...{mover}.place]"))
    np.testing.assert_allclose(place, state.x - (3.0, -2.0, 1.0), atol=1e-15)
    assert page.locator("output.now").text_content().startswith("t = 0.5")
    pane, camera = page.evaluate("[polhode.panes()[0], polhode.camera()]")
    tip = place + state.to_inertial((0.0, 0.0, 1.25 * REACH))
    ((x, y),) = project(tip, camera, pane)
    blue = near(picture(page), BLUE, 40)
    assert np.hypot(*(blue - (y, x)).T).min() < 3
    kinds = [pane["kind"] for pane in page.evaluate("polhode.panes()")]
    assert kinds == ["space", "poinsot"]


def test_it_draws_only_what_is_new(page, followed):
    sim, live = followed
    go(page, live)
    steps(sim, 5)
    caught_up(page, sim)
    page.wait_for_timeout(300)
    frames = page.evaluate("polhode.frames")
    page.wait_for_timeout(1500)  # longer than the server is silent
    assert page.evaluate("polhode.frames") == frames
    steps(sim, 1)
    caught_up(page, sim)
    assert page.evaluate("polhode.frames") > frames


def test_trails_and_curves_are_those_of_the_last_states(page, followed):
    sim, live = followed
    go(page, live)
    sim.set_state(omega=(0.0, 0.0, 3.0))
    times = []
    for _ in range(40):
        steps(sim, 1)
        times.append(sim.t)
        wait(page, f"polhode.time === {sim.t!r}")
    past = "polhode.follower.past"
    seen = page.evaluate(f"[...{past}.t.subarray(0, {past}.count)]")
    assert seen[-40:] == times
    assert seen == sorted(set(seen))
    count = len(seen)
    rates = page.evaluate(f"{past}.series[0].values.map((v) => v[{count - 1}])")
    assert rates == [0.0, 0.0, 3.0]
    labels = page.evaluate(f"{past}.series.map((s) => s.name)")
    assert labels == ["rates", "energy", "momentum", "position"]
    energy = page.evaluate(f"{past}.series[1].values[0][{count - 1}]")
    assert energy == pytest.approx(sim.energy, rel=1e-6)
    sim.rewind(10)
    wait(page, f"polhode.time === {sim.t!r}")
    assert page.evaluate(f"{past}.count") == count - 10
    arrays = page.evaluate(f"[{past}.t.length, {past}.attitudes.length]")
    assert arrays == [1200, 4800]


def test_what_is_kept_is_bounded(page, followed):
    """More states than the page keeps: the oldest go, and no array grows."""
    _, live = followed
    go(page, live)
    kept = page.evaluate(
        """() => {
          const past = polhode.follower.past, t = past.t, columns = past.columns;
          const state = new Array(18).fill(0);
          state[1] = 1;
          for (let k = 1; k <= 3000; k++) { state[0] = 10 + k; state[11] = k; past.push(state); }
          return [past.count, t[0], t[1199], past.t === t, past.columns === columns,
            past.series[0].t[0], past.series[3].values[0][0], past.places[3 * 1199]];
        }"""
    )
    assert kept == [1200, 1811, 3010, True, True, 1811, 1801, 2997]


def test_the_button_freezes_the_picture_and_not_the_simulation(page, followed):
    sim, live = followed
    go(page, live)
    button = page.locator("button.play")
    assert button.get_attribute("aria-label") == "Pause"
    steps(sim, 5)
    caught_up(page, sim)
    button.click()
    assert button.get_attribute("aria-label") == "Play"
    stopped = sim.t
    steps(sim, 10)
    page.wait_for_timeout(300)
    assert page.evaluate("polhode.time") == stopped
    assert not page.locator("input.time").is_visible()
    assert not page.locator("select.speed").is_visible()
    button.click()
    steps(sim, 2)
    caught_up(page, sim)
    assert page.evaluate("polhode.follower.past.count") < 5  # no line across the gap


def test_two_pages_follow(new_page, followed):
    sim, live = followed
    pages = new_page(), new_page()
    for page in pages:
        go(page, live)
    assert live.pages == 2
    steps(sim, 3)
    for page in pages:
        caught_up(page, sim)


def test_names_stay_text(page):
    name = "<img src=x onerror=\"document.title='bad'\"></script><script>alert(1)</script>"
    sim = ph.Simulator(BODY)
    with sim.view(browser=False, name=name, title=name) as live:
        go(page, live)
        assert page.title() == name
        assert page.locator(".corner summary").first.text_content() == name
        assert page.locator("img").count() == 0


# ---- pushing
def middle(page):
    """Return where the body is seen, and the camera's directions to the right and up."""
    pane, camera = page.evaluate("[polhode.panes()[0], polhode.camera()]")
    place = page.evaluate("[...polhode.staged.scenes.side[0].first.place]")
    ((x, y),) = project(place, camera, pane)
    yaw, pitch = camera["yaw"], camera["pitch"]
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    up = np.array([-np.sin(pitch) * np.cos(yaw), -np.sin(pitch) * np.sin(yaw), np.cos(pitch)])
    box = page.locator("canvas.scene").bounding_box()
    return x + box["x"], y + box["y"], right, up


def test_the_mouse_pulls_the_body(page, followed):
    sim, live = followed
    go(page, live)
    x, y, right, up = middle(page)
    before = sim.state
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 90, y - 60, steps=3)
    steps_until(sim, lambda: live.pushing)
    wait(page, "!polhode.follower.sending")
    assert len(near(picture(page), PURPLE, 30)) > 40  # the string
    camera = page.evaluate("polhode.camera()")
    steps(sim, 40)
    caught_up(page, sim)
    point = page.evaluate("polhode.staged.scenes.side[0].held.point")
    moved = sim.state.point_position(point) - before.point_position(point)
    assert moved @ right > 0.1
    assert moved @ up > 0.05
    assert abs(moved @ np.cross(right, up)) < 0.1 * REACH  # in the plane across the line of sight
    assert (sim.state.x - before.x) @ right > 0.05
    assert page.evaluate("polhode.camera()") == camera  # which stands still while it is held
    page.mouse.up()
    wait(page, "!polhode.staged.scenes.side[0].held && !polhode.follower.sending")
    steps_until(sim, lambda: not live.pushing)
    v, momentum = sim.state.v, sim.state.to_inertial(sim.state.angular_momentum)
    steps(sim, 20)
    np.testing.assert_allclose(sim.state.v, v, rtol=1e-12)
    turning = sim.state.to_inertial(sim.state.angular_momentum)
    np.testing.assert_allclose(turning, momentum, rtol=1e-9)


def test_a_held_body_comes_to_the_mouse(page, followed):
    """The point under the mouse is where it was taken: the string becomes short."""
    sim, live = followed
    go(page, live)
    x, y, _, _ = middle(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=2)
    steps_until(sim, lambda: live.pushing)
    steps(sim, 240)
    caught_up(page, sim)
    found = page.evaluate(
        """() => {
          const scene = polhode.staged.scenes.side[0], at = [0, 0, 0];
          scene.placeOf(scene.held, at);
          return [at, [...scene.held.target], scene.held.point];
        }"""
    )
    at, target, point = map(np.array, found)
    assert np.linalg.norm(at - target) < 0.1 * REACH
    origin = np.array([3.0, -2.0, 1.0])
    np.testing.assert_allclose(sim.state.point_position(point), at + origin, atol=1e-9)
    page.mouse.up()


def test_beside_the_body_the_mouse_turns_the_camera(page, followed):
    sim, live = followed
    go(page, live)
    before = page.evaluate("polhode.camera()")
    page.mouse.move(30, 300)
    page.mouse.down()
    page.mouse.move(130, 300, steps=4)
    page.mouse.up()
    settle(page)
    assert page.evaluate("polhode.camera().yaw") != before["yaw"]
    assert not live.pushing
    assert sim.step(0.1).v.tolist() == [0.0, 0.0, 0.0]


def test_a_page_that_is_closed_lets_go_and_stops_nothing(page, followed):
    sim, live = followed
    go(page, live)
    x, y, _, _ = middle(page)
    page.mouse.move(x, y)
    page.mouse.down()
    steps_until(sim, lambda: live.pushing)
    page.close()
    steps_until(sim, lambda: not live.pushing and live.pages == 0)
    assert not live.closed
    assert sim.step(0.01).t == sim.t


# ---- the end
def test_a_simulation_that_ends_says_so(page, followed):
    sim, live = followed
    go(page, live)
    steps(sim, 2)
    caught_up(page, sim)
    live.close()
    wait(page, f"{NOTICE}.textContent === 'the simulation has ended'")
    assert page.locator(".notice").is_visible()
    assert page.evaluate("polhode.time") == sim.t


PROGRAM = """
import time, polhode as ph
sim = ph.Simulator(ph.RigidBody([1, 2, 3]), omega=(1, 2, 3))
live = sim.view(browser=False)
print(live.address, flush=True)
live.run()
"""


def test_a_program_that_is_killed_has_ended(page):
    arguments = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as program:
        try:
            address = program.stdout.readline().strip()
            page.watch.origins = (urlsplit(address).netloc,)
            page.goto(address)
            wait(page, "window.polhode && window.polhode.time > 0.1")
        finally:
            program.kill()
    wait(page, f"{NOTICE}.textContent === 'the simulation has ended'")
    assert all("ERR_" in error for error in page.watch.errors)
    page.watch.errors.clear()


# ---- strangers
def test_a_wrong_token_is_refused(page, followed):
    _, live = followed
    page.watch.origins = (urlsplit(live.address).netloc,)
    for address in (live.address[:-2] + "/", live.address + "x", live.address.rsplit("/", 2)[0]):
        assert page.goto(address).status == 404
        assert page.evaluate("document.body.textContent.trim()") == "Not Found"
    page.watch.errors.clear()


@contextmanager
def another_site():
    """A page of another origin, and its address by two names."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"<!doctype html><title>another site</title>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


ATTACK = """async ([address, page]) => {
  const body = JSON.stringify({page, point: [0, 0, 0], target: [9, 9, 9]}), found = [];
  const ways = [
    {method: "POST", body, mode: "no-cors"},
    {method: "POST", body, mode: "no-cors", headers: {"Content-Type": "text/plain"}},
    {method: "POST", body, headers: {"Content-Type": "application/json"}},
  ];
  for (const way of ways)
    found.push(await fetch(address + "push", way).then((answer) => answer.type, () => "refused"));
  for (const name of ["", "states"])
    found.push(await fetch(address + name).then((answer) => answer.status, () => "refused"));
  found.push(await new Promise((done) => {
    const source = new EventSource(address + "states");
    source.onmessage = () => done("heard");
    source.onerror = () => (source.close(), done("refused"));
  }));
  const form = document.createElement("form");
  Object.assign(form, {method: "post", action: address + "push", enctype: "text/plain"});
  document.body.append(form);
  form.submit();
  return found;
}"""


def test_another_site_that_knows_the_address_is_refused(new_page, followed):
    sim, live = followed
    own = new_page()
    go(own, live)
    number = own.evaluate("polhode.follower.page")
    with another_site() as port:
        for host in ("127.0.0.1", "localhost"):
            other = new_page()
            other.goto(f"http://{host}:{port}/")
            found = other.evaluate(ATTACK, [live.address, number])
            assert found == ["refused"] * 6
            other.wait_for_timeout(300)  # its form is sent, and its errors come late
            assert not live.pushing
            assert live.pages == 1
            other.close()
            other.watch.errors.clear()
            other.watch.outside.clear()
    assert sim.step(0.1).v.tolist() == [0.0, 0.0, 0.0]


def test_the_page_has_a_policy_that_lets_it_ask_its_server_only(page, followed):
    _, live = followed
    go(page, live)
    with another_site() as port:
        ask = f"fetch('http://127.0.0.1:{port}/').then(() => 'answered', () => 'refused')"
        assert page.evaluate(ask) == "refused"
    assert page.watch.errors
    page.watch.errors.clear()
