"""The plain Python form: the class ``Dual``, and functions of nested tuples with such numbers."""

import hashlib
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

from polhode.compiler.machine import exponent, finite, fma, power_of_two, rint
from polhode.compiler.tree import Wide, flat, spread
from polhode.errors import InputError

FILES = sorted(Path(__file__).parent.glob("*.py"))
SALT = hashlib.sha256(b"".join(file.read_bytes() for file in FILES)).hexdigest()[:16]


FLOATS = frozenset({float, int})


class Dual(Wide):
    """A number with its derivatives along some directions.

    Both are numbers of any kind: floats, mpmath numbers, or again duals, which then are of a lower
    ``level``; a number of a lower level is constant along the directions of this one.
    """

    __slots__ = ("d", "level", "x")
    __array_ufunc__ = None  # NumPy's numbers leave operations to this class
    single = False

    def __init__(self, x, d):
        d, highest = tuple(d), 0.0
        if not FLOATS.issuperset(map(type, (x, *d))):
            highest = max((x, *d), key=level)
            if level(highest):
                x, *d = (_lifted(part, highest) for part in (x, *d))
        self.x, self.d, self.level = x, tuple(d), 1 + level(highest)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.x!r}, {self.d!r})"

    def __bool__(self) -> bool:
        return bool(self.x)

    def spread(self) -> list:
        if self.level == 1:
            return [self.x, *self.d]
        return [number for part in (self.x, *self.d) for number in spread(part)]

    def gather(self, gather: Callable) -> "Dual":
        return self.like(gather(self.x), map(gather, self.d))

    def content(self) -> tuple:
        return SALT, self.x, self.d

    def kind(self) -> Any:
        from polhode.compiler.dual import boxes, operators  # noqa: F401
        from polhode.compiler.dual.kinds import type_of

        return type_of(self)

    def like(self, x, d) -> "Dual":
        """Return another number of the same kind."""
        return type(self)(x, d)

    def fused(self, a, b, c):
        """Return ``fma(a, b, c)`` of what this number is made of."""
        return product_sum(a, b, c) if self.level > 1 else fma(a, b, c)

    def _refused(self, *_):
        raise InputError(
            f"a derivative would be lost where {self.x!r} becomes a number without derivatives, as"
            " int(x), or functions of NumPy, make it: use arithmetic, comparisons and the functions"
            " of math (math.floor in place of int), or ask for no sensitivities"
        )

    __int__ = __index__ = __float__ = __complex__ = _refused

    def __floor__(self):
        return bare(self).__floor__()

    def __ceil__(self):
        return bare(self).__ceil__()

    def __trunc__(self):
        return bare(self).__trunc__()


class Single(Dual):
    """The same, for lanes of bodies: compiled, directions are numbers instead of SIMD vectors."""

    __slots__ = ()
    single = True


def level(x) -> int:
    """Return how many levels of derivatives a number has."""
    return x.level if isinstance(x, Dual) else 0


def value(x):
    """Return the number without its derivatives."""
    return x.x if isinstance(x, Dual) else x


def value_beside(x, y):
    """Return x without the derivatives along directions that x and y have."""
    return x.x if level(x) >= max(level(y), 1) else x


def bare(x):
    """Return the number without the derivatives of any level."""
    return bare(x.x) if isinstance(x, Dual) else x


def chain(y, slope, x):
    """Return the number y whose derivatives are ``slope`` times those of x."""
    return x.like(y, [slope * d for d in x.d]) if isinstance(x, Dual) else y


def differentiated(tree) -> bool:
    """Whether a number in a nested tuple has derivatives, which its type decides."""
    return any(map(level, flat(tree)))


def chained(y, slopes, xs):
    """Return y, a function of numbers ``xs`` with these slopes, by the chain rule."""
    highest = max(map(level, xs))
    pairs = [(s, x) for s, x in zip(slopes, xs, strict=True) if level(x) == highest > 0]
    if not pairs:
        return y
    slope, x = pairs.pop()
    ds = [slope * d for d in x.d]
    for slope, x in reversed(pairs):
        ds = [x.fused(slope, d, done) for d, done in zip(x.d, ds, strict=True)]
    return x.like(y, ds)


def stripped(tree):
    """Return a nested tuple without derivatives."""
    return tuple(map(stripped, tree)) if isinstance(tree, tuple) else value(tree)


def with_values(tree, values):
    """Return a nested tuple with other values, and the derivatives that it has."""
    if isinstance(tree, tuple):
        return tuple(with_values(a, b) for a, b in zip(tree, values, strict=True))
    return tree.like(values, tree.d) if isinstance(tree, Dual) else values


def along(x, d):
    """Return a number with new directions d, one level above x and d; they are of one level."""
    return Dual(x, d)


def slopes_of(y, like) -> tuple:
    """Return the derivatives of y along the directions of the number ``like``."""
    return _lifted(y, like).d


def lifted(tree, like):
    """Return a nested tuple whose numbers are as ``like``, new derivatives being zero.

    ``like`` is a number, or a nested tuple of which the one with most levels counts.  Integers are
    not lifted: they count, or they are conditions.
    """
    return _lifted(tree, max(flat(like), key=level))


