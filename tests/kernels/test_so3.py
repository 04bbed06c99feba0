import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polhode.kernels import quaternion, so3
from support.precise import (
    ROUNDING,
    column,
    distance,
    hamilton,
    length,
    repeatable,
    skew,
    to_mp,
    unit_quaternion,
)

ANGLES = (0.0, 1e-160, 1e-8, 0.1, 0.5, 1.0, math.pi, 2 * math.pi - 1e-6, 30.0, 1e6)
SWITCH = [so3.SERIES + k * math.ulp(so3.SERIES / 2) for k in range(-4, 5)]
SQUARES = [0.0, 5e-324, 1e-320, 1e-160, 1e-16, 1e-4, 0.1, *SWITCH, 0.3, 1.0, math.pi**2, 39.0]


def turns(angle, count=20):
    """Seeded rotation vectors of one length, and a vector with each."""
    rng = np.random.default_rng(4)
    for axis in rng.normal(size=(count, 3)):
        psi = angle * axis / np.linalg.norm(axis)
        yield tuple(psi.tolist()), tuple(rng.normal(size=3).tolist())


def rotation(psi):
    """The matrix Σ [psi]^k / k!."""
    return mp.expm(skew(psi), method="taylor")


def dexp_matrix(psi):
    """Σ [psi]^k / (k+1)!."""
    with mp.workdps(100):
        x, term, total, k = skew(psi), mp.eye(3), mp.zeros(3), 1
        while mp.mnorm(term) > mp.mpf(10) ** -60:
            total += term
            k += 1
            term = term * x / k
        return total


# ---- exp and log
@pytest.mark.parametrize("angle", ANGLES)
def test_exp(angle, at_speed):
    exp1, exp = at_speed(so3.exp1), at_speed(so3.exp)
    # the angle is rounded twice (and once more by a plain fma), which counts n times; then sincos1
    allowed = (8 + 2 * angle) * ROUNDING
    for psi, _ in turns(angle):
        (c1, v), (right1, right) = exp1(psi), unit_quaternion(psi)
        assert distance((c1, *v), (right1, *right)) <= allowed
        if angle <= 1:  # components are right to their own last digits
            assert all(abs(f - r) <= 4 * ROUNDING * abs(r) for f, r in zip(v, right, strict=True))
            assert abs(c1 - right1) <= 4 * ROUNDING * abs(right1) + so3.TINY
        assert exp(psi) == (1.0 + c1, *v)


@pytest.mark.parametrize("angle", [1e-160, 1e-8, 0.1, 1.0, 3.0])
def test_exp_is_the_exponential(angle):
    """The convention: exp(psi) turns v as the matrix exp([psi]) does."""
    for psi, v in turns(angle, 5):
        found = quaternion.to_inertial(so3.exp(psi), v)
        # 20: those of exp and of to_inertial
        assert distance(found, rotation(psi) * column(v)) <= 20 * ROUNDING * length(v)


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-8, 0.1, 1.0, 3.0, math.pi - 1e-9])
def test_log_is_the_inverse(angle, at_speed):
    log = at_speed(so3.log)
    for psi, _ in turns(angle):
        q = so3.exp(psi)
        for sign in (1.0, -1.0):
            found = log(tuple(sign * x for x in q))
            # 8 of exp, 4 of log, each up to twice as large in the angle as in the quaternion
            assert distance(found, to_mp(psi)) <= 24 * ROUNDING * min(1, angle)


@pytest.mark.parametrize("angle", [3.5, 6.0, 7.0, 20.0])
def test_log_takes_the_short_way(angle):
    for psi, _ in turns(angle, 5):
        found = so3.log(so3.exp(psi))
        rest = angle - 2 * math.pi * round(angle / (2 * math.pi))
        # as above, and the angle is rounded
        allowed = (24 + 2 * angle) * ROUNDING
        assert distance(found, [mp.mpf(x) * rest / angle for x in psi]) <= allowed


