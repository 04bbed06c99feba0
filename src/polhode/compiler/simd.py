"""Primitives for quaternions in SIMD vectors, and for a function at several times at once.

A quaternion is a tuple of four floats; compiled, the four lie in one vector register.  Each
primitive is also a plain Python function with the same operations in the same order, and so with
the same bits where ``fma`` rounds once.

``along(offsets)``      evaluate a function at the times t + x h, four times to a vector
``matrix(rows)``        linear combinations of quaternions with constant weights
``taylor(s, …)``        the power series of R' = c(y) R
``power_sum(count)``    evaluate such a series at y
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from pathlib import Path

from llvmlite import ir
from numba import types as nt
from numba.core import cgutils
from numba.extending import intrinsic

from polhode.compiler.machine import F8, I32, I64, fma
from polhode.compiler.tree import PRIMITIVES

WIDTH = 4
MOST = 44  # terms of a Taylor series after the first
ONE: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
ZERO: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)

V4 = ir.VectorType(F8, 4)
QUATERNION = nt.UniTuple(nt.float64, 4)
NOTHING = ir.Constant(V4, ir.Undefined)
_VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
_numbers = count()


def _registered(plain: Callable, compiled, *facts) -> Callable:
    """Register the compiled form of ``plain``, named by this file and the facts for ``digest``."""
    content = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    compiled.__name__ = f"{plain.__name__}_{_VERSION}_{content}"
    PRIMITIVES[plain] = compiled
    return plain


# ---- vectors in machine code
def _vector(builder, parts):
    """Pack four numbers into a vector; LLVM sees through it if they come from one."""
    vector = NOTHING
    for lane, part in enumerate(parts):
        vector = builder.insert_element(vector, part, I32(lane))
    return vector


def _quaternion(builder, value):
    return _vector(builder, [builder.extract_value(value, lane) for lane in range(4)])


def _tuple(context, builder, vector):
    parts = [builder.extract_element(vector, I32(lane)) for lane in range(4)]
    return context.make_tuple(builder, QUATERNION, parts)


def _tuples(context, builder, vectors):
    kind = nt.UniTuple(QUATERNION, len(vectors))
    return context.make_tuple(builder, kind, [_tuple(context, builder, v) for v in vectors])


def _permuted(builder, vector, *lanes):
    return builder.shuffle_vector(vector, NOTHING, ir.Constant(ir.VectorType(I32, 4), lanes))


def _spread(builder, x):
    return _permuted(builder, builder.insert_element(NOTHING, x, I32(0)), 0, 0, 0, 0)


def _constant(x):
    return ir.Constant(V4, [x] * 4 if isinstance(x, float) else list(x))


def _fused(builder, a, b, c):
    kind = ir.FunctionType(V4, [V4] * 3)
    return builder.call(
        cgutils.get_or_insert_function(builder.module, kind, "llvm.fma.v4f64"), [a, b, c]
    )


def _array(builder, length):
    """Allocate an array of vectors on the stack."""
    place = cgutils.alloca_once(builder, ir.ArrayType(V4, length))
    place.align = 32
    return place


def _at(builder, array, index):
    index = I64(index) if isinstance(index, int) else index
    return builder.gep(array, [I64(0), index], inbounds=True)


def _table(module, values: Sequence[float]):
    """Put constants in memory."""
    kind = ir.ArrayType(F8, len(values))
    table = ir.GlobalVariable(module, kind, f"polhode_table_{next(_numbers)}")
    table.global_constant, table.linkage = True, "internal"
    table.initializer = ir.Constant(kind, list(values))
    return table


def _hinted(module, branch, hints: dict[str, int | None]) -> None:
    """Attach LLVM's hints to the loop that ``branch`` closes."""
    nodes = []
    for name, value in hints.items():
        operands = [ir.MetaDataString(module, f"llvm.loop.{name}")]
        nodes.append(module.add_metadata(operands + ([] if value is None else [I32(value)])))
    loop = module.add_metadata([I64(len(module.metadata)), *nodes])
    loop.operands = (loop, *nodes)  # a loop's metadata names itself first
    branch.set_metadata("llvm.loop", loop)


