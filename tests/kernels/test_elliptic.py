"""Elliptic functions and integrals against mpmath's, which take other ways (theta functions, and
Carlson's integrals with more digits).

Errors are in units of one ulp of the value and what one ulp of the argument does to it: near a zero
of cn, or for a large argument, no function of a rounded number can do better.
"""

import math
from functools import cache

import mpmath as mp
import numpy as np
import pytest

from polhode.compiler.machine import compiled, fma
from polhode.compiler.tree import bind
from polhode.kernels import elliptic
from support.precise import ROUNDING, exact_fma

ULP = 2 * ROUNDING  # of numbers from 1 to 2
MODULI = {  # mc from a random generator
    "any": lambda rng: rng.uniform(),
    "k -> 0": lambda rng: 1 - 10 ** rng.uniform(-15.9, -1),
    "k -> 1": lambda rng: 10 ** rng.uniform(-17, -1),
    "mc to 1e-300": lambda rng: 10 ** rng.uniform(-300, -17),
    "mc above 1": lambda rng: 10 ** rng.uniform(0, 3),
}
UNITS = dict.fromkeys(MODULI, 3) | {"k -> 1": 6, "mc to 1e-300": 6}  # the docstrings'
COUNTS = dict.fromkeys(MODULI, 40) | {"mc to 1e-300": 20}  # where mpmath takes 300 digits
ARGUMENTS = {  # u from a random generator and K
    "four periods": lambda rng, k: rng.uniform(-16 * k, 16 * k),
    "small": lambda rng, k: 10 ** rng.uniform(-12, 0),
    "near quarter periods": lambda rng, k: (
        k * (rng.integers(-5, 6) + rng.choice([-1, 1]) * 10 ** rng.uniform(-16, -1))
    ),
    "large": lambda rng, k: rng.choice([-1, 1]) * 10 ** rng.uniform(3, 8),
}
PHASES = {
    "two turns": lambda rng: rng.uniform(-4 * math.pi, 4 * math.pi),
    "small": lambda rng: 10 ** rng.uniform(-300, 0),
    "near quarter turns": lambda rng: (
        math.pi / 2 * (rng.integers(-5, 6) + rng.choice([-1, 1]) * 10 ** rng.uniform(-16, -1))
    ),
    "large": lambda rng: rng.choice([-1, 1]) * 10 ** rng.uniform(1, 8),
}


def digits(mc):
    return 40 + max(0, -int(math.log10(mc)))


def jacobi(u, mc):
    """(sn, cn, dn) by theta functions."""
    with mp.workdps(digits(mc)):
        nome = mp.qfrom(m=1 - mp.mpf(mc))
        return [mp.re(mp.ellipfun(name, mp.mpf(u), q=nome)) for name in ("sn", "cn", "dn")]


def first_kind(phi, mc):
    """F by Carlson's integral."""
    with mp.workdps(digits(mc)):
        phi, mc = mp.mpf(phi), mp.mpf(mc)
        turns = mp.nint(phi / mp.pi)
        s, c = mp.sin(phi - turns * mp.pi), mp.cos(phi - turns * mp.pi)
        return s * mp.elliprf(c**2, c**2 + mc * s**2, 1) + 2 * turns * mp.elliprf(0, mc, 1)


def units(found, right, slope, argument):
    unit = math.ulp(float(right)) + abs(float(slope)) * math.ulp(argument)
    return float(abs(found - right) / unit)


