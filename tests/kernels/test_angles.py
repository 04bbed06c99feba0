"""Large angles, against exact sums."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

import polhode as ph
from polhode.compiler.machine import compiled
from polhode.kernels.angles import cycle, phase_at, reduced, reduced_angle, two_product


def off(found, exact):
    """The error modulo one turn."""
    with mp.workdps(60):
        turns = (mp.mpf(found) - mp.mpf(exact.numerator) / exact.denominator) / (2 * mp.pi)
        return float(abs(turns - mp.nint(turns)) * 2 * mp.pi)


def arguments(rng, count=2000, largest=9):
    for _ in range(count):
        n = rng.uniform(-10, 10) * 10.0 ** rng.uniform(-4, 2)
        t = rng.choice((-1, 1)) * 10.0 ** rng.uniform(-3, largest) / abs(n)
        yield tuple(map(float, (rng.uniform(-7, 7) * 10.0 ** rng.uniform(-3, 3), n, t)))


def test_products_are_exact(rng):
    for a, b, _ in arguments(rng, 500):
        p, e = two_product(a, b)
        assert p == a * b
        assert Fraction(p) + Fraction(e) == Fraction(a) * Fraction(b)


def test_reduced_angles(rng):
    """To half a unit of the result, up to 1e9."""
    for a, n, t in arguments(rng):
        found = reduced_angle(a, n, t)
        assert abs(found) <= math.nextafter(math.pi, 4)
        assert off(found, Fraction(a) + Fraction(n) * Fraction(t)) < 2.3e-16


def test_the_product_alone_would_not_do():
    n, t = 6.283185307179586, 33000.0078125
    right = Fraction(n) * Fraction(t)
    assert off(n * t, right) > 5e-12
    assert off(reduced_angle(0.0, n, t), right) < 2.3e-16


def test_angles_less_whole_turns(rng):
    """As good, but for the rounding of a result near pi."""
    for _, n, t in arguments(rng, 500):
        found = cycle(n, t)
        assert abs(found) <= 1.0000001 * math.pi
        assert off(found, Fraction(n) * Fraction(t)) < 2.3e-16


def test_an_angle_that_is_given_at_some_time(rng):
    """What is left of it at t = 0 is a sum of two floats, which loses nothing later on."""
    for a, n, t in arguments(rng, 500):
        t0 = float(rng.uniform(-1, 1) * 10.0 ** rng.uniform(-3, 3))
        high, low = phase_at(a, n, t0)
        exact = Fraction(a) + Fraction(n) * (Fraction(t) - Fraction(t0))
        assert off(reduced(high, n, t, low), exact) < 2.3e-16


def test_compiled_with_the_same_bits(rng):
    run = compiled(reduced_angle)
    for a, n, t in arguments(rng, 200):
        assert run(a, n, t) == reduced_angle(a, n, t)


@pytest.mark.usefixtures("plain")
def test_in_a_torque():
    """A user's own, compiled, far from t = 0: with a step of a turn nothing else changes."""

    def pushed(t, q, omega, params):
        return (0.0, 0.0, math.cos(ph.reduced_angle(0.3, params[0], t)))

    n, t0 = 100.0, 1e6
    problem = ph.Problem(
        ph.RigidBody([1.0, 1.0, 1.0]), ph.torque(pushed, (n,)), angular_momentum=[0.0, 0.0, 0.0]
    )
    run = ph.solve(problem, (t0, t0 + 0.125), method="rk4", dt=2.0**-13)
    with mp.workdps(40):
        ends = [mp.sin(mp.mpf(0.3) + n * (t0 + x)) / n for x in (0.125, mp.mpf(0))]
    assert run.omega[-1][2] == pytest.approx(float(ends[0] - ends[1]), abs=1e-12)