def _lifted(tree, like):
    if isinstance(tree, tuple):
        return tuple(_lifted(part, like) for part in tree)
    if level(tree) >= level(like) or isinstance(tree, int):
        return tree
    return like.like(_lifted(tree, like.x), [_lifted(0.0, d) for d in like.d])


def largest_change(a, b) -> float:
    """Return the largest |da - db| of two nested tuples, relative to the largest |da|.

    It is 0 if all derivatives are 0, and infinite or NaN if only those of a are, or one is NaN.
    """
    change = size = 0.0
    for p, q in derivatives_of_both(a, b):
        change, size = _larger(change, abs(p - q)), _larger(size, abs(p))
    if size == 0:
        return 0.0 if change == 0 else change * float("inf")
    return change / size


def derivatives_of_both(a, b) -> list:
    """List the derivatives of two nested tuples, in pairs."""
    pairs = []
    for x, y in zip(flat(a), flat(b), strict=True):
        like = x if level(x) >= level(y) else y
        both = zip(spread(_lifted(x, like)), spread(_lifted(y, like)), strict=True)
        pairs += list(both)[1:]
    return pairs


def _larger(a, b):
    return b if b > a or b != b else a


def finite_tangents(tree) -> bool:
    """Return whether all values and derivatives of a nested tuple are finite."""
    return finite(tuple(spread(tree)))


# ---- operations, on parts (value, derivatives or None)
def parts(x, highest: int) -> tuple:
    """Return (value, derivatives) with respect to the directions of a level, None if constant."""
    return (x.x, x.d) if level(x) == highest else (x, None)


def product_sum(a, b, c):
    """Return ``fma(a, b, c)`` of duals."""
    highest = max(level(a), level(b), level(c))
    if highest == 0:
        return fma(a, b, c)
    like = next(x for x in (a, b, c) if level(x) == highest)
    (x, dx), (y, dy), (z, dz) = (parts(number, highest) for number in (a, b, c))
    ds = dz
    for factor, d in ((y, dx), (x, dy)):
        if d is not None and ds is None:
            ds = [factor * u for u in d]
        elif d is not None:
            ds = [like.fused(factor, u, t) for u, t in zip(d, ds, strict=True)]
    return like.like(like.fused(x, y, z), ds)


def _sum(like, x, dx, y, dy):
    if dx is None or dy is None:
        return dy if dx is None else dx
    return [u + v for u, v in zip(dx, dy, strict=True)]


def _difference(like, x, dx, y, dy):
    if dx is None:
        return [-v for v in dy]
    return dx if dy is None else [u - v for u, v in zip(dx, dy, strict=True)]


def _product(like, x, dx, y, dy):
    if dx is None:
        return [x * v for v in dy]
    if dy is None:
        return [y * u for u in dx]
    return [like.fused(x, v, y * u) for u, v in zip(dx, dy, strict=True)]


def _quotient(like, x, dx, y, dy):
    inverse = 1.0 / y
    if dy is None:
        return [inverse * u for u in dx]
    minus = -(x / y)
    if dx is None:
        return [inverse * (minus * v) for v in dy]
    return [inverse * like.fused(minus, v, u) for u, v in zip(dx, dy, strict=True)]


def _binary(operation: Callable, derivatives: Callable) -> Callable:
    def on_duals(a, b):
        highest = max(level(a), level(b))
        (x, dx), (y, dy) = parts(a, highest), parts(b, highest)
        like = b if dx is None else a
        return like.like(operation(x, y), derivatives(like, x, dx, y, dy))

    return on_duals


def _comparison(operation: Callable) -> Callable:
    return lambda a, b: operation(bare(a), bare(b))


def swapped(function: Callable) -> Callable:
    return lambda a, b: function(b, a)


def _minus(x):
    return x.like(-x.x, [-d for d in x.d])


def _absolute(x):
    return x.like(abs(x.x), [-d for d in x.d] if x.x < 0 else x.d)


_BINARY = {"add": _sum, "sub": _difference, "mul": _product, "truediv": _quotient}
for _name, _derivatives in _BINARY.items():
    _operation = _binary(getattr(operator, _name), _derivatives)
    setattr(Dual, f"__{_name}__", _operation)
    setattr(Dual, f"__r{_name}__", swapped(_operation))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Dual, f"__{_name}__", _comparison(getattr(operator, _name)))
_OTHERS = {"neg": _minus, "pos": lambda x: x, "abs": _absolute, "hash": None}
for _name, _function in _OTHERS.items():
    setattr(Dual, f"__{_name}__", _function)


# ---- the functions of the library
def as_float(x):
    """Return a number as a float, or as the dual that it is."""
    return x if isinstance(x, Dual) else float(x)


def rounded(x):
    """Return ``rint(x)``, a number without derivatives."""
    return rint(bare(x))


def exponent_of(x):
    return exponent(bare(x))


def power_of(n):
    return power_of_two(bare(n))


def combination(weights, rows, fused=product_sum):
    """Return ``combined(weights, rows)`` of duals."""
    total = [weights[0] * x for x in rows[0]]
    for weight, row in zip(weights[1:], rows[1:], strict=True):
        total = [fused(weight, x, done) for x, done in zip(row, total, strict=True)]
    return tuple(total)
