"""``compare``: its reference, its rows, and refused arguments."""

import csv
import json
import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import DOP853, solve_ivp

import polhode as ph
from polhode.comparison.compare import usual_methods
from polhode.comparison.order_8 import consistent
from polhode.comparison.reference import _forced, angle, relative, true_end
from polhode.comparison.trials import IN_A_ROW, PARTS, first_place
from support.bodies import HEAVY_TOP, RATE, REFERENCE_ERROR, TIME
from support.convergence import estimate_order

SPAN = 0.0, 4.0
FAST = {"methods": ["mr2", "mkrk:rk4"], "repeats": 1}


def compared(problem=HEAVY_TOP.problem, span=SPAN, **arguments):
    return ph.compare(problem, span, **{**FAST, **arguments})


# ---- the reference
@pytest.mark.parametrize("case", [HEAVY_TOP, TIME, RATE], ids=lambda case: case.name)
@pytest.mark.parametrize("span", [(0.0, 6.0), (1.0, -2.0)])
def test_the_reference_with_a_torque_is_that_of_scipy(case, span):
    """From ``Case.rate``: the torque written with matrices."""
    found = true_end(case.problem, span)
    options = {"method": "DOP853", "rtol": 2.3e-14, "atol": 1e-15}
    end = solve_ivp(case.rate, span, case.start, **options).y[:, -1]
    assert angle(found.q, end[:4]) < REFERENCE_ERROR / 10
    assert relative(found.angular_momentum, end[4:]) < REFERENCE_ERROR / 10


@pytest.mark.parametrize("case", [HEAVY_TOP, TIME, RATE], ids=lambda case: case.name)
def test_the_error_of_the_reference_is_honest(case):
    """Against 25 digits."""
    found = true_end(case.problem, (0.0, 1.0))
    with mp.workdps(25):
        solved = mp.odefun(lambda t, y: case.rate(t, y, mp.cos), 0, list(map(mp.mpf, case.start)))
        end = [float(x) for x in solved(1)]
    assert angle(found.q, end[:4]) < found.attitude_error < 5e-15
    assert relative(found.angular_momentum, end[4:]) < found.momentum_error < 5e-15


def test_the_reference_of_the_fast_top_is_that_of_a_taylor_series():
    """By heyoka's Taylor integrator with 64-bit fractions at tolerance 1e-20, and rounded."""
    q = 0.33852151631668276, 0.10390086392275627, -0.12136733643593152, -0.927295941495058
    m = -0.8252556182614983, 0.7722816459220812, 50.0
    found = true_end(ph.problems.fast_top(), (0, 10))
    assert angle(found.q, q) < found.attitude_error < 1e-14
    assert relative(found.angular_momentum, m) < found.momentum_error < 1e-14


def test_the_weights_of_the_reference_sum_to_one_exactly():
    weights = DOP853.B.tolist()
    assert consistent(weights) == pytest.approx(weights, rel=2e-15)
    assert sum(map(Fraction, consistent(weights))) == 1
    assert sum(map(Fraction, weights)) != 1


@pytest.mark.parametrize("make", [ph.problems.krysl_free, ph.problems.celledoni_free])
def test_both_routes_agree_within_their_errors(make):
    problem = make()
    closed, solved = true_end(problem, (0, 100.0)), _forced(problem, 0.0, 100.0)
    allowed = closed.attitude_error + solved.attitude_error
    assert angle(closed.q, solved.q) < allowed < 2e-13
    allowed = closed.momentum_error + solved.momentum_error
    assert relative(solved.angular_momentum, closed.angular_momentum) < allowed < 2e-13


