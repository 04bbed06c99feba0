"""The solvers of bodies: everything is checked here, and nowhere below.

``Solver`` runs maps, ``AdaptiveSolver`` integrators with a step of their own, ``FreeSolver`` the
closed form of the free motion; ``Door`` is what they have in common.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode import loops
from polhode._checks import (
    AUTO,
    accuracy,
    breaks,
    check_body,
    check_model,
    check_sums,
    find_formulation,
    find_integrator,
    find_method,
    in_order,
    is_integrator,
    positive,
    span,
    step_limits,
    times_of,
    tolerances,
)
from polhode._choice import choose, choose_integrator
from polhode._course import (
    FIRST_ROWS,
    MOST_LOOKS,
    Course,
    FreeMotion,
    Made,
    Motion,
    pursue,
    row_of_numbers,
)
from polhode._events import Watch, watched
from polhode._join import fixed, joined, pursuit, try_potentials, try_torque, variant
from polhode._tree import flat, like
from polhode.contracts import ADVICE, OK, Formulation, Integrator, Method, Status
from polhode.errors import InputError, MethodError
from polhode.exact import EXACT
from polhode.problem import Problem, inner_state, outer_states, quaternion, rates
from polhode.trajectory import Details, Trajectory

FREE_ROWS = 201  # states of a closed form when nobody says which
FIRST_CHUNK = 20_000  # steps in the first call of a compiled loop
EPS = 2.0**-52
CHUNK_SECONDS = 0.2  # later calls: so that Ctrl-C and a progress bar are served
QUATERNION = "quaternion"  # the formulation of bodies, if nobody says


@dataclass(frozen=True)
class Asked:
    """What a solver was asked for, as ``solve`` has it."""

    method: str | Method | Integrator
    formulation: str | Formulation | None
    dt: float | None
    rtol: float | None
    atol: float | None
    first_step: float | None
    max_step: float | None
    breakpoints: Any
    t_eval: Any
    save_every: int
    events: Any
    compensated: bool
    progress: bool | Callable[[float], None]

    def refuse(self, why: str, *names: str) -> None:
        """An error if one of these was given."""
        for name in names:
            if (value := getattr(self, name)) is not None and value is not False:
                raise MethodError(f"{why}: leave out {name}=")


class Keeper:
    """Which states a run keeps: those of its steps, every so manyth, or those at given times."""

    dt: float

    def __init__(self, asked: Asked):
        t_eval, save_every = asked.t_eval, asked.save_every
        if not isinstance(save_every, (int, np.integer)) or save_every < 1:
            raise InputError(f"save_every must be a whole number of steps, got {save_every!r}")
        if t_eval is not None and save_every != 1:
            raise InputError("give t_eval or save_every, not both")
        self.asked = asked
        self.save_every = int(save_every)
        self.t_eval = None if t_eval is None else times_of(t_eval)
        self.progress = asked.progress
        self.watch = watched(asked.events)
        self.reason = ""
        self.arguments: dict[str, Any] = {} if save_every == 1 else {"save_every": self.save_every}
        self._last_plan: tuple = (None,)
        self._asides = 0  # side steps in it

    # ---- steps of their own size
    integrator: Integrator

    def _see(self, motion: Motion) -> Callable:
        """What an event sees at given times: (q, omega) in the user's body axes."""
        raise NotImplementedError

    def _asked_of(
        self, course: Course, watch: Watch | None, t0: float, t1: float
    ) -> tuple[np.ndarray, np.ndarray | None, dict[str, Any]]:
        """(times, rows or None for all steps, facts) that an adaptive run returns."""
        facts: dict[str, Any] = {"method": self.integrator.name, "status": Status(course.status)}
        stop = None
        if watch is not None:
            watch.look(course.times, self._see(course))
            stop = noted(watch, facts)
        times, rows = course.times, None
        if course.status != OK and stop is None:
            end = float(times[-1])
            facts["message"] = failure(course.status, end, course.nsteps, course.next_step, 0.0)
        if self.t_eval is not None or stop is not None or self.save_every != 1:
            times = self._kept(course, stop, t0, t1)
            rows = course.at(times)
        facts["nsteps"], facts["rejected"] = course.nsteps, course.rejected
        facts["nfev"] = course.evaluations
        return times, rows, facts

    def _kept(self, course: Course, stop: float | None, t0: float, t1: float) -> np.ndarray:
        """The times of the rows that an adaptive run returns."""
        times = course.times
        end = float(times[-1])
        if self.t_eval is not None:
            times = in_order(self.t_eval, t0, t1)
            times = times[times <= end] if t1 >= t0 else times[times >= end]
        elif self.save_every != 1:
            times = np.append(times[: -1 : self.save_every], times[-1])
        return times if stop is None else self._cut(times, stop, t1 >= t0)

    def _cut(self, times: np.ndarray, stop: float, forward: bool) -> np.ndarray:
        """The times up to a terminal event, and its own unless there is ``t_eval``."""
        kept = times[times <= stop] if forward else times[times >= stop]
        if self.t_eval is None and (len(kept) == 0 or kept[-1] != stop):
            kept = np.append(kept, stop)
        return kept

    # ---- fixed steps
    def _plan(self, t0: float, t1: float):
        """(steps, h, times, ends, sides): after how many steps, and what side step, to save.

        Kept for the next call, which often has the same span.
        """
        if self._last_plan[0] != (t0, t1):
            self._last_plan = (t0, t1), self._new_plan(t0, t1)
            self._asides = int(np.count_nonzero(self._last_plan[1][4]))
        n, h, times, ends, sides = self._last_plan[1]
        return n, h, times.copy(), ends, sides

    def _new_plan(self, t0: float, t1: float):
        length = t1 - t0
        exact = abs(length) / self.dt
        n = round(exact)
        if n and abs(exact - n) <= max(1e-9, 4 * n * EPS):
            h, rest = length / n, 0.0
        else:
            n, h = math.floor(exact), math.copysign(self.dt, length)
            rest = length - n * h
        if n >= 2**53:
            raise InputError(f"t_span and dt ask for {n:.3g} steps, more than can be counted")
        if self.t_eval is not None:
            return n, h, *_side_steps(in_order(self.t_eval, t0, t1), t0, h, n)
        ends = np.arange(0, n + self.save_every, self.save_every)
        ends[-1] = n  # also when n is not a multiple
        if rest != 0.0 and n % self.save_every == 0:
            ends = np.append(ends, n)
        times, sides = t0 + ends * h, np.zeros(len(ends))
        times[-1], sides[-1] = t1, rest
        return n, h, times, ends, sides


