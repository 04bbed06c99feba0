"""Powers from bits: accuracy, and the same bits compiled, in plain Python and on four numbers."""

import math

import numpy as np
import pytest

from polhode.compiler.four import ON_FOUR, lanewise, pack, unpack
from polhode.compiler.machine import compiled, exponent, fma, power_of_two
from polhode.compiler.tree import bind
from polhode.kernels.powers import power
from support import extra_methods
from support.precise import exact_fma

EXACT = {fma: exact_fma}
NUMBERS = np.exp(np.random.default_rng(1).uniform(-600.0, 200.0, 400)).tolist()
EDGES = [1e-300, 0.5, math.nextafter(1.0, 0.0), 1.0, math.nextafter(1.0, 2.0), 2.0, 3.0, 1e100]
POWERS = -1 / 35, -1 / 11, 0.5 / 17, 0.2, -0.5


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


@pytest.mark.parametrize("p", POWERS)
def test_powers_are_near_enough(p):
    for x in NUMBERS + EDGES:
        assert power(x, p) == pytest.approx(x**p, rel=2e-4 + 7e-4 * abs(p))


def test_compiled_powers_are_plain_powers():
    machine, plain = compiled(power), bind(power, EXACT)
    for x in NUMBERS + EDGES:
        for p in POWERS:
            assert machine(x, p) == plain(x, p)


def test_powers_of_four_numbers_are_those_of_one():
    def on_four(a, b, c, d, p):
        return unpack(power(pack(a, b, c, d), p))

    machine, plain = compiled(on_four), bind(on_four, ON_FOUR | {fma: lanewise(exact_fma)})
    for x in (EDGES[:4], EDGES[4:], NUMBERS[:4]):
        wanted = tuple(bind(power, EXACT)(a, -1 / 11) for a in x)
        assert machine(*x, -1 / 11) == plain(*x, -1 / 11) == wanted


def test_exponents_and_powers_of_two():
    machine, twos = compiled(exponent), compiled(power_of_two)
    for x in NUMBERS + EDGES:
        e = machine(x)
        assert e == exponent(x)
        assert 1.0 <= x / 2.0**e < 2.0
    for n in range(-1022, 1024):
        assert twos(float(n)) == power_of_two(float(n)) == math.ldexp(1.0, n)
