"""``integrate_angular_velocity``: the attitude from an angular velocity that is given."""

import inspect
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.compiler.tree import flat
from polhode.contracts import OK, Formulation, Integrator, Rate
from polhode.errors import InputError, MethodError
from polhode.kernels.quaternion import to_body
from polhode.loops.join import pursuit
from polhode.problems.problem import quaternion
from polhode.results.trajectory import Details, Trajectory
from polhode.solvers.adaptive_steps import Course, Motion, pursue, row_at_break, row_of_numbers
from polhode.solvers.arguments import (
    AUTO,
    Arguments,
    breaks,
    find_integrator,
    find_kinematic,
    positive,
    span,
    step_limits,
)
from polhode.solvers.base import Keeper
from polhode.solvers.fixed_steps import in_chunks, plan
from polhode.solvers.progress import reporter

ROTOR = "rotor"
TOLERANCE = 1e-9  # of one step, if nobody says
FRAMES = "body", "inertial"
SPACING = 1e-3  # of the differences for dω/dt, in steps


def integrate_angular_velocity(
    omega: Callable,
    t_span: Sequence[float],
    *,
    frame: str,
    attitude: Any = None,
    scalar_first: bool | None = None,
    method: str | Integrator = AUTO,
    formulation: str | Formulation = ROTOR,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    breakpoints: Any = None,
    t_eval: Any = None,
    save_every: int = 1,
    events: Any = None,
    progress: bool | Callable[[float], None] = False,
) -> Trajectory:
    """The attitude that follows from a given angular velocity.

    Parameters
    ----------
    omega : a function ``omega(t)`` or ``omega(t, q)``, q = (w, x, y, z) of unit length, that
        returns three numbers in rad/s.  Compiled if it can be
    t_span : (start, end); the end may be before the start
    frame : "body" (as a gyro fixed to the body measures it) or "inertial", the axes of omega.
        There is no default: a wrong one gives a wrong motion that looks right
    attitude : at the start: a SciPy ``Rotation`` or a 3×3 matrix, body to inertial, or four numbers
        with ``scalar_first``; default the identity
    method : a name from ``ph.INTEGRATORS``, or "auto": "gauss-taylor" for ``omega(t)``, whose
        equation is linear, and "dop853" for ``omega(t, q)``
    formulation : the variables, a name from ``ph.FORMULATIONS``; "gauss-taylor" and the Magnus
        methods have rotors
    dt : the step of "magnus4", "magnus6", "magnus8", "rk4" and "gauss"
    rtol, atol : of the others.  The variables are of size 1, so that both mean the same: their sum
        bounds the error of a step, of each component (the whole turn for "gauss-taylor"); 1e-9
    first_step, max_step : omega with a short pulse in it needs ``max_step``
    breakpoints : times at which omega is not smooth; the run starts anew there
    t_eval, save_every, events, progress : as in ``solve``

    Returns
    -------
    Trajectory, with ``omega`` in body axes, and no body

    Examples
    --------
    >>> import math, polhode as ph
    >>> coning = lambda t: (0.1 * math.cos(t), 0.1 * math.sin(t), 1.0)
    >>> run = ph.integrate_angular_velocity(coning, (0, 100), frame="body", rtol=1e-12)
    >>> run.method
    'gauss-taylor:12'
    """
    asked = dict(locals())
    del asked["omega"], asked["t_span"], asked["attitude"], asked["scalar_first"]
    solver = prepare_angular_velocity(omega, **asked)
    return solver(t_span, attitude=attitude, scalar_first=scalar_first)


def prepare_angular_velocity(
    omega: Callable,
    *,
    frame: str,
    method: str | Integrator = AUTO,
    formulation: str | Formulation = ROTOR,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_step: float | None = None,
    breakpoints: Any = None,
    t_eval: Any = None,
    save_every: int = 1,
    events: Any = None,
    progress: bool | Callable[[float], None] = False,
) -> "RateSolver":
    """A reusable compiled solver for one omega: ``solver(t_span, attitude=…)``."""
    asked = Arguments(
        method, formulation, dt, rtol, atol, first_step, max_step, breakpoints, t_eval, save_every,
        events, False, progress,
    )  # fmt: skip
    return RateSolver(omega, frame, asked)


