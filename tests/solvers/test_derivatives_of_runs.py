"""Derivatives of whole runs: each name against differences of runs, and what users do with them."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph

pytestmark = pytest.mark.usefixtures("plain")

TENSOR = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, -0.3], [0.2, -0.3, 4.0]])
START = Rotation.from_rotvec([0.1, 0.2, 0.3])
MOMENTUM, PLACE, IMPULSE = np.array([0.5, 1.0, -2.0]), np.array([0.1, 0.2, 0.3]), [0.4, 0.0, 0.8]
PARTS = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
MAP, ADAPTIVE = {"method": "mkrk:rk4", "dt": 0.1}, {"method": "dopri5", "rtol": 1e-9}
STEP = 1e-5


def pulled(t, x, v, q, omega, params):
    """A spring and drag that depends on the side."""
    stiffness, drag = params
    f = drag if omega[0] > 0.0 else 0.5 * drag
    return -stiffness * x[0] - f * v[0], -stiffness * x[1], -stiffness * x[2]


NUMBERS = {"stiffness": 1.5, "drag": 0.1}
MODEL = ph.force(pulled, NUMBERS, at=(0.0, 0.1, 0.2)) + ph.models.uniform_gravity()


def problem(turn=(0, 0, 0), m=MOMENTUM, x=PLACE, p=IMPULSE, inertia=TENSOR, mass=2.0, drag=0.1):
    """Return a body that flies and turns, with these changes."""
    numbers = ((NUMBERS["stiffness"], drag), *MODEL.numbers[1:])
    terms = (dataclasses.replace(MODEL.terms[0], numbers=numbers[0]), *MODEL.terms[1:])
    return ph.Problem(
        ph.RigidBody(inertia, mass),
        dataclasses.replace(MODEL, numbers=numbers, terms=terms),
        START * Rotation.from_rotvec(turn),
        angular_momentum=m,
        position=x,
        velocity=np.array(p) / mass,
    )


def changed(block, k, step):
    """Return the problem with the k-th number of a block changed by a step."""
    unit = np.zeros(3)
    if block in ("turn", "m", "x", "p"):
        unit[k] = step
        given = {"turn": np.zeros(3), "m": MOMENTUM, "x": PLACE, "p": np.array(IMPULSE)}
        return problem(**{block: given[block] + unit})
    if block == "inertia":
        tensor, (i, j) = np.zeros((3, 3)), PARTS[k]
        tensor[i, j] = tensor[j, i] = step
        return problem(inertia=TENSOR + tensor)
    return problem(**{block: {"mass": 2.0, "drag": 0.1}[block] + step})


def difference(block, k, options, span=(0.0, 0.5)):
    """Return the derivative of the state at the end, by central differences of runs."""
    base = ph.solve(problem(), span, **options).rotation[-1]

    def end(step):
        run = ph.solve(changed(block, k, step), span, **options)
        turn = (base.inv() * run.rotation[-1]).as_rotvec()
        return np.concatenate([turn, run.angular_momentum[-1], run.x[-1], run.linear_momentum[-1]])

    return (end(STEP) - end(-STEP)) / (2.0 * STEP)


@pytest.mark.parametrize("options", [MAP, ADAPTIVE], ids=["map", "adaptive"])
def test_each_name_is_the_difference_of_runs(options):
    names = ["state", "inertia", "mass", "model.pulled.drag"]
    run = ph.solve(problem(), (0, 0.5), sensitivities=names, **options)
    plain = ph.solve(problem(), (0, 0.5), **options)
    assert np.array_equal(run.q, plain.q)
    assert np.array_equal(run.x, plain.x)
    assert run.stm.shape == (len(run), 12, 12)
    near = {"atol": 1e-6 if options is ADAPTIVE else 1e-8}
    for first, block in enumerate(("turn", "m", "x", "p")):
        for k in range(3):
            expected = difference(block, k, options)
            np.testing.assert_allclose(run.stm[-1, :, 3 * first + k], expected, **near)
    for k in range(6):
        expected = difference("inertia", k, options)
        np.testing.assert_allclose(run.sensitivity["inertia"][-1, :, k], expected, **near)
    for name, block in (("mass", "mass"), ("model.pulled.drag", "drag")):
        assert run.sensitivity[name].shape == (len(run), 12)
        expected = difference(block, 0, options)
        np.testing.assert_allclose(run.sensitivity[name][-1], expected, **near)


def test_other_axes_and_what_is_held():
    """θ' = R θ and dL = R (dm + θ x m); ω is held by a change dI ω of the momentum."""
    names = ["state", "inertia"]
    here = ph.solve(problem(), (0, 0.5), sensitivities=names, **MAP)
    by = ph.Sensitivities(names, frame="inertial")
    there = ph.solve(problem(), (0, 0.5), sensitivities=by, **MAP)

    def outward(run, row):
        matrix, m = run.rotation.as_matrix()[row], run.angular_momentum[row]
        skew = np.array([[0, -m[2], m[1]], [m[2], 0, -m[0]], [-m[1], m[0], 0]])
        change = np.eye(12)
        change[:3, :3], change[3:6, :3] = matrix, -matrix @ skew
        change[3:6, 3:6] = matrix
        return change

    start, end = outward(here, 0), outward(here, -1)
    expected = end @ here.stm[-1] @ np.linalg.inv(start)
    np.testing.assert_allclose(there.stm[-1], expected, atol=1e-12)
    held = ph.Sensitivities(names, at_constant="omega")
    run = ph.solve(problem(), (0, 0.5), sensitivities=held, **MAP)
    omega = run.omega[0]
    for k, (i, j) in enumerate(PARTS):
        tensor = np.zeros((3, 3))
        tensor[i, j] = tensor[j, i] = 1.0
        beside = here.stm[-1][:, 3:6] @ (tensor @ omega)
        expected = here.sensitivity["inertia"][-1, :, k] + beside
        np.testing.assert_allclose(run.sensitivity["inertia"][-1, :, k], expected, atol=1e-12)


