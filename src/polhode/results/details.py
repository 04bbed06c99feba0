"""What a trajectory computes on demand."""

from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any

import numpy as np

from polhode.errors import InputError
from polhode.results.derivatives import Derivatives


class Details:
    """Quantities of a trajectory that are computed on demand; None is what is not known."""

    __slots__ = ()
    times: Any

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Return the slots for a copy, without those that a subclass computes instead."""
        kind = type(self)
        names = (name for each in kind.__mro__ for name in getattr(each, "__slots__", ()))
        stored = (name for name in names if isinstance(getattr(kind, name), MemberDescriptorType))
        return None, {name: getattr(self, name) for name in stored if hasattr(self, name)}

    def motion(self) -> tuple[Any, Any]:
        """Return (attitudes, angular momenta in body axes)."""
        return None, None

    def omega(self) -> np.ndarray | None:
        """Return angular velocities in body axes, if they do not follow from the momenta."""
        return None

    def translation(self) -> tuple[Any, Any]:
        """Return (positions, velocities) of the centre of mass."""
        return None, None

    def variables(self) -> dict[str, np.ndarray]:
        """Return the variables of the model, by name."""
        return {}

    def potential(self) -> np.ndarray | None:
        """Return potential energies."""
        return None

    def accelerations(self) -> tuple[Any, Any]:
        """Return (angular accelerations in body axes, accelerations of the centre of mass)."""
        return None, None

    def derivatives(self) -> Derivatives | None:
        """Return what the states depend on; None if nothing was asked for."""
        return None

    def sol(self, times: np.ndarray, facts: dict[str, Any]) -> Any:
        """Return the trajectory at other times, with these attributes."""
        raise InputError(
            "this trajectory has no dense output (it was read from a file, or made from samples);"
            " give the times as t_eval= when it is made"
        )

    def at_event(self, k: int, times: np.ndarray, facts: dict[str, Any]) -> Any:
        """Return the trajectory at the zeros of the k-th event."""
        return self.sol(times, facts)

    def problem(self) -> dict:
        """Return plain data about the problem."""
        return {}


class GivenDetails(Details):
    """Details that are known already, or that a function returns."""

    def __init__(
        self,
        motion: tuple[Any, Any],
        omega: np.ndarray | None,
        place: tuple[Any, Any],
        potential: Callable[[], np.ndarray] | None,
        problem: Callable[[], dict] | None,
        variables: dict[str, np.ndarray],
        derivatives: Derivatives | None = None,
    ):
        self._variables, self._derivatives = variables, derivatives
        self._motion, self._omega, self._place = motion, omega, place
        self._potential, self._problem = potential, problem

    def motion(self):
        return self._motion

    def omega(self):
        return self._omega

    def translation(self):
        return self._place

    def variables(self):
        return self._variables

    def derivatives(self):
        return self._derivatives

    def potential(self):
        return None if self._potential is None else self._potential()

    def problem(self):
        return {} if self._problem is None else self._problem()


class PartDetails(Details):
    """Details of some rows of another trajectory, which is ``whole`` and has ``details``."""

    def __init__(self, whole: Any, details: Details, key: Any):
        self.whole, self.details, self.key = whole, details, key

    def _rows(self, values):
        return None if values is None else values[self.key]

    def motion(self) -> tuple[Any, Any]:
        return self.whole.q[self.key], self._rows(self.whole.angular_momentum)

    def omega(self) -> np.ndarray | None:
        return self._rows(self.whole.omega) if self.whole.body is None else None

    def translation(self) -> tuple[Any, Any]:
        return self._rows(self.whole.x), self._rows(self.whole.v)

    def variables(self) -> dict[str, np.ndarray]:
        return {name: values[self.key] for name, values in self.whole.variables.items()}

    def potential(self) -> np.ndarray | None:
        return self._rows(self.whole.potential_energy)

    def derivatives(self) -> Derivatives | None:
        found = self.whole.derivatives
        return None if found is None else found.rows(self.key)

    def accelerations(self) -> tuple[Any, Any]:
        return self._rows(self.whole.angular_acceleration), self._rows(self.whole.acceleration)

    def sol(self, times: np.ndarray, facts: dict[str, Any]) -> Any:
        return self.details.sol(times, facts)

    def at_event(self, k: int, times: np.ndarray, facts: dict[str, Any]) -> Any:
        return self.details.at_event(k, times, facts)

    def problem(self) -> dict:
        return self.whole.problem
