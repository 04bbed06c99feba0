"""``Seen``: a motion at the times of observations, and its derivatives by the unknowns."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode.fits.turns import matrices, unit_rows
from polhode.results.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Seen:
    """What observations see of a run at n times, with u unknowns.

    Attributes
    ----------
    problem, run : the problem, and its run at these times and others
    rows : the places of these times in the run
    slopes : (all times, 6 or 12, u) derivatives of (θ, m), (x, p)
    tensors : (3, 3, u) derivatives of the inertia
    own : the values of the observation's own unknowns by name
    places : where these stand among the unknowns; those that are fixed are missing
    """

    problem: Any
    run: Trajectory
    rows: np.ndarray
    slopes: np.ndarray
    tensors: np.ndarray
    own: Mapping[str, np.ndarray]
    places: Mapping[str, slice]

    @cached_property
    def t(self) -> np.ndarray:
        return self.run.t[self.rows]

    @cached_property
    def q(self) -> np.ndarray:
        return unit_rows(self.run.q[self.rows])

    @cached_property
    def matrices(self) -> np.ndarray:
        """The attitudes as matrices, body to inertial."""
        return matrices(self.q)

    @cached_property
    def x(self) -> np.ndarray:
        return self.run.x[self.rows]

    @cached_property
    def omega(self) -> np.ndarray:
        return self.run.omega[self.rows]

    @cached_property
    def turns(self) -> np.ndarray:
        """The derivatives of θ, (n, 3, u)."""
        return self.slopes[self.rows, :3]

    @cached_property
    def rates(self) -> np.ndarray:
        """The derivatives of ω = I⁻¹ m, (n, 3, u)."""
        moved = self.slopes[self.rows, 3:6] - np.einsum("iju,nj->niu", self.tensors, self.omega)
        return np.linalg.inv(self.problem.body.inertia) @ moved

    @cached_property
    def shifts(self) -> np.ndarray:
        """The derivatives of x, (n, 3, u)."""
        return self.slopes[self.rows, 6:9]

    def by_own(self, name: str, size: int) -> np.ndarray:
        """Return (size, u) derivatives of an own value by the unknowns."""
        found = np.zeros((size, self.slopes.shape[2]))
        if name in self.places:
            found[:, self.places[name]] = np.eye(size)
        return found
