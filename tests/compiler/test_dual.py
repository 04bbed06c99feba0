"""Dual numbers: values of the same bits, exact derivatives, plain Python as compiled."""

import json
import math
import operator
import os
import subprocess
import sys
import warnings
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

import polhode
from polhode.compiler import machine
from polhode.compiler.dual import (
    ON_DUAL,
    Dual,
    Single,
    along,
    bare,
    chain,
    chained,
    finite_tangents,
    largest_change,
    lifted,
    plain,
    slopes_of,
    stripped,
    value,
    with_values,
)
from polhode.compiler.dual.functions import SLOPES, SLOPES2, digamma
from polhode.compiler.four import each, if_it_can
from polhode.compiler.machine import (
    LANES,
    CompiledOrPlain,
    blend,
    combined,
    compiled,
    exponent,
    finite,
    fma,
    mask,
    over_lanes,
    power_of_two,
    put,
    rint,
    take,
    three_floats,
)
from polhode.compiler.tree import bind, digest, flat, gather, spread
from polhode.errors import InputError, PolhodeWarning
from support import extra_methods
from support.bits import bits_of
from support.derivatives import on_rows, seeded, zeroed
from support.precise import exact_fma

PACKAGE = Path(polhode.__file__).parent
X = Dual(0.7, (1.0, 0.0, 0.5, 0.0))
Y = Dual(-1.3, (0.0, 1.0, 0.0, 0.2))
Z = Dual(2.4, (-0.3, 0.1, 1.0, 0.6))


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


@pytest.fixture
def fused(monkeypatch):
    """Plain Python rounds products and sums once, as compiled code does."""
    monkeypatch.setattr(plain, "fma", exact_fma)


def same_everywhere(function, *args, ulps=0):
    """Compiled as in plain Python; the values are those of the function on floats.

    What is a float on one way and a dual on another is a dual in compiled code.
    """
    in_python = bind(bind(function, ON_DUAL), {fma: exact_fma})
    right = in_python(*args)
    found = compiled(function)(*args)
    assert bits_of(stripped(found)) == bits_of(compiled(function)(*stripped(args)))
    for a, b in zip(flat(found), flat(right), strict=True):
        for x, y in zip(spread(a), spread(lifted(b, a)), strict=True):
            assert x == y or abs(x - y) <= ulps * math.ulp(y), (found, right)
    return found


# ---- operations
def signs(x, y, z):
    return x + y, x - y, x * y, x / y, 2 * x, x + 1, 3 - y, 1 / z, z / 4.0, -x, +y


def fused_products(x, y, z):
    return fma(x, y, z), fma(2.0, x, z), fma(x, y, 1.0), fma(0.5, 0.25, z)


def choices(x, y, z):
    kept = blend(mask(x < z), (x, 1.0, y), (2.0, z, y)), blend(mask(y > x), x, y)
    return kept, abs(y), abs(x), min(x, y, z), max(1.0, z), max(x, 5.0), float(z)


def remainders(x, y, z):
    return y % x, 7.0 % z, z % 0.9, z // x, 5 // z, rint(z), exponent(z), power_of_two(rint(z))


def sums(x, y, z):
    row = y, y, 4.0
    return combined((x, 2.0), (row, (z, 1.0, x))), combined((0.5, 2.0), (row, (1.0, z, 3.0)))


def conditions(x, y, z):
    one, other = (x if x < y else 1.0), (2.0 * x if (z > y) & (z != 0.0) else y)
    return one, other, x == x, x <= y, z >= y, not x


def whole_numbers(x, y, z):
    return math.floor(z), math.ceil(y), math.trunc(z), math.isnan(x), math.isfinite(y)


def three_of_a_user(x, y, z):
    return three_floats((x, 1, 2.5 * y))


def in_place(x, y, z):
    x += y
    x *= z
    z -= 1
    z /= x
    y **= 2
    x %= 0.3
    return x, y, z


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize(
    "function",
    [
        *(signs, fused_products, choices, remainders, sums, conditions, whole_numbers),
        *(three_of_a_user, in_place),
    ],
)
def test_operations(function):
    """The bits of compiled code, of plain Python, and of the values alone."""
    same_everywhere(function, X, Y, Z)


