"""Varied quantities and reductions as plain data, and back, for checkpoints.

Arrays are stored beside the plain data.  Distributions and reductions of this library are stored
by the name of their class and by their numbers; user-defined functions and reductions as digests,
and must be given again.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from polhode.ensembles.distributions import DISTRIBUTIONS, Distribution, Sweep
from polhode.ensembles.reductions import REDUCTIONS, reductions_of
from polhode.ensembles.reductions.base import Reduction, ValuesReduction
from polhode.errors import FileError, InputError
from polhode.solvers.plain_data import digest_function, plain_number, refuse_differences, tuples

Arrays = dict[str, np.ndarray]
ARRAY, SWEEP = "array", "sweep"
LIBRARY = tuple(REDUCTIONS.values())
DECLARATIONS = "text", "words", "one_component", "check", "describe", "combine", "trial"


def describe_crowd(
    vary: Mapping[str, Any], reductions: tuple[Reduction, ...]
) -> tuple[dict[str, Any], list[dict[str, Any]], Arrays]:
    """(plain data of the varied quantities, of the reductions, arrays)."""
    data, arrays = _describe_vary(vary)
    return data, _describe_reductions(reductions), arrays


def rebuild_crowd(
    file: str,
    vary: Mapping[str, Any],
    reductions: list[dict[str, Any]],
    arrays: Mapping[str, np.ndarray],
    given: tuple[Reduction, ...] | None,
) -> tuple[dict[str, Any], tuple[Reduction, ...]]:
    """The varied quantities and the reductions; ``given`` if the file holds only digests."""
    return _rebuild_vary(file, vary, arrays), _rebuild_reductions(file, reductions, given)


# ---- varied quantities
def _describe_vary(vary: Mapping[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """(plain data, arrays) of the varied quantities."""
    data: dict[str, Any] = {}
    arrays = {}
    for name, source in vary.items():
        if isinstance(source, Distribution):
            data[name] = _describe_distribution(name, source)
        elif isinstance(source, Sweep):
            data[name], arrays[name] = SWEEP, np.asarray(source.values, dtype=float)
        else:
            data[name], arrays[name] = ARRAY, np.asarray(source, dtype=float)
    return data, arrays


def _rebuild_vary(
    file: str, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """The varied quantities that were described."""
    found: dict[str, Any] = {}
    for name, source in data.items():
        if source in (ARRAY, SWEEP):
            found[name] = Sweep(arrays[name]) if source == SWEEP else arrays[name]
        else:
            found[name] = _rebuild_distribution(file, source)
    return found


def _numbers(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of some fields."""
    return dict(zip(fields, tuples(list(fields.values())), strict=True))


def _describe_distribution(name: str, source: Any) -> dict[str, Any]:
    kind = type(source)
    if DISTRIBUTIONS.get(kind.__name__) is not kind:
        raise InputError(
            f"checkpoint= cannot keep vary[{name!r}]: {kind.__name__} is not one of"
            " ph.distributions; draw the values, and give them as an array"
        )
    found = {}
    for field in fields(source):
        value = getattr(source, field.name)
        if isinstance(value, Distribution):
            found[field.name] = _describe_distribution(name, value)
        else:
            found[field.name] = _lists(value)
    return {"kind": kind.__name__, "fields": found}


def _rebuild_distribution(file: str, data: Mapping[str, Any]) -> Distribution:
    kind = _find(file, DISTRIBUTIONS, data["kind"], "distribution")
    inner = {k: value for k, value in data["fields"].items() if isinstance(value, dict)}
    numbers = {k: value for k, value in data["fields"].items() if k not in inner}
    made = {k: _rebuild_distribution(file, value) for k, value in inner.items()}
    return kind(**made, **_numbers(numbers))


# ---- reductions
def _describe_reductions(reductions: tuple[Reduction, ...]) -> list[dict[str, Any]]:
    """Plain data of reductions."""
    return list(map(_describe_reduction, reductions))


def _rebuild_reductions(
    file: str, data: list[dict[str, Any]], given: tuple[Reduction, ...] | None
) -> tuple[Reduction, ...]:
    """The reductions that were described; ``given`` where the file holds only a digest."""
    if given is not None:
        refuse_differences(file, "reduce", data, _describe_reductions(given))
        return given
    unknown = [one["name"] for one in data if not isinstance(one["of"], str) or "class" in one]
    if unknown:
        raise InputError(
            f"reduce= is needed to resume {file!r}: it holds only a digest of the function or class"
            f" of {', '.join(unknown)}; give the same reductions again"
        )
    return reductions_of(tuple(_rebuild_reduction(file, one) for one in data))


def _describe_reduction(one: Reduction) -> dict[str, Any]:
    kind, of = type(one), one.of
    quantity: Any = of
    if not isinstance(of, str):
        direction = plain_number(float(getattr(of, "direction", 0)))
        quantity = {"function": digest_function(of), "direction": direction}
    found = {"name": one.key, "kind": kind.__name__, "of": quantity, "called": one.name}
    if REDUCTIONS.get(kind.__name__) is not kind:
        return found | {"class": _digest_class(one)}
    numbers = {
        field.name: None if (value := getattr(one, field.name)) is None else _lists(value)
        for field in fields(one)
        if field.name not in ("of", "name")
    }
    return found | numbers


def _digest_class(one: Reduction) -> str:
    """A digest of a user-defined class, and of what its object holds."""
    kinds = type(one).__mro__
    own = {
        name: _hashable(value)
        for kind in reversed(kinds[: kinds.index(Reduction)])
        for name, value in vars(kind).items()
        if not name.startswith("__")
        and not (kind in LIBRARY and name in DECLARATIONS)
        and kind is not ValuesReduction
    }
    held = {k: _hashable(v) for k, v in vars(one).items() if k not in ("of", "name")}
    return digest_function({"class": own, "held": held})


def _hashable(value: Any) -> Any:
    """A value as digests take it: lists as tuples, methods and properties as functions."""
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return getattr(value, "__func__", getattr(value, "fget", value))


def _rebuild_reduction(file: str, data: Mapping[str, Any]) -> Reduction:
    kind = _find(file, REDUCTIONS, data["kind"], "reduction")
    own = "name", "kind", "of", "called"
    numbers = _numbers({name: value for name, value in data.items() if name not in own})
    return kind(of=data["of"], name=data["called"], **numbers)


def _find(file: str, kinds: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in kinds:
        raise FileError(
            f"{file!r} has the {what} {name!r}, which this version of polhode does not know; resume"
            " with the version that began it"
        )
    return kinds[name]


# ---- numbers
def _lists(value: Any) -> Any:
    """Numbers, or nested lists of them, as JSON can hold them."""
    return _plain(np.asarray(value, dtype=float).tolist())


def _plain(value: Any) -> Any:
    return list(map(_plain, value)) if isinstance(value, list) else plain_number(value)
