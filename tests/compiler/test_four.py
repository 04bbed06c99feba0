"""Four numbers at once: the same bits in plain Python, compiled, and one by one."""

import hashlib
import inspect
import math
import re
import struct
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath as mp
import numba
import numpy as np
import pytest

from polhode.compiler import four as _vector
from polhode.compiler.four import (
    ON_FOUR,
    Four,
    at_once,
    each,
    everywhere,
    lanewise,
    pack,
    swapped,
    table,
    takes_fours,
    total,
    unpack,
    where,
)
from polhode.compiler.machine import blend, compiled, finite, fma, mask, rint
from polhode.compiler.tree import PRIMITIVES, Uncacheable, bind, digest, flat
from polhode.kernels.trig import sincos1
from support import extra_methods
from support.precise import exact_fma


def rounded_once(a, b, c):
    """``exact_fma``, with overflow, which it does not handle itself."""
    try:
        return exact_fma(a, b, c)
    except OverflowError:
        return math.inf if Fraction(a) * Fraction(b) + Fraction(c) > 0 else -math.inf


EXACT = ON_FOUR | {fma: lanewise(rounded_once)}
AWKWARD = (0.0, -0.0, 1.0, -1.5, 1e-310, -3e300, 1 / 3, math.inf, -math.inf, math.nan)


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


def bits(value):
    """Of every number of a nesting; all NaN are alike."""
    return [
        "nan" if isinstance(x, float) and math.isnan(x) else struct.pack("d", x)
        for x in flat(value)
    ]


def on_lanes(function, count):
    """A function of ``count`` 4-tuples: ``function`` on Fours."""
    if count == 1:
        return lambda a: unpack(function(pack(a[0], a[1], a[2], a[3])))
    if count == 2:
        return lambda a, b: unpack(
            function(pack(a[0], a[1], a[2], a[3]), pack(b[0], b[1], b[2], b[3]))
        )
    return lambda a, b, c: unpack(
        function(
            pack(a[0], a[1], a[2], a[3]),
            pack(b[0], b[1], b[2], b[3]),
            pack(c[0], c[1], c[2], c[3]),
        )
    )


def same_everywhere(function, samples, count, plain=True):
    """Compiled on Fours, compiled on floats and plain Python on Fours: the same bits."""
    four = on_lanes(function, count)
    machine, single = compiled(four), compiled(function)
    in_python = bind(four, EXACT)
    samples = list(samples)
    samples += samples[: -len(samples) % 4]
    for k in range(0, len(samples), 4):
        columns = tuple(zip(*samples[k : k + 4], strict=True))
        found = bits(machine(*columns))
        assert found == [bits(single(*sample))[0] for sample in samples[k : k + 4]], samples[k]
        if plain:
            assert found == bits(in_python(*columns)), samples[k]


ORDINARY = [(a, b) for a, b in product(AWKWARD, AWKWARD) if b != 0.0]  # Python will not divide by 0


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: -a + 2.0 * b - 1,
        lambda a, b: 1.0 / b + abs(a),
        lambda a, b: fma(a, b, 0.1),
        lambda a, b: fma(0.3, a, b),
        lambda a, b: blend(mask(a < b), a, b),
        lambda a, b: blend(mask((a <= b) & (b != 1.0)), a + b, 0.0),
        lambda a, b: blend(mask((a >= b) | (b == 1.0)), 7.0, a),
        lambda a, b: blend(mask(a < 1.0), (a, b), (b, a))[1],
        lambda a, b: rint(a) + float(b),
        lambda a, b: +a,
    ],
)
def test_operations(function):
    same_everywhere(function, ORDINARY, 2)


def test_fma_of_three(rng):
    numbers = rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-20, 20, (40, 3))
    close = [(a, b, -a * b) for a, b, _ in numbers.tolist()]  # only the rounding is left
    same_everywhere(lambda a, b, c: fma(a, b, c), [*map(tuple, numbers.tolist()), *close], 3)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a**2,
        lambda a: a**3,
        lambda a: a**7,
        lambda a: a**-2,
        lambda a: a**0,
        lambda a: a**0.5,
        lambda a: 2.0**a,
        lambda a: math.sqrt(a),
        lambda a: math.exp(-a),
        lambda a: math.log(a),
        lambda a: math.tan(a),
        lambda a: math.atan2(a, 2.0),
        lambda a: math.hypot(a, 1.0),
        lambda a: math.fabs(-a),
        lambda a: sincos1(a)[0] + sincos1(3.0 * a)[1],
    ],
)
def test_functions(function, rng):
    # Numba's powers and those of C need not agree in plain Python
    plain = not any(name in inspect.getsource(function) for name in ("**", "exp", "log"))
    samples = [(x,) for x in rng.uniform(0.01, 30.0, 40).tolist()]
    same_everywhere(function, samples, 1, plain=plain)


