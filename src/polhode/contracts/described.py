"""Models in words: what acts, with its numbers and units."""

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any


def described(model: Any) -> str:
    """Return lines for people: a sentence, then a line for each parameter; of a sum, the terms."""
    if model.terms:
        return "\n".join([f"sum of {len(model.terms)} models", *map(described, model.terms)])
    text = inspect.cleandoc(_docstring(model) or "").replace("``", "")
    about = " ".join(text.split("\n\n")[0].split())
    lines = [f"{model.name}: {about}" if about else model.name]
    for name, value in model.parameters.items():
        unit = _unit(_docstring(model) or "", name)
        lines.append(f"  {name} = {_shown(value)}{f' {unit}' if unit else ''}")
    return "\n".join(lines)


def _docstring(model: Any) -> str | None:
    """Return that of the user's function, or of ours that made the model."""
    if model.user:
        return getattr(model.user[0], "__doc__", None)
    functions: tuple[Callable, ...] = model.torque, model.wrench
    for function in functions:
        made = getattr(sys.modules.get(function.__module__), model.name, None)
        if callable(made):
            return made.__doc__
    return None


def _unit(text: str, name: str) -> str:
    """Return the unit in ``name`` (unit) or ``name`` (unit, more); empty if there is none."""
    found = re.search(rf"``{re.escape(name)}``\s*\(([^),]+)", text)
    return "" if found is None or "axes" in found[1] else found[1]


def _shown(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"array of shape {value.shape}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    return f"{value:.10g}"
