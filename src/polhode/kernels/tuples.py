"""Functions over tuples: arithmetic of single numbers, for ``each``, unrolling and nesting."""

from collections.abc import Callable, Sequence
from functools import cache

from polhode.compiler.tree import flat

DEEPEST = 9  # terms of a sum that are added one by one


def plus(a, b):
    return a + b


def minus(a, b):
    return a - b


def times(a, b):
    return a * b


def first(a):
    return a[0]


def second(a):
    return a[1]


def collected(functions: Sequence[Callable]) -> Callable:
    """Make x -> (functions[0](x), functions[1](x), …), three functions at a time.

    (Compile time depends on the number of functions.)
    """
    *_, last = functions
    if len(functions) == 1:
        return lambda x: (last(x),)
    *_, before_last, last = functions
    if len(functions) == 2:
        return lambda x: (before_last(x), last(x))
    *_, one, before_last, last = functions
    if len(functions) == 3:
        return lambda x: (one(x), before_last(x), last(x))
    before = collected(functions[:-3])
    return lambda x: (*before(x), one(x), before_last(x), last(x))


def sum_of_squares(last: int, first: int = 0) -> Callable:
    """Make y -> the sum of the squares of y[first], …, y[last - 1]."""
    place = last - 1
    if place == first:
        return lambda y: y[place] * y[place]
    if last - first > DEEPEST:
        middle = (first + last) // 2
        return summed(sum_of_squares(middle, first), sum_of_squares(last, middle))
    before = sum_of_squares(place, first)
    return lambda y: before(y) + y[place] * y[place]


def summed(f: Callable, g: Callable) -> Callable:
    """Make y -> f(y) + g(y)."""
    return lambda y: f(y) + g(y)


def sum_of_all(functions: Sequence[Callable]) -> Callable:
    """Make y -> the sum of all functions of y, in halves: the compiler goes only so deep."""
    if len(functions) == 1:
        return functions[0]
    middle = len(functions) // 2
    return summed(sum_of_all(functions[:middle]), sum_of_all(functions[middle:]))


# ---- nesting
def nested(pattern, place: int = 0) -> Callable:
    """Make the function that nests the numbers of a flat tuple, from ``place`` on, like a pattern.

    The pattern is a number, or a tuple of patterns.
    """
    if not isinstance(pattern, tuple):
        return lambda y: y[place]
    parts = []
    for part in pattern:
        parts.append(nested(part, place))
        place += len(flat(part))
    return collected(parts) if parts else _nothing


def flattened(pattern) -> Callable:
    """Make the function that flattens a tuple nested like a pattern, or a number, to a tuple."""
    parts = list(_leaves(pattern, _itself))
    return collected(parts) if parts else _nothing


@cache
def as_floats(pattern) -> Callable:
    """Make the function that copies a tuple nested like a pattern, or a number, as floats."""
    if not isinstance(pattern, tuple):
        return _as_float
    return collected([_entry(as_floats(part), place) for place, part in enumerate(pattern)])


def strictly_floats(pattern) -> Callable:
    """Make the same function for plain Python; anything of another form is a TypeError."""
    copy = as_floats(pattern)

    def checked(value):
        if not _has_form(value, pattern):
            raise TypeError(f"the slope of y must be of the form of y, {pattern!r}, not {value!r}")
        return copy(value)

    return checked


def _has_form(value, pattern) -> bool:
    if not isinstance(pattern, tuple):
        return not hasattr(value, "__len__")
    if not hasattr(value, "__len__") or len(value) != len(pattern):
        return False
    return all(_has_form(*pair) for pair in zip(value, pattern, strict=True))


def _nothing(y):
    return ()


def _itself(y):
    return y


def _as_float(x):
    return 1.0 * x


def _entry(function: Callable, place: int) -> Callable:
    return lambda y: function(y[place])


def _leaves(pattern, path: Callable):
    """The functions that take each number out of a nested tuple."""
    if not isinstance(pattern, tuple):
        yield path
        return
    for place, part in enumerate(pattern):
        yield from _leaves(part, _inside(path, place))


def _inside(path: Callable, place: int) -> Callable:
    return lambda y: path(y)[place]
