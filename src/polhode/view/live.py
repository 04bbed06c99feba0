"""A page that follows a simulation while it runs, and through which a person can push the body.

The page holds a point of the body, at r from the centre of mass, and pulls it by a damped spring.
The force on the point P, with velocity V, towards the mouse at M is

    F = k (M - P) - c V,    k = μ w²,    c = 2 μ w                                     (1)

With μ the mass of the body, one that is held at its centre of mass comes to rest at the mouse,
without swinging over, and in the same time whatever its mass and size: w = 4π per second of the
film.  The force is constant over a step h.  So that this is stable, it is that of the implicit
Euler method, with P and V at the end of the step,

    (1 + h (c + h k) K) F = k (M - P) - (c + h k) V,    K = 1/m - [r] I⁻¹ [r]            (2)

where K is the velocity that an impulse gives to the point, and [r] the matrix of r ×.  This holds
for turns that are small in a step; so w is at most 1/(2h), and μ at most 8/|K|, which is less than
the mass only for points far outside of where the mass lies.

The force acts by ``apply_force``, in the thread that makes the step: nothing happens while the
simulation computes.
"""

import math
import sys
import time
import weakref
import webbrowser
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.contracts.checks import positive, whole
from polhode.errors import InputError
from polhode.view import notebook
from polhode.view.packing import Options, pack
from polhode.view.page import html_page
from polhode.view.serving import Channel, Server

PULL = 4 * math.pi  # w, in radians per second of the film
SLOWEST, LIGHTEST = 0.5, 8.0  # the largest h w and |K| μ
LONGEST = 10.0  # of the spring, in units of the body's reach
RATE = 60.0  # steps per second of the film, by default
PATIENCE = 5.0  # seconds to wait for the page of a browser that was opened
LATE = 0.1  # seconds after which lost time is not made up


def pull(
    state: Any, body: Any, point: Any, target: Any, dt: float, speed: float, longest: float
) -> np.ndarray:
    """Return the force (2) on a point of the body, in inertial axes.

    Parameters
    ----------
    state, body : with the attributes of a ``State`` and a ``RigidBody``
    point, target : in body axes from the centre of mass; in inertial axes
    dt : the step;  speed : seconds of motion per second of the film
    longest : the length of the spring beyond which it pulls no harder
    """
    a, b, e = state.to_inertial(point)
    lever = np.array([[0.0, -e, b], [e, 0.0, -a], [-b, a, 0.0]])
    axes = np.array([state.to_inertial(axis) for axis in np.eye(3)]).T
    yields = np.eye(3) / body.mass - lever @ axes @ np.linalg.pinv(body.inertia) @ axes.T @ lever
    w = min(PULL / speed, SLOWEST / dt)
    mass = min(body.mass, LIGHTEST / float(np.linalg.norm(yields, 2)))
    k, c = mass * w * w, 2.0 * mass * w  # (1)
    away = np.asarray(target) - state.point_position(point)
    away *= min(1.0, longest / max(float(np.linalg.norm(away)), 1e-300))
    stiff = c + dt * k
    now = k * away - stiff * state.point_velocity(point)
    return np.linalg.solve(np.eye(3) + dt * stiff * yields, now)  # (2)