class Door(Keeper):
    """What solvers of bodies have in common: a problem, and where it starts."""

    _parts: Any

    def __init__(self, problem: Problem, asked: Asked):
        super().__init__(asked)
        self.problem = problem
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
        t0, t1 = span(t_span)
        state = self._other_state(attitude, omega, angular_momentum)
        numbers = self._params if params is None else self._other_params(params)
        return self._moved(t0, t1, state, numbers)

    def _moved(self, t0: float, t1: float, state: tuple, numbers: tuple) -> Trajectory:
        """The motion from t0 to t1."""
        raise NotImplementedError

    def _trajectory(
        self,
        motion: Motion,
        times: np.ndarray,
        rows: np.ndarray | None,
        first: tuple,
        params: tuple,
        facts: dict[str, Any],
    ) -> Trajectory:
        """Rows (q, m) in principal axes at ``times``, and all that follows from them.

        None: those of the steps.  ``facts`` become the attributes of the trajectory.
        """
        facts["t"], facts["body"] = times, self.problem.body
        facts["arguments"], facts["reason"] = self.arguments, self.reason
        facts["_details"] = OfBody(self, motion, times, rows, first, params)
        return Trajectory.of(facts)

    def _looked(self, motion: Motion, facts: dict[str, Any]) -> float | None:
        """Note the events along a motion in the facts; the time of a terminal one."""
        assert self.watch is not None
        watch = self.watch.anew()
        watch.look(motion.times, self._see(motion))
        return noted(watch, facts)

    def _see(self, motion: Motion) -> Callable:
        """What an event sees at given times: (q, omega) in the user's body axes."""
        body = self.problem.body

        def see(times):
            q, m = outer_states(body, motion.at(times))
            return q, Trajectory(times, q, m, body, potential=None, method="").omega

        return see

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


