"""The compiled forms of functions that take duals apart, put them together, choose and round."""

import functools
import inspect
import math
from collections.abc import Callable

from llvmlite import ir
from numba import types as nt
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from polhode.compiler import machine as scalar
from polhode.compiler.dual import functions, plain
from polhode.compiler.dual.kinds import (
    DualType,
    Emitted,
    chosen,
    compared,
    emitted,
    example,
    fused,
    has_duals,
    highest,
    is_dual,
    is_vector,
    kind_level,
    kind_of_example,
    whole,
)
from polhode.compiler.dual.plain import SALT
from polhode.compiler.four.kinds import spread as widened
from polhode.compiler.machine import F8, FURTHER, I32, I64
from polhode.compiler.traced import FORMS, kind_of, leaves, nested
from polhode.compiler.tree import PRIMITIVES, flat, spread


def written(function: Callable) -> Callable:
    """Return the definition of a function that moves, adds and multiplies numbers.

    It is called with examples, which tells the type of its result, and with numbers that write
    code.
    """

    def define(_, *kinds):
        result = kind_of_example(function(*map(example, kinds)))

        def lower(context, builder, sig, args):
            pairs = zip(sig.args, args, strict=True)
            done = function(*(emitted(builder, *pair) for pair in pairs))
            value = whole(context, builder, result, done)
            return impl_ret_borrowed(context, builder, result, value)

        return result(*kinds), lower

    return define


def primitive(function: Callable) -> Callable:
    """Make a definition the compiled form of a plain function."""

    def made(define):
        def definition(typing, *args):
            return define(typing, *args)

        kind = inspect.Parameter.POSITIONAL_ONLY
        names = "typing", *inspect.signature(function).parameters
        signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        vars(definition)["__signature__"] = signature
        definition.__name__ = f"{function.__name__}_{SALT}"
        PRIMITIVES[function] = intrinsic(definition)
        return PRIMITIVES[function]

    return made


def of_floats(define: Callable) -> Callable:
    """Return a definition for which integers among the arguments become floats."""

    def as_float(kind):
        if isinstance(kind, nt.BaseTuple):
            return nt.BaseTuple.from_types(tuple(map(as_float, kind)))
        return nt.float64 if isinstance(kind, nt.Number) else kind

    return lambda typing, *kinds: define(typing, *map(as_float, kinds))


value, value_beside, bare = (
    primitive(function)(written(function))
    for function in (plain.value, plain.value_beside, plain.bare)
)
stripped, with_values, lifted, slopes_of = (
    primitive(function)(written(function))
    for function in (plain.stripped, plain.with_values, plain.lifted, plain.slopes_of)
)
chain, chained = (
    primitive(function)(of_floats(written(function))) for function in (plain.chain, plain.chained)
)


@primitive(plain.differentiated)
def differentiated(_, tree):
    found = nt.boolean(has_duals(tree))
    return nt.boolean(tree), lambda *_: found


FORMS[plain.differentiated] = lambda tree: has_duals(kind_of(tree))


def _ratio(a, b):
    if not isinstance(plain.bare(b), Emitted):
        return a / b  # of examples
    return chosen(compared("==", b, 0.0), functions.LARGEST * a, a / b)


ratio = primitive(functions.ratio)(of_floats(written(_ratio)))


@primitive(plain.along)
def along(_, x, d):
    base = max((x, *d), key=kind_level)
    base = base if is_dual(base) else nt.float64
    kind = DualType(len(d), base=base)
    given = nt.UniTuple(base, len(d))

    def lower(context, builder, sig, args):
        value = ir.Constant(context.get_value_type(kind), ir.Undefined)
        value = builder.insert_value(value, args[0], 0)
        for i in range(len(d)):
            value = builder.insert_value(value, builder.extract_value(args[1], i), 1 + i)
        return value

    return kind(base, given), lower


# ---- whole trees
@primitive(plain.largest_change)
def largest_change(_, a, b):
    def lower(context, builder, sig, args):
        both = (emitted(builder, *pair) for pair in zip(sig.args, args, strict=True))
        pairs = plain.derivatives_of_both(*both)
        change = _largest(builder, [abs(p - q) for p, q in pairs])
        size = _largest(builder, [abs(p) for p, _ in pairs if isinstance(p, Emitted)])
        still = builder.fcmp_ordered("==", size, F8(0.0))
        none = builder.fcmp_ordered("==", change, F8(0.0))
        alone = builder.select(none, F8(0.0), builder.fmul(change, F8(math.inf)))
        return builder.select(still, alone, builder.fdiv(change, size))

    return nt.float64(a, b), lower


