"""Models: built-in, a user's own in either frame, from a potential, and sums of them."""

import cmath
import math
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import loops
from polhode.contracts import potential as potential_stub
from polhode.contracts import torque as torque_stub

BODY = ph.RigidBody([2.0, 3.0, 4.5])
TENSOR = ph.RigidBody([[2.5, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]])
TURN = Rotation.from_rotvec([0.3, -0.2, 0.9])
STRENGTH = 0.7


def torque_of(model, body, q, m, t=0.0):
    """The model's torque in principal axes, in plain Python."""
    function = loops.model_pieces(model, body.is_aligned)[torque_stub]
    return np.array(function(t, tuple(q), tuple(m), body.data, model.params))


def potential_of(model, body, q, t=0.0):
    function = loops.joined(potential_stub, None, model, body.is_aligned)
    return function(t, tuple(q), body.data, model.params)


def top(t, q, omega, params):
    w, x, y, z = q
    k = params[0]
    return k * 2 * (y * z + w * x), -k * 2 * (x * z - w * y), 0.0


def top_inertial(t, q, omega, params):
    w, x, y, z = q
    k = params[0]
    return -k * 2 * (y * z - w * x), k * 2 * (x * z + w * y), 0.0


def top_potential(t, q, params):
    w, x, y, z = q
    return params[0] * (w * w - x * x - y * y + z * z)


SAME_TOPS = {
    "built-in": ph.models.heavy_top(20.0),
    "body": ph.torque(top, params=[20.0], potential=top_potential),
    "inertial": ph.torque(top_inertial, params={"k": 20.0}, frame="inertial"),
    "potential": ph.potential(top_potential, params=20.0),
    "sum": ph.models.heavy_top(12.0) + ph.torque(top, params=[5.0]) + ph.models.heavy_top(3.0),
}


@pytest.mark.parametrize("body", [BODY, TENSOR], ids=["aligned", "tensor"])
@pytest.mark.parametrize("name", SAME_TOPS)
def test_the_heavy_top_is_the_same_however_it_is_given(name, body, rng):
    for _ in range(5):
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        matrix = Rotation.from_quat(q, scalar_first=True).as_matrix() @ body.principal_axes.T
        in_user_axes = 20.0 * np.cross(matrix[2], [0, 0, 1])  # strength · Rᵀ e_z x e_3
        expected = body.principal_axes.T @ in_user_axes
        assert np.allclose(
            torque_of(SAME_TOPS[name], body, q, (0.1, 0.2, 0.3)), expected, rtol=0, atol=2e-14
        )


@pytest.mark.parametrize("body", [BODY, TENSOR], ids=["aligned", "tensor"])
def test_the_centre_of_mass_may_be_anywhere(body, rng):
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    matrix = Rotation.from_quat(q, scalar_first=True).as_matrix() @ body.principal_axes.T
    centre = np.array([0.3, -1.2, 0.7])
    expected = body.principal_axes.T @ (4.0 * np.cross(matrix[2], centre))
    model = ph.models.heavy_top(4.0, centre=centre)
    assert torque_of(model, body, q, (0, 0, 0)) == pytest.approx(expected, abs=1e-14)
    assert potential_of(model, body, q) == pytest.approx(4.0 * matrix[2] @ centre, abs=1e-14)
    assert model.parameters == {"strength": 4.0, "centre": (0.3, -1.2, 0.7)}


def test_the_centre_on_axis_3_is_the_model_without_it():
    plain = ph.models.heavy_top(20)
    assert ph.models.heavy_top(20, centre=[0, 0, 1]) == plain
    assert plain.parameters == {"strength": 20.0}


@pytest.mark.parametrize("body", [BODY, TENSOR], ids=["aligned", "tensor"])
@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 3, -4), "orbit"], ids=str)
def test_the_gravity_gradient_in_the_users_axes(direction, body, rng):
    """With the full tensor, and for the orbit with the angle that Kepler's third law gives."""
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    mu, r, t = 5.0, 1.7, 0.9
    model = ph.models.gravity_gradient(mu, r, direction)
    angle = 2 * np.pi * t / np.sqrt(4 * np.pi**2 * r**3 / mu)
    d = {"orbit": (np.cos(angle), np.sin(angle), 0), (0, 3, -4): (0, 0.6, -0.8)}
    matrix = Rotation.from_quat(q, scalar_first=True).as_matrix() @ body.principal_axes.T
    u = matrix.T @ d.get(direction, direction)
    expected = 3 * mu / r**3 * np.cross(u, body.inertia @ u)
    found = body.principal_axes @ torque_of(model, body, q, (0, 0, 0), t)
    assert found == pytest.approx(expected, abs=1e-13)
    energy = 1.5 * mu / r**3 * u @ body.inertia @ u
    assert potential_of(model, body, q, t) == pytest.approx(energy, rel=1e-14)


