"""``Derivatives``: how the states of a run depend on what they were differentiated by."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from polhode.errors import InputError, PolhodeWarning

STATE = "state"


class NoDerivatives(InputError, AttributeError):
    """A run was not differentiated: then ``hasattr(run, "stm")`` is False."""


@dataclass(frozen=True, eq=False, repr=False)
class Derivatives(Mapping[str, np.ndarray]):
    """Derivatives of (θ, m), (x, p) and the variables of a model at each time, by name.

    ``array`` has the shape (times, outputs, directions), that of an ensemble (times, members, …).
    ``places`` are the directions of each name; ``scales`` are what a block of them is multiplied
    by, if anything; ``shapes`` are () where a quantity is one number.
    """

    array: np.ndarray
    places: Mapping[str, slice]
    shapes: Mapping[str, tuple[int, ...]]
    scales: Mapping[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.places:
            near = [known for known in self.places if known.endswith(f".{name}")]
            near = near or get_close_matches(str(name), self.places, n=1, cutoff=0.8)
            raise InputError(
                f"sensitivity[{name!r}]: the run was not differentiated by it; it has"
                f" {', '.join(self.places)}"
                + (
                    f" (did you mean {' or '.join(map(repr, near))}?)"
                    if near
                    else f": give sensitivities=[{name!r}] to the solver"
                )
            )
        block = self.array[..., self.places[name]]
        if name in self.scales:
            block = block @ self.scales[name]
        return block if self.shapes[name] else block[..., 0]

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def get(self, name: str, default: Any = None) -> Any:
        """Return the derivatives by a quantity, or the default if there are none."""
        return self[name] if name in self.places else default

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __repr__(self) -> str:
        return f"<Derivatives by {', '.join(self.places)}, at {len(self.array)} times>"

    def rows(self, key: Any) -> "Derivatives":
        """Return those at some of the times."""
        return Derivatives(self.array[key], self.places, self.shapes, self.scales)

    @property
    def stm(self) -> np.ndarray:
        """The state transition matrices."""
        if STATE not in self.places:
            raise NoDerivatives(
                "stm: the run was not differentiated by its initial state; give"
                f" sensitivities=['state', …] to the solver (it has {', '.join(self.places)})"
            )
        return self[STATE]

    def covariance(self, given: Any) -> np.ndarray:
        """Return M P Mᵀ at each time; see ``Trajectory.covariance``."""
        blocks = dict(given) if isinstance(given, Mapping) else {STATE: given}
        if not blocks:
            raise InputError(
                "covariance of what? give that of the initial state, a matrix, or a mapping of"
                f" {', '.join(self.places)} to matrices"
            )
        shape = self.array.shape[:-1]
        total = np.zeros((*shape, shape[-1]))
        for name, value in blocks.items():
            block = self[name].reshape(*shape, -1)
            total += block @ _covariance(name, value, block.shape[-1]) @ np.swapaxes(block, -1, -2)
        return total


def joined(blocks: Mapping[str, np.ndarray]) -> Derivatives:
    """Return derivatives from those by each name."""
    parts = [block if block.ndim == 3 else block[:, :, None] for block in blocks.values()]
    ends = np.cumsum([part.shape[2] for part in parts])
    places = {
        name: slice(int(end) - part.shape[2], int(end))
        for name, part, end in zip(blocks, parts, ends, strict=True)
    }
    shapes = {name: block.shape[2:] for name, block in blocks.items()}
    return Derivatives(np.concatenate(parts, axis=2), places, shapes, {})


def known(derivatives: Derivatives | None) -> Derivatives:
    """Return the derivatives of a run; raise an error if it has none."""
    if derivatives is None:
        raise NoDerivatives(
            "the run has no derivatives: give sensitivities=['state', …] to the solver"
        )
    return derivatives


def looked_at(derivatives: Derivatives | None, times: np.ndarray) -> Derivatives | None:
    """Return the derivatives of a run; warn if some are not finite."""
    if derivatives is None or (good := np.isfinite(derivatives.array)).all():
        return derivatives
    place = int(np.argmin(good.reshape(len(good), -1).all(axis=1)))
    warnings.warn(
        f"the derivatives are not finite from t = {times[place]:g} on, and the states are: either a"
        " function has no derivative there (a root of 0), or they have grown too large for numbers",
        PolhodeWarning,
        stacklevel=6,
    )
    return derivatives


def _covariance(name: str, value: Any, count: int) -> np.ndarray:
    """Return the covariance matrix of a quantity with ``count`` numbers, checked."""
    what = f"covariance: that of {name!r}"
    wanted = f"must be a symmetric matrix of shape ({count}, {count})"
    if count == 1:
        wanted += " or the variance, a number"
    try:
        matrix = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} {wanted}, got {value!r}") from None
    if count == 1 and matrix.ndim == 0:
        matrix = matrix.reshape(1, 1)
    if matrix.shape != (count, count):
        raise InputError(f"{what} {wanted}, of finite numbers, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(f"{what} {wanted}, of finite numbers, got numbers that are not finite")
    size = np.abs(matrix).max(initial=0.0)
    if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * size:
        raise InputError(f"{what} {wanted}, and it is not symmetric")
    smallest = float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[0])
    if smallest < -1e-9 * size:
        raise InputError(f"{what} must have no negative eigenvalue, and it has {smallest:.3g}")
    return matrix
