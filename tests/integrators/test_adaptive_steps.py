"""Adaptive steps: one body, and lanes in which every body has its own time and step."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from polhode import loops
from polhode.compiler.machine import fma
from polhode.compiler.tree import flat
from polhode.contracts import Status, start, trial
from polhode.loops.lanes import adaptive
from polhode.loops.lanes import blocks as blocks_of
from polhode.solvers.arguments import MAX_STEPS
from support import extra_methods
from support.precise import exact_fma

INF = math.inf

NO_ROWS = np.empty((0, 0))


@pytest.fixture(scope="module", autouse=True)
def compiled_here():
    with extra_methods.no_disk_cache():
        yield


@pytest.fixture(scope="module")
def adapt():
    return loops.build(loops.adapt, extra_methods.HEUN, extra_methods.TOP)


@pytest.fixture(scope="module")
def adapt_lanes():
    own = {start: extra_methods.HEUN.start, trial: extra_methods.HEUN.trial}
    return adaptive.Runs(own, loops.model_pieces(extra_methods.TOP, True), what="a top")


def members(count, seed=6):
    """(state, body, numbers) of random tops; every seventh is undefined from 0.3 to 0.4."""
    rng = np.random.default_rng(seed)
    return [
        (
            extra_methods.random_state(rng),
            extra_methods.random_body(rng),
            (
                extra_methods.random_vector(rng, 1)[0],
                (0.3, 0.4) if i % 7 == 6 else extra_methods.NEVER,
            ),
        )
        for i in range(count)
    ]


def alone(run, member, begin=0.0, end=1.0, h=0.01, largest=INF, tolerance=1e-4):
    """(t, t_low, h, state, carry, status, accepted, rejected)."""
    state, body, numbers = member
    return run(
        *(begin, 0.0, end, h, largest, False, state, (0.0,), body, (numbers, ()), tolerance),
        *(MAX_STEPS, NO_ROWS),
    )[:8]


def rows(run, members, **settings):
    """What ``together`` gives, of each member alone."""
    table = []
    for member in members:
        t, low, h, state, carry, status, accepted, rejected = alone(run, member, **settings)
        table.append(flat((float(status), t, low, h, accepted, rejected, state, carry)))
    return np.array(table)


def together(run, members, begin=0.0, end=1.0, h=0.01, largest=INF, tolerance=1e-4):
    """(status, t, t_low, h, accepted, rejected, state, carry) of each member, in lanes."""

    def slots(member):
        state, body, numbers = member
        return adaptive.slots_of(state, (0.0,), body, numbers)

    pattern = slots(members[0])
    blocks = blocks_of.pack(np.array([flat(slots(m)) for m in members]).T, len(members))
    run.begin(blocks, begin, end, abs(h), largest, tolerance, (), pattern)
    run.advance(blocks, end, end, largest, tolerance, (), pattern)
    places, table = adaptive.places(pattern), blocks_of.unpack(blocks, len(members))
    return np.concatenate([table[1:7], table[places.state], table[places.carry]]).T


def test_compiled_is_plain_python_with_an_exact_fma(adapt):
    plain = loops.joined(
        loops.adapt, extra_methods.HEUN, extra_methods.TOP, numbers={fma: exact_fma}
    )
    settings = {"end": 0.1, "h": 0.5, "tolerance": 1e-3}
    assert alone(adapt, members(1)[0], **settings) == alone(plain, members(1)[0], **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"end": -1.0, "h": -0.01},
        {"begin": 5.0, "end": 6.0, "h": 3.0, "largest": 0.02},
        {"begin": 1e3, "end": 1e3 + 1, "tolerance": 1e-300},
    ],
    ids=["forward", "backward", "limited", "impossible"],
)
def test_lanes_are_single_runs(adapt, adapt_lanes, settings):
    bodies = members(100)
    assert np.array_equal(
        together(adapt_lanes, bodies, **settings), rows(adapt, bodies, **settings)
    )
    assert (
        together(adapt_lanes, bodies[70:71], **settings)[0]
        == together(adapt_lanes, bodies, **settings)[70]
    ).all()


def test_no_allocation(adapt, adapt_lanes):
    alone(adapt, members(1)[0])
    together(adapt_lanes, members(1))
    assert not extra_methods.allocates(adapt)
    assert not extra_methods.allocates(adapt_lanes.machines[1])


def test_every_body_has_its_own_steps(adapt_lanes):
    table = together(adapt_lanes, members(100))
    good = table[:, 0] == Status.OK
    assert len(set(table[good, 4])) > 10
    assert (table[good, 1] == 1.0).all()
    assert (table[good, 2] == 0.0).all()
    assert (table[:, -1] == table[:, 4]).all()  # the carry counts what was accepted


def test_members_that_cannot_go_on_keep_their_last_good_state(adapt_lanes):
    bodies = members(100)
    table = together(adapt_lanes, bodies)
    failed = table[:, 0] != Status.OK
    assert np.flatnonzero(failed).tolist() == list(range(6, 100, 7))
    assert (table[failed, 0] == Status.STEP_TOO_SMALL).all()
    # steps shrink until the gap is reached to rounding
    assert np.allclose(table[failed, 1], 0.3, rtol=0, atol=4 * math.ulp(0.3))
    assert np.isfinite(table).all()


@pytest.mark.parametrize("begin", [1e3, 1e6])
def test_an_impossible_tolerance_changes_nothing(adapt, begin):
    member = members(1)[0]
    t, low, _, state, carry, status, accepted, rejected = alone(
        adapt, member, begin=begin, end=begin + 1, tolerance=1e-300
    )
    assert status == Status.STEP_TOO_SMALL
    assert (t, low, state, carry, accepted) == (begin, 0.0, member[0], (0.0,), 0)
    assert 0 < rejected <= loops.MAX_TRIALS


def test_a_state_without_a_value_ends_too(adapt, adapt_lanes):
    (q, _), body, numbers = members(1)[0]
    lost = (q, (math.nan, 0.0, 0.0)), body, numbers
    *_, status, accepted, rejected = alone(adapt, lost)
    assert (status, accepted, rejected) == (Status.STEP_TOO_SMALL, 0, loops.MAX_TRIALS)
    bodies = members(5)
    table = together(adapt_lanes, [*bodies, lost])
    assert table[5, 0] == Status.STEP_TOO_SMALL
    assert (table[:5] == rows(adapt, bodies)).all()


def test_a_time_without_a_value_ends_too(adapt, adapt_lanes):
    assert alone(adapt, members(1)[0], begin=math.nan)[5] == Status.STEP_TOO_SMALL
    assert together(adapt_lanes, members(1), begin=math.nan)[0, 0] == Status.STEP_TOO_SMALL


def test_the_error_falls_with_the_tolerance(adapt):
    member = members(1)[0]
    best = np.array(flat(alone(adapt, member, tolerance=1e-10)[3]))
    errors = [
        np.abs(np.array(flat(alone(adapt, member, tolerance=tolerance)[3])) - best).max()
        for tolerance in (1e-4, 1e-6, 1e-8)
    ]
    # the step is as the root of the tolerance, the error as the square of the step
    for one, other in pairwise(errors):
        assert 30 < one / other < 300


def test_there_and_back(adapt):
    member = members(1)[0]
    tolerance = 1e-8
    t, low, h, state, *_ = alone(adapt, member, tolerance=tolerance)
    assert (t, low) == (1.0, 0.0)
    assert h > 0
    t, low, h, back, _, status, *_ = alone(
        adapt, (state, *member[1:]), begin=1.0, end=0.0, h=-h, tolerance=tolerance
    )
    assert (t, low, status) == (0.0, 0.0, Status.OK)
    assert h < 0
    # errors of one step are below the tolerance and of third order, so their sum is of its size
    assert math.dist(flat(back), flat(member[0])) < 10 * tolerance
    assert math.dist(flat(state), flat(member[0])) > 0.1


# ---- steps of one size, in which nothing but time happens
def idle(taken):
    """A method that is never wrong; its trials are noted as (t, h)."""

    def trial(t, h, state, carry, body, params, tolerances):
        taken.append((t, h))
        return state, carry, 0.0, 1.0, 0

    return replace(extra_methods.HEUN, trial=trial)


def idle_run(end, largest, begin=0.0, h=INF):
    taken = []
    run = loops.joined(loops.adapt, idle(taken))
    h = math.copysign(min(h, largest), end - begin)
    t, low, h, *_, status, accepted, rejected = run(
        begin, 0.0, end, h, largest, False, (), (), (), (), (), MAX_STEPS, NO_ROWS
    )[:8]
    assert (t, low, status, rejected) == (end, 0.0, Status.OK, 0)
    assert accepted == len(taken)
    return taken


@pytest.mark.parametrize(
    ("end", "largest"),
    [(30.0, 0.3), (10.0, 0.1), (1.0, 0.1), (7.0, 0.7), (1e6, 1e3), (0.1, 1.0), (-30.0, 0.3)],
)
def test_the_end_is_reached_in_whole_steps(end, largest):
    """If steps divide the span up to rounding, no tiny step is left at the end."""
    taken = idle_run(end, largest)
    assert len(taken) == max(1, round(abs(end) / largest))
    # the last step makes up for the rounding of the sum
    assert all(abs(h) <= largest + 2 * math.ulp(end) for _, h in taken)


def test_time_is_not_a_sum_of_rounded_steps():
    taken = idle_run(1e3, 0.1)
    for k, (t, _) in enumerate(taken):
        assert abs(Fraction(t) - k * Fraction(0.1)) <= Fraction(math.ulp(t))


def test_steps_are_exactly_those_that_are_added():
    """Each trial begins where the one before ended, to the rounding of the time itself."""
    taken = idle_run(1.0 + math.pi, 0.0371, begin=1.0)
    total = Fraction(1.0)
    for t, h in taken:
        assert abs(Fraction(t) - total) <= Fraction(math.ulp(t))
        total += Fraction(h)
    assert abs(total - Fraction(1.0 + math.pi)) <= Fraction(math.ulp(4.0))


def test_nothing_to_do():
    assert idle_run(0.0, 1.0) == []
