"""Errors that a user's function raises in the middle of a run: the states so far are kept.

A step that raises changes nothing.  So a loop of machine code is called again with fewer steps, down
to the one that raises; one in plain Python, whose functions may have a memory, takes single steps
from the start.
"""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from polhode.compiler.machine import NotThree

PACKAGE = str(Path(__file__).parents[1])


def is_compiled(run: Callable, *nothing: Any) -> bool:
    """Whether a loop is machine code; compiled first, by a call that takes no step."""
    if not getattr(run, "called", True):
        run(*nothing)
    return getattr(run, "machine", None) is not None


def told(run: Any, error: Exception, *args: Any) -> str:
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