@pytest.mark.usefixtures("fused")
def test_powers():
    def powers(x, y, z):
        return x**2, y**3, z**-2, x**0, z**1, x**5, z**0.5, z**y, 2.0**x, z**2.0, 2**z

    same_everywhere(powers, X, Y, Z, ulps=4)


OF_ONE = [f for f in SLOPES if f not in (math.cbrt, math.acosh, np.arccosh)]


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("function", OF_ONE, ids=lambda f: f"{type(f).__name__} {f.__name__}")
def test_functions_of_one(function):
    same_everywhere(lambda x: function(x), X, ulps=8)


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("function", [math.acosh, np.arccosh])
def test_inverse_of_the_hyperbolic_cosine(function):
    same_everywhere(lambda x: function(x), Z, ulps=8)


OF_TWO = [f for f in SLOPES2 if f not in (math.fmod, np.fmod)]


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("function", OF_TWO, ids=lambda f: f"{type(f).__name__} {f.__name__}")
def test_functions_of_two(function):
    def both(x, y):
        return function(x, y), function(x, 2.5), function(1.5, y)

    same_everywhere(both, Z, X, ulps=4)


PRECISE = {
    math.fabs: abs,
    math.cbrt: lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    math.copysign: lambda x, y: abs(x),
    math.exp2: lambda x: mp.power(2, x),
    math.fmod: mp.fmod,
    math.lgamma: mp.loggamma,
    math.log2: lambda x: mp.log(x, 2),
    math.pow: mp.power,
    operator.pow: operator.pow,
}


