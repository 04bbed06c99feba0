"""``Solver``: a problem bound to compiled loops, and which states its runs return."""

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from polhode.compiler.tree import flat, like
from polhode.contracts.checks import span, three
from polhode.contracts.company import check_value, company_of
from polhode.errors import InputError, MethodError
from polhode.files.given import check_form, damage_refused
from polhode.problems.problem import (
    Problem,
    inner_state,
    outer_states,
    quaternion,
    rates,
    translation,
)
from polhode.results.details import Details
from polhode.results.trajectory import Trajectory
from polhode.solvers.adaptive_steps import Motion
from polhode.solvers.arguments import Arguments, breaks, in_order, times_of
from polhode.solvers.bound import ADAPTIVE, EXACT, FIXED, Bound, problem_facts
from polhode.solvers.checkpoint import (
    Checkpoint,
    Saver,
    Stored,
    check_checkpoint,
    describe_checkpoint,
)
from polhode.solvers.events import SEEN, Beside, Watch, watch_for
from polhode.solvers.fixed_steps import ROW, Plan, plan
from polhode.solvers.jumps import rows_at_event, with_jump

NO_STEPS = "the closed form of the free motion takes no steps to store: leave out checkpoint="
OUTPUTS = frozenset({"events", "progress", "checkpoint", "checkpoint_every"})

Facts = dict[str, Any]  # attributes of a trajectory
Move = Callable[["Solver", float, float, tuple, tuple, Stored | None], Trajectory]
Mover = Callable[[Bound, "Output", Arguments], Move]  # chooses how runs are made


class Output:
    """Which states a run returns: those of all steps, of every n-th step, or at given times.

    Attributes
    ----------
    t_eval, save_every, progress : as in ``solve``
    every_step : whether the states of all steps are returned
    watch : the events to look for; None if there are none
    checkpoint : where the run is stored; None if nowhere
    side_steps : how many there are in the last plan
    size : bytes for a state that is kept
    """

    def __init__(self, arguments: Arguments, beside: Beside | None = None, size: int = ROW):
        t_eval, save_every = arguments.t_eval, arguments.save_every
        if not isinstance(save_every, (int, np.integer)) or save_every < 1:
            raise InputError(f"save_every must be a whole number of steps, got {save_every!r}")
        if t_eval is not None and save_every != 1:
            raise InputError("give t_eval or save_every, not both")
        self.save_every = int(save_every)
        self.t_eval = None if t_eval is None else times_of(t_eval)
        self.every_step = t_eval is None and save_every == 1
        self.watch = None
        if arguments.events is not None:
            self.watch = watch_for(arguments.events, beside=beside)
        self.progress = arguments.progress
        self.checkpoint: Checkpoint | None = None
        self.side_steps, self.size = 0, size
        self._span: tuple[float, float, float] | None = None
        self._ordered: tuple[float, float] | None = None  # a span in which ``t_eval`` is in order
        self._plan: Plan

    def plan(self, t0: float, t1: float, dt: float) -> Plan:
        """Plan fixed steps; kept for the next call, which often has the same span.

        Its times are copied before they are handed out.
        """
        if self._span != (t0, t1, dt):
            self._span = t0, t1, dt
            self._plan = plan(t0, t1, dt, self.t_eval, self.save_every, size=self.size)
            self.side_steps = int(np.count_nonzero(self._plan.sides))
        return self._plan

    def select_times(
        self, times: np.ndarray, stop: float | None, t0: float, t1: float
    ) -> np.ndarray:
        """Select the times to return, from those of the steps that an adaptive run took."""
        end = float(times[-1])
        if self.t_eval is not None:
            times = self.t_eval
            if self._ordered != (t0, t1):
                in_order(times, t0, t1)
                self._ordered = t0, t1
            times = times[times <= end] if t1 >= t0 else times[times >= end]
        elif self.save_every != 1:
            times = np.append(times[: -1 : self.save_every], times[-1])
        return times if stop is None else self.cut(times, stop, t1 >= t0)

    def cut(self, times: np.ndarray, stop: float, forward: bool) -> np.ndarray:
        """Cut times at a terminal event, and append its own unless there is ``t_eval``."""
        before = times[times <= stop] if forward else times[times >= stop]
        if self.t_eval is None and (len(before) == 0 or before[-1] != stop):
            before = np.append(before, stop)
        return before