class LiveView:
    """A simulation that is followed by pages in browsers; ``Simulator.view`` makes it.

    It ends with ``close()``, at the end of a ``with`` block, or with the program.  Closing a page
    stops nothing, and any number of pages up to 16 can be open.

    Attributes
    ----------
    address : of the page, on this machine.  Who knows it can push the body
    closed : True after ``close()``
    pages : the number of pages that are open
    """

    def __init__(self, sim: Any, page: bytes, reach: float, reporter: Callable, height: int):
        self._sim, self._reporter, self._height = sim, reporter, height
        self._channel = Channel(reach)
        self._pushed = False
        self._speed = 1.0
        self._expected = False
        server = Server(page, self._channel)
        self.address = server.address
        self._close = weakref.finalize(self, server.close)
        server.begin()

    @property
    def closed(self) -> bool:
        return not self._close.alive

    @property
    def pages(self) -> int:
        return len(self._channel.pages)

    def open(self) -> None:
        """Open a page, in the notebook or in the browser; print its address where there is none."""
        self._expected = (
            notebook.in_notebook() and notebook.show_frame(self.address, self._height)
        ) or webbrowser.open(self.address)
        if not self._expected:
            sys.stdout.write(f"open {self.address} in a browser on this machine\n")
            sys.stdout.flush()

    def close(self) -> None:
        """Stop following: pages show the last state and say that it has ended."""
        self._close()

    def __enter__(self) -> "LiveView":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        what = "closed" if self.closed else f"{self.address}, {self.pages} pages"
        return f"<LiveView {what}>"

    # ---- called by the simulator, in its thread
    @property
    def pushing(self) -> bool:
        """Whether a page holds the body, or did in the last step."""
        return self._pushed or bool(self._channel.grabs)

    def push(self, dt: float) -> None:
        """Apply the forces of all pages for the next step.

        They are jumps, across which no force is extrapolated.
        """
        sim, held = self._sim, self._channel.held()
        if held or self._pushed:
            sim.break_history()
        self._pushed = bool(held)
        state, longest = sim.state, LONGEST * self._channel.reach
        for grab in held:
            force = pull(state, sim.body, grab.point, grab.target, dt, self._speed, longest)
            if np.isfinite(force).all():
                sim.apply_force(force, at=grab.point)

    def publish(self, state: bytes) -> None:
        """Take a new state; the energy is computed only as often as it is shown."""
        channel = self._channel
        if channel.wanted:
            channel.wanted = False
            channel.latest = channel.full = state, self._sim.energy
        else:
            channel.latest = state, None

    # ---- a loop
    def run(
        self,
        seconds: float | None = None,
        dt: float | None = None,
        *,
        speed: float = 1.0,
        before: Callable[[Any], object] | None = None,
        progress: bool | Callable[[float], None] = False,
    ) -> Any:
        """Step the simulator in real time, and return its state at the end.  Ctrl-C ends it.

        Parameters
        ----------
        seconds : of the motion, a whole number of steps; None: until Ctrl-C, or ``close()``
        dt : the step; by default there are 60 steps in a second of the film
        speed : seconds of motion per second of the film
        before : a function of the simulator that is called before each step, to apply forces
        progress : True for a bar on stderr, or a function of the fraction done
        """
        speed = positive(speed, "speed")
        h = speed / RATE if dt is None else positive(dt, "dt")
        steps = None if seconds is None else max(1, round(positive(seconds, "seconds") / h))
        self._speed = speed
        self._wait_for_page()
        try:
            with self._reporter(progress if steps else False) as report:
                self._loop(h, h / speed, steps, before, report)
        except KeyboardInterrupt:
            self._sim.clear_forces()  # of the step that was not made
        finally:
            self._speed = 1.0
        return self._sim.state

    def _loop(
        self, h: float, wall: float, steps: int | None, before: Callable | None, report: Callable
    ) -> None:
        """Make steps of h, each when its time has come."""
        sim, count, due = self._sim, 0, time.monotonic()
        while count != steps and not self.closed:
            if before is not None:
                before(sim)
            sim.step(h)
            count, due, now = count + 1, due + wall, time.monotonic()
            if steps:
                report(count / steps)
            if due > now:
                self._channel.closing.wait(due - now)
            elif now - due > LATE:
                due = now

    def _wait_for_page(self) -> None:
        """Give a browser the time to open, so that the beginning is seen."""
        end = time.monotonic() + PATIENCE
        while self._expected and not self.pages and time.monotonic() < end:
            time.sleep(0.01)
        self._expected = False


# ---- the page
def follow(
    sim: Any,
    run: Any,
    reporter: Callable,
    height: int,
    name: str,
    points: Any,
    show: Any,
    theme: str,
    title: str | None,
    globe: Any,
) -> LiveView:
    """Follow a simulator; ``run`` is a trajectory with its state as the only row.

    ``reporter`` makes a progress bar; the rest is as in ``view``.
    """
    pixels = whole(height, "height", 100)
    if not isinstance(name, str):
        raise InputError(f"name must be a text, got {name!r}")
    heading = name if title is None else title
    packed = pack(run, Options([name], points, show, theme, title=heading, globe=globe))
    (entry,) = packed.header["runs"]
    entry |= {"facts": [["model", sim.model.name], ["method", sim.method]], "series": []}
    entry |= {"torque": None, "free": False}  # somebody may push
    if entry["ground"] is not None:  # the run may fall: so no lower than it is at the start
        entry["ground"] = {"height": min(0.0, entry["ground"]["height"])}
    state, model = sim.state, sim.model
    potential = model.has_potential and (model.moves or not model.is_free)
    parts = state.q, state.angular_momentum, state.omega, state.x, state.v
    numbers = [state.t, *np.concatenate(parts).tolist(), None]  # the server sends the energy
    about = {"mass": sim.body.mass, "energy": potential, "state": numbers}
    packed.header.update(kind="live", live=about)
    text = html_page(packed, connects=True)
    return LiveView(sim, text.encode(), entry["reach"], reporter, pixels)
