"""One source, always the same bits: plain Python, one compiled body, SIMD lanes."""

import math
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

from polhode import loops
from polhode.compiler import machine
from polhode.compiler.machine import LANES, fma
from polhode.compiler.tree import flat
from polhode.contracts import Model, Status
from polhode.errors import PolhodeWarning
from polhode.kernels.quaternion import to_inertial
from polhode.kernels.vector import add, cross
from polhode.loops.join import zeros
from polhode.loops.lanes import fixed
from polhode.loops.lanes.blocks import in_threads
from polhode.methods import METHODS
from support import extra_methods
from support.precise import ROUNDING, exact_fma, to_mp
from support.precise_steps import MPMATH

H, STEPS = 0.01, 60
TWO_BLOCKS = LANES + 6  # members


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


class Case:
    """A method with a model: its loops, and bodies for it."""

    def __init__(self, method, model=extra_methods.TOP, aligned=True):
        self.method, self.model, self.aligned = method, model, aligned
        self.substeps = loops.substeps(method)

    def joined(self, template, **numbers):
        return loops.joined(template, self.method, self.model, self.aligned, **numbers)

    def build(self, template):
        return loops.build(template, self.method, self.model, self.aligned)

    @cached_property
    def record(self):
        return self.build(loops.record)

    @cached_property
    def lanes(self):
        return fixed.build(fixed.advance_lanes, self.method, self.model, self.aligned)

    @cached_property
    def start(self):
        """The first carry; plain Python with the bits of compiled code."""
        return loops.joined(self.method.start, None, self.model, self.aligned, {fma: exact_fma})

    def members(self, count, seed=1):
        """Random (state, carry, body, params)."""
        rng = np.random.default_rng(seed)
        return [self.member(rng) for _ in range(count)]

    def member(self, rng, gap=extra_methods.NEVER, **replaced):
        state, body = extra_methods.random_state(rng), extra_methods.random_body(rng, self.aligned)
        numbers = extra_methods.random_vector(rng, 1)[0], gap
        if self.method is extra_methods.MOTION:
            place, momentum, arm = (extra_methods.random_vector(rng) for _ in range(3))
            state, numbers = (*state, place, momentum), (arm, 3.0)
        state = replaced.get("state", state)
        params = numbers, () if self.model is None else self.model.tables
        return state, self.start(0.0, self.substeps[0][0] * H, state, body, params), body, params

    def alone(self, member, t0=0.0, h=H, k=0, n=STEPS, fresh=False, run=None):
        """(state, carry, status, iterations) after the steps k to k + n."""
        out, (state, carry, body, params) = np.empty((1, len(flat(member[0])))), member
        ends, sides = np.array([n]), np.zeros(1)
        run = self.record if run is None else run
        state, carry, status, _, _, iterations, _ = run(
            t0, h, k, ends, sides, *self.substeps, fresh, state, carry, body, params, out
        )
        return state, carry, status, iterations

    def rows(self, members):
        """Of each member alone: what ``extra_methods.results`` gives of all together."""
        ends = [self.alone(member) for member in members]
        return np.array([flat((float(s), float(i), state, carry)) for state, carry, s, i in ends])

    def run_blocks(self, ends, args, blocks):
        self.lanes(blocks, np.empty_like(blocks[0]), ends, *args)

    def together(self, members, parts=(STEPS,), threads=0):
        """The members in lanes, the steps in ``parts``."""
        blocks, slots = extra_methods.packed(self.method, members)
        tables, done = members[0][3][1], 0
        ends = *fixed.places(slots)[:2], 1
        for n in parts:
            args = 0.0, H, H, done, n, *self.substeps, tables, slots
            run = partial(self.run_blocks, ends, args)
            in_threads(run, blocks, threads)
            done += n
        return extra_methods.results(blocks, slots, len(members))


