"""Six degrees of freedom: maps through the wrapper or with one of their own, and integrators."""

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import loops
from polhode.compiler.machine import fma
from polhode.contracts import Status
from polhode.contracts import start as start_stub
from polhode.loops.join import variant
from polhode.loops.lanes import fixed
from polhode.methods.translation import with_translation
from support import extra_methods, given_motion
from support.bodies import INERTIA
from support.convergence import estimate_order
from support.precise import exact_fma
from support.translating_bodies import BODY, CHARGED, MASS, ORBITING, REFERENCE_ERROR, SPRUNG

METHODS = list(ph.METHODS.values())
ADAPTIVE = [name for name in ph.integrators.OF_BODIES if ph.INTEGRATORS[name].adaptive]
SPAN = 2.0
TIMES = 0.0, SPAN / 2, SPAN
FREE_FLIGHT = ph.Problem(
    BODY, ph.models.uniform_gravity(), omega=(0.5, 0.7, -0.6), velocity=(1.0, 2.0, 5.0)
)


def over(values):
    return pytest.mark.parametrize("method", values, ids=lambda method: method.name)


def order_of(method, model):
    """What the map of (q, m, x, p) declares."""
    return with_translation(method, model.depends_on_velocity).order


# ---- maps
@over([m for m in METHODS if not m.free_only])
@pytest.mark.parametrize("flight", [SPRUNG, CHARGED], ids=lambda flight: flight.name)
def test_order(method, flight):
    """In attitude, rate, position and velocity; force and torque depend on all of them."""
    model = flight.problem.model
    if not method.takes(model):
        with pytest.raises(ph.MethodError, match="must not depend on the rate"):
            ph.prepare(flight.problem, method=method, dt=0.1)
        return
    order = order_of(method, model)
    coarsest = {1: 64, 2: 24, 3: 24, 4: 16}.get(order, 6 if method.symmetric else 12)
    counts = [coarsest * k for k in (1, 2, 4)]
    found = []
    with given_motion.plain_python():
        for count in counts:
            run = ph.solve(
                flight.problem, (0, SPAN), method=method, dt=SPAN / count, save_every=count // 2
            )
            assert run.success, run.message
            found.append(flight.errors(run, TIMES))
    if np.max(found[-1]) < 10 * REFERENCE_ERROR:
        assert order >= 6
        return
    slopes = [
        estimate_order([SPAN / n for n in counts], e, floor=REFERENCE_ERROR)
        for e in np.transpose(found)
    ]
    assert min(slopes) == pytest.approx(order, abs=0.15), slopes
    assert max(slopes) < order + 1.2


@over(METHODS)
def test_symmetric(method):
    """There and back, with a force that depends on everything, if the map can take it."""
    problem = next(
        p for p in (CHARGED.problem, SPRUNG.problem, FREE_FLIGHT) if method.takes(p.model)
    )
    steps, h = 8, 0.125
    with given_motion.plain_python():
        there = ph.solve(problem, (0, steps * h), method=method, dt=h)
        turned = ph.Problem(
            problem.body,
            problem.model,
            attitude=there.q[-1] / np.linalg.norm(there.q[-1]),
            scalar_first=True,
            angular_momentum=there.angular_momentum[-1],
            position=there.x[-1],
            velocity=there.v[-1],
        )
        back = ph.solve(turned, (steps * h, 0), method=method, dt=h)
    missed = max(
        np.abs(a[-1] - b[0]).max()
        for a, b in ((back.q, there.q), (back.omega, there.omega), (back.x, there.x))
    )
    if method.symmetric:
        assert missed < 2e-14
    else:
        assert missed > 1e-13


@over([m for m in METHODS if m.free_only])
def test_free_bodies_fall(method):
    """Maps of free bodies are as they were, and the centre of mass is on its parabola."""
    still = ph.Problem(BODY, omega=(0.5, 0.7, -0.6))
    with given_motion.plain_python():
        run = ph.solve(FREE_FLIGHT, (0, 1), method=method, dt=0.125)
        alone = ph.solve(still, (0, 1), method=method, dt=0.125)
    t = run.t[:, None]
    whole = with_translation(method, False)
    assert whole.momentum_order == method.momentum_order
    if len(whole.weights) == 1:
        assert np.abs(run.q - alone.q).max() < 1e-15
        assert np.abs(run.omega - alone.omega).max() < 1e-15
    assert np.abs(run.omega - alone.omega).max() < 1e-5
    fallen = t * (1.0, 2.0, 5.0) - t**2 / 2 * (0.0, 0.0, 9.80665)
    assert np.abs(run.x - fallen).max() < 1e-14


