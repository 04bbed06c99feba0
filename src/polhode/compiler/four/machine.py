"""The compiled forms of what goes in and out, chooses and rounds, on one number or on lanes."""

import functools
from collections.abc import Callable

from llvmlite import ir
from numba import types as nt

from polhode.compiler.four.kinds import (
    FOUR,
    SEVERAL,
    FlagsType,
    LanesType,
    V,
    as_given,
    common,
    declared,
    in_lanes,
    primitive,
    spread,
    wide,
)
from polhode.compiler.four.plain import BODIES, LANES, WIDTH
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
        return in_lanes(builder, args)

    return FOUR(*[nt.float64] * WIDTH), lower


@primitive("packed")
def packed(_, numbers):
    """Put the numbers of a tuple into lanes."""

    def lower(context, builder, sig, args):
        (numbers,) = sig.args
        return in_lanes(builder, [builder.extract_value(args[0], i) for i in range(len(numbers))])

    return SEVERAL[len(numbers)](nt.UniTuple(nt.float64, len(numbers))), lower


@primitive("unpack")
def unpack(_, four):
    def lower(context, builder, sig, args):
        lanes = [builder.extract_element(args[0], I32(lane)) for lane in range(four.width)]
        return context.make_tuple(builder, sig.return_type, lanes)

    return nt.UniTuple(nt.float64, four.width)(four), lower


@primitive("of_bodies")
def of_bodies(_, x):
    def lower(context, builder, sig, args):
        return spread(builder, args[0], BODIES)

    return SEVERAL[BODIES](nt.float64), lower


@primitive("swapped")
def swapped(_, four, k):
    if not isinstance(k, nt.IntegerLiteral):
        return None

    def lower(context, builder, sig, args):
        places = ir.Constant(ir.VectorType(I32, WIDTH), [lane ^ k.literal_value for lane in LANES])
        return builder.shuffle_vector(args[0], ir.Constant(V, ir.Undefined), places)

    return FOUR(FOUR, k), lower


@primitive("wider")
def wider(_, x, like):
    """Broadcast x, if it is one number, to the lanes of another."""
    kind = common((like, x))
    if kind is None:
        return None

    def lower(context, builder, sig, args):
        return wide(builder, args[0], sig.return_type.width)

    return kind(*as_given([x]), like), lower


@primitive("sqrt")
def sqrt(_, four):
    def lower(context, builder, sig, args):
        return builder.call(declared(builder, "sqrt", 1, four.vector), args)

    return four(four), lower


@primitive("fma")
def fma(_, a, b, c):
    kind = common((a, b, c))
    if kind is None:
        return nt.float64(*[nt.float64] * 3), lambda context, builder, sig, args: builder.fma(*args)

    def lower(context, builder, sig, args):
        factors = [wide(builder, x, kind.width) for x in args]
        return builder.call(declared(builder, "fma", 3, kind.vector), factors)

    return kind(*as_given((a, b, c))), lower


def of_either(
    name: str, single: Callable, several: type[LanesType | FlagsType], lower: Callable
) -> Callable:
    """Make a primitive of one argument that is ``single``, except for arguments in lanes."""

    @primitive(name)
    def either(typing, x):
        if isinstance(x, several):
            return SEVERAL[x.width](x), lower
        return single(typing, x)

    return either


def lower_rint(context, builder, sig, args):
    return builder.call(declared(builder, "rint", 1, sig.return_type.vector), args)


def lower_mask(context, builder, sig, args):
    kind = sig.return_type
    return builder.bitcast(builder.sext(args[0], kind.whole), kind.vector)


def has_lanes(kind) -> bool:
    """Whether a type, or a nested tuple of them, has numbers in lanes."""
    if isinstance(kind, nt.BaseTuple):
        return any(map(has_lanes, kind))
    return isinstance(kind, LanesType)


@primitive("blend")
def blend(typing, m, a, b):
    if not isinstance(m, LanesType):
        mixed = has_lanes(a) or has_lanes(b)  # one condition does not choose among four numbers
        return None if mixed else define_blend(typing, m, a, b)

    def kind_of(a, b):
        if isinstance(a, nt.BaseTuple):
            return nt.BaseTuple.from_types([kind_of(x, y) for x, y in zip(a, b, strict=True)])
        return m

    def lower(context, builder, sig, args):
        bits = builder.bitcast(args[0], m.whole)
        part = builder.extract_value

        def walk(kind, ka, a, kb, b):
            if isinstance(kind, nt.BaseTuple):
                parts = [walk(k, ka[i], part(a, i), kb[i], part(b, i)) for i, k in enumerate(kind)]
                return context.make_tuple(builder, kind, parts)
            a = builder.bitcast(context.cast(builder, a, ka, m), m.whole)
            b = builder.bitcast(context.cast(builder, b, kb, m), m.whole)
            chosen = builder.or_(builder.and_(bits, a), builder.and_(builder.not_(bits), b))
            return builder.bitcast(chosen, m.vector)

        return walk(sig.return_type, sig.args[1], args[1], sig.args[2], args[2])

    return kind_of(a, b)(m, a, b), lower


@primitive("where")
def where(_, flags, a, b):
    def lower(context, builder, sig, args):
        chosen = args[0]
        if isinstance(flags, LanesType):
            zeros = ir.Constant(flags.vector, [0.0] * flags.width)
            chosen = builder.fcmp_unordered("!=", chosen, zeros)
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
            elif isinstance(kind, LanesType):
                rest = builder.fsub(x, x)
                yield from (builder.extract_element(rest, I32(i)) for i in range(kind.width))
            else:
                yield builder.fsub(x, x)

        rest = functools.reduce(builder.fadd, rests(value, args[0]), F8(0.0))
        return builder.fcmp_ordered("==", rest, F8(0.0))

    return nt.boolean(value), lower


def by_bits(lower: Callable) -> Callable:
    def lowered(context, builder, sig, args):
        return lower(builder, args[0], sig.return_type.vector, sig.return_type.whole)

    return lowered


rint = of_either("rint", define_rint, LanesType, lower_rint)
mask = of_either("mask", define_mask, FlagsType, lower_mask)
exponent = of_either("exponent", define_exponent, LanesType, by_bits(lower_exponent))
power_of_two = of_either(
    "power_of_two", define_power_of_two, LanesType, by_bits(lower_power_of_two)
)
