"""Distributions to draw members from: for ``vary=`` of ``ph.solve_ensemble``.

Member i is drawn from a stream of random numbers that depends only on the seed, on the name of the
varied quantity and on the group of ``GROUP`` members that i belongs to: not on the number of
members, on chunks, threads or machines, nor on the other varied quantities.

Examples
--------
>>> import polhode as ph
>>> vary = {"omega": ph.distributions.OnSphere(0.1), "attitude": ph.distributions.Attitudes()}
>>> problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), omega=[0, 0, 1])
>>> result = ph.solve_ensemble(problem, (0, 1), members=10, vary=vary, seed=1)
>>> bool(result.success.all())
True
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InputError

GROUP = 1024  # members that are drawn and reduced together


class Distribution:
    """A distribution; ``shape`` is that of one member's value."""

    def draw(self, random: np.random.Generator, count: int, shape: tuple[int, ...]) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class Normal(Distribution):
    """Normal distribution; ``sigma``: one for all components, one for each, or a covariance.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> drawn = ph.distributions.Normal([0, 0, 50], 0.5)
    >>> drawn.draw(np.random.default_rng(1), 5, (3,)).shape
    (5, 3)
    """

    mean: Any
    sigma: Any

    def draw(self, random, count, shape):
        mean = _like(self.mean, shape, "mean")
        sigma = np.array(self.sigma, dtype=float)
        if sigma.shape == (*shape, *shape) and shape:
            if np.abs(sigma - sigma.T).max() > 1e-12 * np.abs(sigma).max():
                raise InputError(f"sigma must be a symmetric covariance, got {sigma.tolist()}")
            values, axes = np.linalg.eigh(sigma)
            if values.min() < -1e-12 * np.abs(values).max():
                raise InputError(f"sigma must be a covariance, but has eigenvalue {values.min()}")
            return mean + (random.normal(size=(count, *shape)) * np.sqrt(values.clip(0))) @ axes.T
        sigma = _like(self.sigma, shape, "sigma")
        if (sigma < 0).any():
            raise InputError(f"sigma must not be negative, got {self.sigma!r}")
        return mean + sigma * random.normal(size=(count, *shape))


@dataclass(frozen=True)
class Uniform(Distribution):
    """Uniform distribution of every component between ``low`` and ``high``.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> drawn = ph.distributions.Uniform([0, 0, 40], [1, 1, 60])
    >>> drawn.draw(np.random.default_rng(1), 5, (3,)).shape
    (5, 3)
    """

    low: Any
    high: Any

    def draw(self, random, count, shape):
        low, high = _like(self.low, shape, "low"), _like(self.high, shape, "high")
        if (low > high).any():
            raise InputError(f"low must not be above high, got {self.low!r} and {self.high!r}")
        return low + (high - low) * random.random((count, *shape))


@dataclass(frozen=True)
class OnSphere(Distribution):
    """Vectors uniform in direction; their ``length`` is a number or a distribution.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> drawn = ph.distributions.OnSphere(0.1)
    >>> drawn.draw(np.random.default_rng(1), 5, (3,)).shape
    (5, 3)
    """

    length: "float | Distribution" = 1.0

    def draw(self, random, count, shape):
        if shape != (3,):
            raise InputError("OnSphere draws vectors: use it for omega, angular_momentum, …")
        direction = random.normal(size=(count, 3))
        if isinstance(self.length, Distribution):
            length = self.length.draw(random, count, ())[:, None]
        else:
            length = _like(self.length, (), "length")
        return direction * (length / np.linalg.norm(direction, axis=1, keepdims=True))


@dataclass(frozen=True)
class Attitudes(Distribution):
    """Attitudes uniform on SO(3).

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.Problem(ph.RigidBody([1, 2, 2.5]), omega=[0, 0, 1])
    >>> any_way_up = {"attitude": ph.distributions.Attitudes()}
    >>> ph.solve_ensemble(top, (0, 1), members=5, vary=any_way_up, seed=1).q.shape
    (1, 5, 4)
    """

    def draw(self, random, count, shape):
        if shape != (4,):
            raise InputError("Attitudes draws attitudes: use it for attitude")
        q = random.normal(size=(count, 4))
        return q / np.linalg.norm(q, axis=1, keepdims=True)


