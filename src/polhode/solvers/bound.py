"""``Bound``: a problem bound to compiled loops, as solvers, ensembles and checkpoints share it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from polhode.compiler.dual import ON_DUAL, Dual, lifted, stripped
from polhode.compiler.tree import bind, flat, spread
from polhode.contracts import Coordinates, Formulation, Integrator, Method, Model
from polhode.contracts.company import company_of, values_in, zeros
from polhode.errors import InputError
from polhode.formulations.equations import equations_of
from polhode.loops.join import bind_integrator, bind_method, try_potentials, try_wrench
from polhode.loops.tangents import form_of
from polhode.methods import METHODS
from polhode.methods.companions import with_companions
from polhode.methods.translation import with_translation
from polhode.problems.problem import Problem, outer_states, translation
from polhode.solvers.events import Beside
from polhode.solvers.own_code import check_own_method, memory_of, warn_of_memory
from polhode.solvers.sensitivities import Directions

FIXED, ADAPTIVE, EXACT = "fixed", "adaptive", "exact"  # kinds of solvers


@dataclass(frozen=True, eq=False)
class Bound:
    """What a prepared solver runs with; it never changes.

    Attributes
    ----------
    kind : "fixed" (maps, and integrators with fixed steps), "adaptive" or "exact" (the closed form
        of the free motion)
    name : of the method or integrator
    problem : the ``Problem``
    state, body, params : its initial state in principal axes, ``body.data`` and ``model.params``
    loops : the compiled loops, a ``BoundMethod``, a ``BoundIntegrator``, or those of a free body
    variables : the formulation or coordinates that are integrated; None for the state itself
    change : the change to these variables, a function of (t, state, body)
    method : the ``Method`` or ``Integrator``; None for the closed form
    first, body_first, params_first : the variables at t = 0, body and params as the loop sees them
    width : how many numbers the variables are
    carry : that of the loop, for the initial state at t = 0
    row : all numbers that the loop takes, for the initial state at t = 0, in one row: variables,
        carry, body, parameters and, for adaptive steps, limits
    dt, weights, offsets, compensated : of fixed steps
    tolerances, limits : (rtol, atol) and (first step or 0, largest step, most trial steps) of
        adaptive steps
    directions : what loops differentiate by; None if by nothing.  Then ``first``, ``carry`` and
        ``body_first`` have dual numbers, which take several places of ``row``
    of_states : whether loops integrate the numbers of the state, and nothing else
    """

    kind: str
    name: str
    problem: Problem
    state: tuple
    body: tuple
    params: tuple
    loops: Any
    variables: Formulation | Coordinates | None = None
    change: Any = None
    method: Any = None
    first: tuple = ()
    body_first: tuple = ()
    params_first: tuple = ()
    width: int = 0
    carry: tuple = ()
    row: np.ndarray = field(default_factory=lambda: np.empty((1, 0)))
    dt: float = 0.0
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    offsets: np.ndarray = field(default_factory=lambda: np.empty(0))
    compensated: bool = False
    tolerances: tuple[float, float] = (0.0, 0.0)
    limits: tuple[float, float, int] = (0.0, math.inf, 0)
    directions: Directions | None = None
    of_states: bool = True

    @property
    def beside(self) -> Beside | None:
        """Where rows of states have the variables of the model; None if it has none."""
        if self.problem.model.coupled is None:
            return None
        return Beside(13 if self.problem.moves else 7, zeros(self.problem.model.variables))

    @property
    def run(self) -> Callable:
        """The compiled loop over one row of numbers."""
        return self.loops.run

    def build(self) -> None:
        """Make the loop."""
        self.loops.packed(self.first, self.carry, self.body_first, self.params_first[0])

    def enter(self, t0: float, state: tuple) -> tuple[tuple, tuple]:
        """Return (variables that the loop integrates, body as the loop sees it) at t0."""
        return enter(self.variables, self.change, self.body, t0, state)

    def states(self, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return rows of states in principal axes, from rows of the variables at ``times``."""
        return self.loops.states(times, rows, self.body)

    def of(self, problem: Problem) -> "Bound":
        """Return this for a problem whose numbers differ, and nothing that was compiled for it."""
        made: dict[str, Any] = {
            "problem": problem,
            "state": problem.state,
            "body": problem.body.data,
            "params": problem.model.params,
        }
        state, body, params = made["state"], made["body"], made["params"]
        if self.directions is not None:
            made["directions"] = directions = replace(self.directions, problem=problem)
            state, body, params = directions.lifted(state, body, params)
        if self.kind != EXACT:
            first, body = enter(self.variables, self.change, body, 0.0, state)
            numbers = spread((first, self.carry, body, params[0], *self._limits))
            made |= {"first": first, "body_first": body, "params_first": params}
            made["row"] = np.array([numbers])
        return replace(self, **made)

    def fill(
        self, t0: float, state: tuple, params: tuple
    ) -> tuple[np.ndarray, tuple, tuple, tuple]:
        """Return (``row`` for another start, variables, body and params as loops have them)."""
        if self.directions is not None:
            if state is self.state and params is self.params and not self._starts_differ:
                return self.row.copy(), self.first, self.body_first, self.params_first
            state, body, params = self.directions.lifted(state, self.body, params)
            first, body = enter(self.variables, self.change, body, t0, state)
            numbers = spread((first, self.carry, body, params[0], *self._limits))
            return np.array([numbers]), first, body, params
        row = self.row.copy()
        if state is self.state and self.body_first is self.body:
            first, body = self.first, self.body
            if params is self.params:
                return row, first, body, params
        else:
            first, body = self.enter(t0, state)
            row[0, : self.width] = first if len(first) == self.width else flat(first)
        end = row.shape[1] - (3 if self.kind == ADAPTIVE else 0)  # limits follow
        if params is not self.params:
            numbers = flat(params[0])
            row[0, end - len(numbers) : end] = numbers
        if body is not self.body:
            numbers, end = flat(body), end - len(flat(params[0]))
            row[0, end - len(numbers) : end] = numbers
        return row, first, body, params

    @property
    def _starts_differ(self) -> bool:
        """Whether the variables depend on the time at which a run starts."""
        return getattr(self.variables, "nominal", None) is not None

    @property
    def _limits(self) -> tuple:
        return (self.limits[1], self.tolerances) if self.kind == ADAPTIVE else ()