@pytest.mark.parametrize("function", [f for f in SLOPES if type(f) is not np.ufunc])
@pytest.mark.parametrize("x", [0.3, -0.6, 1.7, -2.3])
def test_slopes_of_one(function, x):
    """First and second derivatives against mpmath's."""
    try:
        function(x)
    except ValueError:
        return
    precise = PRECISE.get(function) or getattr(mp, function.__name__)
    with mp.workdps(40):
        right = [float(mp.re(mp.diff(precise, mp.mpf(x), n))) for n in range(3)]
    found = ON_DUAL[function](Dual(Dual(x, (1.0,)), (1.0,)))
    first, second = found.d[0].x, found.d[0].d[0]
    assert [found.x.x, first, second] == pytest.approx(right, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("function", [f for f in SLOPES2 if type(f) is not np.ufunc])
@pytest.mark.parametrize("at", [(0.3, 1.6), (2.3, 0.7), (5.3, 2.0)])
def test_slopes_of_two(function, at):
    precise = PRECISE.get(function) or getattr(mp, function.__name__)
    with mp.workdps(40):
        right = [float(mp.diff(precise, at, order)) for order in ((1, 0), (0, 1))]
    on_dual = ON_DUAL.get(function, operator.pow)
    found = on_dual(Dual(at[0], (1.0, 0.0)), Dual(at[1], (0.0, 1.0)))
    assert list(found.d) == pytest.approx(right, rel=1e-14, abs=1e-14)


def test_the_digamma_function():
    with mp.workdps(30):
        for x in (-3.3, -0.2, 0.1, 0.5, 1.0, 4.5, 9.0, 60.0, 1e5):
            assert digamma(x) == pytest.approx(float(mp.digamma(x)), rel=2e-14)


def test_a_root_of_zero_keeps_derivatives_that_are_zero():
    """The slope of the speed of a body at rest is 0 in the mean; else the root is too steep."""
    still = [Dual(0.0, (float(i == k) for k in range(4))) for i in range(3)]

    def speed(x, y, z):
        return math.sqrt(x * x + y * y + z * z) * x, math.sqrt(x)

    for function in (compiled(speed), bind(speed, ON_DUAL)):
        drag, steep = function(*still)
        assert drag.d == (0.0,) * 4
        assert steep.d == (pytest.approx(8.988e307, rel=1e-3), 0.0, 0.0, 0.0)


# ---- levels
@pytest.mark.usefixtures("fused")
def test_duals_of_duals_are_compiled():
    """A torque from a potential: its derivatives are those of second order."""

    def slopes(x, y):
        a, b = along(x, (1.0, 0.0)), along(y, (0.0, 1.0))
        energy = fma(a, b, math.sin(a * b) / (1.0 + x * x)) + abs(b) ** 3 + 2.0 * a
        energy = energy if energy > x else energy * y
        return slopes_of(energy, a)

    found = same_everywhere(slopes, X, Y, ulps=16)
    with mp.workdps(40):

        def energy(a, b, x):
            return a * b + mp.sin(a * b) / (1 + x * x) + abs(b) ** 3 + 2 * a

        def torque(x, y):
            return [mp.diff(lambda *ab: energy(*ab, x), (x, y), n) for n in ((1, 0), (0, 1))]

        factor = energy(0.7, -1.3, 0.7) > 0.7 or mp.mpf(-1.3)
        assert factor is True
        for k, slope in enumerate(found):
            assert slope.x == pytest.approx(float(torque(0.7, -1.3)[k]), rel=1e-15)
            dx = mp.diff(lambda x, k=k: torque(x, mp.mpf(-1.3))[k], 0.7)
            dy = mp.diff(lambda y, k=k: torque(mp.mpf(0.7), y)[k], -1.3)
            right = [float(dx * u + dy * v) for u, v in zip(X.d, Y.d, strict=True)]
            assert list(slope.d) == pytest.approx(right, rel=1e-9)


def test_a_number_of_a_lower_level_is_constant():
    outer = Dual(X, (Y, Y))
    assert (outer * Z).d == (Y * Z, Y * Z)
    assert (outer - Z).d == (Y, Y)
    assert compiled(lambda a, b: a * b + b)(outer, Z).d[1].x == (outer * Z + Z).d[1].x
    assert value(outer) is X
    assert bare(outer) == 0.7


def test_any_kind_of_number():
    with mp.workdps(40):
        x = Dual(mp.mpf(2), (mp.mpf(1), mp.mpf(0)))
        root = bind(lambda x: math.sqrt(x) * x, {math.sqrt: mp.sqrt, **ON_DUAL})
        slope = bind(root, {math.sqrt: mp.sqrt})(x).d[0]
        assert abs(slope - 1.5 * mp.sqrt(2)) < 1e-38


# ---- taken apart, put together
TREE = (X, (1.5, Y), 3, ())


def taken_apart(tree):
    return stripped(tree), with_values(tree, (9.0, (8.0, 7.0), 6, ())), value(tree[0]), value(2.5)


def lifted_like(tree, like):
    return lifted((tree, 4.0, 2), (1.0, like)), lifted(tree, 1.0)


def by_the_chain_rule(x, y, z):
    return chain(2.0, 3.0, x), chain(5.0, 1, 0.25), chained(1.0, (2, z, 4.0), (x, y, 0.3))


def changes(a, b):
    return largest_change(a, b), largest_change(a, a), largest_change(1.0, 2.0), finite(a)


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (taken_apart, (TREE,)),
        (lifted_like, (TREE, X)),
        (by_the_chain_rule, (X, Y, 1.5)),
        (changes, ((X, 2.0, Y), (X, 1.0, Z))),
        (changes, ((X, 2.0, Y), (1.0, X, Z))),
    ],
)
def test_trees(function, args):
    right, found = function(*args), compiled(function)(*args)
    assert bits_of(spread(found)) == bits_of(spread(right))
    assert repr(found) == repr(right)


def test_what_trees_become():
    assert stripped(TREE) == (0.7, (1.5, -1.3), 3, ())
    other = with_values(TREE, (9.0, (8.0, 7.0), 6, ()))
    assert repr(other) == repr((Dual(9.0, X.d), (8.0, Dual(7.0, Y.d)), 6, ()))
    assert repr(lifted((1.0, 2), X)) == repr((Dual(1.0, (0.0,) * 4), 2))
    assert largest_change(X, Dual(5.0, (1.0, 0.25, 0.5, 0.0))) == 0.25
    assert largest_change(lifted(1.0, X), X) == math.inf


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_found(bad):
    broken = Dual(1.0, (0.0, bad, 0.0, 0.0))

    def looked_at(a, b):
        return finite((a, b)), finite_tangents((a, b)), finite_tangents(b), largest_change(b, a)

    for function in (looked_at, compiled(looked_at)):
        *flags, change = function(broken, X)
        assert flags == [True, False, True]
        assert not math.isfinite(change)
        assert function(Dual(bad, X.d), X)[:2] == (False, False)


