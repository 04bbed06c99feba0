"""Reductions of ensembles: for ``reduce=`` of ``ph.solve_ensemble``.  One file each.

Every file of this folder is imported, and the reductions it defines are found: a new one is one new
file.  ``REDUCTIONS`` are all of them by name.

Examples
--------
>>> import polhode as ph
>>> spins = ph.distributions.Normal([0, 0, 50], 0.5)
>>> result = ph.solve_ensemble(
...     ph.problems.fast_top(), (0, 1), members=20, vary={"omega": spins}, seed=1, method="mr2",
...     dt=0.01, reduce=[ph.reductions.Mean("speed"), "extremes(omega)"], reduce_times=3,
... )
>>> sorted(result.reductions)
['omega_max', 'omega_min', 'speed_mean', 'speed_std']
"""

import importlib
import pkgutil
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.ensembles import quantities
from polhode.ensembles.reductions.base import (
    UNNAMED,
    GrowthReduction,
    Reduction,
    ValuesReduction,
)
from polhode.errors import InputError


def _find() -> dict[str, type[Reduction]]:
    """The reductions that the files of this folder define, by name."""
    found = {}
    for place in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{place.name}")
        for name, value in vars(module).items():
            own = isinstance(value, type) and value.__module__ == module.__name__
            if own and issubclass(value, Reduction) and place.name != "base":
                found[name] = value
    return found


QUANTITIES = {name: caption.text for name, caption in quantities.QUANTITIES.items()}
REDUCTIONS: dict[str, type[Reduction]] = _find()
TEXTS = {kind.text.partition("(")[0]: kind for kind in REDUCTIONS.values() if kind.text}
globals().update(REDUCTIONS)
__all__ = [
    "QUANTITIES",
    "REDUCTIONS",
    "GrowthReduction",
    "Reduction",
    "ValuesReduction",
    "reductions_of",
    *REDUCTIONS,
]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


def reductions_of(given: Any) -> tuple[Reduction, ...]:
    """Check ``reduce=``: reductions, or texts such as "quantiles(speed, 0.05, 0.95)"."""
    if given is None:
        return ()
    try:
        parts = [given] if isinstance(given, (str, Reduction)) else list(given)
    except TypeError:
        raise InputError(f"reduce must be reductions of ph.reductions, got {given!r}") from None
    found = tuple(_read(part) if isinstance(part, str) else part for part in parts)
    for one in found:
        if not isinstance(one, Reduction):
            raise InputError(f"reduce must be reductions of ph.reductions, got {one!r}")
        _check(one)
    keys = [one.key for one in found]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"reduce has {key} twice: give one of them another name=")
    return found


def _read(text: str) -> Reduction:
    """The reduction that a text stands for."""
    found = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", text)
    kind: Any = TEXTS.get(found[1]) if found else None
    if found is None or kind is None or ("(" in kind.text) != (found[2] is not None):
        examples = ", ".join(repr(kind.text) for kind in TEXTS.values())
        raise InputError(f"reduce: {text!r} is not understood; write for instance {examples}")
    if found[2] is None:
        return kind()
    of, *rest = (part.strip() for part in found[2].split(","))
    try:
        values = tuple(map(float, rest))
    except ValueError:
        raise InputError(f"reduce: {text!r} contains something that is not a number") from None
    return kind(of, values) if values else kind(of)


def _check(one: Reduction) -> None:
    if not isinstance(one.of, str) and not callable(one.of):
        raise InputError(f"reduce: {one.of!r} is neither the name of a quantity nor a function")
    direction = getattr(one.of, "direction", 0)
    if not isinstance(direction, (bool, int, float, np.number)) or direction != direction:
        raise InputError(f"reduce: direction of {one.of!r} must be a number, got {direction!r}")
    if not isinstance(one.name, str):
        raise InputError(f"reduce: name must be a string, got {one.name!r}")
    if one.label == UNNAMED:
        raise InputError(f"reduce: {one.of!r} has no name; give name=")
    if "/" in one.label:
        raise InputError(
            f"reduce: name={one.label!r} must not contain '/', which names in files cannot have"
        )
    one.check()


def check_quantity(one: Reduction, variables: Mapping[str, tuple[int, ...]]) -> None:
    """Raise an error unless a reduction is of a quantity, or of a variable of the model.

    ``variables`` are the shapes of these, by name.
    """
    if not isinstance(one.of, str):
        return
    if one.of not in QUANTITIES and one.of not in variables:
        names = ", ".join([*QUANTITIES, *variables])
        raise InputError(
            f"reduce: there is no quantity {one.of!r}; choose from {names}, or give"
            " a function f(t, q, omega)"
        )
    several = quantities.caption(one.of, variables.get(one.of, ())).dims
    if one.one_component and several:
        raise InputError(
            f"reduce: {one.of!r} has several components, and {type(one).__name__} is for a quantity"
            " with one component: give a function f(t, q, omega)"
        )