SHIPPED = [METHODS[name] for name in ("imidm", "forward-euler-m", "mkrk:rk4", "akw", "dmv6")]
TEST_ONLY = [
    extra_methods.AXES2,
    extra_methods.AXES4,
    extra_methods.COMPENSATED,
    extra_methods.MOTION,
    extra_methods.ADAMS2,
]


def made_case(method):
    return Case(
        method,
        model=None if method is extra_methods.MOTION else extra_methods.TOP,
        aligned=method.name != "akw",  # one method with body axes that are not principal
    )


@pytest.fixture(scope="module", params=[*SHIPPED, *TEST_ONLY], ids=lambda method: method.name)
def case(request):
    return made_case(request.param)


# ---- the same bits
def test_compiled_is_plain_python_with_an_exact_fma(case):
    state, carry, body, params = case.members(1)[0]
    ends, sides = np.array([0, 7, 15]), np.array([0.0, 0.003, 0.0])

    def result(run):
        out = np.empty((3, len(flat(state))))
        args = 0.0, H, 2, ends, sides, *case.substeps, True, state, carry, body, params, out
        return run(*args), out.tolist()

    assert result(case.record) == result(case.joined(loops.record, numbers={fma: exact_fma}))


def test_the_carry_made_in_the_loop_is_the_one_of_start(case):
    member = case.members(1)[0]
    assert case.alone(member) == case.alone(member, fresh=True)


def test_the_first_carry_of_lanes_is_the_one_of_start():
    case = Case(extra_methods.AXES2)
    members = case.members(TWO_BLOCKS)
    blank = [(state, zeros(carry), *rest) for state, carry, *rest in members]
    blocks, slots = extra_methods.packed(case.method, blank)
    start = fixed.build(fixed.start_lanes, case.method, case.model)
    start(blocks, 0.0, H, case.substeps[0], (), slots)
    carries = extra_methods.results(blocks, slots, TWO_BLOCKS)[:, -3:]
    assert carries.tolist() == [flat(carry) for _, carry, *_ in members]


def test_lanes_are_single_runs(case):
    members = case.members(100)
    rows = case.rows(members)
    assert (rows[:, 0] == Status.OK).all()
    assert (case.together(members) == rows).all()


def test_the_place_in_a_block_does_not_matter(case):
    members = case.members(100)
    table, order = case.together(members), np.random.default_rng(2).permutation(100)
    assert (case.together([members[i] for i in order]) == table[order]).all()
    assert (case.together(members[90:91]) == table[90]).all()


def test_threads_do_not_matter(case):
    members = case.members(3 * LANES + 8)  # four blocks
    table = case.together(members)
    for threads in (1, 3, 5):
        assert (case.together(members, threads=threads) == table).all()


@pytest.mark.parametrize("threads", [1, 2, 5, 99])
def test_blocks_are_shared_out_whole_and_errors_come_back(threads):
    table = np.arange(22.0).reshape(11, 2)

    def double(some):
        some *= 2.0
        if (some == 40.0).any():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_threads(double, table, threads)
    assert np.array_equal(table, 2.0 * np.arange(22.0).reshape(11, 2))


def test_stopped_and_continued(case):
    members = case.members(TWO_BLOCKS)
    assert (case.together(members, parts=(25, 1, 34)) == case.together(members)).all()
    state, carry, body, params = members[0]
    state, carry, _, first = case.alone(members[0], n=25)
    state, carry, status, second = case.alone((state, carry, body, params), k=25, n=35)
    assert (state, carry, status, first + second) == case.alone(members[0])


