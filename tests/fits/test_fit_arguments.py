"""Mistakes in the arguments of fits and observations are named, with the remedy."""

import math
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from support.fits import METHOD, top

T = np.array([0.1, 0.2, 0.3, 0.4])
R = Rotation.from_rotvec(np.full((4, 3), 0.1))
W = np.ones((4, 3))
pytestmark = pytest.mark.usefixtures("plain")


def rates(**options):
    return ph.observe.rates(T, W, **{"sigma": 0.1, **options})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ph.observe.attitudes(T, R), "attitudes: give sigma= or covariance=, got neither"),
        (lambda: rates(covariance=np.eye(3)), "rates: give sigma= or covariance=, got both"),
        (lambda: rates(sigma=0.0), "rates: sigma must be a positive number, 3 for the axes, 4 for"),
        (lambda: rates(sigma=[1.0, 2.0]), "or both as rows, got shape (2,)"),
        (lambda: rates(sigma=np.full((4, 3), -1.0)), "got -1"),
        (lambda: rates(sigma="small"), "got 'small'"),
        (lambda: rates(sigma=np.nan), "all finite, got nan"),
        (
            lambda: rates(sigma=None, covariance=np.eye(2)),
            "covariance must be a symmetric positive matrix of shape (3, 3), or 4 of them, got"
            " shape (2, 2)",
        ),
        (
            lambda: rates(sigma=None, covariance=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]),
            "and it is not symmetric",
        ),
        (
            lambda: rates(sigma=None, covariance=np.diag([1.0, -1.0, 1.0])),
            "matrix 0 has the eigenvalue -1",
        ),
        (lambda: ph.observe.rates(T, W[:3], sigma=1), "one for each of 4 times, got shape (3, 3)"),
        (lambda: ph.observe.rates(T, "fast", sigma=1), "got 'fast'"),
        (
            lambda: ph.observe.rates(T, W * [[1], [np.nan], [1], [1]], sigma=1),
            "omega[1] is not fin",
        ),
        (lambda: ph.observe.rates([], W, sigma=1), "rates: t must be a list of finite times, got"),
        (lambda: ph.observe.rates([T], W, sigma=1), "list of finite times, got shape (1, 4)"),
        (lambda: ph.observe.rates(["now"], W, sigma=1), "rates: t must be times, got ['now']"),
        (lambda: rates(bias=[1, 2]), "bias must be True, False, or three numbers to start from"),
        (lambda: rates(name="a.b"), "name must be a text without dots, got 'a.b'"),
        (lambda: ph.observe.attitudes(T, R[:3], sigma=1), "there are 4 times and 3 attitudes"),
        (lambda: ph.observe.attitudes(T, R.as_quat(), sigma=1), "give scalar_first=True for"),
        (
            lambda: ph.observe.attitudes(T, 2 * R.as_quat(), sigma=1, scalar_first=False),
            "attitudes[0] must be a unit quaternion, but its norm is 2",
        ),
        (lambda: ph.observe.attitudes(T, W, sigma=1), "a SciPy Rotation, or quaternions (n, 4)"),
        (lambda: ph.observe.directions(T, 0 * W, [1, 0, 0], sigma=1), "measured[0] is zero and"),
        (lambda: ph.observe.directions(T, W, [1, 0], sigma=1), "known must be rows of three num"),
        (lambda: ph.observe.positions(T, W[0], sigma=1), "positions: x must be rows of three"),
        (
            lambda: ph.observe.function(3, T, T, sigma=1),
            "f must be a function f(t, q, params), got 3",
        ),
        (lambda: ph.observe.function(lambda t: t, T, T, sigma=1), "f must take 3 arguments"),
        (
            lambda: ph.observe.function(lambda t, q, p: t, T, T[:2], sigma=1),
            "function: values must be 4 numbers, one for each time, got shape (2,)",
        ),
        (
            lambda: ph.observe.function(lambda t, q, p: t, T, T, sigma=[1, 2]),
            "sigma must be a positive number, or 4 of them, one for each time, got shape (2,)",
        ),
    ],
)
def test_of_observations(make, message):
    with pytest.raises(ph.InputError, match=re.escape(message)):
        make()


