"""Errors that a user's function raises in the middle of a run: the states so far are kept.

In plain Python the frame of the loop, which the traceback holds, has them.  Machine code leaves
nothing behind, and has no memory: it is called again with fewer steps, down to the one that raises.
"""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from polhode.compiler.machine import NotThree
from polhode.compiler.tree import spread
from polhode.contracts import NOT_FINITE, OK
from polhode.errors import PolhodeWarning
from polhode.loops import adapt, record

PACKAGE = str(Path(__file__).parents[1])


def call_fixed(run: Any, args: tuple, last: bool = False) -> tuple | None:
    """Call ``loops.packed_record``; if it raises, return what ``fixed_steps_before`` finds."""
    try:
        return run(*args)
    except Exception as error:
        return fixed_steps_before(error, run, args, last)


def fixed_steps_before(error: Exception, run: Any, args: tuple, last: bool = False) -> tuple | None:
    """Return what ``loops.packed_record`` would for the steps before an error, and the error.

    The state after the good steps is put into the row of numbers.  None: take fewer steps; not for
    the ``last`` call, of one step.
    """
    known = _variables(error, record)
    if known is None and not last:
        return None
    steps = (0, 0, 0)
    if known is not None:
        _put(args[0], known)
        steps = known["row"], known["i"], known["iterations"]
    return NOT_FINITE, *steps, 0.0, told(run, error, args)


def adaptive_steps_before(error: Exception, args: tuple) -> tuple | None:
    """Return what ``loops.packed_adapt`` would for the steps before an error; None: none known."""
    known = _variables(error, adapt)
    if known is None or known["accepted"] == 0:
        return None
    _put(args[0], known)
    place, out = known["accepted"] - 1, known["out"]
    time = known["t"], known["t_low"]
    status = OK if time == tuple(out[place, :2].tolist()) else NOT_FINITE  # a step between rows
    counts = ("accepted", "rejected", "starts", "evaluations")
    return *time, known["h"], status, *(known[name] for name in counts)


def _variables(error: Exception, loop: Callable) -> dict[str, Any] | None:
    """Return the variables of a loop in which an error was raised; None: it was machine code."""
    if isinstance(error, (PolhodeWarning, MemoryError)):  # not of a user's function
        raise error
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code is loop.__code__:
            return frame.f_locals
    return None


def _put(row: np.ndarray, known: dict[str, Any]) -> None:
    numbers = spread((known["state"], known["carry"]))
    row[0, : len(numbers)] = numbers


def told(run: Any, error: Exception, args: tuple) -> str:
    """Say what a user's function raised, and where; ``args`` are those of the call that failed."""
    if getattr(run, "machine", None) is not None:
        try:  # plain Python knows the lines
            run.function(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
        except Exception as plain:
            error = plain
    what = getattr(run, "what", "a function of the model")
    if isinstance(error, NotThree):
        return f"{what} {error}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(PACKAGE)]
    lines = traceback.format_list(theirs) + traceback.format_exception_only(error)
    return f"{what} raised {type(error).__name__}: {error}\n{''.join(lines).rstrip()}"
