"""The model Earth and Moon: torques against a second version, 1000 revolutions with 113 bits."""

import math

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.celestial import rigid_earth_model, rigid_moon_model
from polhode.celestial.model_orbits import TRUTH, orientation_error, torque, truth
from support import given_motion

DAY, MONTH, MU = 0.99726966323716, 27.321661547, 81.3005690699153
TAU = 2 * math.pi


# ---- the torque, at 40 digits and with the numbers of the table
def constants(name):
    if "earth" in name:
        n_sun, n_moon = TAU / 365.256363 * DAY, TAU / 27.321661547 * DAY
        k_sun, k_moon = 3 * n_sun**2 / (1 + 3.04043264e-6), 3 * n_moon**2 / (1 + MU)
        unit, l_moon, node = DAY, 3.810344, 2.182439
    else:
        n_sun, n_moon = TAU * MONTH / 365.256363, TAU
        k_sun, k_moon = 3 * n_sun**2, 3 * n_moon**2 * MU / (1 + MU)
        unit, l_moon, node = MONTH, 0.0, 0.0
    rates = TAU / 3232.605 * unit, -TAU / 6798.383 * unit
    return [mp.mpf(x) for x in (n_sun, n_moon, k_sun, k_moon, l_moon, node, *rates)]


def pulls(name, t):
    """(strength, direction) of Sun and Moon."""
    n_sun, n_moon, k_sun, k_moon, l_moon, node0, perigee_rate, node_rate = constants(name)
    e, f, i = mp.mpf(0.01670862), mp.mpf(0.0549), mp.mpf(0.0897980)
    mean = mp.mpf(4.895063) + n_sun * t
    m = mean - mp.mpf(4.938188)
    longitude = mean + 2 * e * mp.sin(m)
    yield k_sun * (1 + e * mp.cos(m)) ** 3, (mp.cos(longitude), mp.sin(longitude), mp.mpf(0))
    mean, node = l_moon + n_moon * t, node0 + node_rate * t
    m = mean - (mp.mpf(1.454788) + perigee_rate * t)
    u = mean - node + 2 * f * mp.sin(m) + mp.mpf(1.25) * f**2 * mp.sin(2 * m)
    plane = mp.matrix([mp.cos(u), mp.sin(u) * mp.cos(i), mp.sin(u) * mp.sin(i)])
    c, s = mp.cos(node), mp.sin(node)
    turn = mp.matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    yield k_moon * (1 + f * mp.cos(m)) ** 3, tuple(turn * plane)


