"""``solve`` and ``prepare``: the front door.  Everything is checked here, and nowhere below."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import numpy as np

from polhode import loops
from polhode._choice import ACCURACY, choose
from polhode._join import joined, try_potentials, try_torque, variant
from polhode._tree import flat, like
from polhode.contracts import ADVICE, OK, Method, Model, Status
from polhode.errors import InputError, MethodError
from polhode.exact import EXACT, free_states
from polhode.methods import METHODS
from polhode.problem import Problem, inner_state, outer_states, quaternion, rates
from polhode.trajectory import Trajectory

AUTO = "auto"
FREE_ROWS = 201  # states of a closed form when nobody says which
FIRST_CHUNK = 20_000  # steps in the first call of a compiled loop
EPS = 2.0**-52
INSTEAD = "mr2", "imidm", "mkrk:rk4"  # what to try when a method cannot take a model
CHUNK_SECONDS = 0.2  # later calls: so that Ctrl-C and a progress bar are served


def solve(
    problem: Problem,
    t_span: Sequence[float],
    *,
    method: str | Method = AUTO,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    t_eval: Any = None,
    save_every: int = 1,
    compensated: bool = False,
    progress: bool | Callable[[float], None] = False,
) -> Trajectory:
    """The motion of one body over ``t_span``.

    Parameters
    ----------
    problem : Problem
    t_span : (start, end); the end may be before the start
    method : a name from ``ph.METHODS``, a ``Method``, or "auto": without torque the closed form,
        else the cheapest method that was measured to be accurate enough with this step on problems
        of this kind; ``run.method`` and ``run.reason`` say which and why
    dt : the step.  If the span is a whole number of steps within 1e-9, exactly that many are taken;
        otherwise the last one is shortened to hit the end.  "auto" without torque needs none, and
        then returns 201 states
    t_eval : times at which to return the state, in the order of the motion.  A time off the grid is
        reached by a side step that is never fed back
    save_every : keep every so manyth step (and the last); not with ``t_eval``
    compensated : carry what the sums of the state lose, for runs of many million steps
    progress : True for a bar on stderr, or a function of the fraction done
    rtol : with "auto" the error of the attitude to aim at, after some 40 radians: 1e-6 if not given
    atol : for adaptive integrators; a map takes ``dt``

    Returns
    -------
    Trajectory; ``success`` is False if a step failed, and ``message`` says when and what to try

    Examples
    --------
    >>> import polhode as ph
    >>> run = ph.solve(ph.problems.krysl_free(), (0, 10), method="imidm", dt=0.01)
    >>> run.nsteps
    1000
    """
    solver = prepare(
        problem,
        method=method,
        dt=dt,
        rtol=rtol,
        atol=atol,
        t_eval=t_eval,
        save_every=save_every,
        compensated=compensated,
        progress=progress,
    )
    return solver(t_span)


def prepare(
    problem: Problem,
    *,
    method: str | Method = AUTO,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    t_eval: Any = None,
    save_every: int = 1,
    compensated: bool = False,
    progress: bool | Callable[[float], None] = False,
) -> "Solver | FreeSolver":
    """A reusable compiled solver: ``solver(t_span, attitude=…, omega=…, params=…)``.

    Takes the arguments of ``solve`` but the span.  A call costs a few microseconds.  The model is
    taken as it is now: functions and constants changed later need a new ``prepare``.
    """
    free = isinstance(problem, Problem) and problem.model.is_free
    kind = FreeSolver if method == AUTO and free else Solver
    return kind(problem, method, dt, rtol, atol, t_eval, save_every, compensated, progress)


class Door:
    """What solvers have in common: a problem, where it starts, and which states to keep."""

    dt: float

    def _set_problem(self, problem, t_eval, save_every, progress) -> None:
        if not isinstance(save_every, (int, np.integer)) or save_every < 1:
            raise InputError(f"save_every must be a whole number of steps, got {save_every!r}")
        if t_eval is not None and save_every != 1:
            raise InputError("give t_eval or save_every, not both")
        self.problem = problem
        self.save_every = int(save_every)
        self.t_eval = None if t_eval is None else _times(t_eval)
        self.progress = progress
        self.arguments: dict[str, Any] = {} if save_every == 1 else {"save_every": self.save_every}
        self._last_plan: tuple = (None,)
        self._body = problem.body.data
        self._params = problem.model.params
        self._state = inner_state(problem.body, problem.attitude, problem.angular_momentum)

    def __call__(
        self,
        t_span: Sequence[float],
        *,
        attitude: Any = None,
        omega: Any = None,
        angular_momentum: Any = None,
        params: Any = None,
    ) -> Trajectory:
        """Solve over ``t_span``, from another state or with other parameters if given."""
        t0, t1 = _span(t_span)
        state = self._other_state(attitude, omega, angular_momentum)
        numbers = self._params if params is None else self._other_params(params)
        return self._moved(t0, t1, state, numbers)

    def _moved(self, t0: float, t1: float, state: tuple, numbers: tuple) -> Trajectory:
        """The motion from t0 to t1."""
        raise NotImplementedError

    def _other_state(self, attitude, omega, angular_momentum):
        if attitude is None and omega is None and angular_momentum is None:
            return self._state
        problem = self.problem
        q = problem.attitude if attitude is None else quaternion(attitude)
        m = problem.angular_momentum
        if omega is not None or angular_momentum is not None:
            _, m = rates(problem.body, omega, angular_momentum)
        return inner_state(problem.body, q, m)

    def _other_params(self, params):
        new = tuple(params)
        old = flat(self._params[0])
        given = flat(new)
        if len(old) != len(given) or not all(isinstance(x, (int, float)) for x in given):
            raise InputError(
                f"params must be {len(old)} numbers, as the model {self.problem.model.name!r} has"
                f" ({', '.join(self.problem.model.names)}), got {params!r}"
            )
        return like(self._params[0], iter(map(float, given))), self._params[1]

    def _plan(self, t0: float, t1: float):
        """(steps, h, times, ends, sides): after how many steps, and what side step, to save.

        Kept for the next call, which often has the same span.
        """
        if self._last_plan[0] != (t0, t1):
            self._last_plan = (t0, t1), self._new_plan(t0, t1)
        n, h, times, ends, sides = self._last_plan[1]
        return n, h, times.copy(), ends, sides

    def _new_plan(self, t0: float, t1: float):
        span = t1 - t0
        exact = abs(span) / self.dt
        n = round(exact)
        if n and abs(exact - n) <= max(1e-9, 4 * n * EPS):
            h, rest = span / n, 0.0
        else:
            n, h = math.floor(exact), math.copysign(self.dt, span)
            rest = span - n * h
        if n >= 2**53:
            raise InputError(f"t_span and dt ask for {n:.3g} steps, more than can be counted")
        if self.t_eval is not None:
            return n, h, *_side_steps(self.t_eval, t0, t1, h, n)
        ends = np.arange(0, n + self.save_every, self.save_every)
        ends[-1] = n  # also when n is not a multiple
        if rest != 0.0 and n % self.save_every == 0:
            ends = np.append(ends, n)
        times, sides = t0 + ends * h, np.zeros(len(ends))
        times[-1], sides[-1] = t1, rest
        return n, h, times, ends, sides


class Solver(Door):
    """A method and a model joined and compiled; see ``prepare``."""

    def __init__(self, problem, method, dt, rtol, atol, t_eval, save_every, compensated, progress):
        if not isinstance(problem, Problem):
            raise InputError(f"problem must be a Problem, got {problem!r}")
        self._set_problem(problem, t_eval, save_every, progress)
        self.reason = ""
        if method == AUTO:
            self.dt = _positive(dt, "auto")
            accuracy = _accuracy(rtol, atol)
            self.method, self.reason = choose(problem, self.dt, accuracy, bool(compensated))
        else:
            self.method = find_method(method)
            _check_model(self.method, problem.model)
            if rtol is not None or atol is not None:
                raise MethodError(
                    f"method {self.method.name!r} takes fixed steps: give dt=, not rtol= or atol="
                )
            self.dt = _positive(dt, self.method.name)
        self.arguments = {"dt": self.dt, **self.arguments}
        if compensated:
            _check_sums(self.method)
            self.arguments["compensated"] = True
        self._weights, self._offsets = loops.substeps(self.method)
        self._width = len(flat(self._state))
        bound = variant(self.method, problem.body.symmetry_axis, bool(compensated))
        parts = joined(bound, problem.model, problem.body.is_aligned)
        if problem.model.user:
            try_torque(parts.torque, problem.model, self._state, self._body)
            aligned = problem.body.is_aligned
            try_potentials(parts, problem.model, self._state[0], self._body, aligned)
        self._carry = parts.start(0.0, self.dt, self._state, self._body, self._params)
        self._run, self._potentials = parts.run, parts.potentials

    def _moved(self, t0: float, t1: float, state: tuple, numbers: tuple) -> Trajectory:
        n, h, times, ends, sides = self._plan(t0, t1)
        out = np.empty((len(ends), self._width))
        if n <= FIRST_CHUNK and not self.progress:
            last, _, status, rows, steps, iterations, size = self._run(
                t0, h, 0, ends, sides, self._weights, self._offsets, True, state, self._carry,
                self._body, numbers, out,
            )  # fmt: skip
        else:
            with _reporter(self.progress) as report:
                last, status, rows, steps, iterations, size = self._in_chunks(
                    t0, h, ends, sides, state, numbers, out, report
                )
        return self._trajectory(
            (t0, h, times, sides), out, state, last, status, rows, steps, iterations, size, numbers
        )

    # ---- computing it
    def _in_chunks(self, t0, h, ends, sides, state, params, out, report):
        """The rows in pieces short enough for Ctrl-C and a progress bar; the bits are the same."""
        carry, fresh = self._carry, True
        row = done = iterations = 0
        chunk, scratch = FIRST_CHUNK, np.empty((1, self._width))
        while row < len(ends):
            last = int(np.searchsorted(ends, done + chunk, side="right"))
            if last > row:
                part, aside, place = ends[row:last] - done, sides[row:last], out[row:last]
            else:  # the next row is further than a chunk
                part, aside, place = np.array([chunk]), np.zeros(1), scratch
            begun = time.perf_counter()
            state, carry, status, rows, steps, count, size = self._run(
                t0, h, done, part, aside, self._weights, self._offsets, fresh, state, carry,
                self._body, params, place,
            )  # fmt: skip
            took = time.perf_counter() - begun
            fresh = False
            done, iterations = done + steps, iterations + count
            row += rows if last > row else 0
            if status != OK:
                return state, status, row, done, iterations, size
            report(done / max(int(ends[-1]), 1))
            chunk = max(1, min(int(chunk * CHUNK_SECONDS / max(took, 1e-9)), 8 * chunk))
        return state, OK, row, done, iterations, 0.0

    def _trajectory(self, plan, out, first, last, status, rows, steps, iterations, size, params):
        t0, h, times, sides = plan
        method, problem = self.method, self.problem
        message = ""
        if status != OK:
            stop = t0 + steps * h
            message = _failure(status, stop, steps, h, size)
            out, times, sides = out[:rows], times[:rows], sides[:rows]
            if rows == 0 or times[-1] != stop:  # the last good step, saved or not
                out, times = np.vstack([out, flat(last)]), np.append(times, stop)
        if self.t_eval is None:
            shortened = aside = int(sides[-1] != 0.0) if len(sides) else 0
        else:
            shortened, aside = 0, int(np.count_nonzero(sides))
        body, states, potentials = self._body, out, self._potentials
        q, m = outer_states(problem.body, out)
        return Trajectory(
            times,
            q,
            m,
            problem.body,
            potential=None
            if potentials is None
            else lambda: potentials(times, states, body, params),
            method=method.name,
            status=status,
            message=message,
            nsteps=steps + shortened,
            nfev=method.torques_at_start
            + (steps + aside) * len(method.weights) * method.torques_per_step
            + iterations * method.torques_per_iteration,
            niter=iterations,
            arguments=self.arguments,
            reason=self.reason,
            problem=lambda: _plain_data(problem, first, params),
        )

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"<Solver {self.method.name}, {arguments}, of {self.problem!r}>"


class FreeSolver(Door):
    """The closed form of the free motion, behind the same door; for ``method="auto"``."""

    def __init__(self, problem, method, dt, rtol, atol, t_eval, save_every, compensated, progress):
        self._set_problem(problem, t_eval, save_every, progress)
        _accuracy(rtol, atol)
        self.reason = "there is no torque"
        self.dt = 0.0 if dt is None else _positive(dt, AUTO)
        if dt is not None:
            self.arguments = {"dt": self.dt, **self.arguments}

    def _moved(self, t0: float, t1: float, state: tuple, numbers: tuple) -> Trajectory:
        problem = self.problem
        if self.t_eval is not None:
            times, *_ = _side_steps(self.t_eval, t0, t1, 0.0, 0)
        elif self.dt == 0.0:
            times = np.linspace(t0, t1, FREE_ROWS)
        else:
            _, _, times, *_ = self._plan(t0, t1)
        q, m = free_states(problem.body, state, times - t0)
        return Trajectory(
            times,
            q,
            m,
            problem.body,
            potential=lambda: np.zeros(len(times)),
            method=EXACT,
            arguments=self.arguments,
            reason=self.reason,
            problem=lambda: _plain_data(problem, state, numbers),
        )

    def __repr__(self) -> str:
        return f"<Solver {EXACT}, of {self.problem!r}>"


# ---- checks
def find_method(method: str | Method) -> Method:
    """The method of that name."""
    if isinstance(method, Method):
        return method
    if method in METHODS:
        return METHODS[method]
    close = get_close_matches(str(method), METHODS, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise MethodError(
        f"method must be one of {', '.join(METHODS)}, or a Method, got {method!r}{hint}"
    )


def _check_model(method: Method, model: Model) -> None:
    if method.takes(model):
        return
    if method.free_only:
        need = f"is for free bodies, and model {model.name!r} has a torque"
    else:
        need = (
            "kicks with a torque that must not depend on the rate,"
            f" and the one of model {model.name!r} does"
        )
    able = [other for other in INSTEAD if METHODS[other].takes(model)]
    raise MethodError(f"method {method.name!r} {need}; use for instance {', '.join(able)}")


def _check_sums(method: Method) -> None:
    if not method.compensates:
        able = ", ".join(name for name, other in METHODS.items() if other.compensates)
        raise MethodError(
            f"method {method.name!r} has no compensated sums; leave compensated= out, or use {able}"
        )


def _accuracy(rtol: Any, atol: Any) -> float:
    """The accuracy that "auto" is to aim at."""
    if atol is not None:
        raise MethodError("method 'auto' takes the accuracy to aim at as rtol=, not atol=")
    if rtol is None:
        return ACCURACY
    try:
        value = float(rtol)
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 < value < 1.0:
        raise InputError(f"rtol must be a number between 0 and 1, for instance 1e-6, got {rtol!r}")
    return value


def _positive(dt: Any, method: str) -> float:
    if dt is None:
        why = " when there is a torque" if method == AUTO else ""
        raise MethodError(f"method {method!r} takes fixed steps{why}: give dt=")
    try:
        value = float(dt)
    except (TypeError, ValueError):
        raise InputError(f"dt must be a number of seconds, got {dt!r}") from None
    if not (math.isfinite(value) and value > 0):
        raise InputError(
            f"dt must be positive and finite, got {dt!r}; to go back in time let t_span end before"
            " it starts"
        )
    return value


def _span(t_span: Sequence[float]) -> tuple[float, float]:
    try:
        t0, t1 = t_span
        t0, t1 = float(t0), float(t1)
    except (TypeError, ValueError):
        raise InputError(f"t_span must be two numbers (start, end), got {t_span!r}") from None
    if not math.isfinite(t1 - t0):
        raise InputError(f"t_span must be finite, got {t_span!r}")
    return t0, t1


def _times(t_eval: Any) -> np.ndarray:
    try:
        times = np.array(t_eval, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"t_eval must be times, got {t_eval!r}") from None
    if times.ndim != 1 or len(times) == 0:
        raise InputError(f"t_eval must be a list of times, got an array of shape {times.shape}")
    if not np.isfinite(times).all():
        raise InputError(
            f"t_eval must be finite, but t_eval[{np.argmin(np.isfinite(times))}] is not"
        )
    return times


def _side_steps(times: np.ndarray, t0: float, t1: float, h: float, n: int):
    """(times, ends, sides): the grid point before each time, and the step from there."""
    forward = t1 >= t0
    wrong = np.flatnonzero((times < min(t0, t1)) | (times > max(t0, t1)))
    if len(wrong):
        raise InputError(f"t_eval[{wrong[0]}] = {times[wrong[0]]!r} is outside t_span ({t0}, {t1})")
    order = np.diff(times) if forward else -np.diff(times)
    if (order < 0).any():
        place = int(np.argmax(order < 0)) + 1
        raise InputError(
            f"t_eval must go from start to end of t_span, but t_eval[{place}] = {times[place]!r}"
            f" comes after {times[place - 1]!r}"
        )
    if h == 0.0:
        return times, np.zeros(len(times), dtype=np.int64), np.zeros(len(times))
    near = np.rint((times - t0) / h)
    slack = 4 * np.spacing(np.maximum(np.abs(times), abs(t0)))
    on_grid = np.abs(times - (t0 + near * h)) <= slack
    ends = np.where(on_grid, near, np.floor((times - t0) / h))
    ends = np.clip(ends, 0, n).astype(np.int64)
    sides = np.where(on_grid & (near <= n), 0.0, times - (t0 + ends * h))
    return times, ends, sides


# ---- words
def _failure(status: int, t: float, steps: int, h: float, size: float) -> str:
    residual = f", last correction {math.sqrt(size):.1e}" if size > 0 else ""
    return (
        f"stopped at t = {t:.10g} after {steps} steps of {h:g}{residual}: {ADVICE[Status(status)]}"
    )


def _plain_data(problem: Problem, state: tuple, params: tuple) -> dict:
    model = problem.model
    q, m = outer_states(problem.body, np.array([flat(state)]))
    return {
        "name": problem.name,
        "inertia": problem.body.inertia.tolist(),
        "mass": problem.body.mass,
        "model": model.name,
        "parameters": dict(zip(model.names, map(_lists, params[0]), strict=True)),
        "attitude": q[0].tolist(),
        "angular_momentum": m[0].tolist(),
    }


def _lists(numbers):
    """Nested tuples as the lists that a file gives back."""
    return list(map(_lists, numbers)) if isinstance(numbers, tuple) else numbers


@contextmanager
def _reporter(progress: bool | Callable[[float], None]) -> Iterator[Callable[[float], None]]:
    """A function of the fraction done."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda fraction: None
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("integrating", total=1.0)
            yield lambda fraction: bar.update(task, completed=fraction)