# ---- rows, patterns and lanes
def test_rows_hold_the_value_first():
    array = np.zeros((2, 14))
    put(array, 1, TREE)
    numbers = [0.7, *X.d, 1.5, -1.3, *Y.d, 3.0]
    assert array[1, : len(numbers)].tolist() == numbers
    assert repr(take(array, 1, 5, (0.0, Y))) == repr((1.5, Y))
    assert repr(gather(TREE, iter(spread(TREE)))) == repr(TREE)


@pytest.mark.parametrize(
    "number", [X, Single(0.7, (1.0, 0.0)), Dual(0.7, (1.0, 2.0, 3.0)), Dual(X, (Y,))]
)
def test_compiled_rows_and_patterns(number):
    def function(pair, x):
        a, b = pair
        return (a * b, b), x + 1.0, a

    args = (number, 2.0), 3.0
    right = function(*args)
    found = on_rows(function, args, right)(*args)
    assert repr(found) == repr(right)


def test_a_loop_on_wide_rows():
    """The number of directions belongs to the pattern: the loop is another, also in the cache."""

    def loop(pattern):
        def run(row, h, count):
            x, v = take(row, 0, 0, pattern)
            for _ in range(count):
                v = v - h * math.sin(x)
                x = x + h * v
            put(row, 0, (x, v))

        return run

    digests = {
        digest(loop((zero, zero))) for zero in (0.0, zeroed(X), zeroed(Single(*X.content()[1:])))
    }
    assert len(digests) == 3
    state = Dual(0.5, (1.0, 0.0, 0.0, 0.0)), Dual(0.1, (0.0, 1.0, 0.0, 0.0))
    wide, narrow = np.array([spread(state)]), np.array([[0.5, 0.1]])
    compiled(loop(zeroed(state)))(wide, 0.1, 20)
    compiled(loop((0.0, 0.0)))(narrow, 0.1, 20)
    assert wide[0, ::5].tolist() == narrow[0].tolist()
    moved = []
    for x in (0.5 + 1e-6, 0.5 - 1e-6):
        moved.append(np.array([[x, 0.1]]))
        compiled(loop((0.0, 0.0)))(moved[-1], 0.1, 20)
    slopes = (moved[0] - moved[1])[0] / 2e-6
    assert wide[0, 1::5] == pytest.approx(slopes, abs=1e-8)
    area = wide[0, 1] * wide[0, 7] - wide[0, 2] * wide[0, 6]
    assert area == pytest.approx(1.0, abs=1e-14)


def test_bodies_in_lanes():
    """Lanes of single directions: the bits of each body alone."""

    def step(shared, slots):
        x, v = slots
        v = fma(-shared, x / (1.0 + x * x), v)
        return fma(shared, v, x), v

    zero = Single(0.0, (0.0, 0.0))
    rng = np.random.default_rng(5)
    block = rng.normal(size=6 * LANES)
    columns = block.reshape(6, LANES).copy()
    loop = machine.lanes(8)
    slots = zero, zero

    def run(block, shared):
        loop(step, block, shared, slots)

    compiled(run)(block, 0.01)
    plain_block = columns.ravel().copy()
    over_lanes(step, plain_block, 0.01, slots)
    assert block == pytest.approx(plain_block, rel=1e-14)
    one = compiled(lambda x, v: step(0.01, (x, v)))
    for lane in (0, 17, LANES - 1):
        x, v = gather(slots, iter(columns[:, lane].tolist()))
        assert spread(one(x, v)) == block.reshape(6, LANES)[:, lane].tolist()


# ---- control flow and other functions
def test_floats_and_duals_meet():
    def branched(x, y):
        pair = (x, 1.0) if x > y else (2.0, y)
        total = 0.0
        for k in range(3):
            total = total + k * x
        return pair, total, (1.0 if y > 0.0 else x)

    def looped(x, count):
        a, b = 1.0, (0.0, x)
        while count > 0:
            a, b = a * x, (b[0] + a, b[1])
            count -= 1
        return a, b

    same_everywhere(branched, X, Y)
    found = compiled(looped)(X, 4)
    assert repr(stripped(found)) == repr(looped(0.7, 4))
    assert found[0].d == pytest.approx([4 * 0.7**3 * d for d in X.d])


