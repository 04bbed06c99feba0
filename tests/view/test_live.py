"""A simulation that is followed: the server and what it refuses, pushes, and bits that stay."""

import gc
import http.client
import json
import math
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from types import ModuleType, SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pytest

import polhode as ph
from polhode.view import live as live_module
from polhode.view import serving
from polhode.view.live import pull

BODY = ph.RigidBody.from_shapes(ph.shapes.box((0.6, 0.4, 0.3), mass=12.0))
START = {"omega": (0.4, -0.3, 0.9), "position": (1.0, -2.0, 0.5), "velocity": (0.3, 0.1, -0.2)}
GRAVITY = ph.models.uniform_gravity()
TYPE = {"Content-Type": "application/json"}
CORNER = (0.3, 0.2, 0.15)
PATIENCE = 20.0


def simulator(**others):
    return ph.Simulator(BODY, **START | others)


@pytest.fixture
def followed():
    """A simulator and its view, without a browser."""
    sim = simulator(model=GRAVITY)
    with sim.view(browser=False) as live:
        yield sim, live


class Door:
    """Requests to a server by hand, with headers as a browser would send them."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def ask(self, method="GET", path=None, body=None, headers=(), host=None):
        """Return (status, headers, body)."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path or self.path, skip_host=True)
            given = {"Host": host or f"{self.host}:{self.port}", **dict(headers)}
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None and "Content-Length" not in given:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def push(self, body, headers=(), **others):
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        path = self.path + "push"
        return self.ask("POST", path, text, {**TYPE, **dict(headers)}, **others)[0]

    def raw(self, data):
        """Send bytes and return all that comes back."""
        with socket.create_connection((self.host, self.port), timeout=PATIENCE) as plug:
            plug.sendall(data)
            parts = []
            while part := plug.recv(65536):
                parts.append(part)
        return b"".join(parts)

    @contextmanager
    def stream(self):
        """Open the events, as a page does."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.request("GET", self.path + "states")
        with connection.getresponse() as answer:
            connection.close()  # the answer keeps the socket until it is closed
            assert answer.status == 200
            yield Stream(answer)


class Stream:
    """The events of one page."""

    def __init__(self, answer):
        self.answer = answer
        self.page = json.loads(self.next("hello"))["page"]

    def next(self, kind="message"):
        """Return the data of the next event of a kind, and skip others."""
        name, data = "message", None
        while True:
            line = self.answer.fp.readline()
            assert line, "the events ended"
            if line.startswith(b"event: "):
                name = line[7:-1].decode()
            elif line.startswith(b"data: "):
                data = line[6:-1]
            elif line == b"\n":
                if name == kind and data is not None:
                    return data
                name, data = "message", None

    def state(self):
        return json.loads(self.next())


def door(live):
    return Door(live.address)


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


# ---- what is served
def test_the_page_is_served_under_its_token_only(followed):
    _, live = followed
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", live.address)
    status, headers, body = door(live).ask()
    assert status == 200
    assert body.startswith(b"<!doctype html>")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    for path in ("/", "/index.html", "/favicon.ico", "/" + "A" * 32 + "/", live.address, "//", "*"):
        assert door(live).ask(path=path)[0] == 404
    own = door(live).path
    for path in (own[:-1], own + "x", own + "../", own + "states/", own + "?x", own * 2):
        assert door(live).ask(path=path)[0] == 404
    assert door(live).ask(path=own[:-2] + "/")[0] == 404  # one letter less


def test_two_views_have_two_tokens(followed):
    _, live = followed
    other = simulator().view(browser=False)
    assert other.address != live.address
    mixed = live.address.replace(door(live).path, door(other).path)
    assert Door(mixed).ask()[0] == 404
    other.close()


def test_answers_have_the_headers_of_a_private_page(followed):
    _, live = followed
    answers = [door(live).ask(), door(live).ask(path="/"), door(live).ask(host="evil.example")]
    for _, headers, _ in answers:
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "connect-src 'self'" in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers
        assert headers["Server"] == "polhode"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "evil.example:{port}",
        "127.0.0.1:{port}.evil",
        "",
    ],
)
def test_another_host_is_refused(followed, host):
    """A name of another site that was rebound to loopback still says the name."""
    _, live = followed
    own = door(live)
    given = {"Host": host.format(port=own.port)}
    for path in (own.path, own.path + "states", "/"):
        assert own.ask(path=path, headers=given)[0] == 403
    assert own.push({"page": 1}, headers=given) == 403


def test_no_host_and_two_hosts_are_refused(followed):
    _, live = followed
    own = door(live)
    name = f"Host: 127.0.0.1:{own.port}\r\n"
    for hosts in ("", name + "Host: evil.example\r\n", name + name):
        answer = own.raw(f"GET {own.path} HTTP/1.1\r\n{hosts}\r\n".encode())
        assert answer.split()[1] == b"403"
    assert own.raw(f"GET {own.path} HTTP/1.1\r\n{name}\r\n".encode()).split()[1] == b"200"


def test_localhost_is_this_host_too(followed):
    _, live = followed
    own = door(live)
    assert own.ask(host=f"localhost:{own.port}")[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1", ""]
)
def test_another_origin_is_refused(followed, origin):
    _, live = followed
    own = door(live)
    given = {"Origin": origin.format(port=own.port)}
    assert own.ask(headers=given)[0] == 403
    assert own.ask(path=own.path + "states", headers=given)[0] == 403
    with own.stream() as stream:
        body = {"page": stream.page, "point": CORNER, "target": (0, 0, 0)}
        assert own.push(body, headers=given) == 403
        assert own.push(body, headers={"Sec-Fetch-Site": "cross-site"}) == 403
        assert not live.pushing
        good = {"Origin": f"http://127.0.0.1:{own.port}", "Sec-Fetch-Site": "same-origin"}
        assert own.push(body, headers=good) == 204
        assert live.pushing


@pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "POST"])
def test_other_methods_are_refused(followed, method):
    _, live = followed
    own = door(live)
    assert own.ask(method)[0] == 405
    assert own.ask(method, path=own.path + "states")[0] == 405
    assert own.ask("GET", path=own.path + "push")[0] == 405
    assert own.ask(method, path="/push")[0] == 404
    assert own.ask("MOVE")[0] == 501


def test_what_is_no_request_is_answered_and_nothing_is_repeated(followed, capfd):
    _, live = followed
    own = door(live)
    for data in (b"\x00\x01\r\n\r\n", b"GET <script> x y\r\n\r\n", b"GET /" + b"a" * 70000):
        answer = own.raw(data + b"\r\n\r\n")
        assert answer.split()[1] in (b"400", b"414")
        assert b"<script>" not in answer
    many = "".join(f"X-{i}: 1\r\n" for i in range(200))
    assert own.raw(f"GET / HTTP/1.1\r\n{many}\r\n".encode()).split()[1] == b"431"
    assert own.ask()[0] == 200
    printed = capfd.readouterr()
    assert printed.out == printed.err == ""


# ---- states
def test_states_follow_the_simulation(followed):
    sim, live = followed
    with door(live).stream() as stream:
        first = stream.state()
        assert first[:1] + first[11:14] == [0.0, 1.0, -2.0, 0.5]
        assert live.pages == 1
        sim.step(1 / 60)
        later = stream.state()
        state = sim.state
        parts = state.q, state.angular_momentum, state.omega, state.x, state.v
        assert later[:17] == [state.t, *np.concatenate(parts).tolist()]  # to the bit
        assert later[17] == pytest.approx(sim.energy, rel=1e-15)
        assert later[17] == sim.energy
    until(lambda: live.pages == 0)


def test_set_state_and_rewind_are_shown(followed):
    sim, live = followed
    with door(live).stream() as stream:
        assert stream.state()[0] == 0.0
        sim.step(0.25)
        assert stream.state()[0] == 0.25
        sim.set_state(position=(7, 8, 9))
        assert stream.state()[11:14] == [7.0, 8.0, 9.0]
        sim.rewind()
        assert stream.state()[0] == 0.0


def test_states_come_sixty_times_a_second_at_most(followed):
    sim, live = followed
    count, over = [], threading.Event()

    def follow():
        with door(live).stream() as stream:
            while not over.is_set():
                count.append(stream.state()[0])

    reader = threading.Thread(target=follow)
    reader.start()
    until(lambda: live.pages)
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        sim.step(1e-4)
    over.set()
    sim.step(1e-4)
    reader.join(PATIENCE)
    assert 2 <= len(count) <= 64
    assert count == sorted(set(count))  # never an old one


def test_a_model_without_a_potential_has_no_energy():
    drag = ph.force(lambda t, x, v, q, omega, params: (0.0, 0.0, 0.0), at=CORNER)
    sim = simulator(model=drag)
    with sim.view(browser=False) as live, door(live).stream() as stream:
        assert sim.energy is None
        assert stream.state()[17] is None


def test_a_page_that_reads_nothing_does_not_hold_up_the_simulation(followed, monkeypatch):
    """It is dropped once what is on the way to it has not been taken for some time."""
    sim, live = followed
    monkeypatch.setattr(serving, "event", lambda latest: b": " + b"x" * 2**20 + b"\n\n")
    monkeypatch.setattr(serving.Handler, "timeout", 0.5)
    own = door(live)
    plug = socket.socket()
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plug.connect((own.host, own.port))
    plug.sendall(f"GET {own.path}states HTTP/1.1\r\nHost: {own.host}:{own.port}\r\n\r\n".encode())
    until(lambda: live.pages == 1)
    longest, end = 0.0, time.monotonic() + PATIENCE
    while live.pages and time.monotonic() < end:
        before = time.thread_time()
        sim.step(1e-4)
        longest = max(longest, time.thread_time() - before)
        time.sleep(0.001)
    assert live.pages == 0
    assert longest < 0.05
    plug.close()


def test_pages_are_limited_and_others_then_find_room(followed):
    _, live = followed
    own, streams = door(live), []
    for _ in range(serving.PAGES):
        stream = own.stream()
        streams.append(stream)
        stream.__enter__()
    assert live.pages == serving.PAGES
    assert own.ask(path=own.path + "states")[0] == 503
    assert own.ask()[0] == 200
    streams.pop().__exit__(None, None, None)
    until(lambda: live.pages < serving.PAGES)
    with own.stream() as stream:
        assert stream.page > serving.PAGES  # numbers are not given twice
    for stream in streams:
        stream.__exit__(None, None, None)


def test_connections_are_limited_and_cut(followed, monkeypatch):
    """Connections that say nothing, or a letter now and then, do not fill the server for long."""
    sim, live = followed
    monkeypatch.setattr(serving, "CONNECTIONS", 8)
    monkeypatch.setattr(serving, "DEADLINE", 2.0)
    own, before = door(live), set(threading.enumerate())
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection((own.host, own.port), timeout=PATIENCE))
            for _ in range(20)
        ]
        until(lambda: len(set(threading.enumerate()) - before) == 8)
        sim.step(0.01)

        def drip():
            for plug in slow:
                with suppress(OSError):
                    plug.send(b"x")
            return set(threading.enumerate()) <= before

        until(drip)
        assert own.ask()[0] == 200


# ---- pushes
def good(page, **others):
    return {"page": page, "point": list(CORNER), "target": [1.0, 2.0, 3.0], **others}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"3",
        b"\xff\xfe",
        b'{"page": 1, "page": ',
        b"[" * 1000,
        {},
        {"point": [0, 0, 0], "target": [0, 0, 0]},
        {"page": 1, "point": [0, 0, 0]},
        {"page": "1"},
        {"page": True},
        {"page": 1.0},
        {"page": 1, "extra": 1},
        good(1, extra=1),
        good(1, point=None),
        good(1, point=[0, 0]),
        good(1, point=[0, 0, 0, 0]),
        good(1, point=[0, 0, "0"]),
        good(1, point=[0, 0, True]),
        good(1, point=[0, 0, [0]]),
        good(1, point={"0": 0, "1": 0, "2": 0}),
        good(1, point=[0, 0, 1e3]),  # not on the body
        good(1, target=[0, 0, 1e300]),
        good(1, target=[0, 0, math.nan]),
        good(1, target=[math.inf, 0, 0]),
        b'{"page": 1, "point": [0, 0, 0], "target": [0, 0, 1' + b"0" * 400 + b"]}",
        b'{"page": 1, "point": [0, 0, 0], "target": [0, 0, 1e999]}',
    ],
    ids=repr,
)
def test_what_is_no_push_is_refused(followed, body):
    sim, live = followed
    with door(live).stream() as stream:
        assert stream.page == 1
        assert door(live).push(body) == 400
        assert not live.pushing
        sim.step(0.01)


def test_pushes_of_other_types_and_sizes_are_refused(followed):
    _, live = followed
    own = door(live)
    with own.stream() as stream:
        body = json.dumps(good(stream.page)).encode()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            assert own.push(body, {"Content-Type": kind}) == 415
        assert own.push(body, {"Content-Type": None}) == 415
        assert own.push(body + b" " * serving.LARGEST) == 413
        assert own.push(b" " * 300_000) == 413
        for length in ("-1", "x", "1e2", "", " ", "²", "9" * 400):
            given = {**TYPE, "Content-Length": length.encode()}
            status = own.ask("POST", own.path + "push", None, given)[0]
            assert status == (413 if length.startswith("9") else 411)
        assert own.ask("POST", own.path + "push", None, TYPE)[0] == 411
        chunked = {**TYPE, "Transfer-Encoding": "chunked", "Content-Length": "5"}
        assert own.ask("POST", own.path + "push", b"0\r\n\r\n", chunked)[0] == 411
        assert not live.pushing
        assert own.push(body, {"Content-Type": "application/json; charset=utf-8"}) == 204


def test_only_an_open_page_can_push_and_closing_it_lets_go(followed):
    _, live = followed
    own = door(live)
    assert own.push(good(1)) == 409
    with own.stream() as stream:
        assert own.push(good(stream.page + 1)) == 409
        assert own.push(good(stream.page)) == 204
        assert live.pushing
        assert own.push({"page": stream.page}) == 204
        assert not live.pushing
        assert own.push(good(stream.page)) == 204
    until(lambda: not live.pushing)


def test_a_page_that_falls_silent_lets_go(followed, monkeypatch):
    sim, live = followed
    monkeypatch.setattr(serving, "HELD", 0.05)
    with door(live).stream() as stream:
        assert door(live).push(good(stream.page)) == 204
        time.sleep(0.1)
        before = sim.state.v
        state = sim.step(0.01)
        assert not live.pushing
        np.testing.assert_allclose(state.v - before, [0, 0, -0.0980665], atol=1e-14)


@pytest.fixture
def forces(monkeypatch):
    """All forces that are applied to simulators, as (force, point)."""
    found, apply = [], ph.Simulator.apply_force

    def note(self, force, at=(0.0, 0.0, 0.0), frame="inertial"):
        found.append((np.array(force), tuple(at), frame))
        apply(self, force, at, frame)

    monkeypatch.setattr(ph.Simulator, "apply_force", note)
    return found


@pytest.mark.parametrize("extrapolation", [0, 2])
def test_a_push_changes_the_momentum_by_force_times_time(forces, extrapolation):
    sim = simulator(extrapolation=extrapolation, record=True)
    twin = simulator()
    with sim.view(browser=False) as live, door(live).stream() as stream:
        momentum = BODY.mass * sim.state.v
        for k in range(50):
            if k == 10:
                assert door(live).push(good(stream.page)) == 204
            if k == 40:
                assert door(live).push({"page": stream.page}) == 204
            dt, count = (0.01, 0.02, 0.005)[k % 3], len(forces)
            state = sim.step(dt)
            assert len(forces) - count == (10 <= k < 40)
            for force, point, frame in forces[count:]:
                assert (point, frame) == (CORNER, "inertial")
                momentum = momentum + dt * force
                twin.apply_force(force, at=point)
            assert twin.step(dt) == state  # the same bits: nothing else has been done
            forces[count + 1 :] = []
        assert np.linalg.norm(momentum - BODY.mass * np.array(START["velocity"])) > 1.0
        np.testing.assert_allclose(BODY.mass * state.v, momentum, rtol=0, atol=1e-12)


def test_the_angular_momentum_changes_by_the_moment_of_the_push(forces):
    """About the origin, by the integral of the moment, along the motion of the point."""
    sim = simulator(record=True)

    def whole(state):
        turning = state.to_inertial(state.angular_momentum)
        return turning + np.cross(state.x, BODY.mass * state.v)

    with sim.view(browser=False) as live, door(live).stream() as stream:
        before, gained = whole(sim.state), np.zeros(3)
        assert door(live).push(good(stream.page)) == 204
        for _ in range(200):
            start = sim.state.point_position(CORNER), sim.state.point_velocity(CORNER)
            state = sim.step(1e-3)
            end = state.point_position(CORNER), state.point_velocity(CORNER)
            mean = (start[0] + end[0]) / 2 + 1e-3 * (start[1] - end[1]) / 12  # Hermite
            gained += 1e-3 * np.cross(mean, forces[-1][0])
    assert np.linalg.norm(gained) > 1.0
    np.testing.assert_allclose(whole(state) - before, gained, atol=1e-7)


def test_two_pages_push_together(forces):
    sim = simulator()
    with sim.view(browser=False) as live, door(live).stream() as a, door(live).stream() as b:
        assert a.page != b.page
        assert door(live).push(good(a.page)) == 204
        assert door(live).push(good(b.page, point=[0, 0, 0])) == 204
        sim.step(0.01)
        assert [at for _, at, _ in forces] == [CORNER, (0.0, 0.0, 0.0)]


def test_a_failed_step_applies_a_push_once():
    def failing(t, x, v, q, omega, params):
        return (1e308 * 1e10 if x[0] > 5.0 else 0.0, 0.0, 0.0)

    sim = simulator(model=ph.force(failing), extrapolation=1)
    with sim.view(browser=False) as live, door(live).stream() as stream:
        sim.apply_torque((1, 2, 3))
        sim.step(0.01)
        sim.apply_torque((1, 2, 3))
        kept = sim._now.tobytes(), sim._clock.tobytes()
        assert door(live).push(good(stream.page, target=[1e3, 0, 0])) == 204
        with pytest.raises(ph.StepError):
            sim.step(100.0)
        assert (sim._now.tobytes(), sim._clock.tobytes()) == kept
        sim.step(0.001)


# ---- the spring
def test_the_spring_brings_the_centre_of_mass_to_rest_at_the_mouse():
    """As m x'' = -k (x - M) - c x' with k = m w², c = 2 m w does: x - M = (1 + w t) e^(-w t) x₀."""
    w, target = 4 * math.pi, np.array([2.0, 1.0, -0.5])
    sim = ph.Simulator(BODY)
    for k in range(1, 1001):
        force = pull(sim.state, BODY, (0, 0, 0), target, 1e-3, 1.0, 1e3)
        sim.apply_force(force)
        state = sim.step(1e-3)
        exact = target * (1 - (1 + w * k * 1e-3) * math.exp(-w * k * 1e-3))
        assert abs(state.x - exact).max() < 0.01
    assert abs(state.x - target).max() < 1e-4


