"""Operators, powers, ``min``, ``max`` and the functions of ``math`` on lanes, compiled."""

import math
import operator
from collections.abc import Callable, Mapping

from numba import types as nt
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import overload

from polhode.compiler.four.calls import each
from polhode.compiler.four.kinds import (
    FLAGS,
    SEVERAL,
    FlagsType,
    LanesType,
    as_given,
    common,
    declared,
    wide,
)
from polhode.compiler.four.machine import packed, sqrt, unpack, wider
from polhode.compiler.four.plain import OF_ONE, OF_TWO


def _operator(function: Callable, results: Mapping[int, nt.Type], lower: Callable) -> None:
    """Define the typing and code of an operator; ``lower(builder, a, b)`` gets vectors."""

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            kind = common(args) if len(args) == 2 else None
            return None if kind is None else signature(results[kind.width], *as_given(args))

    def code(context, builder, sig, args):
        return lower(builder, *(wide(builder, x, sig.return_type.width) for x in args))

    for left, right in ((LanesType, LanesType), (LanesType, nt.Float), (nt.Float, LanesType)):
        lower_builtin(function, left, right)(code)


def _unary(function: Callable, lower: Callable) -> None:
    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 1 and isinstance(args[0], LanesType):
                return signature(args[0], args[0])
            return None

    @lower_builtin(function, LanesType)
    def code(context, builder, sig, args):
        return lower(builder, args[0])


def _named(method: str, *first) -> Callable:
    return lambda builder, a, b: getattr(builder, method)(*first, a, b)


def _absolute(builder, x):
    return builder.call(declared(builder, "fabs", 1, x.type), [x])


for _function, _method in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_function, SEVERAL, _named(_method))
    _operator(getattr(operator, f"i{_function.__name__}"), SEVERAL, _named(_method))
for _function, _sign in (
    (operator.eq, "=="),
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
):
    _operator(_function, FLAGS, _named("fcmp_ordered", _sign))
_operator(operator.ne, FLAGS, _named("fcmp_unordered", "!="))
_unary(operator.neg, lambda builder, x: builder.fneg(x))
_unary(operator.pos, lambda builder, x: x)
_unary(abs, _absolute)
_unary(float, lambda builder, x: x)


def _both(function: Callable, method: str) -> None:
    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            flags = next((a for a in args if isinstance(a, FlagsType)), None)
            if len(args) == 2 and flags is not None and {*args} <= {flags, nt.boolean}:
                return signature(flags, flags, flags)
            return None

    @lower_builtin(function, FlagsType, FlagsType)
    def code(context, builder, sig, args):
        return getattr(builder, method)(*args)


_both(operator.and_, "and_")
_both(operator.or_, "or_")


@infer_global(operator.pow)
class _Power(AbstractTemplate):
    def generic(self, args, kws):
        kind = common(args) if len(args) == 2 else None
        if kind is None:
            return None
        if isinstance(args[1], nt.Integer):
            return signature(kind, kind, nt.int64)
        return signature(kind, kind, kind)


@lower_builtin(operator.pow, LanesType, nt.Integer)
def _whole_power(context, builder, sig, args):
    return context.compile_internal(builder, _products, sig, args)


@lower_builtin(operator.pow, LanesType, LanesType)
def _power(context, builder, sig, args):
    return context.compile_internal(builder, _lane_powers, sig, args)


def _products(x, n):
    """Raise x to an integer power, by the products that Numba uses for one number."""
    result, left = wider(1.0, x), abs(n)
    while left != 0:
        if left & 1:
            result = result * x
        left >>= 1
        x = x * x
    return 1.0 / result if n < 0 else result


def _lane_powers(x, y):
    return packed(each(operator.pow, (unpack(x), unpack(y))))


def _overloaded(function: Callable) -> None:
    """Define a function of ``math`` lane by lane; the square root is one instruction."""

    @overload(function)
    def one(x):
        if not isinstance(x, LanesType):
            return None
        if function is math.sqrt:
            return lambda x: sqrt(x)
        if function is math.fabs:
            return lambda x: abs(x)
        return lambda x: packed(each(function, (unpack(x),)))


def _overloaded2(function: Callable) -> None:
    @overload(function)
    def two(x, y):
        if common((x, y)) is None:
            return None
        return lambda x, y: packed(each(function, (unpack(wider(x, y)), unpack(wider(y, x)))))


def _extreme(function: Callable, sign: str) -> None:
    """Define ``min`` or ``max``: a later argument wins only where it is strictly less, or more."""

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            kind = common(args) if len(args) > 1 else None
            return None if kind is None else signature(kind, *[kind] * len(args))

    @lower_builtin(function, nt.VarArg(LanesType))
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
