"""Functions over tuples: arithmetic of single numbers, for ``each``, and unrolling."""

from collections.abc import Callable, Sequence


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
