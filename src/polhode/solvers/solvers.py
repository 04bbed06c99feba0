"""The solvers of bodies: everything is checked here, and nowhere below.

``Solver`` runs maps, ``AdaptiveSolver`` integrators with a step of their own, ``FreeSolver`` the
closed form of the free motion.
"""

import math
from typing import Any

import numpy as np

from polhode import loops
from polhode.compiler.tree import flat, like
from polhode.contracts import OK, Status
from polhode.errors import MethodError
from polhode.loops.join import fixed, joined, pursuit, try_potentials, try_wrench, variant
from polhode.methods.translation import with_translation
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.adaptive_steps import (
    FIRST_ROWS,
    MOST_LOOKS,
    Course,
    FreeMotion,
    Made,
    pursue,
    row_of_numbers,
)
from polhode.solvers.arguments import (
    AUTO,
    Arguments,
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
    step_limits,
    tolerances,
)
from polhode.solvers.auto import choose, choose_integrator
from polhode.solvers.base import Door
from polhode.solvers.bound import ADAPTIVE, FIXED, Bound
from polhode.solvers.checkpoint import Known
from polhode.solvers.exact import EXACT
from polhode.solvers.fixed_steps import FIRST_CHUNK, in_chunks, plan
from polhode.solvers.progress import reporter

FREE_ROWS = 201  # states of a closed form when nobody says which
QUATERNION = "quaternion"  # the formulation of bodies, if nobody says


