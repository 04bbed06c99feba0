"""What every method declares, true and false alike: parametrised by the registry alone.

Tests are grouped by method, so that each is compiled once for the free body and once for a torque.
"""

import math
import re
import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import loops, methods
from polhode.compiler.machine import caching, compiled, fma
from polhode.contracts import AXIAL, FREE, LINEAR, MOTIONS, Status
from polhode.contracts import start as start_stub
from polhode.contracts.registry import entry_files
from polhode.loops.join import variant
from polhode.problems.problem import inner_state, outer_states
from polhode.references import bibliography
from support import krysl_schemes as reference
from support.bodies import (
    ATTITUDE,
    CASES,
    DAMPED,
    DRIVEN,
    HEAVY_TOP,
    INERTIA,
    LIBRARY_TOP,
    OMEGA,
    RATE,
    REFERENCE_ERROR,
    SOFT_WALL,
    TIME,
    WEIGHT,
    errors,
    falling,
    forced,
    matrix,
)
from support.bodies import FREE as FREE_BODY
from support.convergence import estimate_order
from support.precise import ROUNDING, exact_fma, hamilton, to_mp
from support.precise_steps import mp_step

METHODS = list(ph.METHODS.values())
MOVING = {FREE: FREE_BODY, LINEAR: HEAVY_TOP, AXIAL: SOFT_WALL}
ULP = 2 * ROUNDING


@pytest.fixture(scope="module", params=METHODS, ids=lambda method: method.name)
def method(request):
    return request.param


def suited(method, case):
    """The case, or the free body if the method is not for its torque."""
    return case if method.takes(case.problem.model) else FREE_BODY


def solved(problem, span, method, dt, **options):
    run = ph.solve(problem, span, method=method, dt=dt, **options)
    assert run.success, run.message
    return run


def restarted(run, problem):
    """The problem that starts where ``run`` ended."""
    start = {"attitude": run.q[-1], "scalar_first": True}
    return ph.Problem(
        problem.body, problem.model, **start, angular_momentum=run.angular_momentum[-1]
    )


# ---- the registry
def test_no_name_is_lost():
    files = list(entry_files(methods.__name__))
    assert len(METHODS) == len(files) - 1 + len(ph.TABLEAUS)  # one file has all tableaus
    assert all(name == method.name for name, method in ph.METHODS.items())


def test_record(method):
    assert re.fullmatch(r"[a-z0-9-]+(:[a-z0-9-]+)?", method.name)
    assert method.title
    assert isinstance(method.order, int)
    assert method.order >= 1
    for better in (method.momentum_order, method.order_when_free):
        assert better is None or better > method.order
    exact = method.exact_when_free, method.exact_momentum_when_free
    assert sum(exact) <= 1
    facts = method.symmetric, method.symplectic, method.keeps_norm
    for fact in (*facts, *exact, method.takes_rate, method.free_only, method.compensates):
        assert isinstance(fact, bool)
    for kept in (method.keeps_energy, method.keeps_momentum):
        assert set(kept) <= set(MOTIONS)
        assert len(set(kept)) == len(kept)
    assert method.references
    assert set(method.references) <= set(bibliography())
    assert sum(method.fractions) == pytest.approx(1, abs=4 * ULP)
    if isinstance(method.weights[0], tuple):
        assert sum(b + c for _, b, c in method.weights) == pytest.approx(1, abs=4 * ULP)
    kinds = [method.step], [method.guess, method.improve, method.finish], [method.trial]
    assert [all(kind) for kind in kinds].count(True) == 1
    assert [any(kind) for kind in kinds].count(True) == 1


