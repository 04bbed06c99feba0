"""The compiled forms of what goes in and out, chooses and rounds, on one number or four."""

import functools
from collections.abc import Callable

from llvmlite import ir
from numba import types as nt

from polhode.compiler.four.kinds import (
    FLAGS,
    FOUR,
    VI,
    V,
    as_given,
    declared,
    fours,
    primitive,
    wide,
)
from polhode.compiler.four.plain import LANES, WIDTH
from polhode.compiler.machine import (
    F8,
    I32,
    define_blend,
    define_exponent,
    define_mask,
    define_power_of_two,
    define_rint,
    lower_exponent,
    lower_power_of_two,
)


@primitive("pack")
def pack(_, a, b, c, d):
    def lower(context, builder, sig, args):
        four = ir.Constant(V, ir.Undefined)
        for lane, x in enumerate(args):
            four = builder.insert_element(four, x, I32(lane))
        return four

    return FOUR(*[nt.float64] * WIDTH), lower


@primitive("unpack")
def unpack(_, four):
    def lower(context, builder, sig, args):
        lanes = [builder.extract_element(args[0], I32(lane)) for lane in LANES]
        return context.make_tuple(builder, sig.return_type, lanes)

    return nt.UniTuple(nt.float64, WIDTH)(FOUR), lower


@primitive("swapped")
def swapped(_, four, k):
    if not isinstance(k, nt.IntegerLiteral):
        return None

    def lower(context, builder, sig, args):
        places = ir.Constant(ir.VectorType(I32, WIDTH), [lane ^ k.literal_value for lane in LANES])
        return builder.shuffle_vector(args[0], ir.Constant(V, ir.Undefined), places)

    return FOUR(FOUR, k), lower


@primitive("wider")
def wider(_, x):
    def lower(context, builder, sig, args):
        return wide(builder, args[0])

    return FOUR(*as_given([x])), lower


@primitive("sqrt")
def sqrt(_, four):
    def lower(context, builder, sig, args):
        return builder.call(declared(builder, "sqrt", 1), args)

    return FOUR(FOUR), lower


@primitive("fma")
def fma(_, a, b, c):
    if not fours((a, b, c)):
        return nt.float64(*[nt.float64] * 3), lambda context, builder, sig, args: builder.fma(*args)

    def lower(context, builder, sig, args):
        return builder.call(declared(builder, "fma", 3), [wide(builder, x) for x in args])

    return FOUR(*as_given((a, b, c))), lower


def of_either(name: str, single: Callable, kind: nt.Type, lower: Callable) -> Callable:
    """Make a primitive of one argument that is ``single``, except for arguments of this kind."""

    @primitive(name)
    def either(typing, x):
        if x == kind:
            return FOUR(kind), lower
        return single(typing, x)

    return either


def lower_rint(context, builder, sig, args):
    return builder.call(declared(builder, "rint", 1), args)


def lower_mask(context, builder, sig, args):
    return builder.bitcast(builder.sext(args[0], VI), V)


def has_four(kind) -> bool:
    """Whether a type, or a nested tuple of them, has a ``Four``."""
    return any(map(has_four, kind)) if isinstance(kind, nt.BaseTuple) else kind == FOUR


@primitive("blend")
def blend(typing, m, a, b):
    if m != FOUR:
        mixed = has_four(a) or has_four(b)  # one condition does not choose among four numbers
        return None if mixed else define_blend(typing, m, a, b)

    def kind_of(a, b):
        if isinstance(a, nt.BaseTuple):
            return nt.BaseTuple.from_types([kind_of(x, y) for x, y in zip(a, b, strict=True)])
        return FOUR

    def lower(context, builder, sig, args):
        bits = builder.bitcast(args[0], VI)
        part = builder.extract_value

        def walk(kind, ka, a, kb, b):
            if isinstance(kind, nt.BaseTuple):
                parts = [walk(k, ka[i], part(a, i), kb[i], part(b, i)) for i, k in enumerate(kind)]
                return context.make_tuple(builder, kind, parts)
            a = builder.bitcast(context.cast(builder, a, ka, FOUR), VI)
            b = builder.bitcast(context.cast(builder, b, kb, FOUR), VI)
            chosen = builder.or_(builder.and_(bits, a), builder.and_(builder.not_(bits), b))
            return builder.bitcast(chosen, V)

        return walk(sig.return_type, sig.args[1], args[1], sig.args[2], args[2])

    return kind_of(a, b)(FOUR, a, b), lower


@primitive("where")
def where(_, flags, a, b):
    def lower(context, builder, sig, args):
        chosen = args[0]
        if flags == FOUR:
            chosen = builder.fcmp_unordered("!=", chosen, ir.Constant(V, [0.0] * WIDTH))
        part = builder.extract_value

        def walk(kind, a, b):
            if isinstance(kind, nt.BaseTuple):
                parts = [walk(k, part(a, i), part(b, i)) for i, k in enumerate(kind)]
                return context.make_tuple(builder, kind, parts)
            return builder.select(chosen, a, b)

        return walk(a, args[1], args[2])

    return a(flags, a, a), lower


@primitive("finite")
def finite(_, value):
    def lower(context, builder, sig, args):
        def rests(kind, x):
            """The x - x: zero, or NaN where x is not finite."""
            if isinstance(kind, nt.BaseTuple):
                for i, k in enumerate(kind):
                    yield from rests(k, builder.extract_value(x, i))
            elif kind == FOUR:
                rest = builder.fsub(x, x)
                yield from (builder.extract_element(rest, I32(lane)) for lane in LANES)
            else:
                yield builder.fsub(x, x)

        rest = functools.reduce(builder.fadd, rests(value, args[0]), F8(0.0))
        return builder.fcmp_ordered("==", rest, F8(0.0))

    return nt.boolean(value), lower


rint = of_either("rint", define_rint, FOUR, lower_rint)
mask = of_either("mask", define_mask, FLAGS, lower_mask)
exponent = of_either(
    "exponent", define_exponent, FOUR, lambda _, b, sig, args: lower_exponent(b, args[0], V, VI)
)
power_of_two = of_either(
    *("power_of_two", define_power_of_two, FOUR),
    lambda _, b, sig, args: lower_power_of_two(b, args[0], V, VI),
)