def test_functions_that_call_others():
    def function(x, y):
        return each(lambda a, b: a * b, ((x, y, 2.0), (y, 3.0, x))), if_it_can(both, first, (x, y))

    def both(x, y):
        return x * y

    def first(x, y):
        return x

    found = compiled(function)(X, Y)
    assert repr(found[0]) == repr((X * Y, 3.0 * Y, 2.0 * X))
    assert found[1] == X * Y


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 1.0 * int(x),
        lambda x: np.interp(x, [0.0, 1.0], [2.0, 3.0]),
        lambda x: [1.0, 2.0][x],
    ],
)
def test_what_would_lose_derivatives_is_refused(function):
    run = CompiledOrPlain(function, "the torque", False, bind(function, ON_DUAL))
    with (
        pytest.warns(PolhodeWarning, match="runs as plain Python"),
        pytest.raises(InputError, match=r"derivative would be lost.*use arithmetic"),
    ):
        run(X)


def test_what_cannot_be_compiled_runs_in_plain_python():
    """NumPy's arrays hold duals, as objects."""

    def torque(x):
        return three_floats(np.cross(np.array([x, 1.0, 2.0]), np.array([0.5, x, x * x])))

    run = CompiledOrPlain(torque, "the torque", False, bind(torque, ON_DUAL))
    with pytest.warns(PolhodeWarning, match="runs as plain Python"):
        found = run(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(run(X)) == repr(found)
    assert stripped(found) == pytest.approx((0.49 - 1.4, 1.0 - 0.7 * 0.49, 0.49 - 0.5))
    assert found[1].d == pytest.approx([-3 * 0.49 * d for d in X.d])


def test_duals_enter_and_leave_compiled_functions():
    for number in (X, Single(1.5, X.d), Dual(1.5, (1.0, 2.0, 3.0)), Dual(X, (Y, Z)), Dual(0.5, ())):
        found = compiled(lambda x: (x, 1.0 + x))(number)
        assert repr(found[0]) == repr(number)
        assert type(found[1]) is type(number)
    assert flat(seeded((1.0, (2.0,))))[1].d == (0.0, 1.0, 0.0, 0.0)


SCRIPT = """
import json
import math

import numpy as np

from polhode.compiler.dual import Dual, Single
from polhode.compiler.machine import compiled, fma, put, take


def loop(pattern):
    def run(row, count, given):
        x, v = take(row, 0, 0, pattern)
        for _ in range(count):
            v = fma(-0.1, math.sin(x * given), v)
            x = fma(0.1, v, x)
        put(row, 0, (x, v))

    return run


def result(zero):
    run = compiled(loop((zero, zero)))
    row = np.linspace(0.1, 1.0, 16)[None]
    run(row, 7, zero + 1.0)
    return row.tolist(), sum(run.stats.cache_hits.values())


zeros = 0.0, Dual(0.0, (0.0,) * 4), Single(0.0, (0.0,) * 4), Dual(0.0, (0.0,) * 3)
print(json.dumps([result(zero) for zero in zeros]))
"""


def test_machine_code_is_found_again(tmp_path):
    """Floats are compiled first, before the compiler has heard of duals; then all are on disk."""
    (tmp_path / "script.py").write_text(SCRIPT)
    place = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "POLHODE_CACHE": "1"}

    def run():
        done = subprocess.run(
            [sys.executable, "script.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **place},
            capture_output=True,
            text=True,
            check=True,
        )
        return list(zip(*json.loads(done.stdout), strict=True))

    (first, none), (again, all_four) = run(), run()
    assert none == (0, 0, 0, 0)
    assert all_four == (1, 1, 1, 1)
    assert first == again
    values = [rows[0][:: 1 + count][:2] for rows, count in zip(first, (0, 4, 4, 3), strict=True)]
    assert len(set(map(str, values[1:3]))) == 1
