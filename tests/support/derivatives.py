"""Derivatives of trees: by dual numbers, in plain Python and compiled, and by differences."""

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np

from polhode.compiler.dual import ON_DUAL, Dual
from polhode.compiler.machine import compiled, fma, put, rint, take
from polhode.compiler.tree import bind, flat, gather, like, spread
from polhode.kernels import elliptic, newton, so3
from polhode.kernels.rules import RULES, SINES
from support.precise import to_mp

STEP = mp.mpf(10) ** -18
NAMES = "sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "atan2", "asinh", "hypot"
ON_MP: dict[Callable, Callable] = {
    **{getattr(math, name): getattr(mp, name) for name in NAMES},
    **{function: lambda a: (mp.sin(a), -2 * mp.sin(a / 2) ** 2) for function in SINES},
    rint: lambda x: mp.nint(x),
    newton.rounding: lambda: mp.mpf(10) ** -50,
    float: lambda x: x,
    so3.beta: lambda a2: (
        (mp.sqrt(a2) - mp.sin(mp.sqrt(a2))) / mp.sqrt(a2) ** 3 if a2 else mp.mpf(1) / 6
    ),
}


def on_rows(function: Callable, example: tuple, answer) -> Callable:
    """The loop that applies a function to the numbers in a row, compiled."""
    pattern = tuple(map(zeroed, example))

    def loop(row, out):
        put(out, 0, function(*take(row, 0, 0, pattern)))

    machine = compiled(loop)
    width = len(spread(answer))

    def called(*args):
        out = np.full((1, width), np.nan)
        machine(np.array([spread(args)]), out)
        return gather(answer, iter(out[0].tolist()))

    return called


def zeroed(tree):
    """A nested tuple with zeros in place of its numbers."""
    return gather(tree, iter([0.0] * len(spread(tree))))


def seeded(tree, count: int | None = None, kind=Dual):
    """A nested tuple of floats as duals: the direction of each number is its own."""
    numbers = flat(tree)
    count = count or -(-len(numbers) // 4) * 4
    return like(
        tree,
        (kind(x, [float(i == k) for k in range(count)]) for i, x in enumerate(numbers)),
    )


def in_plain_python(function: Callable) -> Callable:
    return bind(bind(function, RULES), ON_DUAL)


def precise(function: Callable) -> Callable:
    """A function on mpmath numbers."""
    quarter = {elliptic.QUARTER: mp.pi / 2, elliptic.QUARTER_REST: mp.mpf(0)}
    return bind(function, ON_MP | quarter | {fma: lambda a, b, c: a * b + c})


def by_differences(function: Callable, args: tuple) -> list:
    """Derivatives of every number of the result, along every number of the arguments."""
    on_mp = precise(function)
    numbers = flat(to_mp(args))
    columns = []
    for k in range(len(numbers)):
        ends = []
        for sign in (1, -1):
            moved = [x + sign * STEP * (i == k) for i, x in enumerate(numbers)]
            ends.append(flat(on_mp(*like(args, iter(moved)))))
        columns.append([(a - b) / (2 * STEP) for a, b in zip(*ends, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


def derivatives(result, count: int) -> list:
    """The derivatives of every number of a result, zero of those that are floats."""
    return [list(x.d[:count]) if isinstance(x, Dual) else [0.0] * count for x in flat(result)]


def error(found: list, right: list) -> float:
    """The largest difference of two lists of rows, relative to 1 or to the largest entry."""
    size = max(1, *(abs(x) for row in right for x in row))
    gaps = (
        abs(a - b) for f, r in zip(found, right, strict=True) for a, b in zip(f, r, strict=True)
    )
    worst = max(gaps)
    return float(worst / size)