def test_square_roots_of_awkward_numbers():
    good = [(x,) for x in AWKWARD if not x < 0.0]
    same_everywhere(lambda a: math.sqrt(a), good, 1)
    assert math.isnan(compiled(on_lanes(math.sqrt, 1))((-1.0, 1.0, 1.0, 1.0))[0])


def test_a_variable_may_begin_as_a_plain_number():
    def summed(a):
        s = 0.0
        for _ in range(5):
            s += a
        return s

    same_everywhere(summed, [(0.1,), (0.2,), (0.3,), (1e9,)], 1)


def test_conditions_are_refused():
    def positive(a):
        return a if a > 0.0 else 0.0 * a

    with pytest.raises(numba.core.errors.NumbaError):
        compiled(on_lanes(positive, 1))((1.0, 2.0, 3.0, 4.0))
    with pytest.raises(TypeError, match="mask and blend"):
        bind(on_lanes(positive, 1), ON_FOUR)((1.0, 2.0, 3.0, 4.0))


def test_any_kind_of_number_in_plain_python():
    with mp.workdps(40):
        four = Four(*map(mp.mpf, (1, 2, 3, 4)))
        assert unpack(2 / four - fma(four, four, 1))[2] == mp.mpf(2) / 3 - 10
        assert unpack(everywhere(mp.mpf(1) / 3) * 3)[0] == 1


def test_sums_of_lanes_are_by_pairs(rng):
    def summed(a):
        return total(pack(a[0], a[1], a[2], a[3]))

    for numbers in rng.normal(size=(50, 4)).tolist():
        a, b, c, d = numbers
        assert compiled(summed)(tuple(numbers)) == (a + b) + (c + d) == summed(tuple(numbers))


def test_lanes_are_exchanged():
    def exchanged(a):
        four = pack(a[0], a[1], a[2], a[3])
        return unpack(swapped(four, 1)), unpack(swapped(four, 2)), unpack(swapped(four, 3))

    found = compiled(exchanged)((0.0, 1.0, 2.0, 3.0))
    assert found == exchanged((0.0, 1.0, 2.0, 3.0))
    assert found == ((1.0, 0.0, 3.0, 2.0), (2.0, 3.0, 0.0, 1.0), (3.0, 2.0, 1.0, 0.0))


def test_where():
    def choice(flags, a, b):
        one, other = pack(a[0], a[1], a[2], a[3]), pack(b[0], b[1], b[2], b[3])
        found = where(
            pack(flags[0], flags[1], flags[2], flags[3]), (one, (other,)), (other, (one,))
        )
        return unpack(found[0]), unpack(found[1][0])

    flags, a, b = (0.0, 1.0, -0.0, math.nan), (1.0, 2.0, math.nan, 4.0), (5.0, math.inf, 7.0, 8.0)
    found = (5.0, 2.0, 7.0, 4.0), (1.0, math.inf, math.nan, 8.0)
    assert bits(compiled(choice)(flags, a, b)) == bits(choice(flags, a, b)) == bits(found)


# ---- user-defined functions
def smooth(t, y, shared):
    """A constant among the results, and a whole number."""
    return math.sqrt(t) * y[0], fma(y[1], shared, 1.0), 2.0, 3, (y[0] / t,)


def branching(t, y, shared):
    if y[0] > shared:
        return math.sqrt(t) * y[0], y[1], 2.0, 3, (y[0],)
    return y[0], fma(y[1], shared, t), 0.0, 3, (t,)


@pytest.mark.parametrize("function", [smooth, branching])
def test_at_once(function, rng):
    def run(a, b, c, shared):
        fours = each(pack, (a, b, c, a))
        return each(
            unpack,
            (flattened(at_once(function, (abs(fours[0]), (fours[1], fours[2])), (shared,))),),
        )

    machine, single = compiled(run), compiled(function)
    for _ in range(5):
        a, b, c = map(tuple, rng.normal(size=(3, 3)).tolist())
        found = machine(a, b, c, 0.2)
        assert bits(found) == bits(bind(run, EXACT)(a, b, c, 0.2))
        for lane, (t, *y) in enumerate((a, b, c, a)):
            right = flat(single(abs(t), tuple(y), 0.2))
            assert bits(tuple(row[lane] for row in found)) == bits(tuple(map(float, right)))


def flattened(x):
    return x[0], x[1], x[2], x[3], x[4][0]


def test_at_once_is_simd_where_it_can_be():
    def run(function):
        return lambda a: total(at_once(function, (pack(a[0], a[1], a[2], a[3]),), (2.0,)))

    def product(x, y):
        return x * y

    def least(x, y):
        return x if x < y else y * 2.0

    for function, vectors in ((product, True), (least, False)):
        machine = compiled(run(function))
        machine((1.0, 2.0, 3.0, 4.0))
        text = "".join(machine.inspect_llvm().values())
        assert bool(re.search(r"fmul <4 x double>", text)) == vectors