def right_torque(name, t, q, moments):
    w, x, y, z = q
    r = mp.matrix(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    total = mp.matrix([0, 0, 0])
    a, b, c = map(mp.mpf, moments)
    for k, d in pulls(name, t):
        u = r.T * mp.matrix(d)
        total += k * mp.matrix(
            [(c - b) * u[1] * u[2], (a - c) * u[2] * u[0], (b - a) * u[0] * u[1]]
        )
    return total


PROBLEMS = pytest.mark.parametrize(
    "problem", [rigid_earth_model(), rigid_moon_model()], ids=lambda p: p.name
)


@PROBLEMS
def test_torques_far_from_the_start(problem, rng):
    """Also after a million revolutions, where a rounded n t would err by 1e-10."""
    moments = problem.body.data[0]
    for t in (0.0, 0.37, 33000.0078125, 1e6 + 1 / 3, -5e5):
        q = rng.normal(size=4)
        q = tuple((q / np.linalg.norm(q)).tolist())
        found = torque(t, q, None, problem.body.data, problem.model.params)
        with mp.workdps(40):
            exact = tuple(map(mp.mpf, q))
            n = mp.sqrt(mp.fsum(x * x for x in exact))
            right = right_torque(problem.name, mp.mpf(t), [x / n for x in exact], moments)
            scale = float(problem.model.numbers[1][0]) * (moments[2] - moments[0])
            assert max(abs(a - b) for a, b in zip(found, right, strict=True)) < 1e-14 * scale


@PROBLEMS
def test_torques_come_from_the_potential(problem, rng):
    """Turning by a small angle a about a body axis changes V by -a T."""
    body, params = problem.body.data, problem.model.params
    for _ in range(3):
        q = rng.normal(size=4)
        q, t = q / np.linalg.norm(q), float(rng.uniform(0, 100))
        found = torque(t, tuple(q), None, body, params)
        for axis in range(3):
            values = []
            for a in (1e-3, -1e-3):
                w, x, y, z = q
                turn = np.zeros(3)
                turn[axis] = math.sin(a / 2)
                c = math.cos(a / 2)
                v = np.array([x, y, z])
                turned = (c * w - v @ turn, *(c * v + w * turn + np.cross(v, turn)))
                values.append(problem.model.potential(t, turned, body, params))
            scale = params[0][1][0]
            assert (values[1] - values[0]) / 2e-3 == pytest.approx(found[axis], abs=1e-8 * scale)


@pytest.mark.usefixtures("plain")
def test_bodies_begin_as_they_are_described():
    earth, moon = rigid_earth_model(), rigid_moon_model()
    for problem, tilt, wobble in (
        (earth, 0.40909280422232897, (6.0e-06, -4.2e-06)),
        (moon, 0.02692, (1.0e-4, -0.7e-4)),
    ):
        run = ph.solve(problem, (0.0, 0.0), method="rk4", dt=1.0)
        pole = run.sol([0.0]).angular_momentum_inertial[0]
        assert problem.angular_momentum == (*wobble, TAU)
        # the pole of the equator, in axes of the ecliptic, and the wobble
        right = TAU * np.array([0.0, math.sin(tilt), math.cos(tilt)])
        assert np.abs(pole - right).max() < 2e-4
        assert problem.body.is_aligned
    h, beta = 0.0032737875, 0.0006310022025364629
    a, b, c = earth.body.data[0]
    assert (c - 0.5 * (a + b)) / c == pytest.approx(h, rel=1e-13)
    a, b, c = moon.body.data[0]
    assert (c - a) / b == pytest.approx(beta, rel=1e-12)


def test_the_truth_is_of_these_problems():
    """Its first revolution, by an integrator of order 9 in plain Python."""
    assert TRUTH.exists()
    with given_motion.plain_python():
        for problem in (rigid_earth_model(), rigid_moon_model()):
            q, m = truth(problem.name)[1]
            run = ph.solve(
                problem, (0.0, 1.0), method="vern9", rtol=1e-13, formulation="fukushima-departures"
            )
            assert orientation_error(run.q[-1], q) < 2e-12
            assert np.abs(run.angular_momentum[-1] - np.array(m, dtype=float)).max() < 1e-11


# ---- what departures gain
@PROBLEMS
def test_1000_revolutions(problem):
    """128 steps a revolution: angles that grow err by 2e-13, departures by the rounding of q."""
    q, m = truth(problem.name)[1000]
    found = {}
    for name in ("euler-angles", "encke-quaternion", "fukushima-departures"):
        run = ph.solve(
            problem, (0.0, 1000.0), method="adams", dt=1 / 128, formulation=name, save_every=128000
        )
        found[name] = orientation_error(run.q[-1], q)
        assert np.abs(run.angular_momentum[-1] - np.array(m, dtype=float)).max() < 1e-13
    assert found["encke-quaternion"] < 1e-15
    assert found["fukushima-departures"] < 1e-15
    assert found["euler-angles"] > 5e-14


@pytest.mark.parametrize("name", ["encke-quaternion", "fukushima-departures"])
def test_90_years_of_the_earth(name):
    """33 000 revolutions: still the rounding of q."""
    problem = rigid_earth_model()
    q, _ = truth(problem.name)[33000]
    run = ph.solve(
        problem,
        (0.0, 33000.0),
        method="adams",
        dt=1 / 128,
        formulation=name,
        save_every=33000 * 128,
    )
    assert orientation_error(run.q[-1], q) < 1e-15


def test_the_moon_passes_the_pole_of_serret_and_andoyer():
    """Its wobble takes the momentum through the third axis: J = 0 after 444 months."""
    run = ph.solve(
        rigid_moon_model(), (0.0, 500.0), method="rk4", dt=1 / 32, formulation="serret-andoyer",
        save_every=100,
    )  # fmt: skip
    assert run.status == ph.Status.NOT_FINITE
    assert 400 < run.t[-1] < 450
    assert "(J = 0)" in run.message
    assert "'encke-quaternion'" in run.message
