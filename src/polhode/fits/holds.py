"""Combinations of unknowns that a fit keeps, and the unknowns that are left.

With the sizes S, numbers u that keep g(u) = g₀ are

    u = u₀ + S (Z x + N c),    N = the rows of dg/du S,    Z across them               (1)

for any x; c follows from x by Newton's method.  Along these,

    du/dx = S (Z - N (G S N)⁻¹ G S Z),    G = dg/du at u                               (2)
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.contracts.checks import finite
from polhode.errors import InputError
from polhode.fits.bodies import MOMENTS, MOMENTUM, OMEGA, BodyUnknowns, has_inertia
from polhode.fits.unknowns import Unknowns

EPS = 2.0**-52
STEP = 1e-6  # of differences of a user's function, in units of the sizes
TRIES, CLOSE = 20, 1e-9  # of Newton's method; a step in units of S, which it squares
SAME = 1e-9  # what is left of a hold after the others, if it says nothing new


@dataclass(frozen=True, eq=False)
class Hold:
    """One number that stays: its ``value`` of u, and how that changes, ``gradient`` of u."""

    name: str
    value: Callable[[Unknowns, np.ndarray], float]
    gradient: Callable[[Unknowns, np.ndarray], np.ndarray]


# ---- those with names
def _trace(unknowns: BodyUnknowns, u: np.ndarray) -> float:
    return float(np.trace(unknowns.tensor(u)))


def _trace_gradient(unknowns: BodyUnknowns, u: np.ndarray) -> np.ndarray:
    return np.einsum("iiu->u", unknowns.tensors)


def _largest(unknowns: BodyUnknowns, u: np.ndarray) -> float:
    if MOMENTS in unknowns.by_name:
        return float(u[unknowns.by_name[MOMENTS].place].max())
    return float(np.linalg.eigvalsh(unknowns.tensor(u))[2])


def _largest_gradient(unknowns: BodyUnknowns, u: np.ndarray) -> np.ndarray:
    if MOMENTS in unknowns.by_name:
        place = unknowns.by_name[MOMENTS].place
        found = np.zeros(len(u))
        found[place.start + int(np.argmax(u[place]))] = 1.0
        return found
    axis = np.linalg.eigh(unknowns.tensor(u))[1][:, 2]
    return np.einsum("i,iju,j->u", axis, unknowns.tensors, axis)


def _momentum(unknowns: BodyUnknowns, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the angular momentum at the start, and its derivatives (3, u)."""
    found = np.zeros((3, len(u)))
    if MOMENTUM in unknowns.by_name:
        place = unknowns.by_name[MOMENTUM].place
        found[:, place] = np.eye(3)
        return u[place], found
    tensor, omega = unknowns.tensor(u), np.array(unknowns.problem.omega)
    if OMEGA in unknowns.by_name:
        place = unknowns.by_name[OMEGA].place
        omega = u[place]
        found[:, place] = tensor
    return tensor @ omega, found + np.einsum("iju,j->iu", unknowns.tensors, omega)


def _momentum_size(unknowns: BodyUnknowns, u: np.ndarray) -> float:
    return float(np.linalg.norm(_momentum(unknowns, u)[0]))


def _momentum_gradient(unknowns: BodyUnknowns, u: np.ndarray) -> np.ndarray:
    m, slopes = _momentum(unknowns, u)
    return (m / (np.linalg.norm(m) or 1.0)) @ slopes


NAMED: dict[str, tuple[Callable, Callable, str]] = {
    "trace of inertia": (_trace, _trace_gradient, "inertia or moments"),
    "sum of moments": (_trace, _trace_gradient, "inertia or moments"),
    "largest moment": (_largest, _largest_gradient, "inertia or moments"),
    "|angular momentum|": (
        _momentum_size,
        _momentum_gradient,
        "angular_momentum, omega or inertia",
    ),
}


def named(name: str) -> Hold:
    return Hold(name, *NAMED[name][:2])


def of_number(unknowns: Unknowns, place: int) -> Hold:
    """Return the hold of one of the unknowns."""
    return row(unknowns.names[place], np.eye(len(unknowns))[place])


def row(name: str, coefficients: np.ndarray) -> Hold:
    """Return the hold of a sum of unknowns times coefficients."""
    return Hold(name, lambda unknowns, u: float(coefficients @ u), lambda unknowns, u: coefficients)


def of_function(function: Callable) -> Hold:
    """Return the hold of ``function(values)``, differentiated by differences."""

    def value(unknowns: Unknowns, u: np.ndarray) -> float:
        values = {name: unknowns.value(name, u) for name in unknowns.by_name}
        known = f"hold has a function of the values of {', '.join(values)} by name"
        try:
            return float(function(values))
        except Exception as error:
            raise InputError(
                f"{known}, which must return a number; it failed: {type(error).__name__}: {error}"
            ) from error

    def gradient(unknowns: Unknowns, u: np.ndarray) -> np.ndarray:
        steps = STEP * np.diag(unknowns.sizes)
        pairs = zip(steps, unknowns.sizes, strict=True)
        return np.array(
            [
                (value(unknowns, u + step) - value(unknowns, u - step)) / (2.0 * STEP * size)
                for step, size in pairs
            ]
        )

    return Hold(getattr(function, "__name__", "a function"), value, gradient)