SOLIDS = {  # moments, and a corner
    "cube": ((2 / 3, 2 / 3, 2 / 3), (1.0, 1.0, 1.0)),
    "beam": ((0.01, 1.0, 1.0), (1.72, 0.12, 0.12)),
    "rod": ((0.0, 1.0, 1.0), (1.73, 0.0, 0.0)),
    "plate": ((1.0, 1.0, 2.0), (1.73, 1.73, 0.0)),
}


@pytest.mark.parametrize("dt", [1e-3, 1 / 60, 0.5, 20.0])
@pytest.mark.parametrize("solid", SOLIDS)
def test_the_spring_is_stable_for_any_step(dt, solid):
    """The corner comes near the mouse and stays there, though the body swings about it."""
    moments, point = SOLIDS[solid]
    body = ph.RigidBody(moments, mass=1.0)
    sim, target = ph.Simulator(body), np.array([0.5, 0.8, 2.5])
    first = np.linalg.norm(target - sim.state.point_position(point))
    most = 0.5 * (4 * math.pi * first) ** 2  # the energy of the spring at the start
    for _ in range(600):
        sim.apply_force(pull(sim.state, body, point, target, dt, 1.0, 1e3), at=point)
        state = sim.step(dt)
        assert sim.energy < most
    assert np.linalg.norm(target - state.point_position(point)) < 0.2 * first


