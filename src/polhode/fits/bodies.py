"""The unknowns of a ``Problem``: initial state, inertia, mass, and the numbers of its model.

The inertia is six numbers, of the tensor in body axes.  Solvers differentiate at constant momentum
m₀ and p₀; with m₀ = I ω₀ and p₀ = M v₀ the state changes by

    dm₀ = I dω₀ + dI ω₀,    dp₀ = M dv₀ + dM v₀                                        (1)

where ω₀ is free or, with an inertia, nothing of the rotation is; and where the mass is free.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from polhode.body import RigidBody
from polhode.compiler.tree import flat, like
from polhode.contracts import Model
from polhode.contracts.company import company_of, values_in
from polhode.fits.unknowns import ATTITUDE, Unknowns
from polhode.integrators import INTEGRATORS
from polhode.methods import METHODS
from polhode.problems.names import (
    parameters_of,
    places_of_parameters,
    shapes_in,
    with_numbers,
    with_variables,
)
from polhode.problems.problem import Problem
from polhode.solvers.arguments import AUTO
from polhode.solvers.auto import INTEGRATOR
from polhode.solvers.bound import problem_facts
from polhode.solvers.entry import prepare
from polhode.solvers.solver import Solver

MOMENTUM, OMEGA, POSITION, VELOCITY = "angular_momentum", "omega", "position", "velocity"
MASS, INERTIA, MOMENTS = "mass", "inertia", "moments"
COMPONENTS = (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)  # of the tensor
BETWEEN_STEPS = {"extrapolation": "vern9"}  # whose interpolant costs less than a step to each time
APART = 1e-7  # relative; moments as close as this have no axes to be differentiated by


class BodyUnknowns(Unknowns):
    """The unknowns of a fit that starts from a ``Problem``."""

    problem: Problem

    apart: ClassVar = ((MOMENTUM, OMEGA), (INERTIA, MOMENTS))
    parts: ClassVar = {
        INERTIA: ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"),
        MOMENTS: ("I1", "I2", "I3"),
    }

    @staticmethod
    def shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys((ATTITUDE, MOMENTUM, OMEGA), (3,))
        if problem.moves:
            shapes |= dict.fromkeys((POSITION, VELOCITY), (3,))
        shapes |= {INERTIA: (3, 3), MOMENTS: (3,)}
        if problem.moves:
            shapes[MASS] = ()
        return shapes | shapes_in(problem.model)

    @staticmethod
    def state(problem: Problem) -> list[str]:
        names = [ATTITUDE, MOMENTUM, *((POSITION, VELOCITY) if problem.moves else ())]
        own = {name for name, _ in parameters_of(problem.model, problem.model.numbers)}
        return names + [name for name in shapes_in(problem.model) if name not in own]

    def first(self, name: str) -> Any:
        problem, body = self.problem, self.problem.body
        if name in self._parameters:
            return [flat(problem.model.numbers)[k] for k in self._parameters[name]]
        if name in self._variables:
            return self._variables[name]
        if name == INERTIA:
            return [body.inertia[pair] for pair in COMPONENTS]
        if name == MOMENTS:
            return body.principal_moments
        return body.mass if name == MASS else getattr(problem, name)

    @cached_property
    def _parameters(self) -> dict[str, list[int]]:
        return places_of_parameters(self.problem.model)

    @cached_property
    def _variables(self) -> dict[str, Any]:
        model = self.problem.model
        company = None if model.coupled is None else company_of(model)
        if company is None:
            return {}
        return {f"model.{k}": v for k, v in values_in(company, model.variables).items()}

    # ---- the body
    def tensor(self, u: np.ndarray) -> np.ndarray:
        """Return the inertia tensor in body axes."""
        return np.asarray(self.problem.body.inertia + self.tensors @ (u - self.start))

    @cached_property
    def tensors(self) -> np.ndarray:
        found = np.zeros((3, 3, len(self)))
        if INERTIA in self.by_name:
            for k, (i, j) in enumerate(COMPONENTS, start=self.by_name[INERTIA].place.start):
                found[i, j, k] = found[j, i, k] = 1.0
        if MOMENTS in self.by_name:
            place = self.by_name[MOMENTS].place
            axes = self.problem.body.principal_axes
            found[:, :, place] = np.einsum("ik,jk->ijk", axes, axes)
        return found

    @property
    def turns_body(self) -> bool:
        return has_inertia(self.by_name)

    def body(self, u: np.ndarray, general: bool = False) -> RigidBody:
        """Return the body; a ``general`` one takes the same code whatever its inertia is."""
        body = self.problem.body
        mass = float(self.numbers_of(MASS, u, [body.mass])[0])
        if not self.turns_body:
            return body if MASS not in self.by_name else body.replace(mass=mass)
        if MOMENTS in self.by_name:
            moments = u[self.by_name[MOMENTS].place]
            made = body.replace(inertia=moments, mass=mass)
            made.is_aligned, made.principal_axes = body.is_aligned, body.principal_axes
            made.inertia = self.tensor(u)
        else:
            made = body.replace(inertia=self.tensor(u), mass=mass)
            if general:
                made.is_aligned = False
                made.principal_moments = apart(made.principal_moments)
        if general:
            made.symmetry_axis = None  # of this body only
        return made

    # ---- the problem
    def of(self, u: np.ndarray, general: bool = False) -> Problem:
        problem = self.problem
        rate = MOMENTUM if MOMENTUM in self.by_name else OMEGA
        if rate not in self.by_name and not self.turns_body:
            rate = MOMENTUM  # of the same body
        rates = {rate: self.numbers_of(rate, u, getattr(problem, rate))}
        names = (POSITION, VELOCITY) if problem.moves else ()
        place = {name: self.numbers_of(name, u, getattr(problem, name)) for name in names}
        return Problem(
            self.body(u, general),
            self._model(u),
            attitude=self.attitude(u),
            scalar_first=True,
            name=problem.name,
            **rates,
            **place,
        )

    def _model(self, u: np.ndarray) -> Model:
        model, numbers = self.problem.model, flat(self.problem.model.numbers)
        free = [name for name in self._parameters if name in self.by_name]
        for name in free:
            values = u[self.by_name[name].place].tolist()
            for k, value in zip(self._parameters[name], values, strict=True):
                numbers[k] = value
        if free:
            model = with_numbers(model, like(model.numbers, iter(numbers)))
        if set(self._variables) & set(self.by_name):
            pairs = self._variables.items()
            values = [x for name, v in pairs for x in np.ravel(self.numbers_of(name, u, v))]
            model = with_variables(model, iter(map(float, values)))
        return model

    def facts(self, problem: Problem) -> dict[str, Any]:
        return problem_facts(problem, problem.state, problem.model.params)

    # ---- its motion
    @cached_property
    def sensitivities(self) -> tuple[str, ...]:
        free = [quantity.name for quantity in self.dynamic]
        wanted = [MOMENTUM if name == OMEGA else name for name in free]
        if self.turns_body and MOMENTUM not in wanted:
            wanted.append(MOMENTUM)
        if MASS in free and VELOCITY not in free:
            wanted.append(VELOCITY)
        return tuple(wanted)

    def dynamic_slopes(
        self, found: Mapping[str, np.ndarray], problem: Problem, slopes: np.ndarray
    ) -> None:
        for quantity in self.dynamic:
            name, place = quantity.name, quantity.place
            if name == OMEGA:
                slopes[:, :, place] = found[MOMENTUM] @ problem.body.inertia  # (1)
            elif name != ATTITUDE:
                slopes[:, :, place] = found[name].reshape(*slopes.shape[:2], len(quantity))
            if name == MASS:
                v = np.array(problem.velocity) / problem.body.mass
                slopes[:, :, place] += (found[VELOCITY] @ v)[:, :, None]
        if self.turns_body and MOMENTUM not in self.by_name:
            moved = np.einsum("iju,j->iu", self.tensors, np.array(problem.omega))
            slopes += found[MOMENTUM] @ moved

    def chosen(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(arguments)
        if arguments["method"] != AUTO:
            return found
        model = self.problem.model
        adaptive = arguments["dt"] is None and not (model.is_free and not model.moves)
        name = INTEGRATOR[0] if adaptive else prepare(self.problem, **arguments).name
        name = BETWEEN_STEPS.get(name, name)
        if name in METHODS or name in INTEGRATORS:
            found["method"] = name
            if name in METHODS:  # "auto" takes a tolerance to aim at
                found["rtol"] = None
        return found

    def solver(
        self, problem: Problem, arguments: Mapping[str, Any], before: Solver | None
    ) -> Solver:
        if before is not None:
            return before.of(problem)
        return prepare(problem, **arguments, sensitivities=list(self.sensitivities) or None)


def has_inertia(names: Mapping[str, Any]) -> bool:
    return INERTIA in names or MOMENTS in names


def apart(moments: np.ndarray) -> np.ndarray:
    """Return moments that differ by ``APART`` at least: equal ones have no axes."""
    order, gap = np.argsort(moments), APART * float(moments.max())
    a, b, c = moments[order]
    a, c = min(a, b - gap), max(c, b + gap)
    found = np.empty(3)
    found[order] = a, b, c
    return found