class Solver:
    """A reusable compiled solver; see ``prepare``.

    Attributes
    ----------
    bound : the problem and its compiled loops, a ``Bound``
    output : which states a run returns, an ``Output``
    arguments : the arguments that results mention, as plain data
    reason : why the method was chosen; empty unless "auto" chose it
    problem, name : the ``Problem``, and the name of the method
    method : the ``Method`` or ``Integrator``; None for the closed form
    integrator : the adaptive ``Integrator``; None if the steps are fixed
    dt, tolerances : the fixed step, and (rtol, atol) of an adaptive integrator
    t_eval, save_every : as in ``solve``;  progress, checkpoint : ``replace`` changes them

    Examples
    --------
    >>> import polhode as ph
    >>> solver = ph.prepare(ph.problems.fast_top(), method="mr2", dt=0.01)
    >>> slow, fast = (solver((0, 1), omega=[0, 0, spin]) for spin in (40, 60))
    >>> solver.name, slow.nsteps
    ('mr2', 100)
    """

    def __init__(
        self, bound: Bound, keywords: Arguments, arguments: Facts, reason: str, mover: Mover
    ):
        self.bound, self.keywords = bound, keywords
        self.output = self._make_output(keywords)
        self.arguments, self.reason = arguments, reason
        self._mover, self._move = mover, mover(bound, self.output, keywords)

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
        variables: Any = None,
    ) -> Trajectory:
        """Solve over ``t_span``, from another state or with other parameters if given."""
        t0, t1 = span(t_span)
        bound = self.bound
        state, numbers = bound.state, bound.params
        if not (attitude is omega is angular_momentum is position is velocity is None):
            state = self._other_state(attitude, omega, angular_momentum, position, velocity)
        if params is not None:
            numbers = self._other_params(params)
        if variables is not None:
            state = self._other_variables(state, variables)
        return self._move(self, t0, t1, state, numbers, None)

    def resume(self, stored: Stored) -> Trajectory:
        """Continue the run that a checkpoint of this solver holds, to its end."""
        data, arrays, bound = stored.data, stored.arrays, self.bound
        assert self.output.checkpoint is not None
        with damage_refused(self.output.checkpoint.path):
            t0, t1 = span(data["span"])
            state = _nested(bound.state, arrays["state"], "state")
            params = _nested(bound.params[0], arrays["numbers"], "numbers"), bound.params[1]
            self._check_resumed(t0, t1, data.get("seen"))
        return self._move(self, t0, t1, state, params, stored)

    def _check_resumed(self, t0: float, t1: float, seen: Any) -> None:
        """Raise errors about a span, times and events that are not from the caller."""
        output, bound = self.output, self.bound
        assert output.checkpoint is not None
        if bound.kind == FIXED:
            output.plan(t0, t1, bound.dt)
        else:
            if output.t_eval is not None:
                in_order(output.t_eval, t0, t1)
            breaks(self.keywords.breakpoints, t0, t1)
        if output.watch is not None and seen is not None:
            check_form(output.checkpoint.path, seen, SEEN, "seen")
            output.watch.fresh(seen)

    def replace(self, **changes: Any) -> "Solver":
        """Return this solver with other events, progress, checkpoint or checkpoint_every.

        Both share the compiled loops.
        """
        if unknown := set(changes) - OUTPUTS:
            raise InputError(
                f"only {', '.join(sorted(OUTPUTS))} can be replaced, got {sorted(unknown)[0]!r};"
                " prepare another solver"
            )
        other = copy.copy(self)
        other.keywords = replace(self.keywords, **changes)
        other.output = self._make_output(other.keywords)
        other._move = self._mover(self.bound, other.output, other.keywords)
        place = check_checkpoint(other.keywords.checkpoint, other.keywords.checkpoint_every)
        if place is not None:
            if self.bound.kind == EXACT:
                raise MethodError(NO_STEPS)
            other.output.checkpoint = describe_checkpoint(place, self.problem, other.keywords)
        return other

    def of(self, problem: Problem) -> "Solver":
        """Return this solver for a problem that shares its code.

        Model, methods and axes of the body must be of the same kind; this is not checked.
        """
        other = copy.copy(self)
        other.bound = self.bound.of(problem)
        other._move = self._mover(other.bound, self.output, self.keywords)
        return other

    def _make_output(self, keywords: Arguments) -> Output:
        coupled = self.bound.problem.model.coupled is not None
        directions = self.bound.directions
        size = ROW + (0 if directions is None else directions.room)
        return Output(keywords, self.bound.beside if coupled else None, size)

    # ---- names
    problem = property(attrgetter("bound.problem"))
    name = property(attrgetter("bound.name"))
    method = property(attrgetter("bound.method"))
    dt = property(attrgetter("bound.dt"))
    directions = property(attrgetter("bound.directions"))
    tolerances = property(attrgetter("bound.tolerances"))
    t_eval = property(attrgetter("output.t_eval"))
    save_every = property(attrgetter("output.save_every"))
    progress = property(attrgetter("output.progress"))
    checkpoint = property(attrgetter("output.checkpoint"))

    @property
    def integrator(self) -> Any:
        return self.bound.method if self.bound.kind == ADAPTIVE else None

    def __repr__(self) -> str:
        words = [self.name]
        if self.bound.kind != EXACT:
            words += [f"{k}={v!r}" for k, v in self.arguments.items()]
        return f"<Solver {', '.join(words)}, of {self.problem!r}>"

    # ---- what runs use
    def save(
        self, t0: float, t1: float, state: tuple, params: tuple, stored: Stored | None
    ) -> AbstractContextManager[Saver | None]:
        """Open the checkpoint of a run, in ``with``; None if there is none."""
        if self.output.checkpoint is None:
            return nullcontext()
        data = {"span": [t0, t1], "chosen": self.name}
        arrays = {"state": np.array(flat(state)), "numbers": np.array(flat(params[0]))}
        return Saver(self.output.checkpoint, data, arrays, stored)

    def see(self, motion: Motion) -> Callable:
        """Return a function of times: rows (q, omega) in the user's body axes, (x, v) and y."""
        body, moves = self.problem.body, self.problem.moves

        place = 13 if moves else 7

        def see(times):
            rows = motion.at(times)
            q, m = outer_states(body, rows)
            omega = Trajectory(times, q, m, body, potential=None, method="").omega
            return np.hstack([q, omega, *translation(body, rows, moves), rows[:, place:]])

        return see

    def find_events(self, motion: Motion, facts: Facts) -> tuple[Watch, float] | None:
        """Add the events along a motion to the facts; return them if one ends the run, and when."""
        if self.output.watch is None:
            return None
        watch = self.output.watch.fresh()
        watch.look(motion.times, self.see(motion))
        stop = watch.note(facts)
        return None if stop is None else (watch, stop)

    def with_jump(
        self, motion: Motion, watch: Watch, times: np.ndarray, rows: np.ndarray, first: tuple
    ) -> np.ndarray:
        """Return rows of which the last is at the event that ended the run; see ``jumps``."""
        return with_jump(self, motion, watch, times, rows, first)

    def seen_on_duals(self, t: float, row: np.ndarray, first: tuple) -> tuple:
        """Return (x, v, q, omega, y) of a row as numbers with derivatives, for events."""
        return self.directions.seen(row, first, self.bound.body)

    def trajectory(
        self,
        motion: Motion,
        times: np.ndarray | None,
        rows: np.ndarray | None,
        facts: Facts,
        first: tuple,
        params: tuple,
    ) -> Trajectory:
        """Make a trajectory of rows of the state in principal axes; None: those of the steps.

        The times may be None, too.
        """
        facts["body"] = self.bound.problem.body
        facts["arguments"], facts["reason"] = self.arguments, self.reason
        facts["_details"] = BodyDetails(self, motion, times, rows, first, params)
        return Trajectory.of(facts)

    # ---- other starts
    def _other_state(self, attitude, omega, angular_momentum, position, velocity) -> tuple:
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
        state = inner_state(problem.body, q, m, x, v)
        return state if problem.model.coupled is None else (*state, problem.model.variables)

    def _other_variables(self, state: tuple, variables: Any) -> tuple:
        """Return a state with other values of the model's variables."""
        company = company_of(self.problem.model)
        if company is None:
            raise InputError(
                f"variables= is for models that have them, and {self.problem.model.name!r} has none"
            )
        if not isinstance(variables, Mapping):
            raise InputError(f"variables must map names to values, got {variables!r}")
        numbers = flat(state[-1])
        for name, value in variables.items():
            if name not in company.names:
                raise InputError(
                    f"variables: there is no {name!r}; the model has {', '.join(company.names)}"
                )
            found, place = flat(check_value(value, name)), company.places[name]
            if len(found) != place.stop - place.start:
                raise InputError(
                    f"variables[{name!r}] must have {place.stop - place.start} numbers, got"
                    f" {value!r}"
                )
            numbers[place] = found
        return *state[:-1], like(company.pattern, iter(numbers))

    def _other_params(self, params: Any) -> tuple:
        model, (old, tables) = self.problem.model, self.bound.params
        given, count = flat(tuple(params)), len(flat(old))
        if count != len(given) or not all(isinstance(x, (int, float)) for x in given):
            stay = "; its arrays stay: prepare a solver for others" if flat(tables) else ""
            raise InputError(
                f"params must be {count} numbers, as the model {model.name!r} has"
                f" ({', '.join(model.names)}), got {params!r}{stay}"
            )
        return like(old, iter(map(float, given))), tables