components = st.floats(-1.5, 1.5)
rotation_vectors = st.tuples(components, components, components)  # shorter than pi


@repeatable
@given(rotation_vectors)
def test_exp_log_identities(psi):
    q, back = so3.exp(psi), so3.exp(tuple(-x for x in psi))
    assert back == quaternion.conjugate(q)
    assert distance(so3.log(q), to_mp(psi)) <= 24 * ROUNDING * max(map(abs, psi))
    doubled = so3.exp(tuple(2 * x for x in psi))
    # exp twice and one product of numbers below 1; both angles are below 6
    assert distance(quaternion.product(q, q), doubled) <= 40 * ROUNDING


# ---- Cayley
@pytest.mark.parametrize("angle", ANGLES)
def test_cayley(angle, at_speed):
    cayley1, cayley = at_speed(so3.cayley1), at_speed(so3.cayley)
    for psi, v in turns(angle):
        (c1, u), q = cayley1(psi), cayley(psi)
        root = mp.sqrt(1 + length(psi) ** 2 / 4)
        right1, right = (1 - root**2) / (root**2 + root), [mp.mpf(x) / 2 / root for x in psi]
        # half a dozen operations, none of which cancels
        assert abs(c1 - right1) <= 6 * ROUNDING * abs(right1) + so3.TINY
        assert all(abs(f - r) <= 6 * ROUNDING * abs(r) for f, r in zip(u, right, strict=True))
        assert q == (1.0 + c1, *u)
        if angle <= 30:
            half, one = skew(psi) / 2, mp.eye(3)
            matrix = (one - half) ** -1 * (one + half)  # the definition
            found = quaternion.turned(c1, u, v)
            assert distance(found, matrix * column(v)) <= 24 * ROUNDING * length(v)


# ---- the differential of exp
def true_alpha(a):
    return (1 - mp.cos(a)) / a**2


def true_beta(a):
    return (a - mp.sin(a)) / a**3


def true_gamma(a):
    return (1 - a / 2 * mp.cot(a / 2)) / a**2


def gamma_of_both(a2):
    return so3.exp1_and_gamma((0.0, math.sqrt(a2), 0.0))[2]


@pytest.mark.parametrize(
    ("kernel", "right", "limit"),
    [
        (so3.alpha, true_alpha, mp.mpf(1) / 2),
        (so3.beta, true_beta, mp.mpf(1) / 6),
        (so3.gamma, true_gamma, mp.mpf(1) / 12),
        (gamma_of_both, true_gamma, mp.mpf(1) / 12),
    ],
    ids=["alpha", "beta", "gamma", "gamma with exp"],
)
@pytest.mark.parametrize("a2", SQUARES)
def test_series_and_closed_forms(kernel, right, limit, a2, at_speed):
    with mp.workdps(800):  # the definitions cancel, at 1e-320 almost all of it
        expected = right(mp.sqrt(mp.mpf(a2))) if a2 else limit
    error = abs(at_speed(kernel)(a2) - expected)
    if a2 < 0.25:  # where the series are promised
        # Horner's rule with falling terms; alpha is a square of a quotient of sincos1
        assert error <= 5 * ROUNDING * expected
    elif a2 <= math.pi**2:
        # what multiplies a vector of this length twice: cancelled, but no more than a few roundings
        # (alpha is bounded by the doubled error of sincos1, 8e-16)
        assert error * a2 <= 16 * ROUNDING
    else:
        # gamma has a pole at 2 pi: there the sine in its denominator is small and known to 8e-16
        pole = abs(mp.sin(mp.sqrt(a2) / 2))
        assert error * a2 <= 16 * ROUNDING * (1 + expected * a2) / pole


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_with_gamma_is_exp(angle, at_speed):
    both, exp1 = at_speed(so3.exp1_and_gamma), at_speed(so3.exp1)
    for psi, _ in turns(angle, 4):
        assert both(psi)[:2] == exp1(psi)