@pytest.mark.usefixtures("plain")
def test_the_gravity_gradient_keeps_what_it_should():
    """Fixed: the energy, and the momentum along the direction.  In orbit: Jacobi's integral."""
    body, start = ph.RigidBody([2.0, 3.0, 4.5]), {"omega": [0.3, 0.2, 0.4], "attitude": TURN}
    for direction in ((0, 0, 1), (1, 2, -2)):
        model = ph.models.gravity_gradient(0.2, 1.0, direction)
        run = ph.solve(ph.Problem(body, model, **start), (0, 20), method="mr4", dt=0.02)
        along = run.angular_momentum_inertial @ direction
        assert along == pytest.approx(along[0], abs=1e-12)
        assert run.energy == pytest.approx(run.energy[0], abs=1e-6)
        assert np.ptp(run.potential_energy) > 0.1
    model = ph.models.gravity_gradient(0.2, 1.0, "orbit")
    run = ph.solve(ph.Problem(body, model, **start), (0, 20), method="mr4", dt=0.02)
    assert np.ptp(run.energy) > 0.01
    # the energy less n times the momentum along the axis of the orbit
    kept = run.energy - np.sqrt(0.2) * run.angular_momentum_inertial[:, 2]
    assert kept == pytest.approx(kept[0], abs=1e-6)


@pytest.mark.parametrize("body", [BODY, TENSOR], ids=["aligned", "tensor"])
@pytest.mark.parametrize("e", [0.0, 0.1, 0.8])
def test_the_gravity_gradient_on_an_orbit_of_kepler(e, body, rng):
    """The place of the body from Newton's law, integrated by SciPy."""
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    mu, a, t = 5.0, 1.7, 4.3
    model = ph.models.gravity_gradient(mu, a, "orbit", eccentricity=e)
    start = a * (1 - e), 0.0, 0.0, np.sqrt(mu / a * (1 + e) / (1 - e))
    x, y = solve_ivp(
        lambda t, s: [*s[2:], *(-mu * s[:2] / np.hypot(*s[:2]) ** 3)],
        (0, t), start, "DOP853", rtol=1e-13, atol=1e-14,
    ).y[:2, -1]  # fmt: skip
    matrix = Rotation.from_quat(q, scalar_first=True).as_matrix() @ body.principal_axes.T
    r = np.hypot(x, y)
    u = matrix.T @ (x / r, y / r, 0)
    expected = 3 * mu / r**3 * np.cross(u, body.inertia @ u)
    found = body.principal_axes @ torque_of(model, body, q, (0, 0, 0), t)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-11)
    energy = 1.5 * mu / r**3 * u @ body.inertia @ u
    assert potential_of(model, body, q, t) == pytest.approx(energy, rel=1e-10)
    circle = ph.models.gravity_gradient(mu, a, "orbit")
    same = torque_of(circle, body, q, (0, 0, 0), t) - torque_of(model, body, q, (0, 0, 0), t)
    assert (np.abs(same).max() < 1e-14) == (e == 0)


def test_a_potential_may_use_the_functions_of_math():
    def spring(t, q, params):
        return math.exp(-q[0]) + math.sin(params[0] * q[1]) * math.sqrt(2 + q[2] * q[3])

    q = np.array([0.5, 0.5, -0.1, np.sqrt(1 - 0.51)])
    found = torque_of(ph.potential(spring, params=[1.7]), BODY, q, (0, 0, 0))

    def value(w, x, y, z):
        return cmath.exp(-w) + cmath.sin(1.7 * x) * cmath.sqrt(2 + y * z)

    h = 1e-30  # the same derivative along q e_k / 2, in numbers of its own
    w, x, y, z = q
    tangents = [(-x, w, z, -y), (-y, -z, w, x), (-z, y, -x, w)]
    for k, tangent in enumerate(tangents):
        shifted = [a + 0.5j * h * b for a, b in zip(q, tangent, strict=True)]
        assert found[k] == pytest.approx(-value(*shifted).imag / h, rel=1e-14)


def test_whether_the_rate_is_read_is_found_in_the_code():
    def damping(t, q, omega, params):
        return -omega[0], 0.0, 0.0

    assert ph.torque(damping).depends_on_omega
    assert not ph.torque(top, params=[1]).depends_on_omega
    assert ph.torque(top, params=[1], depends_on_omega=True).depends_on_omega
    assert not ph.torque(lambda t, q, omega, params: (q[0], 0.0, 0.0)).depends_on_omega
    assert (ph.models.heavy_top(1.0) + ph.torque(damping)).depends_on_omega


