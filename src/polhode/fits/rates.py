"""The unknowns of a ``RateProblem``: attitude, variables and parameters of an angular velocity."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from polhode.compiler.tree import flat, like
from polhode.fits.unknowns import ATTITUDE, Unknowns
from polhode.models.user import split_params
from polhode.solvers.rate_problem import RateProblem


class RateUnknowns(Unknowns):
    """The unknowns of a fit that starts from a ``RateProblem``."""

    problem: RateProblem
    has_body: ClassVar = False

    @staticmethod
    def shapes(problem: RateProblem) -> dict[str, tuple[int, ...]]:
        values = {**(problem.variables or {}), **_numbers(problem)}
        return {ATTITUDE: (3,)} | {name: _shape(value) for name, value in values.items()}

    @staticmethod
    def state(problem: RateProblem) -> list[str]:
        return [ATTITUDE, *(problem.variables or ())]

    def first(self, name: str) -> Any:
        given = {**(self.problem.variables or {}), **_numbers(self.problem)}
        return flat(_as_tuple(given[name]))

    def of(self, u: np.ndarray, general: bool = False) -> RateProblem:
        problem, changes = self.problem, dict[str, Any]()
        if problem.variables is not None:
            changes["variables"] = self._changed(problem.variables, u)
        if isinstance(problem.params, Mapping):
            changes["params"] = self._changed(problem.params, u)
        return replace(problem, attitude=tuple(self.attitude(u).tolist()), **changes)

    def _changed(self, values: Mapping[str, Any], u: np.ndarray) -> dict[str, Any]:
        found = dict(values)
        for name in found:
            if name in self.by_name:
                numbers = iter(u[self.by_name[name].place].tolist())
                found[name] = like(_as_tuple(values[name]), numbers)
        return found

    def facts(self, problem: RateProblem) -> dict[str, Any]:
        return {"name": problem.name, "frame": problem.frame, "attitude": list(problem.attitude)}

    # ---- its motion
    @cached_property
    def tensors(self) -> np.ndarray:
        return np.zeros((3, 3, len(self)))

    @cached_property
    def sensitivities(self) -> tuple[str, ...]:
        return tuple(quantity.name for quantity in self.dynamic)

    def dynamic_slopes(
        self, found: Mapping[str, np.ndarray], problem: RateProblem, slopes: np.ndarray
    ) -> None:
        for quantity in self.dynamic:
            if quantity.name != ATTITUDE:
                part = found[quantity.name].reshape(*slopes.shape[:2], len(quantity))
                slopes[:, :, quantity.place] = part

    def chosen(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in arguments.items() if value is not None}

    def solver(self, problem: RateProblem, arguments: Mapping[str, Any], before: Any) -> Any:
        return problem.prepare(**arguments, sensitivities=list(self.sensitivities) or None)


def _numbers(problem: RateProblem) -> dict[str, Any]:
    """Return the parameters that are numbers, by name."""
    if not isinstance(problem.params, Mapping):
        return {}
    _, _, tables, _ = split_params(problem.params)
    arrays = tables or ((),) * len(problem.params)
    pairs = zip(problem.params.items(), arrays, strict=True)
    return {name: value for (name, value), array in pairs if not flat(array)}


def _shape(value: Any) -> tuple[int, ...]:
    return (len(flat(_as_tuple(value))),) if hasattr(value, "__len__") else ()


def _as_tuple(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(map(_as_tuple, value)) if isinstance(value, (list, tuple)) else float(value)