def test_saving_and_side_steps_disturb_nothing(case):
    state, carry, body, params = case.members(1)[0]
    every = np.arange(STEPS + 1)
    ends = np.sort(np.concatenate([every, every[:-1]]))
    sides = np.where(np.diff(ends, prepend=-1) == 0, 0.4 * H, 0.0)  # between all grid points
    out = np.empty((len(ends), len(flat(state))))
    often = case.record(
        0.0, H, 0, ends, sides, *case.substeps, False, state, carry, body, params, out
    )
    seldom = case.alone((state, carry, body, params))
    assert often[:3] == seldom[:3]
    assert out[-1].tolist() == flat(seldom[0])
    middle, *_ = case.alone((state, carry, body, params), n=20)
    assert out[(ends == 20) & (sides == 0)][0].tolist() == flat(middle)
    # a side step is one step of its own size
    aside, *_ = case.alone((state, carry, body, params), n=1, h=0.4 * H)
    assert out[1].tolist() == flat(aside)


def test_no_allocation(case):
    members = case.members(1)
    case.alone(members[0], n=1)
    case.together(members, parts=(1,))
    assert not extra_methods.allocates(case.record)
    assert not extra_methods.allocates(getattr(case.lanes, "quick", case.lanes))


def test_an_allocation_would_be_detected():
    def allocating(t, q, m, body, params):
        n = np.array([q[1], q[2], q[3]])
        return n[0], n[1], n[2]

    case = Case(METHODS["forward-euler-m"], Model(name="arrays", torque=allocating, potential=None))
    case.alone(case.members(1)[0], n=1)
    assert extra_methods.allocates(case.record)


# ---- in mpmath
@pytest.mark.parametrize(
    "method", [METHODS["imidm"], extra_methods.AXES2], ids=lambda method: method.name
)
def test_the_same_source_with_fifty_digits(method):
    case = Case(method)
    state, carry, body, params = case.members(1)[0]
    plain = case.joined(loops.record, numbers=MPMATH)
    with mp.workdps(50):
        out = np.empty((1, 7), dtype=object)
        values = to_mp((state, carry, body)), to_mp(params[0])
        plain(
            mp.mpf(0),
            mp.mpf(H),
            0,
            [20],
            [0],
            *case.substeps,
            True,
            *values[0],
            (values[1], ()),
            out,
        )
        found, *_ = case.alone((state, carry, body, params), n=20)
        # 20 steps of some dozen roundings, of numbers of the size of m
        allowed = 20 * 12 * ROUNDING * max(map(abs, state[1]))
        assert max(abs(a - b) for a, b in zip(flat(found), out[0], strict=True)) <= allowed
        assert any(b != float(b) for b in out[0])  # they do have more digits


# ---- failures
@pytest.mark.parametrize("name", ["imidm", "forward-euler-m"])
def test_one_body_that_fails_keeps_its_last_good_state(name):
    case = Case(METHODS[name])
    state, carry, body, params = case.member(np.random.default_rng(3), gap=(0.2, 0.3))
    out, ends = np.full((4, 7), -1.0), np.array([5, 15, 25, 35])
    new, kept, status, rows, steps, *_ = case.record(
        0.0, H, 0, ends, np.zeros(4), *case.substeps, False, state, carry, body, params, out
    )
    assert status == (Status.NOT_CONVERGED if case.method.implicit else Status.NOT_FINITE)
    assert rows == 2
    assert (out[2:] == -1.0).all()
    assert 20 <= steps <= 21  # the gap opens at 0.2; explicit methods see the start of the step
    good = case.alone((state, carry, body, params), n=steps)
    assert (new, kept, Status.OK) == good[:3]
    assert np.isfinite(flat(new)).all()


FAST = ((1.0, 0.0, 0.0, 0.0), (3e5, -2e5, 1e5))  # thousands of turns in a step
UNDEFINED = ((1.0, 0.0, 0.0, 0.0), (math.nan, 1.0, 1.0))


def failing_members(case):
    rng, members = np.random.default_rng(4), case.members(TWO_BLOCKS)
    members[5] = case.member(rng, gap=(0.2, 0.3))
    members[6] = case.member(rng, state=FAST)
    members[LANES + 2] = case.member(rng, state=UNDEFINED)
    return members, [5, 6, LANES + 2]


