"""``Fit``: what a fit found, how well it is known, and what is left of the observations."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polhode._version import __version__
from polhode.files import whole
from polhode.fits import table
from polhode.fits.holds import Hold
from polhode.fits.search import Reached
from polhode.fits.unknowns import ATTITUDE, shaped
from polhode.results.trajectory import Trajectory

RARE = 0.01  # the share of fits without outliers in which some are flagged all the same
BOUND = 1e-9  # of 1 - leverage: below, an observation decides an unknown alone and has no pull


class Fit:
    """The result of ``ph.fit``.

    Attributes
    ----------
    problem : the ``Problem`` or ``RateProblem`` as fitted
    run : its motion at the times of all observations, with derivatives
    values, standard_deviations : by name.  An attitude is a SciPy ``Rotation``, and its standard
        deviations are in rad about the body axes; an inertia is the tensor
    names : of the single numbers, in the order of
    covariance, correlations : matrices of them
    chi_square, degrees_of_freedom : the sum of squares in standard deviations (of all observations,
        also for a robust loss), and the observed numbers less the unknowns that were free
    residuals : by set of observations, what was observed less what was predicted
    pulls : residuals in their own standard deviations, by set
    outliers : places in each set whose pull exceeds ``pull_bound``, which one fit in a hundred
        exceeds by chance
    times, sigmas : of the sets
    hold, loss : what was held, and the loss
    success, message : whether the search converged, and else why not
    iterations, evaluations : steps tried, and motions solved

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> body = ph.Problem(ph.RigidBody([1.0, 1.5, 2.0]), omega=[0.3, 1.0, 0.2])
    >>> t = np.linspace(0, 10, 30)
    >>> seen = ph.observe.rates(t, ph.solve(body, (0, 10), t_eval=t).omega, sigma=1e-3)
    >>> found = ph.fit(body, [seen], free=["omega"])
    >>> found.success, found.degrees_of_freedom
    (True, 87)
    """

    def __init__(self, reached: Reached, holds: Sequence[Hold], loss: str, loss_scale: float):
        self._reached, unknowns = reached, reached.unknowns
        self.names: tuple[str, ...] = unknowns.names
        self.run: Trajectory = reached.here.run
        self.hold: tuple[str, ...] = tuple(hold.name for hold in holds)
        self.loss = loss
        self.success, self.message = not reached.message, reached.message or "converged"
        self.iterations, self.evaluations = reached.iterations, reached.motion.count
        self._free = free = reached.here.slopes @ reached.slopes
        self._half = half = _half_inverse(free)
        widening = _widening(reached.here.residuals, free.shape[1], loss, loss_scale)
        half = reached.slopes @ half
        self.covariance: np.ndarray = widening * (half @ half.T)
        self.chi_square = float(reached.here.residuals @ reached.here.residuals)
        self.degrees_of_freedom = len(free) - free.shape[1]

    # ---- unknowns
    @cached_property
    def problem(self) -> Any:
        return self._reached.unknowns.of(self._reached.u)

    @cached_property
    def values(self) -> dict[str, Any]:
        from scipy.spatial.transform import Rotation

        unknowns, u = self._reached.unknowns, self._reached.u
        found: dict[str, Any] = {}
        for name, quantity in unknowns.by_name.items():
            value: Any = unknowns.value(name, u)
            if name == ATTITUDE:
                value = Rotation.from_quat(value, scalar_first=True)
            found[name] = float(value) if quantity.shape == () else value
        return found

    @cached_property
    def standard_deviations(self) -> dict[str, Any]:
        sigmas = np.sqrt(np.diag(self.covariance))
        found: dict[str, Any] = {}
        for name, quantity in self._reached.unknowns.by_name.items():
            value = shaped(quantity, sigmas[quantity.place])
            found[name] = float(value) if quantity.shape == () else value
        return found

    @property
    def correlations(self) -> np.ndarray:
        sigmas = np.sqrt(np.diag(self.covariance))
        safe = np.where(sigmas > 0.0, sigmas, 1.0)
        return self.covariance / np.outer(safe, safe)

    def value_of(self, name: str) -> tuple[float, float]:
        """Return the value of one of the ``names``, and its standard deviation.

        Components of an attitude are those of the turn from the one that was given.
        """
        place = self._place(name)
        return float(self._numbers[place]), float(math.sqrt(self.covariance[place, place]))

    def _place(self, name: str) -> int:
        from polhode.errors import InputError

        if name not in self.names:
            raise InputError(f"name must be one of {', '.join(self.names)}, got {name!r}")
        return self.names.index(name)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The numbers as tables show them: attitudes as turns from the problem's own."""
        from polhode.fits.turns import conjugates, products, rotation_vectors

        unknowns, u = self._reached.unknowns, self._reached.u.copy()
        if ATTITUDE in unknowns.by_name:
            given = np.array(unknowns.problem.attitude)
            turned = products(conjugates(given), unknowns.attitude(u))
            u[unknowns.by_name[ATTITUDE].place] = rotation_vectors(turned)
        return u

    # ---- observations
    @property
    def probability(self) -> float:
        """The probability of a larger chi square by chance."""
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees_of_freedom, self.chi_square))

    @cached_property
    def residuals(self) -> dict[str, np.ndarray]:
        reached = self._reached
        pairs = zip(reached.unknowns.observations, reached.here.seen, strict=True)
        return {one.name: one.compare(seen)[0] for one, seen in pairs}

    @cached_property
    def pulls(self) -> dict[str, np.ndarray]:
        left = 1.0 - np.sum((self._free @ self._half) ** 2, axis=1)  # the rest is leverage
        whitened = self._reached.here.residuals
        pulls = np.where(left > BOUND, whitened / np.sqrt(np.maximum(left, BOUND)), 0.0)
        found, first = {}, 0
        for observation in self._reached.unknowns.observations:
            size = len(observation) * len(observation.labels)
            part = pulls[first : first + size]
            found[observation.name] = part.reshape(len(observation), -1)
            first += size
        return found

    @property
    def pull_bound(self) -> float:
        """The pull that a normal distribution exceeds in one fit in a hundred."""
        from scipy.special import ndtri

        return float(-ndtri(0.5 * RARE / len(self._reached.here.residuals)))

    @cached_property
    def outliers(self) -> dict[str, np.ndarray]:
        bound = self.pull_bound
        return {
            name: np.flatnonzero((np.abs(pulls) > bound).any(axis=1))
            for name, pulls in self.pulls.items()
        }

    @property
    def times(self) -> dict[str, np.ndarray]:
        return {one.name: one.times for one in self._reached.unknowns.observations}

    @property
    def sigmas(self) -> dict[str, np.ndarray]:
        return {one.name: one.spread.sigmas for one in self._reached.unknowns.observations}

    @property
    def units(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The unit and the names of the components of each set."""
        return {one.name: (one.unit, one.labels) for one in self._reached.unknowns.observations}

    @property
    def start(self) -> np.ndarray:
        """The numbers from which the fit began."""
        return self._reached.unknowns.start

    @property
    def sizes(self) -> np.ndarray:
        """Sizes of the numbers, for comparison with small ones."""
        return self._reached.unknowns.sizes

    @property
    def numbers(self) -> np.ndarray:
        """The fitted numbers, in the order of ``names``; of an attitude, as in ``value_of``."""
        return self._numbers.copy()

    # ---- texts, pictures, files
    def __repr__(self) -> str:
        return table.as_text(self)

    def _repr_html_(self) -> str:
        return table.as_html(self)

    def plot(self, axes: Any = None, *, theme: str | None = None) -> np.ndarray:
        """Draw the residuals of each set over time, with bands of sigma, and all pulls."""
        from polhode import plot

        return plot.fit(self, axes, theme=theme)

    def as_data(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "polhode": __version__,
            "success": self.success,
            "message": self.message,
            "chi_square": self.chi_square,
            "degrees_of_freedom": self.degrees_of_freedom,
            "loss": self.loss,
            "hold": list(self.hold),
            "iterations": self.iterations,
            "evaluations": self.evaluations,
            "values": {name: _plain(value) for name, value in self.values.items()},
            "standard_deviations": {k: _plain(v) for k, v in self.standard_deviations.items()},
            "names": list(self.names),
            "numbers": self._numbers.tolist(),
            "covariance": self.covariance.tolist(),
            "outliers": {name: places.tolist() for name, places in self.outliers.items()},
            "problem": self._reached.unknowns.facts(self.problem),
        }

    def save(self, path: str | os.PathLike) -> Path:
        """Write values, covariance and the fitted problem as JSON; returns the file."""
        file = Path(path)
        text = json.dumps(self.as_data(), indent=1, allow_nan=False)
        whole.replace(file, [f"{text}\n".encode()], "the fit")
        return file


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; an attitude as (w, x, y, z)."""
    if hasattr(value, "as_quat"):
        value = value.as_quat(scalar_first=True)
    return value.tolist() if isinstance(value, np.ndarray) else value


def _half_inverse(slopes: np.ndarray) -> np.ndarray:
    """Return H with H Hᵀ, the inverse of JᵀJ."""
    sizes = np.linalg.norm(slopes, axis=0)
    _, values, axes = np.linalg.svd(np.linalg.qr(slopes / sizes, mode="r"))
    return axes.T / values / sizes[:, None]


def _widening(residuals: np.ndarray, unknowns: int, loss: str, scale: float) -> float:
    """Return the factor of the covariance for a robust loss (Huber 1973, (3.7) without K²)."""
    if loss == "linear":
        return 1.0
    z = (residuals / scale) ** 2
    first, second = LOSS_SLOPES[loss](z)
    count = len(residuals)
    push = float(np.sum((first * residuals) ** 2)) / max(count - unknowns, 1)
    bend = float(np.mean(first + 2.0 * second * z))
    return push / bend**2


LOSS_SLOPES: Mapping[str, Any] = {  # ρ'(z) and ρ''(z) of SciPy's losses
    "soft_l1": lambda z: ((1.0 + z) ** -0.5, -0.5 * (1.0 + z) ** -1.5),
    "huber": lambda z: (
        np.where(z <= 1.0, 1.0, np.maximum(z, 1.0) ** -0.5),
        np.where(z <= 1.0, 0.0, -0.5 * np.maximum(z, 1.0) ** -1.5),
    ),
    "cauchy": lambda z: (1.0 / (1.0 + z), -1.0 / (1.0 + z) ** 2),
    "arctan": lambda z: (1.0 / (1.0 + z**2), -2.0 * z / (1.0 + z**2) ** 2),
}
