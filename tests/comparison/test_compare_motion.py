"""``compare`` with six degrees of freedom: its reference, and errors of position and velocity."""

import csv
import json
import math

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.comparison.compare import usual_methods
from polhode.comparison.reference import angle, place_at, relative, true_end
from support import joint_schemes
from support.convergence import estimate_order
from support.joint_schemes import WORLD
from support.translating_bodies import BODY, CHARGED, REFERENCE_ERROR, SPRUNG

SPAN = 0.0, 2.0
KINDS = "attitude_error", "momentum_error", "position_error", "velocity_error"


def compared(problem=SPRUNG.problem, span=SPAN, **arguments):
    return ph.compare(problem, span, **{"methods": ["mkrk:rk4"], "repeats": 1, **arguments})


# ---- the reference
@pytest.mark.parametrize("flight", [SPRUNG, CHARGED], ids=lambda flight: flight.name)
def test_the_reference_is_that_of_scipy(flight):
    """From ``Flight.rate``: force and torque with attitude matrices, in inertial axes."""
    found = true_end(flight.problem, SPAN)
    assert found.route.startswith("order 8 on Newton's and Euler's equations")
    rs, omega, x, v = flight.reference(SPAN)
    q = ph.Problem(BODY, attitude=rs[-1], omega=(0, 0, 0)).attitude
    assert angle(found.q, q) < REFERENCE_ERROR
    momentum = BODY.inertia @ omega[-1]
    assert relative(found.angular_momentum, momentum) < REFERENCE_ERROR
    assert math.dist(found.place.position, x[-1]) < REFERENCE_ERROR
    assert math.dist(found.place.velocity, v[-1]) < REFERENCE_ERROR


def test_the_error_of_the_reference_is_honest():
    """Against 40 digits; force and torque depend on everything."""
    found = true_end(joint_schemes.PROBLEM, (0.0, 1.0))
    with mp.workdps(joint_schemes.DIGITS):
        y = WORLD.motion()(mp.mpf(1))
        r = np.array([float(x) for x in y[:9]]).reshape(3, 3)
        momentum, x, p = (np.array([float(x) for x in y[i : i + 3]]) for i in (9, 12, 15))
    q = ph.Problem(BODY, attitude=r, omega=(0, 0, 0)).attitude
    place = found.place
    assert angle(found.q, q) < found.attitude_error < 5e-15
    assert relative(found.angular_momentum, r.T @ momentum) < found.momentum_error < 5e-15
    off = math.dist(place.position, x) / place.position_scale
    assert off < place.position_error < 5e-15
    off = math.dist(place.velocity, p / joint_schemes.MASS) / place.velocity_scale
    assert off < place.velocity_error < 5e-15
    assert not found.keeps_energy


def test_the_reference_of_a_projectile():
    """The rotation in closed form, and a parabola."""
    omega, velocity = (0.5, 0.7, -0.6), (1.0, 2.0, 5.0)
    problem = ph.Problem(BODY, ph.models.uniform_gravity(), omega=omega, velocity=velocity)
    found = true_end(problem, SPAN)
    free = ph.exact_free_motion(BODY, None, omega, SPAN[1])
    assert angle(found.q, free.q[0]) < found.attitude_error + 1e-15
    fallen = 2.0 * np.array(velocity) - (0, 0, 2 * 9.80665)
    assert math.dist(found.place.position, fallen) < 1e-14
    assert found.keeps_energy
    names = [method.name for method in usual_methods(problem.model)]
    assert {"extrapolation", "jem4", "dmv2", "mkrk:gauss6"} <= set(names)
    row = compared(problem, methods=["jem4"], dts=[0.25]).rows[0]
    assert row.position_error < 1e-14  # a parabola is exact for the wrapper
    assert row.torques > 0


def test_a_free_body_moves_on_a_straight_line():
    problem = ph.Problem(BODY, omega=(0.5, 0.7, -0.6), position=(1, 0, 0), velocity=(0.5, 0, -2))
    found = true_end(problem, (1.0, 4.0))
    assert found.route == "closed form of the free body"
    assert found.place.position == (2.5, 0.0, -6.0)
    assert found.place.velocity == (0.5, 0.0, -2.0)
    rows = compared(problem, methods=["mkrk:rk4", "mr2"], dts=[0.1]).rows
    assert all(row.position_error < 1e-14 < 1e-7 < row.attitude_error for row in rows)


