"""Compensated sums in a run: what they gain, and which methods have them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.roundoff import COURSES, slope
from polhode.bench.walks import WIDTH, WINDOWS, Course, constant
from polhode.compiler.tree import bind
from polhode.kernels.moved import rotated, rotated_to_unit
from polhode.loops.join import variant

ABLE = [name for name, method in ph.METHODS.items() if method.compensates]
DEFAULT = [name for name in ABLE if ph.METHODS[name].compensated]
TOP, FREE = ph.problems.fast_top(), ph.problems.krysl_free()


def suited(name):
    return FREE if ph.METHODS[name].free_only else TOP


# ---- Brouwer's law
STEPS = WINDOWS * WIDTH  # 819 200


START = (0.9, 0.3, -0.1, 0.3)


def followed(name, body, compensated):
    """Follow one body of the benchmark."""
    axis, model, inertia, omega, h = COURSES[body]
    method = variant(ph.METHODS[name], axis, compensated)
    return Course(method, model, inertia, START, omega, h).followed(STEPS)


LAWFUL = [
    ("strang", "symmetric", False, (1, 3), 1.0),
    ("strang", "symmetric", True, (1, 3), 0.15),
    ("strang", "asymmetric", False, (1, 2, 3), 1.0),
    ("strang", "asymmetric", True, (1, 2), 0.15),  # the energy: below
    ("imidm", "asymmetric", True, (1, 2), 0.15),
    ("mkrk:rk4", "symmetric", True, (1,), 0.15),
]


@pytest.mark.parametrize(("name", "body", "compensated", "kept", "most"), LAWFUL)
def test_invariants_walk_as_the_square_root_of_the_steps(name, body, compensated, kept, most):
    """At most one rounding of the invariant in each step, of a random sign; |q| does not walk."""
    walk = followed(name, body, compensated)
    assert np.abs(np.diff(walk.changes[:, 0])).max() < 1e-16
    for place in kept:
        growth = walk.growth(place)
        assert slope([*growth], [*growth.values()]) < 0.75
        assert abs(walk.trend(place)) < 4
        assert constant(growth) < most


def test_the_energy_of_asymmetric_bodies_has_a_small_linear_part():
    """Some of it is linear, 1e-20 a step, up to 5e-20 for others: roundings alike in every turn."""
    walk = followed("strang", "asymmetric", True)
    assert constant(walk.growth(3)) < 0.15
    assert abs(walk.changes[-1, 3]) < 5e-20 * STEPS


@pytest.mark.parametrize("compensated", [False, True])
def test_a_slow_change_is_rounded_alike_in_many_steps(compensated):
    """The law can fail: the small change of m3 in a step is the same for long."""
    method = variant(ph.METHODS["mkrk:rk4"], None, compensated)
    free, omega = ph.models.free(), (0.5, 0.4, 0.7)
    walk = Course(method, free, (1.7, 1.7, 1.1), START, omega, 0.05).followed(STEPS)
    for place in (1, 2):
        assert (abs(walk.trend(place)) < 4) == compensated
        assert (constant(walk.growth(place)) < 0.15) == compensated


def test_rotations_that_are_rounded_alike_lengthen_q():
    """What splittings of symmetric bodies would do without the pull."""
    axis, model, inertia, omega, h = COURSES["symmetric"]
    method = variant(ph.METHODS["strang"], axis, False)
    method = replace(method, step=bind(method.step, {rotated_to_unit: rotated}))
    walk = Course(method, model, inertia, START, omega, h).followed(STEPS)
    assert abs(walk.trend(0)) > 10
    assert abs(walk.changes[-1, 0]) > 1e-13


# ---- what they gain, and what stays


def energy_error(method, steps, tops=6, **options):
    """Root mean square over tops of the relative error, averaged over nutations."""
    rng, found = np.random.default_rng(3), []
    for _ in range(tops):
        start = {
            "attitude": Rotation.from_rotvec([rng.uniform(0.2, 1.2), 0, 0]),
            "omega": [rng.normal(), rng.normal(), rng.uniform(10, 30)],
        }
        top = ph.Problem(ph.RigidBody([5, 5, 1]), ph.models.heavy_top(20), **start)
        run = ph.solve(
            top, (0, 0.02 * steps), method=method, dt=0.02, save_every=steps // 100, **options
        )
        found.append((run.energy[-20:].mean() - run.energy[:20].mean()) / run.energy[0])
    return np.sqrt(np.mean(np.square(found)))


def test_the_energy_of_tops_is_kept_ten_times_better():
    plain, compensated = (energy_error("srkn14", 200_000, compensated=c) for c in (False, True))
    assert compensated < 3e-15
    assert compensated < 0.2 * plain


@pytest.mark.slow
@pytest.mark.parametrize(("compensated", "bound"), [(False, 5e-13), (True, 1e-14)])
def test_the_energy_of_tops_after_ten_million_steps(compensated, bound):
    """150 million turns.  As the root of their number; a linear growth would be 100-fold."""
    early, late = (energy_error("srkn14", n, compensated=compensated) for n in (10**5, 10**7))
    assert late < 20 * early
    assert late < bound


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", ABLE)
def test_the_motion_is_the_same(name):
    """Up to rounding, so that order and symmetry are; saved states are the leading parts."""
    plain, compensated = (
        ph.solve(suited(name), (0, 1), method=name, dt=0.01, compensated=c) for c in (False, True)
    )
    assert compensated.q == pytest.approx(plain.q, abs=1e-12)
    assert (compensated.q[1:] != plain.q[1:]).any()
    assert compensated.nfev == plain.nfev
    # splittings about the axes do not pull |q| back: it walks, by 1e-17 a turn
    walks = name in ("mr2", "mr4")
    assert np.abs(np.linalg.norm(compensated.q, axis=1) - 1).max() < (2e-15 if walks else 4e-16)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", [n for n in ABLE if ph.METHODS[n].symmetric])
def test_symmetric_maps_come_back(name):
    there = ph.solve(suited(name), (0, 1), method=name, dt=0.01, compensated=True)
    start = {"attitude": there.q[-1], "scalar_first": True}
    start["angular_momentum"] = there.angular_momentum[-1]
    end = ph.Problem(suited(name).body, suited(name).model, **start)
    back = ph.solve(end, (1, 0), method=name, dt=0.01, compensated=True)
    assert back.q[-1] == pytest.approx(there.q[0], abs=1e-13)


@pytest.mark.parametrize("name", ["imidm", "trapm", "akw", "dmv2", "mkrk:rk4", "forward-euler"])
def test_members_do_what_one_body_does(name):
    problem = suited(name)
    asked = {"method": name, "dt": 0.01, "compensated": True}
    omega = problem.omega + np.random.default_rng(4).normal(scale=0.1, size=(11, 3))
    many = ph.solve_ensemble(problem, (0, 1), vary={"omega": omega}, save=[0.5, 1.0], **asked)
    solver = ph.prepare(problem, **asked)
    for k in (0, 7, 10):
        run = solver((0, 1), omega=omega[k])
        assert np.array_equal(many.q[:, k], run.q[[50, 100]])
        assert np.array_equal(many.angular_momentum[:, k], run.angular_momentum[[50, 100]])


def test_defaults():
    """Where it costs at most a tenth, which the benchmark measures."""
    assert {"imidm", "mkrk:rk4", "mkrk:gauss4"} <= set(DEFAULT)
    assert not {"mr2", "strang", "forward-euler"} & set(DEFAULT)
    asked = {"method": "imidm", "dt": 0.01}
    by_default, kept, plain = (
        ph.solve(TOP, (0, 1), **asked, compensated=c) for c in (None, True, False)
    )
    assert np.array_equal(by_default.q, kept.q)
    assert (plain.q != kept.q).any()
    assert by_default.arguments == kept.arguments == {"dt": 0.01}
    assert plain.arguments == {"dt": 0.01, "compensated": False}


def test_position_and_momentum():
    """A straight line in many small steps ends where it should, nearly to the last digit."""
    body = ph.RigidBody([1, 2, 2.5])
    problem = ph.Problem(body, omega=(0.1, 0.2, 0.3), position=(1, 0, 0), velocity=(0.1, 0.3, 0))
    off = {
        kept: np.abs(
            ph.solve(problem, (0, 10), method="mkrk:rk4", dt=1e-4, t_eval=[10], compensated=kept).x
            - [2.0, 3.0, 0.0]
        ).max()
        for kept in (False, True)
    }
    assert off[True] <= 4.5e-16
    assert off[False] > 1e-15


def test_momentum_in_inertial_axes_walks_a_hundred_times_slower():
    """Free bodies by turns about their axes, which keep it but for rounding."""
    random = ph.distributions
    vary = {"omega": random.OnSphere(1.0), "inertia": random.Boxes(1.0, 2.0)}
    problem = ph.Problem(ph.RigidBody([1, 2, 2.5]), omega=[0, 0, 1])
    lost = []
    for compensated in (False, True):
        run = ph.solve_ensemble(
            problem, (0, 5000), members=64, vary=vary, seed=1, method="mr2", dt=0.05,
            compensated=compensated, save=[0, 5000],
        )  # fmt: skip
        momentum = run.angular_momentum_inertial
        off = np.linalg.norm(momentum[1] - momentum[0], axis=1)
        lost.append(np.sqrt(np.mean((off / np.linalg.norm(momentum[0], axis=1)) ** 2)))
    assert lost[1] < 2e-15  # of the leading parts, which are rounded
    assert lost[1] < 0.03 * lost[0]


@pytest.mark.parametrize("name", sorted(set(ph.METHODS) - set(ABLE)))
def test_others_refuse(name):
    problem = ph.problems.krysl_free()
    with pytest.raises(ph.MethodError, match=f"{name!r} has no compensated sums.*strang"):
        ph.prepare(problem, method=name, dt=0.01, compensated=True)
