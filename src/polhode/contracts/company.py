"""``Company``: the variables of a model, or beside a given angular velocity."""

from collections.abc import Mapping
from math import hypot
from typing import Any, NamedTuple

from polhode.compiler.tree import flat
from polhode.contracts import Model, Rate
from polhode.contracts.checks import finite, positive
from polhode.errors import InputError

MOST = 64  # numbers of a variable: each is a number of the compiled state


class Company(NamedTuple):
    """Variables that are integrated with an attitude, as loops and results see them.

    ``pattern`` has zeros, nested as functions get the variables; the other fields have an entry for
    each of them.  A shape is () for a number, (n,) for n of them.
    """

    pattern: Any
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    scales: tuple[float, ...]

    @property
    def places(self) -> dict[str, slice]:
        """Where each variable stands among the numbers of all."""
        found, first = {}, 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            last = first + (shape[0] if shape else 1)
            found[name], first = slice(first, last), last
        return found

    def apart(self, rows: Any) -> dict[str, Any]:
        """Divide rows of all numbers into arrays by name; a number has no second axis."""
        shapes = dict(zip(self.names, self.shapes, strict=True))
        return {
            name: rows[:, place].reshape(len(rows), *shapes[name])
            for name, place in self.places.items()
        }


def company_of(record: Model | Rate) -> Company | None:
    """Return the variables of a model or a given angular velocity; None if it has none."""
    if not record.is_coupled:
        return None
    values = values_of(record)
    shapes = tuple((len(value),) if isinstance(value, tuple) else () for value in values)
    return Company(zeros(record.variables), record.variable_names, shapes, record.scales)


def values_of(record: Model | Rate) -> list:
    """Return the initial value of each variable, in the order of their names."""
    terms = [term for term in getattr(record, "terms", ()) if term.is_coupled]
    if terms:
        return [value for term in terms for value in values_of(term)]
    return [record.variables] if len(record.variable_names) == 1 else list(record.variables)


def zeros(value: Any) -> Any:
    """Return zeros in the nesting of a tuple."""
    return tuple(map(zeros, value)) if isinstance(value, tuple) else 0.0


def values_in(company: Company, y: Any) -> dict[str, Any]:
    """Return numbers and lists by name, from variables nested as functions get them."""
    numbers = flat(y)
    shapes = zip(company.places.items(), company.shapes, strict=True)
    return {
        name: numbers[place] if shape else numbers[place.start] for (name, place), shape in shapes
    }


def count_numbers(company: Company | None) -> int:
    """Return how many numbers the variables are."""
    return 0 if company is None else len(flat(company.pattern))


# ---- arguments
def named_variables(variables: Any, scale: Any) -> tuple[tuple[str, ...], Any, tuple[float, ...]]:
    """Return (names, initial values as functions get them, scales) of variables, checked."""
    if not isinstance(variables, Mapping) or not variables:
        raise InputError(
            "variables must map names to initial values, as in {'ring': (0, 0, 0)}, got"
            f" {variables!r}"
        )
    names = tuple(variables)
    if wrong := [name for name in names if not (isinstance(name, str) and name.isidentifier())]:
        raise InputError(f"variables must have names such as 'ring', got {wrong[0]!r}")
    values = tuple(check_value(value, name) for name, value in variables.items())
    sizes = {name: _size(value) or 1.0 for name, value in zip(names, values, strict=True)}
    if scale is not None and not isinstance(scale, Mapping):
        raise InputError(f"scale must map names of variables to sizes, got {scale!r}")
    for name, size in (scale or {}).items():
        if name not in sizes:
            raise InputError(f"scale has no variable {name!r} to scale, only {', '.join(names)}")
        sizes[name] = positive(size, f"scale[{name!r}]")
    return names, values[0] if len(values) == 1 else values, tuple(sizes.values())


def check_value(value: Any, name: str) -> Any:
    """Return the value of a variable, a number or a tuple of numbers."""
    where = f"variables[{name!r}]"
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return finite(value, where)
    numbers = tuple(finite(x, f"{where}[{k}]") for k, x in enumerate(value))
    if not 0 < len(numbers) <= MOST:
        raise InputError(f"{where} must have 1 to {MOST} numbers, got {len(numbers)}")
    return numbers


def _size(value: Any) -> float:
    return hypot(*value) if isinstance(value, tuple) else abs(value)