def test_the_reference_of_a_body_with_rotated_axes():
    turn = np.array([[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]) / 3
    inertia = turn @ np.diag([2.0, 3.0, 4.5]) @ turn.T
    problem = ph.Problem(ph.RigidBody(inertia), omega=[0.3, 0.8, -0.5])
    closed, solved = true_end(problem, (0, 10.0)), _forced(problem, 0.0, 10.0)
    assert angle(closed.q, solved.q) < closed.attitude_error + solved.attitude_error < 1e-13


def test_the_error_includes_the_effect_of_rounding_near_the_separatrix():
    body = ph.RigidBody([1.0, 2.0, 3.0])
    calm = true_end(ph.Problem(body, omega=[0.0, 0.1, 1.0]), (0, 30.0))
    wild = true_end(ph.Problem(body, omega=[math.sqrt(0.75), 0.5, 0.5]), (0, 30.0))
    assert wild.attitude_error > 100 * calm.attitude_error


@pytest.mark.usefixtures("plain")
def test_the_reference_knows_whether_the_energy_is_constant():
    assert true_end(HEAVY_TOP.problem, SPAN).keeps_energy
    assert not true_end(RATE.problem, SPAN).keeps_energy  # no potential

    def swinging(t, q, params):
        w, x, y, z = q
        return (1.0 + math.cos(t)) * (w * w - x * x - y * y + z * z)

    body = ph.RigidBody([2.0, 3.0, 4.5])
    problem = ph.Problem(body, ph.potential(swinging), omega=[0.5, 0.7, -0.6])
    assert not true_end(problem, SPAN).keeps_energy
    assert compared(problem, dts=[0.1]).rows[0].energy_error is None


def test_a_span_without_a_reference_is_refused():
    def wall(t, q, omega, params):
        return 1.0 / max(0.0, 1.0 - t), 0.0, 0.0

    problem = ph.Problem(ph.RigidBody([1, 2, 2.5]), ph.torque(wall), omega=[0, 1, 0])
    with pytest.raises(ph.InputError, match=r"t_span = \(0, 2\): no reference .*reference="):
        compared(problem, (0, 2), dts=[0.1])


def test_angles():
    q = np.array([0.8, 0.4, -0.2, 0.4])
    assert angle(q, -q) == 0.0
    assert angle(q, q * 3) == pytest.approx(0.0, abs=1e-15)
    for turn in (1e-12, 1e-6, 1.0, 3.0, math.pi):
        other = [math.cos(turn / 2), math.sin(turn / 2), 0, 0]
        assert angle([1, 0, 0, 0], other) == pytest.approx(turn, rel=1e-12)


def test_large_momenta():
    assert relative([3e200, 0, 4e200], [0, 0, 2.0]) == pytest.approx(2.5e200)
    assert relative([0, 0, 1.0], [0, 0, 0]) == 1.0
    assert relative([0, 0, 0], [0, 0, 0]) == 0.0
    assert angle([1e300, 0, 0, 0], [1, 0, 0, 0]) == 0.0


# ---- rows
def test_rows_hold_errors_and_costs():
    dts = [0.1, 0.05, 0.025, 0.0125]
    found = compared(dts=dts[::-1])
    assert found.methods == ("mr2", "mkrk:rk4")
    assert [row.dt for row in found.of("mr2")] == dts
    for name in found.methods:
        rows = found.of(name)
        assert [row.steps for row in rows] == [40, 80, 160, 320]
        order = ph.METHODS[name].order
        for error in ("attitude_error", "momentum_error"):
            errors = [getattr(row, error) for row in rows]
            floor = found.reference.attitude_error
            assert estimate_order(dts, errors, floor=floor) == pytest.approx(order, abs=0.2)
        assert all(0 < row.seconds < 1 for row in rows)
    for row in found.rows:
        run = ph.solve(HEAVY_TOP.problem, SPAN, method=row.method, dt=row.dt)
        assert row.torques == run.nfev
        assert row.attitude_error == angle(run.q[-1], found.reference.q)
        change = np.abs(run.energy - run.energy[0]).max() / run.kinetic_energy.max()
        assert 0.3 * change < row.energy_error <= change * (1 + 1e-12)  # a part of the states
    assert found.cheapest(1e-2).attitude_error <= 1e-2
    assert found.cheapest(1e-30) is None
    fewest = found.cheapest(1e-5, "torques")
    assert all(row.torques >= fewest.torques for row in found.rows if row.attitude_error <= 1e-5)


@pytest.mark.usefixtures("plain")
def test_errors_below_that_of_the_reference_are_not_shown():
    found = compared(methods=["mkrk:butcher6"], dts=[0.5, 0.002], span=(0, 1))
    coarse, fine = found.rows
    assert coarse.resolved
    assert coarse.attitude_error > 1e-7
    assert fine.attitude_error >= found.reference.attitude_error
    assert fine.momentum_error >= found.reference.momentum_error


def test_a_failed_run_has_a_row_with_a_message():
    found = ph.compare(
        ph.problems.celledoni_free(), (0, 10), methods=["dmv2"], dts=[5.0, 0.1], repeats=1
    )
    failed, fine = found.rows
    assert failed.attitude_error is None
    assert "smaller dt" in failed.message
    assert not failed.resolved
    assert fine.message == ""
    assert found.cheapest(10.0) is fine


def test_steps_that_reach_an_error():
    found = compared(errors=[1e-3, 1e-6, 1e-9])
    for name in found.methods:
        rows = found.of(name)
        assert len(rows) == 3
        for row, target in zip(rows, (1e-3, 1e-6, 1e-9), strict=True):
            assert target / 4 < row.attitude_error <= target
    none = compared(methods=["mr2"], errors=[1e-17])
    assert none.rows == ()


def test_a_lucky_step_does_not_count():
    good = {PARTS * 3 - 2, *range(PARTS * 4 - 3, PARTS * 30)}
    assert IN_A_ROW > 1
    assert first_place(lambda place: place in good) == PARTS * 4 - 3
    assert first_place(lambda place: False) is None


@pytest.mark.usefixtures("plain")
def test_a_given_reference():
    run = ph.solve(HEAVY_TOP.problem, SPAN, method="mkrk:gauss6", dt=0.01)
    found = compared(dts=[0.1], reference=run)
    assert found.reference.route == "given (mkrk:gauss6)"
    own = compared(dts=[0.1])
    for mine, other in zip(found.rows, own.rows, strict=True):
        assert mine.attitude_error == pytest.approx(other.attitude_error, rel=1e-4)


@pytest.mark.usefixtures("plain")
def test_adaptive_integrators_go_by_tolerance():
    chosen = {"methods": ["vern9", "imidm"], "repeats": 1}
    found = ph.compare(HEAVY_TOP.problem, SPAN, rtols=[1e-5, 1e-9], dts=[0.1], **chosen)
    rough, fine = found.of("vern9")
    assert (rough.rtol, fine.rtol) == (1e-5, 1e-9)
    assert fine.attitude_error < 1e-2 * rough.attitude_error
    assert rough.setting == "rtol = 1e-05"
    assert fine.dt == pytest.approx((SPAN[1] - SPAN[0]) / fine.steps)
    found = ph.compare(HEAVY_TOP.problem, SPAN, errors=[1e-4, 1e-8], methods=["vern9"], repeats=1)
    assert [row.attitude_error <= e for row, e in zip(found.rows, (1e-4, 1e-8), strict=True)]
    with pytest.raises(ph.InputError, match="rtols must be one or more positive numbers"):
        ph.compare(HEAVY_TOP.problem, SPAN, rtols=[0], **chosen)


def test_usual_methods_take_the_model():
    for problem in (HEAVY_TOP.problem, RATE.problem, ph.problems.krysl_free()):
        methods = usual_methods(problem.model)
        maps = [method for method in methods if isinstance(method, ph.Method)]
        assert all(method.takes(problem.model) and method.order > 1 for method in maps)
        names = [method.name for method in methods]
        assert "imidm" in names
        assert ("extrapolation" in names) == (not problem.model.is_free)
        assert "trap" not in names
        assert ("dmv2" in names) == problem.model.is_free
        assert ("mr2" in names) == (not problem.model.depends_on_omega)


def test_default_steps_turn_the_body():
    found = compared(methods=["mr2"])
    turns = [row.dt * np.linalg.norm(HEAVY_TOP.problem.omega) for row in found.rows]
    assert 0.2 < turns[0] <= 0.8
    assert turns[0] / turns[-1] == pytest.approx(64)


# ---- other forms
def test_saving(tmp_path):
    found = compared(dts=[0.1, 0.05])
    whole = json.loads(found.save(tmp_path / "a.json").read_text())
    assert whole["rows"] == found.table()
    assert whole["reference"]["attitude_error"] == found.reference.attitude_error
    with found.save(tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["attitude_error"]) for row in rows] == [
        row.attitude_error for row in found.rows
    ]
    assert found.to_dataframe().shape == (4, len(rows[0]))
    with pytest.raises(ph.FileError, match=r"\.csv or \.json, got 'a\.txt'"):
        found.save(tmp_path / "a.txt")
    assert "mkrk:rk4, dt = 0.05" in repr(found)