def test_sums_name_their_terms_and_parameters():
    model = ph.models.heavy_top(20.0) + ph.torque(top, params={"k": 2.0})
    assert model.name == "heavy_top + top"
    assert model.parameters == {"heavy_top": (20.0,), "top": (2.0,)}
    assert model.potential is None  # one term has none
    assert (ph.models.heavy_top(1.0) + ph.models.free()).potential is not None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ph.torque(3), "must be a function"),
        (
            lambda: ph.torque(lambda t, q: (0, 0, 0)),
            r"must take 4 arguments \(t, q, omega, params\)",
        ),
        (lambda: ph.torque(top, frame="space"), "'body' or 'inertial'"),
        (lambda: ph.torque(top, params=["k"]), r"'k' at params\[0\]"),
        (lambda: ph.potential(lambda t: 0.0), r"must take 3 arguments \(t, q, params\)"),
        (lambda: ph.models.soft_wall("physical"), "'printed' or 'attractive'"),
        (lambda: ph.models.heavy_top(1.0, centre=[1, 2]), "centre must be three numbers"),
        (lambda: ph.models.heavy_top(1.0, centre=[1, 2, math.inf]), "centre must be finite"),
        (lambda: ph.models.gravity_gradient(0, 1), "mu must be positive and finite, got 0"),
        (lambda: ph.models.gravity_gradient(1, "far"), "r must be a number, got 'far'"),
        (lambda: ph.models.gravity_gradient(1, 1, [0, 0, 0]), "direction must not be zero"),
        (lambda: ph.models.gravity_gradient(1, 1, "down"), "three numbers or 'orbit'"),
        (
            lambda: ph.models.gravity_gradient(1, 1, "orbit", eccentricity=1.0),
            r"eccentricity must be at most 0.99, got 1.0",
        ),
        (
            lambda: ph.models.gravity_gradient(1, 1, "orbit", eccentricity=-0.1),
            "eccentricity must not be negative",
        ),
        (
            lambda: ph.models.gravity_gradient(1, 1, (0, 0, 1), eccentricity=0.1),
            "eccentricity is for direction='orbit'",
        ),
    ],
)
def test_impossible_models_are_refused(call, words):
    with pytest.raises(ph.InputError, match=words):
        call()


def solved(model, **options):
    problem = ph.Problem(BODY, model, attitude=TURN, omega=[0.3, 0.2, 2.0])
    return ph.solve(problem, (0, 1), method="forward-euler-m", dt=0.01, **options)


def test_a_changed_constant_is_never_served_stale():
    def pull(t, q, omega, params):
        return STRENGTH * q[1], 0.0, 0.0

    global STRENGTH
    model, results = ph.torque(pull), {}
    for STRENGTH in (0.7, 0.9, 0.7):
        fresh = solved(ph.torque(pull)).q[-1].tolist()
        assert solved(model).q[-1].tolist() == fresh
        assert results.setdefault(STRENGTH, fresh) == fresh
    assert results[0.7] != results[0.9]


class Callable:
    """Numba cannot compile an object with a state of its own."""

    def __init__(self, k):
        self.k = k

    def __call__(self, t, q, omega, params):
        return self.k * q[1], 0.0, 0.0


def test_what_cannot_be_compiled_runs_plain_after_one_warning():
    def compiled(t, q, omega, params):
        return 0.4 * q[1], 0.0, 0.0

    model = ph.torque(Callable(0.4))
    with pytest.warns(ph.PolhodeWarning, match="could not be compiled and runs as plain Python"):
        run = solved(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = solved(model)
    assert (again.q == run.q).all()
    # plain Python rounds a product and a sum apart: a few ulp a step
    assert np.allclose(run.q, solved(ph.torque(compiled)).q, rtol=0, atol=1e-13)


def test_a_potential_without_a_complex_step_is_refused():
    with pytest.raises(ph.InputError, match=r"'folded' is not analytic in q.*do without abs"):
        solved(ph.models.heavy_top(1.0) + ph.potential(lambda t, q, p: abs(q[1]), name="folded"))


def test_the_error_of_a_failing_torque_is_shown():
    def broken(t, q, omega, params):
        return params[3], 0.0, 0.0

    with pytest.raises(ph.InputError, match="'broken' fails at the initial state: IndexError"):
        solved(ph.torque(broken))
    with pytest.raises(ph.InputError, match="not finite at the initial state"):
        solved(ph.torque(lambda t, q, omega, params: (math.nan, 0.0, 0.0), name="void"))
