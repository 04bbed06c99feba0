"""``Simulator``: a body driven from outside, one step after the other.

``loops/driven`` has what acts over a step, and the step itself.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import loops as templates
from polhode.body import RigidBody
from polhode.compiler.machine import exactly
from polhode.compiler.tree import bind, flat, like
from polhode.contracts import (
    ADVICE,
    ALIGNED,
    OK,
    ORIGIN,
    Integrator,
    Method,
    Model,
    Status,
    potential_at,
)
from polhode.contracts.checks import finite, three, whole
from polhode.errors import InputError, MethodError, StepError
from polhode.files.given import memory as machine_memory
from polhode.formulations.quaternion import FORMULATION as QUATERNION
from polhode.kernels.quaternion import to_body, to_inertial, to_unit_length
from polhode.kernels.vector import cross, dot, multiply, scale
from polhode.loops.driven import NOTHING, driven, packed_step, seen, seen_in_variables
from polhode.loops.join import Along, fixed, zeros
from polhode.problems.problem import Problem, inner_state, quaternion, rates
from polhode.results.trajectory import Trajectory
from polhode.solvers.arguments import (
    check_body,
    check_model,
    find_integrator,
    find_method,
    is_integrator,
    number_or_nan,
    with_options,
)
from polhode.solvers.bound import Bound, bind_fixed
from polhode.solvers.progress import reporter

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    from polhode.view.live import LiveView

IDENTITY = 1.0, 0.0, 0.0, 0.0
SHOWN = 0.0, IDENTITY, ORIGIN, ORIGIN, ORIGIN, ORIGIN  # t, q, m, ω in the user's axes, x, v
ORDERS = 0, 1, 2  # of the polynomial through the applied forces
PLACES = {"inertial": 6, "body": 9}  # of the torques that are applied
FIRST = Struct("d")
FIRST_ROWS = 1024  # of a memory that grows
MANY = 2**62  # steps to remember: as many as there is room for


class State:
    """The state of a ``Simulator`` at one time; it never changes.  Arrays are read-only.

    Attributes
    ----------
    t : time
    q : attitude (w, x, y, z), body to inertial;  rotation : the same as a SciPy ``Rotation``
    omega, angular_momentum : in body axes
    x, v : position and velocity of the centre of mass in inertial axes

    Examples
    --------
    >>> import polhode as ph
    >>> sim = ph.Simulator(ph.RigidBody([1, 2, 3], mass=2.0), omega=(0, 0, 1), position=(1, 0, 0))
    >>> state = sim.step(0.1)
    >>> state.point_position((0.5, 0, 0)).round(3).tolist()
    [1.498, 0.05, 0.0]
    """

    __slots__ = ("_numbers",)
    _numbers: bytes  # set by the simulator: __init__ would cost as much as all the rest

    t = property(lambda self: FIRST.unpack_from(self._numbers)[0])
    q = property(lambda self: np.frombuffer(self._numbers, float, 4, 8))
    angular_momentum = property(lambda self: np.frombuffer(self._numbers, float, 3, 40))
    omega = property(lambda self: np.frombuffer(self._numbers, float, 3, 64))
    x = property(lambda self: np.frombuffer(self._numbers, float, 3, 88))
    v = property(lambda self: np.frombuffer(self._numbers, float, 3, 112))

    @property
    def rotation(self) -> "Rotation":
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(self.q, scalar_first=True)

    # ---- vectors and points
    def to_inertial(self, v: Any) -> np.ndarray:
        """Return the inertial components of a vector in body axes."""
        return np.array(to_inertial(self.q.tolist(), three(v, "v")))

    def to_body(self, v: Any) -> np.ndarray:
        """Return the body components of a vector in inertial axes."""
        return np.array(to_body(self.q.tolist(), three(v, "v")))

    def point_position(self, p: Any) -> np.ndarray:
        """Return the inertial position of a point of the body.

        ``p`` is in body axes, from the centre of mass.
        """
        return self.x + self.to_inertial(three(p, "p"))

    def point_velocity(self, p: Any) -> np.ndarray:
        """Return the velocity of a point ``p`` of the body in inertial axes, v + R (ω × p)."""
        return self.v + self.to_inertial(cross(self.omega.tolist(), three(p, "p")))

    def __eq__(self, other: object) -> bool:
        """Whether all bits are the same."""
        return isinstance(other, State) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __repr__(self) -> str:
        vectors = {name: getattr(self, name).tolist() for name in ("q", "omega", "x", "v")}
        return f"State(t={self.t!r}, {', '.join(f'{k}={v}' for k, v in vectors.items())})"


class Simulator:
    """A body in a loop that is driven from outside: a game, hardware, a co-simulation.

    Forces and torques are applied between two steps; they act over the next step and are then
    forgotten.  What can be expressed as a model (gravity, springs, drag) should be: a model is
    evaluated within the step, while an applied force is known only at its start.

    Parameters
    ----------
    body : RigidBody
    model : what else acts on it, as in ``Problem``
    method : a name from ``ph.METHODS`` or a ``Method`` that takes a torque; from
        ``ph.INTEGRATORS`` one with fixed steps.  "rkn4" is explicit and of order 4
    attitude, omega, angular_momentum, position, velocity, scalar_first : as in ``Problem``; by
        default at rest at the origin
    t : the time at the start
    extrapolation : 0: what is applied is constant over the step; 1 or 2: it continues as a line or
        a parabola through its values at the starts of the last steps.  If it varies smoothly, the
        error of the motion is proportional to dt to the power 1, 2 or 3
    substeps : the number of steps of the method in one step of the simulator
    memory : the number of steps that ``rewind`` can undo and ``trajectory`` returns
    record : True: remember all steps, up to a quarter of the machine's memory; then the last ones
    options : of the method, by name: ``{"tolerance": 1e-8}`` for "rkn4" takes as
        many substeps as this needs

    Attributes
    ----------
    state : a ``State``;  t : its time;  nsteps : steps so far
    energy : kinetic, and potential of the model; None if that has no potential
    body, model, method : as given, the method by its name

    Examples
    --------
    >>> import polhode as ph
    >>> sim = ph.Simulator(ph.RigidBody([1, 2, 3], mass=2), model=ph.models.uniform_gravity())
    >>> for _ in range(60):
    ...     sim.apply_force((0, 0, 30), at=(0.1, 0, 0), frame="body")
    ...     state = sim.step(1 / 60)
    >>> round(sim.t, 12), state.x.shape
    (1.0, (3,))
    >>> sim.rewind(30).t
    0.5
    """

    __slots__ = (
        "_clock",
        "_data",
        "_earliest",
        "_go",
        "_kept",
        "_live",
        "_memory",
        "_now",
        "_potential",
        "_settings",
        "_show",
        "_shown",
        "_state",
        "_widths",
        "body",
        "bound",
        "model",
    )

    def __init__(
        self,
        body: RigidBody,
        *,
        model: Model | None = None,
        method: str | Method | Integrator = "rkn4",
        attitude: Any = None,
        omega: Any = None,
        angular_momentum: Any = None,
        position: Any = ORIGIN,
        velocity: Any = ORIGIN,
        scalar_first: bool | None = None,
        t: float = 0.0,
        extrapolation: int = 0,
        substeps: int = 1,
        memory: int = 64,
        record: bool = False,
        options: Mapping[str, Any] | None = None,
    ):
        if omega is None and angular_momentum is None:
            omega = ORIGIN
        x, v = (ORIGIN if given is None else given for given in (position, velocity))
        begun = attitude, omega, angular_momentum, x, v
        problem = Problem(body, model, *begun, scalar_first=scalar_first)
        _refuse_variables(problem.model)
        if extrapolation not in ORDERS:
            raise InputError(f"extrapolation must be 0, 1 or 2, got {extrapolation!r}")
        order, n = int(extrapolation), whole(substeps, "substeps", 1)
        self._kept, self._earliest = MANY if record else whole(memory, "memory", 0), 0
        self._live: LiveView | None = None
        self._settings: dict[str, Any] = {"extrapolation": order, "substeps": n}
        if options:
            self._settings["options"] = dict(options)
        self.body, self.model = body, problem.model
        self._potential: Any = None
        self.bound, own = _bind(problem, with_options(method, options))
        self._prepare(finite(t, "t"), own)

    def _prepare(self, t: float, own: dict[Callable, Callable]) -> None:
        """Lay out the row of numbers, and compile a step."""
        bound, loops, aligned = self.bound, self.bound.loops, self.body.is_aligned
        clock = t, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0
        kept = SHOWN, clock, bound.first, bound.carry, (NOTHING, NOTHING)
        row = *kept, NOTHING, bound.body, self.model.numbers
        if loops.run is None:
            fresh = 1.0 if bound.method.torques_at_start else 0.0
            template = bind(packed_step(zeros(row), fresh), own | (ALIGNED if aligned else {}))
            loops.run = templates.build(template, loops.method, loops.model, aligned, loops.plain)
        self._widths = [len(flat(part)) for part in row[:6]]
        self._data = np.array([flat(row)])
        width = len(flat(kept))
        self._kept, self._memory = _room(self._kept, width)
        self._shown, self._clock, self._state, *_, self._now = _views(self._data[0], self._widths)
        known = self._data, self._memory, bound.weights, bound.offsets, self.model.tables
        loops.run(*known, 0, 0, 0.0)  # compiled here, not in the first step
        self._take()

    def _take(self) -> Callable:
        """Prepare the step, for the memory as it is; return it as it is without a view."""
        n, order = self._settings["substeps"], self._settings["extrapolation"]
        loops, bound = self.bound.loops, self.bound
        known = self._data, self._memory, bound.weights, bound.offsets, self.model.tables
        run = exactly(loops.run, *known, n, order, 0.0)
        go, self._show = partial(run, *known, n, order), partial(run, *known, 0, order, 0.0)
        if len(self._memory) < self._kept:
            go = partial(self._go_and_grow, go)
        self._go = go if self._live is None else partial(self._go_and_publish, go)
        return go

    def _go_and_grow(self, go: Callable, dt: float) -> tuple:
        """Take a step; make room for it first if all steps are remembered."""
        rows = len(self._memory)
        if self.nsteps < rows:
            return go(dt)
        self._memory = _larger(self._memory, self._kept)
        return self._take()(dt)

    def _go_and_publish(self, go: Callable, dt: float) -> tuple:
        """Take a step of a simulator that is viewed: push before it, publish the state after it."""
        live = self._live
        if live is None or live.closed:
            self._live = None
            return self._take()(dt)
        if not live.pushing:
            done = go(dt)
        else:
            before = self._clock[3], np.array(self._now)
            live.push(dt)
            done = go(dt)
            if done[0] != OK:
                self._clock[3], self._now[:] = before[0], before[1].data
        self._publish()
        return done

    def _publish(self) -> None:
        """Hand a copy of the state to the pages that follow it."""
        if self._live is not None:
            self._live.publish(self._shown.tobytes())

    @property
    def method(self) -> str:
        return self.bound.name

    # ---- the state
    @property
    def t(self) -> float:
        return self._clock[0]

    @property
    def nsteps(self) -> int:
        return int(self._clock[2])

    @property
    def state(self) -> State:
        state = State()
        state._numbers = self._shown.tobytes()
        return state

    @property
    def energy(self) -> float | None:
        if not self.model.has_potential:
            return None
        if self._potential is None:
            self._potential = templates.model_pieces(self.model, self.body.is_aligned)[potential_at]
        return _energy(self.t, self._state, self.body.data, self._potential, self.model.params)

    def set_state(
        self,
        *,
        attitude: Any = None,
        omega: Any = None,
        angular_momentum: Any = None,
        position: Any = None,
        velocity: Any = None,
        scalar_first: bool | None = None,
    ) -> State:
        """Change the state, for instance after a collision, and break the history.

        What is not given stays as it is (angular velocities in body axes), and so does what was
        applied for the next step.
        """
        body, m = self.body, ORIGIN
        q = IDENTITY if attitude is None else quaternion(attitude, scalar_first)
        if turns := omega is not None or angular_momentum is not None:
            _, m = rates(body, omega, angular_momentum)
        x = ORIGIN if position is None else three(position, "position")
        v = ORIGIN if velocity is None else three(velocity, "velocity")
        given = attitude is not None, turns, position is not None, velocity is not None
        new = zip(given, _parted(self._state), inner_state(body, q, m, x, v), strict=True)
        for i, number in enumerate(flat(tuple(now if g else old for g, old, now in new))):
            self._state[i] = number
        self._clock[6] = 1.0
        self.break_history()
        self._show()
        self._publish()
        return self.state

    # ---- forces over the next step
    def apply_force(self, force: Any, at: Any = ORIGIN, frame: str = "inertial") -> None:
        """Apply a force over the next step, in newtons; all applied forces add up.

        ``at`` is the point of the body at which it acts, in body axes, from the centre of mass; the
        torque follows from it.  ``frame``: "inertial", or "body" for a force that turns with the
        body.
        """
        x, y, z = _three(force, "force")
        now = self._now
        if frame == "inertial":
            if at is not ORIGIN:
                a, b, c = _three(at, "at")
                now[12] += x * a
                now[13] += y * a
                now[14] += z * a
                now[15] += x * b
                now[16] += y * b
                now[17] += z * b
                now[18] += x * c
                now[19] += y * c
                now[20] += z * c
            place = 0
        elif frame == "body":
            if at is not ORIGIN:
                a, b, c = _three(at, "at")
                now[9] += b * z - c * y
                now[10] += c * x - a * z
                now[11] += a * y - b * x
            place = 3
        else:
            raise _no_frame(frame)
        now[place] += x
        now[place + 1] += y
        now[place + 2] += z

    def apply_torque(self, torque: Any, frame: str = "body") -> None:
        """Apply a torque over the next step, in newton metres; all applied torques add up.

        ``frame``: "body" for one that turns with the body, or "inertial".
        """
        x, y, z = _three(torque, "torque")
        if frame not in PLACES:
            raise _no_frame(frame)
        now, place = self._now, PLACES[frame]
        now[place] += x
        now[place + 1] += y
        now[place + 2] += z

    def clear_forces(self) -> None:
        """Clear the forces and torques applied since the last step."""
        self._now[:] = np.zeros(len(NOTHING)).data

    def break_history(self) -> None:
        """Do not extrapolate from earlier forces: after a collision, or a switch.

        The next step takes what is applied as constant, the one after it as a line at most.
        """
        self._clock[3] = 0.0

    # ---- steps
    def step(self, dt: float) -> State:
        """Step forward by ``dt`` seconds and return the state; ``dt`` may vary from step to step.

        What was applied is then cleared.  If the step fails, ``StepError`` is raised and nothing
        has changed: what was applied is still there, for a smaller ``dt``.
        """
        h = dt if type(dt) is float else number_or_nan(dt)
        if not 0.0 < h < math.inf:
            raise InputError(
                f"dt must be a positive number of seconds, got {dt!r}; to go back use rewind()"
            )
        status, done, size = self._go(h)
        if status != OK:
            raise _failure(self, status, done, size, h)
        state = State()
        state._numbers = self._shown.tobytes()
        return state

    def rewind(self, steps: int = 1) -> State:
        """Undo the last steps exactly: the state, the time, and the history of forces.

        The simulator is then as it was before anything was applied for the first of these steps.
        """
        count = whole(steps, "steps", 1)
        there = self.nsteps - count
        if there < self._remembered():
            raise _too_far(count, self.nsteps, self.nsteps - self._remembered(), self._kept)
        row = self._memory[there % len(self._memory)]
        self._data[0, : len(row)] = row
        self.clear_forces()
        self._publish()
        return self.state

    def _remembered(self) -> int:
        """Return the number of the first step that can be undone."""
        self._earliest = max(self._earliest, self.nsteps - self._kept)
        return self._earliest

    def trajectory(self) -> Trajectory:
        """Return the states at the start of each step that can be undone, and now.

        If these are not all, its ``message`` says so.
        """
        return _trajectory(self, self._remembered())

    def view(
        self,
        *,
        name: str = "simulation",
        points: Any = None,
        show: Any = None,
        theme: str = "auto",
        title: str | None = None,
        globe: Any = None,
        height: int = 560,
        browser: bool = True,
    ) -> "LiveView":
        """Open a page that follows the simulator, and through which a person can push the body.

        Steps then hand their states to a small server on this machine.  ``view`` returns at once:
        a ``LiveView``, with the ``address`` of the page, a loop in real time (``run``) and
        ``close``.  Closing the page stops nothing.  A simulator that is viewed already opens
        another page of the same view.

        Parameters
        ----------
        name : of the body
        points, show, theme, title, globe, height : as in ``ph.view``
        browser : open the page, in the browser or in the notebook
        """
        from polhode.view.live import follow

        if self._live is None or self._live.closed:
            now, options = _trajectory(self, self.nsteps), (name, points, show, theme, title, globe)
            self._live = follow(self, now, reporter, height, *options)
            self._take()
            self._publish()
        if browser:
            self._live.open()
        return self._live

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self._settings.items())
        return (
            f"<Simulator {self.method}, {arguments}, of {self.body!r}, model {self.model.name},"
            f" {self.nsteps} steps, t = {self.t:g}>"
        )


def compiled_step(sim: Simulator) -> Callable[[float], tuple]:
    """Return what takes the steps of a simulator, without the checks and the ``State``."""
    return sim._go


# ---- memory
def _room(kept: int, width: int) -> tuple[int, np.ndarray]:
    """Return (number of steps that can be remembered, memory to begin with)."""
    if kept == MANY:
        most = machine_memory() // (4 * 8 * width)
        return max(FIRST_ROWS, most), np.empty((FIRST_ROWS, width))
    return kept, np.empty((max(1, kept), width))


def _larger(memory: np.ndarray, most: int) -> np.ndarray:
    """Return a memory of twice as many rows, ``most`` at most, that begins with the old ones."""
    rows, width = memory.shape
    larger = np.empty((min(2 * rows, most), width))
    larger[:rows] = memory
    return larger


# ---- energy
def _energy(t: float, state: Any, body: tuple, potential: Callable, params: tuple) -> float:
    q, m, x, p = _parted(state)
    turning, moving = scale(body[1], m), multiply(body[4], p)
    height = potential(t, to_unit_length(q), x, body, params)
    return 0.5 * (dot(m, turning) + dot(p, moving)) + height


# ---- failures
def _failure(sim: Simulator, status: int, done: int, size: float, dt: float) -> StepError:
    n = sim._settings["substeps"]
    where = f" in its substep {done + 1} of {n}" if n > 1 else ""
    residual = f", last correction {math.sqrt(size):.1e}" if size > 0 else ""
    return StepError(
        f"the step of {dt:g} from t = {sim.t:.10g} failed{where}{residual}:"
        f" {ADVICE[Status(status)]}; the simulator is as it was before the step",
        Status(status),
    )


# ---- trajectories
def _trajectory(sim: Simulator, first: int) -> Trajectory:
    """Return the states from a step on."""
    places = np.arange(first, sim.nsteps) % len(sim._memory)
    width = sim._memory.shape[1]
    rows = np.concatenate([sim._memory[places], sim._data[:, :width]])
    shown, clock, inside, carry = np.split(rows, np.cumsum(sim._widths), axis=1)[:4]
    inside[:, :4] /= np.linalg.norm(inside[:, :4], axis=1, keepdims=True)
    t, body, model = shown[:, 0], sim.body, sim.model
    along = Along(model, body.is_aligned, True)

    def potential() -> Any:
        return along.potentials(t, inside, body.data, model.params)

    nfev, niter = _work(sim.bound, sim._settings, clock, carry)
    return Trajectory(
        t,
        shown[:, 1:5],
        shown[:, 5:8],
        body,
        x=shown[:, 11:14],
        v=shown[:, 14:17],
        potential=potential,
        method=sim.method,
        nsteps=len(t) - 1,
        nfev=nfev,
        niter=niter,
        arguments=sim._settings,
        message=_forgotten(first, sim.nsteps),
        problem=lambda: {"name": "", "model": model.name},
    )


def _forgotten(first: int, steps: int) -> str:
    if first == 0:
        return ""
    return (
        f"success; holds the last {steps - first} of {steps} steps: to keep all, give the Simulator"
        " record=True, or memory= for a number of them"
    )


def _work(
    bound: Bound, settings: Mapping[str, Any], clock: np.ndarray, carry: np.ndarray
) -> tuple[int, int]:
    """Return (evaluations, iterations) between the first and the last of the rows."""
    method, fresh, iterations = bound.method, clock[:-1, 6] == 1.0, np.ptp(clock[:, 7])
    if method.evaluations is not None:
        counts = [method.evaluations(like(bound.carry, iter(row))) for row in carry.tolist()]
        return int(np.sum(counts[1:] - np.where(fresh, 0, counts[:-1]))), int(iterations)
    parts = len(fresh) * settings["substeps"] * len(method.weights)
    found = parts * method.torques_per_step + fresh.sum() * method.torques_at_start
    return int(found + iterations * method.torques_per_iteration), int(iterations)


# ---- checks
def _three(value: Any, argument: str) -> tuple[float, float, float]:
    """Return three finite numbers, faster than ``three`` does."""
    try:
        x, y, z = map(float, value)
    except (TypeError, ValueError):
        return three(value, argument)
    return (x, y, z) if math.isfinite(x + y + z) else three(value, argument)


def _too_far(count: int, taken: int, remembered: int, kept: int) -> InputError:
    if count > taken:
        return InputError(f"steps={count} is more than the {taken} that were taken")
    return InputError(
        f"steps={count} is more than the {remembered} that are remembered; give the Simulator"
        f" memory={max(count, kept + 1)} or more"
    )


def _no_frame(frame: Any) -> InputError:
    return InputError(f"frame must be 'body' or 'inertial', got {frame!r}")


def _bind(problem: Problem, method: Any) -> tuple[Bound, dict[Callable, Callable]]:
    """Bind a method to the model and to what is applied; also, how to read its state."""
    force = driven(problem.model)
    if not is_integrator(method):
        found = find_method(method)
        check_model(found, force)
        return bind_fixed(problem, found, None, 1.0, force=force), {}
    integrator = find_integrator(method)
    check_body(integrator)
    if integrator.adaptive:
        raise MethodError(
            f"method {integrator.name!r} finds its steps itself, and a Simulator is given them: use"
            " substeps= of a map, or method='rkn4' with options={'tolerance': 1e-8}"
        )
    found = fixed(integrator, QUATERNION, True)
    own: dict[Callable, Callable] = {seen: seen_in_variables}
    return bind_fixed(problem, found, QUATERNION, 1.0, force=force), own


# ---- places in the row of numbers
def _parted(numbers: Any) -> tuple:
    """Split numbers into (q, m, x, p)."""
    row = tuple(numbers)
    return row[:4], row[4:7], row[7:10], row[10:]


def _refuse_variables(model: Model) -> None:
    if model.coupled is not None:
        raise InputError(
            f"a Simulator takes no model with variables, and {model.name!r} has"
            f" {', '.join(model.variable_names)}; use ph.solve or ph.prepare"
        )


def _views(row: np.ndarray, widths: list[int]) -> list[Any]:
    """Return memory views, which read and write the parts of a row faster than arrays do."""
    view, ends = row.data, np.cumsum(widths).tolist()
    return [view[end - width : end] for end, width in zip(ends, widths, strict=True)]