def test_failed_members_of_lanes_stand_still():
    case = Case(METHODS["imidm"])
    members, failed = failing_members(case)
    table = case.together(members)
    assert np.flatnonzero(table[:, 0]).tolist() == failed
    assert (table[failed, 0] == Status.NOT_CONVERGED).all()
    # those who fail do so as they would alone; the others see nothing of it
    assert np.array_equal(table, case.rows(members), equal_nan=True)
    assert table[6, 2:9].tolist() == flat(FAST)


def test_a_composition_that_fails_within_a_step_keeps_the_state_before_it():
    case = Case(replace(METHODS["imidm"], weights=extra_methods.TRIPLE_JUMP))
    # the middles of the three parts of the sixth step are at 0.0568, 0.055 and 0.0532
    member = case.member(np.random.default_rng(3), gap=(0.0545, 0.0555))
    row = case.rows([member])[0]
    assert row[0] == Status.NOT_CONVERGED
    assert row[2:9].tolist() == flat(case.alone(member, n=5)[0])
    assert case.together([member])[0, 2:9].tolist() == row[2:9].tolist()


@pytest.mark.parametrize("name", ["forward-euler-m", "imidm"])
def test_plain_python_fails_with_a_status_too(name):
    case = Case(METHODS[name])
    member = case.member(np.random.default_rng(3), gap=(0.2, 0.3))
    plain = case.joined(loops.record, numbers={fma: exact_fma})
    assert case.alone(member, run=plain) == case.alone(member)


def test_without_hints_lanes_are_plain_loops_with_the_same_bits(monkeypatch):
    monkeypatch.setattr(machine, "I32", None)  # of which a hint is made
    method = replace(METHODS["forward-euler-m"], width=4)  # one that was not compiled before
    case = Case(method)
    members = case.members(5)
    assert np.array_equal(case.together(members), case.rows(members))


