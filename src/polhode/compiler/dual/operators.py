"""Operators, powers, extremes and the functions of ``math`` and NumPy on duals, compiled."""

import math
import operator
from collections.abc import Callable

from numba import types as nt
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import overload

from polhode.compiler.dual import functions
from polhode.compiler.dual.functions import ON_DUAL, SLOPES, SLOPES2
from polhode.compiler.dual.kinds import (
    DualType,
    as_given,
    chosen,
    compared,
    emitted,
    highest,
    is_dual,
    kind_level,
    whole,
)
from polhode.compiler.dual.machine import bare, chain, chained, value, value_beside
from polhode.compiler.machine import OPTIONS, inlined
from polhode.compiler.tree import bind

PAIRS = (DualType, DualType), (DualType, nt.Float), (nt.Float, DualType)
ONLY_INLINED = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


# ---- operators
def _operator(function: Callable, operation: Callable) -> None:
    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            kind = highest(args) if len(args) == 2 else None
            return kind and signature(kind, *as_given(args))

    def code(context, builder, sig, args):
        a, b = (emitted(builder, *pair) for pair in zip(sig.args, args, strict=True))
        return whole(context, builder, sig.return_type, operation(a, b))

    for pair in PAIRS:
        lower_builtin(function, *pair)(code)


def _comparison(function: Callable, sign: str) -> None:
    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            compares = len(args) == 2 and highest(args)
            return signature(nt.boolean, *as_given(args)) if compares else None

    def code(context, builder, sig, args):
        a, b = (emitted(builder, *pair) for pair in zip(sig.args, args, strict=True))
        return compared(sign, a, b)

    for pair in PAIRS:
        lower_builtin(function, *pair)(code)


def _unary(function: Callable, operation: Callable, result: nt.Type | None = None) -> None:
    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 1 and is_dual(args[0]):
                return signature(result or args[0], args[0])
            return None

    @lower_builtin(function, DualType)
    def code(context, builder, sig, args):
        done = operation(emitted(builder, sig.args[0], args[0]))
        return done if result else whole(context, builder, sig.return_type, done)


for _function in (operator.add, operator.sub, operator.mul, operator.truediv):
    _operator(_function, _function)
    _operator(getattr(operator, f"i{_function.__name__}"), _function)
for _function, _sign in (
    *((operator.eq, "=="), (operator.ne, "!="), (operator.lt, "<")),
    *((operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")),
):
    _comparison(_function, _sign)
_unary(operator.neg, operator.neg)
_unary(operator.pos, operator.pos)
_unary(abs, abs)
_unary(float, operator.pos)
_unary(bool, lambda x: compared("!=", x, 0.0), nt.boolean)
_unary(operator.not_, lambda x: compared("==", x, 0.0), nt.boolean)


def _extreme(function: Callable, sign: str) -> None:
    """Define ``min`` or ``max``: a later argument wins only where it is strictly less, or more."""

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            kind = highest(args) if len(args) > 1 else None
            return kind and signature(kind, *[kind] * len(args))

    @lower_builtin(function, nt.VarArg(DualType))
    def code(context, builder, sig, args):
        best, *others = (emitted(builder, sig.return_type, x) for x in args)
        for x in others:
            best = chosen(compared(sign, x, best), x, best)
        return whole(context, builder, sig.return_type, best)


_extreme(min, "<")
_extreme(max, ">")


# ---- functions with slopes
FOR_NUMBERS = {on_dual: function for function, on_dual in ON_DUAL.items()}


def compiled_slope(slope: Callable):
    """Return a slope for functions that Numba compiles, on the functions of ``math`` themselves."""
    return inlined(bind(slope, FOR_NUMBERS))


def _overloaded(function: Callable, slope: Callable) -> None:
    rate = None

    @overload(function, jit_options=ONLY_INLINED)
    def one(x):
        nonlocal rate
        if not is_dual(x):
            return None
        slope_of = rate = rate or compiled_slope(slope)

        def made(x):
            y = function(value(x))
            return chain(y, slope_of(value(x), y), x)

        return made


def _overloaded2(function: Callable, slopes: tuple[Callable, Callable]) -> None:
    rates: list = []

    @overload(function, jit_options=ONLY_INLINED)
    def two(a, b):
        if not highest((a, b)):
            return None
        if not rates:
            rates.extend(map(compiled_slope, slopes))
        slope_a, slope_b = rates
        level_a, level_b = kind_level(a), kind_level(b)
        if level_a > level_b:

            def made(a, b):
                y = function(value(a), b)
                return chain(y, slope_a(value(a), b, y), a)

        elif level_a < level_b:

            def made(a, b):
                y = function(a, value(b))
                return chain(y, slope_b(a, value(b), y), b)

        else:

            def made(a, b):
                x, z = value(a), value(b)
                y = function(x, z)
                return chained(y, (slope_a(x, z, y), slope_b(x, z, y)), (a, b))

        return made


for _one, _slope in SLOPES.items():
    _overloaded(_one, _slope)
for _two, _slopes in SLOPES2.items():
    _overloaded2(_two, _slopes)
_overloaded2(operator.ipow, SLOPES2[operator.pow])


def _whole_power(function: Callable) -> None:
    rate = None

    @overload(function, jit_options=ONLY_INLINED)
    def power(a, n):
        nonlocal rate
        if not (is_dual(a) and isinstance(n, nt.Integer)):
            return None
        slope = rate = rate or compiled_slope(functions.whole_slope)

        def made(a, n):
            return chain(value(a) ** n, slope(value(a), n), a)

        return made


def _of_values(function: Callable) -> None:
    """Define a function of one or two numbers whose result has no derivative."""

    @overload(function, jit_options=ONLY_INLINED)
    def one(x):
        return (lambda x: function(bare(x))) if is_dual(x) else None


_whole_power(operator.pow)
_whole_power(operator.ipow)
for _test in (math.floor, math.ceil, math.trunc, math.isfinite, math.isinf, math.isnan):
    _of_values(_test)


@overload(operator.mod, jit_options=ONLY_INLINED)
@overload(operator.imod, jit_options=ONLY_INLINED)
def _remainder(a, b):
    if not highest((a, b)):
        return None

    def made(a, b):
        x, y = value_beside(a, b), value_beside(b, a)
        return chained(x % y, (1.0, -1.0 * math.floor(bare(x) / bare(y))), (a, b))

    return made


@overload(operator.floordiv, jit_options=ONLY_INLINED)
@overload(operator.ifloordiv, jit_options=ONLY_INLINED)
def _floor_division(a, b):
    return (lambda a, b: bare(a) // bare(b)) if highest((a, b)) else None
