"""Four numbers at once: one SIMD register when compiled, the class ``Four`` in plain Python.

Functions written for floats run on them unchanged: + - * / and powers, comparisons with ``mask``
and ``blend``, ``fma``, ``rint``, ``abs`` and everything in ``math``; a plain number is the same in
all lanes.  Each lane does the IEEE operations of a single float, so that four columns, stages or
bodies side by side have the bits that each has alone.  What cannot be said of four numbers at once
(``if x > 0``, ``int(x)``) is refused by the compiler, and raises ``TypeError`` in plain Python.
``at_once(function, …)`` is for functions that are somebody else's: what is refused is done lane by
lane then.

``pack`` and ``unpack`` go in and out, ``swapped`` exchanges lanes, ``where`` chooses, ``each`` maps
a function over tuples of any length, and ``table(rows)`` is a function of an index that reads
constants.  ``column`` and ``columns`` read a body, or four neighbours, of which an array holds one
number every so many places; ``put_column`` and ``put_columns`` write them; ``if_it_can`` has two
functions to choose from.  All run in plain Python as they are; functions written for floats need
``ON_FOUR`` bound in there, for ``rint``, ``mask``, ``blend``, ``min``, ``max``, ``float`` and
functions of ``math`` know one number only.

Together with ``_compile`` the place that knows the compiler (Numba).
"""

import functools
import hashlib
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from pathlib import Path

from llvmlite import ir
from numba import types as nt
from numba.core import cgutils
from numba.core.errors import NumbaError
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, overload, register_model

from polhode import _compile
from polhode._compile import F8, I32, I64, blend, combined, finite, fma, mask, rint
from polhode._tree import PRIMITIVES, flat, like

WIDTH = 4
LANES = range(WIDTH)
_SALT = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]  # in the primitives' names


# ---- plain Python
class Four:
    """Four numbers of any kind; every operation is done on each."""

    __slots__ = ("lanes",)
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # NumPy's numbers leave operations to this class

    def __init__(self, a, b, c, d):
        self.lanes = a, b, c, d

    def __repr__(self) -> str:
        return f"Four{self.lanes}"

    def __bool__(self) -> bool:
        raise TypeError("four numbers are not one condition; use mask and blend")


def lanewise(function: Callable) -> Callable:
    """``function`` on each lane, if one of its arguments is a ``Four``."""

    @functools.wraps(function)
    def on_lanes(*args):
        if not any(isinstance(x, Four) for x in args):
            return function(*args)
        lanes = ([x.lanes[i] if isinstance(x, Four) else x for x in args] for i in LANES)
        return Four(*(function(*lane) for lane in lanes))

    return on_lanes


def _reversed(function: Callable) -> Callable:
    return lambda a, b: function(b, a)


_BINARY = "add", "sub", "mul", "truediv", "pow"
_OTHERS = "neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge", "and_", "or_"
for _name in _BINARY:
    _operation = getattr(operator, _name)
    setattr(Four, f"__{_name}__", lanewise(_operation))
    setattr(Four, f"__r{_name}__", lanewise(_reversed(_operation)))
for _name in _OTHERS:
    setattr(Four, f"__{_name.strip('_')}__", lanewise(getattr(operator, _name)))


def pack(a, b, c, d):
    """Four numbers as one."""
    return Four(a, b, c, d)


def unpack(four):
    """The tuple of the four numbers."""
    return four.lanes


def swapped(four, k):
    """Lane l has what lane l ^ k had; k is a constant."""
    return Four(*(four.lanes[lane ^ k] for lane in LANES))


def where(flags, a, b):
    """On each lane ``a`` where the flag is not 0, else ``b``; on tuples of fours."""
    if isinstance(a, tuple):
        return tuple(where(flags, x, y) for x, y in zip(a, b, strict=True))
    return Four(*(x if f else y for f, x, y in zip(flags.lanes, a.lanes, b.lanes, strict=True)))


