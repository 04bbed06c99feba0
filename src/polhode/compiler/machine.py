"""Machine code from trees of plain functions, by Numba.

Kernels, methods, models and loops are plain functions of scalars and nested tuples.
``compiled(function)`` compiles the whole tree below ``function`` and caches it on disk under the
*content* of the tree; ``lanes(width)`` is the loop over a block of bodies in SIMD lanes.

No fastmath: every fused multiply-add is written ``fma(a, b, c)``, so one body, SIMD lanes and plain
Python with an exact ``fma`` do the same IEEE operations and agree to the last bit.

The environment variable ``POLHODE_CACHE=0`` turns the disk cache off.  The cache lies beside the
library, or in the user's cache directory where the library cannot be written (Numba's rule;
``NUMBA_CACHE_DIR`` moves it).  ``POLHODE_MESSAGES=0`` turns off the line that says that something
is being compiled.
"""

import functools
import gc
import hashlib
import importlib
import itertools
import math
import os
import re
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
from llvmlite import binding as llvm
from llvmlite import ir
from numba import types as nt
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numba.np import linalg as numba_linalg

from polhode.compiler.announce import announced
from polhode.compiler.disk_cache import open_cache
from polhode.compiler.inlined import CheckedCompiler, InlinedCompiler, LeanCompiler
from polhode.compiler.traced import (
    DEEPEST,
    FORMS,
    Traced,
    can_be_called,
    for_numbers,
    has_branches,
    is_pure,
)
from polhode.compiler.tree import (
    PRIMITIVES,
    Uncacheable,
    Wide,
    copied,
    digest,
    flat,
    form_of,
    gather,
    spread,
    walkable,
)
from polhode.compiler.wide import WideType
from polhode.errors import PolhodeWarning

# Bodies in a block; slot c of body l is block[c * LANES + l].  No power of two: slots would be
# whole pages apart, and processors take a load from one for a load of what was stored in another.
LANES = 80
PACKAGE = __name__.partition(".")[0]
OPTIONS = {"error_model": "numpy", "nogil": True}
F8, I64, I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)


# ---- primitives: plain here, one or a few instructions compiled
def fma(a, b, c):
    """Return a * b + c, rounded once when compiled; of any kind of number in plain Python."""
    return a * b + c


def rint(x):
    """Round to the nearest integer, halves to even, as a float; infinities and NaN stay."""
    return float(round(x)) if x - x == 0 else x


def exponent(x):
    """Return the exponent of a positive normal number, a whole float: 2^e <= x < 2^(e + 1)."""
    return math.frexp(x)[1] - 1.0


def power_of_two(n):
    """Return 2^n of a whole float from -1022 to 1023."""
    return 2.0**n


def mask(condition):
    """Make a mask for ``blend``: a float whose bits, compiled, are all ones or all zeros."""
    return 1.0 if condition else 0.0


def blend(m, a, b):
    """Select ``a`` where the mask is set, else ``b``, in nested tuples.

    (A select between a new and a loaded value would become a masked store, which is slow.)
    """
    return a if m else b


def finite(value):
    """Whether every float of a nested tuple is finite."""
    return all(x - x == 0 for x in flat(value))


def put(array, row, value):
    """Write a nested tuple of floats into a row of a two-dimensional array, from its start."""
    numbers = spread(value)
    array[row, : len(numbers)] = numbers


def take(array, row, column, pattern):
    """Read a nested tuple like ``pattern`` from a row of an array, starting at a column."""
    return gather(pattern, iter(array[row, column:].tolist()))


class NotThree(TypeError):
    """What a user's function returned is not three numbers."""


def three_floats(value):
    """Return the three numbers that a user's function returned, as floats; checked in Python."""
    try:
        x, y, z = value
        return float(x), float(y), float(z)
    except (TypeError, ValueError):
        raise NotThree(f"must return three numbers, returned {value!r}") from None


def combined(weights, rows):
    """Return Σ weights[j] rows[j] of flat tuples, summed in order, by ``fma`` after the first.

    Compiled, the components lie in SIMD vectors.
    """
    total = [weights[0] * x for x in rows[0]]
    for weight, row in zip(weights[1:], rows[1:], strict=True):
        total = [fma(weight, x, done) for x, done in zip(row, total, strict=True)]
    return tuple(total)