@dataclass(frozen=True)
class Around(Distribution):
    """The attitude of the problem, rotated by a normally distributed rotation vector (body axes).

    ``sigma`` in rad: one for all axes, one for each, or a covariance.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.Problem(ph.RigidBody([1, 2, 2.5]), omega=[0, 0, 1])
    >>> tilted = {"attitude": ph.distributions.Around(0.01)}
    >>> ph.solve_ensemble(top, (0, 1), members=5, vary=tilted, seed=1).q.shape
    (1, 5, 4)
    """

    sigma: Any

    def draw(self, random, count, shape):
        if shape != (4,):
            raise InputError("Around draws attitudes: use it for attitude")
        from scipy.spatial.transform import Rotation

        turn = Normal(0.0, self.sigma).draw(random, count, (3,))
        return Rotation.from_rotvec(turn).as_quat(scalar_first=True)


@dataclass(frozen=True)
class Boxes(Distribution):
    """Inertias of homogeneous boxes, with edges uniform between ``low`` and ``high`` (m).

    Examples
    --------
    >>> import polhode as ph
    >>> pieces = {"inertia": ph.distributions.Boxes([0.1, 0.1, 0.1], [1.0, 1.0, 1.0])}
    >>> box = ph.Problem(ph.RigidBody([1, 2, 2.5]), omega=[0.1, 1, 0.1])
    >>> ph.solve_ensemble(box, (0, 1), members=5, vary=pieces, seed=1).q.shape
    (1, 5, 4)
    """

    low: Any
    high: Any
    mass: float = 1.0

    def draw(self, random, count, shape):
        if shape != (3,):
            raise InputError("Boxes draws inertias: use it for inertia")
        mass = _like(self.mass, (), "mass")
        if not (_like(self.low, shape, "low") >= 0).all() or not mass > 0:
            raise InputError(
                "edges of Boxes must not be negative, and their mass must be positive, got"
                f" low={self.low!r} and mass={self.mass!r}"
            )
        a, b, c = np.square(Uniform(self.low, self.high).draw(random, count, (3,))).T
        return mass / 12 * np.stack([b + c, c + a, a + b], axis=1)


DISTRIBUTIONS = {kind.__name__: kind for kind in Distribution.__subclasses__()}


@dataclass(frozen=True)
class Sweep:
    """Given values in turn; several sweeps make a grid, whose first key varies slowest.

    Examples
    --------
    >>> import polhode as ph
    >>> spins = {"omega": ph.distributions.Sweep([[0, 0, 40], [0, 0, 50], [0, 0, 60]])}
    >>> len(ph.solve_ensemble(ph.problems.fast_top(), (0, 1), vary=spins, method="mr2", dt=0.01))
    3
    """

    values: Any

    def __len__(self) -> int:
        return len(self.values)


def stream(seed: int, name: str, group: int) -> np.random.Generator:
    """The random numbers of a group of members for the quantity ``name``."""
    key = zlib.crc32(name.encode()), group
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def draw_members(
    distribution: Distribution, seed: int, name: str, first: int, last: int, shape: tuple[int, ...]
) -> np.ndarray:
    """Draw the values of the members from ``first`` to ``last``."""
    parts = []
    for group in range(first // GROUP, -(-last // GROUP)):
        values = distribution.draw(stream(seed, name, group), GROUP, shape)
        begin = group * GROUP
        parts.append(values[max(first - begin, 0) : last - begin])
    return np.concatenate(parts)


def _like(value: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    try:
        array = np.array(value, dtype=float)
        if not np.isfinite(array).all():
            raise ValueError
        return np.broadcast_to(array, shape)
    except (TypeError, ValueError):
        wanted = "a finite number" if not shape else f"a finite number, or {shape[0]} of them"
        raise InputError(f"{name} must be {wanted}, got {value!r}") from None
