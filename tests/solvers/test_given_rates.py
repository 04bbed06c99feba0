"""ω(t, q): which integrator is the default, and runs of it against a closed form.

The motion is that of ``support/given_motion``.  Its rate is given in the other axes than those in
which it is a function of time, so that it has to be turned by the attitude.
"""

import math

import numpy as np
import pytest

import polhode as ph
from support.bits import plain_bits
from support.given_motion import attitudes, small_chunks

START = {"attitude": tuple(attitudes([0.0])[0].tolist()), "scalar_first": True}
TIMES = np.linspace(0.0, 6.0, 31)
BETWEEN = dict(t_eval=TIMES, **START)


# ---- the rates
def turned(q, v, sign):
    """q v q* for a sign of 1, q* v q for -1."""
    w, x, y, z = q[0], sign * q[1], sign * q[2], sign * q[3]
    a, b, c = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return (
        v[0] + w * a + y * c - z * b,
        v[1] + w * b + z * a - x * c,
        v[2] + w * c + x * b - y * a,
    )


def inertial_of(t, a):
    c = 1.17 * math.cos(1.3 * t)
    return c * math.cos(a), c * math.sin(a), 1.2 + 0.5 * math.cos(t)


def body_of(t, b):
    c = 1.2 + 0.5 * math.cos(t)
    return 1.17 * math.cos(1.3 * t), c * math.sin(b), c * math.cos(b)


def in_body(t, q):
    return turned(q, inertial_of(t, 1.2 * t + 0.5 * math.sin(t)), -1.0)


def in_inertial(t, q):
    return turned(q, body_of(t, 0.9 * math.sin(1.3 * t) + 0.4), 1.0)


ALONE = {"body": in_body, "inertial": in_inertial}


# with the angle of (1) of the motion as a variable, and something that follows the attitude
def body_beside(t, q, y, params):
    return turned(q, inertial_of(t, y[0]), -params[0])


def slope_of_a(t, q, y, params):
    return 1.2 + 0.5 * math.cos(t), q[0]


def inertial_beside(t, q, y, params):
    return turned(q, body_of(t, y[0]), params[0])


def slope_of_b(t, q, y, params):
    return 1.17 * math.cos(1.3 * t), q[0]


def beside(angle, slope):
    return {"variables": {"angle": angle, "sum": 0.0}, "params": (1.0,), "slope": slope}


BESIDE = {
    "body": (body_beside, beside(0.0, slope_of_a)),
    "inertial": (inertial_beside, beside(0.4, slope_of_b)),
}
ANGLES = {
    "body": lambda t: 1.2 * t + 0.5 * np.sin(t),
    "inertial": lambda t: 0.9 * np.sin(1.3 * t) + 0.4,
}
FRAMES = pytest.mark.parametrize("frame", ["body", "inertial"])


def error(run):
    right = attitudes(run.t)
    return np.abs(run.q * math.copysign(1.0, run.q[0] @ right[0]) - right).max()


# ---- the choice
def branching(t, q):
    return in_body(t, q) if q[0] > -2.0 else (0.0, 0.0, 0.0)


def with_least(t, q):
    x, y, z = in_body(t, q)
    return x, y, z + 0.0 * min(q[1], q[2])


TABLE = {"rate": in_body}


def by_name(t, q):
    return TABLE["rate"](t, q)


def rooted(t, q):
    return math.sqrt(1.0 + q[1] * q[1]), abs(q[2]) ** 3, math.exp(-q[3])


@pytest.mark.parametrize(
    ("omega", "method"),
    [
        (in_body, "extrapolation"),
        (rooted, "extrapolation"),
        (with_least, "extrapolation"),
        (lambda t, q: (0, 0, 1) if t > 1.0 else (0, 1, 0), "vern9"),
        (branching, "vern9"),
        (by_name, "vern9"),
    ],
    ids=["smooth", "roots", "min", "branch on t", "branch on q", "plain"],
)
def test_the_default_is_what_omega_can_take(omega, method):
    solver = ph.prepare_angular_velocity(omega, frame="body")
    assert solver.integrator.name == method
    assert "omega depends on the attitude" in solver.reason
    assert ("four numbers at once" in solver.reason) == (method == "vern9")


