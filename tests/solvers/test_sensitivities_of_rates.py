"""Derivatives of attitudes that follow from a given angular velocity."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph

RATE, ANGLE = 2.0, 0.1
START = Rotation.from_rotvec([0.3, -0.2, 0.5])
METHODS = [
    {"method": "auto", "rtol": 1e-9},
    {"method": "extrapolation", "rtol": 1e-9},
    {"method": "vern9", "rtol": 1e-9},
    {"method": "magnus6", "dt": 0.05},
    {"method": "gauss", "dt": 0.1},
    {"method": "rk4", "dt": 0.05},
]


def coning(t, q, params):
    rate, angle = params
    return angle * math.cos(rate * t), angle * math.sin(rate * t), 1.0


def steered(t, q, params):
    gain, (east, north) = params
    w, x, y, z = q
    return gain * (x * z - w * y) + east, gain * (y * z + w * x) + north, 0.3


def integrated(omega, params, span=(0.0, 3.0), attitude=START, frame="body", **options):
    return ph.integrate_angular_velocity(
        omega, span, frame=frame, params=params, attitude=attitude, **options
    )


def differences(end, step=1e-5):
    """Return the derivative of ``end(x)``, a rotation, at 0: a turn in body axes."""
    ahead, back = (end(0.0).inv() * end(x) for x in (step, -step))
    return (ahead.as_rotvec() - back.as_rotvec()) / (2.0 * step)


@pytest.mark.parametrize("options", METHODS, ids=lambda options: options["method"])
@pytest.mark.parametrize("frame", ["body", "inertial"])
def test_derivatives_are_those_of_runs(options, frame):
    given = {"rate": RATE, "angle": ANGLE}
    plain = integrated(coning, given, frame=frame, **options)
    run = integrated(coning, given, frame=frame, sensitivities=["state", "rate"], **options)
    assert np.array_equal(run.q, plain.q)
    assert run.stm.shape == (len(run), 3, 3)

    def end(x):
        return integrated(coning, given | {"rate": RATE + x}, frame=frame, **options).rotation[-1]

    np.testing.assert_allclose(run.sensitivity["rate"][-1], differences(end), atol=3e-8)
    # ω does not depend on the attitude: a turn in body axes is turned back, or stays in the body
    turned = run.rotation[-1].inv() * START if frame == "body" else Rotation.identity()
    np.testing.assert_allclose(run.stm[-1], turned.as_matrix(), atol=1e-12)
    inside = run.sol([0.7, 2.9])
    assert np.array_equal(inside.q, plain.sol([0.7, 2.9]).q)
    np.testing.assert_allclose(run.sol(run.t[-1]).stm[0], run.stm[-1], atol=1e-12)


def test_omega_of_the_attitude():
    given = {"gain": 0.8, "wind": (0.2, 0.5)}
    options = {"rtol": 1e-11}
    run = integrated(steered, given, sensitivities=["state", "gain", "wind"], **options)
    assert run.sensitivity["wind"].shape == (len(run), 3, 2)

    def other_gain(x):
        return integrated(steered, given | {"gain": 0.8 + x}, **options).rotation[-1]

    def other_wind(x):
        return integrated(steered, given | {"wind": (0.2, 0.5 + x)}, **options).rotation[-1]

    def turned(x):
        start = START * Rotation.from_rotvec([0.0, x, 0.0])
        return integrated(steered, given, attitude=start, **options).rotation[-1]

    np.testing.assert_allclose(run.sensitivity["gain"][-1], differences(other_gain), atol=1e-8)
    np.testing.assert_allclose(
        run.sensitivity["wind"][-1, :, 1], differences(other_wind), atol=1e-8
    )
    np.testing.assert_allclose(run.stm[-1, :, 1], differences(turned), atol=1e-8)


def test_inertial_axes():
    by = ph.Sensitivities(["state", "gain"], frame="inertial")
    given = {"gain": 0.8, "wind": (0.2, 0.5)}
    here = integrated(steered, given, rtol=1e-10, sensitivities=["state", "gain"])
    there = integrated(steered, given, rtol=1e-10, sensitivities=by)
    outer, start = here.rotation.as_matrix(), START.as_matrix()
    np.testing.assert_allclose(there.stm, outer @ here.stm @ start.T, atol=1e-13)
    expected = np.einsum("nij,nj->ni", outer, here.sensitivity["gain"])
    np.testing.assert_allclose(there.sensitivity["gain"], expected, atol=1e-13)


def test_variables():
    """A filter that follows a rate: y' = (ω - y) / τ, and the body turns with y."""

    def filtered(t, q, y, params):
        return (0.1, y, 0.2), (math.sin(t) - y) / params[0]

    options = {"frame": "body", "rtol": 1e-10, "variables": {"lag": 0.4}}
    asked = ["state", "tau"]
    run = ph.integrate_angular_velocity(
        filtered, (0, 3), params={"tau": 0.7}, sensitivities=asked, **options
    )
    assert run.stm.shape == (len(run), 4, 4)
    assert run.sensitivity["tau"].shape == (len(run), 4)
    np.testing.assert_allclose(run.stm[:, 3, 3], np.exp(-run.t / 0.7), rtol=1e-8)
    again = [
        ph.integrate_angular_velocity(filtered, (0, 3), params={"tau": tau}, **options)
        for tau in (0.7 + 1e-5, 0.7 - 1e-5)
    ]
    ends = [each.variables["lag"][-1] for each in again]
    assert run.sensitivity["tau"][-1, 3] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-8)


def test_errors_name_what_there_is():
    with pytest.raises(ph.InputError, match=r"no 'momentum' .* state, attitude, rate, angle"):
        integrated(coning, {"rate": RATE, "angle": ANGLE}, sensitivities=["momentum"])
    with pytest.raises(ph.InputError, match=r"omega must be a function omega\(t, q, params\)"):
        ph.integrate_angular_velocity(lambda t: (0, 0, 1), (0, 1), frame="body", params=[1.0])
