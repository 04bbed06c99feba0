"""The reproduction of Fukushima 1995 itself: what it would notice, and its section 4 by mpmath."""

import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.interpolate import make_interp_spline

import polhode as ph
from polhode.compiler.tree import bind
from polhode.contracts import torque
from polhode.papers import PAPERS
from polhode.papers.fukushima1995 import (
    by_hand,
    canonical,
    comparison,
    figures,
    laboratory,
    schemes,
    table,
)
from polhode.papers.fukushima1995.laboratory import (
    BODIES,
    CARRIED,
    EARTH,
    MOON,
    NEW,
    SCHEMES,
    Laboratory,
    errors,
)
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import FAILS, HOLDS, Untestable


def silent(line):
    pass


# ---- what the quick form would notice
DIGITS = "orientation-digits", "axis-digits", "moon", "five-to-nine"


def verdicts(names):
    lab = Laboratory(True, silent)
    statements = PAPERS["fukushima1995"].statements
    found = {s.name: s.measure(lab) for s in statements if s.name in names}
    assert len(found) == len(names)
    return {name: claim.verdict for name, claim in found.items()}


def test_variables_without_departures_do_not_pass(monkeypatch):
    monkeypatch.setitem(SCHEMES, NEW, "fukushima")
    assert verdicts(DIGITS) == dict.fromkeys(DIGITS, FAILS)


def test_departures_from_a_rounded_rate_do_not_pass(monkeypatch):
    """The rate n of the nominal turn, wrong by half a unit in its last place: 9e-13 rad in all."""
    right = laboratory.formulation(SCHEMES[NEW])
    slope = right.slope

    def rounded(t, y, body, params):
        d = slope(t, y, body, params)
        return d[0], d[1], d[2], d[3], d[4], d[5] + 4.4e-16, d[6], d[7]

    def formulation(name, kept=laboratory.formulation):
        return replace(right, slope=rounded) if name == right.name else kept(name)

    monkeypatch.setattr(laboratory, "formulation", formulation)
    names = "orientation-digits", "five-to-nine"
    assert verdicts(names) == dict.fromkeys(names, FAILS)


@pytest.mark.parametrize("body", [EARTH, MOON])
def test_the_quick_loop_is_that_of_solve(body):
    """Steps alone, after a start in plain Python, against the front door."""
    problem, turns = BODIES[body], 32
    lab = Laboratory(True, silent)
    lab.revolutions = turns
    course = lab.course(body, CARRIED)
    run = ph.solve(problem, (0, turns), method="adams", dt=1 / 128, formulation="quaternion",
                   save_every=128)  # fmt: skip
    assert course.turns == turns
    for n in (1, 5, turns):
        q, m = course.state(n)
        assert errors(run.q[n], tuple(map(Fraction, map(float, q))))[0] < 3e-15
        np.testing.assert_allclose(m, run.angular_momentum[n], rtol=0, atol=1e-14)


def test_the_quick_loop_refuses_axes_that_must_be_relabelled():
    tumbling = ph.Problem(
        ph.RigidBody([1.0, 2.0, 3.0]), angular_momentum=[0.1, 6.0, 0.1], name="tumbling"
    )
    variables = laboratory.formulation("fukushima")
    with pytest.raises(Untestable, match="fukushima on tumbling"):
        laboratory.course(
            tumbling, variables, laboratory.PLAIN_STEP, 8, 64, laboratory.adams(12), plain=True
        )


def test_fewer_revolutions_ask_for_fewer_digits():
    quick, full = Laboratory(True, silent), Laboratory(False, silent)
    assert full.fewer == 0
    assert quick.fewer == pytest.approx(1.5 * np.log10(33_000 / 2048))
    assert comparison.least(full, 7) == 6.5
    assert comparison.least(quick, 7) == pytest.approx(6.5 - quick.fewer)
    assert comparison.least(quick, 7) > 4


# ---- table 1
def library_states():
    """(scheme, formulation, q, m) with the attitudes and momenta of the starts of ``schemes``."""
    body = schemes.MOMENTS, tuple(1 / x for x in schemes.MOMENTS), (1.0, 0.0, 0.0, 0.0), 1.0, 1.0
    names = {"Euler": "euler-angles", "Serret-Andoyer": "serret-andoyer"}
    for scheme, name in names.items():
        yield scheme, ph.COORDINATES[name], schemes.STARTS[scheme], body
    d, (*first, f, rate) = schemes.STARTS["new"], schemes.NOMINAL
    whole = [a + b for a, b in zip(first, d[:5], strict=True)]
    y = *whole, f + rate * schemes.TIME + d[5], 0.0, 0.0
    yield "new", ph.COORDINATES["fukushima"], y, body