# ---- the argument ``hold``
def holds_of(unknowns: Unknowns, hold: Any) -> tuple[Hold, ...]:
    """Return what the argument says, in which each hold must say something new."""
    given = [hold] if isinstance(hold, (str, Mapping)) or callable(hold) else hold
    if not isinstance(given, Iterable):
        raise InputError(f"hold must be names of combinations, got {hold!r}")
    found = [one for entry in given for one in _holds(unknowns, entry)]
    rows = np.empty((0, len(unknowns)))
    for one in found:
        value = one.value(unknowns, unknowns.start)
        gradient = one.gradient(unknowns, unknowns.start) * unknowns.sizes
        size = float(np.linalg.norm(gradient))
        if not (math.isfinite(value) and math.isfinite(size)):
            raise InputError(
                f"hold {one.name!r} must return a finite number, and near the start it is {value}"
            )
        if not size > 0.0:
            raise InputError(f"hold {one.name!r} holds nothing that is free")
        gradient = gradient / size
        left = gradient - rows.T @ (rows @ gradient)
        if np.linalg.norm(left) < SAME:
            raise InputError(f"hold {one.name!r} says nothing that the others do not say")
        rows = np.vstack([rows, left / np.linalg.norm(left)])
    if len(found) >= len(unknowns):
        raise InputError(f"hold keeps all of {len(unknowns)} unknowns: {', '.join(unknowns.names)}")
    return tuple(found)


def _holds(unknowns: Unknowns, entry: Any) -> list[Hold]:
    if callable(entry):
        return [of_function(entry)]
    if isinstance(entry, Mapping):
        if not entry:
            raise InputError("hold has an empty mapping; give numbers by name and coefficients")
        coefficients = np.zeros(len(unknowns))
        for name, value in entry.items():
            what = f"hold: the coefficient of {name!r}"
            coefficients[_place(unknowns, name)] = finite(value, what)
        return [row(" + ".join(f"{value:g} {name}" for name, value in entry.items()), coefficients)]
    if not isinstance(entry, str):
        _place(unknowns, entry)  # which says what there is
    if entry in NAMED and isinstance(unknowns, BodyUnknowns):
        free = {MOMENTUM, OMEGA} & set(unknowns.by_name) or has_inertia(unknowns.by_name)
        if not (free if entry.startswith("|") else has_inertia(unknowns.by_name)):
            raise InputError(f"hold {entry!r} is for fits in which {NAMED[entry][2]} is free")
        return [named(entry)]
    if entry in unknowns.by_name:
        place = unknowns.by_name[entry].place
        return [of_number(unknowns, k) for k in range(place.start, place.stop)]
    return [of_number(unknowns, _place(unknowns, entry))]


def _place(unknowns: Unknowns, name: Any) -> int:
    if name in unknowns.names:
        return unknowns.names.index(name)
    known = [*(NAMED if unknowns.has_body else ()), *unknowns.names]
    raise InputError(
        f"hold has {name!r}; choose from {', '.join(known)}, a mapping of such names to"
        " coefficients, or a function of the values by name"
    )


# ---- the unknowns that are left
class Chart:
    """The numbers u(x) that keep all holds, near ``start``; ``scales`` are the sizes S of (1)."""

    def __init__(
        self, unknowns: Unknowns, holds: tuple[Hold, ...], start: np.ndarray, scales: np.ndarray
    ):
        self.unknowns, self.holds, self.start, self.scales = unknowns, holds, start, scales
        self._values = np.array([hold.value(unknowns, unknowns.start) for hold in holds])
        across = self._rows(start)
        _, _, axes = np.linalg.svd(across, full_matrices=True)
        self._normal, self._free = axes[: len(holds)].T, axes[len(holds) :].T

    def __len__(self) -> int:
        return self._free.shape[1]

    def numbers(self, x: np.ndarray) -> np.ndarray | None:
        """Return u of (1); None if there is none near by."""
        u = self.start + self.scales * (self._free @ x)
        if not self.holds:
            return u
        close = CLOSE + 4.0 * EPS * float(np.abs(u / self.scales).max())
        for _ in range(TRIES):
            try:
                missing = self._values - [hold.value(self.unknowns, u) for hold in self.holds]
                step = np.linalg.solve(self._rows(u) @ self._normal, missing)
            except (np.linalg.LinAlgError, InputError):  # a user's function is not defined there
                return None
            u = u + self.scales * (self._normal @ step)
            if not np.isfinite(u).all():
                return None
            if float(np.abs(step).max()) <= close:
                return u
        return None

    def slopes(self, u: np.ndarray) -> np.ndarray:
        """Return du/dx of (2)."""
        inner = self._free
        if self.holds:
            rows = self._rows(u)
            inner = inner - self._normal @ np.linalg.solve(rows @ self._normal, rows @ inner)
        return self.scales[:, None] * inner

    def _rows(self, u: np.ndarray) -> np.ndarray:
        rows = [hold.gradient(self.unknowns, u) * self.scales for hold in self.holds]
        return np.array(rows).reshape(len(rows), len(u))
