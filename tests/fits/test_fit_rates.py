"""Fits of motions whose angular velocity is given."""

import json
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.fits.motion import Motion
from polhode.fits.rates import RateUnknowns
from polhode.fits.unknowns import unknowns_of

pytestmark = pytest.mark.usefixtures("plain")
METHOD = {"method": "rk4", "dt": 0.1}
TIMES = np.arange(0.0, 4.0, 0.4)
TABLE = np.linspace(0.0, 1.0, 20)


def swinging(t, q, y, params):
    """A nod whose angle y is damped, and a steady turn; the table is not used."""
    size, (turn, drag), _ = params
    return (size * math.cos(t) + y[1], 0.1 * q[1], turn), (y[1], -drag * y[1] - y[0])


def motion(size=0.3, turn=0.5, pace=0.2, attitude=(0.01, -0.02, 0.03)):
    return ph.RateProblem(
        omega=swinging,
        frame="body",
        attitude=Rotation.from_rotvec(attitude),
        variables={"angle": 0.1, "pace": pace},
        params={"size": size, "rest": (turn, 0.2), "table": TABLE},
        name="swing",
    )


@pytest.fixture
def seen(rng):
    run = motion().solve((0, 4), t_eval=TIMES, **METHOD)
    noise = Rotation.from_rotvec(1e-4 * rng.normal(size=(len(TIMES), 3)))
    return ph.observe.attitudes(TIMES, run.rotation * noise, sigma=1e-4)


def test_a_motion_solves_itself():
    one = motion()
    given = one.variables, one.params
    run = ph.integrate_angular_velocity(
        swinging, (0, 4), frame="body", attitude=one.attitude, scalar_first=True,
        variables=given[0], params=given[1], **METHOD,
    )  # fmt: skip
    assert np.array_equal(run.q, one.solve((0, 4), **METHOD).q)
    assert repr(one).startswith("<RateProblem swing: swinging, attitude [0.99")
    with pytest.raises(ph.InputError, match="omega must be a function, got 3"):
        ph.RateProblem(omega=3, frame="body")


def test_all_is_recovered(seen, tmp_path):
    start = motion(0.33, 0.45, 0.25, (0.0, 0.0, 0.0))
    fit = ph.fit(start, seen, free=["state", "size", "rest"], **METHOD)
    assert fit.success
    assert fit.names[3:] == ("angle", "pace", "size", "rest.1", "rest.2")
    truth = np.array([0.1, 0.2, 0.3, 0.5, 0.2])
    found = np.array([fit.value_of(name) for name in fit.names[3:]])
    assert np.abs((found[:, 0] - truth) / found[:, 1]).max() < 4.0
    assert fit.problem.params["rest"] == pytest.approx((0.5, 0.2), abs=0.01)
    assert fit.problem.params["table"] is start.params["table"]
    there = Rotation.from_rotvec([0.01, -0.02, 0.03])
    assert (fit.values["attitude"].inv() * there).magnitude() < 1e-3
    assert json.loads(fit.save(tmp_path / "fit.json").read_text())["problem"]["name"] == "swing"


def test_derivatives_agree_with_differences(seen):
    start = motion()
    unknowns = unknowns_of(RateUnknowns, start, (seen,), ["state", "size", "rest"])
    moving = Motion(unknowns, (0.0, 4.0), METHOD)
    u = unknowns.start + 0.01
    found = moving.at(u).slopes
    for k in range(len(u)):
        shift = 1e-5 * np.eye(len(u))[k]
        ahead, behind = (moving.at(u + sign * shift).residuals for sign in (1, -1))
        slope = (ahead - behind) / 2e-5
        assert np.abs(slope - found[:, k]).max() < 1e-6 * np.abs(slope).max(), unknowns.names[k]


def test_holds_and_what_is_undetermined(seen):
    start = motion(0.33)
    fit = ph.fit(start, seen, free=["attitude", "size"], hold={"attitude.x": 1.0}, **METHOD)
    assert fit.value_of("attitude.x") == (pytest.approx(0.0, abs=1e-15), 0.0)

    def still(t, q, params):
        return 0.1, 0.2, params[0] * params[1]

    problem = ph.RateProblem(omega=still, frame="body", params={"a": 0.5, "b": 1.0})
    with pytest.raises(ph.InputError, match="if one changes a by 1 %, b by -1 %; hold one of: '"):
        ph.fit(problem, seen, free=["a", "b"], **METHOD)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"free": "weight"}, "choose from state, attitude, angle, pace, size, rest"),
        ({"free": "table"}, "free has 'table'"),
        ({"hold": "trace of inertia"}, "hold has 'trace of inertia'; choose from attitude.x"),
        ({"options": {}}, "fit has no argument options="),
    ],
)
def test_mistakes(seen, change, message):
    with pytest.raises(ph.InputError, match=message):
        ph.fit(motion(), seen, **{"free": ["attitude", "size"], **METHOD, **change})


def test_rates_cannot_be_observed():
    gyro = ph.observe.rates(TIMES, np.ones((len(TIMES), 3)), sigma=1.0)
    with pytest.raises(ph.InputError, match="the angular velocity of a RateProblem is given"):
        ph.fit(motion(), gyro, free="size", **METHOD)