def each(function, rows):
    """(function(a[0], b[0], …), function(a[1], b[1], …), …) of rows = (a, b, …).

    A row that is no tuple is the same argument every time.
    """
    count = max(len(row) for row in rows if isinstance(row, tuple))
    columns = ([row[i] if isinstance(row, tuple) else row for row in rows] for i in range(count))
    return tuple(function(*column) for column in columns)


def at_once(function, fours, shared):
    """function(*fours, *shared) on each lane, ``fours`` being fours or tuples of them.

    Compiled, all lanes at once if that can be, else one after the other, with the same bits.
    """

    def lane(value, i):
        return tuple(lane(x, i) for x in value) if isinstance(value, tuple) else value.lanes[i]

    def packed(*values):
        return tuple(map(packed, *values)) if isinstance(values[0], tuple) else Four(*values)

    return packed(*(function(*(lane(x, i) for x in fours), *shared) for i in LANES))


def on_aligned_stack():
    """To be called in a loop whose vectors do not all fit into registers: they are found faster."""


def if_it_can(first, second, args):
    """first(*args) where the compiler takes it, else second(*args), as in plain Python."""
    return second(*args)


def combined_fours(weights, rows):
    """``combined`` of fours."""
    return combined(weights, rows)


# ---- bodies in arrays
def column(array, place, stride, pattern):
    """A nested tuple like ``pattern`` from ``array[place]``, ``array[place + stride]``, …."""
    return like(pattern, iter(array[place::stride].tolist()))


def put_column(array, place, stride, value):
    """Write the numbers of a nested tuple there."""
    numbers = flat(value)
    array[place : place + stride * len(numbers) : stride] = numbers


def columns(array, place, stride, pattern):
    """Four neighbours at once: the nested tuple of fours from ``place`` and the three behind it."""
    lanes = [column(array, place + lane, stride, pattern) for lane in LANES]
    return like(pattern, map(Four, *map(flat, lanes)))


def put_columns(array, place, stride, value):
    for lane in LANES:
        numbers = (x.lanes[lane] if isinstance(x, Four) else x for x in flat(value))
        put_column(array, place + lane, stride, tuple(numbers))


def everywhere(x):
    """The number x in all lanes."""
    return pack(x, x, x, x)


def total(four):
    """The sum of the lanes, by pairs."""
    a, b, c, d = unpack(four)
    return (a + b) + (c + d)


def _blend(m, a, b):
    if isinstance(a, tuple):
        return tuple(_blend(m, x, y) for x, y in zip(a, b, strict=True))
    return lanewise(blend)(m, a, b)


def _finite(value):
    numbers = (x for y in flat(value) for x in (y.lanes if isinstance(y, Four) else (y,)))
    return finite(tuple(numbers))


_ONE: tuple[Callable, ...] = (
    *(math.sqrt, math.fabs, math.exp, math.expm1, math.log, math.log1p, math.log2, math.log10),
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan),
    *(math.sinh, math.cosh, math.tanh, math.asinh, math.acosh, math.atanh),
    *(math.erf, math.erfc, math.gamma, math.lgamma),
)
_TWO: tuple[Callable, ...] = math.atan2, math.hypot, math.copysign, math.pow, math.fmod
_PLAIN: tuple[Callable, ...] = (rint, mask, min, max, float, *_ONE, *_TWO)
ON_FOUR: dict[Callable, Callable] = {
    **{function: lanewise(function) for function in _PLAIN},
    blend: _blend,
    finite: _finite,
}


# ---- the types
class FourType(nt.Type):
    def __init__(self):
        super().__init__(name="Four")

    def can_convert_from(self, typingctx, other):
        return typingctx.can_convert(other, nt.float64) and None

    def unify(self, typingctx, other):
        """A variable that is a number here and four there is four."""
        return self if isinstance(other, nt.Number) else None


class FlagsType(nt.Type):
    """Four conditions."""

    def __init__(self):
        super().__init__(name="FourFlags")