class Solver(Door):
    """A method and a model joined and compiled; see ``prepare``."""

    def __init__(self, problem: Problem, asked: Arguments):
        super().__init__(problem, asked)
        method, model, body = asked.method, problem.model, problem.body
        asked.refuse("maps take fixed steps", "first_step", "max_step", "breakpoints")
        self._all_kept = asked.t_eval is None and asked.save_every == 1
        if method == AUTO:
            self.dt = positive(asked.dt, AUTO)
            aim = accuracy(asked.rtol, asked.atol)
            self.method, self.reason = choose(problem, self.dt, aim, asked.compensated)
        else:
            if is_integrator(method):
                integrator = find_integrator(method)
                check_body(integrator)
                self._variables = find_formulation(asked.formulation, QUATERNION)
                self.method = fixed(integrator, self._variables, problem.moves)
            else:
                self.method = find_method(method)
                check_model(self.method, model)
            if asked.rtol is not None or asked.atol is not None:
                raise MethodError(
                    f"method {self.method.name!r} takes fixed steps: give dt=, not rtol= or atol="
                )
            self.dt = positive(asked.dt, self.method.name)
        if self._variables is None:
            asked.refuse(
                f"method {self.method.name!r} is a map of its own variables", "formulation"
            )
        self.arguments = {"dt": self.dt, **self.arguments}
        if self._variables is not None and self._variables.name != QUATERNION:
            self.arguments["formulation"] = self._variables.name
        if asked.compensated:
            check_sums(self.method)
            self.arguments["compensated"] = True
        if problem.moves and self._variables is None:
            self.method = with_translation(self.method, model.depends_on_velocity)
        self._weights, self._offsets = loops.substeps(self.method)
        self._torques = len(self.method.weights) * self.method.torques_per_step
        bound = variant(self.method, body.symmetry_axis, asked.compensated)
        parts = self._parts = joined(bound, model, body.is_aligned, problem.moves)
        first, begun = self._entered(0.0, self._state)
        self._width = len(flat(first))
        if model.user:
            try_wrench(parts.wrench, model, self._state, self._body)
            try_potentials(parts, model, self._state, self._body, body.is_aligned)
        self._carry = parts.start(0.0, self.dt, first, begun, self._params)
        numbers = first, self._carry, begun, self._params[0]
        self._run = parts.packed(*numbers)
        self._row = np.array([flat(numbers)])
        self.bound = Bound(
            FIXED,
            self.method.name,
            problem,
            self._state,
            self._body,
            self._params,
            parts,
            self._variables,
            self.method,
            self._carry,
            self.dt,
            self._weights,
            self._offsets,
            asked.compensated,
        )

    @property
    def _chosen(self) -> str:
        return self.method.name

    def _moved(
        self, t0: float, t1: float, state: tuple, numbers: tuple, before: Known | None = None
    ) -> Trajectory:
        planned = n, h, times, ends, sides = self._plan(t0, t1)
        row, _, body = self._filled(t0, state, numbers)
        out = np.empty((len(ends), self._width))
        settings = self._weights, self._offsets, numbers[1], out
        if n <= FIRST_CHUNK and not self.progress and self.checkpoint is None:
            status, rows, steps, iterations, size = self._run(
                row, t0, h, 0, True, ends, sides, *settings
            )
        else:
            saving = self._saver(t0, t1, state, numbers, before)
            with reporter(self.progress) as report, saving as saver:
                status, rows, steps, iterations, size = in_chunks(
                    self._run, row, t0, planned, *settings, report, saver
                )
        method, asides = self.method, self._asides
        facts: dict[str, Any] = {"method": method.name, "niter": iterations}
        if status != OK:
            stop = t0 + steps * h
            facts["status"] = Status(status)
            facts["message"] = self._failure(status, stop, steps, h, size)
            out, times, asides = out[:rows], times[:rows], int(np.count_nonzero(sides[:rows]))
            if rows == 0 or times[-1] != stop:  # the last good step, saved or not
                last = row[:, : self._width]
                out, times = np.vstack([out, last]), np.append(times, stop)
        facts["nsteps"] = steps + (asides if self.t_eval is None else 0)
        facts["nfev"] = method.torques_at_start + iterations * method.torques_per_iteration
        facts["nfev"] += (steps + asides) * self._torques
        if method.evaluations is not None:
            facts["nfev"] = method.evaluations(like(self._carry, iter(row[0, self._width :])))
        motion = Made(lambda: self._course(t0, t1, state, numbers, times, out))
        kept = out if self._variables is None else None
        if kept is None and not self._all_kept:  # else when they are asked for
            continuous = self._parts.continuous  # else the sign follows from all steps
            kept = self._parts.states(times, out, body) if continuous else motion.at(times)
        if self.watch is not None:
            end = self._looked(motion, facts)
            if end is not None:
                times = self._cut(times, end, t1 >= t0)
                kept = motion.at(times)
        return self._trajectory(motion, times, kept, state, numbers, facts)

    def _filled(self, t0: float, state: tuple, numbers: tuple) -> tuple[np.ndarray, tuple, tuple]:
        """(the row of numbers that the loop takes, what it integrates, the body)."""
        row = self._row.copy()
        first, body = self._entered(t0, state)
        if state is not self._state or body is not self._body:
            row[0, : self._width] = flat(first)
        if body is not self._body:
            start = self._width + len(flat(self._carry))
            row[0, start : start + len(flat(body))] = flat(body)
        if numbers is not self._params:
            given = flat(numbers[0])
            row[0, row.shape[1] - len(given) :] = given
        return row, first, body

    def _course(self, t0, t1, state, numbers, times, out) -> Course:
        """Every step of a run; made anew if not all were kept."""
        settings = self._weights, self._offsets
        row, first, body = self._filled(t0, state, numbers)
        if not self._all_kept:
            planned = plan(t0, t1, self.dt)
            out = np.empty((len(planned.ends), self._width))
            with reporter(False) as report:
                _, rows, *_ = in_chunks(
                    self._run, row, t0, planned, *settings, numbers[1], out, report
                )
            times, out = planned.times[:rows], out[:rows]
        table = np.column_stack([times, np.zeros(len(times)), out])
        return Course(self._parts, table, first, body, numbers, settings)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"<Solver {self.method.name}, {arguments}, of {self.problem!r}>"


