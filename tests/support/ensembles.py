"""Ensembles that several tests share, and comparisons of their results."""

import math

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.ensembles.distributions import GROUP, Around, Boxes, Normal, Uniform
from polhode.reductions import FirstTime, Mean
from support.bits import plain_bits

SPAN, DT = (0.0, 0.5), 0.02
OFF_GRID = [0.0, 0.05, 0.1234, 0.2, 0.4321, 0.5]
BODY = ph.RigidBody([2.0, 3.0, 4.5], mass=2.0)
START = {"attitude": Rotation.from_rotvec([0.3, 0.1, 0.2]), "omega": [0.4, 1.3, 5.0]}
HEAVY = ph.Problem(BODY, ph.models.heavy_top(20.0), **START, name="heavy")
FREE = ph.Problem(BODY, **START)
RATES = np.array([[0.4, 1.3, 5.0], [-2.0, 0.1, 1.0], [0.0, 3.0, -0.5]])
SPINS = {"omega": RATES, "model.strength": np.array([20.0, 0.0, 7.5])}


def check_bits(result, span, members=None, rounding=0.0, alone=plain_bits, **asked):
    """Members as ``solve`` finds them alone, in plain Python, at the saved times.

    ``alone=nullcontext`` compiles it: where plain Python has no fused multiply-add.
    """
    assert result.success.all()
    for i in range(len(result)) if members is None else members:
        with alone():
            run = ph.solve(result.problem(i), span, t_eval=result.t, **asked)
            steps = ph.solve(result.problem(i), span, **asked).nsteps
        assert run.success
        np.testing.assert_array_equal(result.q[:, i], run.q)
        size = np.abs(run.angular_momentum).max()  # turned by a quaternion here, by a matrix there
        for name in ("angular_momentum", "omega"):
            gap = np.abs(getattr(result, name)[:, i] - getattr(run, name)).max()
            assert gap <= rounding * size
        if run.x is not None:
            np.testing.assert_array_equal(result.x[:, i], run.x)
            np.testing.assert_array_equal(result.v[:, i], run.v)
        assert result.t_reached[i] == run.t[-1]
        assert result.nsteps[i] == steps


def pulled(t, q, omega, params):
    pull, damping = params
    return -damping * omega[0], pull * math.sin(3.0 * t), q[1] - damping * omega[2]


OWN = ph.Problem(BODY, ph.torque(pulled, {"pull": 1.0, "damping": 0.1}), **START)


def tilt(t, q, omega):
    return q[1] * q[1] + q[2] * q[2] - 0.05


def back(t, q, omega):
    return q[1] * q[1] + q[2] * q[2] - 0.05


back.direction = -1


def on_side(t, q, omega):
    return q[1] * q[1] + q[2] * q[2]


MANY = {
    "vary": {
        "omega": Normal([0.4, 1.3, 5.0], [0.5, 0.5, 2.0]),
        "attitude": Around(0.2),
        "model.strength": Uniform(5.0, 40.0),
        "inertia": Boxes([1.0, 1.0, 2.0], [2.0, 3.0, 4.0], mass=6.0),
    },
    "seed": 11,
    "method": "mr2",
    "dt": DT,
}  # fmt: skip
REDUCE = [
    "mean(omega)", "attitude", "quantiles(speed, 0.05, 0.5, 0.95)", "extremes(energy)",
    "histogram(speed, 3, 4, 5, 6)", Mean(on_side), Mean("speed"), FirstTime(tilt), FirstTime(back),
]  # fmt: skip
COUNT = 2 * GROUP + 400


def solve_many(count=COUNT, **others):
    asked = {**MANY, "save": [0.0, 0.25, 0.5], "reduce": REDUCE, "reduce_times": 3, **others}
    return ph.solve_ensemble(HEAVY, SPAN, members=count, **asked)


def same(a, b):
    for name in ("t", "q", "omega", "status", "nsteps", "t_reached", "count", "t_reduced"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert set(a.reductions) == set(b.reductions)
    for name in a.reductions:
        np.testing.assert_array_equal(a.reductions[name], b.reductions[name])
    return True