class OfBody(Details):
    """What a trajectory of a body computes when it is asked for."""

    __slots__ = ("door", "first", "params", "rows", "source", "times")

    def __init__(self, door, source, times, rows, first, params):
        self.door, self.source, self.times, self.rows = door, source, times, rows
        self.first, self.params = first, params

    def states(self):
        return self.source.states if self.rows is None else self.rows

    def motion(self):
        return outer_states(self.door.problem.body, self.states())

    def potential(self):
        energies = self.door._parts.potentials
        if energies is None:
            return None
        return energies(self.times, self.states(), self.door._body, self.params)

    def acceleration(self):
        door, body = self.door, self.door.problem.body
        values = door._parts.accelerations(self.times, self.states(), door._body, self.params)
        return values if body.is_aligned else values @ body.principal_axes.T

    def sol(self, times, facts):
        rows = self.source.at(times)
        return self.door._trajectory(self.source, times, rows, self.first, self.params, facts)

    def problem(self):
        return _plain_data(self.door.problem, self.first, self.params)


class Solver(Door):
    """A method and a model joined and compiled; see ``prepare``."""

    def __init__(self, problem: Problem, asked: Asked):
        super().__init__(problem, asked)
        method, model, body = asked.method, problem.model, problem.body
        asked.refuse("maps take fixed steps", "first_step", "max_step", "breakpoints")
        self._formulation = None
        self._all_kept = asked.t_eval is None and asked.save_every == 1
        if method == AUTO:
            self.dt = positive(asked.dt, AUTO)
            aim = accuracy(asked.rtol, asked.atol)
            self.method, self.reason = choose(problem, self.dt, aim, asked.compensated)
        else:
            if is_integrator(method):
                integrator = find_integrator(method)
                check_body(integrator)
                self._formulation = find_formulation(asked.formulation, QUATERNION)
                self.method = fixed(integrator, self._formulation)
            else:
                self.method = find_method(method)
                check_model(self.method, model)
            if asked.rtol is not None or asked.atol is not None:
                raise MethodError(
                    f"method {self.method.name!r} takes fixed steps: give dt=, not rtol= or atol="
                )
            self.dt = positive(asked.dt, self.method.name)
        if self._formulation is None:
            asked.refuse(
                f"method {self.method.name!r} is a map of its own variables", "formulation"
            )
        self.arguments = {"dt": self.dt, **self.arguments}
        if asked.compensated:
            check_sums(self.method)
            self.arguments["compensated"] = True
        self._weights, self._offsets = loops.substeps(self.method)
        self._torques = len(self.method.weights) * self.method.torques_per_step
        bound = variant(self.method, body.symmetry_axis, asked.compensated)
        parts = self._parts = joined(bound, model, body.is_aligned)
        first = self._entered(self._state)
        self._width = len(flat(first))
        if model.user:
            try_torque(parts.torque, model, self._state, self._body)
            try_potentials(parts, model, self._state[0], self._body, body.is_aligned)
        self._carry = parts.start(0.0, self.dt, first, self._body, self._params)
        numbers = first, self._carry, self._body, self._params[0]
        self._run = parts.packed(*numbers)
        self._row = np.array([flat(numbers)])

    def _entered(self, state: tuple) -> tuple:
        """The state in the variables of the formulation, if there is one."""
        f = self._formulation
        return state if f is None else (*f.enter(state[0]), *state[1])

    def _moved(self, t0: float, t1: float, state: tuple, numbers: tuple) -> Trajectory:
        n, h, times, ends, sides = self._plan(t0, t1)
        row = self._filled(state, numbers)
        out = np.empty((len(ends), self._width))
        if n <= FIRST_CHUNK and not self.progress:
            status, rows, steps, iterations, size = self._run(
                row, t0, h, 0, True, ends, sides, self._weights, self._offsets, numbers[1], out
            )
        else:
            with reporter(self.progress) as report:
                status, rows, steps, iterations, size = self._in_chunks(
                    row, t0, h, ends, sides, numbers[1], out, report
                )
        method, asides = self.method, self._asides
        facts: dict[str, Any] = {"method": method.name, "niter": iterations}
        if status != OK:
            stop = t0 + steps * h
            facts["status"] = Status(status)
            facts["message"] = failure(status, stop, steps, h, size)
            out, times, asides = out[:rows], times[:rows], int(np.count_nonzero(sides[:rows]))
            if rows == 0 or times[-1] != stop:  # the last good step, saved or not
                last = row[:, : self._width]
                out, times = np.vstack([out, last]), np.append(times, stop)
        facts["nsteps"] = steps + (asides if self.t_eval is None else 0)
        facts["nfev"] = method.torques_at_start + iterations * method.torques_per_iteration
        facts["nfev"] += (steps + asides) * self._torques
        motion = Made(lambda: self._course(t0, t1, state, numbers, times, out))
        kept = out if self._formulation is None else None
        if kept is None and not self._all_kept:
            kept = motion.at(times)
        if self.watch is not None:
            end = self._looked(motion, facts)
            if end is not None:
                times = self._cut(times, end, t1 >= t0)
                kept = motion.at(times)
        return self._trajectory(motion, times, kept, state, numbers, facts)

    def _filled(self, state: tuple, numbers: tuple) -> np.ndarray:
        """The row of numbers that the loop takes."""
        row = self._row.copy()
        if state is not self._state:
            row[0, : self._width] = flat(self._entered(state))
        if numbers is not self._params:
            given = flat(numbers[0])
            row[0, row.shape[1] - len(given) :] = given
        return row

    def _course(self, t0, t1, state, numbers, times, out) -> Course:
        """Every step of a run; made anew if not all were kept."""
        if not self._all_kept:
            whole = Solver(
                self.problem, replace(self.asked, t_eval=None, save_every=1, events=None)
            )
            _, h, times, ends, sides = whole._plan(t0, t1)
            out = np.empty((len(ends), self._width))
            with reporter(False) as report:
                _, rows, *_ = whole._in_chunks(
                    whole._filled(state, numbers), t0, h, ends, sides, numbers[1], out, report
                )
            times, out = times[:rows], out[:rows]
        table = np.column_stack([times, np.zeros(len(times)), out])
        settings = self._weights, self._offsets
        pattern = self._entered(state)
        return Course(self._parts, table, pattern, self._body, numbers, settings)

    # ---- computing it
    def _in_chunks(self, row, t0, h, ends, sides, tables, out, report):
        """The rows in pieces short enough for Ctrl-C and a progress bar; the bits are the same."""
        fresh, place, done, iterations = True, 0, 0, 0
        chunk, scratch = FIRST_CHUNK, np.empty((1, self._width))
        while place < len(ends):
            last = int(np.searchsorted(ends, done + chunk, side="right"))
            if last > place:
                part, aside, room = ends[place:last] - done, sides[place:last], out[place:last]
            else:  # the next row is further than a chunk
                part, aside, room = np.array([chunk]), np.zeros(1), scratch
            begun = time.perf_counter()
            status, rows, steps, count, size = self._run(
                row, t0, h, done, fresh, part, aside, self._weights, self._offsets, tables, room
            )
            took = time.perf_counter() - begun
            fresh = False
            done, iterations = done + steps, iterations + count
            place += rows if last > place else 0
            if status != OK:
                return status, place, done, iterations, size
            report(done / max(int(ends[-1]), 1))
            chunk = max(1, min(int(chunk * CHUNK_SECONDS / max(took, 1e-9)), 8 * chunk))
        return OK, place, done, iterations, 0.0

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"<Solver {self.method.name}, {arguments}, of {self.problem!r}>"


