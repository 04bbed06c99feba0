"""Derivatives of one step of every integrator, and in every formulation, in 40 digits.

By the state, the moments and all parameters of a torque that depends on everything.
"""

import math

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.integrators.gauss import gauss
from support.bodies import ATTITUDE, DAMPED, INERTIA, OMEGA, forced
from support.precise import hamilton, to_mp
from support.precise_steps import (
    DIGITS,
    SMALL,
    mixtures,
    mp_derivatives,
    mp_rate_step,
    mp_trial,
    quantities,
    turned,
)
from support.translating_bodies import CHARGED

pytestmark = pytest.mark.usefixtures("plain")

T, H = 0.5, 0.3125
CLOSE = 1e-14  # of the largest derivative
INTEGRATORS = [record for record in ph.INTEGRATORS.values() if not record.linear]
VARIABLES = [*ph.FORMULATIONS.values(), *ph.COORDINATES.values()]
START = {"attitude": ATTITUDE, "scalar_first": True, "omega": OMEGA}
PROBLEM = ph.Problem(ph.RigidBody(INERTIA), ph.torque(forced, DAMPED), **START)
PLACES = {
    "no scalar part": {"attitude": (0.0, 0.6, 0.0, 0.8)},
    "identity": {"attitude": (1.0, 0.0, 0.0, 0.0)},
    "axis 2": {"omega": (0.0, 0.9, 0.0)},
    "at rest": {"omega": (0.0, 0.0, 0.0)},
}


def over(records):
    return pytest.mark.parametrize("record", records, ids=lambda record: record.name)


def has_nominal(record):
    return getattr(record, "nominal", None) is not None


def check(integrator, variables, problem, rng=None, kink=False):
    """One step, which has the same bits as without, along all directions or mixtures of them.

    Departures from a nominal motion have no derivatives by its moments.  At a ``kink`` there are
    no differences, and another formulation takes the step.
    """
    steps = {"atol": 0.9, "rtol": 0.0, "first_step": H} if integrator.adaptive else {"dt": H}
    options = {"method": integrator, "formulation": variables.name, **steps}
    sizes = quantities(problem)
    asked = [name for name in sizes if name != "moments" or not has_nominal(variables)]
    run = ph.solve(problem, (T, T + H), **options, sensitivities=asked)
    alone = ph.solve(problem, (T, T + H), **options)
    assert run.nsteps == alone.nsteps == 1
    assert run.q.tolist() == alone.q.tolist()
    assert run.angular_momentum.tolist() == alone.angular_momentum.tolist()
    found = np.hstack([run.sensitivity[name][-1].reshape(-1, sizes[name]) for name in asked])
    directions = np.eye(sum(sizes.values()))
    wanted = np.repeat([name in asked for name in sizes], list(sizes.values()))
    mixed = np.eye(found.shape[1]) if rng is None else mixtures(found.shape[1], rng)
    taken = ph.FORMULATIONS["quaternion"] if kink else variables
    step = mp_trial(integrator, taken, problem, mp.mpf(H), T)
    right = mp_derivatives(step, problem, directions[:, wanted] @ mixed)
    close = 1e-4 if kink else CLOSE
    assert np.abs(found @ mixed - right).max() < close * np.abs(found).max()


@over(INTEGRATORS)
def test_every_integrator(record):
    check(record, ph.FORMULATIONS["quaternion"], PROBLEM)


@over(INTEGRATORS)
def test_with_a_position(record, rng):
    check(record, ph.FORMULATIONS["quaternion"], CHARGED.problem, rng)


@pytest.mark.parametrize("name", ["dop853", "rk4"])
@over(VARIABLES)
def test_every_formulation(record, name):
    check(ph.INTEGRATORS[name], record, PROBLEM)


@over(VARIABLES[-11:])
def test_implicit_steps(record, rng):
    check(gauss(4), record, PROBLEM, rng)


