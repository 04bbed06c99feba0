"""What the front doors of solvers have in common: what was asked, what is kept, what is returned.

``Keeper`` knows which states a run keeps, ``Door`` adds a problem of a body and where it starts.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from polhode.compiler.tree import flat, like
from polhode.contracts import (
    ADVICE,
    OK,
    Coordinates,
    Formulation,
    Integrator,
    Status,
)
from polhode.errors import FileError, InputError
from polhode.loops.join import equations_of
from polhode.problems.problem import (
    Problem,
    inner_state,
    outer_states,
    quaternion,
    rates,
    three,
    translation,
)
from polhode.results.trajectory import Details, Trajectory
from polhode.solvers.adaptive_steps import Course, Motion
from polhode.solvers.arguments import Arguments, in_order, span, times_of
from polhode.solvers.bound import problem_facts
from polhode.solvers.checkpoint import Checkpoint, Known, Saver
from polhode.solvers.events import Watch, watched
from polhode.solvers.fixed_steps import Plan, plan
from polhode.solvers.progress import reporter as reporter


class Keeper:
    """Which states a run keeps: those of its steps, every so manyth, or those at given times."""

    dt: float

    def __init__(self, asked: Arguments):
        t_eval, save_every = asked.t_eval, asked.save_every
        if not isinstance(save_every, (int, np.integer)) or save_every < 1:
            raise InputError(f"save_every must be a whole number of steps, got {save_every!r}")
        if t_eval is not None and save_every != 1:
            raise InputError("give t_eval or save_every, not both")
        self.asked = asked
        self.save_every = int(save_every)
        self.t_eval = None if t_eval is None else times_of(t_eval)
        self.progress = asked.progress
        self.checkpoint: Checkpoint | None = None
        self.watch = watched(asked.events)
        self.reason = ""
        self.arguments: dict[str, Any] = {} if save_every == 1 else {"save_every": self.save_every}
        if asked.options:
            self.arguments["options"] = dict(asked.options)
        self._last_plan: tuple[tuple[float, float], Plan] | None = None
        self._asides = 0  # side steps in it

    # ---- steps of their own size
    integrator: Integrator

    def _see(self, motion: Motion) -> Callable:
        """What an event sees at given times: rows (q, omega), and (x, v) if there are any."""
        raise NotImplementedError

    def _failure(self, status: int, t: float, steps: int, h: float, size: float = 0.0) -> str:
        """What went wrong, and what to try."""
        return failure(status, t, steps, h, size)

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
            facts["message"] = self._failure(course.status, end, course.nsteps, course.next_step)
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
    def _plan(self, t0: float, t1: float) -> Plan:
        """What to save, kept for the next call, which often has the same span."""
        if self._last_plan is None or self._last_plan[0] != (t0, t1):
            made = plan(t0, t1, self.dt, self.t_eval, self.save_every)
            self._last_plan = (t0, t1), made
            self._asides = int(np.count_nonzero(made.sides))
        count, h, times, ends, sides = self._last_plan[1]
        return Plan(count, h, times.copy(), ends, sides)


class Door(Keeper):
    """What solvers of bodies have in common: a problem, and where it starts."""

    _parts: Any
    _variables: Formulation | Coordinates | None = None  # None: the state itself

    def __init__(self, problem: Problem, asked: Arguments):
        super().__init__(asked)
        self.problem = problem
        self._body = problem.body.data
        self._params = problem.model.params
        self._state = problem.state

    def __call__(
        self,
        t_span: Sequence[float],
        *,
        attitude: Any = None,
        omega: Any = None,
        angular_momentum: Any = None,
        position: Any = None,
        velocity: Any = None,
        params: Any = None,
    ) -> Trajectory:
        """Solve over ``t_span``, from another state or with other parameters if given."""
        t0, t1 = span(t_span)
        state = self._other_state(attitude, omega, angular_momentum, position, velocity)
        numbers = self._params if params is None else self._other_params(params)
        return self._moved(t0, t1, state, numbers)

    def resumed(self, before: Known) -> Trajectory:
        """The motion that a checkpoint of this solver holds, to its end."""
        data, arrays = before.data, before.arrays
        if data["chosen"] != self._chosen:
            raise FileError(
                f"the run was begun with method {data['chosen']!r}, and 'auto' now chooses"
                f" {self._chosen!r}; go on with the version of polhode that began it"
            )
        t0, t1 = data["span"]
        state = like(self._state, iter(arrays["state"].tolist()))
        numbers = like(self._params[0], iter(arrays["numbers"].tolist()))
        return self._moved(t0, t1, state, (numbers, self._params[1]), before)

    @property
    def _chosen(self) -> str:
        """The name of the method."""
        raise NotImplementedError

    def _saver(
        self, t0: float, t1: float, state: tuple, numbers: tuple, before: Known | None
    ) -> Any:
        """What keeps a run in the checkpoint that was asked for, in ``with``; None if none was."""
        if self.checkpoint is None:
            return nullcontext()
        data = {"span": [t0, t1], "chosen": self._chosen}
        arrays = {"state": np.array(flat(state)), "numbers": np.array(flat(numbers[0]))}
        return Saver(self.checkpoint, data, arrays, before)

    def _moved(
        self, t0: float, t1: float, state: tuple, numbers: tuple, before: Known | None = None
    ) -> Trajectory:
        """The motion from t0 to t1; ``before`` is what a checkpoint holds of it."""
        raise NotImplementedError

    def _entered(self, t0: float, state: tuple) -> tuple[tuple, tuple]:
        """(what loops integrate, the body as they see it) at the start."""
        variables, body = self._variables, self._body
        if variables is None:
            return state, body
        enter = equations_of(variables, self.problem.moves).enter
        if isinstance(variables, Formulation):
            return enter(t0, state, body), body
        if variables.nominal is not None:
            body = (*body, variables.nominal(t0, state[0], state[1], body))
        try:
            first = enter(t0, state, body)
        except (ArithmeticError, ValueError):
            first = (math.nan,)
        if not all(map(math.isfinite, flat(first))):
            raise InputError(
                f"formulation {variables.name!r} cannot describe the initial state:"
                f" {variables.singular}"
            )
        return first, body

    def _failure(self, status: int, t: float, steps: int, h: float, size: float = 0.0) -> str:
        text = failure(status, t, steps, h, size)
        if isinstance(self._variables, Coordinates):
            text += f"; the variables of {self._variables.name!r}: {self._variables.singular}"
        return text

    def _trajectory(
        self,
        motion: Motion,
        times: np.ndarray,
        rows: np.ndarray | None,
        first: tuple,
        params: tuple,
        facts: dict[str, Any],
    ) -> Trajectory:
        """Rows of the state in principal axes at ``times``, and all that follows from them.

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
        """What an event sees at given times: (q, omega), in the user's body axes, and x, v."""
        body = self.problem.body

        def see(times):
            rows = motion.at(times)
            q, m = outer_states(body, rows)
            omega = Trajectory(times, q, m, body, potential=None, method="").omega
            return np.hstack([q, omega, *translation(body, rows)])

        return see

    def _other_state(self, attitude, omega, angular_momentum, position, velocity):
        given = attitude, omega, angular_momentum, position, velocity
        if all(value is None for value in given):
            return self._state
        problem = self.problem
        q = problem.attitude if attitude is None else quaternion(attitude)
        m = problem.angular_momentum
        if omega is not None or angular_momentum is not None:
            _, m = rates(problem.body, omega, angular_momentum)
        x, v = problem.position, problem.velocity
        if position is not None or velocity is not None:
            if not problem.moves:
                raise InputError(
                    "position= and velocity= are for problems that have them: give position= to"
                    " the Problem"
                )
            x = x if position is None else three(position, "position")
            v = v if velocity is None else three(velocity, "velocity")
        return inner_state(problem.body, q, m, x, v)

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

    def translation(self):
        return translation(self.door.problem.body, self.states()) or (None, None)

    def potential(self):
        parts, body = self.door._parts, self.door._body
        return parts.along.potentials(self.times, self.states(), body, self.params)

    def accelerations(self):
        door, body = self.door, self.door.problem.body
        values = door._parts.along.accelerations(self.times, self.states(), door._body, self.params)
        turning = values[:, :3] if body.is_aligned else values[:, :3] @ body.principal_axes.T
        return turning, values[:, 3:] if door.problem.moves else None

    def sol(self, times, facts):
        rows = self.source.at(times)
        return self.door._trajectory(self.source, times, rows, self.first, self.params, facts)

    def problem(self):
        return problem_facts(self.door.problem, self.first, self.params)


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


plain_data = problem_facts