def test_the_spring_pulls_no_harder_than_it_is_long():
    sim = ph.Simulator(BODY)
    near, far = ((0.0, 0.0, height) for height in (2.0, 1e9))
    a, b = (pull(sim.state, BODY, (0, 0, 0), target, 0.01, 1.0, 2.0) for target in (near, far))
    np.testing.assert_allclose(a, b, rtol=1e-12)
    small, large = (ph.RigidBody(np.array([1, 2, 2.5]) * m, mass=m) for m in (1e-3, 1e6))
    forces = [pull(ph.Simulator(c).state, c, CORNER, near, 0.01, 1.0, 9.0) for c in (small, large)]
    np.testing.assert_allclose(forces[1] / forces[0], 1e9, rtol=1e-9)


def test_at_another_speed_the_spring_is_as_stiff_in_the_film():
    """A step of 2 s at twice the speed moves the body as one of 1 s at the speed 1."""
    ends = []
    for speed in (1.0, 1e-3, 86400.0):
        sim, dt = ph.Simulator(BODY), speed / 60
        for _ in range(30):
            sim.apply_force(pull(sim.state, BODY, (0, 0, 0), (1, 2, 3), dt, speed, 1e3))
            state = sim.step(dt)
        ends.append(state.x)
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=1e-9)


