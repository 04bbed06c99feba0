"""Motions in closed form: their rates by differentiating their attitudes with 40 digits."""

import math

import mpmath as mp
import numpy as np
import pytest

from polhode.compiler.tree import bind
from polhode.errors import InputError
from polhode.problems import given_motions as turning
from polhode.problems.given_motions import PRECESSING_BINARY, ZUPAN_SAJE, Turning, about, by_vector
from support.precise import hamilton

IN_MP = {math.sin: mp.sin, math.cos: mp.cos, math.sqrt: mp.sqrt}
Z, X = (0, 0, 1), (1, 0, 0)


def in_mp(function):
    return bind(function, IN_MP)


def rate(attitude, t):
    """2 q' q*, in inertial axes."""
    q = attitude(mp.mpf(t))
    slope = [mp.diff(lambda s, i=i: attitude(s)[i], mp.mpf(t)) for i in range(4)]
    return hamilton([2 * x for x in slope], (q[0], -q[1], -q[2], -q[3]))


def check(motion, t, tolerance=1e-14):
    """``omega`` in doubles, and with 40 digits, is the rate of ``attitude``."""
    with mp.workdps(40):
        attitude = in_mp(motion.attitude)
        w, *right = rate(attitude, t)
        assert abs(w) < 1e-15  # the axes are of length 1 to rounding
        assert abs(mp.norm(attitude(mp.mpf(t))) - 1) < 1e-15
        size = 1 + float(mp.norm(right))
        assert np.allclose(np.array(right, float), motion.omega(t), rtol=0, atol=tolerance * size)
        q = attitude(mp.mpf(t))
        body = hamilton(hamilton((q[0], -q[1], -q[2], -q[3]), (0, *right)), q)[1:]
        found = motion.body_omega(t)
        assert np.allclose(np.array(body, float), found, rtol=0, atol=2 * tolerance * size)


def spin(axis, speed):
    return about(axis, lambda t: speed * t, lambda t: speed)


def swing():
    return about((1, 2, -2), lambda t: math.sin(3 * t), lambda t: 3 * math.cos(3 * t))


@pytest.mark.parametrize("t", [0.0, 0.3, -2.7])
def test_rates_are_those_of_the_attitudes(t):
    cone = by_vector(lambda t: (t, 0.5 * t * t, 1 - t), lambda t: (1.0, t, -1.0))
    for motion in (
        spin(Z, 5.0),
        swing(),
        swing().inverse,
        cone,
        swing() * spin(X, 2.0),
        spin(X, 0.3).turned_by(swing()),
        spin(X, 0.3).turned_by(swing()) * cone * spin(Z, -1.0).inverse,
    ):
        check(motion, t)


def test_the_axis_has_any_length():
    assert about((0, 0, 10), lambda t: 1.0, lambda t: 2.0).omega(0.0) == (0.0, 0.0, 2.0)


@pytest.mark.parametrize("axis", [(0, 0, 0), (1, math.nan, 0), (1, 0)])
def test_invalid_axes_are_refused(axis):
    with pytest.raises(InputError, match="axis must be"):
        about(axis, lambda t: t, lambda t: 1.0)


def test_only_motions_are_multiplied():
    with pytest.raises(TypeError):
        _ = swing() * 2


# ---- the examples
@pytest.mark.parametrize("t", [0.0, 1.0, 777.7, 1e5])
def test_the_binary_is_the_product_of_the_paper(t):
    """(26) with (27), as printed; ω is of the size 0.006."""
    alpha = math.pi / 8
    r0 = about(X, lambda t: -0.6 * alpha, lambda t: 0.0)
    r1 = spin(Z, 2 * math.pi / 1000)
    r2 = about(X, lambda t: alpha + 2 * alpha / 1e5 * t, lambda t: 2 * alpha / 1e5)
    r3 = spin(Z, 2 * math.pi / 10000)
    r4 = about(X, lambda t: math.pi / 80, lambda t: 0.0)
    printed = r0 * r1 * r4 * r1.inverse * r3 * r2 * r3.inverse * r1
    rounding = 3e-16 * (1 + 2 * math.pi / 1000 * t)  # of the angles
    assert np.allclose(printed.attitude(t), PRECESSING_BINARY.attitude(t), rtol=0, atol=rounding)
    assert np.allclose(printed.omega(t), PRECESSING_BINARY.omega(t), rtol=0, atol=0.007 * rounding)
    composed = r0 * r4.turned_by(r1) * r2.turned_by(r3) * r1
    assert np.allclose(composed.omega(t), printed.omega(t), rtol=0, atol=0.007 * rounding)