class AdaptiveSolver(Door):
    """An integrator in the variables of a formulation; see ``prepare``."""

    def __init__(self, problem: Problem, asked: Asked):
        super().__init__(problem, asked)
        model, body = problem.model, problem.body
        if asked.method == AUTO:
            name, self.reason = choose_integrator(problem, asked.rtol, asked.atol)
            self.integrator = find_integrator(name)
        else:
            self.integrator = find_integrator(asked.method)
        name = self.integrator.name
        check_body(self.integrator)
        if asked.dt is not None:
            raise MethodError(
                f"method {name!r} finds its steps itself: give rtol= (and max_step= to bound them),"
                " not dt="
            )
        asked.refuse(f"method {name!r} always carries what its sums lose", "compensated")
        self.formulation = find_formulation(asked.formulation, QUATERNION)
        self.tolerances = tolerances(asked.rtol, asked.atol, self.integrator)
        self._limits = step_limits(asked.first_step, asked.max_step)
        self._breakpoints = asked.breakpoints
        rtol, atol = self.tolerances
        self.arguments = {"rtol": rtol, **({"atol": atol} if atol else {}), **self.arguments}
        for key in ("first_step", "max_step"):
            if (value := getattr(asked, key)) is not None:
                self.arguments[key] = float(value)
        if self.formulation.name != QUATERNION:
            self.arguments["formulation"] = self.formulation.name
        parts = self._parts = pursuit(self.integrator, self.formulation, model, body.is_aligned)
        if model.user:
            try_torque(parts.torque, model, self._state, self._body)
            try_potentials(parts, model, self._state[0], self._body, body.is_aligned)
        self._first = first = self._entered(self._state)
        carry = parts.start(0.0, 1.0, first, self._body, self._params)
        others = carry, self._body, self._params[0]
        parts.packed(first, *others)
        self._steps_alone = (
            self.watch is None
            and self.t_eval is None
            and self.save_every == 1
            and asked.breakpoints is None
        )
        self._row = row_of_numbers(self.tolerances, self._limits[1], first, *others)

    def _entered(self, state: tuple) -> tuple:
        return (*self.formulation.enter(state[0]), *state[1])

    def _filled(self, first: tuple, numbers: tuple) -> np.ndarray:
        """The row of numbers that the loop takes."""
        row = self._row.copy()
        if first is not self._first:
            row[0, : len(first)] = first
        if numbers is not self._params:
            given = flat(numbers[0])
            end = row.shape[1] - 3  # the limits follow
            row[0, end - len(given) : end] = given
        return row

    def _moved(self, t0: float, t1: float, state: tuple, numbers: tuple) -> Trajectory:
        first = self._first if state is self._state else self._entered(state)
        row = self._filled(first, numbers)
        if self._steps_alone and not self.progress:
            return self._all_steps(t0, t1, row, first, state, numbers)
        points = (t0, t1) if self._breakpoints is None else breaks(self._breakpoints, t0, t1)
        known = (
            self._parts,
            points,
            row,
            first,
            self._body,
            numbers,
            self.tolerances,
            self._limits[0],
        )
        watch = None if self.watch is None else self.watch.anew()
        if watch is None and not self.progress:
            course = pursue(*known)
        else:
            stop_there = None if watch is None else lambda c: watch.look(c.times, self._see(c))
            with reporter(self.progress) as report:
                course = pursue(*known, report, stop_there)
        times, rows, facts = self._asked_of(course, watch, t0, t1)
        return self._trajectory(course, times, rows, state, numbers, facts)

    def _all_steps(self, t0, t1, row, first, state, numbers) -> Trajectory:
        """``_moved`` where there is nothing but steps: a prepared solver is called in loops."""
        parts, limit = self._parts, self._limits[0]
        out = np.empty((FIRST_ROWS, 2 + len(first)))
        h = limit if t1 >= t0 else -limit
        begun = parts.run(row, t0, 0.0, t1, h, True, numbers[1], out)
        t, low, _, status, accepted, rejected, starts, count = begun
        known = self._body, numbers, self.tolerances
        if status != OK or (t1 - t) - low != 0.0:
            course = pursue(parts, (t0, t1), row, first, *known, limit, begun=(*begun, out))
            times, rows, facts = self._asked_of(course, None, t0, t1)
            return self._trajectory(course, times, rows, state, numbers, facts)
        rows = out[: accepted + 1]
        facts = {
            "method": self.integrator.name,
            "nsteps": accepted,
            "nfev": count + starts * self.integrator.evaluations_at_start,
            "rejected": rejected,
        }
        course = Course(parts, rows, first, *known)
        return self._trajectory(course, rows[:, 0], None, state, numbers, facts)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"<Solver {self.integrator.name}, {arguments}, of {self.problem!r}>"