# ---- the simulation is the same
def test_a_followed_simulation_has_the_bits_of_one_that_is_not(followed):
    sim, live = followed
    alone = simulator(model=GRAVITY)
    with door(live).stream():
        for k in range(500):
            for each in (sim, alone):
                each.apply_force((0, 0, 118), at=(0.1, 0, 0), frame="body")
            assert sim.step((1 + k % 7) * 1e-3) == alone.step((1 + k % 7) * 1e-3)
        assert sim.rewind(3) == alone.rewind(3)
        assert sim.step(0.1) == alone.step(0.1)


def test_a_memory_that_grows_grows_under_a_view(monkeypatch):
    monkeypatch.setattr("polhode.solvers.simulator.FIRST_ROWS", 4)
    sim, alone = simulator(record=True), simulator(record=True)
    with sim.view(browser=False) as live, door(live).stream() as stream:
        for _ in range(100):
            assert sim.step(0.01) == alone.step(0.01)
        until(lambda: stream.state()[0] == sim.t)
    sim.step(0.01)
    alone.step(0.01)
    assert (sim.trajectory().q == alone.trajectory().q).all()
    assert len(sim.trajectory().t) == 102


def test_without_a_view_a_step_is_the_machine_code_itself():
    sim = simulator()
    before = sim._go.func
    live = sim.view(browser=False)
    assert sim._go.func is not before
    live.close()
    sim.step(0.01)
    assert sim._go.func is before
    assert sim.nsteps == 1


