"""What the members of an ensemble are drawn from: for ``vary=`` of ``ph.solve_ensemble``.

Member i is drawn from a stream of random numbers that depends on the seed, on what is varied and on
the group of ``GROUP`` members to which i belongs, and on nothing else: not on the number of
members, on chunks, threads or machines, nor on what else is varied.
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InputError

GROUP = 1024  # members that are drawn, and reduced, together


class Distribution:
    """Something to draw from; ``shape`` is that of one member's value."""

    def draw(self, random: np.random.Generator, count: int, shape: tuple[int, ...]) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class Normal(Distribution):
    """Normally distributed about ``mean``; ``sigma`` is one for all, one each, or a covariance."""

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
    """Every component evenly between ``low`` and ``high``."""

    low: Any
    high: Any

    def draw(self, random, count, shape):
        low, high = _like(self.low, shape, "low"), _like(self.high, shape, "high")
        if (low > high).any():
            raise InputError(f"low must not be above high, got {self.low!r} and {self.high!r}")
        return low + (high - low) * random.random((count, *shape))


@dataclass(frozen=True)
class OnSphere(Distribution):
    """Vectors in all directions alike, of a ``length`` that is a number or drawn."""

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
    """All attitudes alike: uniform on SO(3)."""

    def draw(self, random, count, shape):
        if shape != (4,):
            raise InputError("Attitudes draws attitudes: use it for attitude")
        q = random.normal(size=(count, 4))
        return q / np.linalg.norm(q, axis=1, keepdims=True)


@dataclass(frozen=True)
class Around(Distribution):
    """The problem's own attitude turned by a normally distributed rotation vector (body axes).

    ``sigma`` in rad: one for all axes, one each, or a covariance.
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
    """Inertias of homogeneous boxes: edges evenly between ``low`` and ``high`` (m), or drawn."""

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


@dataclass(frozen=True)
class Sweep:
    """Given values, one after another; several sweeps make a grid, the first key the slowest."""

    values: Any

    def __len__(self) -> int:
        return len(self.values)


def stream(seed: int, name: str, group: int) -> np.random.Generator:
    """The random numbers of a group of members for what is called ``name``."""
    key = zlib.crc32(name.encode()), group
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def drawn(
    distribution: Distribution, seed: int, name: str, first: int, last: int, shape: tuple[int, ...]
) -> np.ndarray:
    """The values of the members from ``first`` to ``last``."""
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
        wanted = "a number" if not shape else f"a number, or {shape[0]} of them"
        raise InputError(f"{name} must be {wanted}, finite, got {value!r}") from None