def test_takes_fours():
    """What ``at_once`` would do, without a call."""

    def asked(function):
        def answer(a):
            return takes_fours(function, (everywhere(a), (everywhere(a), everywhere(a))), (a,))

        return answer

    def unknown(t, y, shared):
        return t.somewhere

    def sometimes(t, y, shared):
        return t if shared > 0.0 else y[0]

    cases = (smooth, True), (branching, False), (unknown, False), (sometimes, True)
    for function, taken in cases:
        assert compiled(asked(function))(1.0) is taken
        assert asked(function)(1.0) is False  # plain Python has no lanes


def test_what_cannot_be_compiled_at_all_is_refused():
    def reading(x):
        return x.somewhere

    with pytest.raises(numba.core.errors.NumbaError):
        compiled(lambda a: total(at_once(reading, (everywhere(a),), ())))(1.0)


# ---- tuples, tables
def mixed(a, h, row):
    """Tuples of numbers and fours, a primitive and a function, shared arguments."""
    fours = each(everywhere, (a,))
    fused = each(fma, (h, fours, a))
    scaled = each(lambda x, y: x * y, (fused, everywhere(row)))
    return each(total, (scaled,)), blend(mask(fours[0] > 0.0), fused, scaled)[2]


def test_tuples_of_any_length(rng):
    def run(a, h, row):
        sums, last = mixed(a, h, row)
        return sums, unpack(last)

    machine = compiled(run)
    for size in (3, 4, 7):
        a, (h, row) = tuple(rng.normal(size=size).tolist()), rng.normal(size=2).tolist()
        if size == 3:
            a = 1e-3, 2.0, -5.0
        assert machine(a, h, row) == bind(run, EXACT)(a, h, row)


ROWS, COUNTS, NUMBERS = ((1.5, 2.0, -0.0, 1e300), (1 / 3, 5.0, 6.0, 7.0)), (4, -9), (0.5, 0.25)
fours_at, counts_at, numbers_at = table(ROWS), table(COUNTS), table(NUMBERS)


def test_tables():
    def read(i):
        return unpack(fours_at(i)), counts_at(i) + 1, numbers_at(i)

    machine = compiled(read)
    for i in range(2):
        assert machine(i) == (ROWS[i], COUNTS[i] + 1, NUMBERS[i]) == read(i)
        assert bits(machine(i)[0]) == bits(ROWS[i])
    assert isinstance(machine(0)[1], int)


def test_finite():
    def check(a):
        return finite((pack(a[0], a[1], a[2], a[3]), a[0]))

    for bad in (math.nan, math.inf, -math.inf):
        for place in range(4):
            numbers = tuple(bad if i == place else 1e308 for i in range(4))
            assert not compiled(check)(numbers)
            assert not bind(check, ON_FOUR)(numbers)
    assert compiled(check)((1e308,) * 4)
    assert bind(check, ON_FOUR)((1e308,) * 4)


# ---- stale machine code
def test_names_say_which_version_of_the_files_they_are_from():
    files = sorted(Path(_vector.__file__).parent.glob("*.py"))
    assert {"__init__", "plain", "machine", "arrays"} < {file.stem for file in files}
    version = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    for primitive in (
        pack,
        unpack,
        swapped,
        each,
        at_once,
        fma,
        rint,
        mask,
        blend,
        finite,
        fours_at,
    ):
        assert version in PRIMITIVES[primitive].__name__


def test_tables_of_other_content_have_other_digests():
    def reading(rows):
        at = table(rows)
        return lambda i: at(i)

    assert digest(reading(ROWS)) == digest(reading(ROWS))
    assert digest(reading(ROWS)) != digest(reading(ROWS[::-1]))
    assert digest(reading((1, 2))) != digest(reading((1.0, 2.0)))


def test_no_allocation():
    def run(a, n):
        x = pack(a[0], a[1], a[2], a[3])
        for _ in range(n):
            x = each(fma, ((x, 2.0), 0.5, 1.0))[0]
        return total(x)

    machine = compiled(run)
    machine((1.0, 2.0, 3.0, 4.0), 5)
    assert "NRT_" not in "".join(machine.inspect_llvm().values()).replace("NRT_incref", "")


def test_a_four_is_no_constant():
    four = Four(1.0, 2.0, 3.0, 4.0)
    with pytest.raises(Uncacheable):
        digest(lambda x: x + four)
    assert repr(four) == "Four(1.0, 2.0, 3.0, 4.0)"
    assert (np.float64(2.0) * four).lanes == (2.0, 4.0, 6.0, 8.0)
