"""The plain Python form: the class ``Four``, and functions of numbers in lanes."""

import functools
import math
import operator
from collections.abc import Callable

from polhode.compiler.machine import (
    blend,
    combined,
    exponent,
    finite,
    machine_width,
    mask,
    power_of_two,
    rint,
)
from polhode.compiler.tree import flat, like

WIDTH = 4  # of columns and stages
LANES = range(WIDTH)
BODIES = max(WIDTH, machine_width())  # in the lanes of a register


class Four:
    """Four numbers of any kind, or as many as there are bodies; operations act on each of them."""

    __slots__ = ("lanes",)
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # NumPy's numbers leave operations to this class

    def __init__(self, *lanes):
        self.lanes = lanes

    def __repr__(self) -> str:
        return f"Four{self.lanes}"

    def __bool__(self) -> bool:
        raise TypeError("four numbers are not one condition; use mask and blend")


def lanewise(function: Callable) -> Callable:
    """Apply ``function`` lane by lane if one of its arguments is a ``Four``."""

    @functools.wraps(function)
    def on_lanes(*args):
        width = next((len(x.lanes) for x in args if isinstance(x, Four)), None)
        if width is None:
            return function(*args)
        lanes = ([x.lanes[i] if isinstance(x, Four) else x for x in args] for i in range(width))
        return Four(*(function(*lane) for lane in lanes))

    return on_lanes


def _reversed(function: Callable) -> Callable:
    return lambda a, b: function(b, a)


_BINARY = "add", "sub", "mul", "truediv", "pow"
_OTHERS = "neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge", "and_", "or_"
for _name in _BINARY:
    _operation = getattr(operator, _name)
    setattr(Four, f"__{_name}__", lanewise(_operation))
    setattr(Four, f"__r{_name}__", lanewise(_reversed(_operation)))
for _name in _OTHERS:
    setattr(Four, f"__{_name.strip('_')}__", lanewise(getattr(operator, _name)))


def pack(a, b, c, d):
    """Make a ``Four`` of four numbers."""
    return Four(a, b, c, d)


def unpack(four):
    """Return the numbers as a tuple."""
    return four.lanes


def swapped(four, k):
    """Permute lanes: lane l gets the value of lane l ^ k; k is a constant."""
    return Four(*(four.lanes[lane ^ k] for lane in LANES))


def where(flags, a, b):
    """Select ``a`` in lanes whose flag is not 0, else ``b``, also in tuples of fours.

    Flags are four numbers or four conditions.
    """
    if isinstance(a, tuple):
        return tuple(where(flags, x, y) for x, y in zip(a, b, strict=True))
    return Four(*(x if f else y for f, x, y in zip(flags.lanes, a.lanes, b.lanes, strict=True)))


def each(function, rows):
    """Return (function(a[0], b[0], …), function(a[1], b[1], …), …) for rows = (a, b, …).

    A row that is not a tuple is passed unchanged to every call.
    """
    count = max(len(row) for row in rows if isinstance(row, tuple))
    columns = ([row[i] if isinstance(row, tuple) else row for row in rows] for i in range(count))
    return tuple(function(*column) for column in columns)


def at_once(function, fours, shared):
    """Call function(*fours, *shared) on each lane; ``fours`` are fours or tuples of them.

    Compiled, on all lanes at once if possible, else one after the other, with the same bits.
    """

    width = next((len(x.lanes) for x in flat(fours) if isinstance(x, Four)), WIDTH)

    def lane(value, i):
        return tuple(lane(x, i) for x in value) if isinstance(value, tuple) else value.lanes[i]

    def packed(*values):
        return tuple(map(packed, *values)) if isinstance(values[0], tuple) else Four(*values)

    return packed(*(function(*(lane(x, i) for x in fours), *shared) for i in range(width)))


def takes_fours(function, fours, shared):
    """Return whether ``at_once`` calls the function on all lanes at once: False in plain Python."""
    return False


def on_aligned_stack():
    """Align the stack of a loop whose vectors do not all fit into registers; loads get faster."""


def if_it_can(first, second, args):
    """Call first(*args) if the compiler accepts it, else second(*args), as plain Python does."""
    return second(*args)


def combined_fours(weights, rows):
    """Form the linear combination ``combined`` of fours."""
    return combined(weights, rows)


def everywhere(x):
    """Broadcast the number x to four lanes."""
    return pack(x, x, x, x)


def of_bodies(x):
    """Broadcast the number x to as many lanes as hold bodies."""
    return Four(*[x] * BODIES)


def total(four):
    """Sum the lanes, in pairs."""
    a, b, c, d = unpack(four)
    return (a + b) + (c + d)


def _blend(m, a, b):
    if isinstance(a, tuple):
        return tuple(_blend(m, x, y) for x, y in zip(a, b, strict=True))
    return lanewise(blend)(m, a, b)


def _finite(value):
    numbers = (x for y in flat(value) for x in (y.lanes if isinstance(y, Four) else (y,)))
    return finite(tuple(numbers))


OF_ONE: tuple[Callable, ...] = (
    *(math.sqrt, math.fabs, math.exp, math.expm1, math.log, math.log1p, math.log2, math.log10),
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan),
    *(math.sinh, math.cosh, math.tanh, math.asinh, math.acosh, math.atanh),
    *(math.erf, math.erfc, math.gamma, math.lgamma),
)
OF_TWO: tuple[Callable, ...] = math.atan2, math.hypot, math.copysign, math.pow, math.fmod
_PLAIN: tuple[Callable, ...] = (
    *(rint, mask, exponent, power_of_two, min, max, float),
    *(*OF_ONE, *OF_TWO),
)
ON_FOUR: dict[Callable, Callable] = {
    **{function: lanewise(function) for function in _PLAIN},
    blend: _blend,
    finite: _finite,
}


# ---- bodies in arrays
def column(array, place, stride, pattern):
    """Read a nested tuple like ``pattern`` from ``array[place]``, ``array[place + stride]``, …."""
    return like(pattern, iter(array[place::stride].tolist()))


def put_column(array, place, stride, value):
    """Write the numbers of a nested tuple to ``array[place]``, ``array[place + stride]``, …."""
    numbers = flat(value)
    array[place : place + stride * len(numbers) : stride] = numbers


def columns(array, place, stride, pattern):
    """Read ``BODIES`` neighbours at once, from ``place`` on, into the lanes of a nested tuple."""
    lanes = [column(array, place + lane, stride, pattern) for lane in range(BODIES)]
    return like(pattern, map(Four, *map(flat, lanes)))


def put_columns(array, place, stride, value):
    for lane in range(BODIES):
        numbers = (x.lanes[lane] if isinstance(x, Four) else x for x in flat(value))
        put_column(array, place + lane, stride, tuple(numbers))