# ---- Jacobi's functions
@cache
def right_functions(modulus, argument):
    """(u, mc, values, slopes)."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(COUNTS[modulus]):
        mc = float(MODULI[modulus](rng))
        u = float(ARGUMENTS[argument](rng, elliptic.complete_k(mc)))
        sn, cn, dn = values = jacobi(u, mc)
        rows.append((u, mc, values, (cn * dn, sn * dn, (1 - mc) * sn * cn)))
    return rows


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("modulus", MODULI)
def test_sn_cn_dn_within_3_units_or_6_for_small_mc(modulus, argument, at_speed):
    sn_cn_dn = at_speed(elliptic.sn_cn_dn)
    for u, mc, values, slopes in right_functions(modulus, argument):
        for found, value, slope in zip(sn_cn_dn(u, mc), values, slopes, strict=True):
            assert units(found, value, slope, u) < UNITS[modulus], (u, mc)


@pytest.mark.parametrize("mc", [1e-300, 1e-20, 1e-3, 0.3, 1.0, 7.0])
def test_their_identities_within_4_ulp(mc):
    """sn² + cn² = 1, dn² = cn² + mc sn², of the numbers that are returned."""
    sn_cn_dn = compiled(elliptic.sn_cn_dn)
    for u in np.random.default_rng(0).uniform(-100, 100, 1000):
        s, c, d = map(mp.mpf, sn_cn_dn(u, mc))
        assert abs(s * s + c * c - 1) < 4 * ULP
        assert abs(d * d / (c * c + mc * s * s) - 1) < 4 * ULP


@pytest.mark.parametrize("mc", [1e-300, 1e-20, 1e-3, 0.3, 1.0, 7.0])
def test_signs_and_parity(mc, at_speed):
    sn_cn_dn = at_speed(elliptic.sn_cn_dn)
    quarter = elliptic.complete_k(mc)
    for j in range(-9, 10):
        u = (j + 0.4) * quarter
        s, c, d = sn_cn_dn(u, mc)
        assert (s > 0, c > 0) == (math.sin(math.pi / 2 * (j + 0.4)) > 0, (j % 4) in (0, 3))
        assert d > 0
        assert sn_cn_dn(-u, mc) == (-s, c, d)


def test_the_separatrix_is_hyperbolic_within_3_ulp(at_speed):
    sn_cn_dn = at_speed(elliptic.sn_cn_dn)
    for u in [*np.random.default_rng(0).uniform(-40, 40, 300).tolist(), 1e-9, 700.0, 744.0]:
        s, c, d = sn_cn_dn(u, 0.0)
        assert abs(s - mp.tanh(u)) < 3 * math.ulp(float(mp.tanh(u)))
        slope = abs(mp.sech(u)) * math.ulp(u)  # and that of sech, times one ulp of u
        assert abs(c - mp.sech(u)) < 3 * math.ulp(float(mp.sech(u))) + slope
        assert d == c
    assert sn_cn_dn(1e4, 0.0) == (1.0, 0.0, 0.0)
    assert sn_cn_dn(-1e4, 0.0) == (-1.0, 0.0, 0.0)


def test_no_modulus_is_trigonometric_within_3_units(at_speed):
    sn_cn_dn = at_speed(elliptic.sn_cn_dn)
    for u in np.random.default_rng(0).uniform(-1e3, 1e3, 300).tolist():
        s, c, d = sn_cn_dn(u, 1.0)
        assert units(s, mp.sin(u), mp.cos(u), u) < 3
        assert units(c, mp.cos(u), mp.sin(u), u) < 3
        assert d == 1.0


@pytest.mark.parametrize("mc", [0.0, 5e-324, 1e-310, 1e-16, 0.5, 1.0, 1e10])
def test_edges(mc, at_speed):
    sn_cn_dn = at_speed(elliptic.sn_cn_dn)
    assert sn_cn_dn(0.0, mc) == (0.0, 1.0, 1.0)
    assert sn_cn_dn(5e-324, mc) == (5e-324, 1.0, 1.0)
    assert sn_cn_dn(-1e-200, mc) == (-1e-200, 1.0, 1.0)
    assert all(map(math.isfinite, sn_cn_dn(3.0, mc)))


@pytest.mark.parametrize("mc", [5e-324, 1e-310, 1e-300])
def test_the_least_complements(mc, at_speed):
    """All but hyperbolic up to half of K, 373 and less, and zero at K."""
    sn_cn_dn, quarter = at_speed(elliptic.sn_cn_dn), elliptic.complete_k(mc)
    s, c, d = sn_cn_dn(1.5, mc)
    for found, right in ((s, mp.tanh(1.5)), (c, mp.sech(1.5)), (d, mp.sech(1.5))):
        assert abs(found - right) < 4 * ULP * right
    s, c, d = sn_cn_dn(quarter, mc)
    assert s == 1
    # one ulp of K is 6e-14
    assert abs(c) < 1e-13 * math.sqrt(mc)
    assert d == pytest.approx(math.sqrt(mc), rel=4 * ULP)


def test_undefined_arguments_give_nan():
    sn_cn_dn, elliptic_f = compiled(elliptic.sn_cn_dn), compiled(elliptic.elliptic_f)
    for u, mc in ((math.nan, 0.5), (1.0, math.nan), (math.inf, 0.5), (1.0, -0.5)):
        assert all(map(math.isnan, sn_cn_dn(u, mc)))
        assert math.isnan(elliptic_f(u, mc))


def test_machine_code_does_what_plain_python_does():
    rng = np.random.default_rng(0)
    for kernel in (elliptic.sn_cn_dn, elliptic.elliptic_f):
        machine, plain = compiled(kernel), bind(kernel, {fma: exact_fma})
        for _ in range(200):
            u, mc = float(rng.normal() * 10 ** rng.uniform(-3, 4)), float(10 ** rng.uniform(-20, 1))
            assert machine(u, mc) == plain(u, mc)


# ---- the integral of the first kind
@cache
def right_integrals(modulus, phase):
    """(phi, mc, value, slope)."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(COUNTS[modulus]):
        mc, phi = float(MODULI[modulus](rng)), float(PHASES[phase](rng))
        slope = 1 / mp.sqrt(mp.cos(phi) ** 2 + mc * mp.sin(phi) ** 2)
        rows.append((phi, mc, first_kind(phi, mc), slope))
    return rows


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("modulus", MODULI)
def test_elliptic_f_within_3_units_or_6_for_small_mc(modulus, phase, at_speed):
    elliptic_f = at_speed(elliptic.elliptic_f)
    for phi, mc, value, slope in right_integrals(modulus, phase):
        assert units(elliptic_f(phi, mc), value, slope, phi) < UNITS[modulus], (phi, mc)