# ---- a function at several times
def along(offsets: tuple) -> Callable:
    """Return (0, function(t + x h, shared)) as a quaternion for each offset x.

    The function returns vectors.  Compiled, this is a loop that LLVM turns into one over SIMD
    vectors of times if the function has no branches and no calls; a partial last vector repeats
    the last time.
    """

    def at_times(function, t, h, shared):
        return tuple((0.0, *function(fma(x, h, t), shared)) for x in offsets)

    if not all(isinstance(x, float) for x in offsets):
        return at_times
    size = len(offsets)
    full = -(-size // WIDTH) * WIDTH

    @intrinsic
    def compiled(typing, function, t, h, shared):
        call = function.get_call_type(typing, (nt.float64, shared), {})

        def lower(context, builder, signature, args):
            _, t, h, shared = args
            step = context.get_function(signature.args[0], call)
            table = _table(builder.module, (*offsets, *[offsets[-1]] * (full - size)))
            values = _array(builder, full)
            numbers = builder.bitcast(values, F8.as_pointer())
            before = builder.block
            body = builder.append_basic_block("time")
            after = builder.append_basic_block("after")
            builder.branch(body)
            builder.position_at_end(body)
            i = builder.phi(I64)
            i.add_incoming(I64(0), before)
            x = builder.load(_at(builder, table, i))
            value = step(builder, [builder.fma(x, h, t), shared])
            first = builder.mul(i, I64(4), flags=("nsw", "nuw"))
            parts = [F8(0.0)] + [
                context.cast(builder, builder.extract_value(value, k), kind, nt.float64)
                for k, kind in enumerate(call.return_type)
            ]
            for k, part in enumerate(parts):
                place = builder.add(first, I64(k), flags=("nsw", "nuw"))
                builder.store(part, builder.gep(numbers, [place], inbounds=True))
            following = builder.add(i, I64(1), flags=("nsw", "nuw"))
            i.add_incoming(following, builder.block)
            more = builder.icmp_signed("<", following, I64(full))
            hints = {"vectorize.width": WIDTH, "interleave.count": 1, "unroll.disable": None}
            _hinted(builder.module, builder.cbranch(more, body, after), hints)
            builder.position_at_end(after)
            loaded = [builder.load(_at(builder, values, j)) for j in range(size)]
            return _tuples(context, builder, loaded)

        kind = nt.UniTuple(QUATERNION, size)
        return kind(function, nt.float64, nt.float64, shared), lower

    return _registered(at_times, compiled, offsets)


# ---- linear combinations
def matrix(rows: tuple) -> Callable:
    """Return the quaternions Σ_j rows[i][j] q_j, summed in order, skipping zero weights."""
    terms = [[(j, weight) for j, weight in enumerate(row) if weight != 0] for row in rows]

    def product(quaternions):
        result = []
        for (j, weight), *others in terms:
            total = [weight * x for x in quaternions[j]]
            for k, factor in others:
                total = [fma(factor, x, a) for x, a in zip(quaternions[k], total, strict=True)]
            result.append(tuple(total))
        return tuple(result)

    if not all(isinstance(weight, float) for row in rows for weight in row):
        return product

    @intrinsic
    def compiled(_, quaternions):
        def lower(context, builder, signature, args):
            parts = [builder.extract_value(args[0], j) for j in range(len(rows[0]))]
            vectors = [_quaternion(builder, part) for part in parts]
            result = []
            for (j, weight), *others in terms:
                total = vectors[j]
                if weight != 1.0:
                    total = builder.fmul(_constant(weight), total)
                for k, factor in others:
                    if factor == 1.0:
                        total = builder.fadd(total, vectors[k])
                    elif factor == -1.0:
                        total = builder.fsub(total, vectors[k])
                    else:
                        total = _fused(builder, _constant(factor), vectors[k], total)
                result.append(total)
            return _tuples(context, builder, result)

        return nt.UniTuple(QUATERNION, len(rows))(quaternions), lower

    return _registered(product, compiled, rows)


# ---- the power series of R' = c(y) R
# c R for a pure quaternion c = (0, x, y, z) is x p₁ + y p₂ + z p₃, with R permuted and signed.
LANES_OF = (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)
SIGNS_OF = (-1.0, 1.0, -1.0, 1.0), (-1.0, 1.0, 1.0, -1.0), (-1.0, -1.0, 1.0, 1.0)


def _series_factors(builder, c, s: int):
    """Store the coefficients c_k, spread and signed, on the stack: (their array, the sums (1))."""
    factors, sums = _array(builder, 3 * s), []
    for k in range(s):
        value = builder.extract_value(c, k)
        sums.append(_quaternion(builder, value))
        for i, signs in enumerate(SIGNS_OF):
            spread = _spread(builder, builder.extract_value(value, i + 1))
            factor = builder.fmul(_constant(signs), spread)
            builder.store(factor, _at(builder, factors, 3 * k + i))
    return factors, sums


def _series_term(builder, place, sums, factors, inverses, stored):
    """Make and store R_n at ``place`` n, and add it to the sums: (R_n, the sums after it)."""
    s = len(sums)
    f = builder.load(_at(builder, inverses, place))
    r = builder.fmul(_spread(builder, f), sums[0])
    builder.store(r, _at(builder, stored, place))
    turned = [_permuted(builder, r, *lanes) for lanes in LANES_OF]
    sums = [*sums[1:], _constant(0.0)]
    for k in range(s):
        for i in range(3):
            factor = builder.load(_at(builder, factors, 3 * k + i))
            if k == s - 1 and i == 0:
                sums[k] = builder.fmul(factor, turned[i])
            else:
                sums[k] = _fused(builder, factor, turned[i], sums[k])
    return r, sums


def _series_loop(builder, sums, factors, stored, small):
    """Add terms in pairs until they are small: (sum of the even R_n, of the odd ones, terms)."""
    s = len(sums)
    inverses = _table(builder.module, [0.0] + [1.0 / n for n in range(1, MOST + 1)])
    limit = builder.fmul(small, small)
    before = builder.block
    body = builder.append_basic_block("terms")
    after = builder.append_basic_block("after")
    builder.branch(body)
    builder.position_at_end(body)
    n = builder.phi(I64)
    n.add_incoming(I64(0), before)
    states = [builder.phi(V4) for _ in range(s + 2)]
    for phi, value in zip(states, (*sums, _constant(ONE), _constant(0.0)), strict=True):
        phi.add_incoming(value, before)
    *sums, even, odd = states
    pair = []
    for ahead in (1, 2):
        place = builder.add(n, I64(ahead), flags=("nsw", "nuw"))
        r, sums = _series_term(builder, place, sums, factors, inverses, stored)
        pair.append(r)
    following = builder.add(n, I64(2), flags=("nsw", "nuw"))
    odd, even = builder.fadd(odd, pair[0]), builder.fadd(even, pair[1])
    square = _fused(builder, pair[1], pair[1], builder.fmul(pair[0], pair[0]))
    square = builder.fadd(square, _permuted(builder, square, 2, 3, 0, 1))
    size = builder.fadd(
        builder.extract_element(square, I32(0)), builder.extract_element(square, I32(1))
    )
    long = builder.icmp_signed(">=", following, I64(s))
    done = builder.and_(builder.fcmp_ordered("<", size, limit), long)
    full = builder.icmp_signed(">=", following, I64(MOST))
    for phi, value in zip(states, (*sums, even, odd), strict=True):
        phi.add_incoming(value, builder.block)
    n.add_incoming(following, builder.block)
    branch = builder.cbranch(builder.or_(done, full), after, body)
    _hinted(builder.module, branch, {"unroll.disable": None})
    builder.position_at_end(after)
    terms = builder.select(done, builder.add(following, I64(1)), I64(MOST + 3))
    return even, odd, terms


@cache
def taylor(s: int, kept: int) -> Callable:
    """Make the power series of R' = c(y) R, R(0) = 1, with c = c_0 + c_1 y + …, s pure quaternions.

        R_0 = 1,    R_n = (1/n) Σ_(k < s) c_k R_(n-1-k)                                 (1)

    until two consecutive terms are ``small`` together.  Returns (sum of even R_n, sum of odd
    R_n, the first ``kept`` R_n, number of terms); the number exceeds ``MOST + 1`` if the series did
    not converge.  Every R_n is added to the s sums (1) it is part of as soon as it is known: only
    the last of its products is on the critical path to R_(n+1).
    """

    def series(c, small):
        sums = list(c)
        even, odd, terms = ONE, ZERO, [ONE]
        done, n = False, 0
        while not done and n < MOST:
            for _ in range(2):
                n += 1
                f = 1 / (n + 0 * small)  # in the numbers of c, whatever they are
                r = tuple(f * x for x in sums[0])
                terms.append(r)
                sums = [*sums[1:], ZERO]
                for k in range(s):
                    for i, lanes, signs in zip((1, 2, 3), LANES_OF, SIGNS_OF, strict=True):
                        sums[k] = tuple(
                            fma(sign * c[k][i], r[lane], total)
                            for sign, lane, total in zip(signs, lanes, sums[k], strict=True)
                        )
            odd = tuple(x + y for x, y in zip(odd, terms[n - 1], strict=True))
            even = tuple(x + y for x, y in zip(even, terms[n], strict=True))
            w, x, y, z = (fma(b, b, a * a) for a, b in zip(terms[n - 1], terms[n], strict=True))
            done = (w + y) + (x + z) < small * small and n >= s
        terms += [ZERO] * (kept - len(terms))
        return even, odd, tuple(terms[:kept]), n + 1 if done else MOST + 3

    @intrinsic
    def compiled(_, c, small):
        def lower(context, builder, signature, args):
            factors, sums = _series_factors(builder, args[0], s)
            stored = _array(builder, MOST + 1)
            if kept > s:
                for n in range(kept):
                    builder.store(_constant(0.0), _at(builder, stored, n))
            builder.store(_constant(ONE), _at(builder, stored, 0))
            even, odd, terms = _series_loop(builder, sums, factors, stored, args[1])
            first = [builder.load(_at(builder, stored, n)) for n in range(kept)]
            parts = [
                _tuple(context, builder, even),
                _tuple(context, builder, odd),
                _tuples(context, builder, first),
                terms,
            ]
            return context.make_tuple(builder, signature.return_type, parts)

        kind = nt.Tuple([QUATERNION, QUATERNION, nt.UniTuple(QUATERNION, kept), nt.int64])
        return kind(c, nt.float64), lower

    return _registered(series, compiled, s, kept)


@cache
def power_sum(size: int) -> Callable:
    """Return Σ_n y^n q_n over ``size`` quaternions, even and odd powers summed separately."""

    def at_power(quaternions, y):
        z = y * y
        even, odd = quaternions[-1], quaternions[-2]
        if size % 2 == 0:
            even, odd = odd, even
        for n in range(size - 3, -1, -1):
            if n % 2 == 0:
                even = tuple(fma(z, a, x) for a, x in zip(even, quaternions[n], strict=True))
            else:
                odd = tuple(fma(z, a, x) for a, x in zip(odd, quaternions[n], strict=True))
        return tuple(fma(y, a, x) for a, x in zip(odd, even, strict=True))

    @intrinsic
    def compiled(_, quaternions, y):
        def lower(context, builder, signature, args):
            parts = [builder.extract_value(args[0], j) for j in range(size)]
            vectors = [_quaternion(builder, part) for part in parts]
            y, z = _spread(builder, args[1]), _spread(builder, builder.fmul(args[1], args[1]))
            even, odd = vectors[-1], vectors[-2]
            if size % 2 == 0:
                even, odd = odd, even
            for n in range(size - 3, -1, -1):
                if n % 2 == 0:
                    even = _fused(builder, z, even, vectors[n])
                else:
                    odd = _fused(builder, z, odd, vectors[n])
            return _tuple(context, builder, _fused(builder, y, odd, even))

        return QUATERNION(quaternions, nt.float64), lower

    return _registered(at_power, compiled, size)