def thrust(t, x, v, q, omega, params):
    return 0.0, 0.5 + t, 2.0


@over([m for m in METHODS if m.free_only])
def test_order_of_free_bodies_under_thrust(method):
    """A force through the centre of mass, fixed in the body: without torque, but not without q."""
    problem = ph.Problem(BODY, ph.force(thrust, frame="body"), omega=(0.5, 0.7, -0.6))
    steps, found = [1 / 32, 1 / 64, 1 / 128], []
    with given_motion.plain_python():
        right = ph.solve(problem, (0, 1), method="vern9", rtol=1e-14, t_eval=[1.0])
        for h in steps:
            run = ph.solve(problem, (0, 1), method=method, dt=h)
            parts = ("q", "x", "v")
            off = [np.abs(getattr(run, n)[-1] - getattr(right, n)[-1]).max() for n in parts]
            found.append(off)
    orders = [estimate_order(steps, e, floor=1e-13) for e in np.transpose(found)]
    assert min(orders) == pytest.approx(order_of(method, problem.model), abs=0.1), orders


def leapfrog(problem, h):
    """One step of ``mr2`` with translation, by hand: rotation matrices, in 40 digits."""
    spring, gravity = problem.model.terms
    stiffness, anchor, arm = spring.numbers[0], *map(mp.matrix, spring.numbers[1:])
    g = mp.matrix(gravity.numbers[0])
    inertia = mp.matrix(INERTIA)
    r = mp.matrix(Rotation.from_quat(problem.attitude, scalar_first=True).as_matrix().tolist())
    m, x = mp.matrix(problem.angular_momentum), mp.matrix(problem.position)
    p = MASS * mp.matrix(problem.velocity)

    def acting(r, x):
        pull = -stiffness * (x + r * arm - anchor)
        f = r.T * pull
        turning = [arm[1] * f[2] - arm[2] * f[1], arm[2] * f[0] - arm[0] * f[2],
                   arm[0] * f[1] - arm[1] * f[0]]  # fmt: skip
        return mp.matrix(turning), pull + MASS * g

    def turned(axis, a):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn = mp.eye(3)
        turn[i, i] = turn[j, j] = mp.cos(a)
        turn[i, j], turn[j, i] = -mp.sin(a), mp.sin(a)
        return turn

    n, f = acting(r, x)
    m, p = m + h / 2 * n, p + h / 2 * f
    x = x + h * p / MASS
    for axis, part in ((0, h / 2), (1, h / 2), (2, h), (1, h / 2), (0, h / 2)):
        turn = turned(axis, part * m[axis] / inertia[axis])
        r, m = r * turn, turn.T * m
    n, f = acting(r, x)
    return r, m + h / 2 * n, x, p + h / 2 * f


@pytest.mark.usefixtures("plain")
def test_one_step_by_hand():
    with mp.workdps(40):
        r, m, x, p = leapfrog(SPRUNG.problem, mp.mpf("0.25"))
    run = ph.solve(SPRUNG.problem, (0, 0.25), method="mr2", dt=0.25)
    right = [np.array(a.tolist(), float).squeeze() for a in (r, m, x, p)]
    found = run.rotation[-1].as_matrix(), run.angular_momentum[-1], run.x[-1], MASS * run.v[-1]
    for a, b in zip(found, right, strict=True):
        assert np.abs(a - b).max() < 4e-15