def test_the_file_opens_with_its_equations(method):
    functions = method.step, method.improve, method.trial
    (file,) = {f.__module__ for f in functions if f is not None}
    numbered = re.search(r"=.*\(1\)$", sys.modules[file].__doc__, re.MULTILINE)
    assert numbered, f"the docstring of {file} needs an equation that ends in (1)"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_torques_that_it_cannot_take_are_refused(method, case):
    taken = {FREE_BODY: True, RATE: method.takes_rate and not method.free_only}
    assert method.takes(case.problem.model) == taken.get(case, not method.free_only)
    if method.takes(case.problem.model):
        ph.prepare(case.problem, method=method, dt=0.1)
        return
    reason = "is for free bodies" if method.free_only else "must not depend on the rate"
    words = f"method '{method.name}' .*{reason}.*; use for instance (mr2, )?imidm, mkrk:rk4"
    with pytest.raises(ph.MethodError, match=words):
        ph.prepare(case.problem, method=method, dt=0.1)


# ---- order
SPAN = 2.0
COARSEST = {1: 1024, 2: 128, 3: 48, 4: 24}  # steps in SPAN; 12 for higher orders
FINER = 2, 3, 4, 6, 8, 12  # halves of the coarsest
LOST = 1e-9  # an error with the coarsest step that falls to rounding before its order shows


