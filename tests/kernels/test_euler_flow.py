"""Euler's equations by elliptic functions, against the free motion by other formulas."""

from itertools import permutations
from math import sqrt

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind, flat
from polhode.kernels import free_flow
from polhode.kernels.euler_flow import momentum, orbit
from polhode.kernels.trig import sincos1
from support.precise import column, skew

EPS = 2.0**-52
MOMENTS = 2.0, 3.0, 4.5
SEPARATRIX = (3.0, 4.0, 6.0), (0.5, 0.7, 0.5)  # 1/3 - 1/4 is 1/4 - 1/6, in doubles too


def moved(t, m, moments, inverse):
    return momentum(t, orbit(m, moments, inverse))


def inverses(moments):
    return tuple(1 / i if i else 0.0 for i in moments)


def precise(t, m, moments):
    """By the addition theorem and a short series: no elliptic function, and 50 digits."""
    numbers = {
        sincos1: lambda a: (mp.sin(a), -2 * mp.sin(a / 2) ** 2),
        sqrt: mp.sqrt,
        free_flow.short: lambda: mp.mpf(10) ** -9,
    }
    moments, m = tuple(map(mp.mpf, moments)), tuple(map(mp.mpf, m))
    inverse = tuple(1 / i if i else mp.mpf(0) for i in moments)
    return column(bind(free_flow.free_turn, numbers)(mp.mpf(t), m, moments, inverse)[1])


def one_ulp(t, m, moments):
    """The most that one ulp of a moment or of a component of m does to the momentum."""
    right, given = precise(t, m, moments), [*m, *moments]
    changes = []
    for k in range(6):
        changed = given.copy()
        changed[k] = float(np.nextafter(changed[k], np.inf))
        changes.append(mp.norm(precise(t, changed[:3], changed[3:]) - right))
    return max(changes)


# ---- every regime
def on_an_axis(rng, m, off):
    spin = off * m
    spin[rng.integers(3)] = 1.0
    return spin


def near_the_separatrix(rng, moments, m, off):
    i1, i2, i3 = np.sort(moments)
    m[0] = np.sqrt(i1 * (i3 - i2) / (i3 * (i2 - i1))) * m[2] * (1 + off)
    order = rng.permutation(3)
    return np.sort(moments)[order], m[order]


REGIMES = {
    "any": lambda rng, i, m: (i, m),
    "symmetric": lambda rng, i, m: (i[[0, 0, 2]][rng.permutation(3)], m),
    "almost": lambda rng, i, m: (i[[0, 0, 2]] * [1, 1 + 10 ** rng.uniform(-15, -5), 1], m),
    "sphere": lambda rng, i, m: (i[[0, 0, 0]], m),
    "disc": lambda rng, i, m: (np.array([i[0], i[1], i[0] + i[1]])[rng.permutation(3)], m),
    "rod": lambda rng, i, m: (np.array([i[0], i[0], 0.0]), m * [1, 1, 0]),
    "one component zero": lambda rng, i, m: (i, m * (np.arange(3) != rng.integers(3))),
    "about an axis": lambda rng, i, m: (i, on_an_axis(rng, m, 0.0)),
    "1e-14 off it": lambda rng, i, m: (i, on_an_axis(rng, m, 1e-14)),
    "1e-200 off it": lambda rng, i, m: (i, on_an_axis(rng, m, 1e-200)),
    "separatrix": lambda rng, i, m: near_the_separatrix(rng, i, m, 0.0),
    "1e-13 off it": lambda rng, i, m: near_the_separatrix(rng, i, m, 1e-13),
    "on the separatrix": lambda rng, i, m: map(np.array, SEPARATRIX),
    "at rest": lambda rng, i, m: (i, 0 * m),
}


@pytest.mark.parametrize("regime", REGIMES)
def test_right_to_rounding_in_every_regime(regime, at_speed):
    """Within 4 eps (1 + |m| |t|/I_min) and four times what one ulp of the input does."""
    function, rng = at_speed(moved), np.random.default_rng(1)
    for _ in range(20):
        moments, m = REGIMES[regime](rng, rng.uniform(1, 1.9, 3), rng.normal(size=3))
        moments, m = tuple(moments.tolist()), tuple(m.tolist())
        t = float(rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 2))
        found, size = function(t, m, moments, inverses(moments)), float(np.linalg.norm(m))
        error = mp.norm(column(found) - precise(t, m, moments))
        bound = 4 * EPS * size * (1 + size * abs(t) / min(i for i in moments if i))
        assert error <= bound or error <= bound + 4 * one_ulp(t, m, moments), (t, m, moments)


def test_against_a_taylor_integrator():
    m = (0.5, 0.7, -0.6)
    for moments in permutations(MOMENTS):  # odd ones too: none may reverse the time
        inertia = mp.diag([1 / mp.mpf(i) for i in moments])

        def rate(_, p, inertia=inertia):
            p = mp.matrix(p)
            return list(skew(p) * (inertia * p))

        with mp.workdps(20):
            right = mp.odefun(rate, 0, [mp.mpf(x) for x in m])(mp.mpf(2.5))
        found = moved(2.5, m, moments, inverses(moments))
        assert found == pytest.approx([float(x) for x in right], abs=8 * EPS)


# ---- its constants
def test_the_orbit_starts_at_m():
    rng = np.random.default_rng(0)
    for _ in range(200):
        moments, m = tuple(rng.uniform(1, 1.9, 3).tolist()), tuple(rng.normal(size=3).tolist())
        assert moved(0.0, m, moments, inverses(moments)) == pytest.approx(m, rel=0, abs=4 * EPS)


