"""Adaptive integrators of many bodies: the bits of single runs, whatever the neighbours do."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import polhode as ph
from polhode.compiler.four import (
    BODIES,
    Four,
    column,
    columns,
    combined_fours,
    if_it_can,
    lanewise,
    pack,
    put_column,
    put_columns,
    unpack,
)
from polhode.compiler.machine import LANES, combined, compiled, fma
from polhode.compiler.tree import bind, flat
from polhode.contracts import Model, Status, slope, square_size
from polhode.formulations import COORDINATES, FORMULATIONS
from polhode.integrators import INTEGRATORS, OF_BODIES
from polhode.integrators.extrapolation import RULE, integrator
from polhode.loops.join import bind_integrator
from polhode.loops.lanes import adaptive
from polhode.loops.lanes import blocks as blocks_of
from polhode.models.point_gravity import wrench
from support import extra_methods
from support.precise import exact_fma

INF = math.inf


@pytest.fixture
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


ADAPTIVE = [name for name in OF_BODIES if INTEGRATORS[name].adaptive]
TIMES = np.array([0.0, 0.1, 0.37, 1.0, 1.001, 1.9, 2.0])
END = 2.0


# ---- bodies
def tops(count, seed=3, speed=2.0):
    """Problems whose bodies, weights and states all differ."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        q = rng.normal(size=4)
        found.append(
            ph.Problem(
                ph.RigidBody(rng.uniform(1.0, 1.9, 3)),
                ph.models.heavy_top(rng.uniform(1.0, 3.0), centre=rng.normal(size=3)),
                attitude=q / np.linalg.norm(q),
                scalar_first=True,
                angular_momentum=speed * rng.normal(size=3),
            )
        )
    return found


@dataclass(frozen=True)
class Limits:
    end: float = END
    times: tuple = tuple(TIMES)
    rtol: float = 1e-9
    atol: float = 0.0
    first: float = 0.0
    largest: float = INF
    formulation: str = "quaternion"

    @property
    def variables(self):
        return {**FORMULATIONS, **COORDINATES}[self.formulation]


USUAL = Limits()


@dataclass(frozen=True)
class Found:
    """Of every member: states at the times, counters, where it ended."""

    rows: np.ndarray  # (member, time, number of the state)
    counts: np.ndarray  # (member, 3): accepted, rejected, evaluations
    status: np.ndarray
    time: np.ndarray
    last: np.ndarray  # the last state

    def same(self, other):
        parts = zip(vars(self).values(), vars(other).values(), strict=True)
        return [np.array_equal(a, b, equal_nan=True) for a, b in parts] == [True] * 5

    def of(self, members):
        return Found(*(value[members] for value in vars(self).values()))


def together(problems, method, limits=USUAL, threads=1):
    """All in lanes."""
    one, variables = problems[0], limits.variables
    integrator = INTEGRATORS[method].suited_for(limits.rtol + limits.atol)
    runs = adaptive.Pursuits(integrator, variables, one.model, one.body.is_aligned, one.moves)
    count, rows = len(problems), []
    for problem in problems:
        y = runs.enter(0.0, problem.state, problem.body.data)
        rows.append(runs.slots_of(y, problem.body.data, problem.model.params))
    slots, places = rows[0], adaptive.places(rows[0])
    blocks = blocks_of.pack(np.array([flat(row) for row in rows]).T, count)
    settings = (limits.rtol, limits.atol), one.model.tables, slots
    runs.begin(blocks, 0.0, limits.end, limits.first, limits.largest, *settings)
    values = []
    for t in limits.times:
        blocks_of.in_threads(
            lambda some, t=t: runs.advance(some, t, limits.end, limits.largest, *settings),
            blocks,
            threads,
        )
        values.append(blocks_of.unpack(runs.sample(blocks, t, *settings), count).T)
    table = blocks_of.unpack(blocks, count)
    times = np.array([[*limits.times, t] for t in table[places.t]])
    values.append(table[places.state].T)
    left = bind_integrator(integrator, variables, one.model, one.body.is_aligned, one.moves).states
    states = []
    for i, problem in enumerate(problems):  # (q, m, x, v)
        states.append(left(times[i], np.array([some[i] for some in values]), problem.body.data))
        states[i][:, 10:] *= problem.body.data[4]
    rows, last = np.array(states)[:, :-1], np.array(states)[:, -1]
    return Found(
        rows,
        table[[places.accepted, places.rejected, places.evaluations]].T.astype(int),
        table[places.status].astype(int),
        table[places.t].copy(),
        last,
    )


