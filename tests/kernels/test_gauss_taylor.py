"""The pieces of a Gauss-Taylor step, with 50 digits."""

from decimal import Decimal
from fractions import Fraction

import mpmath as mp
import pytest

from polhode.compiler.tree import bind
from polhode.integrators.gauss_taylor import interpolation
from polhode.kernels import gauss_taylor as kernel
from support.precise import distance, hamilton

SIZES = 4, 6, 8, 10, 12


def number(x):
    """Constants of tableaus, exactly."""
    if isinstance(x, Fraction):
        return mp.mpf(x.numerator) / x.denominator
    return mp.mpf(str(x) if isinstance(x, Decimal) else x)


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(50):
        yield


def random_quaternion(seed, pure=False):
    w, *v = (mp.sin(mp.mpf(seed) * k * k + k) for k in range(1, 5))
    return (mp.mpf(0) if pure else w), *v


@pytest.mark.parametrize("s", SIZES)
def test_polynomials_of_degree_s_less_1_are_met(s):
    right = [random_quaternion(k, pure=True) for k in range(s)]

    def curve(t, shared):
        """Powers of y, for t from 3 to 7."""
        y = (t - 5) / 2
        return tuple(mp.fsum(c[i] * y**k for k, c in enumerate(right)) for i in (1, 2, 3))

    values, differences, to_legendre, to_powers = interpolation(s, number)
    c = values(curve, mp.mpf(5), mp.mpf(4), ())
    p = to_legendre(differences(c))
    found = to_powers(p)
    assert max(distance(x, y) for x, y in zip(found, right, strict=True)) < 1e-40
    highest = mp.binomial(2 * s - 2, s - 1) / 2 ** (s - 1)  # of P_(s-1)
    assert distance(p[0], [x / highest for x in right[-1]]) < 1e-40


@pytest.mark.parametrize("s", SIZES)
def test_a_constant_is_met_to_the_last_bit(s):
    """What rounded weights do not add up to would otherwise turn every step too far."""
    values, differences, to_legendre, to_powers = interpolation(s)
    given = 0.1, -0.7, 1 / 3
    c = to_powers(to_legendre(differences(values(lambda t, shared: given, 0.3, 0.7, ()))))
    assert c == ((0.0, *given), *[(0.0, 0.0, 0.0, 0.0)] * (s - 1))


def test_product_and_square():
    p, q = random_quaternion(1), random_quaternion(2)
    assert distance(kernel.product(p, q), hamilton(p, q)) < 1e-48
    assert abs(kernel.square(p) - mp.norm(p) ** 2) < 1e-48


def test_sandwich():
    a, p, b = random_quaternion(1), random_quaternion(2, pure=True), random_quaternion(3)
    conjugate = a[0], -a[1], -a[2], -a[3]
    right = hamilton(hamilton(conjugate, p), b)[1:]
    assert distance(kernel.sandwich(a, p, b), right) < 1e-48


@pytest.mark.parametrize("s", SIZES)
def test_the_first_estimate_is_the_whole_sum_over_both_halves(s):
    terms = [random_quaternion(k) for k in range(s)]
    p = random_quaternion(77, pure=True)
    total = [mp.mpf(0)] * 3
    for i in range(s):
        a = terms[i]
        part = hamilton(hamilton((a[0], -a[1], -a[2], -a[3]), p), terms[s - 1 - i])
        total = [x + y for x, y in zip(total, part[1:], strict=True)]
    kappa = mp.mpf(2) ** (s + 1) * mp.factorial(s - 1) ** 2 / mp.factorial(2 * s - 1)
    found = bind(kernel.embedded(s), {kernel.sqrt: mp.sqrt})(p, terms)
    assert abs(found / (kappa * mp.norm(total)) - 1) < 1e-15


@pytest.mark.parametrize("s", SIZES)
def test_kappa_is_twice_the_integral_of_the_highest_power(s):
    integral = mp.quad(lambda y: mp.legendre(s - 1, y) * y ** (s - 1), [-1, 0, 1])
    assert abs(kernel.kappa(s) / (2 * integral) - 1) < 1e-15


@pytest.mark.parametrize("s", SIZES)
def test_the_tail_of_a_geometric_series(s):
    """(4): p_k = ρ^k has A² = ρ^(2s-4) (1 + ρ²), and the decay ρ."""
    rho = mp.mpf(3) / 10
    p = [(0, rho**k, 0, 0) for k in reversed(range(s))]
    a = rho ** (s - 2) * mp.sqrt(1 + rho**2)
    tail = bind(kernel.tail(s), {kernel.sqrt: mp.sqrt})
    right = 4 * a * rho**s
    if s == 4:  # ρ² is A²/|p_1|²
        right = 4 * a * (a / rho) ** 5
    assert abs(tail(p) / right - 1) < 1e-40
    growing = [(0, mp.mpf(3), 0, 0), (0, mp.mpf(4), 0, 0), *[(0, mp.mpf(1), 0, 0)] * (s - 2)]
    assert abs(tail(growing) - 20) < 1e-40  # ρ is at most 1


def test_the_sides():
    q = random_quaternion(5)
    assert kernel.seen(q) == q
    assert bind(kernel.seen, {kernel.side: kernel.on_the_left})(q) == q
    right = bind(kernel.seen, {kernel.side: kernel.on_the_right})(q)
    assert right == (q[0], -q[1], -q[2], -q[3])