@pytest.mark.parametrize("name", ["mr2", "strang6", "srkn14"])
def test_energy_does_not_drift(name):
    """A symplectic splitting stays one: the energy is as far off after many steps as after some."""
    run = ph.solve(SPRUNG.problem, (0, 400), method=name, dt=0.05, save_every=10)
    off = np.abs(run.energy - run.energy[0])
    some, many = off[: len(off) // 10].max(), off[-len(off) // 10 :].max()
    assert many < 3 * some + 1e-12


def plain_steps(method, problem, h, steps):
    """States as rows, of the same source as plain Python with an exact fma."""
    joining = method, problem.model, problem.body.is_aligned, {fma: exact_fma}
    first, run = loops.joined(start_stub, *joining), loops.joined(loops.record, *joining)
    weights, offsets = loops.substeps(method)
    rest = problem.body.data, problem.model.params
    carry = first(0.0, h, problem.state, *rest)
    out, ends = np.empty((steps + 1, 13)), np.arange(steps + 1)
    _, _, status, *_ = run(
        0.0, h, 0, ends, 0.0 * ends, weights, offsets, False, problem.state, carry, *rest, out
    )
    assert status == Status.OK
    return out


JOINT = [method.name for method in METHODS if method.motion is not None]


@pytest.mark.parametrize("name", ["mr2", "imidm", "srkn14", *JOINT])
def test_machine_code_does_what_plain_python_does(name):
    flight = SPRUNG if name in ("mr2", "srkn14") else CHARGED
    method = with_translation(ph.METHODS[name], flight.problem.model.depends_on_velocity)
    method = variant(method, None, method.compensated)
    run = ph.solve(flight.problem, (0, 0.5), method=name, dt=0.125)
    rows = plain_steps(method, flight.problem, 0.125, 4)
    assert np.array_equal(rows[:, 7:10], run.x)
    assert np.array_equal(rows[:, 10:] * BODY.data[4], run.v)
    assert np.array_equal(rows[:, :4], run.q)


@pytest.mark.parametrize("name", ["mr2", "imidm", "srkn14", *JOINT])
def test_lanes_do_what_one_body_does(name):
    problem = SPRUNG.problem
    method = with_translation(ph.METHODS[name], False)
    method = variant(method, None, method.compensated)
    weights, offsets = loops.substeps(method)
    single = ph.prepare(problem, method=name, dt=0.125)
    members, runs = [], []
    for k in range(5):
        start = {"position": (1.0 + 0.1 * k, 0.3, -0.2), "omega": (0.5, 0.7 - 0.2 * k, 0.1)}
        runs.append(single((0, 0.5), **start))
        other = ph.Problem(
            problem.body,
            problem.model,
            attitude=problem.attitude,
            scalar_first=True,
            velocity=problem.velocity,
            **start,
        )
        carry = loops.joined(method.start, None, problem.model)(
            0.0, 0.125, other.state, problem.body.data, problem.model.params
        )
        members.append((other.state, carry, problem.body.data, problem.model.params))
    blocks, slots = extra_methods.packed(method, members)
    tables, room, ends = (
        problem.model.params[1],
        np.empty_like(blocks[0]),
        (*fixed.places(slots)[:2], 1),
    )
    start = fixed.build(fixed.start_lanes, method, problem.model)
    start(blocks, 0.0, 0.125, weights, tables, slots)
    advance = fixed.build(fixed.advance_lanes, method, problem.model)
    advance(blocks, room, ends, 0.0, 0.125, 0.125, 0, 4, weights, offsets, tables, slots)
    found = extra_methods.results(blocks, slots, 5)
    for row, run in zip(found, runs, strict=True):
        assert row[0] == Status.OK
        assert np.array_equal(row[2:6], run.q[-1])
        assert np.array_equal(row[9:12], run.x[-1])


@pytest.mark.parametrize("name", ["rkn4", "mkrk:rk4", "mkrk:gauss4"])
def test_a_run_is_continued_to_the_bit(name):
    whole = ph.solve(SPRUNG.problem, (0, 2), method=name, dt=0.125)
    kept = ph.solve(SPRUNG.problem, (0, 2), method=name, dt=0.125, save_every=4)
    assert np.array_equal(whole.x[::4], kept.x)
    off_grid = ph.solve(SPRUNG.problem, (0, 2), method=name, dt=0.125, t_eval=[0.3, 1.0, 2.0])
    assert np.array_equal(off_grid.x[1:], whole.x[[8, 16]])
    between = kept.sol([0.5, 0.3]).x
    assert np.array_equal(between[0], whole.x[4])
    assert between[1] == pytest.approx(off_grid.x[0], abs=4e-16)


@pytest.mark.parametrize("name", ["rkn4", "mkrk:rk4", "mkrk:gauss4"])
def test_states_between_steps_are_those_of_the_run_to_the_bit(name):
    """With plain sums: ``sol`` starts from saved states, which lack what compensated sums carry."""
    asked = {"method": name, "dt": 0.125, "compensated": False}
    whole = ph.solve(SPRUNG.problem, (0, 2), **asked)
    kept = ph.solve(SPRUNG.problem, (0, 2), **asked, save_every=4)
    off_grid = ph.solve(SPRUNG.problem, (0, 2), **asked, t_eval=[0.3, 1.0, 2.0])
    assert np.array_equal(kept.sol([0.5, 0.3]).x, np.vstack([whole.x[4], off_grid.x[0]]))


@pytest.mark.parametrize("name", ["mkrk:rk4", "mkrk:gauss6"])
def test_a_killed_run_ends_as_if_nothing_had_happened(name, tmp_path):
    asked = {"method": name, "dt": 0.01, "save_every": 7}
    whole = ph.solve(CHARGED.problem, (0, 4), **asked)

    def enough(fraction):
        if fraction > 0.4:
            raise KeyboardInterrupt

    file = tmp_path / "run.ckpt"
    with pytest.raises(KeyboardInterrupt):
        ph.solve(CHARGED.problem, (0, 4), **asked, checkpoint=file, checkpoint_every=50,
                 progress=enough)  # fmt: skip
    resumed = ph.resume(file)
    for part in ("t", "q", "angular_momentum", "x", "v", "nfev"):
        assert np.array_equal(getattr(resumed, part), getattr(whole, part))


@pytest.mark.parametrize("name", ["mkrk:rk4", "mkrk:gauss4"])
def test_members_do_what_one_body_does(name):
    asked = {"method": name, "dt": 0.05}
    vary = {"velocity": ph.distributions.Normal(SPRUNG.problem.velocity, 0.2)}
    many = ph.solve_ensemble(
        SPRUNG.problem, (0, 1), members=11, vary=vary, seed=3, save=[0.5, 1.0], **asked
    )
    solver = ph.prepare(SPRUNG.problem, **asked)
    for k in (0, 7, 10):
        run = solver((0, 1), velocity=many.varied("velocity")[k])
        assert np.array_equal(many.x[:, k], run.x[[10, 20]])
        assert np.array_equal(many.q[:, k], run.q[[10, 20]])


def test_compensated_sums_of_the_place():
    """A straight line in many small steps ends where it should, nearly to the last digit."""
    problem = ph.Problem(BODY, omega=(0.1, 0.2, 0.3), position=(1.0, 0, 0), velocity=(0.1, 0.3, 0))
    ends = {
        kept: ph.solve(
            problem, (0, 10), method="strang", dt=1e-4, compensated=kept, save_every=100_000
        )
        for kept in (False, True)
    }
    right = np.array([2.0, 3.0, 0.0])
    off = {kept: np.abs(run.x[-1] - right).max() for kept, run in ends.items()}
    assert off[True] <= 4.5e-16
    assert off[False] > 1e-15


# ---- integrators
@pytest.mark.parametrize("flight", [SPRUNG, CHARGED, ORBITING], ids=lambda flight: flight.name)
@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_error_follows_the_tolerance(name, flight):
    loosest = 1e-5
    with given_motion.plain_python():
        for rtol in (loosest, 1e-8):
            run = ph.solve(flight.problem, (0, SPAN), method=name, rtol=rtol, t_eval=TIMES)
            assert run.success
            scale = np.array([1.0, 1.0, np.linalg.norm(flight.problem.position), 1.0])
            assert (flight.errors(run, TIMES) < 30 * rtol * scale).all()
        few = ph.solve(flight.problem, (0, SPAN), method=name, rtol=loosest).nsteps
    assert few <= run.nsteps


@pytest.mark.parametrize("formulation", ph.FORMULATIONS)
def test_every_formulation(formulation):
    with given_motion.plain_python():
        run = ph.solve(
            SPRUNG.problem, (0, SPAN), method="vern9", rtol=1e-10, formulation=formulation,
            t_eval=TIMES,
        )  # fmt: skip
    assert SPRUNG.errors(run, TIMES).max() < 2e-9


@pytest.mark.parametrize(("name", "order"), [("rk4", 4), ("gauss", 16)])
def test_fixed_steps(name, order):
    found = []
    with given_motion.plain_python():
        for count in (16, 32):
            run = ph.solve(
                SPRUNG.problem, (0, SPAN), method=name, dt=SPAN / count, save_every=count // 2
            )
            found.append(SPRUNG.errors(run, TIMES).max())
    if order > 4:
        assert max(found) < 10 * REFERENCE_ERROR
    else:
        assert math.log2(found[0] / found[1]) == pytest.approx(order, abs=0.3)


def test_compiled_extrapolation_is_the_default():
    run = ph.solve(SPRUNG.problem, (0, SPAN), rtol=1e-12, t_eval=TIMES)
    assert run.method == "extrapolation"
    assert SPRUNG.errors(run, TIMES).max() < REFERENCE_ERROR
    assert np.ptp(run.energy) < 1e-12


@pytest.mark.usefixtures("plain")
def test_units_do_not_matter():
    """Metres or kilometres, at the origin or not: the same steps."""
    counts = []
    for unit in (1.0, 2.0**-10):
        body = ph.RigidBody(np.array(INERTIA) * unit**2, MASS)
        spring = ph.models.spring(3.0, point=np.array([0.5, -0.3, 0.8]) * unit)
        problem = ph.Problem(body, spring, omega=(0.5, 0.7, -0.6), velocity=(0.4 * unit, 0, 0))
        run = ph.solve(problem, (0, 10), rtol=1e-9)
        assert run.success
        counts.append((run.nsteps, run.rejected))
    assert counts[0] == counts[1]


def test_a_body_at_rest_stays_there():
    """Nothing to be relative to, and forces that cancel to rounding."""
    model = ph.models.spring(3.0, (0, 0, 0.1)) + ph.models.uniform_gravity((0, 0, -0.3 / MASS))
    run = ph.solve(ph.Problem(BODY, model, omega=(0, 0, 0)), (0, 10), rtol=1e-9)
    assert run.success
    assert np.abs(run.x).max() < 1e-14


# ---- what a trajectory says
@pytest.mark.usefixtures("plain")
def test_constants_of_the_motion():
    run = ph.solve(ORBITING.problem, (0, 40), rtol=1e-12)
    assert np.ptp(run.energy) < 1e-10
    around = run.angular_momentum_about((0, 0, 0))
    assert np.ptp(around, axis=0).max() < 1e-10
    assert np.ptp(run.angular_momentum_inertial, axis=0).max() > 1e-2  # the orbit has the rest
    assert np.array_equal(run.linear_momentum, MASS * run.v)
    turning = 0.5 * np.sum(run.omega * run.angular_momentum, axis=1)
    assert run.kinetic_energy == pytest.approx(turning + MASS / 2 * np.sum(run.v**2, axis=1))


def test_points_of_the_body():
    run = ph.solve(SPRUNG.problem, (0, 1), rtol=1e-11)
    p, d = np.array([0.5, -0.3, 0.8]), 1e-4
    place = run.rotation.apply(p) + run.x
    assert np.abs(run.point_position(p) - place).max() < 1e-15
    near = run.sol(0.5 + d * np.array([-1, 0, 1]))
    step = near.point_position([p])[:, 0]
    assert near.point_velocity(p)[1] == pytest.approx((step[2] - step[0]) / (2 * d), abs=1e-7)
    assert near.acceleration[1] == pytest.approx((near.v[2] - near.v[0]) / (2 * d), abs=1e-7)
    rates = (near.omega[2] - near.omega[0]) / (2 * d)
    assert near.angular_acceleration[1] == pytest.approx(rates, abs=1e-7)


@pytest.mark.usefixtures("plain")
def test_saved_and_loaded(tmp_path):
    run = ph.solve(SPRUNG.problem, (0, 1), method="rkn4", dt=0.125, options={"substeps": 2})
    again = ph.load(run.save(tmp_path / "flight.nc"))
    assert np.array_equal(again.x, run.x)
    assert np.array_equal(again.v, run.v)
    assert again.problem["position"] == list(SPRUNG.problem.position)
    assert again.problem["velocity"] == pytest.approx(SPRUNG.problem.velocity)
    assert again.arguments["options"] == {"substeps": 2}
    assert np.array_equal(again.energy, run.energy)
    table = run[2:4].to_dataframe()
    assert np.array_equal(table["x_z"], run.x[2:4, 2])


def test_without_force_the_line_is_straight():
    problem = ph.Problem(BODY, omega=(1.0, 0.2, 0.3), position=(1, 2, 3), velocity=(0.1, 0, -1))
    run = ph.solve(problem, (0, 10), t_eval=[0.0, 2.5, 10.0])
    assert run.method == "exact free motion"
    assert run.x == pytest.approx(np.array([[1, 2, 3], [1.25, 2, 0.5], [2, 2, -7]]), abs=1e-14)
    assert np.array_equal(run.acceleration, np.zeros((3, 3)))
    assert run.sol(5.0).x[0] == pytest.approx([1.5, 2, -2])
    still = ph.solve(ph.Problem(BODY, omega=(1, 0, 0)), (0, 1))
    assert still.x is still.v is still.linear_momentum is still.acceleration is None
    with pytest.raises(ph.InputError, match=r"needs a position: give position="):
        still.angular_momentum_about((0, 0, 0))


@pytest.mark.usefixtures("plain")
def test_events_see_the_place():
    def ground(t, x, v, q, omega):
        return x[2]

    ground.terminal, ground.direction = True, -1
    run = ph.solve(FREE_FLIGHT, (0, 10), rtol=1e-10, events=ground)
    assert run.t_events[0] == pytest.approx([2 * 5.0 / 9.80665], abs=1e-9)
    assert run.events[0].x[0] == pytest.approx([1.0197, 2.0394, 0.0], abs=1e-4)
    assert run.t[-1] == run.t_events[0][0]
    mapped = ph.solve(FREE_FLIGHT, (0, 10), method="mr2", dt=0.1, events=ground)
    assert mapped.t_events[0] == pytest.approx([2 * 5.0 / 9.80665], abs=1e-9)
    with pytest.raises(ph.InputError, match=r"events\[0\] takes \(t, x, v, q, omega\), but the"):
        ph.solve(ph.Problem(BODY, omega=(1, 0, 0)), (0, 1), events=ground)
    with pytest.raises(ph.InputError, match=r"fails at t = 0\.0: TypeError: .*it takes"):
        ph.solve(FREE_FLIGHT, (0, 1), rtol=1e-6, events=lambda t, x, v, q, omega: x + 1)


def test_a_prepared_solver_starts_elsewhere():
    solver = ph.prepare(SPRUNG.problem, method="mr2", dt=0.125)
    run = solver((0, 1), position=(0, 0, 1), velocity=(1, 0, 0), omega=(0, 0, 1))
    assert run.x[0] == pytest.approx([0, 0, 1])
    assert run.v[0] == pytest.approx([1, 0, 0])
    other = replace_start(SPRUNG.problem, position=(0, 0, 1), velocity=(1, 0, 0), omega=(0, 0, 1))
    assert np.array_equal(ph.solve(other, (0, 1), method="mr2", dt=0.125).x, run.x)
    assert np.array_equal(solver((0, 1)).x[0], SPRUNG.problem.position)
    with pytest.raises(ph.InputError, match="position= and velocity= are for problems that have"):
        ph.prepare(ph.Problem(BODY, omega=(1, 0, 0)), method="mr2", dt=0.1)(
            (0, 1), position=(1, 0, 0)
        )
    with pytest.raises(ph.InputError, match="velocity must be three numbers"):
        solver((0, 1), velocity=(1, 0))


def replace_start(problem, **start):
    given = {"attitude": problem.attitude, "scalar_first": True, **start}
    return ph.Problem(problem.body, problem.model, **given)


# ---- automatic choice, refusals
def test_auto_with_a_step():
    run = ph.solve(SPRUNG.problem, (0, 1), dt=0.01)
    assert ph.METHODS[run.method].symplectic
    run = ph.solve(CHARGED.problem, (0, 1), dt=0.01)
    assert run.method == "rkn4"
    assert "depend on velocities" in run.reason


@pytest.mark.usefixtures("plain")
def test_splittings_refuse_forces_of_the_velocity():
    model = ph.models.drag(linear=0.1)
    assert not model.depends_on_omega
    problem = ph.Problem(BODY, model, omega=(1, 0, 0), velocity=(1, 0, 0))
    with pytest.raises(ph.MethodError, match=r"method 'srkn14' .* must not depend on the velocity"):
        ph.solve(problem, (0, 1), method="srkn14", dt=0.1)
    run = ph.solve(problem, (0, 1), method="mr4", dt=0.01)  # a composition of symmetric steps
    assert run.v[-1, 0] == pytest.approx(math.exp(-0.1 / MASS), abs=1e-9)


def test_too_long_a_step_for_the_friction():
    problem = ph.Problem(BODY, ph.models.drag(linear=50.0), omega=(1, 0, 0), velocity=(1, 0, 0))
    run = ph.solve(problem, (0, 10), method="mr2", dt=1.0)
    assert run.status == Status.NOT_FINITE
    assert len(run.t) == 1


def test_bad_starts():
    with pytest.raises(ph.InputError, match="position must be three numbers"):
        ph.Problem(BODY, omega=(1, 0, 0), position=3.0)
    with pytest.raises(ph.InputError, match="velocity must be finite"):
        ph.Problem(BODY, omega=(1, 0, 0), velocity=(0, math.nan, 0))
    problem = ph.Problem(BODY, omega=(1, 0, 0), velocity=(0, 1, 0))
    assert problem.position == (0.0, 0.0, 0.0)
    assert "position [0.0, 0.0, 0.0], velocity [0.0, 1.0, 0.0]" in repr(problem)


# ---- options of methods
@pytest.mark.usefixtures("plain")
def test_options():
    problem = SPRUNG.problem
    parts = ph.solve(problem, (0, 1), method="rkn4", dt=0.25, options={"substeps": 4})
    fine = ph.solve(problem, (0, 1), method="rkn4", dt=0.0625)
    assert np.array_equal(parts.x, fine.x[::4])
    assert (parts.nsteps, parts.nfev) == (4, 64)
    gauss = ph.solve(problem, (0, 1), method="gauss", dt=0.1, options={"order": 6})
    assert gauss.method == "gauss:6"
    for method, options, message in (
        ("rkn4", {"substep": 2}, "options of method 'rkn4' are .* did you mean substeps"),
        ("rkn4", {"substeps": 0}, "substeps must be a whole number, 1 or more"),
        ("rkn4", {"tolerance": 2.0}, "tolerance must be between 1e-13 and 1"),
        ("rkn4", {"tolerance": 1e-6, "substeps": 2}, "give substeps or tolerance"),
        ("rkn4", [1], "options must be a mapping"),
        (
            "rkn4",
            {"keep_momentum": True},
            "option keep_momentum of method 'rkn4' is for free bodies, and model 'spring .*' has a"
            " torque: leave out keep_momentum, and 'rkn4' takes it",
        ),
        ("mr2", {"order": 2}, "method 'mr2' has no options"),
        ("auto", {"order": 2}, "method 'auto' has no options"),
    ):
        with pytest.raises((ph.InputError, ph.MethodError), match=message):
            ph.solve(problem, (0, 1), method=method, dt=0.1, options=options)


@pytest.mark.usefixtures("plain")
def test_substeps_by_an_estimate_of_the_error():
    """7.4: the error of a long step is about the tolerance, and the count is the work done."""
    found, spent = [], []
    for tolerance in (1e-5, 1e-8):
        run = ph.solve(
            SPRUNG.problem, (0, SPAN), method="rkn4", dt=SPAN / 4, options={"tolerance": tolerance},
            t_eval=TIMES,
        )  # fmt: skip
        found.append(SPRUNG.errors(run, TIMES).max() / tolerance)
        spent.append(run.nfev)
    assert max(found) < 5
    assert 4 * 4 * 3 <= spent[0] < spent[1] / 3
    assert replace(ph.METHODS["rkn4"]).options is not None
