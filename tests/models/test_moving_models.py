"""Models with forces: built-in, a user's own in either frame, from a potential, and sums."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import loops
from polhode.contracts import potential_at as potential_stub
from polhode.contracts import wrench as wrench_stub
from polhode.problems.problem import inner_state

BODY = ph.RigidBody([2.0, 3.0, 4.5], mass=1.3)
TENSOR = ph.RigidBody([[2.5, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]], mass=1.3)
BODIES = pytest.mark.parametrize("body", [BODY, TENSOR], ids=["aligned", "tensor"])
ARM, ANCHOR = (0.5, -0.3, 0.8), (0.2, 0.0, 0.1)
CHARGED = {"charge": 1.2, "electric": (0.3, -0.1, 0.4), "magnetic": (0.5, 0.9, -0.4), "point": ARM}


def acting(model, body, q, m, x, p, t=0.0):
    """(torque in the user's body axes, force), in plain Python; q and m of the user's axes."""
    pieces = loops.model_pieces(model, body.is_aligned)
    state = inner_state(body, tuple(q), tuple(m), tuple(x), tuple(p / body.mass))
    n, f = pieces[wrench_stub](t, *state, body.data, model.params)
    return body.principal_axes @ np.array(n), np.array(f)


def energy(model, body, q, x, t=0.0):
    value = loops.model_pieces(model, body.is_aligned)[potential_stub]
    q, _ = inner_state(body, tuple(q), (0.0, 0.0, 0.0))
    return value(t, q, tuple(x), body.data, model.params)


def somewhere(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q), rng.normal(size=3), rng.normal(size=3) + 3.0, rng.normal(size=3)


# ---- potentials
def hung(t, x, q, params):
    """A spring with a length, and a weight; the point by the quaternion."""
    k, length, g = params
    w, a, b, c = q
    r, d = [], []
    r += [(w * w + a * a - b * b - c * c) * ARM[0] + 2 * (a * b - w * c) * ARM[1]]
    r += [2 * (a * b + w * c) * ARM[0] + (w * w - a * a + b * b - c * c) * ARM[1]]
    r += [2 * (a * c - w * b) * ARM[0] + 2 * (b * c + w * a) * ARM[1]]
    r[0] += 2 * (a * c + w * b) * ARM[2]
    r[1] += 2 * (b * c - w * a) * ARM[2]
    r[2] += (w * w - a * a - b * b + c * c) * ARM[2]
    d += [x[0] + r[0] - ANCHOR[0], x[1] + r[1] - ANCHOR[1], x[2] + r[2] - ANCHOR[2]]
    size = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) ** 0.5
    return k / 2 * (size - length) * (size - length) + 1.3 * g * x[2]


HUNG = ph.potential(hung, (3.0, 0.7, 2.0))
CONSERVATIVE = {
    "potential": HUNG,
    "sum": ph.models.spring(3.0, ANCHOR, ARM) + ph.models.heavy_top(2.0)
    + ph.models.uniform_gravity(),
}  # fmt: skip


@BODIES
@pytest.mark.parametrize("name", CONSERVATIVE)
def test_force_and_torque_are_derivatives_of_the_potential(name, body, rng):
    """Of user-defined models and sums; built-in ones are in ``test_model_examples.py``."""
    model, h = CONSERVATIVE[name], 1e-3
    assert model.moves
    for _ in range(5):
        q, m, x, p = somewhere(rng)
        n, f = acting(model, body, q, m, x, p)
        here = Rotation.from_quat(q, scalar_first=True)

        def turned(k, a, here=here, x=x):
            turn = here * Rotation.from_rotvec(a * np.eye(3)[k])
            return energy(model, body, turn.as_quat(scalar_first=True), x)

        def shifted(k, a, q=q, x=x):
            return energy(model, body, q, x + a * np.eye(3)[k])

        for value, found in ((turned, n), (shifted, f)):
            slopes = [  # of fourth order: h⁴ and rounding over h
                (8 * (value(k, h) - value(k, -h)) - value(k, 2 * h) + value(k, -2 * h)) / (12 * h)
                for k in range(3)
            ]
            assert found == pytest.approx(-np.array(slopes), abs=2e-10)


def test_the_long_spring_is_the_potential_given_by_hand(rng):
    model = ph.models.spring(3.0, ANCHOR, ARM, length=0.7) + ph.models.uniform_gravity((0, 0, -2.0))
    for _ in range(5):
        q, m, x, p = somewhere(rng)
        for a, b in zip(
            acting(model, TENSOR, q, m, x, p),
            acting(HUNG, TENSOR, q, m, x, p),
            strict=True,
        ):
            assert a == pytest.approx(b, abs=1e-13)


def test_point_gravity_is_that_of_its_parts():
    """Six point masses with the same moments, each pulled by itself: apart by fourth order."""
    masses, arms = np.full(6, 0.25), 0.02 * np.array([[1, 0, 0], [0, 1.5, 0], [0, 0, 2.0]])
    arms = np.vstack([arms, -arms])
    squares = np.sum(arms**2, axis=1)
    inertia = sum(
        w * (s * np.eye(3) - np.outer(a, a)) for w, s, a in zip(masses, squares, arms, strict=True)
    )
    body = ph.RigidBody(np.diag(inertia), mass=masses.sum())
    model, r = ph.models.point_gravity(7.0), Rotation.from_rotvec([0.4, -0.2, 0.9])
    x = np.array([1.1, -0.7, 0.4])
    n, f = acting(model, body, r.as_quat(scalar_first=True), np.zeros(3), x, np.zeros(3))
    with mp.workdps(30):
        force, torque = mp.matrix(3, 1), mp.matrix(3, 1)
        for w, a in zip(masses, arms, strict=True):
            arm = mp.matrix(r.apply(a))
            d = mp.matrix(x) + arm
            pull = -7 * w / mp.norm(d) ** 3 * d
            force += pull
            torque += mp.matrix(
                [
                    arm[1] * pull[2] - arm[2] * pull[1],
                    arm[2] * pull[0] - arm[0] * pull[2],
                    arm[0] * pull[1] - arm[1] * pull[0],
                ]
            )
    right = np.array([float(c) for c in force]), np.array([float(c) for c in torque])
    size = np.linalg.norm(x)
    point = -7.0 * body.mass / size**3 * x
    assert np.abs(f - right[0]).max() < 1e-2 * np.abs(point - right[0]).max()
    assert np.abs(r.apply(n) - right[1]).max() < 1e-2 * np.abs(right[1]).max()


# ---- rates
@BODIES
def test_forces_of_the_velocity(body, rng):
    damper = ph.models.spring(1e-300, ANCHOR, ARM, damping=0.7)
    for _ in range(5):
        q, m, x, p = somewhere(rng)
        r = Rotation.from_quat(q, scalar_first=True)
        omega, v = np.linalg.solve(body.inertia, m), p / body.mass
        arm, at = r.apply(ARM), v + r.apply(np.cross(omega, ARM))
        n, f = acting(ph.models.lorentz(**CHARGED), body, q, m, x, p)
        push = 1.2 * (np.array(CHARGED["electric"]) + np.cross(at, CHARGED["magnetic"]))
        assert f == pytest.approx(push, abs=1e-14)
        assert r.apply(n) == pytest.approx(np.cross(arm, push), abs=1e-14)
        n, f = acting(ph.models.drag(0.2, 0.3), body, q, m, x, p)
        assert f == pytest.approx(-0.2 * v, abs=1e-15)
        assert n == pytest.approx(-0.3 * omega, abs=1e-15)
        n, f = acting(damper, body, q, m, x, p)
        d = x + arm - ANCHOR
        e = d / np.linalg.norm(d)
        assert f == pytest.approx(-0.7 * (e @ at) * e, abs=1e-14)
        assert r.apply(n) == pytest.approx(np.cross(arm, f), abs=1e-14)


def test_what_models_say_of_themselves():
    models = ph.models
    table = {  # moves, is_free, depends_on_omega, depends_on_velocity
        models.uniform_gravity(): (True, True, False, False),
        models.point_gravity(1.0): (True, False, False, False),
        models.spring(1.0): (True, False, False, False),
        models.spring(1.0, damping=0.1): (True, False, True, True),
        models.drag(0.1): (True, True, False, True),
        models.drag(0.1, 0.1): (True, False, True, True),
        models.drag(0.0, 0.1): (False, False, True, False),
        models.lorentz(**CHARGED): (True, False, True, True),
        models.lorentz(1.0, magnetic=(0, 0, 1)): (True, True, False, True),
        models.lorentz(1.0, electric=(0, 0, 1), point=ARM): (True, False, False, False),
        models.uniform_gravity() + models.heavy_top(1.0): (True, False, False, False),
        models.uniform_gravity() + models.drag(0.1): (True, True, False, True),
        models.heavy_top(1.0) + models.drag(0.0, 0.1): (False, False, True, False),
    }
    for model, (moves, free, omega, velocity) in table.items():
        assert (model.moves, model.is_free) == (moves, free), model.name
        assert (model.depends_on_omega, model.depends_on_velocity) == (omega, velocity), model.name


# ---- a user's own
def push(t, x, v, q, omega, params):
    return params[0] * math.cos(t) - x[0], params[1] * v[1], 0.3 * omega[2]


@BODIES
@pytest.mark.parametrize("frame", ["inertial", "body"])
def test_a_user_defined_force(frame, body, rng):
    model = ph.force(push, {"a": 0.7, "b": -0.2}, at=ARM, frame=frame)
    assert model.parameters == {"a": 0.7, "b": -0.2}
    assert (model.depends_on_omega, model.depends_on_velocity, model.is_free) == (True, True, False)
    for _ in range(3):
        q, m, x, p = somewhere(rng)
        r = Rotation.from_quat(q, scalar_first=True)
        omega, v = np.linalg.solve(body.inertia, m), p / body.mass
        given = np.array(push(0.4, x, v, q, omega, (0.7, -0.2)))
        force = given if frame == "inertial" else r.apply(given)
        n, f = acting(model, body, q, m, x, p, t=0.4)
        assert f == pytest.approx(force, abs=1e-14)
        assert r.apply(n) == pytest.approx(np.cross(r.apply(ARM), force), abs=1e-14)


@BODIES
@pytest.mark.parametrize("frame", ["inertial", "body"])
def test_a_torque_that_depends_on_the_place(frame, body, rng):
    model = ph.torque(push, (0.7, -0.2), frame=frame)
    assert model.moves
    assert model.depends_on_omega
    q, m, x, p = somewhere(rng)
    omega, v = np.linalg.solve(body.inertia, m), p / body.mass
    given = np.array(push(0.4, x, v, q, omega, (0.7, -0.2)))
    n, f = acting(model, body, q, m, x, p, t=0.4)
    turn = Rotation.from_quat(q, scalar_first=True).inv().apply if frame == "inertial" else np.array
    assert n == pytest.approx(turn(given), abs=1e-14)
    assert np.array_equal(f, np.zeros(3))


def test_what_the_code_reads_is_what_it_depends_on():
    thrust = ph.force(lambda t, x, v, q, omega, p: (1.0, 0.0, t), at=ARM, frame="body")
    assert not thrust.depends_on_omega
    assert not thrust.depends_on_velocity
    centred = ph.force(lambda t, x, v, q, omega, p: (omega[0], 0.0, 0.0))
    assert centred.is_free
    assert not centred.depends_on_omega  # the torque is none
    said = ph.force(lambda t, x, v, q, omega, p: (v[0], 0.0, 0.0), depends_on_velocity=False)
    assert not said.depends_on_velocity


@pytest.mark.usefixtures("plain")
def test_a_force_with_a_potential_has_an_energy():
    well = ph.force(
        lambda t, x, v, q, omega, p: (-p[0] * x[0], -p[0] * x[1], -p[0] * x[2]),
        4.0,
        potential=lambda t, x, q, p: p[0] / 2 * (x[0] ** 2 + x[1] ** 2 + x[2] ** 2),
    )
    start = {"omega": (0.1, 1.0, 0.1), "position": (1, 0, 0), "velocity": (0, 0.5, 0)}
    run = ph.solve(ph.Problem(BODY, well, **start), (0, 3), rtol=1e-11)
    assert np.ptp(run.energy) < 1e-10
    rate = math.sqrt(4.0 / BODY.mass)
    assert run.x[-1] == pytest.approx(
        [math.cos(3 * rate), 0.5 / rate * math.sin(3 * rate), 0], abs=1e-9
    )
    bare = ph.force(lambda t, x, v, q, omega, p: (0.0, 0.0, -1.0))
    assert ph.solve(ph.Problem(BODY, bare, **start), (0, 1), rtol=1e-6).energy is None


# ---- refusals
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ph.models.uniform_gravity((0, 1)), "g must be three numbers"),
        (lambda: ph.models.point_gravity(-1.0), "mu must be positive"),
        (lambda: ph.models.spring(0.0), "stiffness must be positive"),
        (lambda: ph.models.spring(1.0, length=-1), "length must not be negative"),
        (lambda: ph.models.spring(1.0, damping=math.inf), "damping must be finite"),
        (lambda: ph.models.drag(linear="x"), "linear must be a number"),
        (lambda: ph.models.lorentz(math.nan), "charge must be finite"),
        (lambda: ph.force(3), "function must be a function"),
        (lambda: ph.force(lambda t, q, omega, p: (0, 0, 0)), "must take 6 arguments .* takes four"),
        (lambda: ph.force(push, at=(0, 1)), "at must be three numbers"),
        (lambda: ph.force(push, frame="space"), "frame must be 'body' or 'inertial'"),
        (lambda: ph.force(push, potential=lambda t, q, p: 0.0), r"potential must take \(t, x, q"),
        (
            lambda: ph.torque(lambda t, q, w, p: (0, 0, 0), potential=lambda t, x, q, p: 0.0),
            r"potential must take \(t, q, params\)",
        ),
        (lambda: ph.potential(lambda t: 0.0), "for six degrees of freedom"),
    ],
)
def test_impossible_models(make, message):
    with pytest.raises(ph.InputError, match=message):
        make()


def test_mistakes_in_a_force_are_reported():
    start = {"omega": (1, 0, 0)}
    broken = ph.force(lambda t, x, v, q, omega, p: (p[3], 0.0, 0.0), name="broken")
    with pytest.raises(ph.InputError, match=r"the force of model 'broken' fails .*IndexError"):
        ph.solve(ph.Problem(BODY, broken, **start), (0, 1), rtol=1e-6)
    infinite = ph.force(lambda t, x, v, q, omega, p: (1.0 / x[0], 0.0, 0.0), at=ARM)
    with pytest.raises(ph.InputError, match=r"the torque or force of model .* ZeroDivisionError"):
        ph.solve(ph.Problem(BODY, infinite, **start), (0, 1), rtol=1e-6)
    edged = ph.potential(lambda t, x, q, p: abs(x[0]) + abs(q[1]) * q[0])
    with pytest.raises(ph.InputError, match="is not analytic"):
        ph.solve(ph.Problem(BODY, edged, **start, position=(1, 0, 0)), (0, 1), rtol=1e-6)