class RateSolver(Keeper):
    """An integrator and an angular velocity, joined and compiled."""

    def __init__(self, omega: Callable, frame: str, asked: Arguments):
        super().__init__(asked)
        self.rate = _rate(omega, frame)
        self._omega = omega
        tolerance = _tolerance(asked)
        if asked.method == AUTO and not self.rate.takes_attitude and asked.dt is None:
            self.integrator = _gauss_taylor(tolerance)
            self.reason = "the equation is linear in the attitude"
        elif asked.method == AUTO:
            name = (
                "dop853" if asked.dt is None else "rk4" if self.rate.takes_attitude else "magnus6"
            )
            self.integrator = find_integrator(name)
            self.reason = "omega depends on the attitude" if asked.dt is None else "dt was given"
        elif asked.method == "gauss-taylor":
            self.integrator = _gauss_taylor(tolerance)
        else:
            self.integrator = find_integrator(asked.method)
        self.formulation = find_kinematic(asked.formulation, ROTOR)
        self._check(asked, tolerance)
        self.tolerances = 0.0, tolerance
        self._parts = pursuit(self.integrator, self.formulation, self.rate)
        self._start: tuple | None = None
        self._row: np.ndarray | None = None

    def _check(self, asked: Arguments, tolerance: float) -> None:
        name, integrator = self.integrator.name, self.integrator
        if integrator.linear and self.rate.takes_attitude:
            raise MethodError(
                f"method {name!r} is for omega(t): with omega(t, q) use dop853, vern9 or rk4"
            )
        if integrator.linear and self.formulation.name != ROTOR:
            raise MethodError(f"method {name!r} has rotors: leave out formulation=")
        if integrator.adaptive:
            if asked.dt is not None:
                raise MethodError(
                    f"method {name!r} finds its steps itself: give rtol= (and max_step= to bound"
                    " them), not dt="
                )
            if tolerance < integrator.tightest:
                raise InputError(
                    f"rtol + atol = {tolerance!r} asks method {name!r} for more than rounding"
                    f" allows: give {integrator.tightest:g} or more"
                )
            self.arguments = {"rtol": tolerance, **self.arguments}
        else:
            if asked.rtol is not None or asked.atol is not None:
                raise MethodError(
                    f"method {name!r} takes fixed steps: give dt=, not rtol= or atol="
                )
            asked.refuse(f"method {name!r} takes fixed steps", "first_step", "max_step")
            self.dt = positive(asked.dt, name)
            self.arguments = {"dt": self.dt, **self.arguments}
        if self.formulation.name != ROTOR:
            self.arguments["formulation"] = self.formulation.name
        self._limits = step_limits(asked.first_step, asked.max_step)

    def __call__(
        self,
        t_span: Sequence[float],
        *,
        attitude: Any = None,
        scalar_first: bool | None = None,
    ) -> Trajectory:
        """Integrate over ``t_span``, from an attitude (default: the identity)."""
        t0, t1 = span(t_span)
        q, first = self._from(attitude, scalar_first, t0)
        points = breaks(self.asked.breakpoints, t0, t1)
        watch = None if self.watch is None else self.watch.anew()
        run = self._pursued if self.integrator.adaptive else self._stepped
        course = run(points, first, watch)
        times, rows, facts = self._asked_of(course, watch, t0, t1)
        return self._trajectory(course, times, rows, q, facts)

    def _from(self, attitude: Any, scalar_first: bool | None, t0: float) -> tuple[tuple, tuple]:
        """(q, variables) at the start; those of the last call if nothing has changed."""
        if self._start is not None:
            before, order, *known = self._start
            fixed = attitude is None or type(attitude) is tuple  # others may change inside
            if fixed and attitude is before and order == scalar_first:
                return known[0], known[1]
        q = quaternion(attitude, scalar_first)
        if self._start is None:
            _try(self._omega, self.rate, t0, q)
        first = self.formulation.enter(q)
        self._start = attitude, scalar_first, q, first
        return q, first

    # ---- computing it
    def _pursued(self, points, first, watch) -> Course:
        parts, params = self._parts, self.rate.params
        if self._row is None:
            others = parts.start(points[0], 1.0, first, (), params), (), params[0]
            parts.packed(first, *others)
            self._row = row_of_numbers(self.tolerances, self._limits[1], first, *others)
        row = self._row.copy()
        row[0, : len(first)] = first
        known = parts, points, row, first, (), params, self.tolerances, self._limits[0]
        if watch is None and not self.progress:
            return pursue(*known)
        stop = None if watch is None else lambda c: watch.look(c.times, self._see(c))
        with reporter(self.progress) as report:
            return pursue(*known, report, stop)

    def _stepped(self, points, first, watch) -> Course:
        """Every step of a method with fixed steps, from each break to the next."""
        parts, params = self._parts, self.rate.params
        weights = np.ones(1), np.zeros(1)
        pieces: list[np.ndarray] = []
        status, count, iterations = OK, 0, 0
        starts: list[int] = []
        state, integrator = first, self.integrator
        length = points[-1] - points[0] or 1.0
        with reporter(self.progress) as report:
            for t0, t1 in pairwise(points):
                if pieces:  # at the break itself may be either force
                    starts.append(sum(map(len, pieces)))
                    pieces.append(row_at_break(t0, pieces[-1]))
                    t0 = math.nextafter(t0, t1)
                end = t1 if t1 == points[-1] else math.nextafter(t1, t0)
                planned = plan(t0, end, self.dt)
                out = np.empty((len(planned.ends), len(first)))
                others = parts.start(t0, planned.h, state, (), params), (), params[0]
                row, run = np.array([flat((state, *others))]), parts.packed(state, *others)

                def part(done, begin=(t0 - points[0]) / length, share=(end - t0) / length):
                    report(begin + done * share)

                status, rows, steps, its, _ = in_chunks(
                    run, row, t0, planned, *weights, params[1], out, part
                )
                count, iterations = count + steps + int(planned.sides[-1] != 0.0), iterations + its
                state = tuple(out[rows - 1].tolist()) if rows else state
                table = np.column_stack([planned.times, np.zeros(len(planned.times)), out])
                pieces.append(table[:rows])
                if status != OK:
                    break
        course = Course(parts, np.concatenate(pieces), first, (), params, weights)
        course.status, course.breaks = status, starts
        course.evaluations = (
            len(points[1:]) * integrator.evaluations_at_start
            + count * integrator.evaluations
            + iterations * integrator.evaluations_per_iteration
        )
        course.next_step = self.dt
        return course

    # ---- the trajectory
    def _body_rates(self, times: np.ndarray, q: np.ndarray) -> np.ndarray:
        """ω in body axes."""
        out = np.empty((len(times), 3))
        self._parts.velocities(np.ascontiguousarray(times), np.ascontiguousarray(q), ((), ()), out)
        if not self.rate.inertial:
            return out
        return np.stack(to_body(tuple(q.T), tuple(out.T)), axis=1)

    def _see(self, motion: Motion) -> Callable:
        def see(times):
            q = motion.at(times)
            return np.hstack([q, self._body_rates(times, q)])

        return see

    def _slopes(self, course: Course, times: np.ndarray) -> np.ndarray:
        """dω/dt in body axes, by differences over five times inside the run (error h⁴)."""
        low, high = min(course.times[0], course.times[-1]), max(course.times[0], course.times[-1])
        if low == high:  # no time passes, and nothing is known of its rate of change
            return np.full((len(times), 3), np.nan)
        place = np.clip(course.places(times), 0, len(course.times) - 2)
        d = SPACING * np.abs(np.diff(course.times))[place]
        d = np.minimum(np.maximum(d, 64 * np.spacing(np.abs(times) + 1e-300)), (high - low) / 4)
        middle = np.clip(times, low + 2 * d, high - 2 * d)
        shifts = np.arange(-2.0, 3.0)
        nodes = np.clip(middle[:, None] + d[:, None] * shifts, low, high)
        q = course.at(nodes.ravel())
        values = self._body_rates(nodes.ravel(), q).reshape(len(times), 5, 3)
        x = (times - middle) / d
        powers = np.vander(shifts, 5, increasing=True).T  # row j: shifts^j
        slopes = np.stack([j * x ** max(j - 1, 0) if j else 0 * x for j in range(5)], axis=1)
        weights = np.linalg.solve(powers[None], slopes[..., None])[..., 0] / d[:, None]
        return np.einsum("ij,ijk->ik", weights, values)

    def _trajectory(self, course, times, rows, q, facts) -> Trajectory:
        """``rows`` are attitudes at ``times``; None: those of the steps."""
        facts["t"], facts["body"], facts["angular_momentum"] = times, None, None
        facts["arguments"], facts["reason"] = self.arguments, self.reason
        facts["_details"] = OfRate(self, course, times, rows, q)
        return Trajectory.of(facts)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"<RateSolver {self.integrator.name}, {arguments}>"