@pytest.mark.parametrize("case", range(3))
def test_the_schemes_of_table_1_are_those_of_the_library(case):
    """E and all rates, against the library's formulations, which go by quaternions."""
    scheme, record, y, body = list(library_states())[case]
    matrix_of, slope_of = schemes.SCHEMES[scheme]
    e, _ = matrix_of(schemes.TIME, schemes.STARTS[scheme])
    q, _ = record.leave(schemes.TIME, y, body)
    np.testing.assert_allclose(e, matrix(q), atol=1e-14)
    turning = bind(
        record.slope,
        {torque: lambda t, q, m, body, params: schemes.torque(t, matrix(q).tolist())},
    )
    right = np.array(turning(schemes.TIME, y, body, ((), ()))[:6])
    if scheme == "new":  # a departure from a uniform turn at L₀/C
        right[5] -= schemes.NOMINAL[0] / schemes.MOMENTS[2]
    found = np.array(slope_of(schemes.TIME, schemes.STARTS[scheme]))
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=2e-15)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
@pytest.mark.parametrize("precision", table.OPTIONS)
def test_the_clock_evaluates_the_same_formulas(precision, tmp_path):
    try:
        program = table.build(precision, str(tmp_path))
    except subprocess.CalledProcessError:
        pytest.skip("no quadruple precision here")
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = np.array([line.split() for line in out.splitlines()], dtype=float)
    for row, (scheme, (matrix_of, slope_of)) in zip(rows, schemes.SCHEMES.items(), strict=True):
        start = schemes.TIME, schemes.STARTS[scheme]
        np.testing.assert_allclose(row[:9], np.ravel(matrix_of(*start)[0]), atol=1e-14)
        np.testing.assert_allclose(row[9:], slope_of(*start), rtol=1e-11, atol=1e-15)
    lines = subprocess.run([program, "2"], check=True, capture_output=True, text=True).stdout
    times = np.array([line.split() for line in lines.splitlines()], dtype=float)
    assert times.shape == (2, 6)
    assert (times > 0).all()


def test_the_work_of_the_schemes():
    """What decides table 1 is the same on every machine; a sine and a cosine together cost less."""
    for scheme, counts in (
        ("new", (174, 382)),
        ("Euler", (189, 376)),
        ("Serret-Andoyer", (253, 478)),
    ):
        assert table.work(scheme).tolist() == list(counts)
        assert (table.work(scheme, jointly=True) < table.work(scheme)).all()


def test_table_1_has_the_rows_of_the_paper(monkeypatch):
    stored = {name: np.array([times]) for name, times in table.STORED.items()}
    monkeypatch.setattr(table, "clocks", lambda: (stored, "stored"))
    (text,) = table.tables(None)
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    assert [row[2:4] for row in rows] == [
        ["117", "195"], ["117", "206"], ["147", "250"], ["3378", "7195"],
    ]  # fmt: skip
    assert table.thirty_times(None)[0] == FAILS
    assert table.no_difference(None)[0] == table.andoyer_slower(None)[0] == HOLDS


@pytest.mark.parametrize("slower", [0.25, 4.0])
def test_no_load_turns_a_verdict_on_schemes(monkeypatch, slower):
    """Times of the new scheme that are four times as long, or a quarter."""
    times = {name: np.array([rows]) for name, rows in table.STORED.items()}
    times["double"][:, 0] *= slower
    monkeypatch.setattr(table, "clocks", lambda: (times, "made up"))
    assert table.no_difference(None)[0] == table.andoyer_slower(None)[0] == HOLDS


@pytest.mark.parametrize("factor", [0.65, 1.5])
def test_no_load_turns_the_verdict_on_quadruple_precision(monkeypatch, factor):
    """The ratio has a margin: one that is off by a half fails as well."""
    times = {name: np.array([rows]) for name, rows in table.STORED.items()}
    times["quadruple"] *= factor
    monkeypatch.setattr(table, "clocks", lambda: (times, "made up"))
    assert table.thirty_times(None)[0] == FAILS