def alone(problems, method, limits=USUAL):
    """Every member by ``ph.solve``."""
    found = []
    for problem in problems:
        options = {"method": method, "rtol": limits.rtol, "atol": limits.atol}
        options |= {"first_step": limits.first or None, "formulation": limits.formulation}
        options["max_step"] = None if limits.largest == INF else limits.largest
        run = ph.solve(problem, (0.0, limits.end), t_eval=limits.times, **options)
        whole = ph.solve(problem, (0.0, limits.end), **options)
        counts = run.nsteps, run.rejected, run.nfev
        rows = np.full((len(limits.times), states_of(whole).shape[1]), np.nan)
        rows[: len(run.t)] = states_of(run)
        found.append((rows, counts, int(run.status), whole.t[-1], states_of(whole)[-1]))
    return Found(*map(np.array, zip(*found, strict=True)))


def states_of(run):
    """Rows (q, m, x, v)."""
    return np.hstack([x for x in (run.q, run.angular_momentum, run.x, run.v) if x is not None])


# ---- the registry
BACKWARD = Limits(end=-END, times=tuple(-TIMES))
LIMITED = Limits(first=0.01, largest=0.11, rtol=1e-6, atol=1e-7)
LOOSE = Limits(rtol=1e-3)


ALWAYS = "extrapolation", "dopri5"  # the others compile for half a minute each


@pytest.mark.parametrize(
    "name",
    [n if n in ALWAYS else pytest.param(n, marks=pytest.mark.slow) for n in ADAPTIVE],
)
def test_lanes_are_single_runs(name):
    problems = tops(9)
    for limits in (LIMITED, LOOSE, BACKWARD, USUAL):
        found = together(problems, name, limits)
        assert found.same(alone(problems, name, limits))
        assert (found.status == Status.OK).all()
        assert (found.time == limits.end).all()
        assert np.isfinite(found.rows).all()
    assert len({*map(tuple, found.counts)}) > 1  # each has steps of its own


def test_every_order_of_extrapolation():
    problems = tops(5, seed=4)
    for limit, *_ in RULE:
        limits = Limits(rtol=max(1.1 * limit, 3e-15), times=(0.7, END))
        assert together(problems, "extrapolation", limits).same(
            alone(problems, "extrapolation", limits)
        )


def test_neither_neighbours_nor_blocks_nor_threads_matter():
    problems = tops(2 * LANES + 3, seed=5)
    every = together(problems, "dopri5")
    order = np.random.default_rng(1).permutation(len(problems))
    assert together([problems[i] for i in order], "dopri5").same(every.of(order))
    assert together(problems[90:92], "dopri5").same(every.of(np.array([90, 91])))
    assert together(problems, "dopri5", threads=3).same(every)
    assert every.of(np.arange(4)).same(alone(problems[:4], "dopri5"))


def test_no_time_and_one_body():
    still = Limits(end=0.0, times=(0.0,))
    found = together(tops(1), "dopri5", still)
    assert found.same(alone(tops(1), "dopri5", still))
    assert found.counts[0].tolist() == [0, 0, found.counts[0, 2]]


# ---- failures
def fading(t, q, omega, params):
    """A torque that becomes NaN at a time that differs by member; without a branch."""
    return 0.1 * math.sqrt(params[0] - t), 0.0, 0.0


def stopping(t, q, omega, params):
    """The same with a branch."""
    return (0.1 if t < params[0] else math.nan), 0.0, 0.0