@over([record for record in VARIABLES if has_nominal(record)])
@pytest.mark.parametrize("name", ["moments", "inertia"])
def test_moments_are_refused_where_the_motion_is_nominal(record, name):
    words = f"formulation '{record.name}' are departures .* derivatives by '{name}' take"
    for options in ({"rtol": 1e-9}, {"method": "rk4", "dt": H}):
        with pytest.raises(ph.InputError, match=words):
            ph.solve(PROBLEM, (0, 1), formulation=record.name, sensitivities=[name], **options)


KINKS = [  # where variables jump, and the error of a step with them
    *(("no scalar part", name) for name in ("generator", "generator-reset")),
    *(("axis 2", name) for name in ("fukushima", "fukushima-departures")),
]


@pytest.mark.parametrize("place", PLACES)
@over(VARIABLES)
def test_special_places(record, place, rng):
    problem = ph.Problem(PROBLEM.body, PROBLEM.model, **(START | PLACES[place]))
    if undefined(record, problem):
        with pytest.raises(ph.InputError, match="cannot describe the initial state"):
            check(ph.INTEGRATORS["rk4"], record, problem, rng)
    else:
        check(ph.INTEGRATORS["rk4"], record, problem, rng, (place, record.name) in KINKS)


def undefined(record, problem):
    """Whether these variables cannot describe the start."""
    try:
        ph.solve(problem, (T, T + H), method="rk4", formulation=record.name, dt=H)
    except ph.InputError:
        return True
    return False


# ---- a given angular velocity
SWING = 1.2, 0.5, 1.3


def swinging(t, q, params):
    a, b, c = params
    return c * math.cos(c * t), b * math.sin(a * t), a + b * math.cos(t)


def rate_derivatives(step):
    """dθ by θ at the start and by the parameters, in 40 digits."""
    q = to_mp(ATTITUDE)
    (w, *v), columns = step(q, to_mp(SWING)), []
    back = w, *(-x for x in v)
    for k in range(6):
        ends = []
        for way in (SMALL, -SMALL):
            move = [way * (i == k) for i in range(6)]
            numbers = tuple(x + d for x, d in zip(to_mp(SWING), move[3:], strict=True))
            end = step(turned(q, move[:3]), numbers)
            ends.append([2 * x for x in hamilton(back, end)[1:]])
        columns.append([(a - b) / (2 * SMALL) for a, b in zip(*ends, strict=True)])
    return np.array(columns, dtype=float).T


def check_rate(record, frame, formulation):
    steps = {"rtol": 0.9, "first_step": H} if record.adaptive else {"dt": H}
    options = {"frame": frame, "method": record, "formulation": formulation, "params": SWING}
    start, names = {"attitude": ATTITUDE, "scalar_first": True}, ["state", "p0", "p1", "p2"]
    alone = ph.prepare_angular_velocity(swinging, **options, **steps)
    with mp.workdps(DIGITS):
        right = rate_derivatives(mp_rate_step(alone, mp.mpf(H), T))
    solver = ph.prepare_angular_velocity(swinging, **options, **steps, sensitivities=names)
    run = solver((T, T + H), **start)
    assert run.nsteps == 1
    assert run.q.tolist() == alone((T, T + H), **start).q.tolist()
    parts = run.stm[-1], *(run.sensitivity[name][-1][:, None] for name in names[1:])
    assert np.abs(np.hstack(parts) - right).max() < CLOSE * np.abs(right).max()


@pytest.mark.parametrize("frame", ["body", "inertial"])
@over(list(ph.INTEGRATORS.values()))
def test_given_rates(record, frame):
    check_rate(record, frame, None)


@pytest.mark.parametrize("name", ["dop853", "rk4"])
@over(list(ph.FORMULATIONS.values()))
def test_given_rates_in_every_formulation(record, name):
    kinematic = record.name if record.name != "quaternion" else "rotor"
    check_rate(ph.INTEGRATORS[name], "body", kinematic)
