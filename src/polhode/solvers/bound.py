"""``Bound``: a problem bound to compiled loops, as solvers, ensembles and checkpoints share it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polhode.compiler.tree import flat
from polhode.contracts import Coordinates, Formulation
from polhode.errors import InputError
from polhode.formulations.equations import equations_of
from polhode.problems.problem import Problem, outer_states, translation

FIXED, ADAPTIVE, EXACT = "fixed", "adaptive", "exact"  # how a solver moves a body


def _nothing() -> np.ndarray:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Bound:
    """What a prepared solver runs with; it never changes.

    Attributes
    ----------
    kind : "fixed" (maps, and integrators with fixed steps), "adaptive" or "exact" (the closed form
        of the free motion)
    name : of the method or integrator; "exact" for the closed form
    problem : the ``Problem``
    state, body, params : its initial state in principal axes, ``body.data`` and ``model.params``
    loops : the compiled loops, a ``BoundMethod``, a ``BoundIntegrator``, or those of a free body
    variables : the formulation or coordinates that are integrated; None for the state itself
    method : the ``Method`` or ``Integrator``; None for the closed form
    carry : that of the loop, for the initial state at t = 0; () unless the steps are fixed
    dt, weights, offsets, compensated : of fixed steps
    tolerances, limits : (rtol, atol) and (first step or 0, largest step) of adaptive steps
    """

    kind: str
    name: str
    problem: Problem
    state: tuple
    body: tuple
    params: tuple
    loops: Any
    variables: Formulation | Coordinates | None = None
    method: Any = None
    carry: tuple = ()
    dt: float = 0.0
    weights: np.ndarray = field(default_factory=_nothing)
    offsets: np.ndarray = field(default_factory=_nothing)
    compensated: bool = False
    tolerances: tuple[float, float] = (0.0, 0.0)
    limits: tuple[float, float] = (0.0, math.inf)

    @property
    def run(self) -> Callable:
        """The compiled loop over one row of numbers."""
        return self.loops.run

    def enter(self, t0: float, state: tuple) -> tuple[tuple, tuple]:
        """(variables that the loop integrates, body as the loop sees it) at t0."""
        return enter(self.problem, self.variables, self.body, t0, state)

    def states(self, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Rows of states in principal axes, from rows of the variables at ``times``."""
        return self.loops.states(times, rows, self.body)


def enter(
    problem: Problem,
    variables: Formulation | Coordinates | None,
    body: tuple,
    t0: float,
    state: tuple,
) -> tuple[tuple, tuple]:
    """(variables that loops integrate, body as loops see it) for a state at t0."""
    if variables is None:
        return state, body
    change = equations_of(variables, problem.moves).enter
    if isinstance(variables, Formulation):
        return change(t0, state, body), body
    if variables.nominal is not None:
        body = (*body, variables.nominal(t0, state[0], state[1], body))
    try:
        first = change(t0, state, body)
    except (ArithmeticError, ValueError):
        first = (math.nan,)
    if not all(map(math.isfinite, flat(first))):
        raise InputError(
            f"formulation {variables.name!r} cannot describe the initial state:"
            f" {variables.singular}"
        )
    return first, body


def problem_facts(problem: Problem, state: tuple, params: tuple) -> dict:
    model = problem.model
    row = np.array([flat(state)])
    q, m = outer_states(problem.body, row)
    place = zip(("position", "velocity"), translation(problem.body, row), strict=False)
    return {
        "name": problem.name,
        "inertia": problem.body.inertia.tolist(),
        "mass": problem.body.mass,
        "model": model.name,
        "parameters": dict(zip(model.names, map(_lists, params[0]), strict=True)),
        "attitude": q[0].tolist(),
        "angular_momentum": m[0].tolist(),
        **{name: value[0].tolist() for name, value in place},
    }


def _lists(numbers):
    """Nested tuples as the lists that a file gives back."""
    return list(map(_lists, numbers)) if isinstance(numbers, tuple) else numbers
