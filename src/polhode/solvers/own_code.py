"""Checks of a user's own code before a run: methods, and functions that remember something."""

import pickle
import types
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from polhode.body import RigidBody
from polhode.contracts import Integrator, Method
from polhode.errors import MethodError, PolhodeWarning
from polhode.kernels.vector import multiply

STATE = (0.8, 0.0, 0.6, 0.0), (0.3, -0.2, 0.5)
PARAMS: tuple[tuple, tuple] = ((), ())
STEP = 0.01


# ---- methods
@lru_cache(256)
def check_own_method(method: Method) -> None:
    """Take one step of a free body in plain Python, and look at what the functions return."""
    body = RigidBody([1.0, 2.0, 2.5]).data
    weight = method.weights[0]
    h: Any = multiply(STEP, weight) if isinstance(weight, tuple) else STEP * weight

    def call(name: str, *args: Any) -> Any:
        try:
            return getattr(method, name)(0.0, h, *args)
        except Exception as error:
            raise MethodError(
                f"{name} of method {method.name!r} fails for a free body:"
                f" {type(error).__name__}: {error}"
            ) from error

    def compare(name: str, found: Any, form: str, pattern: tuple) -> None:
        if _shape(found) != _shape(pattern):
            raise MethodError(
                f"{name} of method {method.name!r} must return {form}, nested tuples like"
                f" {pattern!r}, returned {found!r}"
            )

    carry = call("start", STATE, body, PARAMS)
    if method.improve is None:
        compare("step", call("step", STATE, carry, body, PARAMS), "(state, carry)", (STATE, carry))
        return
    first = call("guess", STATE, carry, body, PARAMS)
    found = call("improve", first, STATE, body, PARAMS)
    compare("improve", found, "(unknown, done)", (first, True))
    end = call("finish", found[0], STATE, carry, body, PARAMS)
    compare("finish", end, "(state, carry)", (STATE, carry))


def _shape(value: Any) -> Any:
    """Return the nesting of tuples of numbers; None for anything else."""
    if isinstance(value, tuple):
        return tuple(map(_shape, value))
    return 0 if isinstance(value, (int, float, np.generic)) else None


# ---- functions
def memory_of(functions: tuple[Callable, ...]) -> list[bytes]:
    """Return what the objects behind these functions hold, to see whether a call changes it."""
    found = []
    for function in functions:
        owner = getattr(function, "__self__", function)
        if isinstance(owner, (types.FunctionType, types.ModuleType, type)):
            continue
        try:
            pickle.dumps(vars(owner))  # the first one may change an exception that it holds
            found.append(pickle.dumps(vars(owner)))
        except Exception:  # anything may refuse to be pickled
            continue
    return found


def warn_of_memory(name: str, method: Method | Integrator) -> None:
    """Warn that a method calls a function more often than once a step."""
    if isinstance(method, Method) and not method.implicit:
        calls = len(method.weights) * method.torques_per_step
        if calls <= 1 and method.evaluations is None:
            return
    warnings.warn(
        f"the torque of model {name!r} changes the object that it belongs to, and method"
        f" {method.name!r} calls it several times a step, also for states that the run never takes;"
        " a controller that acts once a step belongs into a loop around ph.Simulator, with"
        " apply_torque before every step",
        PolhodeWarning,
        stacklevel=2,
    )
