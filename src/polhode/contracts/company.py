"""``Company``: the variables of a model, or beside a given angular velocity."""

from collections.abc import Mapping, Set
from math import hypot, log2
from typing import Any, NamedTuple

from polhode.compiler.tree import flat
from polhode.contracts import Model, Rate
from polhode.contracts.checks import finite, positive
from polhode.errors import InputError

MOST = 64  # numbers of all variables of a model: each is one of the compiled state
SMALLEST, LARGEST = 1e-100, 1e100  # scales, whose squares must be numbers
TAKEN = frozenset(  # names of what a run, an ensemble or a table has anyway
    {
        *("q", "omega", "omega_inertial", "angular_momentum", "angular_momentum_inertial", "speed"),
        *("energy", "kinetic_energy", "potential_energy", "position", "velocity", "attitude"),
        *("inertia", "mass", "time", "time_reduced", "member", "status", "t_reached", "nsteps"),
        *("niter", "count", "error", *(f"q_{c}" for c in "wxyz")),
        *(f"{v}_{c}" for v in ("omega", "angular_momentum", "x", "v") for c in "xyz"),
        *(f"angular_momentum_inertial_{c}" for c in "xyz"),
    }
)


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
    _check_columns(dict(zip(names, values, strict=True)))
    if len(flat(values)) > MOST:
        raise InputError(f"variables must have at most {MOST} numbers, got {len(flat(values))}")
    sizes = {name: _scale(_size(value)) for name, value in zip(names, values, strict=True)}
    if scale is not None and not isinstance(scale, Mapping):
        raise InputError(f"scale must map names of variables to sizes, got {scale!r}")
    for name, size in (scale or {}).items():
        if name not in sizes:
            raise InputError(f"scale has no variable {name!r} to scale, only {', '.join(names)}")
        sizes[name] = positive(size, f"scale[{name!r}]")
        if not SMALLEST <= sizes[name] <= LARGEST:
            raise InputError(
                f"scale[{name!r}] must be from {SMALLEST:g} to {LARGEST:g}, got {size!r}"
            )
    return names, values[0] if len(values) == 1 else values, tuple(sizes.values())


def check_value(value: Any, name: str) -> Any:
    """Return the value of a variable, a number or a tuple of numbers."""
    where = f"variables[{name!r}]"
    if isinstance(value, (str, bytes, Set)):
        raise InputError(f"{where} must be a number or a sequence of numbers, got {value!r}")
    if not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        return finite(value, where)
    numbers = tuple(finite(x, f"{where}[{k}]") for k, x in enumerate(value))
    if not 0 < len(numbers) <= MOST:
        raise InputError(f"{where} must have 1 to {MOST} numbers, got {len(numbers)}")
    return numbers


def _size(value: Any) -> float:
    return hypot(*value) if isinstance(value, tuple) else abs(value)


def _scale(size: float) -> float:
    """Return a power of two near a size, 1 for zero: values near each other share machine code."""
    return min(max(2.0 ** round(log2(size)), SMALLEST), LARGEST) if size > 0.0 else 1.0


def _check_columns(values: Mapping[str, Any]) -> None:
    """Raise an error for names that a run has anyway, or that are alike in a table."""
    columns: set[str] = set()
    for name, value in values.items():
        own = {f"{name}_{k}" for k in range(len(value))} if isinstance(value, tuple) else {name}
        if {name, *own} & TAKEN:
            raise InputError(
                f"variables must not be called {name!r}, which a run has already; choose another"
                " name"
            )
        if own & columns:
            raise InputError(
                f"variables[{name!r}] would be the column {min(own & columns)!r} of tables, as"
                " another variable is; choose another name"
            )
        columns |= own