def _nested(pattern: tuple, numbers: np.ndarray, name: str) -> tuple:
    """Return numbers of a checkpoint, nested like ``pattern``."""
    count = len(flat(pattern))
    if numbers.shape != (count,) or numbers.dtype != float:
        raise ValueError(f"its {name} are {numbers.dtype} {numbers.shape}, not {count} numbers")
    return like(pattern, iter(numbers.tolist()))


class BodyDetails(Details):
    """What a trajectory of a body computes on demand."""

    __slots__ = ("first", "given", "params", "rows", "solver", "source")

    def __init__(self, solver, source, times, rows, first, params):
        self.solver, self.source, self.given, self.rows = solver, source, times, rows
        self.first, self.params = first, params

    @property
    def times(self):
        return self.source.times if self.given is None else self.given

    def states(self):
        return self.source.states if self.rows is None else self.rows

    def motion(self):
        return outer_states(self.solver.problem.body, self.states())

    def translation(self):
        problem = self.solver.problem
        return translation(problem.body, self.states(), problem.moves) or (None, None)

    def variables(self):
        problem = self.solver.problem
        company = company_of(problem.model)
        return (
            {} if company is None else company.apart(self.states()[:, 13 if problem.moves else 7 :])
        )

    def derivatives(self):
        bound = self.solver.bound
        if bound.directions is None:
            return None
        return bound.directions.derivatives(self.states(), self.first, bound.body)

    def potential(self):
        bound = self.solver.bound
        return bound.loops.along.potentials(self.times, self.states(), bound.body, self.params)

    def accelerations(self):
        bound, body = self.solver.bound, self.solver.problem.body
        along = bound.loops.along
        values = along.accelerations(self.times, self.states(), bound.body, self.params)
        turning = values[:, :3] if body.is_aligned else values[:, :3] @ body.principal_axes.T
        return turning, values[:, 3:] if bound.problem.moves else None

    def sol(self, times, facts):
        rows = self.source.at(times)
        return self.solver.trajectory(self.source, times, rows, facts, self.first, self.params)

    def at_event(self, k, times, facts):
        solver = self.solver
        rows = rows_at_event(solver, self.source, k, times, self.first)
        return solver.trajectory(self.source, times, rows, facts, self.first, self.params)

    def problem(self):
        return problem_facts(self.solver.problem, self.first, self.params)
