"""The simulator: a body driven from outside, step by step."""

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.contracts import Status
from support.convergence import estimate_order
from support.given_motion import plain_python

TURNED = Rotation.from_rotvec([0.4, -0.7, 0.3]).as_matrix()
FULL = TURNED @ np.diag([0.7, 1.1, 1.5]) @ TURNED.T
BODIES = {
    "aligned": ph.RigidBody([0.7, 1.1, 1.5], mass=2.0),
    "full tensor": ph.RigidBody(FULL, mass=2.0),
}
START = {
    "attitude": Rotation.from_rotvec([0.2, 0.5, -0.1]),
    "omega": (0.4, -0.3, 0.9),
    "position": (1.0, -2.0, 0.5),
    "velocity": (0.3, 0.1, -0.2),
}
POINT, OTHER = (0.3, -0.2, 0.4), (-0.1, 0.5, 0.2)


def simulator(body="aligned", **others):
    return ph.Simulator(BODIES[body], **START | others)


def far(state, run, row=-1):
    """The largest difference between a state and a row of a trajectory."""
    pairs = (state.q, run.q), (state.omega, run.omega), (state.x, run.x), (state.v, run.v)
    return max(abs(a - b[row]).max() for a, b in pairs)


# ---- another route: rotation matrices and momenta in inertial axes, by SciPy
def reference(body, forces, torques, end, start=START):
    """(matrix, ω in body axes, x, v) at the end.

    ``forces``: (function of t, point, frame);  ``torques``: (function of t, frame).
    """
    inertia, mass = np.array(body.inertia), body.mass
    matrix = start["attitude"].as_matrix()
    first = matrix @ inertia @ start["omega"]
    y = np.concatenate([matrix.ravel(), first, start["position"], start["velocity"]])

    def rates(t, y):
        r, momentum, v = y[:9].reshape(3, 3), y[9:12], y[15:]
        a, b, c = np.linalg.solve(inertia, r.T @ momentum)
        turning = r @ np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
        total, push = np.zeros(3), np.zeros(3)
        for f, point, frame in forces:
            force = np.array(f(t)) if frame == "inertial" else r @ f(t)
            push += force
            total += np.cross(r @ point, force)
        for f, frame in torques:
            total += np.array(f(t)) if frame == "inertial" else r @ f(t)
        return np.concatenate([turning.ravel(), total, v, push / mass])

    y = solve_ivp(rates, (0, end), y, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    r = y[:9].reshape(3, 3)
    return r, np.linalg.solve(inertia, r.T @ y[9:12]), y[12:15], y[15:]


def errors(state, truth):
    """Return the errors of attitude, ω, x and v."""
    matrix, *vectors = truth
    found = state.omega, state.x, state.v
    off = [abs(a - b).max() for a, b in zip(found, vectors, strict=True)]
    return [abs(state.rotation.as_matrix() - matrix).max(), *off]


SMOOTH = {
    "forces": (
        (lambda t: (math.cos(t), 0.5 * math.sin(2 * t), 0.3), POINT, "inertial"),
        (lambda t: (0.2, math.sin(1.5 * t), math.cos(t)), OTHER, "body"),
    ),
    "torques": (
        (lambda t: (0.3 * math.sin(t), 0.2, -0.1 * math.cos(t)), "body"),
        (lambda t: (0.1, 0.4 * math.cos(1.2 * t), 0.2 * math.sin(t)), "inertial"),
    ),
}


def push(sim, forces=SMOOTH["forces"], torques=SMOOTH["torques"]):
    """Apply what is known at this moment."""
    for f, point, frame in forces:
        sim.apply_force(f(sim.t), point, frame)
    for f, frame in torques:
        sim.apply_torque(f(sim.t), frame)


# ---- constant forces
def test_a_constant_force_and_torque_are_those_of_solve_to_the_bit():
    model = ph.force(lambda t, x, v, q, omega, p: (1.0, -2.0, 0.5))
    model += ph.torque(lambda t, q, omega, p: (0.2, 0.3, -0.1))
    problem = ph.Problem(BODIES["aligned"], model, **START)
    run = ph.solve(problem, (0, 1), method="rkn4", dt=1 / 64)
    sim = simulator(extrapolation=2)
    for _ in range(64):
        sim.apply_force((1.0, -2.0, 0.5))
        sim.apply_torque((0.2, 0.3, -0.1))
        state = sim.step(1 / 64)
    assert state.t == 1.0
    assert far(state, run) == 0.0


@pytest.mark.parametrize("frame", ["inertial", "body"])
@pytest.mark.parametrize("body", BODIES)
def test_a_force_at_a_point_is_that_of_ph_force(body, frame):
    model = ph.force(lambda t, x, v, q, omega, p: (1.0, -2.0, 0.5), at=POINT, frame=frame)
    run = ph.solve(ph.Problem(BODIES[body], model, **START), (0, 2), method="rkn4", dt=1 / 32)
    sim = simulator(body)
    for _ in range(64):
        sim.apply_force((1.0, -2.0, 0.5), at=POINT, frame=frame)
        state = sim.step(1 / 32)
    assert far(state, run) < 1e-14
    assert abs(state.angular_momentum - run.angular_momentum[-1]).max() < 1e-14


@pytest.mark.parametrize("body", BODIES)
def test_constant_forces_by_another_route(body):
    forces = ((lambda t: (1.0, -2.0, 0.5)), POINT, "inertial"), ((lambda t: POINT), OTHER, "body")
    torques = ((lambda t: (0.2, 0.3, -0.1)), "body"), ((lambda t: (0.1, -0.2, 0.3)), "inertial")
    truth = reference(BODIES[body], forces, torques, 1.5)
    sim = simulator(body, substeps=64)
    for dt in (0.5, 0.125, 0.375, 0.25, 0.25):
        push(sim, forces, torques)
        state = sim.step(dt)
    assert state.t == 1.5
    assert max(errors(state, truth)) < 1e-9


def test_many_forces_are_their_sum(rng):
    """One force of each kind at the centre, one torque, and three couples have the same sums."""
    one, many = simulator("full tensor"), simulator("full tensor")
    for _ in range(20):
        forces, points = rng.normal(size=(2, 50, 3))
        for k, (force, point) in enumerate(zip(forces, points, strict=True)):
            many.apply_force(force, at=point, frame="body" if k % 2 else "inertial")
        one.apply_force(forces[::2].sum(axis=0))
        one.apply_force(forces[1::2].sum(axis=0), frame="body")
        one.apply_torque(np.cross(points[1::2], forces[1::2]).sum(axis=0))
        for axis, moment in zip(np.eye(3), points[::2].T @ forces[::2], strict=True):
            one.apply_force(moment / 2, at=axis)
            one.apply_force(-moment / 2, at=-axis)
        a, b = one.step(0.01), many.step(0.01)
    assert abs(a.q - b.q).max() < 1e-14
    assert abs(a.omega - b.omega).max() < 1e-13
    assert abs(a.v - b.v).max() < 1e-13


def test_what_is_applied_acts_over_one_step():
    sim, free = simulator(), simulator()
    sim.apply_force((1.0, 2.0, 3.0), at=POINT)
    sim.apply_torque((1.0, 2.0, 3.0))
    sim.clear_forces()
    assert sim.step(0.1) == free.step(0.1)
    sim.apply_force((0.0, 0.0, 4.0))
    first, second = sim.step(0.5).v, sim.step(0.5).v
    assert first - second == pytest.approx([0, 0, 0], abs=1e-15)
    assert first - START["velocity"] == pytest.approx([0, 0, 1.0], abs=1e-15)


# ---- forces that are known at the start of steps alone
STEPS = [1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128]
END = 2.0


@pytest.fixture(scope="module")
def truth():
    return reference(BODIES["full tensor"], **SMOOTH, end=END)


def sizes(h, uneven, short):
    """Steps of about h up to the end, the first one of h² if it is to be short."""
    found = np.full(round(END / h), h)
    if uneven:
        found *= 1 + 0.4 * np.sin(2.0 * np.arange(len(found)))
    if short:
        found = np.append(h * h, found)
    return found * (END / found.sum())


def orders(truth, extrapolation, uneven=False, short=True, **others):
    """Return the orders of attitude, ω, x and v."""
    found = []
    for h in STEPS:
        sim = simulator("full tensor", extrapolation=extrapolation, **others)
        for dt in sizes(h, uneven, short):
            push(sim)
            state = sim.step(dt)
        found.append(errors(state, truth))
    return [estimate_order(STEPS, column, floor=1e-11) for column in zip(*found, strict=True)]


@pytest.mark.parametrize("uneven", [False, True], ids=["even", "uneven"])
@pytest.mark.parametrize("extrapolation", [0, 1, 2])
def test_the_order_is_one_more_than_that_of_the_extrapolation(truth, extrapolation, uneven):
    found = orders(truth, extrapolation, uneven)
    assert found == pytest.approx([extrapolation + 1] * 4, abs=0.15)


def test_the_table_of_the_guide_is_measured(capsys):
    """To the two digits that are stated."""
    page = (Path(__file__).parents[2] / "docs/guide/simulator.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "rate" in b)
    scope: dict = {"__name__": "block"}
    exec(compile(block, "block", "exec"), scope)
    rows = re.findall(r"^\| (\d+) \| (\S+) \| (\S+) \| (\S+) \|$", page, re.M)
    stated = {(k, int(n)): float(e[k]) for n, *e in rows for k in range(3)}
    assert len(stated) == 12
    assert stated == pytest.approx(scope["errors"], rel=0.06)


def test_substeps_do_not_raise_the_order(truth):
    found = orders(truth, 2, substeps=4)
    assert found == pytest.approx([3] * 4, abs=0.15)


def test_a_long_first_step_costs_the_third_order(truth):
    """Nothing is known of the past then: the error of the step is that of its square."""
    found = orders(truth, 2, short=False)
    assert found == pytest.approx([2] * 4, abs=0.3)


def test_a_force_that_is_a_parabola_in_time_is_exact(rng):
    """M x'' = a + b t + c t² with uneven steps, after two that had no past yet."""
    a, b, c = rng.normal(size=(3, 3))

    def integrals(t):
        return a * t + b * t**2 / 2 + c * t**3 / 3, a * t**2 / 2 + b * t**3 / 6 + c * t**4 / 12

    sim = ph.Simulator(BODIES["aligned"], extrapolation=2, t=-0.3)
    for k, dt in enumerate((0.1, 0.2, *rng.uniform(0.05, 0.5, 20))):
        if k == 2:
            first = sim.state
        sim.apply_force(a + b * sim.t + c * sim.t**2)
        sim.step(dt)
    (p, r), (p0, r0) = integrals(sim.t), integrals(first.t)
    mass, passed = sim.body.mass, sim.t - first.t
    assert abs(sim.state.v - first.v - (p - p0) / mass).max() < 1e-13
    assert (
        abs(sim.state.x - first.x - first.v * passed - (r - r0 - p0 * passed) / mass).max() < 1e-13
    )


@pytest.mark.parametrize("extrapolation", [1, 2])
def test_a_broken_history_is_as_if_nothing_had_been_applied_before(extrapolation):
    sim = simulator(extrapolation=extrapolation)
    for _ in range(5):
        push(sim)
        sim.step(0.1)
    twins = [
        ph.Simulator(
            BODIES["aligned"],
            attitude=sim.state.q,
            scalar_first=True,
            angular_momentum=sim.state.angular_momentum,
            position=sim.state.x,
            velocity=sim.state.v,
            extrapolation=order,
            t=sim.t,
        )
        for order in (0, extrapolation)
    ]
    going_on = simulator(extrapolation=extrapolation)
    for _ in range(5):
        push(going_on)
        going_on.step(0.1)
    sim.break_history()
    for k in range(4):
        for one in (sim, going_on, *twins):
            push(one)
        states = [one.step(0.1) for one in (sim, going_on, *twins)]
        assert abs(states[0].x - states[3].x).max() < 1e-15
        assert abs(states[0].omega - states[3].omega).max() < 1e-15
        assert abs(states[0].omega - states[1].omega).max() > 1e-5
        if k == 0:
            assert abs(states[0].omega - states[2].omega).max() < 1e-15


def test_a_jump_needs_a_break():
    """A force that is switched: constant before and after, so that order 0 is right."""
    errors = {}
    for broken in (False, True):
        sim = ph.Simulator(BODIES["aligned"], extrapolation=2)
        for k in range(10):
            if k == 5 and broken:
                sim.break_history()
            sim.apply_force((1.0 if k < 5 else -3.0, 0, 0))
            sim.step(0.1)
        errors[broken] = abs(sim.state.v[0] - (0.5 - 1.5) / 2)
    assert errors[True] < 1e-15
    assert errors[False] > 0.05


# ---- steps
def test_substeps_are_steps():
    one, other = simulator(substeps=5), simulator()
    for _ in range(4):
        one.apply_force((1.0, 2.0, 3.0), at=POINT)
        one.step(0.625)
        for _ in range(5):
            other.apply_force((1.0, 2.0, 3.0), at=POINT)
            other.step(0.125)
    assert one.state == other.state


def test_the_time_is_the_sum_rounded_once():
    sim = ph.Simulator(BODIES["aligned"], memory=0)
    for k in range(30_000):
        sim.step(0.1 if k % 3 else 1 / 60)
    assert sim.t == math.fsum(0.1 if k % 3 else 1 / 60 for k in range(30_000))
    assert sim.nsteps == 30_000


def test_what_is_applied_does_not_depend_on_the_time_of_day():
    early, late = simulator(extrapolation=2), simulator(extrapolation=2, t=1e12)
    for k in range(10):
        for sim in (early, late):
            push(sim, [(lambda t, k=k: (k**0.5, 1.0, k**2), POINT, "inertial")], [])
            sim.step(0.01)
    a, b = early.state, late.state
    assert (a.q == b.q).all()
    assert (a.x == b.x).all()


def test_a_model_sees_the_time():
    model = ph.torque(lambda t, q, omega, p: (p[0] * math.sin(t), 0.0, math.cos(t)), [0.3])
    problem = ph.Problem(BODIES["aligned"], model, **START)
    with plain_python():
        run = ph.solve(problem, (3, 5), method="rkn4", dt=1 / 16)
        sim = simulator(model=model, t=3.0)
        for _ in range(32):
            state = sim.step(1 / 16)
    assert state.t == 5.0
    assert far(state, run) < 1e-14


MODEL = ph.models.uniform_gravity() + ph.models.spring(20.0, (0, 0, 3), POINT)


def test_a_model_is_added():
    thrust = ph.force(lambda t, x, v, q, omega, p: (0.0, 5.0, 1.0), at=OTHER, frame="body")
    problem = ph.Problem(BODIES["full tensor"], MODEL + thrust, **START)
    run = ph.solve(problem, (0, 1), method="rkn4", dt=1 / 32)
    sim = simulator("full tensor", model=MODEL)
    for _ in range(32):
        sim.apply_force((0.0, 5.0, 1.0), at=OTHER, frame="body")
        sim.step(1 / 32)
    assert far(sim.state, run) < 1e-13


def test_steps_compile_nothing(rng):
    first = simulator()
    machine = first.bound.loops.run.machine
    assert len(machine.signatures) == 1
    (step,) = (made.entry_point for made in machine.overloads.values())
    assert first._go.func is step
    other = ph.Simulator(
        ph.RigidBody([3, 4, 5], mass=7), extrapolation=2, substeps=3, memory=5, t=1
    )
    assert other.bound.loops.run.machine is machine
    assert other._go.func is step
    for dt in (1, 0.5, np.float64(0.25), np.float32(0.125), np.int64(1)):
        other.apply_force(rng.normal(size=3), at=rng.normal(size=3).tolist())
        other.apply_torque((1, 0, 0), frame="inertial")
        other.step(dt)
    other.set_state(position=(1, 2, 3))
    other.rewind()
    other.step(1)
    assert other.t == 3.875
    assert other._go.func is step
    assert len(machine.signatures) == 1


@pytest.mark.parametrize("method", [*ph.METHODS, "rk4", "gauss"])
def test_every_method_with_fixed_steps(method):
    """In plain Python, against ``solve`` with the same force; or refused, with a remedy."""
    arm, force, torque = (0.3, -0.2, 0.4), (1.0, -2.0, 0.5), (0.2, 0.3, -0.1)
    with plain_python():
        if method in ph.METHODS and ph.METHODS[method].free_only:
            with pytest.raises(ph.MethodError, match="is for free bodies"):
                simulator(method=method)
            return
        model = ph.force(lambda t, x, v, q, omega, p: force, at=arm)
        model += ph.torque(lambda t, q, omega, p: torque)
        problem = ph.Problem(BODIES["full tensor"], model, **START)
        run = ph.solve(problem, (0, 0.5), method=method, dt=0.125)
        sim = simulator("full tensor", method=method)
        for _ in range(4):
            sim.apply_force(force, at=arm)
            sim.apply_torque(torque)
            sim.step(0.125)
        remembered = sim.trajectory()
    assert far(sim.state, run) < 1e-13
    assert sim.method == remembered.method == method
    if not remembered.niter:  # it restarts in every step if there is a force in the carry
        assert remembered.nfev == run.nfev + 3 * sim.bound.method.torques_at_start


def test_compiled_integrators_and_implicit_maps():
    truth = reference(BODIES["aligned"], [(lambda t: (1, 2, 3), POINT, "body")], [], 1.0)
    for method, error in (("rk4", 1e-6), ("gauss", 1e-6), ("imidm", 2e-3)):
        sim = simulator(method=method, options={"order": 4} if method == "gauss" else None)
        for _ in range(16):
            sim.apply_force((1, 2, 3), at=POINT, frame="body")
            sim.step(1 / 16)
        assert max(errors(sim.state, truth)) < error, method
        assert (sim.trajectory().niter > 0) == (method != "rk4")


def test_options_go_on_from_step_to_step():
    """As many substeps as a tolerance takes, and a normalisation that counts."""
    problem = ph.Problem(BODIES["aligned"], **START)
    for options in ({"tolerance": 1e-8}, {"normalise_every": 3}):
        with plain_python():
            run = ph.solve(problem, (0, 4), method="rkn4", dt=0.5, options=options)
            sim = simulator(options=options)
            states = [sim.step(0.5) for _ in range(8)]
            assert far(states[-1], run) == 0.0, options
            assert sim.trajectory().nfev == run.nfev, options
            sim.rewind(5)
            assert [sim.step(0.5) for _ in range(5)] == states[3:], options
    lengths = [np.linalg.norm(state.q) - 1 for state in states]
    assert [abs(off) < 1e-15 for off in lengths] == [k % 3 == 2 for k in range(8)]


# ---- failures
def test_a_failed_step_changes_nothing():
    sim, twin = simulator(extrapolation=2, substeps=3), simulator(extrapolation=2, substeps=3)
    for one in (sim, twin):
        for _ in range(3):
            push(one)
            one.step(0.1)
        push(one)
    before, row = sim.state, sim._data.copy()
    with pytest.raises(ph.StepError, match=r"step of 1e\+200 from t = 0.3 failed in its substep"):
        sim.step(1e200)
    assert sim.state == before
    assert (sim._data == row).all()
    assert sim.nsteps == 3
    assert sim.step(0.1) == twin.step(0.1)  # what was applied is still there
    assert sim.rewind(4) == twin.rewind(4)


def test_a_failure_says_how():
    sim = simulator(method="imidm")
    sim.apply_torque((1e3, -2e3, 500.0), frame="inertial")
    with pytest.raises(ph.StepError, match="implicit equations") as caught:
        sim.step(10.0)
    assert caught.value.status == Status.NOT_CONVERGED
    assert "last correction" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).status == Status.NOT_CONVERGED
    sim = simulator()
    sim.apply_torque((1e300, 0, 0))
    with pytest.raises(ph.StepError, match="overflowed") as caught:
        sim.step(1.0)
    assert caught.value.status == Status.NOT_FINITE
    assert isinstance(caught.value, ph.PolhodeError)


# ---- going back
@pytest.mark.parametrize("extrapolation", [0, 1, 2])
def test_rewind_is_exact(extrapolation):
    sim = simulator(extrapolation=extrapolation, memory=12)
    steps = [0.1, 0.03, 0.2, 0.05, 0.07, 0.11, 0.13, 0.02] * 3
    states = [sim.state]
    for dt in steps:
        push(sim)
        states.append(sim.step(dt))
    for back in (1, 3, 8):
        push(sim)  # for a step that is not made
        assert sim.rewind(back) == sim.state == states[-1 - back]
        for k in range(back, 0, -1):
            push(sim)
            assert sim.step(steps[-k]) == states[len(states) - k]
    for k in range(1, 13):
        assert sim.rewind() == states[-1 - k]
    with pytest.raises(ph.InputError, match="remembered; give the Simulator memory=13"):
        sim.rewind()
    assert sim.state == states[-13]


def test_rewind_past_the_ends():
    sim = simulator()
    with pytest.raises(ph.InputError, match="more than the 0 that were taken"):
        sim.rewind()
    sim.step(0.1)
    with pytest.raises(ph.InputError, match="more than the 1 that were taken"):
        sim.rewind(2)
    forgetful = simulator(memory=0)
    forgetful.step(0.1)
    with pytest.raises(ph.InputError, match="more than the 0 that are remembered"):
        forgetful.rewind()
    short = simulator(memory=3)
    for _ in range(5):
        short.step(0.1)
    short.rewind(2)
    short.step(0.1)  # two of the three are remembered now, and the older ones are not
    with pytest.raises(ph.InputError, match="more than the 2 that are remembered"):
        short.rewind(3)
    assert short.rewind(2).t == pytest.approx(0.2)


# ---- other states
@pytest.mark.parametrize("body", BODIES)
def test_set_state_changes_what_is_given(body):
    sim = simulator(body)
    sim.step(0.1)
    before = sim.state
    after = sim.set_state(velocity=(1.0, 2.0, 3.0))
    assert after == sim.state
    assert after.v == pytest.approx([1, 2, 3])
    for name in ("q", "omega", "angular_momentum", "x"):
        assert (getattr(after, name) == getattr(before, name)).all(), name
    turned = Rotation.from_rotvec([0.1, 0.2, 0.3])
    assert sim.set_state(attitude=turned).q == pytest.approx(turned.as_quat(scalar_first=True))
    assert sim.state.omega == pytest.approx(before.omega)
    state = sim.set_state(omega=(3, 2, 1), position=(4, 5, 6))
    assert state.omega == pytest.approx([3, 2, 1])
    assert state.x == pytest.approx([4, 5, 6])
    assert state.angular_momentum == pytest.approx(sim.body.inertia @ [3, 2, 1])
    state = sim.set_state(angular_momentum=(3, 2, 1), attitude=(0, 0, 0, 1), scalar_first=False)
    assert state.angular_momentum == pytest.approx([3, 2, 1])
    assert state.q == pytest.approx([1, 0, 0, 0])
    assert sim.t == before.t


def test_set_state_continues_as_a_new_simulator_and_can_be_undone():
    sim = simulator(method="rk4", extrapolation=2)
    for _ in range(4):
        push(sim)
        sim.step(0.1)
    sim.set_state(**START)
    new = simulator(method="rk4", extrapolation=2, t=sim.t)
    for _ in range(4):
        push(sim)
        push(new)
        assert sim.step(0.1) == new.step(0.1)
    assert sim.rewind(4).x == pytest.approx(START["position"])
    twin = simulator(method="rk4", extrapolation=2)
    push(twin)
    assert sim.rewind(3) == twin.step(0.1)


def test_states_stay_and_say_where_points_are():
    sim = simulator("full tensor")
    state = sim.step(0.5)
    shown = repr(state)
    sim.step(0.5)
    assert repr(state) == shown
    assert state != sim.state
    assert state == pickle.loads(pickle.dumps(state))
    assert len({state, sim.state}) == 2
    with pytest.raises(ValueError, match="read-only"):
        state.x[0] = 1.0
    with pytest.raises(AttributeError):
        state.x = (1.0, 2.0, 3.0)
    run = sim.trajectory()[1]
    assert state.point_position(POINT) == pytest.approx(run.point_position(POINT)[0], abs=1e-15)
    assert state.point_velocity(POINT) == pytest.approx(run.point_velocity(POINT)[0], abs=1e-15)
    assert state.to_inertial(POINT) == pytest.approx(state.rotation.apply(POINT), abs=1e-15)
    assert state.to_body(state.to_inertial(POINT)) == pytest.approx(POINT, abs=1e-15)


def test_the_trajectory_is_what_is_remembered(tmp_path):
    run, energies = check_trajectory("rkn4", "full tensor")
    again = ph.load(run.save(tmp_path / "run.nc"))
    assert (again.x == run.x).all()
    assert again.energy == pytest.approx(energies)


def test_the_trajectory_of_an_integrator():
    with plain_python():
        check_trajectory("rk4", "full tensor")


def check_trajectory(method, body):
    sim = simulator(body, model=MODEL, method=method, memory=20, substeps=2)
    assert len(sim.trajectory()) == 1
    states, energies = [sim.state], [sim.energy]
    for dt in np.linspace(0.01, 0.02, 50):
        states.append(sim.step(dt))
        energies.append(sim.energy)
    run = sim.trajectory()
    assert len(run) == 21
    for name in ("t", "q", "omega", "angular_momentum", "x", "v"):
        wanted = np.array([getattr(state, name) for state in states[-21:]])
        assert getattr(run, name) == pytest.approx(wanted, abs=1e-14), name
    assert run.energy == pytest.approx(energies[-21:], rel=1e-14)
    assert np.ptp(energies) < 1e-4
    assert run.method == method
    assert run.nfev == 20 * 2 * 4
    return run, energies[-21:]


def test_the_energy_is_known_if_a_potential_is():
    assert simulator().energy == pytest.approx(simulator().trajectory().energy[0])
    with plain_python():
        assert simulator(model=ph.torque(lambda t, q, omega, p: omega)).energy is None


def test_at_rest_at_the_origin_unless_said():
    state = ph.Simulator(BODIES["aligned"]).state
    assert state.t == 0.0
    assert state.q.tolist() == [1, 0, 0, 0]
    assert not any((*state.omega, *state.x, *state.v))


# ---- what is refused
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"extrapolation": 3}, "extrapolation must be 0, 1 or 2, got 3"),
        ({"substeps": 0}, "substeps must be a whole number, 1 or more, got 0"),
        ({"substeps": 1.5}, "substeps must be a whole number, 1 or more, got 1.5"),
        ({"memory": -1}, "memory must be a whole number, 0 or more, got -1"),
        ({"method": "rk5"}, "method must be one of .* did you mean"),
        ({"method": "auto"}, "method must be one of"),
        ({"method": "dop853"}, "'dop853' finds its steps itself.* substeps= .*'tolerance'"),
        ({"method": "magnus4"}, "'magnus4' is for a given angular velocity"),
        ({"method": "dmv2"}, "'dmv2' is for free bodies, and model 'applied' has a torque"),
        ({"method": "strang", "model": ph.models.drag(0.1, 0.2)}, "must not depend on the rate"),
        ({"options": {"tolerance": 2.0}}, "tolerance must be between"),
        ({"options": {"every": 2.0}}, "options of method 'rkn4' are"),
        ({"t": math.inf}, "t must be finite"),
        ({"omega": (1, 2)}, "omega must be three numbers"),
        ({"angular_momentum": (1, 2, 3)}, "give omega= or angular_momentum=.*both"),
        ({"attitude": (1, 0, 0, 0)}, "give scalar_first"),
        ({"model": "gravity"}, "model must be a Model"),
    ],
)
def test_what_a_simulator_refuses(arguments, message):
    with pytest.raises(ph.InputError, match=message):
        simulator(**arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda sim: sim.step(0.0), r"dt must be a positive number of seconds, got 0.0; .* rewind"),
        (lambda sim: sim.step(-0.1), "dt must be a positive number"),
        (lambda sim: sim.step(math.nan), "dt must be a positive number"),
        (lambda sim: sim.step(math.inf), "dt must be a positive number"),
        (lambda sim: sim.step("long"), "dt must be a positive number of seconds, got 'long'"),
        (lambda sim: sim.apply_force((1, 2)), r"force must be three numbers, got \(1, 2\)"),
        (lambda sim: sim.apply_force(1.0), "force must be three numbers, got 1.0"),
        (lambda sim: sim.apply_force((1, 2, math.nan)), "force must be finite"),
        (lambda sim: sim.apply_force((1, 2, 3), (1, 2)), r"at must be three numbers, got \(1, 2\)"),
        (
            lambda sim: sim.apply_force((1, 2, 3), frame="world"),
            "frame must be 'body' or 'inertial'",
        ),
        (lambda sim: sim.apply_torque((1, 2, math.inf)), "torque must be finite"),
        (lambda sim: sim.apply_torque((1, 2, 3), "world"), "frame must be .*got 'world'"),
        (lambda sim: sim.rewind(0), "steps must be a whole number, 1 or more, got 0"),
        (lambda sim: sim.set_state(position=(1, 2)), "position must be three numbers"),
        (lambda sim: sim.set_state(omega=1, velocity=(1, 2, 3)), "omega must be three numbers"),
    ],
)
def test_what_calls_refuse_changes_nothing(call, message):
    sim = simulator()
    sim.step(0.1)
    sim.apply_force((1.0, 2.0, 3.0))
    row = sim._data.copy()
    with pytest.raises(ph.InputError, match=message):
        call(sim)
    assert (sim._data == row).all()