def failing(torque):
    ends = [3.0, 0.7, 5.0, 1.95, 1.0, 0.0371, 9.0]
    first = tops(len(ends), seed=6)
    return [
        ph.Problem(
            p.body,
            ph.torque(torque, (end,)),
            attitude=p.attitude,
            scalar_first=True,
            omega=p.omega,
        )
        for p, end in zip(first, ends, strict=True)
    ]


@pytest.mark.parametrize(("torque", "name"), [(fading, "dopri5"), (stopping, "extrapolation")])
def test_members_that_fail_stay_where_they_would_alone(torque, name):
    problems = failing(torque)
    found = together(problems, name)
    assert found.same(alone(problems, name))
    failed = found.status != Status.OK
    assert failed.tolist() == [False, True, False, True, True, True, False]
    assert (found.status[failed] == Status.STEP_TOO_SMALL).all()
    assert np.isfinite(found.last).all()
    assert np.isnan(found.rows[failed, -1]).all()
    assert np.isfinite(found.rows[~failed]).all()


# ---- models, variables
def tabled(t, q, m, x, p, body, params):
    """A point mass whose pull is in a table, and sways."""
    (sway,), (strength,) = params
    mu, centre = strength[0] * (1.0 + sway * math.sin(t)), (strength[1], strength[2], strength[3])
    return wrench(t, q, m, x, p, body, ((mu, centre), ()))


def test_six_degrees_of_freedom_and_tables():
    strength = np.array([3.0, 0.1, 0.2, -0.1])
    problems = [
        ph.Problem(
            ph.RigidBody(p.body.inertia, mass=2.0 + 0.1 * i),
            Model(
                name="tabled",
                wrench=tabled,
                potential_at=None,
                names=("sway",),
                numbers=(0.1 * i,),
                tables=(strength,),
            ),
            attitude=p.attitude,
            scalar_first=True,
            omega=p.omega,
            position=(2.0 + 0.1 * i, 0.0, 0.3),
            velocity=(0.0, 1.0, 0.1 * i),
        )
        for i, p in enumerate(tops(5))
    ]
    found = together(problems, "dopri5")
    assert found.rows.shape[2] == 13
    assert found.same(alone(problems, "dopri5"))


@pytest.mark.parametrize(
    "name", ["generator-reset", pytest.param("serret-andoyer", marks=pytest.mark.slow)]
)
def test_variables_that_are_reset(name):
    """A member in lanes does not follow the sign of its attitude, which these do not keep."""
    problems = tops(5, speed=4.0)
    limits = Limits(formulation=name, rtol=1e-6)
    found, right = together(problems, "dopri5", limits), alone(problems, "dopri5", limits)
    for rows in (found.rows, found.last[:, None], right.rows, right.last[:, None]):
        rows[..., :4] *= np.sign(rows[..., :1])
    assert found.same(right)


class Callable:
    """A torque that the compiler refuses."""

    def __call__(self, t, q, omega, params):
        return 0.4 * q[1], 0.0, 0.0


def test_plain_python():
    problems = [ph.Problem(p.body, ph.torque(Callable()), omega=p.omega) for p in tops(2)]
    limits = Limits(end=0.1, times=(0.05, 0.1), rtol=1e-4)
    with pytest.warns(ph.PolhodeWarning, match="could not be compiled"):
        found = together(problems, "dopri5", limits)
    with pytest.warns(ph.PolhodeWarning, match="could not be compiled"):
        right = alone(problems, "dopri5", limits)
    assert found.same(right)


