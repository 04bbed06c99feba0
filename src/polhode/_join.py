"""A method and a model joined and compiled, once for each content."""

import math
from collections.abc import Callable

import numpy as np

from polhode import loops
from polhode._tree import Uncacheable, digest, flat
from polhode.contracts import Method, Model
from polhode.contracts import torque as torque_stub
from polhode.errors import InputError


class Joined:
    """A method and a model: the compiled loop, the form of the carry, the potential energy."""

    def __init__(self, method: Method, model: Model, aligned: bool, plain: bool = False):
        pieces = loops.model_pieces(model, aligned)
        self.torque = pieces[torque_stub]
        self.start = loops.joined(method.start, None, numbers=pieces)
        self.run = (loops.joined if plain else loops.build)(loops.record, method, model, aligned)
        self.potentials = None if model.potential is None else _potentials(model, aligned)


_known: dict = {}
MOST_KNOWN = 256


def joined(method: Method, model: Model, aligned: bool) -> Joined:
    """Joined anew, or as before if nothing that decides the machine code has changed.

    A user's functions count by content, each time, for he may have changed a constant.  Functions
    whose content cannot be seen are joined anew each time, and no longer compiled once refused.
    """
    forms = (
        _form(model.numbers),
        tuple((table.dtype.str, table.ndim) for table in flat(model.tables)),
    )
    key = method, model.torque, model.potential, aligned, forms
    try:
        content = tuple(digest(function) for function in model.user)
    except Uncacheable:
        content = None
    if content is None:
        before = _known.get((content, *key))
        refused = before is not None and getattr(before.run, "machine", None) is None
        new = Joined(method, model, aligned, plain=refused)
        return _remembered((content, *key), new)
    return _known.get((content, *key)) or _remembered(
        (content, *key), Joined(method, model, aligned)
    )


def _remembered(key: tuple, joined: Joined) -> Joined:
    if len(_known) >= MOST_KNOWN:
        del _known[next(iter(_known))]
    _known[key] = joined
    return joined


def _form(numbers):
    return tuple(map(_form, numbers)) if isinstance(numbers, tuple) else 0


def _potentials(model: Model, aligned: bool) -> Callable:
    run = loops.build(loops.potentials, None, model, aligned)

    def energies(times, states, body, params):
        out = np.empty(len(times))
        run(times, np.ascontiguousarray(states), body, params, out)
        return out

    return energies


def try_torque(torque: Callable, model: Model, state: tuple, body: tuple) -> None:
    """One call in plain Python, so that a mistake in it is told in its own words."""
    try:
        value = flat(torque(0.0, *state, body, model.params))
    except Exception as error:
        raise InputError(
            f"the torque of model {model.name!r} fails at the initial state:"
            f" {type(error).__name__}: {error}"
        ) from error
    if not all(math.isfinite(x) for x in value):
        raise InputError(
            f"the torque of model {model.name!r} is not finite at the initial state: {value}"
        )