FOUR, FLAGS = FourType(), FlagsType()
V, B = ir.VectorType(F8, WIDTH), ir.VectorType(ir.IntType(1), WIDTH)
VI = ir.VectorType(I64, WIDTH)


@register_model(FourType)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, V)


@register_model(FlagsType)
class _FlagsModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, B)


def _spread(builder, x):
    """A scalar in all lanes."""
    kind = ir.VectorType(x.type, WIDTH)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), x, I32(0))
    places = ir.Constant(ir.VectorType(I32, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), places)


def _wide(builder, x):
    return x if isinstance(x.type, ir.VectorType) else _spread(builder, x)


def _fours(args) -> bool:
    """Numbers, at least one of them four."""
    numbers = FourType, nt.Float, nt.Integer
    return any(isinstance(a, FourType) for a in args) and all(isinstance(a, numbers) for a in args)


def _as_given(args) -> list:
    return [a if isinstance(a, FourType) else nt.float64 for a in args]


@lower_cast(nt.Number, FourType)
def _cast(context, builder, from_type, to_type, x):
    return _spread(builder, context.cast(builder, x, from_type, nt.float64))


# ---- operators
def _operator(function: Callable, result: nt.Type, lower: Callable) -> None:
    """Typing and code of an operator; ``lower(builder, a, b)`` sees vectors."""

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and _fours(args):
                return signature(result, *_as_given(args))
            return None

    def code(context, builder, sig, args):
        return lower(builder, *(_wide(builder, x) for x in args))

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
    return builder.call(_declared(builder, "fabs", 1), [x])


def _declared(builder, name: str, count: int):
    kind = ir.FunctionType(V, [V] * count)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f64")


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
        if len(args) != 2 or not _fours(args):
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
    """x to a whole power, by the products that Numba makes for one number."""
    result, left = _wider(1.0), abs(n)
    while left != 0:
        if left & 1:
            result = result * x
        left >>= 1
        x = x * x
    return 1.0 / result if n < 0 else result


def _lane_powers(x, y):
    a, b, c, d = _unpack(x)
    p, q, r, s = _unpack(y)
    return _pack(a**p, b**q, c**r, d**s)


def _overloaded(function: Callable) -> None:
    """A function of ``math``, lane by lane; the square root is one instruction."""

    @overload(function)
    def one(x):
        if not isinstance(x, FourType):
            return None
        if function is math.sqrt:
            return lambda x: _sqrt(x)
        if function is math.fabs:
            return lambda x: abs(x)

        def lanes(x):
            a, b, c, d = _unpack(x)
            return _pack(function(a), function(b), function(c), function(d))

        return lanes


def _overloaded2(function: Callable) -> None:
    @overload(function)
    def two(x, y):
        if not _fours((x, y)):
            return None

        def lanes(x, y):
            a, b, c, d = _unpack(_wider(x))
            p, q, r, s = _unpack(_wider(y))
            return _pack(function(a, p), function(b, q), function(c, r), function(d, s))

        return lanes


def _extreme(function: Callable, sign: str) -> None:
    """``min`` or ``max`` of two or more: the later one only where it is less, or more."""

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) > 1 and _fours(args):
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
for _of_one in _ONE:
    _overloaded(_of_one)
for _of_two in _TWO:
    _overloaded2(_of_two)


# ---- primitives
def _primitive(name: str) -> Callable:
    """An intrinsic whose name says which version of this file it is from."""

    def made(function):
        function.__name__ = f"{name}_{_SALT}"
        return intrinsic(function)

    return made


@_primitive("pack")
def _pack(_, a, b, c, d):
    def lower(context, builder, sig, args):
        four = ir.Constant(V, ir.Undefined)
        for lane, x in enumerate(args):
            four = builder.insert_element(four, x, I32(lane))
        return four

    return FOUR(*[nt.float64] * WIDTH), lower


