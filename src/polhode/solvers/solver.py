"""``Solver``: a problem bound to compiled loops, and what a run of it returns."""

import copy
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.compiler.tree import flat, like
from polhode.contracts import Coordinates
from polhode.errors import FileError, InputError, MethodError
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
from polhode.solvers.adaptive_steps import Motion
from polhode.solvers.arguments import Arguments, span
from polhode.solvers.bound import ADAPTIVE, EXACT, Bound, problem_facts
from polhode.solvers.checkpoint import Saver, Stored, open_checkpoint
from polhode.solvers.output import Output, failure, note_events

NO_STEPS = "the closed form of the free motion takes no steps to store: leave out checkpoint="
OUTPUTS = frozenset({"events", "progress", "checkpoint", "checkpoint_every"})

Move = Callable[["Solver", float, float, tuple, tuple, Stored | None], Trajectory]


class Solver:
    """A reusable compiled solver; see ``prepare``.

    Attributes
    ----------
    bound : the problem and its compiled loops, a ``Bound``
    output : which states a run returns, an ``Output``
    arguments : the arguments that results mention, as plain data
    reason : why the method was chosen; empty unless "auto" chose it
    """

    def __init__(
        self,
        bound: Bound,
        keywords: Arguments,
        output: Output,
        arguments: dict[str, Any],
        reason: str,
        move: Move,
    ):
        self.bound, self.keywords, self.output = bound, keywords, output
        self.arguments, self.reason = arguments, reason
        self._move = move

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
        bound = self.bound
        state, numbers = bound.state, bound.params
        for given in (attitude, omega, angular_momentum, position, velocity):
            if given is not None:
                state = self._other_state(attitude, omega, angular_momentum, position, velocity)
                break
        if params is not None:
            numbers = self._other_params(params)
        return self._move(self, t0, t1, state, numbers, None)

    def resume(self, stored: Stored) -> Trajectory:
        """Continue the run that a checkpoint of this solver holds, to its end."""
        data, arrays, bound = stored.data, stored.arrays, self.bound
        if data["chosen"] != bound.name:
            raise FileError(
                f"the run was begun with method {data['chosen']!r}, and 'auto' now chooses"
                f" {bound.name!r}; continue it with the version of polhode that began it"
            )
        t0, t1 = data["span"]
        state = like(bound.state, iter(arrays["state"].tolist()))
        numbers = like(bound.params[0], iter(arrays["numbers"].tolist()))
        return self._move(self, t0, t1, state, (numbers, bound.params[1]), stored)

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
        other.output = Output(other.keywords)
        other.output.checkpoint = open_checkpoint(self.problem, other.keywords)
        if other.output.checkpoint is not None and self.bound.kind == EXACT:
            raise MethodError(NO_STEPS)
        return other

    # ---- names
    @property
    def problem(self) -> Problem:
        return self.bound.problem

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.bound.name

    @property
    def method(self) -> Any:
        """The ``Method`` or ``Integrator``; None for the closed form."""
        return self.bound.method

    @property
    def integrator(self) -> Any:
        """The adaptive ``Integrator``; None if the steps are fixed."""
        return self.bound.method if self.bound.kind == ADAPTIVE else None

    @property
    def dt(self) -> float:
        return self.bound.dt

    @property
    def tolerances(self) -> tuple[float, float]:
        """(rtol, atol) of an adaptive integrator."""
        return self.bound.tolerances

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
        """Return a function of times: rows (q, omega) in the user's body axes, and (x, v)."""
        body = self.problem.body

        def see(times):
            rows = motion.at(times)
            q, m = outer_states(body, rows)
            omega = Trajectory(times, q, m, body, potential=None, method="").omega
            return np.hstack([q, omega, *translation(body, rows)])

        return see

    def find_events(self, motion: Motion, facts: dict[str, Any]) -> float | None:
        """Add the events along a motion to the facts; return the time of a terminal one."""
        if self.output.watch is None:
            return None
        watch = self.output.watch.fresh()
        watch.look(motion.times, self.see(motion))
        return note_events(watch, facts)

    def describe_failure(
        self, status: int, t: float, steps: int, h: float, size: float = 0.0
    ) -> str:
        """Say what went wrong, and what to try."""
        text, variables = failure(status, t, steps, h, size), self.bound.variables
        if isinstance(variables, Coordinates):
            text += f"; the variables of {variables.name!r}: {variables.singular}"
        return text

    def trajectory(
        self,
        motion: Motion,
        times: np.ndarray,
        rows: np.ndarray | None,
        first: tuple,
        params: tuple,
        facts: dict[str, Any],
    ) -> Trajectory:
        """Make a trajectory of rows of the state in principal axes; None: those of the steps.

        ``facts`` become its attributes.
        """
        facts["t"], facts["body"] = times, self.bound.problem.body
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
        return inner_state(problem.body, q, m, x, v)

    def _other_params(self, params: Any) -> tuple:
        model, (old, tables) = self.problem.model, self.bound.params
        given, count = flat(tuple(params)), len(flat(old))
        if count != len(given) or not all(isinstance(x, (int, float)) for x in given):
            raise InputError(
                f"params must be {count} numbers, as the model {model.name!r} has"
                f" ({', '.join(model.names)}), got {params!r}"
            )
        return like(old, iter(map(float, given))), tables


class BodyDetails(Details):
    """What a trajectory of a body computes on demand."""

    __slots__ = ("first", "params", "rows", "solver", "source", "times")

    def __init__(self, solver, source, times, rows, first, params):
        self.solver, self.source, self.times, self.rows = solver, source, times, rows
        self.first, self.params = first, params

    def states(self):
        return self.source.states if self.rows is None else self.rows

    def motion(self):
        return outer_states(self.solver.problem.body, self.states())

    def translation(self):
        return translation(self.solver.problem.body, self.states()) or (None, None)

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
        return self.solver.trajectory(self.source, times, rows, self.first, self.params, facts)

    def problem(self):
        return problem_facts(self.solver.problem, self.first, self.params)