def enter(
    variables: Formulation | Coordinates | None, change: Any, body: tuple, t0: float, state: tuple
) -> tuple[tuple, tuple]:
    """Return (variables that loops integrate, body as loops see it) for a state at t0."""
    if variables is None:
        return state, body
    if isinstance(variables, Formulation):
        return _as_wide(change(t0, state, body), state), body
    if variables.nominal is not None:  # the same for all directions: departures change alone
        body = (*body, variables.nominal(t0, *stripped((state[0], state[1], body))))
    try:
        first = change(t0, state, body)
    except (ArithmeticError, ValueError):
        first = (math.nan,)
    if not all(map(math.isfinite, spread(first))):
        raise undescribed(variables)
    return _as_wide(first, state), body


def _as_wide(first: tuple, state: tuple) -> tuple:
    """Return variables as duals where the state is: some of them may not depend on it."""
    return lifted(first, state) if isinstance(state[0][0], Dual) else first


def undescribed(variables: Any) -> InputError:
    """Return the error about a first state that these variables cannot describe."""
    reason = getattr(variables, "singular", "its numbers are too large or too small")
    return InputError(f"formulation {variables.name!r} cannot describe the initial state: {reason}")


def bind_fixed(
    problem: Problem,
    method: Method,
    variables: Formulation | Coordinates | None,
    dt: float,
    compensated: bool | None = None,
    force: Model | None = None,
    directions: Directions | None = None,
) -> Bound:
    """Bind a method with fixed steps to a body and to ``force``, by default the problem's model.

    If ``compensated`` is None, its sums are compensated as the method does by default.  It is
    differentiated along the ``directions``, if there are any.
    """
    body, model, moves = problem.body, problem.model, problem.moves
    force = model if force is None else force
    if variables is None and METHODS.get(method.name) is not method:
        check_own_method(method)
    company = None if model.coupled is None else company_of(model)
    if variables is None:
        if moves:
            method = with_translation(method, force.depends_on_velocity)
        if company is not None:
            method = with_companions(method, moves, company)
    compensated = method.compensated if compensated is None else compensated
    aligned, *wide = _numbers_of(problem, variables, directions)
    loops = bind_method(method, force, aligned, moves, body.symmetry_axis, compensated, *wide)
    change = None if variables is None else equations_of(variables, moves, company).enter
    steps: dict[str, Any] = {"dt": dt, "weights": loops.weights, "offsets": loops.offsets}
    given = problem, method, variables, loops, change, force, dt
    return _bound(*given, FIXED, directions, compensated=compensated, **steps)