@_primitive("unpack")
def _unpack(_, four):
    def lower(context, builder, sig, args):
        lanes = [builder.extract_element(args[0], I32(lane)) for lane in LANES]
        return context.make_tuple(builder, sig.return_type, lanes)

    return nt.UniTuple(nt.float64, WIDTH)(FOUR), lower


@_primitive("swapped")
def _swapped(_, four, k):
    if not isinstance(k, nt.IntegerLiteral):
        return None

    def lower(context, builder, sig, args):
        places = ir.Constant(ir.VectorType(I32, WIDTH), [lane ^ k.literal_value for lane in LANES])
        return builder.shuffle_vector(args[0], ir.Constant(V, ir.Undefined), places)

    return FOUR(FOUR, k), lower


@_primitive("wider")
def _wider(_, x):
    def lower(context, builder, sig, args):
        return _wide(builder, args[0])

    return FOUR(*_as_given([x])), lower


@_primitive("sqrt")
def _sqrt(_, four):
    def lower(context, builder, sig, args):
        return builder.call(_declared(builder, "sqrt", 1), args)

    return FOUR(FOUR), lower


@_primitive("fma")
def _fma(_, a, b, c):
    if not _fours((a, b, c)):
        return nt.float64(*[nt.float64] * 3), lambda context, builder, sig, args: builder.fma(*args)

    def lower(context, builder, sig, args):
        return builder.call(_declared(builder, "fma", 3), [_wide(builder, x) for x in args])

    return FOUR(*_as_given((a, b, c))), lower


def _of_either(name: str, single: Callable, kind: nt.Type, lower: Callable) -> Callable:
    """The primitive of one argument that is ``single`` but for arguments of this kind."""
    before = single._defn  # type: ignore[attr-defined]

    @_primitive(name)
    def either(typing, x):
        if x == kind:
            return FOUR(kind), lower
        return before(typing, x)

    return either


def _lower_rint(context, builder, sig, args):
    return builder.call(_declared(builder, "rint", 1), args)


def _lower_mask(context, builder, sig, args):
    return builder.bitcast(builder.sext(args[0], VI), V)


@_primitive("blend")
def _blend4(typing, m, a, b):
    if m != FOUR:
        return _compile._blend._defn(typing, m, a, b)

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


@_primitive("where")
def _where(_, flags, a, b):
    def lower(context, builder, sig, args):
        chosen = builder.fcmp_unordered("!=", args[0], ir.Constant(V, [0.0] * WIDTH))
        part = builder.extract_value

        def walk(kind, a, b):
            if isinstance(kind, nt.BaseTuple):
                parts = [walk(k, part(a, i), part(b, i)) for i, k in enumerate(kind)]
                return context.make_tuple(builder, kind, parts)
            return builder.select(chosen, a, b)

        return walk(a, args[1], args[2])

    return a(FOUR, a, a), lower


@_primitive("finite")
def _finite4(_, value):
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


@_primitive("each")
def _each(typing, function, rows):
    tuples = [isinstance(row, nt.BaseTuple) for row in rows]
    count = max(len(row) for row, is_tuple in zip(rows, tuples, strict=True) if is_tuple)
    columns = [
        tuple(row[i] if is_tuple else row for row, is_tuple in zip(rows, tuples, strict=True))
        for i in range(count)
    ]
    calls = [function.get_call_type(typing, column, {}) for column in columns]
    kind = nt.BaseTuple.from_types([call.return_type for call in calls])

    def lower(context, builder, sig, args):
        part = builder.extract_value
        given = [part(args[1], j) for j in range(len(rows))]
        results = []
        for i, (call, column) in enumerate(zip(calls, columns, strict=True)):
            code = context.get_function(sig.args[0], call)
            values = [part(x, i) if t else x for x, t in zip(given, tuples, strict=True)]
            values = [
                context.cast(builder, x, had, wanted)
                for x, had, wanted in zip(values, column, call.args, strict=True)
            ]
            results.append(code(builder, values))
        return context.make_tuple(builder, kind, results)

    return kind(function, rows), lower