def test_coefficients_of_the_series():
    for k in range(7):
        assert getattr(so3, f"B{k}") == float((-1) ** k / mp.factorial(2 * k + 3))
    for k in range(9):
        right = abs(mp.bernoulli(2 * k + 2)) / mp.factorial(2 * k + 2)
        assert getattr(so3, f"G{k}") == float(right)


def test_the_switch_does_not_show():
    """Series and closed form agree at the threshold, as far as the closed form is known."""
    below, above = math.nextafter(so3.SERIES, 0), so3.SERIES
    for kernel in (so3.beta, so3.gamma):
        assert abs(kernel(below) - kernel(above)) * so3.SERIES <= 4 * ROUNDING


@pytest.mark.parametrize("angle", [*ANGLES[:-1], 2 * math.pi])
def test_dexp(angle, at_speed):
    dexp = at_speed(so3.dexp)
    for psi, v in turns(angle, 8):
        # both terms are at most a few |v|, with the 8e-16 of sincos1 and the rounding of the angle
        allowed = (16 + 2 * angle) * ROUNDING * length(v)
        assert distance(dexp(psi, v), dexp_matrix(psi) * column(v)) <= allowed


@pytest.mark.parametrize("angle", [*ANGLES[:7], 5.0, 6.0, 2 * math.pi - 1e-6])
def test_dexpinv(angle, at_speed):
    dexpinv = at_speed(so3.dexpinv)
    for psi, v in turns(angle, 8):
        # at 2 pi it is singular: the sine of half the angle divides
        allowed = (16 + 2 * angle) * ROUNDING * length(v) / abs(mp.sinc(mp.mpf(angle) / 2)) ** 2
        assert distance(dexpinv(psi, v), dexp_matrix(psi) ** -1 * column(v)) <= allowed


@repeatable
@given(rotation_vectors, rotation_vectors)
def test_dexpinv_inverts_dexp(psi, v):
    found = so3.dexpinv(psi, so3.dexp(psi, v))
    # angles to 2.6 with factors to 2: twice the errors above
    assert distance(found, to_mp(v)) <= 100 * ROUNDING * length(v)


def test_the_body_rate_of_q_exp_psi_is_dexp_of_minus_psi():
    for psi, rate in turns(1.0, 5):

        def attitude(t, psi=psi, rate=rate):
            c1, v = unit_quaternion([mp.mpf(x) + t * r for x, r in zip(psi, rate, strict=True)])
            return 1 + c1, *v

        w, x, y, z = attitude(mp.mpf(0))
        change = [mp.diff(lambda t, i=i: attitude(t)[i], 0) for i in range(4)]
        body_rate = [2 * r for r in hamilton((w, -x, -y, -z), change)[1:]]
        found = so3.dexp(tuple(-x for x in psi), rate)
        assert distance(found, body_rate) <= 16 * ROUNDING * length(rate)  # mp.diff: 25 digits


# ---- for Newton's method
@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-3, 0.1, 1.0])
def test_turned_back_jacobian(angle, at_speed):
    jacobian = at_speed(so3.turned_back_jacobian)
    for psi, m in turns(angle, 2):

        def seen(*u, m=m):
            return list(rotation([-x for x in u]) * column(m))

        n = tuple(float(x) for x in seen(*psi))
        found = mp.matrix([list(row) for row in jacobian(psi, n)])
        right = mp.matrix(3)
        for i in range(3):
            for j in range(3):
                at = tuple(int(k == j) for k in range(3))
                right[i, j] = mp.diff(lambda *u, i=i: seen(*u)[i], psi, at)
        # the first term left out is [n]x [psi]x³ / 24; 16 for the roundings
        allowed = (mp.mpf(angle) ** 3 / 24 + 16 * ROUNDING) * length(m)
        assert mp.mnorm(found - right, "f") <= mp.sqrt(2) * allowed
