"""Problems: states in every accepted form, and the messages for others."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.references import bibliography
from polhode.tableaus.composition import SUZUKI4

BODY = ph.RigidBody([2.0, 3.0, 4.5])
TURN = Rotation.from_rotvec([0.3, -0.2, 0.9])


@pytest.mark.parametrize(
    ("attitude", "scalar_first"),
    [
        (TURN, None),
        (TURN.as_matrix(), None),
        (TURN.as_quat(scalar_first=True), True),
        (TURN.as_quat(scalar_first=False), False),
    ],
    ids=["rotation", "matrix", "scalar first", "scalar last"],
)
def test_an_attitude_may_be_given_in_any_clear_form(attitude, scalar_first):
    problem = ph.Problem(BODY, attitude=attitude, scalar_first=scalar_first, omega=[1, 2, 3])
    found = Rotation.from_quat(problem.attitude, scalar_first=True)
    assert (found * TURN.inv()).magnitude() < 1e-15


def test_omega_and_momentum_give_each_other():
    from_omega = ph.Problem(BODY, omega=[1, 2, 3])
    assert from_omega.angular_momentum == (2.0, 6.0, 13.5)
    assert ph.Problem(BODY, angular_momentum=[2, 6, 13.5]).omega == pytest.approx((1, 2, 3))


def test_momentum_of_a_full_tensor_is_in_the_users_axes():
    tensor = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]])
    problem = ph.Problem(ph.RigidBody(tensor), omega=[1, 2, 3])
    assert problem.angular_momentum == pytest.approx(tuple(tensor @ [1, 2, 3]), rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"omega": [1, 2, 3], "attitude": [1, 0, 0, 0]}, "scalar_first=True"),
        ({"omega": [1, 2, 3], "attitude": [2, 0, 0, 0], "scalar_first": True}, "norm is 2.0"),
        ({"omega": [1, 2, 3], "attitude": np.eye(3)[[1, 0, 2]]}, "proper rotation matrix"),
        ({"omega": [1, 2, 3], "attitude": np.zeros(5)}, r"shape \(5,\)"),
        ({"omega": [1, 2, 3], "attitude": Rotation.identity(2)}, "one rotation"),
        ({}, "omega= or angular_momentum=.*neither"),
        ({"omega": [1, 2, 3], "angular_momentum": [1, 2, 3]}, "both"),
        ({"omega": [1, 2]}, "omega must be three numbers"),
        ({"omega": [1, 2, np.inf]}, "omega must be finite"),
        ({"omega": [1, 2, 3], "model": "heavy_top"}, "model must be a Model"),
    ],
)
def test_unclear_states_are_refused(arguments, words):
    with pytest.raises(ph.InputError, match=words):
        ph.Problem(BODY, **arguments)


def test_a_body_must_be_a_body():
    with pytest.raises(ph.InputError, match="RigidBody"):
        ph.Problem([1, 2, 3], omega=[1, 2, 3])


@pytest.mark.parametrize("name", ph.problems.CATALOGUE)
def test_entries_of_the_catalogue_are_complete(name):
    entry = ph.problems.CATALOGUE[name]
    problem = entry.make()
    assert entry.name == problem.name == name
    assert entry.summary
    assert ph.METHODS[entry.method].takes(problem.model)
    assert entry.references
    assert set(entry.references) <= set(bibliography())
    assert getattr(ph.problems, entry.make.__name__) is entry.make
    assert entry.t_end > 10 * entry.dt > 0


@pytest.mark.usefixtures("plain")
def test_the_hamiltonian_of_the_soft_wall_is_the_papers():
    """H0 of figures 4 and 5, and of the sign that the text describes, by hand (x = 2.1)."""
    kinetic = 0.5 * 4 * (1 / 2 + 1 / 3 + 1 / 4.5)
    potential = 1 / 2.1 - 0.001 / 2.1**10
    for problem, sign in (
        (ph.problems.soft_wall(), 1),
        (ph.problems.soft_wall_attractive(), -1),
    ):
        run = ph.solve(problem, (0, 0), method="forward-euler-m", dt=1)
        assert run.energy[0] == pytest.approx(kinetic + sign * potential, rel=1e-15)
    assert kinetic + potential == pytest.approx(2.5873, abs=5e-5)
    assert kinetic - potential == pytest.approx(1.6349, abs=5e-5)


def test_celledonis_problems_start_as_in_the_paper():
    """Energies by hand; the paper's Q is the transpose of R, and both are the identity."""
    free, top, satellite = (
        ph.problems.CATALOGUE[name].make()
        for name in ("celledoni-free", "celledoni-heavy-top", "satellite")
    )
    gradient = 3 * 3.986e14 / 1.5e5**3
    energies = {
        free: (1 / 5 + 4 / 3) / 2,
        top: 50 * (1000 + 5000 + 6000) + 1,
        satellite: 225 / 2 * (1.7e4 + 3.7e4 + 5.4e4) + gradient / 2 * 5.4e4,
    }
    for problem, energy in energies.items():
        run = ph.solve(problem, (0, 0), method="mr2", dt=1)
        assert run.energy[0] == pytest.approx(energy, rel=1e-15)
        assert run.q[0].tolist() == [1, 0, 0, 0]


def test_the_energy_of_the_free_body_oscillates_as_the_paper_says():
    """Section 4.1, t = 400 and h = 0.4: 1e-3 and 1e-5 for MR2 and MR4, 1e-13 for DMV."""

    def amplitude(method):
        run = ph.solve(ph.problems.celledoni_free(), (0, 400), method=method, dt=0.4)
        return np.ptp(run.energy) / 2

    assert amplitude("mr2") == pytest.approx(1.2e-3, rel=0.05)
    assert amplitude("mr4") == pytest.approx(3.2e-5, rel=0.05)
    suzuki = replace(ph.METHODS["mr2"], name="suzuki", order=4, weights=SUZUKI4.floats)
    assert amplitude(suzuki) == pytest.approx(2.6e-7, rel=0.05)  # so MR4 is the triple jump
    assert max(map(amplitude, ("dmv2", "dmv4", "dmv6"))) < 1e-14