def _with_numbers(kind, number: nt.Type):
    """A nesting of tuples with another type for the numbers in it."""
    if isinstance(kind, nt.BaseTuple):
        return nt.BaseTuple.from_types([_with_numbers(k, number) for k in kind])
    return number


@_primitive("at_once")
def _at_once(typing, function, fours, shared):
    together = True
    try:
        call = function.get_call_type(typing, (*fours, *shared), {})
    except NumbaError:
        together = False
        numbers = [_with_numbers(kind, nt.float64) for kind in fours]
        call = function.get_call_type(typing, (*numbers, *shared), {})
    result = _with_numbers(call.return_type, FOUR)

    def lower(context, builder, sig, args):
        part = builder.extract_value
        code = context.get_function(sig.args[0], call)
        rest = [part(args[2], i) for i in range(len(shared))]
        given = [part(args[1], i) for i in range(len(fours))]

        def called(values):
            had = (*([*fours] if together else numbers), *shared)
            cast = zip([*values, *rest], had, call.args, strict=True)
            return code(builder, [context.cast(builder, x, old, new) for x, old, new in cast])

        def lane(kind, value, i):
            if isinstance(kind, nt.BaseTuple):
                parts = [lane(k, part(value, j), i) for j, k in enumerate(kind)]
                return context.make_tuple(builder, _with_numbers(kind, nt.float64), parts)
            return builder.extract_element(value, I32(i))

        def packed(kind, values):
            """One value of fours, or one of each lane, as a value of fours."""
            if isinstance(kind, nt.BaseTuple):
                parts = [packed(k, [part(x, j) for x in values]) for j, k in enumerate(kind)]
                return context.make_tuple(builder, _with_numbers(kind, FOUR), parts)
            if together:
                return context.cast(builder, values[0], kind, FOUR)
            four = ir.Constant(V, ir.Undefined)
            for i, x in enumerate(values):
                number = context.cast(builder, x, kind, nt.float64)
                four = builder.insert_element(four, number, I32(i))
            return four

        if together:
            return packed(call.return_type, [called(given)])
        ends = [called([lane(k, x, i) for k, x in zip(fours, given, strict=True)]) for i in LANES]
        return packed(call.return_type, ends)

    return result(function, fours, shared), lower


@_primitive("on_aligned_stack")
def _on_aligned_stack(_):
    def lower(context, builder, sig, args):
        place = cgutils.alloca_once(builder, V)
        place.align = 8 * WIDTH
        kind = ir.FunctionType(ir.VoidType(), [place.type])
        builder.asm(kind, "", "r", [place], True)  # else it would be optimised away
        return context.get_dummy_value()

    return nt.void(), lower


@_primitive("if_it_can")
def _if_it_can(typing, first, second, args):
    try:
        call = first.get_call_type(typing, tuple(args), {})
    except NumbaError:
        call, place = second.get_call_type(typing, tuple(args), {}), 1
    else:
        place = 0

    def lower(context, builder, sig, values):
        code = context.get_function(sig.args[place], call)
        given = [builder.extract_value(values[2], i) for i in range(len(args))]
        cast = zip(given, args, call.args, strict=True)
        return code(builder, [context.cast(builder, x, old, new) for x, old, new in cast])

    return call.return_type(first, second, args), lower


# ---- bodies in arrays
def _places(context, builder, sig, args):
    """The addresses of ``array[place]``, ``array[place + stride]``, …."""
    data = context.make_array(sig.args[0])(context, builder, args[0]).data
    for i in itertools.count():
        place = builder.add(args[1], builder.mul(args[2], I64(i)))
        yield builder.gep(data, [place], inbounds=True)


def _wide_places(context, builder, sig, args):
    for place in _places(context, builder, sig, args):
        yield builder.bitcast(place, V.as_pointer())