class FreeSolver(Door):
    """The closed form of the free motion, behind the same door; for ``method="auto"``."""

    def __init__(self, problem: Problem, asked: Asked):
        super().__init__(problem, asked)
        accuracy(asked.rtol, asked.atol if asked.dt is not None else None)
        self.reason = "there is no torque"
        self.dt = 0.0 if asked.dt is None else positive(asked.dt, AUTO)
        if asked.dt is not None:
            self.arguments = {"dt": self.dt, **self.arguments}
        self._parts = FreeParts

    def _moved(self, t0: float, t1: float, state: tuple, numbers: tuple) -> Trajectory:
        if self.t_eval is not None:
            times = in_order(self.t_eval, t0, t1)
        elif self.dt == 0.0:
            times = np.linspace(t0, t1, FREE_ROWS)
        else:
            _, _, times, *_ = self._plan(t0, t1)
        most = MOST_LOOKS if self.watch is None else math.inf
        motion, facts = FreeMotion(self._body, state, t0, t1, most), {"method": EXACT}
        if self.watch is not None and (end := self._looked(motion, facts)) is not None:
            times = self._cut(times, end, t1 >= t0)
        rows = motion.at(times)
        return self._trajectory(motion, times, rows, state, numbers, facts)

    def __repr__(self) -> str:
        return f"<Solver {EXACT}, of {self.problem!r}>"