# ---- pieces
def test_columns_one_by_one_are_columns_side_by_side():
    """In plain Python, of every order; the second form is for four bodies, and for one as well."""

    def bent(t, y, body, params):
        return y[1] * y[2], -y[0] * y[2] + params[0][0] * t, -y[2] * y[2]

    def length(d, y, new, body, tolerances):
        return (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (tolerances[0] * tolerances[0])

    pieces = {slope: bent, square_size: length, fma: exact_fma}
    y, lost = (0.3, -0.8, 0.9), ((1e-18, -3e-18, 2e-18),)
    for limit, name, values in RULE:
        record, carry = integrator(name, values), () if values else lost
        side_by_side = bind(record.trial, pieces | {fma: lanewise(exact_fma)})
        one_by_one = bind(record.trial_in_lanes, pieces)
        settings = 0.4, 0.23, y, carry, (), ((0.7,), ()), (max(1.1 * limit, 1e-15), 0.0)
        assert side_by_side(*settings) == one_by_one(*settings)


ROW = np.arange(80.0) + 0.25


def through(array, out):
    put_column(out, 1, 5, column(array, 2, 5, ((0.0, 0.0), 0.0)))
    a, ((b, c), d), (e,) = columns(array, 3, 7, (0.0, ((0.0, 0.0), ()), (0.0,)))
    put_columns(out, 20, BODIES, ((max(a, b, 9.0), min(c, a)), d, 7, e))


@pytest.mark.usefixtures("compiled_here")
def test_bodies_go_in_and_out_of_arrays():
    made, plain = np.zeros(80), np.zeros(80)
    compiled(through)(ROW, made)
    bind(through, {max: lanewise(max), min: lanewise(min)})(ROW, plain)
    assert np.array_equal(made, plain)
    assert made[1:12:5].tolist() == [2.25, 7.25, 12.25]
    largest, least, last = np.maximum(ROW[10 : 10 + BODIES], 9.0), ROW[3 : 3 + BODIES], ROW[24:]
    assert made[20 : 20 + 4 * BODIES].tolist() == [
        *largest, *least, *BODIES * [7.0], *last[:BODIES]
    ]  # fmt: skip


@pytest.mark.usefixtures("compiled_here")
def test_min_and_max_with_nan():
    """As of single numbers, which depend on the order."""

    def both(a, b):
        x, y = pack(a, b, a, b), pack(b, a, b, a)
        return unpack(max(x, y)), unpack(min(x, y))

    def one(a, b):
        m, n, o, p = max(a, b), max(b, a), min(a, b), min(b, a)
        return (m, n, m, n), (o, p, o, p)

    run, single = compiled(both), compiled(one)
    for a, b in ((1.0, 2.0), (math.nan, 1.0), (0.0, -0.0), (INF, -INF)):
        assert str(run(a, b)) == str(single(a, b))
        assert str(bind(both, {max: lanewise(max), min: lanewise(min)})(a, b)) == str(run(a, b))


@pytest.mark.usefixtures("compiled_here")
def test_sums_of_fours():
    def sums(h, x, y):
        rows = (pack(x, y, 1.0, 2.0), pack(y, x, x, x)), (pack(x, x, y, h), pack(h, h, x, y))
        a, b = combined_fours((0.3, pack(h, x, h, y)), rows)
        return unpack(a), unpack(b)

    def lanes(h, x, y):
        found = [
            combined((0.3, w), ((a, c), (b, d)))
            for w, a, b, c, d in zip(
                (h, x, h, y),
                (x, y, 1.0, 2.0),
                (x, x, y, h),
                (y, x, x, x),
                (h, h, x, y),
                strict=True,
            )
        ]
        return tuple(zip(*found, strict=True))

    numbers = 0.1, 1 / 3, -0.7
    assert compiled(sums)(*numbers) == bind(lanes, {fma: exact_fma})(*numbers)


def on_fours(x):
    return unpack(x)[0] if x > 0 else 0.0


def on_one(x):
    return 2.0


@pytest.mark.usefixtures("compiled_here")
def test_a_function_that_cannot_is_replaced():
    def run(a):
        return if_it_can(on_fours, on_one, (pack(a, a, a, a),)), if_it_can(on_one, on_fours, (a,))

    assert compiled(run)(1.0) == (2.0, 2.0)
    assert if_it_can(on_fours, on_one, (Four(1.0, 1.0, 1.0, 1.0),)) == 2.0