# ---- rows
def test_rows_hold_the_errors_of_the_place():
    dts = [1 / 32, 1 / 64, 1 / 128]
    names = ["mr2", "mr4", "rkn4", "mkrk:kutta3", "mkrk:rk4", "mkrk:gauss4"]
    found = compared(methods=names, dts=dts)
    for name in names:
        for kind in KINDS:
            errors = [getattr(row, kind) for row in found.of(name)]
            order = estimate_order(dts, errors, floor=1e-13)
            assert order == pytest.approx(ph.METHODS[name].order, abs=0.25), (name, kind)
    row, place = found.of("rkn4")[-1], found.reference.place
    run = ph.solve(SPRUNG.problem, SPAN, method="rkn4", dt=dts[-1])
    reach = math.sqrt(np.trace(BODY.inertia) / (2 * BODY.mass))
    assert place.position_scale == max(math.hypot(*place.position), reach)
    assert row.position_error == math.dist(run.x[-1], place.position) / place.position_scale
    assert row.velocity_error == math.dist(run.v[-1], place.velocity) / place.velocity_scale
    assert row.error == max(row.attitude_error, row.position_error)
    assert row.torques == run.nfev
    assert row.energy_error is not None


def test_steps_that_reach_an_error():
    """In attitude and in position."""
    found = compared(methods=["rkn4", "vern9"], errors=[1e-3, 1e-7])
    assert len(found.rows) == 4
    for row, target in zip(found.rows, (1e-3, 1e-7) * 2, strict=True):
        assert row.attitude_error <= target
        assert row.position_error <= target
    cheap = found.cheapest(1e-3, "torques")
    assert cheap.error <= 1e-3


def test_a_body_that_only_turns_has_no_place():
    top = ph.problems.fast_top()
    found = compared(top, (0, 0.1), methods=["mr2"], dts=[0.01])
    (row,) = found.rows
    assert found.reference.place is row.position_error is row.velocity_error is None
    assert row.error == row.attitude_error


def test_scales():
    """Neither vanishes at the origin or at rest; metres or kilometres do not matter."""
    for unit in (1.0, 1e-3):
        body = ph.RigidBody(np.array([2.0, 3.0, 4.5]) * unit**2, 1.3)
        reach = math.sqrt(9.5 / 2.6)
        rest = place_at(body, (0, 0, 0), (0, 0, 0), (0, 0, 2.6 * unit**2))
        assert rest.position_scale == pytest.approx(reach * unit)
        assert rest.velocity_scale == pytest.approx(2.0 / reach * unit)
        far = place_at(body, (0, 30 * unit, 40 * unit), (0, 5 * unit, 0), (0, 0, 0))
        assert far.position_scale == pytest.approx(50 * unit)
        assert far.velocity_scale == pytest.approx(5 * unit)
    still = place_at(BODY, (0, 0, 0), (0, 0, 0), (0, 0, 0))
    assert still.velocity_scale == 1.0


def test_a_given_reference():
    run = ph.solve(SPRUNG.problem, SPAN, rtol=1e-12)
    found, own = compared(dts=[0.05], reference=run), compared(dts=[0.05])
    for kind in KINDS:
        values = [getattr(each.rows[0], kind) for each in (found, own)]
        assert values[0] == pytest.approx(values[1], rel=1e-4)
    still = ph.solve(ph.Problem(BODY, omega=(0, 0, 1)), SPAN, rtol=1e-9)
    with pytest.raises(ph.InputError, match="reference must have a position, as the problem has"):
        compared(dts=[0.05], reference=still)


# ---- other forms
def test_saved_and_drawn(tmp_path):
    found = compared(methods=["rkn4", "mkrk:rk4"], dts=[0.1, 0.05])
    whole = json.loads(found.save(tmp_path / "a.json").read_text())
    assert whole["reference"]["place"]["position"] == list(found.reference.place.position)
    with found.save(tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["position_error"]) for row in rows] == [
        row.position_error for row in found.rows
    ]
    axes = found.plot()
    assert axes[0].get_ylabel() == "attitude (rad) or position error at the end"
    drawn = sorted(y for line in axes[0].lines for y in line.get_ydata())
    assert drawn == sorted(row.error for row in found.rows)
