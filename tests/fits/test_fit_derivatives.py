"""The Jacobian of a fit, against differences of the residuals."""

import math

import numpy as np
import pytest

import polhode as ph
from polhode.fits.bodies import BodyUnknowns
from polhode.fits.motion import Motion
from polhode.fits.unknowns import unknowns_of
from support.fits import METHOD, SPAN, TIMES, observed, top

TENSOR = [[2.0, 0.1, -0.2], [0.1, 3.0, 0.15], [-0.2, 0.15, 4.2]]
AT_TIMES = TIMES[::7]
pytestmark = pytest.mark.usefixtures("plain")


def light(t, q, params):
    w, x, y, z = q
    height = params[0] * (w * w - x * x - y * y + z * z) + params[1][0] * (x * z - w * y)
    return params[1][1] * math.exp(height) if height > 0.0 else params[1][1] * (1.0 + height)


def far_light(t, x, q, params):
    w, a, b, c = q
    return params[0] / (4.0 + x[0] * x[0] + x[1]) + math.sin(x[2]) * (w * c + a * b)


def spring(mass=2.0):
    model = ph.models.spring(3.0, (0.0, 0.0, 1.0), (0.1, 0.2, -0.1), 0.5)
    body = ph.RigidBody([2.0, 3.0, 4.5], mass=mass)
    return ph.Problem(
        body, model, omega=[0.4, 0.5, -0.3], position=[0.1, 0.2, 0.3], velocity=[0.4, -0.2, 0.1]
    )


def check(problem, observations, free, **method):
    """Compare all columns with central differences, at a place away from the start."""
    unknowns = unknowns_of(BodyUnknowns, problem, observations, free)
    motion = Motion(unknowns, SPAN, method or METHOD)
    rng = np.random.default_rng(3)
    u = unknowns.start + 0.02 * unknowns.sizes * rng.normal(size=len(unknowns))
    found, steps = motion.at(u).slopes, 1e-5 * unknowns.sizes
    for k, step in enumerate(steps):
        shift = step * np.eye(len(u))[k]
        ahead, behind = (motion.at(u + sign * shift).residuals for sign in (1, -1))
        slope = (ahead - behind) / (2 * step)
        size = max(np.abs(slope).max(), 1e-3 * np.abs(found).max())
        assert np.abs(slope - found[:, k]).max() < 1e-6 * size, unknowns.names[k]


def all_of_a_top(run, rng):
    n = len(run)
    stars = rng.normal(size=(n, 3))
    measured = run.to_body(stars) + 0.01 * rng.normal(size=(n, 3))
    tilted = np.diag([1e-6, 2e-6, 3e-6]) + 4e-7
    values = np.array([light(t, q, (0.4, (0.3, 2.0))) for t, q in zip(run.t, run.q, strict=True)])
    params = {"contrast": 0.4, "rest": (0.3, 2.0)}
    return (
        ph.observe.attitudes(run.t, run.rotation, covariance=tilted),
        ph.observe.rates(run.t, run.omega, sigma=[1e-3, 2e-3, 3e-3], bias=True),
        ph.observe.directions(run.t, measured, stars, sigma=1e-2),
        ph.observe.directions(run.t, measured, stars, covariance=tilted, name="stars"),
        ph.observe.function(light, run.t, values, sigma=0.01, params=params),
    )


@pytest.mark.parametrize(
    "free",
    [
        ["state", "moments", "model.strength"],
        ["attitude", "omega", "inertia", "function.contrast", "function.rest"],
        ["moments"],
        ["inertia", "model.strength"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("moments", [(2.0, 3.0, 4.5), TENSOR], ids=["aligned", "tensor"])
def test_of_a_top(free, moments, rng):
    problem = top(moments)
    sets = all_of_a_top(observed(problem, rng, AT_TIMES).run, rng)
    check(problem, sets, free)


@pytest.mark.parametrize(
    "free", [["state", "mass"], ["velocity", "inertia", "model.stiffness"]], ids=" ".join
)
def test_of_a_moving_body(free, rng):
    problem = spring()
    run = observed(problem, rng, AT_TIMES, method="mr2", dt=0.05).run
    values = np.ones(len(run))
    sets = (
        ph.observe.positions(run.t, run.x, sigma=1e-2),
        ph.observe.attitudes(run.t, run.rotation, sigma=1e-2),
        ph.observe.function(far_light, run.t, values, sigma=0.1, params={"power": 3.0}),
    )
    check(problem, sets, [*free, "function.power"])


def test_of_variables_of_a_model(rng):
    model = ph.models.ring_damper(0.5, 0.3, momentum=0.1)
    problem = ph.Problem(ph.RigidBody([2.0, 3.0, 4.5]), model, omega=[0.4, 0.5, -0.3])
    method = {"method": "mkrk:rk4", "dt": 0.1}
    run = observed(problem, rng, AT_TIMES, **method).run
    sets = (ph.observe.rates(run.t, run.omega, sigma=1e-3),)
    check(problem, sets, ["state", "model.drag"], **method)


def test_backwards_and_adaptive(rng):
    problem = top()
    run = ph.solve(problem, (2.0, 0.0), t_eval=AT_TIMES[::-1], method="dop853", rtol=1e-10)
    sets = (ph.observe.attitudes(run.t, run.rotation, sigma=1e-3),)
    unknowns = unknowns_of(BodyUnknowns, problem, sets, ["state", "moments"])
    motion = Motion(unknowns, (2.0, 0.0), {"method": "dop853", "rtol": 1e-10})
    assert np.abs(motion.at(unknowns.start).residuals).max() < 1e-6