def test_the_diagram(tmp_path):
    found = compared(dts=[0.1, 0.05])
    axes = found.plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    time, work = axes
    assert [line.get_label() for line in time.lines] == ["mr2", "mkrk:rk4"]
    assert work.lines[0].get_xdata().tolist() == sorted(row.torques for row in found.of("mr2"))
    assert work.get_xlabel() == "torque evaluations"
    names = [f"m{k}" for k in range(12)]
    many = tuple(replace(found.rows[k % 4], method=name) for k, name in enumerate(names))
    labels = [text.get_text() for text in replace(found, rows=many).plot()[1].get_legend().texts]
    assert labels[-1].endswith(" others")
    assert len(labels) < len(names)


# ---- refusals
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": ["mr2", "imidn"]}, "method must be one of .*imidm.*'imidn'.*did you mean"),
        ({"methods": ["dmv4"]}, "'dmv4' is for free bodies.*use for instance mr2"),
        ({"methods": []}, "methods must be one or more names"),
        ({"dts": [0.1, -1]}, r"dts must be one or more positive numbers.*\[0\.1, -1\]"),
        ({"dts": []}, "dts must be one or more positive numbers"),
        ({"errors": ["x"]}, "errors must be numbers"),
        ({"dts": [0.1], "errors": [0.1]}, "dts or errors, not both"),
        ({"span": (0, 0)}, "two different finite numbers"),
        ({"span": 3}, "two numbers"),
        ({"repeats": 0}, "repeats must be a whole number"),
        ({"reference": "x"}, "reference must be a Trajectory"),
        ({"problem": "fast-top"}, "problem must be a Problem"),
    ],
)
def test_refusals(change, words):
    with pytest.raises(ph.InputError, match=words):
        compared(**change)


def test_a_reference_with_another_end_is_refused():
    run = ph.solve(HEAVY_TOP.problem, (0, 2), method="mr2", dt=0.1)
    with pytest.raises(ph.InputError, match="must end where t_span ends, at 4, but ends at 2"):
        compared(dts=[0.1], reference=run)


def test_kicks_refuse_a_torque_that_depends_on_the_rate():
    with pytest.raises(ph.MethodError, match=r"mr2.*must not depend on the rate.*imidm"):
        compared(RATE.problem, dts=[0.1])