@pytest.mark.parametrize(
    "parts", [(STEPS,), (STEPS // 3, STEPS - STEPS // 3)], ids=["once", "twice"]
)
@pytest.mark.parametrize(
    "method", [METHODS["forward-euler-m"], extra_methods.AXES4], ids=["euler", "mr4"]
)
def test_members_without_a_value_end_as_they_would_alone(method, parts):
    """An explicit step cannot fail, but its state may be NaN; others are not affected."""
    case = Case(method)
    members, failed = failing_members(case)
    table = case.together(members, parts)
    lost = [member for member in failed if table[member, 0] != Status.OK]
    assert 5 in lost
    assert (table[lost, 0] == Status.NOT_FINITE).all()
    assert np.array_equal(table, case.rows(members), equal_nan=True)


# ---- models
def drive(t, q, m, body, params):
    """A torque from a table, linear between its entries: numbers = (strength, spacing)."""
    (strength, spacing), (table,) = params
    place = t / spacing
    i = int(place)
    n = strength * (table[i] + (place - i) * (table[i + 1] - table[i]))
    return n, 0.0, strength * q[1]


def test_tables_are_read_in_lanes():
    table = np.random.default_rng(5).normal(size=10)
    table.setflags(write=False)
    model = Model(name="drive", torque=drive, potential=None, tables=(table,))
    case = Case(METHODS["forward-euler-m"], model)
    members = [
        (state, carry, body, ((strength, 0.1), (table,)))
        for state, carry, body, ((strength, _), _) in Case(METHODS["forward-euler-m"]).members(
            TWO_BLOCKS
        )
    ]
    rows = case.rows(members)
    assert (case.together(members) == rows).all()
    plain = case.alone(members[0], run=case.joined(loops.record, numbers={fma: exact_fma}))
    assert flat(plain[0]) == rows[0, 2:9].tolist()


def countdown(n):
    return 0.0 if n < 1.0 else 0.1 + countdown(n - 1.0)


def recursive(t, q, m, body, params):
    return countdown(3.0), q[1], 0.0


def test_what_cannot_be_compiled_runs_plain_with_one_warning():
    case = Case(METHODS["forward-euler-m"], Model(name="odd", torque=recursive, potential=None))
    members = case.members(3)
    with pytest.warns(PolhodeWarning, match="'odd' could not be compiled") as caught:
        rows = case.rows(members)
    assert len(caught) == 1
    with pytest.warns(PolhodeWarning, match="'odd'"):
        assert (case.together(members) == rows).all()


class Opaque(Exception):
    """An object that has no digest, but can be compiled."""


FACTOR = 0.0


def reads_a_global(x):
    return x + FACTOR


def reads_more(x):
    if x < 0.0:
        raise Opaque
    return x + FACTOR


@pytest.mark.parametrize("function", [reads_a_global, reads_more])
def test_a_changed_global_is_detected(function, monkeypatch):
    for value in (1.0, 2.0):
        monkeypatch.setitem(globals(), "FACTOR", value)
        assert machine.compiled(function)(1.0) == 1.0 + value


# ---- what the test-only methods show
def last_state(case, member, n, span=1.0):
    return np.array(flat(case.alone(member, n=n, h=span / n, fresh=True)[0]))


@pytest.mark.parametrize("method", TEST_ONLY, ids=lambda method: method.name)
def test_orders(method):
    case = made_case(method)
    member = case.members(1)[0]
    runs = [last_state(case, member, n) for n in (50, 100, 200, 400)]
    gaps = [np.abs(a - b).max() for a, b in pairwise(runs)]
    assert gaps[-1] > 1e-12  # above rounding
    assert abs(math.log2(gaps[1] / gaps[2]) - method.order) < 0.2


def test_compensation_keeps_lengths_to_the_last_digit():
    steps, drift = 100_000, {}
    for method in (extra_methods.AXES2, extra_methods.COMPENSATED):
        case = Case(method)
        member = case.members(1)[0]
        (q, _), carry, *_ = case.alone(member, n=steps)
        lost = carry[1][0] if method is extra_methods.COMPENSATED else (0.0,) * 4
        with mp.workdps(40):
            before, after = (
                mp.fsum((mp.mpf(a) + b) ** 2 for a, b in zip(*pair, strict=True))
                for pair in ((member[0][0], (0.0,) * 4), (q, lost))
            )
            drift[method.name] = float(abs(after - before))
    # a walk of five roundings a step, against a sum that is rounded once at the end
    assert drift["mr2"] > 20 * ROUNDING
    assert drift["compensated"] < 10 * ROUNDING


def test_motion_keeps_the_whole_angular_momentum():
    """A spring to the origin has no torque about the origin."""
    case = made_case(extra_methods.MOTION)

    def momentum(state):
        q, m, x, p = state
        return np.array(add(to_inertial(q, m), cross(x, p)))

    for member in case.members(5):
        after, *_ = case.alone(member, n=1000)
        size = np.abs(momentum(member[0])).max() + 10  # |x||p| is a few units
        # a walk of some dozen roundings a step
        allowed = 12 * math.sqrt(1000) * ROUNDING * size
        assert np.abs(momentum(after) - momentum(member[0])).max() < allowed
        assert math.dist(after[2], member[0][2]) > 0.1  # it did move


def test_time_runs_backwards():
    case = Case(extra_methods.AXES4)
    state, carry, body, params = case.members(1)[0]
    there, carry, *_ = case.alone((state, carry, body, params), n=100)
    back, *_ = case.alone((there, carry, body, params), t0=100 * H, h=-H, n=100, fresh=True)
    # 200 steps of three parts with some dozen roundings each, of numbers of the size of m
    allowed = 12 * math.sqrt(600) * ROUNDING * max(map(abs, state[1]))
    assert math.dist(flat(back), flat(state)) < allowed
    assert math.dist(flat(there), flat(state)) > 0.1  # it did move
