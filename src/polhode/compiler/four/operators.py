"""Operators, powers, ``min``, ``max`` and the functions of ``math`` on four numbers, compiled."""

import math
import operator
from collections.abc import Callable

from numba import types as nt
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import overload

from polhode.compiler.four.kinds import (
    FLAGS,
    FOUR,
    FlagsType,
    FourType,
    as_given,
    declared,
    fours,
    wide,
)
from polhode.compiler.four.machine import pack, sqrt, unpack, wider
from polhode.compiler.four.plain import OF_ONE, OF_TWO


def _operator(function: Callable, result: nt.Type, lower: Callable) -> None:
    """Define the typing and code of an operator; ``lower(builder, a, b)`` gets vectors."""

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and fours(args):
                return signature(result, *as_given(args))
            return None

    def code(context, builder, sig, args):
        return lower(builder, *(wide(builder, x) for x in args))

    for left, right in ((FourType, FourType), (FourType, nt.Float), (nt.Float, FourType)):
        lower_builtin(function, left, right)(code)


def _unary(function: Callable, kind: nt.Type, lower: Callable) -> None:
    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 1 and args[0] == kind:
                return signature(kind, kind)
            return None

    @lower_builtin(function, type(kind))
    def code(context, builder, sig, args):
        return lower(builder, args[0])


def _named(method: str, *first) -> Callable:
    return lambda builder, a, b: getattr(builder, method)(*first, a, b)


def _absolute(builder, x):
    return builder.call(declared(builder, "fabs", 1), [x])


for _function, _method in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_function, FOUR, _named(_method))
    _operator(getattr(operator, f"i{_function.__name__}"), FOUR, _named(_method))
for _function, _sign in (
    (operator.eq, "=="),
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
):
    _operator(_function, FLAGS, _named("fcmp_ordered", _sign))
_operator(operator.ne, FLAGS, _named("fcmp_unordered", "!="))
_unary(operator.neg, FOUR, lambda builder, x: builder.fneg(x))
_unary(operator.pos, FOUR, lambda builder, x: x)
_unary(abs, FOUR, _absolute)
_unary(float, FOUR, lambda builder, x: x)


def _both(function: Callable, method: str) -> None:
    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and FLAGS in args and {*args} <= {FLAGS, nt.boolean}:
                return signature(FLAGS, FLAGS, FLAGS)
            return None

    @lower_builtin(function, FlagsType, FlagsType)
    def code(context, builder, sig, args):
        return getattr(builder, method)(*args)


_both(operator.and_, "and_")
_both(operator.or_, "or_")


@infer_global(operator.pow)
class _Power(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) != 2 or not fours(args):
            return None
        if isinstance(args[1], nt.Integer):
            return signature(FOUR, FOUR, nt.int64)
        return signature(FOUR, FOUR, FOUR)


@lower_builtin(operator.pow, FourType, nt.Integer)
def _whole_power(context, builder, sig, args):
    return context.compile_internal(builder, _products, sig, args)


@lower_builtin(operator.pow, FourType, FourType)
def _power(context, builder, sig, args):
    return context.compile_internal(builder, _lane_powers, sig, args)


def _products(x, n):
    """Raise x to an integer power, by the products that Numba uses for one number."""
    result, left = wider(1.0), abs(n)
    while left != 0:
        if left & 1:
            result = result * x
        left >>= 1
        x = x * x
    return 1.0 / result if n < 0 else result


def _lane_powers(x, y):
    a, b, c, d = unpack(x)
    p, q, r, s = unpack(y)
    return pack(a**p, b**q, c**r, d**s)


def _overloaded(function: Callable) -> None:
    """Define a function of ``math`` lane by lane; the square root is one instruction."""

    @overload(function)
    def one(x):
        if not isinstance(x, FourType):
            return None
        if function is math.sqrt:
            return lambda x: sqrt(x)
        if function is math.fabs:
            return lambda x: abs(x)

        def lanes(x):
            a, b, c, d = unpack(x)
            return pack(function(a), function(b), function(c), function(d))

        return lanes


def _overloaded2(function: Callable) -> None:
    @overload(function)
    def two(x, y):
        if not fours((x, y)):
            return None

        def lanes(x, y):
            a, b, c, d = unpack(wider(x))
            p, q, r, s = unpack(wider(y))
            return pack(function(a, p), function(b, q), function(c, r), function(d, s))

        return lanes


def _extreme(function: Callable, sign: str) -> None:
    """Define ``min`` or ``max``: a later argument wins only where it is strictly less, or more."""

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) > 1 and fours(args):
                return signature(FOUR, *[FOUR] * len(args))
            return None

    @lower_builtin(function, nt.VarArg(FourType))
    def code(context, builder, sig, args):
        best, *others = args
        for x in others:
            best = builder.select(builder.fcmp_ordered(sign, x, best), x, best)
        return best


_extreme(min, "<")
_extreme(max, ">")
for _of_one in OF_ONE:
    _overloaded(_of_one)
for _of_two in OF_TWO:
    _overloaded2(_of_two)
