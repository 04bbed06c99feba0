"""By which quantity the members of an ensemble are coloured."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from polhode.contracts import Status
from polhode.errors import InputError
from polhode.kernels.quaternion import to_inertial

UNITS = {
    "omega": "rad/s", "angular_momentum": "kg m²/s", "inertia": "kg m²", "mass": "kg",
    "position": "m", "velocity": "m/s", "t_reached": "s",
}  # fmt: skip
LETTERS = {(3,): list("xyz"), (4,): list("wxyz"), (3, 3): [a + b for a in "xyz" for b in "xyz"]}
BY_MEMBER = "t_reached", "nsteps", "niter"


class Colouring(NamedTuple):
    """A quantity: one value for each member, or ``at`` gives those of some times and members.

    ``ticks`` are (value, text) where the values stand for names.
    """

    name: str
    unit: str
    values: Any = None
    at: Callable[[Any, np.ndarray, np.ndarray], np.ndarray] = lambda part, rows, places: part
    range: tuple[float, float] | None = None
    ticks: list | None = None

    @property
    def changes(self) -> bool:
        """Whether it changes with time."""
        return self.values is None


def colouring(
    result: Any,
    colour: Any,
    label: str,
    limits: tuple[float, float] | None,
    axis: np.ndarray,
    where: str,
) -> Colouring:
    """Return the quantity asked for; None chooses one that differs between the members."""
    if colour is None:
        found = _chosen(result, axis, where)
    elif isinstance(colour, str):
        found = _named(result, colour, axis)
    else:
        found = _given(result, colour)
    return found._replace(name=label or found.name, range=_limits(limits) or found.range)


def _limits(limits: Any) -> tuple[float, float] | None:
    if limits is None:
        return None
    try:
        low, high = (float(x) for x in limits)
    except (TypeError, ValueError):
        low = high = np.nan
    if not -np.inf < low < high < np.inf:
        raise InputError(f"colour_range must be two finite numbers that rise, got {limits!r}")
    return low, high


# ---- by name
def _tilt(axis: np.ndarray) -> Colouring:
    def at(part: Any, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
        x, y, z = to_inertial(tuple(np.moveaxis(part.q, -1, 0)), tuple(axis))
        return np.degrees(np.arctan2(np.hypot(x, y), z))

    return Colouring("tilt of the body axis", "°", at=at)


def _speed() -> Colouring:
    return Colouring("|ω|", "rad/s", at=lambda part, *_: np.linalg.norm(part.omega, axis=-1))


def _energy(result: Any, name: str) -> Colouring:
    if getattr(result.select(times=[0], members=[0]), name) is None:
        raise InputError(
            "colour='energy' needs a potential, which the model of this result has not, or the"
            " file does not hold: use 'kinetic_energy'"
        )
    return Colouring(name.replace("_", " "), "J", at=lambda part, *_: getattr(part, name))


def _status(result: Any) -> Colouring:
    codes, place = np.unique(result.status, return_inverse=True)
    names = [Status(code).name if code >= 0 else "not run" for code in codes.tolist()]
    ends = (0.0, float(max(1, len(codes) - 1)))
    ticks = [[float(k), name.lower().replace("_", " ")] for k, name in enumerate(names)]
    return Colouring("status", "", place.reshape(-1).astype(float), range=ends, ticks=ticks)


def _named(result: Any, name: str, axis: np.ndarray) -> Colouring:
    """Return the quantity of this name."""
    plain = name.removeprefix("varied_")
    if name == "tilt":
        return _tilt(axis)
    if name in ("speed", "|omega|"):
        return _speed()
    if name in ("energy", "kinetic_energy"):
        return _energy(result, name)
    if name == "status":
        return _status(result)
    if name in BY_MEMBER:
        return Colouring(name, UNITS.get(name, ""), np.asarray(getattr(result, name), dtype=float))
    one = result.labelled.get(name)
    if one is not None and one.dims == ("member",):
        return Colouring(name.replace("_", " "), str(one.attrs.get("units", "")), one.values)
    varied = dict(_varied(result))
    if plain in varied:
        return varied[plain]
    choices = ["tilt", "speed", "energy", "kinetic_energy", "status", *BY_MEMBER]
    choices += [n for n, one in result.labelled.items() if one.dims == ("member",)]
    raise InputError(
        f"colour must be an array, or one of {', '.join([*choices, *varied])}; got {name!r}"
    )


def _varied(result: Any) -> Iterator[tuple[str, Colouring]]:
    """Yield the varied quantities by name: numbers, lengths of vectors, and components."""
    for name in result.varied_names:
        values, unit = np.asarray(result.varied(name), dtype=float), UNITS.get(name, "")
        text = {"omega": "ω", "angular_momentum": "L"}.get(name, name.removeprefix("model."))
        if values.ndim == 1:
            yield name, Colouring(text, unit, values)
            continue
        if values.shape[1:] == (3,) and name != "inertia":
            yield name, Colouring(f"|{text}| at the start", unit, np.linalg.norm(values, axis=1))
        parts = values.reshape(len(values), -1).T
        ends = LETTERS.get(values.shape[1:], [str(k) for k in range(len(parts))])
        for end, part in zip(ends, parts, strict=True):
            yield f"{name}_{end}", Colouring(f"{text} {end} at the start", unit, part)


def _chosen(result: Any, axis: np.ndarray, where: str) -> Colouring:
    """Return the first varied number or length that differs, or else a quantity of the states."""
    names = set(result.varied_names)
    for name, found in _varied(result):
        values = found.values
        if name in names and np.ptp(values) > 1e-9 * max(np.abs(values).max(), 1e-300):
            return found
    return _speed() if where in ("space", "axis") else _tilt(axis)


# ---- given values
def _given(result: Any, colour: Any) -> Colouring:
    """Return a colouring by an array, one value for each member, or (times, members)."""
    name, about = getattr(colour, "name", None), getattr(colour, "attrs", {})
    try:
        values = np.asarray(colour, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"colour must be numbers or a name, got {colour!r}") from None
    text, unit = str(name or "value"), str(about.get("units", ""))
    if values.shape == (len(result),):
        return Colouring(text, unit, values)
    if values.shape == (len(result.t), len(result)):
        return Colouring(text, unit, at=lambda part, rows, places: values[np.ix_(rows, places)])
    raise InputError(
        f"colour must have the shape (members,) = ({len(result)},) or (times, members) ="
        f" ({len(result.t)}, {len(result)}), got {values.shape}"
    )