@FRAMES
def test_the_default_with_variables(frame):
    omega, given = BESIDE[frame]

    def branching(t, q, y, params):
        return omega(t, q, y, params) if y[1] < 1e9 else (0.0, 0.0, 0.0)

    for function, method in ((omega, "extrapolation"), (branching, "vern9")):
        solver = ph.prepare_angular_velocity(function, frame=frame, **given)
        assert solver.integrator.name == method
        assert "there are variables" in solver.reason


def test_variables_of_the_attitude_that_branch():
    """Generators, near the identity, and frames, which become a quaternion by its largest part."""
    names = ("quaternion", "extrapolation"), ("generator", "vern9"), ("vectors2", "vern9")
    for name, method in names:
        solver = ph.prepare_angular_velocity(rooted, frame="body", formulation=name)
        assert solver.integrator.name == method


def test_omega_is_looked_at_again_when_it_changes():
    limit = 0.5

    def omega(t, q):
        return (0.0, 0.0, q[0]) if limit is None or q[1] < limit else (0.0, 0.0, 1.0)

    assert ph.prepare_angular_velocity(omega, frame="body").integrator.name == "vern9"
    limit = None
    assert ph.prepare_angular_velocity(omega, frame="body").integrator.name == "extrapolation"


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_what_cannot_be_compiled():
    run = ph.integrate_angular_velocity(by_name, (0.0, 6.0), frame="body", **BETWEEN)
    assert run.method == "vern9"
    assert error(run) < 1e-8


def test_mistakes_are_shown_as_before():
    def wrong(t, q):
        return q[0], q[1]

    with pytest.raises(ph.InputError, match=r"omega fails at t = 0.0: .*three numbers"):
        ph.integrate_angular_velocity(wrong, (0.0, 1.0), frame="body")


# ---- runs
@pytest.mark.usefixtures("plain")
@FRAMES
@pytest.mark.parametrize("method", ["extrapolation", "vern9"])
@pytest.mark.parametrize("formulation", ["rotor", "generator-reset", "vectors2"])
def test_runs_follow_the_closed_form(frame, method, formulation):
    asked = {"frame": frame, "method": method, "formulation": formulation, "rtol": 1e-10}
    run = ph.integrate_angular_velocity(ALONE[frame], (0.0, 6.0), **asked, **BETWEEN)
    assert error(run) < 1e-8
    omega, given = BESIDE[frame]
    run = ph.integrate_angular_velocity(omega, (0.0, 6.0), **asked, **BETWEEN, **given)
    assert error(run) < 1e-8
    np.testing.assert_allclose(run.variables["angle"], ANGLES[frame](TIMES), atol=1e-8)


@FRAMES
def test_runs_in_pieces_have_the_same_bits(frame):
    """Alone and with variables."""
    omega, given = BESIDE[frame]
    for function, more in ((ALONE[frame], {}), (omega, given)):
        asked = {"frame": frame, "rtol": 1e-11, **START, **more}
        run = ph.integrate_angular_velocity(function, (0.0, 6.0), **asked)
        assert run.method == "extrapolation"
        assert error(run) < 1e-9
        with small_chunks(2, 3):
            pieces = ph.integrate_angular_velocity(function, (0.0, 6.0), **asked)
        assert pieces.t.tobytes() == run.t.tobytes()
        assert pieces.q.tobytes() == run.q.tobytes()
        assert pieces.nfev == run.nfev


@FRAMES
def test_machine_code_and_plain_python_have_the_same_bits(frame):
    omega, given = BESIDE[frame]
    asked = {"frame": frame, "method": "rk4", "dt": 0.1, **START, **given}
    run = ph.integrate_angular_velocity(omega, (0.0, 3.0), **asked)
    with plain_bits():
        plain = ph.integrate_angular_velocity(omega, (0.0, 3.0), **asked)
    assert plain.q.tobytes() == run.q.tobytes()
    assert plain.variables["sum"].tobytes() == run.variables["sum"].tobytes()