def over_lanes(function, block, shared, slots):
    """Set ``block[:, l] = function(shared, block[:, l])`` for each lane l of a block.

    Only the type of ``slots`` is used.  What ``function`` returns overwrites the first slots, in
    order.  ``shared`` is the same for all lanes (times, step, tables).
    """
    for lane in range(LANES):
        column = block[lane::LANES]
        new = spread(function(shared, gather(slots, iter(column.tolist()))))
        column[: len(new)] = new


FURTHER: dict[str, list[Callable]] = {}  # name of a primitive -> definitions for other numbers


def extensible(name: str, define: Callable) -> Callable:
    """Return the definition of a primitive, preceded by those that are put into ``FURTHER``.

    They return None where there are none of their numbers.  Trees without these numbers stay the
    same, whether there are such definitions or not, and so do their digests.
    """
    further = FURTHER.setdefault(name, [])

    @functools.wraps(define)
    def definition(typing, *args):
        for form in further:
            if (found := form(typing, *args)) is not None:
                return found
        return define(typing, *args)

    return definition


@intrinsic
def _fma(_, a, b, c):
    def lower(context, builder, signature, args):
        return builder.fma(*args)

    return nt.float64(nt.float64, nt.float64, nt.float64), lower


def define_rint(_, x):
    """Type and lower ``rint`` of one body."""

    def lower(context, builder, signature, args):
        return builder.call(builder.module.declare_intrinsic("llvm.rint", [F8]), args)

    return nt.float64(nt.float64), lower


_rint = intrinsic(define_rint)


BIAS = 2.0**52 + 1023.0  # the last bits of this float plus n, moved up, are those of 2^n


def lower_exponent(builder, x, number, whole):
    """Return ``exponent`` by bits, of one number or of a vector."""
    high = builder.lshr(builder.bitcast(x, whole), constant(whole, 52))
    return builder.fsub(
        builder.bitcast(builder.or_(high, constant(whole, 0x433 << 52)), number),
        constant(number, BIAS),
    )


def lower_power_of_two(builder, n, number, whole):
    """Return ``power_of_two`` by bits, of one number or of a vector."""
    biased = builder.fadd(n, constant(number, BIAS))
    moved_up = builder.shl(builder.bitcast(biased, whole), constant(whole, 52))
    return builder.bitcast(moved_up, number)


def constant(kind, value):
    """Return a constant, the same in all lanes of a vector."""
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [value] * kind.count)
    return ir.Constant(kind, value)


def of_bits(lower: Callable) -> Callable:
    """Return what types and lowers a function of the bits of one number."""

    def define(_, x):
        def lower_one(context, builder, signature, args):
            return lower(builder, args[0], F8, I64)

        return nt.float64(nt.float64), lower_one

    return define


define_exponent, define_power_of_two = of_bits(lower_exponent), of_bits(lower_power_of_two)
_exponent, _power_of_two = intrinsic(define_exponent), intrinsic(define_power_of_two)


def define_mask(_, condition):
    """Type and lower ``mask`` of one body."""

    def lower(context, builder, signature, args):
        return builder.bitcast(builder.sext(args[0], I64), F8)

    return nt.float64(nt.boolean), lower


_mask = intrinsic(define_mask)


def define_blend(_, m, a, b):
    """Type and lower ``blend`` of one body."""

    def lower(context, builder, signature, args):
        bits = builder.bitcast(args[0], I64)

        def walk(kind, a, b):
            if isinstance(kind, nt.BaseTuple):
                part = builder.extract_value
                parts = [walk(k, part(a, i), part(b, i)) for i, k in enumerate(kind)]
                return context.make_tuple(builder, kind, parts)
            a = builder.and_(bits, builder.bitcast(a, I64))
            b = builder.and_(builder.not_(bits), builder.bitcast(b, I64))
            return builder.bitcast(builder.or_(a, b), F8)

        return walk(a, args[1], args[2])

    return a(nt.float64, a, a), lower


_blend = intrinsic(define_blend)


@intrinsic
def _finite(_, value):
    def lower(context, builder, signature, args):
        def total(kind, x):
            """The sum of x - x: zero, or NaN if one of them is not finite."""
            if isinstance(kind, nt.BaseTuple):
                parts = [total(k, builder.extract_value(x, i)) for i, k in enumerate(kind)]
                return functools.reduce(builder.fadd, parts, F8(0.0))
            return builder.fsub(x, x)

        return builder.fcmp_ordered("==", total(value, args[0]), F8(0.0))

    return nt.boolean(value), lower


