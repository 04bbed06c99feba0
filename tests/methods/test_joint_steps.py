"""Methods with a scheme of their own for (q, m, x, p): one step in 40 digits, orders, bits."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.contracts import Status, inverse_moments
from polhode.kernels.vector import dot
from polhode.methods import mkrk, translation
from polhode.methods.further import Further
from polhode.methods.translation import with_translation
from support import given_motion, joint_schemes
from support.bodies import INERTIA
from support.convergence import estimate_order
from support.joint_schemes import DIGITS, MASS, PROBLEM, WORLD
from support.precise import hamilton, to_mp
from support.precise_steps import mp_step

METHODS = [method for method in ph.METHODS.values() if method.motion is not None]
TABLEAUS = [ph.TABLEAUS[name] for name in ph.TABLEAUS]


def over(values):
    return pytest.mark.parametrize("method", values, ids=lambda method: method.name)


def test_which_methods_have_one():
    """All of order above 2 have their order: by a scheme of their own, or as compositions."""
    for method in ph.METHODS.values():
        whole = with_translation(method, False)
        assert whole.order == method.order
        if method.order > 2:
            assert method in METHODS or len(whole.weights) > 1
    assert {method.name for method in METHODS} == {
        "rkn4", *(f"mkrk:{tableau.name}" for tableau in TABLEAUS)
    }  # fmt: skip


@over(METHODS)
def test_the_record_is_that_of_rotation(method):
    """What it declares holds for the motion, too; only the functions differ."""
    functions = ("start", "step", "guess", "improve", "finish", "motion")
    same = {name: getattr(method, name) for name in functions}
    assert replace(method.motion, **same) == method


# ---- in 40 digits
H = 1 / 16


def one_step(method, h, start=PROBLEM.state):
    return mp_step(method, PROBLEM, h)(to_mp(start))


def as_matrices(state):
    """(R, L, x, p) of a state."""
    q, *vectors = state
    w, v = q[0], mp.matrix(q[1:])
    r = (w * w - (v.T * v)[0]) * mp.eye(3) + 2 * v * v.T + 2 * w * joint_schemes.skew(v)
    m, x, p = map(mp.matrix, vectors)
    return r, r * m, x, p


def apart(state, right):
    """The largest differences of R, L, x and p."""
    pairs = zip(state, right, strict=True)
    return [float(max(abs(x - y) for x, y in zip(a, b, strict=True))) for a, b in pairs]


def exactly(tableau):
    """The method of a tableau with unrounded coefficients."""
    return ph.mkrk(tableau, joint_schemes.number)


@pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda tableau: tableau.name)
def test_one_step(tableau):
    """The joint step is that of psi, L, x and p in one vector space."""
    with mp.workdps(DIGITS):
        h = mp.mpf(H)
        right = joint_schemes.mkrk(WORLD, mp.mpf(0), h, WORLD.start(), tableau)
        found = as_matrices(one_step(exactly(tableau).motion, h))
        assert max(apart(found, right)) < 1e-21  # the series in ``dexpinv`` ends there
        with given_motion.plain_python():
            run = ph.solve(PROBLEM, (0, H), method=f"mkrk:{tableau.name}", dt=H)
        row = run.q[-1], run.angular_momentum[-1], run.x[-1], MASS * run.v[-1]
        state = tuple(to_mp(tuple(part.tolist())) for part in row)
        assert max(apart(as_matrices(state), right)) < 1e-14


@over(METHODS)
def test_order_of_one_step(method):
    """In 40 digits, against a Taylor series: force and torque depend on everything."""
    steps, found = [1 / 64, 1 / 128, 1 / 256], []
    name = method.name.removeprefix("mkrk:")
    with mp.workdps(DIGITS):
        record = exactly(ph.TABLEAUS[name]) if name in ph.TABLEAUS else method
        motion = WORLD.motion()
        for h in map(mp.mpf, steps):
            y = motion(h)
            parts = (y[:9], y[9:12], y[12:15], y[15:])
            right = [mp.matrix(part) for part in parts]
            found.append(apart(as_matrices(one_step(record.motion, h)), right))
    orders = [estimate_order(steps, e, floor=1e-30) for e in np.transpose(found)]
    assert min(orders) == pytest.approx(method.order + 1, abs=0.15), orders


STIFFNESS = 2.0  # of a spring that twists
TWISTED = Further(
    apart=lambda state: state,
    together=lambda q, m, z: (q, m, z),
    acting=lambda t, q, m, z, body, params: (
        (0.0, 0.0, -STIFFNESS * z[0]),
        (inverse_moments(body)[2] * m[2], z[0], -z[2]),
    ),
    size=lambda d, z, new, m, body: dot(d, d) / (1.0 + dot(z, z)),
)


@pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda tableau: tableau.name)
def test_any_further_variables(tableau):
    """A body turns about its axis on a spring: z is its angle, the integral of it, and a decay."""
    functions = mkrk.stages_of(tableau, TWISTED, joint_schemes.number)
    method = replace(ph.METHODS[f"mkrk:{tableau.name}"], **functions)
    q, twist = (0.5, 0.5, -0.5, 0.5), 0.75
    steps, found = [1 / 8, 1 / 16, 1 / 32], []
    with mp.workdps(DIGITS):
        w = mp.sqrt(STIFFNESS / mp.mpf(INERTIA[2]))
        for h in map(mp.mpf, steps):
            new_q, m, z = one_step(method, h, (q, (0.0, 0.0, 0.0), (twist, 0.0, 1.0)))
            a, spin = twist * mp.cos(w * h), -twist * w * mp.sin(w * h)
            half = (a - twist) / 2
            turn = mp.cos(half), 0, 0, mp.sin(half)
            pairs = [(m[2], INERTIA[2] * spin), (z[0], a), (z[1], twist * mp.sin(w * h) / w)]
            pairs += [(z[2], mp.exp(-h)), *zip(new_q, hamilton(q, turn), strict=True)]
            found.append(max(float(abs(x - y)) for x, y in pairs))
    order = estimate_order(steps, found, floor=1e-20)
    assert order == pytest.approx(tableau.order + 1, abs=0.15)


# ---- in double precision
@over(METHODS)
def test_one_wrench_for_each_stage(method):
    """As many evaluations as the rotation alone has torques."""
    calls = []

    def counted(t, x, v, q, omega, params):
        calls.append(t)
        return -x[0], 0.5 * q[1] - v[1], omega[2]

    model = ph.force(counted, at=(0.0, 0.1, 0.2))
    problem = ph.Problem(ph.RigidBody(INERTIA, MASS), model, omega=(0.5, 0.7, -0.6))
    with given_motion.plain_python():
        solver = ph.prepare(problem, method=method, dt=0.125)
        calls.clear()
        run = solver((0, 1))
    assert len(calls) == run.nfev
    if not method.implicit:
        assert run.nfev == 8 * method.torques_per_step


@over([method for method in METHODS if method.implicit])
def test_iterations(method):
    """To rounding in some iterations, with friction and at rest; too stiff a spring is refused."""
    with given_motion.plain_python():
        run = ph.solve(PROBLEM, (0, 1), method=method, dt=0.01)
        assert run.success
        assert run.niter < 9 * run.nsteps
        falling = ph.Problem(PROBLEM.body, ph.models.uniform_gravity(), omega=(0, 0, 0))
        run = ph.solve(falling, (0, 1), method=method, dt=0.125)
        assert run.success
        assert run.niter <= 4 * run.nsteps
        if method.order > 1:
            assert run.x[-1] == pytest.approx([0, 0, -9.80665 / 2], rel=1e-15)
        hard = ph.Problem(PROBLEM.body, ph.models.spring(1e4), omega=(0, 0, 1), position=(1, 0, 0))
        run = ph.solve(hard, (0, 1), method=method, dt=0.5)
        assert run.status == Status.NOT_CONVERGED
        assert "smaller dt" in run.message


@pytest.mark.usefixtures("plain")
def test_a_tableau_of_ones_own():
    """Ralston's method of order 3."""
    ralston = ph.Tableau(
        name="ralston3", a=((0, 0, 0), (0.5, 0, 0), (0, 0.75, 0)),
        b=(2 / 9, 1 / 3, 4 / 9), c=(0, 0.5, 0.75), order=3,
    )  # fmt: skip
    right = ph.solve(PROBLEM, (0, 1), method="mkrk:butcher6", dt=0.01)
    steps = [0.05, 0.025, 0.0125]
    runs = [ph.solve(PROBLEM, (0, 1), method=ph.mkrk(ralston), dt=h) for h in steps]
    for name in ("q", "omega", "x", "v"):
        errors = [np.abs(getattr(run, name)[-1] - getattr(right, name)[-1]).max() for run in runs]
        assert estimate_order(steps, errors, floor=1e-12) == pytest.approx(3, abs=0.25)


@pytest.mark.usefixtures("plain")
def test_other_methods_of_higher_order_have_order_two():
    """The wrapper cannot know more of a map that is neither symmetric nor composed."""
    own = replace(ph.METHODS["mkrk:rk4"], name="own", motion=None)
    assert with_translation(own, False).order == 2
    assert translation.raised(ph.METHODS["jem4"])["weights"]
