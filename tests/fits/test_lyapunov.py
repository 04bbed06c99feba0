"""Lyapunov exponents against closed forms, SciPy, and runs in one piece."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.compiler.tree import flat
from polhode.fits.lyapunov import AdaptiveCourse, FixedCourse
from polhode.solvers.sensitivities import Tangents, scales_of

MOMENTS = (2.0, 3.0, 4.0)
RACKET = ph.Problem(ph.RigidBody(MOMENTS), omega=[0.0, 1.0, 0.0])
CHAOTIC = ph.Problem(
    ph.RigidBody([1.0, 1.6, 2.0]), ph.models.heavy_top(2.0, (0.5, 0.3, 1.0)), omega=[1.0, 0.4, 0.8]
)


def separatrix(moments, m):
    """The exponent at the middle axis: |m| √((1/I1 - 1/I2)(1/I2 - 1/I3))."""
    a, b, c = (1.0 / moment for moment in moments)
    return m * math.sqrt((a - b) * (b - c))


# ---- closed forms
@pytest.mark.parametrize(
    ("settings", "error"),
    [({"dt": 0.05}, 1e-13), ({}, 1e-12), ({"method": "mr2", "dt": 0.02}, 1e-5)],
    ids=["exact flow", "adaptive", "mr2"],
)
def test_the_separatrix_of_a_free_body(settings, error):
    found = ph.lyapunov(RACKET, 1000, **settings)
    exact = separatrix(MOMENTS, 3.0)
    assert abs(found.exponents[0] - exact) < error
    assert found.errors[0] < 1e-10
    assert found.lyapunov_time == pytest.approx(1 / exact, rel=1e-4)


def test_exponents_come_in_pairs_without_being_forced_to():
    found = ph.lyapunov(RACKET, 2000, method="mr2", dt=0.05, exponents=6)
    assert abs(found.exponents[0] + found.exponents[5]) < 1e-12
    assert (np.abs(found.exponents[1:5]) < 2 * found.errors[1:5] + 1e-6).all()
    assert (np.diff(found.exponents) <= 0).all()


@pytest.mark.parametrize("span", [300, 3000])
def test_exponents_of_regular_motions_fall_as_the_time(span):
    """Tangents grow linearly: all that is left is log(T / T0) / (T - T0), T0 = T/10."""
    regular = ph.Problem(ph.RigidBody(MOMENTS), omega=[0.3, 0.1, 1.0])
    found = ph.lyapunov(regular, span, method="mr2", dt=0.05, exponents=2)
    assert abs(found.exponents * span).max() < 1.2 * math.log(10.0) / 0.9
    assert found.lyapunov_time == math.inf


def test_one_value_alone_says_nothing_about_its_error():
    found = ph.lyapunov(CHAOTIC, 0.04, method="mr2", dt=0.02, renormalise_every=100)
    assert len(found.t) == 1
    assert found.errors.tolist() == [math.inf]
    assert found.lyapunov_time == math.inf


# ---- another computation
def euler_poisson(t, y):
    """m and the vertical in body axes of the chaotic top, and a tangent."""
    inverse, centre = 1.0 / np.array([1.0, 1.6, 2.0]), 2.0 * np.array([0.5, 0.3, 1.0])
    m, up, dm, du = y.reshape(4, 3)
    omega, turning = inverse * m, inverse * dm
    return np.concatenate(
        [
            np.cross(m, omega) + np.cross(up, centre),
            np.cross(up, omega),
            np.cross(dm, omega) + np.cross(m, turning) + np.cross(du, centre),
            np.cross(du, omega) + np.cross(up, turning),
        ]
    )


def benettin(problem, span, count):
    """The largest exponent by Euler's and Poisson's equations, with SciPy, and its error."""
    up = problem.rotation.as_matrix()[2] if hasattr(problem, "rotation") else np.array([0, 0, 1.0])
    y, logs = np.concatenate([problem.angular_momentum, up, [0.3, 0.5, 0.1, 0.2, -0.4, 0.0]]), []
    for _ in range(count):
        y = solve_ivp(euler_poisson, (0, span / count), y, method="DOP853", rtol=1e-9).y[:, -1]
        size = np.linalg.norm(y[6:])
        y[6:] /= size
        logs.append(math.log(size))
    late = np.array(logs[count // 10 :]) * count / span
    return late.mean(), late.std() / math.sqrt(len(late) / 4)


def test_a_heavy_top_is_as_chaotic_as_scipy_says():
    expected, spread = benettin(CHAOTIC, 400.0, 200)
    found = ph.lyapunov(CHAOTIC, 4000.0, method="mr4", dt=0.02)
    assert expected > 0.05
    assert abs(found.exponents[0] - expected) < 4 * spread
    assert found.lyapunov_time == pytest.approx(1 / found.exponents[0])
    sides = ph.lyapunov(CHAOTIC, 4000.0, method="mr4", dt=0.02, exponents=6).exponents
    assert abs(sides + sides[::-1]).max() < 0.1 * sides[0]


# ---- renormalising
def courses(problem, settings, columns):
    solver = ph.prepare(problem, sensitivities=Tangents(columns), **settings)
    kind = FixedCourse if "dt" in settings else AdaptiveCourse
    return solver, kind(solver.bound, 0.0, 3.0)


@pytest.mark.parametrize(
    "settings",
    [{"method": "mr2", "dt": 0.01}, {"method": "rk4", "dt": 0.01}, {"method": "dop853"}],
    ids=lambda settings: settings["method"],
)
def test_a_motion_whose_tangents_are_divided_keeps_its_bits(settings):
    columns = np.eye(6)[:, :2]
    solver, course = courses(CHAOTIC, settings, columns)
    whole = np.eye(2)
    while course.fraction < 1.0:
        course.advance(7)
        triangle = np.triu([[1.7, 0.4], [0.0, 0.6]])
        course.divide(triangle)
        whole = triangle @ whole
    run = ph.solve(CHAOTIC, (0.0, 3.0), sensitivities=["state"], **settings)
    rows = solver.bound.loops.states(
        np.array([course.t]), course.row[:, : solver.bound.width], course.body
    )
    assert (rows[0, :4] == run.q[-1]).all()
    found, expected = course.tangents @ whole, run.stm[-1] @ columns
    unit = 1e-12 if settings["method"] == "mr2" else 1e-9  # how well |q| = 1 is kept
    assert abs(found - expected).max() < unit * abs(expected).max()


def test_nothing_overflows_and_renormalising_more_often_changes_nothing():
    assert separatrix(MOMENTS, 3.0) * 5000 > 1000  # exp(1000) is no float
    rare = ph.lyapunov(RACKET, 5000, method="mr2", dt=0.05)
    often = ph.lyapunov(RACKET, 5000, method="mr2", dt=0.05, renormalise_every=40)
    assert often.renormalisations == 2500 > rare.renormalisations
    assert abs(rare.exponents - often.exponents).max() < 1e-12
    assert np.isfinite(rare.running).all()
    with pytest.raises(ph.StepError, match="give a smaller renormalise_every"):
        ph.lyapunov(RACKET, 5000, method="mr2", dt=0.05, renormalise_every=100_000)


def test_running_values_are_thinned_but_end_with_the_result():
    found = ph.lyapunov(RACKET, 1000, method="mr2", dt=0.05, renormalise_every=3)
    assert found.renormalisations == math.ceil(20_000 / 3)
    assert len(found.t) < 2001
    assert found.t[-1] == 1000.0
    assert found.nsteps == 20_000
    assert (found.running[-1] == found.exponents).all()
    assert found.t[0] >= 100.0


def test_tangents_that_are_given():
    """Along the unstable axis all growth is there from the start; across it there is none."""
    a, b, c = (1.0 / moment for moment in MOMENTS)
    settings = {"method": "strang", "dt": 0.05, "transient": 0.0}
    grow = [0, 0, 0, math.sqrt(b - c), 0, -math.sqrt(a - b)]
    shrink = [0, 0, 0, math.sqrt(b - c), 0, math.sqrt(a - b)]
    pairs = [ph.lyapunov(RACKET, 40, tangents=one, **settings) for one in (grow, shrink)]
    rates = sorted(pair.running[0, 0] / separatrix(MOMENTS, 3.0) for pair in pairs)
    assert rates[0] < 0.5 < rates[1] < 1.5


def test_a_body_with_a_position_and_one_with_variables():
    moving = ph.Problem(
        ph.RigidBody(MOMENTS), ph.models.spring(3.0, (0.2, 0.1, 0.0), (0.0, 0.0, 0.0)),
        omega=[0.3, 0.2, 1.0], position=(0.3, 0.0, 0.1),
    )  # fmt: skip
    assert len(scales_of(moving)) == 12
    assert len(ph.lyapunov(moving, 20, method="mr2", dt=0.02, exponents=12).exponents) == 12
    damped = ph.Problem(
        ph.RigidBody(MOMENTS), ph.models.ring_damper(0.1, 0.05), omega=[0.1, 0.2, 1.0]
    )
    found = ph.lyapunov(damped, 50, method="mkrk:rk4", dt=0.05, exponents=len(scales_of(damped)))
    assert len(found.exponents) == 6 + len(flat(damped.model.variables))
    assert found.exponents[-1] < -0.1


def test_units_of_a_body_at_rest():
    """Where there is no momentum, that of 1 rad/s is the unit."""
    at_rest = ph.Problem(ph.RigidBody(MOMENTS), ph.models.heavy_top(1.0), omega=[0, 0, 0])
    assert scales_of(at_rest).tolist() == [1.0] * 3 + [4.0] * 3


# ---- what it shows
def test_it_says_what_it_found():
    found = ph.lyapunov(RACKET, 100, method="mr2", dt=0.05, exponents=2)
    text = repr(found)
    assert "exponents 0.35" in text
    assert "method   mr2, dt=0.05" in text
    assert "sensitivities" not in text
    assert "<table" in found._repr_html_()
    regular = ph.Problem(ph.RigidBody(MOMENTS), omega=[0.3, 0.1, 1.0], name="tumbling")
    assert "infinite" in repr(ph.lyapunov(regular, 100, method="mr2", dt=0.05))


@pytest.mark.parametrize("exponents", [1, 3])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_drawn(exponents, theme):
    ax = Figure().add_subplot()
    found = ph.lyapunov(RACKET, 100, method="mr2", dt=0.05, exponents=exponents)
    assert found.plot(ax, theme=theme) is ax
    assert ax.get_xlabel() == "time (s)"
    assert len(ax.lines) == exponents + 1 + (exponents > 1)


# ---- arguments
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"t_span": 0.0}, "t_span must be a length of time, or"),
        ({"exponents": 7}, "exponents must be from 1 to 6 for this problem, got 7"),
        ({"exponents": 0}, "exponents must be a whole number, 1 or more"),
        ({"tangents": np.ones((6, 2))}, r"tangents must be 1 columns of 6 .* got shape \(6, 2\)"),
        ({"exponents": 2, "tangents": np.ones((6, 2))}, "do not depend on each other"),
        ({"transient": 1.0}, "transient must be a share of the span, from 0 to 1, got 1.0"),
        ({"renormalise_every": 0.5}, "renormalise_every must be a whole number"),
        ({"dt": 20.0, "method": "mr2"}, "t_span must hold a step of dt=20.0"),
        ({"problem": 3}, "problem must be a Problem, got 3"),
    ],
)
def test_mistakes(given, message):
    arguments = {"problem": RACKET, "t_span": 10.0, **given}
    with pytest.raises(ph.InputError, match=message):
        ph.lyapunov(**arguments)


def test_a_motion_that_stops():
    def blows_up(t, q, omega, params):
        return 0.0, 0.0, (1.0 if t < 3.0 else math.inf)

    problem = ph.Problem(ph.RigidBody(MOMENTS), ph.torque(blows_up), omega=[0, 0, 1])
    with pytest.raises(ph.StepError, match=r"the motion stopped at t = 2\.9.* overflowed"):
        ph.lyapunov(problem, 10.0, method="mr2", dt=0.1)