ONE = rates()
PUSHED = ph.observe.positions(T, W, sigma=1.0)
WHOLE = {"free": "omega"}


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ("none", WHOLE, "observations must be made by ph.observe"),
        ([], WHOLE, "observations must be made by ph.observe"),
        (None, WHOLE, "observations must be made by ph.observe: ph.observe.attitudes(t, R, sigma="),
        (3.0, WHOLE, "observations must be made by ph.observe"),
        ([ONE, ONE], WHOLE, "two sets of observations are called 'rates': give name= to one"),
        (PUSHED, WHOLE, "positions: a position was observed, and the problem has none"),
        (ONE, {"free": "omgea"}, "free has 'omgea', which this problem has not (did you mean 'ome"),
        (ONE, {"free": ["mass"]}, "choose from state, attitude, angular_momentum, omega, inertia"),
        (ONE, {"free": ["state", "omega"]}, "which 'state' includes and 'omega': leave out one"),
        (ONE, {"free": ["inertia", "moments"]}, "free has 'inertia' and 'moments'"),
        (ONE, {"free": []}, "free names nothing, so there is nothing to fit"),
        (ONE, {"free": 3}, "free has 3, which this problem has not"),
        (
            ONE,
            {**WHOLE, "hold": "trace of inertia"},
            "for fits in which inertia or moments is free",
        ),
        (ONE, {**WHOLE, "hold": "size"}, "hold has 'size'; choose from trace of inertia, sum of"),
        (
            ONE,
            {**WHOLE, "hold": "omega"},
            "hold keeps all of 3 unknowns: omega.x, omega.y, omega.z",
        ),
        (ONE, {**WHOLE, "hold": ["omega.x", "omega.x"]}, "says nothing that the others do not"),
        (ONE, {**WHOLE, "hold": 3}, "hold must be names of combinations, got 3"),
        (ONE, {**WHOLE, "hold": {"omega": 1}}, "hold has 'omega'; choose from"),
        (ONE, {**WHOLE, "hold": lambda v: v["size"]}, "a function of the values of omega by name"),
        (ONE, {**WHOLE, "hold": lambda v: 3.0}, "holds nothing that is free"),
        (ONE, {**WHOLE, "hold": lambda v: v["omega"].size()}, "it failed: TypeError: 'int' obj"),
        (ONE, {**WHOLE, "hold": lambda v: v["omega"].length}, "it failed: AttributeError: 'numpy"),
        (
            ONE,
            {**WHOLE, "hold": lambda v: np.nan},
            "must return a finite number, and near the start it is",
        ),
        (ONE, {**WHOLE, "hold": [["omega.x"]]}, "hold has ['omega.x']; choose from trace of ine"),
        (ONE, {**WHOLE, "hold": {"omega.x": "much"}}, "hold: the coefficient of 'omega.x' must be"),
        (ONE, {**WHOLE, "hold": {"omega.x": np.nan}}, "of 'omega.x' must be finite, got nan"),
        (ONE, {**WHOLE, "hold": {}}, "hold has an empty mapping"),
        (ONE, {**WHOLE, "t_span": (0, 0.35)}, "rates: t[3] = 0.4 is outside t_span (0, 0.35)"),
        (ONE, {**WHOLE, "t_span": 3}, "t_span must be two numbers"),
        (ONE, {**WHOLE, "loss": "square"}, "loss must be one of linear, soft_l1, huber, cauchy"),
        (ONE, {**WHOLE, "loss_scale": 0}, "loss_scale must be positive"),
        (ONE, {**WHOLE, "max_iterations": 0}, "max_iterations must be a whole number, 1 or more"),
        (ONE, {**WHOLE, "t_eval": T}, "fit has no argument t_eval=; those of solvers are"),
        (ONE, {**WHOLE, "steps": 3}, "fit has no argument steps="),
    ],
)
def test_of_fits(given, options, message):
    with pytest.raises(ph.InputError, match=re.escape(message)):
        ph.fit(top(), given, **{"t_span": (0, 1), **METHOD, **options})


def test_of_the_problem():
    with pytest.raises(ph.InputError, match="problem must be a Problem, from which the fit starts"):
        ph.fit(ph.RigidBody([1, 2, 2]), ONE, free="omega")


def test_a_start_that_cannot_be_solved_says_why():
    def falls(t, q, omega, params):
        return math_error(t), 0.0, 0.0

    def math_error(t):
        return 1.0 / (0.2 - t) ** 0.5 if t < 0.2 else float("nan")

    problem = ph.Problem(ph.RigidBody([1.0, 2.0, 2.5]), ph.torque(falls), omega=[1.0, 0.0, 0.0])
    with pytest.raises(
        ph.InputError, match="cannot be compared with the observations at the start"
    ):
        ph.fit(problem, ONE, free="omega", t_span=(0, 1), method="mr2", dt=0.01)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t, q, p: q, "function '<lambda>' must return one number, returned (1.0, 0.0"),
        (lambda t, q, p: 1e308 * 10.0 * q[0], "must return finite numbers with derivatives"),
    ],
)
def test_functions_must_return_a_number(function, message):
    curve = ph.observe.function(function, T[:1], [1.0], sigma=1.0)
    with pytest.raises(ph.InputError, match=re.escape(message)):
        ph.fit(top(), [curve, ONE], free="omega", t_span=(0.1, 1), **METHOD)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t, q, p: q[7], "function '<lambda>' fails at t = 0.1: IndexError: tuple index"),
        (lambda t, q, p: math.sqrt(-q[0] - 2.0), "function '<lambda>' fails at t = 0.1: ValueErr"),
    ],
)
def test_functions_that_fail(function, message):
    curve = ph.observe.function(function, T[:1], [1.0], sigma=1.0)
    with pytest.raises(ph.InputError, match=re.escape(message)):
        ph.fit(top(), [curve, ONE], free="omega", t_span=(0.1, 1), **METHOD)


@pytest.mark.parametrize("start", [9.0, 2.0])
def test_a_step_to_where_a_function_is_not_defined_is_cut(start):
    """A full step from a = 9 towards the root of 0.1 leads to a = -8.4, which has none."""

    def root(t, q, params):
        return math.sqrt(params[0])

    curve = ph.observe.function(root, T, np.full(4, 0.1), sigma=0.01, params={"a": start})
    truth = ph.solve(top(), (0, 1), t_eval=T, **METHOD).omega
    gyro = ph.observe.rates(T, truth, sigma=0.1)
    free = ["omega", "function.a"]
    fit = ph.fit(top(), [curve, gyro], free=free, t_span=(0, 1), **METHOD)
    assert fit.success
    assert fit.values["function.a"] == pytest.approx(0.01, rel=1e-2)


def test_observations_show_what_they_are():
    assert repr(rates(name="gyro")) == "<gyro: 4 times, t = 0.1 to 0.4>"