def _define_combined(_, weights, rows):
    """Sum in vectors of four; the rest of the last one is zero."""
    one, width = rows[0], 4
    kind = ir.VectorType(F8, width)

    def lower(context, builder, signature, args):
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * 3), f"llvm.fma.v{width}f64"
        )

        def vector(parts):
            made = ir.Constant(kind, [0.0] * width)
            for lane, part in enumerate(parts):
                made = builder.insert_element(made, part, I32(lane))
            return made

        def gathered(row, group):
            return vector([builder.extract_value(row, i) for i in group])

        ws = [vector([builder.extract_value(args[0], j)] * width) for j in range(len(weights))]
        vs = [builder.extract_value(args[1], j) for j in range(len(rows))]
        parts = []
        for i in range(0, len(one), width):
            group = range(i, min(i + width, len(one)))
            total = builder.fmul(ws[0], gathered(vs[0], group))
            for weight, row in zip(ws[1:], vs[1:], strict=True):
                total = builder.call(fused, [weight, gathered(row, group), total])
            parts += [builder.extract_element(total, I32(i)) for i in range(len(group))]
        return context.make_tuple(builder, one, parts)

    return one(weights, rows), lower


_combined = intrinsic(extensible("combined", _define_combined))


def _load(context, builder, kind, places):
    """Load a value of the nested tuple type ``kind`` from the next ``places``."""
    if isinstance(kind, nt.BaseTuple):
        parts = [_load(context, builder, k, places) for k in kind]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, WideType):
        loaded = [_load_part(builder, part, places) for part in kind.part_kinds()]
        return kind.put_together(context, builder, iter(loaded))
    return builder.load(next(places))


def _load_part(builder, kind, places):
    if not isinstance(kind, ir.VectorType):
        return builder.load(next(places))
    vector = ir.Constant(kind, ir.Undefined)
    for lane in range(kind.count):
        vector = builder.insert_element(vector, builder.load(next(places)), I32(lane))
    return vector


def _store(context, builder, kind, value, places):
    if isinstance(kind, nt.BaseTuple):
        for i, k in enumerate(kind):
            _store(context, builder, k, builder.extract_value(value, i), places)
    elif isinstance(kind, WideType):
        for part in kind.taken_apart(builder, value):
            if not isinstance(part.type, ir.VectorType):
                builder.store(part, next(places))
                continue
            for lane in range(part.type.count):
                builder.store(builder.extract_element(part, I32(lane)), next(places))
    else:
        builder.store(context.cast(builder, value, kind, nt.float64), next(places))