class FreeParts:
    """What a trajectory asks of a force that is not there."""

    @staticmethod
    def potentials(times, states, body, params):
        return np.zeros(len(times))

    @staticmethod
    def accelerations(times, states, body, params):
        inverse, m = np.array(body[1]), states[:, 4:7]
        return inverse * np.cross(m, inverse * m)


# ---- words
def failure(status: int, t: float, steps: int, h: float, size: float) -> str:
    residual = f", last correction {math.sqrt(size):.1e}" if size > 0 else ""
    return (
        f"stopped at t = {t:.10g} after {steps} steps of {h:g}{residual}: {ADVICE[Status(status)]}"
    )


def noted(watch: Watch, facts: dict[str, Any]) -> float | None:
    """The events among the facts of a trajectory; the time of a terminal one."""
    facts["t_events"] = [np.array(times) for times in watch.times]
    if watch.stop is not None:
        k = next(k for k, times in enumerate(watch.times) if times[-1:] == [watch.stop])
        facts["message"] = f"stopped at t = {watch.stop:.10g} by events[{k}]"
        facts["status"] = Status.OK
    return watch.stop


def _side_steps(times: np.ndarray, t0: float, h: float, n: int):
    """(times, ends, sides): the grid point before each time, and the step from there."""
    if h == 0.0:
        return times, np.zeros(len(times), dtype=np.int64), np.zeros(len(times))
    near = np.rint((times - t0) / h)
    slack = 4 * np.spacing(np.maximum(np.abs(times), abs(t0)))
    on_grid = np.abs(times - (t0 + near * h)) <= slack
    ends = np.where(on_grid, near, np.floor((times - t0) / h))
    ends = np.clip(ends, 0, n).astype(np.int64)
    sides = np.where(on_grid & (near <= n), 0.0, times - (t0 + ends * h))
    return times, ends, sides


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
def reporter(progress: bool | Callable[[float], None]) -> Iterator[Callable[[float], None]]:
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