def test_between_steps_parts_and_other_starts():
    asked = {"sensitivities": ["state", "omega", "velocity"], **MAP}
    solver = ph.prepare(problem(), **asked)
    run = solver((0, 0.5))
    inside = run.sol([0.13, 0.5])
    assert np.array_equal(inside.stm[1], run.stm[-1])
    assert np.array_equal(run[2:4].stm, run.stm[2:4])
    times = ph.solve(problem(), (0, 0.5), t_eval=[0.13, 0.5], **asked)
    np.testing.assert_allclose(times.stm, inside.stm, atol=1e-14)
    np.testing.assert_allclose(
        run.sensitivity["omega"], run.stm[:, :, 3:6] @ TENSOR, rtol=1e-12, atol=1e-14
    )
    assert np.array_equal(run.sensitivity["velocity"], 2.0 * run.stm[:, :, 9:12])
    other = changed("m", 1, 0.3)
    again = solver((0, 0.5), angular_momentum=other.angular_momentum)
    assert np.array_equal(again.stm, ph.solve(other, (0, 0.5), **asked).stm)
    back = ph.solve(problem(), (0.5, 0), **asked)
    assert back.stm.shape == run.stm.shape


def test_a_resumed_run_has_the_same_derivatives(tmp_path):
    file = tmp_path / "run.ckpt"
    whole = ph.solve(problem(), (0, 0.5), sensitivities=["state"], **ADAPTIVE)
    stored = ph.solve(
        problem(),
        (0, 0.5),
        sensitivities=["state"],
        checkpoint=file,
        checkpoint_every=2,
        **ADAPTIVE,
    )
    again = ph.resume(file, model=problem().model)
    assert np.array_equal(stored.stm, whole.stm)
    assert np.array_equal(again.stm, whole.stm)