@intrinsic
def _put(_, array, row, value):
    def lower(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        first = builder.mul(args[1], builder.extract_value(view.shape, 1))
        places = (builder.gep(view.data, [builder.add(first, I64(i))]) for i in itertools.count())
        _store(context, builder, value, args[2], places)
        return context.get_dummy_value()

    return nt.void(array, nt.int64, value), lower


@intrinsic
def _take(_, array, row, column, pattern):
    def lower(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        first = builder.mul(args[1], builder.extract_value(view.shape, 1))
        first = builder.add(first, args[2])
        places = (builder.gep(view.data, [builder.add(first, I64(i))]) for i in itertools.count())
        return _load(context, builder, pattern, places)

    return pattern(array, nt.int64, nt.int64, pattern), lower


@functools.cache
def lanes(width: int) -> Callable:
    """Compile ``over_lanes`` to SIMD vectors of ``width`` doubles (1: a plain loop)."""

    def plain(function, block, shared, slots):
        return over_lanes(function, block, shared, slots)

    @intrinsic
    def lane_loop(typing, function, block, shared, slots):
        call = function.get_call_type(typing, (shared, slots), {})

        def lower(context, builder, signature, args):
            data = context.make_array(signature.args[1])(context, builder, args[1]).data
            step = context.get_function(signature.args[0], call)
            align_stack(builder)
            before = builder.block
            body = builder.append_basic_block("lane")
            after = builder.append_basic_block("after")
            builder.branch(body)
            builder.position_at_end(body)
            lane = builder.phi(I64)
            lane.add_incoming(I64(0), before)

            def addresses():
                for first in itertools.count(0, LANES):
                    place = builder.add(lane, I64(first), flags=("nsw", "nuw"))
                    yield builder.gep(data, [place], inbounds=True)

            value = _load(context, builder, slots, addresses())
            result = step(builder, [args[2], value])
            _store(context, builder, call.return_type, result, addresses())
            following = builder.add(lane, I64(1), flags=("nsw", "nuw"))
            lane.add_incoming(following, builder.block)
            more = builder.icmp_signed("<", following, I64(LANES))
            _hint(builder.module, builder.cbranch(more, body, after), width)
            builder.position_at_end(after)
            return context.get_dummy_value()

        return nt.void(function, block, shared, slots), lower

    lane_loop.__name__ = f"lanes{width}"
    PRIMITIVES[plain] = lane_loop
    return plain


def align_stack(builder) -> None:
    """Align the stack: vectors spilled across cache lines would load more slowly."""
    width = max(4, machine_width())
    place = cgutils.alloca_once(builder, ir.VectorType(F8, width))
    place.align = 8 * width
    kind = ir.FunctionType(ir.VoidType(), [place.type])
    builder.asm(kind, "", "r", [place], True)  # else it would be optimised away


@functools.cache
def machine_width() -> int:
    """Return the number of doubles in a vector of this machine, or of ``NUMBA_CPU_FEATURES``."""
    asked = numba.config.CPU_FEATURES
    has = (llvm.get_host_cpu_features().flatten() if asked is None else asked).split(",")
    return 8 if "+avx512f" in has else 4 if "+avx" in has else 2


def _hint(module, branch, width):
    """Tell LLVM's vectoriser how wide to make the loop that ``branch`` closes.

    Where that is not possible it stays a plain loop, with the same bits.
    """
    one = min(width, machine_width())
    hints = ("llvm.loop.vectorize.width", one), ("llvm.loop.interleave.count", width // one)
    try:
        nodes = [module.add_metadata([ir.MetaDataString(module, k), I32(v)]) for k, v in hints]
        loop = module.add_metadata([I64(len(module.metadata)), *nodes])
        loop.operands = (loop, *nodes)  # a loop's metadata names itself first
        branch.set_metadata("llvm.loop", loop)
    except (AttributeError, TypeError):
        return


def _spare_blas() -> None:
    """Skip Numba's check that SciPy has a BLAS, which takes a fifth of a warm start.

    Numba checks again when machine code needs one, and SciPy, which we require, always has it.
    """
    asked = getattr(numba_linalg, "ensure_blas", None)
    if asked is None:
        return
    numba_linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        numba_linalg.ensure_blas = asked


def _three_floats(value):
    return float(value[0]), float(value[1]), float(value[2])


def _three_numbers(value):
    as_float = for_numbers(float)
    return as_float(value[0]), as_float(value[1]), as_float(value[2])


_spare_blas()
PRIMITIVES.update({fma: _fma, rint: _rint, mask: _mask, blend: _blend, finite: _finite})
PRIMITIVES.update({put: _put, take: _take, combined: _combined})
PRIMITIVES.update({exponent: _exponent, power_of_two: _power_of_two})
INLINED: dict = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
PRIMITIVES[three_floats] = Traced(
    _three_floats,
    _three_numbers,
    functools.cache(lambda: numba.njit(**INLINED, **OPTIONS)(_three_floats)),
)


# ---- compiling a tree
@functools.cache
def _salt() -> str:
    """Hash the files of this room that also determine the machine code."""
    files = (
        Path(__file__).with_name(name)
        for name in ("tree.py", "machine.py", "traced.py", "inlined.py", "wide.py")
    )
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


_dispatchers: dict = {}  # digest -> dispatcher: kernels shared by trees are compiled once


def caching() -> bool:
    """Whether compiled loops are cached on disk."""
    return os.environ.get("POLHODE_CACHE", "1") != "0"


def compiled(function: Callable):
    """Return the dispatcher of ``function``, with everything below it inlined."""
    change = _change_of_tree({function: function})
    return _dispatcher(function, change, small=False)


def inlined(function: Callable):
    """Return what stands for a tree in functions that Numba compiles."""
    return _change_of_tree({})(function)


def _change_of_tree(parts: dict) -> Callable:
    """Return what turns a value of a tree into what stands for it in machine code.

    ``parts`` holds what stands for the functions so far.
    """

    def change(value):
        if isinstance(value, types.FunctionType) and value in PRIMITIVES:
            return form_of(value)
        if not walkable(value):
            for number in flat(value) if isinstance(value, (tuple, Wide)) else ():
                if isinstance(number, Wide):
                    number.kind()
            return value
        if value not in parts:
            parts[value] = value  # one that calls itself stays as it is, and Numba refuses the tree
            parts[value] = _part(value, change)
        return parts[value]

    return change


def _is_ours(function: Callable) -> bool:
    return (function.__module__ or "").partition(".")[0] == PACKAGE


def _part(function: Callable, change: Callable):
    """Make what stands for a function below the root: ``Traced`` if it can be, or a dispatcher."""
    dispatcher = functools.cache(lambda: _dispatcher(function, change, True))
    ours = _is_ours(function)
    if not (can_be_called(function.__code__) and (ours or is_pure(function))):
        return dispatcher()
    depth = 0

    def for_number(value):
        nonlocal depth
        if isinstance(value, types.FunctionType) and value in FORMS:
            return FORMS[value]
        value = change(value)
        if isinstance(value, Traced):
            depth = max(depth, value.depth)
        return for_numbers(value)

    copy = copied(function, for_number, always=True)
    depth += has_branches(function.__code__)
    if depth > DEEPEST:
        return dispatcher()
    return Traced(function, copy, dispatcher, depth, checked=not ours)


def _dispatcher(function: Callable, change: Callable, small: bool):
    """Make Numba's dispatcher of a copy of ``function``; what it calls passes through ``change``.

    A ``small`` one is only ever inlined.  Wrappers for calls from Python, which convert nested
    tuples, would take three quarters of its compile time, machine code of its own a seventh.
    """
    try:
        name = digest(function, _salt())
    except Uncacheable:
        name = None
    if (name, small) in _dispatchers:
        return _dispatchers[name, small]
    cache = name is not None and not small and caching()
    copy = copied(function, change, always=True)  # freezes the globals as the digest saw them
    copy.__qualname__ = f"{function.__name__.strip('<>')}_{name or 'once'}"
    copy.__module__ = function.__module__ if cache else __name__  # importable from the cache
    options: dict = {"no_cfunc_wrapper": True, "pipeline_class": LeanCompiler}
    if small:
        options = dict(INLINED)
        options["pipeline_class"] = InlinedCompiler if _is_ours(function) else CheckedCompiler
    machine = numba.njit(**options, **OPTIONS)(copy)
    if cache:
        machine._cache = open_cache(copy)
    if name is not None:
        _dispatchers[name, small] = machine
    return machine


def _reason(error: Exception) -> str:
    """Return the first informative line of Numba's message."""
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()]
    said = [line for line in lines if line and not line.startswith(("Failed in", "During", "File"))]
    return said[0] if said else type(error).__name__


_refreshing = threading.RLock()  # other threads wait to compile, as they do in Numba


@contextmanager
def _refreshed_once() -> Iterator[None]:
    """Let Numba import all its modules once, and not again whenever it looks for definitions."""
    with _refreshing:
        yield from _without_refreshing()


def _without_refreshing() -> Iterator[None]:
    context = cpu_target.target_context
    if "refresh" in vars(context):  # inside of another first call
        yield
        return
    context.refresh()

    def refresh() -> None:
        for each in (context, context.typing_context):
            for registry in list(each._registries):
                each.install_registry(registry)

    context.refresh = refresh
    try:
        yield
    finally:
        del context.refresh


@contextmanager
def _uncollected() -> Iterator[None]:
    """Suspend garbage collection: compiling and loading make many objects, and all stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class CompiledOrPlain:
    """A function compiled at its first call; if Numba refuses, plain Python after one warning.

    ``fallback`` is the function for plain Python, if it is another one.
    """

    def __init__(
        self, function: Callable, what: str, plain: bool = False, fallback: Callable | None = None
    ):
        self.function = function if fallback is None else fallback
        self.what = what
        self.machine = None if plain else compiled(function)  # None once refused
        self.called = False

    def __call__(self, *args):
        if self.machine is None:
            return self.function(*args)
        try:
            if self.called:
                return self.machine(*args)
            self.called = True
            kept = " (once; kept on disk)" if caching() else ""
            with _uncollected(), _refreshed_once(), announced(f"polhode: compiling …{kept}"):
                return self.machine(*args)
        except numba.core.errors.NumbaError as error:
            warnings.warn(
                f"{self.what} could not be compiled and runs as plain Python, some 50 times"
                f" slower: {_reason(error)}",
                PolhodeWarning,
                stacklevel=3,
            )
            self.machine = None
            return self.function(*args)


def exactly(function: Callable, *args) -> Callable:
    """Return a function for arguments of exactly these types, a third of a microsecond faster.

    It takes others for these: numbers would be wrong, and memory overwritten.  What is not compiled
    (before its first call a ``CompiledOrPlain`` is not) is returned as it is.
    """
    machine = getattr(function, "machine", None)
    made = {} if machine is None else machine.overloads
    found = made.get(tuple(map(numba.typeof, args)))
    return function if found is None else found.entry_point