def _reader(name: str, number: nt.Type, addresses: Callable) -> Callable:
    @_primitive(name)
    def reader(_, array, place, stride, pattern):
        kind = _with_numbers(pattern, number)

        def lower(context, builder, sig, args):
            places = addresses(context, builder, sig, args)

            def read(kind):
                if isinstance(kind, nt.BaseTuple):
                    return context.make_tuple(builder, kind, [read(k) for k in kind])
                loaded = builder.load(next(places))
                loaded.align = 8
                return loaded

            return read(kind)

        return kind(array, nt.int64, nt.int64, pattern), lower

    return reader


def _writer(name: str, number: nt.Type, addresses: Callable) -> Callable:
    @_primitive(name)
    def writer(_, array, place, stride, value):
        def lower(context, builder, sig, args):
            places = addresses(context, builder, sig, args)

            def write(kind, value):
                if isinstance(kind, nt.BaseTuple):
                    for i, k in enumerate(kind):
                        write(k, builder.extract_value(value, i))
                    return
                stored = builder.store(context.cast(builder, value, kind, number), next(places))
                stored.align = 8

            write(value, args[3])
            return context.get_dummy_value()

        return nt.void(array, nt.int64, nt.int64, value), lower

    return writer


@_primitive("combined_fours")
def _combined_fours(_, weights, rows):
    def lower(context, builder, sig, args):
        part = builder.extract_value

        def wide(kind, value):
            return context.cast(builder, value, kind, FOUR)

        factors = [wide(kind, part(args[0], j)) for j, kind in enumerate(weights)]
        sums = []
        for i in range(len(rows[0])):
            terms = [wide(row[i], part(part(args[1], j), i)) for j, row in enumerate(rows)]
            done = builder.fmul(factors[0], terms[0])
            for factor, term in zip(factors[1:], terms[1:], strict=True):
                done = builder.call(_declared(builder, "fma", 3), [factor, term, done])
            sums.append(done)
        return context.make_tuple(builder, sig.return_type, sums)

    return nt.UniTuple(FOUR, len(rows[0]))(weights, rows), lower


def table(rows: Sequence) -> Callable:
    """i -> rows[i], as one load; rows of four numbers become a ``Four``."""
    rows = tuple(rows)
    kind, memory_kind = {tuple: (FOUR, V), int: (nt.int64, I64)}.get(
        type(rows[0]), (nt.float64, F8)
    )
    name = f"table_{hashlib.sha256(repr(rows).encode()).hexdigest()[:16]}"

    def looked_up(i):
        row = rows[i]
        return Four(*row) if isinstance(row, tuple) else row

    @_primitive(name)
    def machine(_, i):
        def lower(context, builder, sig, args):
            constants = [ir.Constant(memory_kind, _listed(row)) for row in rows]
            values = ir.Constant(ir.ArrayType(memory_kind, len(rows)), constants)
            memory = cgutils.global_constant(builder, name, values)
            return builder.load(builder.gep(memory, [I64(0), args[0]], inbounds=True))

        return kind(nt.int64), lower

    PRIMITIVES[looked_up] = machine
    return looked_up


def _listed(row):
    return list(map(float, row)) if isinstance(row, tuple) else row


PRIMITIVES.update(
    {
        pack: _pack,
        unpack: _unpack,
        swapped: _swapped,
        where: _where,
        each: _each,
        at_once: _at_once,
        fma: _fma,
        rint: _of_either("rint", _compile._rint, FOUR, _lower_rint),
        mask: _of_either("mask", _compile._mask, FLAGS, _lower_mask),
        blend: _blend4,
        finite: _finite4,
        combined_fours: _combined_fours,
        on_aligned_stack: _on_aligned_stack,
        if_it_can: _if_it_can,
        column: _reader("column", nt.float64, _places),
        put_column: _writer("put_column", nt.float64, _places),
        columns: _reader("columns", FOUR, _wide_places),
        put_columns: _writer("put_columns", FOUR, _wide_places),
    }
)