def test_estimate_order():
    h = np.array([0.1, 0.05, 0.025, 0.0125])
    assert estimate_order(h, 7 * h**3, floor=0) == pytest.approx(3)
    assert estimate_order(h, np.where(h > 0.09, 1, 7 * h**3), floor=0, last=3) == pytest.approx(3)
    level = np.maximum(7 * h**3, 1e-4)
    assert estimate_order(h, level, floor=1.001e-4) == pytest.approx(3)
    with pytest.raises(ValueError, match="2 errors above"):
        estimate_order(h, level, floor=2e-4)
    with pytest.raises(ValueError, match="do not fall"):
        estimate_order(h, np.maximum(level, 2e-4), floor=0)
    with pytest.raises(ValueError, match="0 errors above"):
        estimate_order(h, h * math.nan, floor=0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_reference_is_right(case):
    """SciPy's DOP853 against mpmath's Taylor series."""
    with mp.workdps(20):
        motion = mp.odefun(partial(case.rate, cos=mp.cos), 0, list(map(mp.mpf, case.start)))
        expected = [float(x) for x in motion(SPAN)]
    q, m = case.reference((0.0, SPAN / 2, SPAN))
    assert [*q[-1], *m[-1]] == pytest.approx(expected, abs=0.1 * REFERENCE_ERROR)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_order(method, case):
    """In attitude and momentum; the worse of the two counts, either may be better by itself."""
    case = suited(method, case)
    right = case.reference((0.0, SPAN / 2, SPAN))
    free = case is FREE_BODY
    order = (method.order_when_free if free else None) or method.order
    highest = method.momentum_order or order
    counts = [COARSEST.get(highest, 12) * k // 2 for k in FINER]
    found = []
    for count in counts:
        run = solved(case.problem, (0, SPAN), method, SPAN / count, save_every=count // 2)
        found.append(errors(run, *right))
    steps = [SPAN / count for count in counts]
    if method.exact_when_free and free:
        assert np.max(found) < REFERENCE_ERROR
        return
    if np.max(found[0]) < LOST:
        pytest.skip("too accurate to show its order above rounding: test_order_of_one_step does")
    measured = np.transpose(found)
    if method.exact_momentum_when_free and free:
        assert measured[1].max() < REFERENCE_ERROR
        measured = measured[:1]
    orders = [estimate_order(steps, e, floor=REFERENCE_ERROR) for e in measured]
    assert min(orders) == pytest.approx(order, abs=0.1), orders
    if method.momentum_order is not None:
        assert orders[1] == pytest.approx(method.momentum_order, abs=0.2)


# ---- one step, against the paper's equations in 40 digits
T, H = 0.5, 0.3125  # a third of a radian in one step; both are exact


def one_step_apart(q, m, case, step, **variant):
    """How far the state (q, m) is from ``step`` of the reference, in attitude and momentum."""
    with mp.workdps(reference.DIGITS):
        world = reference.World(INERTIA, case.torque)
        r, p = map(mp.matrix, (case.problem.attitude, case.problem.angular_momentum))
        r, p = step(world, mp.mpf(T), mp.mpf(H), mp_matrix(r), p, **variant)
        return float(mp.mnorm(r - mp_matrix(q))), float(mp.norm(p - mp.matrix(m)))


def mp_matrix(q):
    return mp.matrix(matrix([mp.mpf(float(x)) for x in q]).tolist())


@pytest.mark.parametrize("case", [TIME, RATE], ids=lambda case: case.name)
def test_one_step(method, case):
    case = suited(method, case)
    assert method.name in reference.STEPS, (
        "write its equations with 3×3 matrices in tests/support/krysl_schemes.py, and add to it"
        f' STEPS["{method.name}"] = …; see "Add a method" in CONTRIBUTING.md'
    )
    run = solved(case.problem, (T, T + H), method, H)
    apart = one_step_apart(run.q[-1], run.angular_momentum[-1], case, reference.STEPS[method.name])
    assert max(apart) < 1e-13  # some hundred roundings of numbers up to |m| = 4


MISPRINTS = {  # what the paper prints, or what is easily mistaken, and where
    "dexpinv of +psi": ({"sign": 1}, "bbtrapwd mkrk:trapezoid mkrk:kutta3 mkrk:rk4 mkrk:gauss6"),
    "T_(k) for T_(j)": ({"own": True}, "mkrk:trapezoid mkrk:rk4 mkrk:gauss4 mkrk:gauss6"),
    "exponentials exchanged": ({"swapped": True}, "trap trapm"),
    "T at t_n + h/2": ({"late": True}, "imid imidm swc1"),
    "nodes of Gauss exchanged": ({"swapped": True}, "sej4"),
    "bracket of space axes": ({"sign": -1}, "sej4"),
}
WRONG = [(text, name) for text, (_, names) in MISPRINTS.items() for name in names.split()]


@pytest.mark.parametrize(("misprint", "name"), WRONG)
def test_a_misprint_would_be_detected(misprint, name):
    rows, _ = plain_run(ph.METHODS[name], TIME.problem, H, 1, t0=T)
    step, (variant, _) = reference.STEPS[name], MISPRINTS[misprint]
    apart = one_step_apart(rows[-1, :4], rows[-1, 4:], TIME, step, **variant)
    assert max(apart) > 1e-6


# ---- symmetric, symplectic
@pytest.mark.parametrize("case", [TIME, RATE], ids=lambda case: case.name)
def test_symmetric(method, case):
    """There and back, with some rounding for each step; otherwise clearly not."""
    case = suited(method, case)
    steps, h = 8, 0.25
    there = solved(case.problem, (0, steps * h), method, h)
    back = solved(restarted(there, case.problem), (steps * h, 0), method, h)
    missed = max(errors(back[-1], there.q[:1], there.angular_momentum[:1]))
    if method.symmetric:
        assert missed < 4 * ULP * 2 * steps
    else:
        assert missed > 1e-10


def symplectic_form(m):
    """x1·y2 - x2·y1 + m·(x1 x x2) on pairs (x, y) of a turn in body axes and a change of m."""
    form = mp.zeros(6)
    form[:3, 3:], form[3:, :3] = mp.eye(3), -mp.eye(3)
    form[:3, :3] = -reference.skew(m)
    return form


def symplectic_defect(method, problem, h):
    """How much one step changes the symplectic form; by central differences, in 60 digits."""
    with mp.workdps(60):
        stepped = mp_step(method, problem, mp.mpf(h))
        q, m = to_mp((problem.attitude, problem.angular_momentum))
        q = tuple(x / mp.norm(q) for x in q)
        new_q, new_m = stepped((q, m))
        back = new_q[0], *(-x for x in new_q[1:])
        d = mp.mpf(10) ** -17  # leaves d², 1e-34, and less than 1e-60/d times what a step magnifies
        jacobian = mp.zeros(6)
        for k in range(6):
            for way in (d, -d):
                move = [mp.mpf(0)] * 6
                move[k] = way
                half = [x / 2 for x in move[:3]]
                turned = hamilton(q, (mp.sqrt(1 - mp.fdot(half, half)), *half))
                p, n = stepped((turned, tuple(a + b for a, b in zip(m, move[3:], strict=True))))
                change = [*(2 * x for x in hamilton(back, p)[1:]), *n]
                for i in range(6):
                    jacobian[i, k] += change[i] / (2 * way)
        defect = jacobian.T * symplectic_form(new_m) * jacobian - symplectic_form(m)
        return float(max(map(abs, defect)))


SYMPLECTIC = 1e-30  # the defect of a symplectic map


def test_symplectic(method):
    defect = symplectic_defect(method, suited(method, LIBRARY_TOP).problem, 0.25)
    if method.symplectic:
        assert defect < SYMPLECTIC
    else:
        assert defect > 1e-10


def test_the_symplectic_defect_of_imidm_is_of_third_order():
    """The paper suspects that there is none."""
    steps = [0.1, 0.05, 0.025]
    defects = [symplectic_defect(ph.METHODS["imidm"], LIBRARY_TOP.problem, h) for h in steps]
    assert estimate_order(steps, defects, floor=SYMPLECTIC) == pytest.approx(3, abs=0.1)


@cache
def motion_in_40_digits(case):
    """((q, m) at the start, h -> state after a time h), by mpmath's Taylor series."""
    with mp.workdps(40):
        q, m = to_mp((case.start[:4], case.start[4:]))
        q = tuple(x / mp.norm(q) for x in q)
        return (q, m), cache(mp.odefun(partial(case.rate, cos=mp.cos), 0, [*q, *m]))


def test_order_of_one_step(method):
    """In 40 digits: the error of one step is of one order more, for steps as small as need be."""
    case = suited(method, LIBRARY_TOP)
    free = case is FREE_BODY
    order = (method.order_when_free if free else None) or method.order
    steps, found = [1 / 16, 1 / 32, 1 / 64], []
    start, motion = motion_in_40_digits(case)
    with mp.workdps(40):
        for h in map(mp.mpf, steps):
            new, right = mp_step(method, case.problem, h)(start), motion(h)
            pairs = zip(new, (right[:4], right[4:]), strict=True)
            found.append([float(mp.norm(mp.matrix(a) - mp.matrix(b))) for a, b in pairs])
    measured = np.transpose(found)
    if method.exact_momentum_when_free and free:
        assert measured[1].max() < 1e-30
        measured = measured[:1]
    orders = [estimate_order(steps, e, floor=1e-30) for e in measured]
    assert min(orders) == pytest.approx(order + 1, abs=0.15), orders


# ---- what is kept, and what is not, over 2000 steps of half a radian
def long_run(method, motion):
    """Methods that keep little may blow up; what they did until then counts."""
    if not method.takes(MOVING[motion].problem.model):
        pytest.skip("for free bodies only")
    with np.errstate(over="ignore", invalid="ignore"):
        run = ph.solve(MOVING[motion].problem, (0, 1000), method=method, dt=0.5)
        sizes = np.linalg.norm(run.angular_momentum, axis=1)
        return run[sizes < 1e6 * sizes[0]]


def judge(run, drift, declared):
    if declared:
        assert run.success
        assert drift < 1e-12  # 2000 steps of some dozen roundings, even if they all add up
    else:
        assert drift > 1e-9


@pytest.mark.parametrize("motion", MOTIONS)
def test_energy(method, motion):
    run = long_run(method, motion)
    drift = np.abs(run.energy - run.energy[0]).max() / run.kinetic_energy.max()
    judge(run, drift, motion in method.keeps_energy)


@pytest.mark.parametrize("motion", MOTIONS)
def test_momentum(method, motion):
    """In inertial axes: without torque all of it, otherwise the component along the vertical."""
    run = long_run(method, motion)
    momentum = run.angular_momentum_inertial
    drift = np.abs(momentum - momentum[0])[:, slice(None) if motion == FREE else 2].max()
    judge(run, drift / np.abs(momentum).max(), motion in method.keeps_momentum)


def test_norm(method):
    run = long_run(method, FREE)
    sizes = np.linalg.norm(run.angular_momentum, axis=1)
    judge(run, np.abs(sizes / sizes[0] - 1).max(), method.keeps_norm)


def test_unit_quaternion(method):
    run = solved(suited(method, TIME).problem, (0, 20), method, 0.01)
    assert run.nsteps == 2000
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1).max() < 1e-13


def test_rounding_errors_grow_as_a_random_walk(method):
    """A million of 1e-16 each, all of one sign, would be 1e-10."""
    run = solved(FREE_BODY.problem, (0, 1000), method, 1e-3, save_every=1000)
    assert run.nsteps == 1_000_000
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1).max() < 1e-12
    if FREE in method.keeps_momentum:
        momentum = run.angular_momentum_inertial
        assert np.abs(momentum - momentum[0]).max() < 1e-12 * np.abs(momentum).max()


# ---- cost
def plain_run(method, problem, h, steps, *, t0=0.0, numbers=None, model=None):
    """(states as rows, iterations) of the same source, as plain Python."""
    method, body = variant(method, None, method.compensated), problem.body
    joining = method, model or problem.model, body.is_aligned, numbers
    first, run = loops.joined(start_stub, *joining), loops.joined(loops.record, *joining)
    state = inner_state(body, problem.attitude, problem.angular_momentum)
    weights, offsets = loops.substeps(method)
    rest = body.data, problem.model.params
    carry = first(t0, h, state, *rest)
    out, ends = np.empty((steps + 1, 7)), np.arange(steps + 1)
    _, _, status, *_, iterations, _ = run(
        t0, h, 0, ends, 0.0 * ends, weights, offsets, False, state, carry, *rest, out
    )
    assert status == Status.OK
    return out, iterations


@pytest.mark.parametrize("case", [TIME, RATE], ids=lambda case: case.name)
def test_machine_code_does_what_plain_python_does(method, case):
    """The same bits with an exact fma, and as many torques as are declared and reported."""
    case = suited(method, case)
    calls, inner = [], case.problem.model.torque

    def counted(t, q, m, body, params):
        calls.append(t)
        return inner(t, q, m, body, params)

    h, steps = 0.25, 5
    run = solved(case.problem, (0, steps * h), method, h)
    model = replace(case.problem.model, torque=counted)
    states, iterations = plain_run(
        method, case.problem, h, steps, numbers={fma: exact_fma}, model=model
    )
    assert np.hstack([run.q, run.angular_momentum]).tolist() == states.tolist()
    assert run.niter == iterations
    assert run.nfev == len(calls)


FAST_BODY = ph.Problem(
    ph.RigidBody(INERTIA), attitude=ATTITUDE, scalar_first=True, omega=[50 * w for w in OMEGA]
)


FAST_TOP = ph.problems.fast_top()
HEAVY_FAST_TOP = ph.Problem(
    FAST_TOP.body, falling(20.0), FAST_TOP.attitude, FAST_TOP.omega, scalar_first=True
)


def test_iterations(method):
    """On the fast top: to rounding in a few iterations, and as many as the step needs."""
    problem = FAST_BODY if method.free_only else HEAVY_FAST_TOP
    small, large = (solved(problem, (0, 1), method, dt) for dt in (1e-3, 5e-3))
    if not method.implicit:
        assert small.niter == large.niter == 0
        return
    # MKRK leaves what is quadratic in psi out of its Jacobian, and a large step turns by 0.25 rad
    limit = 6 if method.name.startswith("mkrk:") else 4
    assert small.niter / small.nsteps <= 3.1
    assert large.niter / large.nsteps <= limit + 0.05  # the first steps have no history
    assert large.niter / large.nsteps > 1.2 * small.niter / small.nsteps


@pytest.mark.parametrize("name", ["dmv2", "dmv4", "dmv6"])
def test_too_large_a_step_of_moser_and_veselov_fails(name):
    """For a sphere dmv2 ends at one radian a step, the others at t₃ h² = 1/2 or before."""
    limit = 1.0 if name == "dmv2" else math.sqrt(2)
    dt = 1.001 * limit
    for body, rate in (([1, 1, 1], 1.0), (INERTIA, 2.0)):
        problem = ph.Problem(ph.RigidBody(body), omega=[0.36 * rate, 0.48 * rate, -0.8 * rate])
        assert solved(problem, (0, 0.45 * dt), name, 0.45 * dt).nsteps == 1
        run = ph.solve(problem, (0, 10 * dt), method=name, dt=dt)
        assert run.status == Status.NOT_CONVERGED
        assert np.isfinite(run.q).all()
    sphere = ph.Problem(ph.RigidBody([1, 1, 1]), omega=[0, 0, 1])
    assert ph.solve(sphere, (0, 10), method=name, dt=0.9 * limit).success


def bound_loop(method):
    """The compiled loop of a prepared solver, and (row, k, steps, fresh) -> row after the steps."""
    solver = ph.prepare(suited(method, TIME).problem, method=method, dt=0.25)
    bound = solver.bound

    def advanced(row, k, steps, fresh):
        row, out = row.copy(), np.empty((1, 7))
        ends, sides = np.array([steps]), np.zeros(1)
        settings = bound.weights, bound.offsets, bound.params[1]
        status, *_ = bound.run(row, 0.1, 0.25, k, fresh, ends, sides, *settings, out)
        assert status == Status.OK
        return row

    return bound, advanced


def test_stopped_and_continued(method):
    bound, advanced = bound_loop(method)
    whole, middle = advanced(bound.row, 0, 20, True), advanced(bound.row, 0, 7, True)
    assert middle.tolist() != whole.tolist()
    assert advanced(middle, 7, 13, False).tolist() == whole.tolist()


def allocates(machine):
    """Whether the machine code, as it lies on the disk, refers to what asks for memory."""
    files = Path(machine.stats.cache_path).glob(f"*{machine.py_func.__qualname__}-*.nbc")
    code = b"".join(file.read_bytes() for file in files)
    assert b"PyEval_SaveThread" in code  # names of functions are there to be found
    return re.search(rb"NRT_(MemInfo_alloc|Allocate)", code) is not None


@pytest.mark.skipif(not caching(), reason="the machine code is not kept")
def test_no_allocation(method):
    bound, advanced = bound_loop(method)
    advanced(bound.row, 0, 1, True)
    assert not allocates(bound.run.machine)


@pytest.mark.skipif(not caching(), reason="the machine code is not kept")
def test_an_allocation_would_be_detected():
    def allocating(n):
        return np.zeros(n)[0]

    machine = compiled(allocating)
    machine(3)
    assert allocates(machine)


# ---- turned, degenerate, tiny and huge
@pytest.mark.parametrize(
    ("case", "turn"),
    [(FREE_BODY, [0.4, -1.1, 2.0]), (HEAVY_TOP, [0, 0, 2.0]), (SOFT_WALL, [0, 0, 2.0])],
    ids=lambda value: getattr(value, "name", ""),
)
def test_equivariance(method, case, turn):
    """Inertial axes are a convention: turned at the start is turned at the end."""
    problem, turn = suited(method, case).problem, Rotation.from_rotvec(turn)
    attitude = Rotation.from_quat(problem.attitude, scalar_first=True)
    turned = ph.Problem(problem.body, problem.model, turn * attitude, problem.omega)
    here, there = (solved(p, (0, 5), method, 0.125) for p in (problem, turned))
    expected = (turn * here.rotation).as_quat(scalar_first=True)
    # 40 steps of some dozen roundings, with the sensitivity of the motion
    assert max(errors(there, expected, here.angular_momentum)) < 1e-13


BODIES = {"sphere": (2, 2, 2), "symmetric": (2, 2, 3), "disc": (1, 1, 2), "rod": (1, 1, 0)}


@pytest.mark.parametrize("moments", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("case", [FREE_BODY, HEAVY_TOP], ids=lambda case: case.name)
def test_degenerate_bodies(method, case, moments):
    spin = OMEGA[2] if moments[2] else 0.0
    start = {"attitude": ATTITUDE, "scalar_first": True, "omega": (*OMEGA[:2], spin)}
    problem = ph.Problem(ph.RigidBody(moments), suited(method, case).problem.model, **start)
    run = solved(problem, (0, 10), method, 0.01)
    assert np.isfinite(run.q).all()
    assert np.isfinite(run.angular_momentum).all()
    # the energy is right to the accuracy of the method, 1 % a second for one of first order, and to
    # the rounding of a thousand steps of up to 17 parts
    tolerance = max(0.2 * 0.01 ** (method.order - 1), 1e-13)
    assert run.energy == pytest.approx(run.energy[0], abs=tolerance)


def test_at_rest(method):
    still = ph.Problem(ph.RigidBody(INERTIA), attitude=ATTITUDE, scalar_first=True, omega=(0, 0, 0))
    run = solved(still, (0, 5), method, 0.5)
    assert (run.q == run.q[0]).all()
    assert (run.angular_momentum == 0).all()


@pytest.mark.parametrize(
    ("inertia", "rate"), [(2.0**-133, 2.0**40), (2.0**100, 1.0)], ids=["1e-40 at 1e12", "1e30"]
)
def test_units_do_not_matter(method, inertia, rate):
    """Powers of two, so that the same motion has the same bits."""

    def top(inertia, rate):
        body = ph.RigidBody([inertia * moment for moment in INERTIA])
        start = {"attitude": ATTITUDE, "scalar_first": True, "omega": [rate * w for w in OMEGA]}
        weight = falling(WEIGHT * inertia * rate**2)
        return ph.Problem(body, weight if method.takes(weight) else None, **start)

    usual = solved(top(1.0, 1.0), (0, 8), method, 0.25)
    other = solved(top(inertia, rate), (0, 8 / rate), method, 0.25 / rate)
    assert (other.q == usual.q).all()
    assert (other.angular_momentum == inertia * rate * usual.angular_momentum).all()
    assert other.niter == usual.niter


def turned_problem(case, turn):
    """The same body and torque, described in other body axes: a full inertia tensor."""
    arm, rotor, *rest = {TIME: DRIVEN, RATE: DAMPED}[case]
    model = ph.torque(forced, (turn.apply(arm), turn.apply(rotor), *rest))
    tensor = turn.as_matrix() @ np.diag(INERTIA) @ turn.as_matrix().T
    attitude = Rotation.from_quat(case.problem.attitude, scalar_first=True) * turn.inv()
    problem = ph.Problem(ph.RigidBody(tensor), model, attitude, omega=turn.apply(OMEGA))
    assert not problem.body.is_aligned
    return problem


@pytest.mark.parametrize("case", [TIME, RATE], ids=lambda case: case.name)
def test_full_inertia_tensor(method, case):
    if not method.takes(case.problem.model):
        pytest.skip("not for this torque")
    turn, h, steps = Rotation.from_rotvec([0.5, -0.8, 0.3]), 0.125, 16
    problem = turned_problem(case, turn)
    run = solved(case.problem, (0, steps * h), method, h)
    rows, _ = plain_run(method, problem, h, steps)
    q, m = outer_states(problem.body, rows)
    attitude = Rotation.from_quat(q, scalar_first=True) * turn
    # the principal axes themselves are rounded, and 16 steps follow
    expected = attitude.as_quat(scalar_first=True), turn.inv().apply(m)
    assert max(errors(run, *expected)) < 1e-12


def test_full_inertia_tensor_compiled():
    problem = turned_problem(TIME, Rotation.from_rotvec([0.5, -0.8, 0.3]))
    run = solved(problem, (0, 2), "imidm", 0.125)
    rows, _ = plain_run(ph.METHODS["imidm"], problem, 0.125, 16)
    assert max(errors(run, *outer_states(problem.body, rows))) < 1e-13