class OfRate(Details):
    """What a trajectory of a given angular velocity computes when it is asked for."""

    __slots__ = ("door", "first", "rows", "source", "times")

    def __init__(self, door, source, times, rows, first):
        self.door, self.source, self.times, self.rows = door, source, times, rows
        self.first = first

    def motion(self):
        return (self.source.states if self.rows is None else self.rows), None

    def omega(self):
        return self.door._body_rates(self.times, self.motion()[0])

    def accelerations(self):
        return self.door._slopes(self.source, self.times), None

    def sol(self, times, facts):
        rows = self.source.at(times)
        return self.door._trajectory(self.source, times, rows, self.first, facts)

    def problem(self):
        frame = "inertial" if self.door.rate.inertial else "body"
        name = getattr(self.door._omega, "__name__", "omega")
        return {"name": "", "model": f"{name} ({frame})", "attitude": list(self.first)}


def _gauss_taylor(tolerance: float) -> Integrator:
    from polhode.integrators.gauss_taylor import choose

    return choose(tolerance)


# ---- checks
def _rate(omega: Any, frame: Any) -> Rate:
    if frame not in FRAMES:
        raise InputError(f"frame must be 'body' or 'inertial', the axes of omega, got {frame!r}")
    if not callable(omega):
        raise InputError(
            f"omega must be a function omega(t) or omega(t, q), got {omega!r}; for a table of"
            " values there is ph.integrate_samples"
        )
    try:
        needed = [
            p
            for p in inspect.signature(omega).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        count = len(needed)
    except (TypeError, ValueError):
        count = 1
    if count not in (1, 2):
        raise InputError(f"omega must take (t) or (t, q), but it takes {count} arguments")
    with_attitude = count == 2
    return Rate(
        velocity=_of_both(omega) if with_attitude else _of_time(omega),
        inertial=frame == "inertial",
        takes_attitude=with_attitude,
        user=(omega,),
    )


def _of_time(omega: Callable) -> Callable:
    def velocity(t, q, params):
        x, y, z = omega(t)
        return 1.0 * x, 1.0 * y, 1.0 * z

    return velocity


def _of_both(omega: Callable) -> Callable:
    def velocity(t, q, params):
        x, y, z = omega(t, q)
        return 1.0 * x, 1.0 * y, 1.0 * z

    return velocity


def _try(omega: Callable, rate: Rate, t: float, q: tuple) -> None:
    """One call in plain Python, so that a mistake in it is told in its own words."""
    try:
        value = flat(rate.velocity(t, q, rate.params))
    except Exception as error:
        raise InputError(
            f"omega fails at t = {t!r}: {type(error).__name__}: {error}; it must return three"
            " numbers, rad/s"
        ) from error
    if not all(math.isfinite(x) for x in value):
        raise InputError(f"omega is not finite at t = {t!r}: {value}")


def _tolerance(asked: Arguments) -> float:
    if asked.rtol is None and asked.atol is None:
        return TOLERANCE
    total = 0.0
    for name in ("rtol", "atol"):
        value = getattr(asked, name)
        try:
            number = 0.0 if value is None else float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not 0.0 <= number < 1.0:
            raise InputError(
                f"{name} must be a number from 0 to 1, for instance {TOLERANCE:g}, got {value!r}"
            )
        total += number
    if total == 0.0:
        raise InputError("rtol and atol must not both be 0: give the error of a step, say 1e-9")
    return total