def bind_adaptive(
    problem: Problem,
    integrator: Integrator,
    variables: Formulation | Coordinates,
    tolerances: tuple[float, float],
    limits: tuple[float, float, int],
    directions: Directions | None = None,
) -> Bound:
    """Bind an adaptive integrator to a problem."""
    model = problem.model
    integrator = integrator.suited_for(sum(tolerances))
    aligned, *wide = _numbers_of(problem, variables, directions)
    loops = bind_integrator(integrator, variables, model, aligned, problem.moves, *wide)
    steps: dict[str, Any] = {"tolerances": tolerances, "limits": limits}
    given = problem, integrator, variables, loops, loops.enter, model, 1.0
    return _bound(*given, ADAPTIVE, directions, **steps)


def _numbers_of(
    problem: Problem, variables: Any, directions: Directions | None
) -> tuple[bool, int, Any]:
    """Return (whether axes are principal, floats of a number, which numbers are dual)."""
    body = problem.body
    if directions is None:
        return body.is_aligned, 1, ()
    asked = [name for name in ("inertia", "moments") if name in directions.blocks]
    if asked and getattr(variables, "nominal", None) is not None:
        raise InputError(
            f"sensitivities: the variables of formulation {variables.name!r} are departures from a"
            f" motion with the moments of inertia as they are; for derivatives by {asked[0]!r} take"
            " formulation='quaternion'"
        )
    wide = directions.lifted(problem.state, body.data, problem.model.params)
    return body.is_aligned and not directions.turns_axes, directions.width, form_of(wide[1:])


def _bound(
    problem: Problem,
    method: Any,
    variables: Formulation | Coordinates | None,
    loops: Any,
    change: Any,
    force: Model,
    h: float,
    kind: str,
    directions: Directions | None,
    **steps: Any,
) -> Bound:
    """Enter the variables, make the first carry for steps of size h, and lay out the row."""
    state, data, params = problem.state, problem.body.data, (force.numbers, force.tables)
    if problem.model.user:
        before = memory_of(problem.model.user)
        try_wrench(loops.wrench, problem.model, params, state, data)
        if before and before != memory_of(problem.model.user):
            warn_of_memory(problem.model.name, method)
        try_potentials(loops, problem.model, state, data, problem.body.is_aligned)
    wide_state, wide_body, wide_params = state, data, params
    if directions is not None:
        wide_state, wide_body, wide_params = directions.lifted(state, data, params)
        change = None if change is None else bind(change, ON_DUAL)
    first, body_first = enter(variables, change, wide_body, 0.0, wide_state)
    carry = loops.start(0.0, h, first, body_first, wide_params)
    if directions is not None:
        carry = lifted(carry, wide_state[0][0])
    limits = (steps["limits"][1], steps["tolerances"]) if kind == ADAPTIVE else ()
    return Bound(
        kind=kind,
        name=method.name,
        problem=problem,
        state=state,
        body=data,
        params=params,
        loops=loops,
        variables=variables,
        change=change,
        method=method,
        first=first,
        body_first=body_first,
        params_first=wide_params,
        width=len(spread(first)),
        carry=carry,
        row=np.array([spread((first, carry, body_first, wide_params[0], *limits))]),
        directions=directions,
        of_states=variables is None and directions is None,
        **steps,
    )


def problem_facts(problem: Problem, state: tuple, params: tuple) -> dict:
    """Return plain data about a problem that starts in ``state``, for results and files."""
    model = problem.model
    row = np.array([flat(state)])
    q, m = outer_states(problem.body, row)
    place = zip(
        ("position", "velocity"), translation(problem.body, row, problem.moves), strict=False
    )
    beside: dict[str, Any] = {}
    company = None if model.coupled is None else company_of(model)
    if company is not None:
        beside["variables"] = values_in(company, state[-1])
    return {
        "name": problem.name,
        "inertia": problem.body.inertia.tolist(),
        "mass": problem.body.mass,
        "model": model.name,
        "parameters": dict(zip(model.names, map(_lists, model.joined(params)), strict=True)),
        "attitude": q[0].tolist(),
        "angular_momentum": m[0].tolist(),
        **{name: value[0].tolist() for name, value in place},
        **beside,
    }


def _lists(numbers):
    """Nested tuples as the lists that a file gives back; of an array, its shape."""
    if isinstance(numbers, np.ndarray):
        return f"array of shape {numbers.shape}"
    return list(map(_lists, numbers)) if isinstance(numbers, tuple) else numbers
