"""``Spread``: the standard deviations of observations, and division by them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.errors import InputError


@dataclass(frozen=True, eq=False)
class Spread:
    """Standard deviations (n, k) of n observations of k numbers.

    ``factors`` (n, k, k) make the numbers of each time independent, with standard deviations of 1;
    None if they are independent already.
    """

    sigmas: np.ndarray
    factors: np.ndarray | None = None

    def whiten(self, residuals: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals (n, k) and slopes (n, k, unknowns) in standard deviations."""
        if self.factors is None:
            return residuals / self.sigmas, slopes / self.sigmas[:, :, None]
        return np.einsum("nij,nj->ni", self.factors, residuals), self.factors @ slopes

    def across(self, frames: np.ndarray) -> "Spread":
        """Return the spread along other axes, rows of ``frames`` (n, j, k)."""
        own = self.sigmas[:, :, None] ** 2 * np.eye(3)
        if self.factors is not None:
            inverse = np.linalg.inv(self.factors)
            own = inverse @ inverse.transpose(0, 2, 1)
        return of_covariances(frames @ own @ frames.transpose(0, 2, 1))


def of_covariances(matrices: np.ndarray) -> Spread:
    """Return the spread of numbers with these covariances (n, k, k)."""
    factors = np.linalg.inv(np.linalg.cholesky(matrices))
    return Spread(np.sqrt(np.diagonal(matrices, axis1=1, axis2=2)), factors)


def spread_of(sigma: Any, covariance: Any, count: int, size: int, where: str) -> Spread:
    """Return the spread that these arguments of an observation of ``size`` numbers describe."""
    if (sigma is None) == (covariance is None):
        got = "neither" if sigma is None else "both"
        raise InputError(f"{where}: give sigma= or covariance=, got {got}")
    if covariance is not None:
        return _from_covariance(covariance, count, size, where)
    wanted = f"a positive number, or {count} of them, one for each time"
    if size > 1:
        wanted = f"a positive number, {size} for the axes, {count} for the times, or both as rows"
    array = _numbers(sigma, f"{where}: sigma must be {wanted}")
    allowed: dict[tuple[int, ...], Any] = {(): array, (count,): array.reshape(-1, 1)}
    allowed |= {(size,): array, (count, size): array} if size > 1 else {(count, 1): array}
    if array.shape not in allowed or not (array > 0).all():
        value = f"shape {array.shape}" if array.shape not in allowed else f"{array.min():g}"
        raise InputError(f"{where}: sigma must be {wanted}, got {value}")
    return Spread(np.array(np.broadcast_to(allowed[array.shape], (count, size))))


def _from_covariance(covariance: Any, count: int, size: int, where: str) -> Spread:
    wanted = f"{where}: covariance must be a symmetric positive matrix of shape ({size}, {size})"
    wanted += f", or {count} of them"
    array = _numbers(covariance, wanted)
    if array.shape not in ((size, size), (count, size, size)):
        raise InputError(f"{wanted}, got shape {array.shape}")
    matrices = np.broadcast_to(array, (count, size, size))
    uneven = np.abs(matrices - matrices.transpose(0, 2, 1)).max(axis=(1, 2))
    if (uneven > 1e-9 * np.abs(matrices).max(axis=(1, 2))).any():
        raise InputError(f"{wanted}, and it is not symmetric")
    smallest = np.linalg.eigvalsh(matrices)[:, 0]
    if not (smallest > 0).all():
        place = int(np.argmin(smallest))
        raise InputError(f"{wanted}, but matrix {place} has the eigenvalue {smallest[place]:.3g}")
    return of_covariances(matrices)


def _numbers(value: Any, message: str) -> np.ndarray:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{message}, got {value!r}") from None
    if not np.isfinite(array).all():
        raise InputError(f"{message}, all finite, got {value!r}")
    return array