@pytest.mark.parametrize("t", [0.0, 3.3, 1234.5])
def test_the_rate_of_the_binary(t):
    check(PRECESSING_BINARY, t, tolerance=1e-15)


VECTORS = {
    "regular": lambda t: (1.5 * mp.cos(2 * t), 1.5 * mp.sin(2 * t), 0.5 * mp.sin(t)),
    "vibrational": lambda t: (
        mp.sin(10 * t) / 10,
        mp.sin(10 * mp.sqrt(2) * t) / 10,
        (mp.cos(10 * t) - 1) / 10,
    ),
    "strongly vibrational": lambda t: (
        mp.sin(100 * t) / 100,
        (mp.cos(100 * t) - 1) / 100,
        mp.sin(73 * t) / 100,
    ),
    "unbounded": lambda t: tuple(t * t * x / mp.sqrt(2) for x in (mp.cos(t), mp.sin(t), 1)),
}


@pytest.mark.parametrize("name", ZUPAN_SAJE)
@pytest.mark.parametrize("fraction", [0.0, 0.00113, 0.0631, 1.0])
def test_the_stand_ins(name, fraction):
    """The attitude is exp θ and ω its rate, with θ written down once more."""
    motion, (begin, end) = ZUPAN_SAJE[name]
    t = begin + fraction * (end - begin)

    def attitude(s):
        theta = VECTORS[name](s)
        n = mp.norm(theta)
        f = mp.sin(n / 2) / n if n else mp.mpf(1) / 2
        return mp.cos(n / 2), *(f * x for x in theta)

    with mp.workdps(40):
        phase = {"regular": 2, "vibrational": 14.2, "strongly vibrational": 100}.get(name, t) * t
        rounding = 5e-16 * (2 + phase)
        right = np.array(attitude(mp.mpf(t)), float)
        assert np.allclose(motion.attitude(t), right, rtol=0, atol=rounding)
        w, *right = rate(attitude, t) if t else (0, *mp.matrix(first_rate(name)))
        assert abs(w) < 1e-18
        atol = rounding * (1 + float(mp.norm(right)))
        assert np.allclose(motion.omega(t), np.array(right, float), rtol=0, atol=atol)


def first_rate(name):
    """At t = 0: θ' where θ is 0, and (2) of ``turning`` for the regular one."""
    if name == "regular":
        theta, slope = np.array([1.5, 0.0, 0.0]), np.array([0.0, 3.0, 0.5])
        a = 1.5
        k = np.cross(theta, slope)
        alpha, beta = (1 - math.cos(a)) / a**2, (a - math.sin(a)) / a**3
        return (slope + alpha * k + beta * np.cross(theta, k)).tolist()
    return [float(x) for x in (mp.diff(lambda s, i=i: VECTORS[name](s)[i], 0) for i in range(3))]


def test_the_unbounded_one_is_a_composition():
    """Boyle's (24): a turn by t² about an axis that turns about e_z."""
    motion = about((1, 0, 1), lambda t: t * t, lambda t: 2 * t).turned_by(spin(Z, 1.0))
    right, _ = ZUPAN_SAJE["unbounded"]
    for t in (0.0, 0.5, 3.0):
        assert np.allclose(motion.attitude(t), right.attitude(t), rtol=0, atol=1e-14)
        assert np.allclose(motion.omega(t), right.omega(t), rtol=0, atol=1e-14)


def test_the_catalogue_holds_motions():
    assert isinstance(turning.PRECESSING_BINARY, Turning)
    assert [span for _, span in ZUPAN_SAJE.values()] == [(0, 100), (0, 50), (0, 10), (0, 10)]
