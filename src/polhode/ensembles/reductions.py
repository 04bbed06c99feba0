"""What is kept of an ensemble instead of all its states: for ``reduce=`` of ``ph.solve_ensemble``.

A reduction is made at every time for groups of ``distributions.GROUP`` members, and the groups are
joined in the order of the members, so that results depend neither on chunks nor on threads.
Members that have failed no longer count.

A quantity is one of ``QUANTITIES`` by name, or a function like those for events, ``f(t, q, omega)``
or ``f(t, x, v, q, omega)`` of tuples, that returns a number; it is compiled.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polhode.errors import InputError

QUANTITIES = {
    "q": "attitude quaternion (w, x, y, z)",
    "omega": "angular velocity, body axes",
    "angular_momentum": "body axes",
    "omega_inertial": "angular velocity, inertial axes",
    "angular_momentum_inertial": "inertial axes",
    "speed": "|omega|",
    "kinetic_energy": "of rotation, and of the centre of mass if it moves",
    "energy": "kinetic and potential",
    "position": "of the centre of mass",
    "velocity": "of the centre of mass",
}


UPPER = np.triu_indices(4)

VECTORS = set(QUANTITIES) - {"speed", "kinetic_energy", "energy"}


@dataclass(frozen=True)
class Reduction:
    """One number, or a few, from the values of a quantity over the members.

    A class of one's own has ``part(values)``, a row of numbers for the members of a group, of
    values (members, components); nobody may be left in it.  ``join(a, b)`` is the row of two
    groups, ``end(row)`` the result: numbers or arrays by name, always the same names and shapes.
    """

    of: str | Callable
    name: str = field(default="", kw_only=True)

    @property
    def label(self) -> str:
        """How the quantity is called."""
        return self.name or (self.of if isinstance(self.of, str) else _called(self.of))

    @property
    def key(self) -> str:
        return f"{type(self).__name__}({self.label})"

    def part(self, values: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def join(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def end(self, row: np.ndarray) -> dict[str, np.ndarray]:
        raise NotImplementedError


@dataclass(frozen=True)
class Mean(Reduction):
    """Mean and standard deviation of every component."""

    def part(self, values):
        n = len(values)
        if n == 0:
            return np.zeros(1 + 2 * values.shape[1])
        mean = values.mean(axis=0)
        return np.array([n, *mean, *((values - mean) ** 2).sum(axis=0)])

    def join(self, a, b):
        if a[0] == 0 or b[0] == 0:
            return b if a[0] == 0 else a
        k = len(a) // 2
        n, off = a[0] + b[0], b[1 : k + 1] - a[1 : k + 1]
        mean = a[1 : k + 1] + off * (b[0] / n)
        return np.array([n, *mean, *(a[k + 1 :] + b[k + 1 :] + off**2 * (a[0] * b[0] / n))])

    def end(self, row):
        k, n = len(row) // 2, row[0]
        if n == 0:
            none = np.full(k, np.nan)
            return {f"{self.label}_mean": none, f"{self.label}_std": none}
        return {
            f"{self.label}_mean": row[1 : k + 1],
            f"{self.label}_std": np.sqrt(row[k + 1 :] / max(n - 1, 1)),
        }


@dataclass(frozen=True)
class Extremes(Reduction):
    """The least and the greatest value of every component."""

    def part(self, values):
        if len(values) == 0:
            return np.repeat([np.inf, -np.inf], values.shape[1])
        return np.concatenate([values.min(axis=0), values.max(axis=0)])

    def join(self, a, b):
        k = len(a) // 2
        return np.concatenate([np.minimum(a[:k], b[:k]), np.maximum(a[k:], b[k:])])

    def end(self, row):
        k = len(row) // 2
        row = np.where(np.isfinite(row), row, np.nan)
        return {f"{self.label}_min": row[:k], f"{self.label}_max": row[k:]}


@dataclass(frozen=True)
class Histogram(Reduction):
    """How many values lie between ``edges``, of a quantity with one component.

    The first count is of values below all edges, the last one of those above.
    """

    edges: Sequence[float] = ()

    def part(self, values):
        edges = np.array(self.edges, dtype=float)
        places = np.searchsorted(edges, values[:, 0], side="right")
        places[values[:, 0] == edges[-1]] = len(edges) - 1  # the last bin is closed
        return np.bincount(places, minlength=len(edges) + 1).astype(float)

    def join(self, a, b):
        return a + b

    def end(self, row):
        return {f"{self.label}_histogram": row}


@dataclass(frozen=True)
class MeanAttitude(Reduction):
    """The mean attitude (Markley et al. 2007) and the spread about it.

    The mean q is the eigenvector of M = Σ q qᵀ/n for its greatest eigenvalue λ, and the spread the
    root mean square of 2 sin(θ/2), θ being the angle from the mean: 2 √(1 - λ).
    """

    of: str | Callable = "q"

    def part(self, values):
        return np.array([len(values), *(values.T @ values)[UPPER]])

    def join(self, a, b):
        return a + b

    def end(self, row):
        if row[0] == 0:
            return {"attitude_mean": np.full(4, np.nan), "attitude_spread": np.array([np.nan])}
        matrix = np.zeros((4, 4))
        matrix[UPPER] = row[1:] / row[0]
        values, vectors = np.linalg.eigh(np.triu(matrix) + np.triu(matrix, 1).T)
        q = vectors[:, -1]
        q = q if q[np.argmax(np.abs(q))] > 0 else -q
        left = np.sqrt(max(1.0 - values[-1] / values.sum(), 0.0))
        return {"attitude_mean": q, "attitude_spread": np.array([2.0 * left])}


@dataclass(frozen=True)
class Quantiles(Reduction):
    """Exact quantiles, of a quantity with one component.

    Needs all values at all its times: 8 bytes for each.  A ``Histogram`` needs next to nothing.
    """

    levels: Sequence[float] = (0.05, 0.5, 0.95)

    def of_values(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """From (times, members); NaN does not count."""
        with np.errstate(all="ignore"):
            found = np.nanquantile(values, self.levels, axis=1)
        return {f"{self.label}_quantiles": found.T}


@dataclass(frozen=True)
class FirstTime(Reduction):
    """For every member, the time of the first zero of a function like those for events.

    Its attribute ``direction`` is heeded as by ``ph.solve``.  It is looked at after every step, or
    1001 times where members have steps of their own; with ``every`` only so many seconds apart,
    rounded down to whole steps.  Two zeros in between are missed.  NaN: there was none.
    """

    every: float | None = None

    @property
    def result(self) -> str:
        return f"{self.label}_first_time"


OURS = Mean, Extremes, Histogram, MeanAttitude, Quantiles, FirstTime
UNNAMED = "<lambda>"


def _called(function: Callable) -> str:
    return getattr(function, "__name__", UNNAMED)


def tried(one: Reduction, values: np.ndarray) -> dict[str, np.ndarray]:
    """The results by name of values (members, components); what would fail later is refused."""
    if isinstance(one, FirstTime):
        return {one.result: values[:, 0]}
    who = type(one).__name__
    try:
        if isinstance(one, Quantiles):
            return {name: found[0] for name, found in one.of_values(values.T).items()}
        return _of_groups(one, values)
    except InputError as error:
        raise InputError(f"reduce: {who} was tried, and {error}") from None
    except Exception as error:  # it may be anybody's
        raise InputError(
            f"reduce: {who} was tried, and failed with {type(error).__name__}: {error}; it needs"
            " part(values), also of nobody, values of shape (0, components), join(a, b) and"
            " end(row), as ph.reductions.Reduction says"
        ) from error


def _of_groups(one: Reduction, values: np.ndarray) -> dict[str, np.ndarray]:
    some, nobody = (np.array(one.part(group), dtype=float) for group in (values, values[:0]))
    rows = some, nobody, *(np.array(one.join(*pair)) for pair in ((some, nobody), (some, some)))
    if any(row.shape != (some.size,) for row in rows):
        raise InputError(
            f"its rows have the shapes {[row.shape for row in rows]}: part and join must give rows"
            " of numbers of one length, also for nobody"
        )
    ends = [{name: np.array(found) for name, found in one.end(row).items()} for row in rows]
    shapes = [{name: found.shape for name, found in end.items()} for end in ends]
    numbers = all(found.dtype.kind in "fiub" for found in ends[0].values())
    if not shapes[0] or not numbers or any(other != shapes[0] for other in shapes):
        raise InputError(
            f"its end gives {shapes}: it must give numbers by name, always of the same names and"
            " shapes, also for nobody"
        )
    return ends[0]


SHORT: dict[str, Callable[..., Reduction]] = {
    "mean": Mean,
    "extremes": Extremes,
    "quantiles": Quantiles,
    "histogram": Histogram,
}


def reductions_of(given: Any) -> tuple[Reduction, ...]:
    """What a user gave: reductions, or texts such as "quantiles(speed, 0.05, 0.95)"."""
    if given is None:
        return ()
    try:
        parts = [given] if isinstance(given, (str, Reduction)) else list(given)
    except TypeError:
        raise InputError(f"reduce must be reductions of ph.reductions, got {given!r}") from None
    made = tuple(_read(part) if isinstance(part, str) else part for part in parts)
    for one in made:
        if not isinstance(one, Reduction):
            raise InputError(f"reduce must be reductions of ph.reductions, got {one!r}")
        _check(one)
    keys = [one.key for one in made]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"reduce has {key} twice: give one of them another name=")
    return made


def _read(text: str) -> Reduction:
    found = re.fullmatch(r"\s*(\w+)\s*\(([^()]*)\)\s*", text)
    if found is None or found[1] not in (*SHORT, "attitude"):
        if text.strip() == "attitude":
            return MeanAttitude()
        raise InputError(
            f"reduce: {text!r} is not understood; write for instance 'attitude', 'mean(omega)',"
            " 'extremes(energy)', 'quantiles(speed, 0.05, 0.5, 0.95)', 'histogram(speed, 0, 1, 2)'"
        )
    of, *numbers = (part.strip() for part in found[2].split(","))
    try:
        values = tuple(map(float, numbers))
    except ValueError:
        raise InputError(f"reduce: {text!r} has something that is not a number") from None
    return SHORT[found[1]](of, values) if values else SHORT[found[1]](of)


def _check(one: Reduction) -> None:
    if isinstance(one.of, str) and one.of not in QUANTITIES:
        raise InputError(
            f"reduce: there is no quantity {one.of!r}; there are {', '.join(QUANTITIES)}, and"
            " functions f(t, q, omega)"
        )
    if not isinstance(one.of, str) and not callable(one.of):
        raise InputError(f"reduce: {one.of!r} is neither the name of a quantity nor a function")
    if isinstance(one, FirstTime) and isinstance(one.of, str):
        raise InputError("FirstTime takes a function f(t, q, omega)")
    if not isinstance(one.name, str):
        raise InputError(f"reduce: name must be a text, got {one.name!r}")
    if not isinstance(one.of, str) and one.label == UNNAMED:
        raise InputError(f"reduce: {one.of!r} has no name; give name=")
    if "/" in one.label:
        raise InputError(f"reduce: name={one.label!r} must be without '/', as names in files are")
    if isinstance(one, (Quantiles, Histogram)) and one.of in VECTORS:
        raise InputError(
            f"reduce: {one.of!r} has several components; quantiles and histograms are for a"
            " quantity with one component: give a function f(t, q, omega)"
        )
    if isinstance(one, MeanAttitude) and one.of != "q":
        raise InputError(f"reduce: MeanAttitude is of the attitude, not of {one.of!r}")
    if isinstance(one, FirstTime) and one.every is not None and not _positive(one.every):
        raise InputError(f"every must be a positive number of seconds, got {one.every!r}")
    if isinstance(one, Quantiles):
        levels = _numbers(one.levels)
        if not len(levels) or not ((levels >= 0) & (levels <= 1)).all():
            raise InputError(
                f"levels of quantiles must be one or more from 0 to 1, got {one.levels!r}"
            )
    if isinstance(one, Histogram):
        edges = _numbers(one.edges)
        if len(edges) < 2 or not (np.diff(edges) > 0).all():
            raise InputError(
                f"edges of a histogram must be two or more that rise, got {one.edges!r}"
            )


def _numbers(values: Any) -> np.ndarray:
    """A row of numbers; of nothing, where it is none."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)
    return found if found.ndim == 1 else np.empty(0)


def _positive(value: Any) -> bool:
    try:
        return 0 < float(value) < np.inf
    except (TypeError, ValueError):
        return False