def test_a_mistake_in_a_model_is_reported():
    def wrong(t, q, omega, params):
        return params[7], 0.0, 0.0

    with pytest.raises(ph.InputError, match="fails at the initial state: IndexError"):
        simulator(model=ph.torque(wrong, [1.0]))


def test_what_cannot_be_compiled_runs_as_it_is():
    table = {"x": 0.5}

    def by_name(t, q, omega, params):
        return table["x"] * len(str(params)), 0.0, 0.0

    with pytest.warns(ph.PolhodeWarning, match="plain Python"):
        sim = simulator(model=ph.torque(by_name, [1.0]))
    sim.apply_force((0.0, 0.0, 2.0))
    assert sim.step(0.5).v == pytest.approx(np.add(START["velocity"], (0, 0, 0.5)))


def test_it_says_what_it_is():
    with plain_python():
        sim = simulator(substeps=2, options={"gyroscopic": False})
        sim.step(0.25)
    words = repr(sim)
    assert words.startswith("<Simulator rkn4, extrapolation=0, substeps=2, options=")
    assert "1 steps, t = 0.25" in words


def test_a_trajectory_says_what_it_has_forgotten_and_record_keeps_all(monkeypatch):
    monkeypatch.setattr("polhode.solvers.simulator.FIRST_ROWS", 4)
    with plain_python():
        first, every = simulator(memory=4), simulator(record=True)
        states = [every.state]
        for _ in range(11):
            first.step(0.1)
            states.append(every.step(0.1))
            if every.nsteps == 6:
                assert every.rewind(2) == states[4]
                del states[5:]
        assert "holds the last 4 of 11 steps" in first.trajectory().message
        assert "record=True" in repr(first.trajectory())
        run = every.trajectory()
        assert run.message == ""
        assert np.array_equal(run.t, [state.t for state in states])
        assert np.array_equal(run.q, [state.q for state in states])
        monkeypatch.setattr("polhode.solvers.simulator.machine_memory", lambda: 0)
        bounded = simulator(record=True)
        for _ in range(11):
            bounded.step(0.1)
        assert len(bounded.trajectory()) == 5
