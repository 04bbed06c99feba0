"""Primitives for quaternions in SIMD vectors: compiled, they have the bits of their plain form."""

import math

import mpmath as mp
import numpy as np
import pytest

from polhode.compiler import simd as _simd
from polhode.compiler.machine import CompiledOrPlain, fma
from polhode.compiler.tree import bind, digest
from polhode.kernels.trig import ELEMENTARY
from support import extra_methods
from support.bits import exactly
from support.precise import hamilton, to_mp

RNG = np.random.default_rng(8)


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


def quaternions(count, pure=False, scale=1.0):
    table = scale * RNG.normal(size=(count, 4))
    table[:, 0] *= not pure
    return tuple(map(tuple, table.tolist()))


def compiled(function, count):
    """Compile a function of ``count`` arguments that calls a primitive, or calls primitives."""

    def one(x):
        return function(x)

    def two(x, y):
        return function(x, y)

    def three(x, y, z):
        return function(x, y, z)

    return CompiledOrPlain((one, two, three)[count - 1], "it")


def both(function, *args):
    """What a function gives compiled, which is what it gives with an exact fma."""
    run = compiled(function, len(args))
    found = run(*args)
    assert run.machine is not None
    assert not extra_methods.allocates(run)
    assert found == exactly(run.function)(*args)
    return found


# ---- functions along times
def smooth(t, shared):
    return math.sin(t) * shared, math.cos(3.0 * t) / (2.0 + t * t), math.sqrt(abs(t))


def rough(t, shared):
    """Nothing that a vector of times could do at once."""
    value = 0.0
    for k in range(int(abs(t)) + 2):
        value += math.exp(-k * abs(t))
    return (value, 1, shared) if t > 0.5 else (0.0, 2, -shared)


@pytest.mark.parametrize("size", [1, 4, 6, 8, 11, 12])
@pytest.mark.parametrize("given", [smooth, rough])
def test_along(given, size):
    offsets = tuple(RNG.uniform(-0.5, 0.5, size).tolist())
    at_times, function = _simd.along(offsets), bind(given, ELEMENTARY)

    def values(t, h, shared):
        return at_times(function, t, h, shared)

    found = both(values, 0.7, 1.9, 2.5)
    for x, (w, *value) in zip(offsets, found, strict=True):
        assert w == 0.0
        assert np.allclose(value, given(0.7 + x * 1.9, 2.5), rtol=1e-14)


def test_along_is_done_by_vectors_of_times():
    at_times, function = _simd.along((0.1, 0.2, 0.3, 0.4)), bind(smooth, ELEMENTARY)

    def values(t, h, shared):
        return at_times(function, t, h, shared)

    run = compiled(values, 3)
    run(0.0, 1.0, 2.0)
    text = "".join(run.machine.inspect_llvm().values())
    assert "call <4 x double> @llvm.rint.v4f64" in text
    assert "call double @llvm.rint.f64" not in text


# ---- linear combinations
def test_matrix():
    rows = (1.0, 0.0, -1.0, 0.5), (0.0, 0.3, 1.0, -1.0), (0.0, 0.0, 0.0, -2.0)
    given = quaternions(4)
    found = both(_simd.matrix(rows), given)
    assert np.allclose(found, np.array(rows) @ np.array(given), rtol=1e-15)


# ---- power series
def right_terms(c, count):
    """(1) of ``taylor`` with 50 digits, each product by the definition of quaternions."""
    c, terms = to_mp(c), [to_mp((1.0, 0.0, 0.0, 0.0))]
    for n in range(1, count):
        parts = [hamilton(c[k], terms[n - 1 - k]) for k in range(min(n, len(c)))]
        terms.append(tuple(mp.fsum(x) / n for x in zip(*parts, strict=True)))
    return terms


@pytest.mark.parametrize("s", [4, 8, 12, 24])
@pytest.mark.parametrize("small", [1e-3, 1e-9, 2e-17])
def test_taylor(s, small):
    c = tuple(tuple(0.3**k * x for x in q) for k, q in enumerate(quaternions(s, pure=True)))
    even, odd, first, terms = both(_simd.taylor(s, s), c, small)
    right = right_terms(c, terms)
    assert s < terms <= _simd.MOST + 1
    assert np.allclose(np.array(first), np.array(right[:s], float), rtol=0, atol=1e-15)
    for found, kind in ((even, 0), (odd, 1)):
        total = np.array([float(mp.fsum(x)) for x in zip(*right[kind::2], strict=True)])
        assert np.allclose(found, total, rtol=0, atol=2e-15)
    sizes = [float(mp.norm(r)) for r in right]
    assert math.hypot(*sizes[-2:]) < small
    assert terms < s + 3 or math.hypot(*sizes[-4:-2]) >= small


def test_taylor_says_when_it_does_not_converge():
    c = quaternions(4, pure=True, scale=40.0)
    assert both(_simd.taylor(4, 4), c, 1e-9)[3] > _simd.MOST + 1
    run = compiled(_simd.taylor(4, 4), 2)
    assert run(((0.0, math.nan, 0.0, 0.0), *c[1:]), 1e-9)[3] > _simd.MOST + 1


def test_taylor_keeps_zeros_for_terms_it_did_not_need():
    c = quaternions(4, pure=True, scale=0.1)
    _, _, kept, terms = both(_simd.taylor(4, _simd.MOST + 1), c, 1e-9)
    assert kept[terms - 1] != (0.0, 0.0, 0.0, 0.0)
    assert set(kept[terms:]) == {(0.0, 0.0, 0.0, 0.0)}


@pytest.mark.parametrize("size", [4, 7, 45])
def test_power_sum(size):
    given = quaternions(size)
    found = both(_simd.power_sum(size), given, -0.7)
    assert np.allclose(found, np.polynomial.polynomial.polyval(-0.7, np.array(given)), rtol=1e-13)


# ---- the cache
def test_digests_tell_primitives_apart():
    made = [
        _simd.along((0.1, 0.2)),
        _simd.along((0.1, 0.3)),
        _simd.matrix(((1.0, 2.0),)),
        _simd.matrix(((1.0, 3.0),)),
        _simd.taylor(4, 4),
        _simd.taylor(4, 5),
        _simd.power_sum(4),
        fma,
    ]
    assert len({digest(primitive) for primitive in made}) == len(made)