def test_energy_and_length_stay_on_the_orbit():
    """Within a few roundings of the start at any time: there is nothing that could add up."""
    rng, at = np.random.default_rng(0), compiled(momentum)
    for _ in range(20):
        moments, m = rng.uniform(1, 1.9, 3), rng.normal(size=3)
        constants = orbit(tuple(m.tolist()), tuple(moments.tolist()), inverses(moments.tolist()))
        path = np.array([at(t, constants) for t in rng.uniform(-1e6, 1e6, 500).tolist()])
        assert np.linalg.norm(path, axis=1) == pytest.approx(np.linalg.norm(m), rel=8 * EPS)
        assert path**2 @ (1 / moments) == pytest.approx(m**2 @ (1 / moments), rel=8 * EPS)


@pytest.mark.parametrize("cycle", range(3))
def test_axes_may_be_renamed_in_a_cycle(cycle):
    """The same but for |m|, a sum in the order of the axes."""

    def renamed(v):
        return (*v[cycle:], *v[:cycle])

    rng = np.random.default_rng(0)
    for _ in range(50):
        moments, m = tuple(rng.uniform(1, 1.9, 3).tolist()), tuple(rng.normal(size=3).tolist())
        a = inverses(moments)
        expected = renamed(moved(1.3, m, moments, a))
        found = moved(1.3, renamed(m), renamed(moments), renamed(a))
        assert found == pytest.approx(expected, rel=2 * EPS, abs=0)


def test_special_moduli():
    """No modulus for a symmetric body; modulus 1, tanh and sech, on the separatrix."""
    for moments in permutations((2.0, 2.0, 3.0)):
        _, (rate, _, complement), _ = orbit((0.3, 0.4, 0.5), moments, inverses(moments))
        axis = moments.index(3.0)
        assert complement == pytest.approx(1, abs=4 * EPS)
        assert abs(rate) == pytest.approx((1 / 2 - 1 / 3) * (0.3, 0.4, 0.5)[axis], rel=4 * EPS)
    moments, m = SEPARATRIX
    constants = orbit(m, moments, inverses(moments))
    assert constants[1][2] == 0
    end = momentum(1e4, constants)  # on the middle axis, where it stays
    assert end == pytest.approx((0, np.linalg.norm(m), 0), abs=4 * EPS)


@pytest.mark.parametrize(
    ("m", "moments"),
    [
        ((0.0, 0.0, 0.0), MOMENTS),
        ((0.3, 0.4, 0.5), (2.0, 2.0, 2.0)),
        ((0.3, 0.4, 0.0), (2.0, 2.0, 0.0)),
        ((0.3, 0.4, 0.0), (2.0, 2.0, 3.0)),
        ((0.0, 0.7, 0.0), MOMENTS),
        ((0.7, 0.0, 0.0), MOMENTS),
        ((0.0, 0.0, -0.7), MOMENTS),
    ],
    ids=["rest", "sphere", "rod", "across the symmetry axis", "middle", "least", "greatest"],
)
def test_what_does_not_move(m, moments, at_speed):
    function = at_speed(moved)
    for t in (0.0, 1.0, -1e6):
        assert function(t, m, moments, inverses(moments)) == m


def test_undefined_arguments_give_nan():
    for place in range(3):
        m = tuple(float("nan") if k == place else 1.0 for k in range(3))
        assert np.isnan(compiled(moved)(1.0, m, MOMENTS, inverses(MOMENTS))).any()


# ---- the methods that go by it, where the registry's tests do not
STARTS = {
    "middle axis": ((2, 3, 4.5), (0, 1, 0)),
    "1e-14 off the middle axis": ((2, 3, 4.5), (1e-14, 1, 1e-14)),
    "least axis": ((2, 3, 4.5), (1, 0, 0)),
    "separatrix": ((3, 4, 6), (0.5 / 3, 0.7 / 4, 0.5 / 6)),
    "moments falling": ((5, 4, 3), (-0.2, 0, 2 / 3)),
    "symmetric": ((2, 3, 2), (0.3, 0.4, 0.5)),
    "slow": ((2, 3, 4.5), (3e-160, 5e-160, -2e-160)),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", ["je", "jem2", "jem4", "sej", "sej4"])
def test_methods_in_every_regime(name, start):
    moments, omega = STARTS[start]
    body = ph.RigidBody(moments)
    run = ph.solve(ph.Problem(body, omega=omega), (0, 10), method=name, dt=0.02)
    exact = ph.exact_free_motion(body, None, omega, run.t)
    size = np.linalg.norm(exact.angular_momentum[0])
    apart = np.abs(run.angular_momentum - exact.angular_momentum).max()
    # off the middle axis an error of the start grows e-fold in 2.4 s
    assert apart < 1e-13 * size
    turned = (run.rotation * exact.rotation.inv()).magnitude().max()
    assert turned < (1e-8 if name in ("jem4", "sej4") else 1e-3)


@pytest.mark.parametrize("power", [-98, -90, -78, 78, 90, 98])
@pytest.mark.parametrize("t", [0.2, 3.0])
def test_units_do_not_matter(power, t, at_speed):
    """Neither those of the momentum, nor of the time: products of all of them may not underflow."""
    function, scale = at_speed(free_flow.free_turn), 10.0**power
    usual = flat(function(t, (0.5, -0.3, 0.8), MOMENTS, inverses(MOMENTS)))
    large = tuple(scale * x for x in (0.5, -0.3, 0.8))
    turn, m = function(t / scale, large, MOMENTS, inverses(MOMENTS))
    found = flat((turn, tuple(x / scale for x in m)))
    assert np.abs(np.subtract(found, usual)).max() < 4 * EPS
