"""What is varied and what is reduced as plain data, and back: what a checkpoint knows of members.

Arrays stand beside it.  Distributions and reductions are told by the name of their class and by
their numbers; a user's function that is reduced, and a reduction of his own, by a digest, and they
are brought again.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from polhode.ensembles.distributions import (
    Around,
    Attitudes,
    Boxes,
    Distribution,
    Normal,
    OnSphere,
    Sweep,
    Uniform,
)
from polhode.ensembles.reductions import OURS, Reduction, reductions_of
from polhode.errors import FileError, InputError
from polhode.solvers.plain_data import _number, _of_function, _plain, refuse_others

Arrays = dict[str, np.ndarray]
DISTRIBUTIONS: dict[str, type[Distribution]] = {
    kind.__name__: kind for kind in (Normal, Uniform, OnSphere, Attitudes, Around, Boxes)
}
REDUCTIONS: dict[str, type[Reduction]] = {kind.__name__: kind for kind in OURS}
ARRAY, SWEEP = "array", "sweep"


# ---- what is varied
def described_vary(vary: Mapping[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """(plain data, arrays) of what the members differ in."""
    data: dict[str, Any] = {}
    arrays = {}
    for name, source in vary.items():
        if isinstance(source, Distribution):
            data[name] = _of_distribution(name, source)
        elif isinstance(source, Sweep):
            data[name], arrays[name] = SWEEP, np.asarray(source.values, dtype=float)
        else:
            data[name], arrays[name] = ARRAY, np.asarray(source, dtype=float)
    return data, arrays


def vary_of(file: str, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """What was described."""
    made: dict[str, Any] = {}
    for name, told in data.items():
        if told in (ARRAY, SWEEP):
            made[name] = Sweep(arrays[name]) if told == SWEEP else arrays[name]
        else:
            made[name] = _distribution(file, told)
    return made


def _of_distribution(name: str, source: Distribution) -> dict[str, Any]:
    kind = type(source)
    if DISTRIBUTIONS.get(kind.__name__) is not kind:
        raise InputError(
            f"checkpoint= cannot keep vary[{name!r}]: {kind.__name__} is not one of"
            " ph.distributions; draw the values, and give them as an array"
        )
    own: Any = fields(source)  # type: ignore[arg-type]
    told = {}
    for field in own:
        value = getattr(source, field.name)
        if isinstance(value, Distribution):
            told[field.name] = _of_distribution(name, value)
        else:
            told[field.name] = _numbers(np.asarray(value, dtype=float).tolist())
    return {"kind": kind.__name__, "fields": told}


def _distribution(file: str, data: Mapping[str, Any]) -> Distribution:
    kind = _known(file, DISTRIBUTIONS, data["kind"], "distribution")
    return kind(
        **{
            name: _distribution(file, value) if isinstance(value, dict) else _again(value)
            for name, value in data["fields"].items()
        }
    )


# ---- what is reduced
def described_reductions(reductions: tuple[Reduction, ...]) -> list[dict[str, Any]]:
    """Plain data of reductions."""
    return list(map(_of_reduction, reductions))


def reductions_again(file: str, data: list[dict[str, Any]], given: Any) -> tuple[Reduction, ...]:
    """The reductions that were described; ``given`` where the file knows a digest only."""
    if given is not None:
        made = reductions_of(given)
        refuse_others(file, "reduce", data, described_reductions(made))
        return made
    unknown = [one["name"] for one in data if not isinstance(one["of"], str) or "class" in one]
    if unknown:
        raise InputError(
            f"reduce= is needed to go on with {file!r}: it holds only a digest of the function or"
            f" class of {', '.join(unknown)}; give the same reductions again"
        )
    return tuple(_reduction(file, one) for one in data)


def _of_reduction(one: Reduction) -> dict[str, Any]:
    kind, of = type(one), one.of
    told: Any = of
    if not isinstance(of, str):
        direction = _plain(float(getattr(of, "direction", 0)))
        told = {"function": _of_function(of), "direction": direction}
    about = {"name": one.key, "kind": kind.__name__, "of": told, "called": one.name}
    if kind not in OURS:
        return about | {"class": _of_class(one)}
    numbers = {
        field.name: None if (value := getattr(one, field.name)) is None else _sequence(value)
        for field in fields(one)
        if field.name not in ("of", "name")
    }
    return about | numbers


def _of_class(one: Reduction) -> str:
    """A digest of a user's class, and of what its object holds."""
    kinds = type(one).__mro__
    own = {
        name: _frozen(value)
        for kind in reversed(kinds[: kinds.index(Reduction)])
        for name, value in vars(kind).items()
        if not name.startswith("__")
    }
    held = {k: _frozen(v) for k, v in vars(one).items() if k not in ("of", "name")}
    return _of_function({"class": own, "held": held})


def _frozen(value: Any) -> Any:
    """As digests see it: lists are tuples, and methods and properties functions."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return getattr(value, "__func__", getattr(value, "fget", value))


def _reduction(file: str, data: Mapping[str, Any]) -> Reduction:
    kind = _known(file, REDUCTIONS, data["kind"], "reduction")
    numbers = {
        name: tuple(_again(value)) if isinstance(value, list) else _again(value)
        for name, value in data.items()
        if name not in ("name", "kind", "of", "called")
    }
    return kind(of=data["of"], name=data["called"], **numbers)


def _known(file: str, kinds: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in kinds:
        raise FileError(
            f"{file!r} has the {what} {name!r}, which this version of polhode does not know; go on"
            " with the version that began it"
        )
    return kinds[name]


# ---- numbers
def _sequence(value: Any) -> Any:
    return _numbers(np.asarray(value, dtype=float).tolist())


def _numbers(value: Any) -> Any:
    return list(map(_numbers, value)) if isinstance(value, list) else _plain(value)


def _again(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_again, value))
    return None if value is None else _number(value)