def test_importing_and_stepping_load_no_server():
    code = (
        "import sys, polhode as ph; ph.Simulator(ph.RigidBody([1, 2, 3])).step(0.1);"
        "print([m for m in sys.modules if m.startswith('polhode.view') or m == 'http.server'])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"


# ---- opening and closing
def test_a_second_view_is_the_first_until_it_is_closed(followed):
    sim, live = followed
    assert sim.view(browser=False) is live
    live.close()
    other = sim.view(browser=False)
    assert other is not live
    assert other.address != live.address
    other.close()


def test_closing_tells_the_pages_and_stops_listening(followed):
    sim, live = followed
    own = door(live)
    with own.stream() as stream:
        assert not live.closed
        assert "1 pages" in repr(live) or "1 page" in repr(live)
        live.close()
        live.close()
        assert live.closed
        assert stream.next("end") == b"{}"
    with pytest.raises(ConnectionError):
        own.ask()
    assert sim.step(0.1).t == 0.1
    assert "closed" in repr(live)
    until(lambda: not [t for t in threading.enumerate() if t.name == "polhode-live"])


def test_a_view_ends_with_its_simulator():
    sim = simulator()
    address = sim.view(browser=False).address
    sim.step(0.1)
    assert Door(address).ask()[0] == 200  # though nobody keeps the view
    del sim
    gc.collect()
    with pytest.raises(ConnectionError):
        Door(address).ask()


@pytest.mark.parametrize("end", ["", "raise ValueError", "sys.exit(3)"])
def test_a_program_that_ends_is_not_held_up(end):
    code = f"""
import sys, threading, urllib.request, polhode as ph
sim = ph.Simulator(ph.RigidBody([1, 2, 3]))
live = sim.view(browser=False)
urllib.request.urlopen(live.address).read()
stream = urllib.request.urlopen(live.address + "states")
stream.readline()
sim.step(0.1)
print("done", flush=True)
{end}
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "done\n"
    assert ("ValueError" in ended.stderr) == ("Value" in end)
    assert end == "raise ValueError" or ended.stderr == ""


# ---- the loop in real time
def test_run_takes_as_long_as_it_says(followed):
    sim, live = followed
    seen = []
    before = time.monotonic()
    state = live.run(0.5, progress=seen.append)
    took = time.monotonic() - before
    assert state == sim.state
    assert sim.nsteps == 30
    assert state.t == pytest.approx(0.5)
    assert 0.45 < took < 5.0
    assert seen[-1] == 1.0
    assert len(seen) == 30
    before = time.monotonic()
    live.run(10.0, 0.1, speed=50.0)
    assert sim.nsteps == 130
    assert 0.15 < time.monotonic() - before < 5.0


def test_run_calls_before_each_step_and_ctrl_c_ends_it(followed):
    sim, live = followed
    calls = []

    def before(given):
        calls.append(given)
        given.apply_force((0, 0, 100.0))
        if len(calls) == 5:
            raise KeyboardInterrupt

    state = live.run(before=before)
    assert calls == [sim] * 5
    assert sim.nsteps == 4
    assert not any(sim._now)  # what was applied for the fifth is gone
    assert state == sim.state
    assert not live.closed


def test_run_ends_when_the_view_is_closed(followed):
    sim, live = followed
    threading.Timer(0.2, live.close).start()
    live.run()
    assert live.closed
    assert sim.nsteps > 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seconds": 0}, "seconds must be positive"),
        ({"seconds": math.nan}, "seconds must be positive"),
        ({"dt": -1}, "dt must be positive"),
        ({"speed": 0}, "speed must be positive"),
        ({"speed": math.inf}, "speed must be positive"),
    ],
)
def test_what_run_refuses(followed, arguments, message):
    sim, live = followed
    with pytest.raises(ph.PolhodeError, match=message):
        live.run(**{"seconds": 1, **arguments})
    assert sim.nsteps == 0


# ---- browsers and notebooks
def test_a_browser_is_opened_and_waited_for(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(live_module, "PATIENCE", 0.2)
    sim = simulator()
    with sim.view() as live:
        assert opened == [live.address]
        before = time.monotonic()
        live.run(0.05)
        assert time.monotonic() - before > 0.2
        sim.view()
        assert opened == [live.address] * 2


def test_without_a_browser_the_address_is_printed(monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    with simulator().view() as live:
        assert live.address in capsys.readouterr().out


def test_a_notebook_shows_the_page_in_a_frame(monkeypatch):
    shown = []
    shell = SimpleNamespace(kernel=object())
    fake = ModuleType("IPython")
    fake.get_ipython = lambda: shell
    fake.display = ModuleType("IPython.display")
    fake.display.IFrame = lambda *arguments, **options: (*arguments, options)
    fake.display.display = shown.append
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", fake.display)
    monkeypatch.setattr("webbrowser.open", lambda address: pytest.fail("opened a browser"))
    with simulator().view(height=300) as live:
        assert shown == [(live.address, {"width": "100%", "height": 300})]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": 3}, "name must be a text, got 3"),
        ({"theme": "pink"}, "theme must be one of auto, light, dark, got 'pink'"),
        ({"height": 5}, "height must be a whole number, 100 or more, got 5"),
        ({"show": {"tail": True}}, "a name in show must be one of"),
        ({"points": "ab"}, "points"),
    ],
)
def test_what_view_refuses(options, message):
    sim = simulator()
    with pytest.raises(ph.PolhodeError, match=message):
        sim.view(browser=False, **options)
    assert sim.step(0.1).t == 0.1
