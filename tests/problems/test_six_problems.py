"""The problems with six degrees of freedom: conserved quantities and final states."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.cli.plan import make_plan
from polhode.problems import CATALOGUE

NAMES = "tennis-racket", "off-centre-spring", "dipole-satellite", "charged-top"
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def runs():
    """Each as the catalogue runs it."""
    made = {}
    for name in NAMES:
        entry = CATALOGUE[name]
        made[name] = ph.solve(entry.make(), (0, entry.t_end), method=entry.method, dt=entry.dt)
    return made


def largest(values):
    return float(np.abs(values).max())


# ---- what is kept
@pytest.mark.parametrize(
    ("name", "bound"),
    [  # a few times what the method leaves at the step of the catalogue
        ("tennis-racket", 2e-10),
        ("off-centre-spring", 5e-7),
        ("dipole-satellite", 5e-7),
        ("charged-top", 2e-7),
    ],
)
def test_energy_is_kept(runs, name, bound):
    run = runs[name]
    assert run.success
    assert run.x is not None
    assert largest(run.energy - run.energy[0]) < bound * largest(run.kinetic_energy)


def test_a_racket_in_flight_keeps_its_angular_momentum(runs):
    run = runs["tennis-racket"]
    momentum = run.angular_momentum_inertial
    assert largest(momentum - momentum[0]) < 1e-8 * np.linalg.norm(momentum[0])


def test_a_hanging_box_keeps_its_momentum_about_the_vertical_through_the_anchor(runs):
    momentum = runs["off-centre-spring"].angular_momentum_about((0, 0, 1.0))
    assert largest(momentum[:, 2] - momentum[0, 2]) < 1e-13 * largest(momentum)
    assert largest(momentum[:, 0] - momentum[0, 0]) > 0.1 * largest(momentum), "and no other"


def test_a_satellite_keeps_its_momentum_about_the_mass(runs):
    run = runs["dipole-satellite"]
    momentum = run.angular_momentum_about()
    assert largest(momentum - momentum[0]) < 1e-12 * np.linalg.norm(momentum[0])
    assert largest(run.angular_momentum_inertial - run.angular_momentum_inertial[0]) > 0.1 * (
        np.linalg.norm(run.angular_momentum_inertial[0])
    ), "its own is exchanged with the orbit"


def test_a_charged_top_keeps_its_canonical_momentum_about_the_field(runs):
    """Fields and gravity along z: J_z + charge B/2 ρ², ρ the distance of the charge from z."""
    run = runs["charged-top"]
    charge, _, (*_, field), point = ph.problems.charged_top().model.terms[0].numbers
    place = run.point_position(point)
    gauge = 0.5 * charge * field * (place[:, 0] ** 2 + place[:, 1] ** 2)
    momentum = run.angular_momentum_about()[:, 2]
    assert largest(momentum + gauge - momentum[0] - gauge[0]) < 2e-7 * largest(momentum)
    assert largest(momentum - momentum[0]) > 1e-3 * largest(momentum)


# ---- what happens
def test_the_racket_turns_over_and_comes_down(runs):
    run = runs["tennis-racket"]
    i1, i2, i3 = run.body.principal_moments
    assert run.body.is_aligned
    assert i1 < i2 < i3
    assert run.omega[0, 1] == 9.0
    assert run.omega[-1, 1] < -8.0
    assert run.x[-1, 2] == pytest.approx(1.5 + 4.9 - 9.80665 / 2, abs=1e-12)
    assert largest(run.x[:, 0]) == 0.0


def test_the_racket_by_sums_over_its_parts():
    """Mass, centre and moments by hand: a ring, a disc and a tube."""
    body = ph.problems.tennis_racket().body
    thin, wide, inner, outer = 0.008**2, 0.13**2, 0.011**2, 0.014**2
    across = 0.14 * (3 * (inner + outer) + 0.42**2) / 12
    parts = [  # mass, centre x, moments about the own centre
        (0.17, 0.0, [0.17 * (wide / 2 + 5 / 8 * thin)] * 2 + [0.17 * (wide + 3 / 4 * thin)]),
        (0.02, 0.0, [0.02 * 0.122**2 / 4] * 2 + [0.02 * 0.122**2 / 2]),
        (0.14, -0.345, [0.14 * (inner + outer) / 2, across, across]),
    ]
    mass = sum(m for m, *_ in parts)
    centre = sum(m * x for m, x, _ in parts) / mass
    moments = sum(
        np.array(own) + m * (x - centre) ** 2 * np.array([0, 1, 1]) for m, x, own in parts
    )
    assert body.mass == pytest.approx(mass, rel=1e-15)
    assert body.centre == pytest.approx([centre, 0, 0], abs=1e-15)
    assert np.diag(body.inertia) == pytest.approx(moments, rel=1e-13)


def test_the_orbit_of_the_satellite_is_not_an_ellipse(runs):
    """A point mass would be back at 400 m after each period, and never come below 400 m."""
    run = runs["dipole-satellite"]
    distance = np.linalg.norm(run.x, axis=1)
    rod = np.degrees(np.arccos(np.sum(run.to_inertial([1.0, 0, 0]) * run.x, axis=1) / distance))
    assert 540 < distance.max() < 590, "not 600"
    assert rod.max() < 60, "the rod stays near the vertical"
    assert rod.max() > 20


def test_the_weight_of_the_charged_top_is_carried(runs):
    run = runs["charged-top"]
    assert largest(run.acceleration[:, 2]) < 1e-12
    tilt = np.degrees(np.arccos(run.to_inertial([0, 0, 1.0])[:, 2]))
    assert 5 < tilt.min() < tilt.max() < 40, "a top that stands by its spin"


# ---- where they end, by SciPy on matrices
def ends(problem, wrench, t_end):
    """(x, v, R, ω) by DOP853, the attitude as a matrix."""
    inertia, mass = problem.body.inertia, problem.body.mass

    def slope(t, y):
        x, v, r, omega = y[:3], y[3:6], y[6:15].reshape(3, 3), y[15:]
        torque, force = wrench(x, v, r, omega)
        spin = np.array(
            [[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]]
        )
        change = np.linalg.solve(inertia, torque - np.cross(omega, inertia @ omega))
        return np.concatenate([v, force / mass, (r @ spin).ravel(), change])

    first = Rotation.from_quat(problem.attitude, scalar_first=True).as_matrix()
    start = np.concatenate([problem.position, problem.velocity, first.ravel(), problem.omega])
    scale = 1e-13 * np.maximum(np.abs(start), 1e-3)
    y = solve_ivp(slope, (0, t_end), start, method="DOP853", rtol=3e-14, atol=scale).y[:, -1]
    return y[:3], y[3:6], y[6:15].reshape(3, 3), y[15:]


def weighed(x, v, r, omega):
    return np.zeros(3), np.array([0, 0, -9.80665 * 0.33])


def hung(x, v, r, omega):
    corner = np.array([0.15, 0.1, 0.05])
    way = x + r @ corner - [0, 0, 1.0]
    length = np.linalg.norm(way)
    force = -150 * (length - 0.4) * way / length
    return np.cross(corner, r.T @ force), force + np.array([0, 0, -9.80665 * 2.0])


def pulled(x, v, r, omega):
    """The two balls of 50 kg as the points that they are to second order, and their own moments."""
    moments, distance = np.array([160.0, 250160.0, 250160.0]), np.linalg.norm(x)
    u = r.T @ x / distance
    spread = moments.sum() * u + 2 * moments * u - 5 * (u @ (moments * u)) * u
    force = -4.892 / distance**2 * (100 * u + 1.5 / distance**2 * spread)
    return 3 * 4.892 / distance**3 * np.cross(u, moments * u), r @ force


def charged(x, v, r, omega):
    point, weight = np.array([0, 0, -0.02]), np.array([0, 0, -9.80665 * 0.1])
    force = 0.05 * np.cross(v + r @ np.cross(omega, point), [0, 0, 4.0]) - weight
    return np.cross(point, r.T @ force), force + weight


@pytest.mark.parametrize(
    ("name", "wrench", "t_end"),
    [
        ("tennis-racket", weighed, 0.4),
        ("off-centre-spring", hung, 0.5),
        ("dipole-satellite", pulled, 20_000.0),
        ("charged-top", charged, 0.1),
    ],
)
@pytest.mark.usefixtures("plain")
def test_ends(name, wrench, t_end):
    problem = CATALOGUE[name].make()
    x, v, r, omega = ends(problem, wrench, t_end)
    run = ph.solve(problem, (0, t_end), method="vern9", rtol=1e-13)
    reach = max(largest(x), 0.01)
    assert largest(run.x[-1] - x) < 1e-10 * reach
    assert largest(run.v[-1] - v) < 1e-10 * largest(v)
    assert largest(run.rotation[-1].as_matrix() - r) < 1e-10
    assert largest(run.omega[-1] - omega) < 1e-10 * largest(omega)


@pytest.mark.usefixtures("plain")
def test_the_pull_on_the_satellite_is_that_on_its_balls():
    """The model is of second order in the size over the distance: (50/400)² = 1/64 of its parts."""
    problem = ph.problems.dipole_satellite()
    rod = Rotation.from_quat(problem.attitude, scalar_first=True).apply([50.0, 0, 0])
    x = np.array(problem.position)
    each = [-4.892 * 50 * (x + s * rod) / np.linalg.norm(x + s * rod) ** 3 for s in (1, -1)]
    force = 100 * ph.solve(problem, (0, 0), method="rkn4", dt=1.0).acceleration[0]
    kepler = -4.892 * 100 * x / np.linalg.norm(x) ** 3
    assert largest(force - sum(each)) < largest(force - kepler) / 20
    assert largest(force - kepler) > 0.01 * largest(kepler), "coupling shows"


# ---- the command line
def test_changes_of_a_problem_with_a_place():
    known = ph.problems.off_centre_spring()
    changed = make_plan(
        "off-centre-spring", [("stiffness", 200.0), ("position", [0.0, 0.0, 0.3])]
    ).problem
    assert changed.model.terms[0].parameters["stiffness"] == 200.0
    assert changed.model.terms[0].parameters["length"] == 0.4
    assert changed.position == (0.0, 0.0, 0.3)
    assert changed.velocity == known.velocity
    assert changed.body.mass == 2.0


# ---- RKN4 on a tumbling body, and the page about it
WAYS = {
    ("q̄, as printed", "never"): {"as_printed": True, "normalise_every": 0},
    ("q̄, as printed", "every 1000"): {"as_printed": True},
    ("q̄, as printed", "every step"): {"as_printed": True, "normalise_every": 1},
    ("q⁻¹", "never"): {"normalise_every": 0},
    ("q⁻¹", "every 1000"): {"normalise_every": 1000},
    ("q⁻¹", "every step"): {},
    ("q⁻¹", "every step, momentum kept"): {"keep_momentum": True},
}
PAGE = (DOCS / "guide" / "normalisation.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in row.strip("|").split("|")]
    for row in re.findall(r"^\|.*$", PAGE, re.M)
]
TUMBLING = ph.Problem(ph.RigidBody([1.0, 2.0, 3.0]), omega=[1.0, 1.0, 1.0])


def tumbled(method, options=None, t_end=100.0):
    """The largest errors of length, energy, momentum and attitude."""
    run = ph.solve(TUMBLING, (0, t_end), method=method, dt=0.025, options=options)
    exact = ph.exact_free_motion(TUMBLING.body, None, TUMBLING.omega, run.t)
    momentum = run.to_inertial(run.angular_momentum)
    return (
        largest(np.linalg.norm(run.q, axis=1) - 1),
        largest(run.energy / run.energy[0] - 1),
        np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0]),
        run.frame_error(exact).max() / np.sqrt(2),
    )


def test_free_tumbling_keeps_the_energy():
    assert tumbled("rkn4")[1] <= 4e-7


def agree(stated, found):
    """To the digits that are printed; what is rounding, to a factor of 4."""
    for text, value in zip(stated, found, strict=True):
        rounding = float(text) < 1e-12
        assert value == pytest.approx(float(text), rel=3.0 if rounding else 0.05), (text, value)


def test_the_table_of_normalisation_is_measured():
    table = {tuple(row[:2]): row[2:] for row in ROWS if len(row) == 6}
    for way, options in WAYS.items():
        agree(table[way], tumbled("rkn4", options))
    assert set(WAYS) <= set(table)
    assert len(table) == len(WAYS) + 2  # the head, and the line below it


@pytest.mark.parametrize("method", ["rkn4", "mkrk:rk4", "mr4", "strang"])
def test_the_table_of_methods_is_measured(method):
    (row,) = [row for row in ROWS if len(row) == 5 and row[0].startswith(f"`{method}`")]
    agree(row[1:], tumbled(method))


@pytest.mark.parametrize(
    ("words", "options"),
    [("energy error, q⁻¹", {}), ("energy error, momentum kept", {"keep_momentum": True})],
)
def test_the_table_of_drift_is_measured(words, options):
    (row,) = [row for row in ROWS if row[0] == words]
    for text, t_end in zip(row[1:], (100, 1000, 10_000), strict=True):
        run = ph.solve(
            TUMBLING, (0, t_end), method="rkn4", dt=0.025, options=options, save_every=40
        )
        assert largest(run.energy / run.energy[0] - 1) == pytest.approx(float(text), rel=0.03)
