"""Compensated sums in a run: what they gain, and which methods have them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph

ABLE = [name for name, method in ph.METHODS.items() if method.compensates]


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


@pytest.mark.parametrize("name", ABLE)
def test_the_motion_is_the_same(name):
    """Up to rounding; saved states are the leading parts."""
    problem = ph.problems.fast_top()
    plain, compensated = (
        ph.solve(problem, (0, 2), method=name, dt=0.01, compensated=c) for c in (False, True)
    )
    assert compensated.q == pytest.approx(plain.q, abs=1e-12)
    assert (compensated.q[1:] != plain.q[1:]).any()
    assert compensated.nfev == plain.nfev
    # splittings about the axes do not pull |q| back: it walks, by 1e-17 a turn
    walks = name in ("mr2", "mr4")
    assert np.abs(np.linalg.norm(compensated.q, axis=1) - 1).max() < (2e-15 if walks else 4e-16)


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