def test_figures_have_no_upright_lines():
    x = np.array([1.0, 2.0, 8192.0, 10_000.0, 16_384.0, 32_768.0, 33_000.0])
    turns, values = figures.thinned(x, np.array([1.0, 2.0, 9.0, 3.0, 4.0, 5.0, 6.0]))
    assert turns.tolist() == [1, 2, 10_000, 16_384, 33_000]
    assert values.tolist() == [1, 2, 9, 4, 6]


# ---- section 4
def dot(a, b):
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def new_variables(phi, theta, psi, p, q, s):
    """(L, L_X, L_A, f, -σ, ξ) of Euler's angles and their momenta, with any number of digits."""
    (a, b), (c, d), (e, g) = ((mp.cos(x), mp.sin(x)) for x in (phi, theta, psi))
    first = a * e - b * c * g, b * e + a * c * g, d * g  # the body's axes in inertial ones
    second = -a * g - b * c * e, -b * g + a * c * e, d * e
    third = b * d, -a * d, c
    across = (p - s * c) / d
    m = q * e + across * g, across * e - q * g, s
    outside = [dot(m, row) for row in zip(first, second, third, strict=True)]
    whole = mp.sqrt(dot(m, m))
    x, node = cross(outside, (1, 0, 0)), cross(outside, first)  # normals of the two planes
    f = mp.atan2(dot(outside, cross(x, node)) / whole, dot(x, node))
    return (
        whole, outside[0], m[0], f, -mp.atan2(outside[1], outside[2]), mp.atan2(m[1], m[2])
    )  # fmt: skip


@pytest.mark.parametrize("case", range(3))
def test_canonical_to_many_digits(case):
    y = canonical.euler_states(3)[case].tolist()
    r, m = canonical.by_euler(y)
    with mp.workdps(50):
        point = [mp.mpf(x) for x in y]
        there = new_variables(*point)
        np.testing.assert_allclose(
            [float(x) for x in there], canonical.variables_of(r, m), atol=1e-14
        )
        order = [[int(i == k) for i in range(6)] for k in range(6)]
        jacobian = mp.matrix(
            [[mp.diff(lambda *z, i=i: new_variables(*z)[i], point, n) for n in order]
             for i in range(6)]
        )  # fmt: skip
        pairs = mp.matrix(canonical.PAIRS.tolist())
        off = jacobian * pairs * jacobian.T + pairs
        assert max(abs(x) for x in off) < mp.mpf(10) ** -20


def test_the_torque_is_that_of_the_potential():
    """Kinetic energy and potential are kept along the motion."""
    for r, m, moments, k in canonical.bodies(20):
        later, momentum = by_hand.along(r, m, moments, canonical.torque(r, k))
        whole = (momentum**2 / moments).sum() / 2 + canonical.potential(later, k)
        assert abs(whole.imag) < 1e-14 * by_hand.TINY


def test_the_sidereal_angle_along_a_motion():
    """f less ∫ (L_X dσ - L_A dξ)/L is ∫ 2T/L dt, over a motion with a torque, by quadrature."""
    top = ph.Problem(
        ph.RigidBody([1.0, 1.3, 1.7]),
        ph.models.heavy_top(0.5),
        attitude=[0.9, 0.1, -0.3, 0.3],
        scalar_first=True,
        angular_momentum=[0.3, -0.4, 3.0],
    )
    h, count = 1 / 512, 2048
    run = ph.solve(top, (0, 4), method="dop853", rtol=1e-13, t_eval=np.arange(count + 1) * h)
    rows = np.array([
        canonical.variables_of(r.as_matrix(), m)
        for r, m in zip(run.rotation, run.angular_momentum, strict=True)
    ])  # fmt: skip
    whole, x, a = rows.T[:3]
    f, h_x, xi = np.unwrap(rows.T[3:])  # h_x = -σ
    rates = [make_interp_spline(run.t, angle, k=5).derivative()(run.t) for angle in (h_x, xi)]
    theta = np.einsum("ni,ni->n", run.omega, run.angular_momentum) / whole
    turned = simpson(theta - (x * rates[0] + a * rates[1]) / whole, dx=h)
    assert abs(simpson(x * rates[0] / whole, dx=h)) > 0.01
    assert abs(simpson(a * rates[1] / whole, dx=h)) > 0.01
    assert turned == pytest.approx(f[-1] - f[0], abs=1e-9)