def _largest(builder, sizes: list):
    """Return the code of the largest number, NaN if one is; all are positive."""
    vectors = [size.code for size in sizes if is_vector(size.code.type)]
    singles = [size.code for size in sizes if not is_vector(size.code.type)]

    def larger(a, b):
        more = builder.fcmp_ordered(">", b, a)
        return builder.select(builder.or_(more, builder.fcmp_unordered("!=", b, b)), b, a)

    if vectors:
        vector = functools.reduce(larger, vectors)
        count = range(vector.type.count)
        singles += [builder.extract_element(vector, I32(lane)) for lane in count]
    return functools.reduce(larger, singles, F8(0.0))


def _rests(builder, values: list):
    """Return the sum of x - x: zero, or NaN where x is not finite."""
    total = F8(0.0)
    for x in values:
        rest = builder.fsub(x.code, x.code)
        parts = [rest]
        if is_vector(rest.type):
            count = range(rest.type.count)
            parts = [builder.extract_element(rest, I32(lane)) for lane in count]
        total = functools.reduce(builder.fadd, parts, total)
    return total


def _all_finite(choose: Callable) -> Callable:
    """Return the definition of whether all numbers that ``choose`` lists in a tree are finite."""

    def define(_, tree):
        def lower(context, builder, sig, args):
            numbers = choose(emitted(builder, tree, args[0]))
            rest = _rests(builder, [x for x in numbers if isinstance(x, Emitted)])
            return builder.fcmp_ordered("==", rest, F8(0.0))

        return nt.boolean(tree), lower

    return define


finite_tangents = primitive(plain.finite_tangents)(_all_finite(spread))
_values_finite = _all_finite(lambda tree: map(plain.bare, flat(tree)))


# ---- functions of the library, where there are duals
def further(name: str) -> Callable:
    """Add a definition to a primitive; it returns None where there are no duals."""

    def added(define):
        FURTHER[name].append(define)
        return define

    return added


@further("fma")
def fma(typing, a, b, c):
    args = a, b, c
    return highest(args) and of_floats(written(fused))(typing, *args)


@further("combined")
def combined(typing, weights, rows):
    if not has_duals(weights, rows):
        return None
    return written(lambda weights, rows: plain.combination(weights, rows, fused))(
        typing, weights, rows
    )


@further("finite")
def finite(typing, tree):
    return _values_finite(typing, tree) if has_duals(tree) else None


@further("blend")
def blend(_, m, a, b):
    if not has_duals(a, b):
        return None
    kind = common(a, b)

    def lower(context, builder, sig, args):
        bits = builder.bitcast(args[0], I64)

        def pick(a, b):
            number = a.type
            set_bits = widened(builder, bits, number.count) if is_vector(number) else bits
            a, b = (builder.bitcast(x, set_bits.type) for x in (a, b))
            b = builder.and_(builder.not_(set_bits), b)
            return builder.bitcast(builder.or_(builder.and_(set_bits, a), b), number)

        both = (context.cast(builder, x, k, kind) for x, k in zip(args[1:], (a, b), strict=True))
        rows = (list(leaves(builder, kind, x)) for x in both)
        picked = (pick(*pair) for pair in zip(*rows, strict=True))
        return nested(context, builder, kind, picked)

    return kind(nt.float64, a, b), lower


def common(a, b) -> nt.Type:
    """Return the type of a nested tuple whose numbers are of either of two types."""
    if isinstance(a, nt.BaseTuple):
        return nt.BaseTuple.from_types([common(x, y) for x, y in zip(a, b, strict=True)])
    return highest((a, b)) or nt.float64


def _rounding(name: str, define_one: Callable) -> None:
    @further(name)
    def define(typing, x):
        if not is_dual(x):
            return None
        _, lower_one = define_one(typing, nt.float64)

        def lower(context, builder, sig, args):
            bare = plain.bare(emitted(builder, x, args[0]))
            return lower_one(context, builder, nt.float64(nt.float64), [bare.code])

        return nt.float64(x), lower


_rounding("rint", scalar.define_rint)
_rounding("exponent", scalar.define_exponent)
_rounding("power_of_two", scalar.define_power_of_two)