@pytest.mark.parametrize("modulus", MODULI)
def test_complete_k_within_4_ulp(modulus, at_speed):
    complete_k, rng = at_speed(elliptic.complete_k), np.random.default_rng(0)
    for _ in range(200):
        mc = float(MODULI[modulus](rng))
        right = mp.elliprf(0, mc, 1)
        assert abs(complete_k(mc) - right) < 4 * math.ulp(float(right)), mc


def test_edges_of_the_integral(at_speed):
    elliptic_f, complete_k = at_speed(elliptic.elliptic_f), at_speed(elliptic.complete_k)
    assert complete_k(0.0) == math.inf
    assert complete_k(1.0) == math.pi / 2
    for mc in (0.0, 5e-324, 0.5, 1.0, 1e10):
        assert elliptic_f(0.0, mc) == 0.0
    below = math.pi / 2  # as a double it is less than a quarter turn
    assert elliptic_f(below, 0.0) == pytest.approx(float(mp.asinh(mp.tan(below))), rel=4 * ULP)
    for beyond in (math.nextafter(below, 2), 3.0, 100.0):
        assert elliptic_f(beyond, 0.0) == math.inf
        assert elliptic_f(-beyond, 0.0) == -math.inf
    for phi in (1e-3, 0.7, -1.5, 1.5707):
        right = mp.asinh(mp.tan(phi))
        assert units(elliptic_f(phi, 0.0), right, mp.sec(phi), phi) < 3
        assert elliptic_f(phi, 1.0) == pytest.approx(phi, rel=2 * ULP)


@pytest.mark.parametrize("mc", [1e-30, 1e-3, 0.3, 2.0])
def test_the_amplitude_and_back(mc):
    """F(am u) = u: sn of F is the sine, in every quadrant."""
    elliptic_f, sn_cn_dn = compiled(elliptic.elliptic_f), compiled(elliptic.sn_cn_dn)
    for phi in np.random.default_rng(0).uniform(-20, 20, 300).tolist():
        u = elliptic_f(phi, mc)
        s, c, d = sn_cn_dn(u, mc)
        # an ulp of phi is dn times that of u
        near = 6 * ULP + 6 * d * math.ulp(u)
        assert abs(s - mp.sin(phi)) < near
        assert abs(c - mp.cos(phi)) < near


# ---- Carlson's integrals
CARLSON = {  # the bound in ulp, and the number of arguments; the first may be zero
    "rf": (4, 3),
    "rc": (4, 2),
    "rj": (8, 4),
    "rd": (8, 3),
}


@cache
def right_carlson(name, decades, count=60):
    rng, rows = np.random.default_rng(0), []
    for _ in range(count):
        numbers = (10 ** rng.uniform(-decades, decades, CARLSON[name][1])).tolist()
        if rng.integers(4) == 0:
            numbers[0] = 0.0
        with mp.workdps(30 + 2 * int(decades)):  # mpmath cancels where p is much the least
            rows.append((numbers, +mp.re(getattr(mp, f"ellip{name}")(*map(mp.mpf, numbers)))))
    return rows


@pytest.mark.parametrize("decades", [0.1, 1, 10, 60])
@pytest.mark.parametrize("name", CARLSON)
def test_carlsons_integrals_within_8_ulp(name, decades, at_speed):
    function = at_speed(getattr(elliptic, name))
    for numbers, right in right_carlson(name, decades):
        assert abs(function(*numbers) - right) < CARLSON[name][0] * math.ulp(float(right)), numbers


def test_edges_of_carlsons_integrals(at_speed):
    rf, rc, rj, rd = (at_speed(getattr(elliptic, name)) for name in CARLSON)
    assert rf(4.0, 4.0, 4.0) == rc(4.0, 4.0) == 0.5
    assert rj(4.0, 4.0, 4.0, 4.0) == rd(4.0, 4.0, 4.0) == 0.125
    assert rf(0.0, 0.0, 1.0) == rf(1.0, 0.0, 0.0) == rc(1.0, 0.0) == math.inf
    assert rj(0.0, 0.0, 1.0, 2.0) == rj(1.0, 2.0, 3.0, 0.0) == math.inf
    assert rd(0.0, 0.0, 1.0) == rd(1.0, 2.0, 0.0) == math.inf
    assert rc(0.0, 1.0) == pytest.approx(math.pi / 2, rel=4 * ULP)


@pytest.mark.parametrize("mc", [1e-200, 0.2, 1.0, 9.0])
def test_the_two_means_agree(mc):
    """F = sin RF(cos², cos² + mc sin², 1), K = RF(0, mc, 1)."""
    assert elliptic.complete_k(mc) == pytest.approx(elliptic.rf(0.0, mc, 1.0), rel=8 * ULP)
    for phi in np.linspace(-1.5, 1.5, 31).tolist():
        s, c = math.sin(phi), math.cos(phi)
        right = s * elliptic.rf(c * c, c * c + mc * s * s, 1.0)
        assert elliptic.elliptic_f(phi, mc) == pytest.approx(right, rel=16 * ULP)