def test_the_matrix_at_an_event_contains_how_its_time_changes():
    """A free body turns about its axis of symmetry: the time of an angle depends on the rate."""
    body, rate, angle = ph.RigidBody([2.0, 2.0, 1.0]), 1.5, 1.0

    def reached(t, q, omega):
        return 2.0 * np.arctan2(q[3], q[0]) - angle if t >= 0 else 0.0

    def crossing(t, q, omega):
        w, z = q[0], q[3]
        return 2.0 * w * z - 0.8414709848078965 * (w * w + z * z)  # sine of the angle

    crossing.terminal = True
    options = {"method": "mkrk:rk4", "dt": 0.05, "sensitivities": ["state"]}
    run = ph.solve(ph.Problem(body, omega=[0, 0, rate]), (0, 2), events=crossing, **options)
    assert reached(run.t[-1], run.q[-1], None) == pytest.approx(0.0, abs=1e-9)
    # there the body has turned by the angle, whatever its rate and its attitude at the start
    np.testing.assert_allclose(run.stm[-1][2, [2, 5]], 0.0, atol=1e-6)
    assert abs(run.stm[-2][2, 5]) > 0.5


def test_covariances():
    run = ph.solve(problem(), (0, 0.5), sensitivities=["state", "mass"], **MAP)
    initial = np.diag(np.arange(1.0, 13.0))
    found = run.covariance({"state": initial, "mass": 0.04})
    by_mass = run.sensitivity["mass"][-1]
    expected = run.stm[-1] @ initial @ run.stm[-1].T + 0.04 * np.outer(by_mass, by_mass)
    np.testing.assert_allclose(found[-1], expected, rtol=1e-12)
    np.testing.assert_allclose(run.covariance(initial)[0], initial, atol=1e-13)
    for wrong, words in (
        (np.eye(6), r"must be a symmetric matrix of shape \(12, 12\)"),
        (initial + np.eye(12, k=1), "not symmetric"),
        (-initial, "no negative eigenvalue"),
        ({"moments": np.eye(3)}, "was not differentiated by it; it has state, mass"),
    ):
        with pytest.raises(ph.InputError, match=words):
            run.covariance(wrong)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["stat"], r"no 'stat' .*did you mean 'state'\?\); choose from state, attitude"),
        (["model.strength"], r"no 'model.strength' .*model\.pulled\.stiffness"),
        ([], "must be names"),
        (3.0, "must be names"),
    ],
)
def test_wrong_names_are_answered_with_the_list(asked, words):
    with pytest.raises(ph.InputError, match=words):
        ph.solve(problem(), (0, 0.5), sensitivities=asked, **MAP)


def test_bodies_without_such_derivatives():
    twice = ph.Problem(ph.RigidBody([2.0, 2.0, 1.0]), omega=[0.1, 0.2, 1.0])
    with pytest.raises(ph.InputError, match=r"two of the moments .* are equal"):
        ph.solve(twice, (0, 1), sensitivities=["inertia"], **MAP)
    rod = ph.Problem(ph.RigidBody([2.0, 2.0, 0.0]), omega=[0.1, 0.2, 0.0])
    with pytest.raises(ph.InputError, match="a rod"):
        ph.solve(rod, (0, 1), sensitivities=["moments"], **MAP)
    with pytest.raises(ph.InputError, match="frame must be 'body' or 'inertial'"):
        ph.Sensitivities(["state"], frame="space")
    with pytest.raises(ph.InputError, match="at_constant must be 'momentum' or 'omega'"):
        ph.Sensitivities(["state"], at_constant="energy")
    with pytest.raises(ph.InputError, match="has no derivatives: give sensitivities="):
        ph.solve(twice, (0, 1), **MAP).stm  # noqa: B018


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_files_keep_derivatives(suffix, tmp_path):
    names = ["state", "inertia", "mass", "model.pulled.drag"]
    run = ph.solve(problem(), (0, 0.5), sensitivities=names, **MAP)
    run.save(tmp_path / f"run{suffix}")
    again = ph.load(tmp_path / f"run{suffix}")
    assert np.array_equal(again.stm, run.stm)
    assert list(again.sensitivity) == names
    for name in names:
        assert np.array_equal(again.sensitivity[name], run.sensitivity[name])
    assert np.array_equal(again[2:4].stm, run.stm[2:4])
    plain = ph.solve(problem(), (0, 0.5), **MAP)
    plain.save(tmp_path / f"plain{suffix}")
    with pytest.raises(ph.InputError, match="has no derivatives"):
        ph.load(tmp_path / f"plain{suffix}").stm  # noqa: B018