class AdaptiveSolver(Door):
    """An integrator in the variables of a formulation; see ``prepare``."""

    def __init__(self, problem: Problem, asked: Arguments):
        super().__init__(problem, asked)
        model, body = problem.model, problem.body
        if asked.method == AUTO:
            name, self.reason = choose_integrator()
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
        self._variables = find_formulation(asked.formulation, QUATERNION)
        self.tolerances = tolerances(asked.rtol, asked.atol, self.integrator)
        self._limits = step_limits(asked.first_step, asked.max_step)
        self._breakpoints = asked.breakpoints
        rtol, atol = self.tolerances
        self.arguments = {"rtol": rtol, **({"atol": atol} if atol else {}), **self.arguments}
        for key in ("first_step", "max_step"):
            if (value := getattr(asked, key)) is not None:
                self.arguments[key] = float(value)
        if self._variables.name != QUATERNION:
            self.arguments["formulation"] = self._variables.name
        parts = self._parts = pursuit(
            self.integrator, self._variables, model, body.is_aligned, problem.moves
        )
        if model.user:
            try_wrench(parts.wrench, model, self._state, self._body)
            try_potentials(parts, model, self._state, self._body, body.is_aligned)
        first, begun = self._entered(0.0, self._state)
        self._first, self._fixed = first, begun is self._body
        carry = parts.start(0.0, 1.0, first, begun, self._params)
        others = carry, begun, self._params[0]
        parts.packed(first, *others)
        self._steps_alone = (
            self.watch is None
            and self.t_eval is None
            and self.save_every == 1
            and asked.breakpoints is None
        )
        self._row = row_of_numbers(self.tolerances, self._limits[1], first, *others)
        self.bound = Bound(
            ADAPTIVE,
            name,
            problem,
            self._state,
            self._body,
            self._params,
            parts,
            self._variables,
            self.integrator,
            tolerances=self.tolerances,
            limits=self._limits,
        )

    def _filled(self, t0: float, state: tuple, numbers: tuple) -> tuple[np.ndarray, tuple, tuple]:
        """(the row of numbers that the loop takes, what it integrates, the body)."""
        row = self._row.copy()
        if state is self._state and self._fixed:
            first, body = self._first, self._body
        else:
            first, body = self._entered(t0, state)
            row[0, : len(first)] = first
        end = row.shape[1] - 3  # the limits follow
        count = len(flat(self._params[0]))
        if numbers is not self._params:
            row[0, end - count : end] = flat(numbers[0])
        if body is not self._body:
            given = flat(body)
            row[0, end - count - len(given) : end - count] = given
        return row, first, body

    @property
    def _chosen(self) -> str:
        return self.integrator.name

    def _moved(
        self, t0: float, t1: float, state: tuple, numbers: tuple, before: Known | None = None
    ) -> Trajectory:
        row, first, body = self._filled(t0, state, numbers)
        if self._steps_alone and not self.progress and self.checkpoint is None:
            return self._all_steps(t0, t1, row, first, body, state, numbers)
        points = (t0, t1) if self._breakpoints is None else breaks(self._breakpoints, t0, t1)
        known = (
            self._parts,
            points,
            row,
            first,
            body,
            numbers,
            self.tolerances,
            self._limits[0],
        )
        watch = None
        if self.watch is not None:
            watch = self.watch.anew(None if before is None else before.seen)
        saving = self._saver(t0, t1, state, numbers, before)
        if watch is None and not self.progress and self.checkpoint is None:
            course = pursue(*known)
        else:
            stop_there = None if watch is None else lambda c: watch.look(c.times, self._see(c))
            with reporter(self.progress) as report, saving as saver:
                if saver is not None:
                    saver.watch = watch
                course = pursue(*known, report, stop_there, saver=saver)
        times, rows, facts = self._asked_of(course, watch, t0, t1)
        return self._trajectory(course, times, rows, state, numbers, facts)

    def _all_steps(self, t0, t1, row, first, body, state, numbers) -> Trajectory:
        """``_moved`` where there is nothing but steps: a prepared solver is called in loops."""
        parts, limit = self._parts, self._limits[0]
        out = np.empty((FIRST_ROWS, 2 + len(first)))
        h = limit if t1 >= t0 else -limit
        begun = parts.run(row, t0, 0.0, t1, h, True, numbers[1], out)
        t, low, _, status, accepted, rejected, starts, count = begun
        known = body, numbers, self.tolerances
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

    def __init__(self, problem: Problem, asked: Arguments):
        super().__init__(problem, asked)
        accuracy(asked.rtol, asked.atol if asked.dt is not None else None)
        self.reason = "there is no torque"
        self.dt = 0.0 if asked.dt is None else positive(asked.dt, AUTO)
        if asked.dt is not None:
            self.arguments = {"dt": self.dt, **self.arguments}
        self._parts = FreeParts
        self.bound = Bound(
            EXACT, EXACT, problem, self._state, self._body, self._params, FreeParts, dt=self.dt
        )

    def _moved(
        self, t0: float, t1: float, state: tuple, numbers: tuple, before: Known | None = None
    ) -> Trajectory:
        if self.t_eval is not None:
            times = in_order(self.t_eval, t0, t1)
        elif self.dt == 0.0:
            times = np.linspace(t0, t1, FREE_ROWS)
        else:
            times = self._plan(t0, t1).times
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

    class along:
        @staticmethod
        def potentials(times, states, body, params):
            return np.zeros(len(times))

        @staticmethod
        def accelerations(times, states, body, params):
            inverse, m = np.array(body[1]), states[:, 4:7]
            return np.hstack([inverse * np.cross(m, inverse * m), np.zeros((len(times), 3))])
