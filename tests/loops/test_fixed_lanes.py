"""Maps of many bodies: the bits of single runs, for every body and every state."""

import math

import numpy as np
import pytest

from polhode import loops
from polhode.compiler.machine import LANES
from polhode.compiler.tree import flat
from polhode.contracts import Status
from polhode.kernels import free_flow
from polhode.loops.join import variant
from polhode.loops.lanes import fixed
from polhode.methods import METHODS
from polhode.models import free, heavy_top
from support import extra_methods

STEPS = 12
IN_LANES = [name for name, method in METHODS.items() if method.width > 1]
EXACT = {METHODS[name].step: METHODS[name] for name in IN_LANES if METHODS[name].exact_when_free}
UP = (1.0, 0.0, 0.0, 0.0)


# ---- bodies and states
def inertias(rng):
    """Moments of every kind, each in three orders; rods have the inverse 0 of a moment of 0."""
    a, b = rng.uniform(1.0, 1.4, 2).tolist()
    kinds = (a, b, 1.7), (a, a, 1.7), (a, a, a), (a, a, 0.0), (a, a * (1 + 3e-13), 1.7)
    kinds = *kinds, (a, b, a + b), (1e-5, 1.0, 1.0 + 1e-5), (1e-46, 2e-46, 2.5e-46)
    return [kind[k:] + kind[:k] for kind in kinds for k in range(3)]


def momenta(rng, moments):
    """At rest, any, about each axis, near the middle one, and on the separatrix."""
    unit = max(moments)
    found = [(0.0, 0.0, 0.0), tuple((unit * rng.normal(size=3)).tolist())]
    found += [tuple((unit * np.eye(3)[k] * sign).tolist()) for k in range(3) for sign in (1, -1)]
    least, middle, most = np.argsort(moments).tolist()
    for off in (1e-3, 1e-14, 1e-70, 1e-180):
        m = np.zeros(3)
        m[[least, middle, most]] = unit * off, -unit, unit * off
        found.append(tuple(m.tolist()))
    i, j, k = np.sort(moments).tolist()
    if 0.0 < i < j < k:
        m = np.zeros(3)
        m[[least, middle, most]] = math.sqrt(i * (k - j) / (k * (j - i))), 0.5, 1.0
        found.append(tuple((unit * m).tolist()))
    return [tuple(x if i else 0.0 for x, i in zip(m, moments, strict=True)) for m in found]


def members(method, model, step, speed=1.0, kinds=inertias):
    """(state, carry, body, params) of every kind of body in every kind of state."""
    rng, found = np.random.default_rng(11), []
    start = loops.joined(method.start, None, model)
    for moments in kinds(rng):
        inverse = tuple(1.0 / i if i else 0.0 for i in moments)
        for m in momenta(rng, moments):
            strength = float(rng.choice([0.0, 1.0])) * max(moments)
            q = UP if rng.random() < 0.2 else extra_methods.random_unit(rng)
            state = q, tuple(speed * x for x in m)
            body, params = (moments, inverse, UP, 1.0, 1.0), ((strength,)[: len(model.numbers)], ())
            found.append((state, start(0.0, step, state, body, params), body, params))
    return found


def alone(run, member, h, substeps):
    out = np.empty((1, 7))
    state, carry, status, _, _, iterations, _ = run(
        0.0, h, 0, np.array([STEPS]), np.zeros(1), *substeps, False, *member, out
    )
    return flat((float(status), float(iterations), state, carry))


class Lanes:
    """A method and a model: each member alone, and all in lanes."""

    def __init__(self, method, model, h):
        self.method, self.model, self.h = method, model, h
        self.substeps = loops.substeps(method)
        weights = self.substeps[0]
        self.first = loops.part_of_three(weights, 0, h) if weights.ndim > 1 else weights[0] * h
        self.record = loops.build(loops.record, method, model)
        self.advance = fixed.build(fixed.advance_lanes, method, model)

    def members(self, **given):
        return members(self.method, self.model, self.first, **given)

    def alone(self, some):
        return np.array([alone(self.record, member, self.h, self.substeps) for member in some])

    def settings(self, some):
        blocks, slots = extra_methods.packed(self.method, some)
        ends = *fixed.places(slots)[:2], 1
        args = ends, 0.0, self.h, self.h, 0, STEPS, *self.substeps, (), slots
        return blocks, slots, (np.empty_like(blocks[0]), *args)

    def together(self, some):
        blocks, slots, args = self.settings(some)
        self.advance(blocks, *args)
        return extra_methods.results(blocks, slots, len(some))


def same(found, expected):
    """Whether all bits agree, but for which NaN and the sign of zero."""
    return np.array_equal(found, expected, equal_nan=True)


# ---- every method
@pytest.mark.parametrize("name", IN_LANES)
@pytest.mark.parametrize("h", [0.03, 3.0], ids=["short steps", "long steps"])
def test_lanes_are_single_runs(name, h):
    """Every kind of body, at rest, about its axes, near and on the separatrix."""
    method = METHODS[name]
    lanes = Lanes(method, free() if method.free_only else heavy_top(1.0), h)
    some = lanes.members()
    assert same(lanes.together(some), lanes.alone(some))


@pytest.mark.parametrize("axis", [None, 0, 2], ids=["any body", "symmetric about 1", "about 3"])
@pytest.mark.parametrize("compensated", [False, True], ids=["plain", "compensated"])
@pytest.mark.parametrize("method", EXACT.values(), ids=lambda method: method.name)
def test_splittings_for_symmetric_bodies_and_compensated_ones(method, compensated, axis):
    def kinds(rng):
        if axis is None:
            return inertias(rng)
        along = (0.0, 0.4, 1.3, 1.3 - 1e-13, 2.0)
        return [tuple(np.roll([1.3, 1.3, i], axis + 1).tolist()) for i in along]

    method = variant(method, axis, compensated)
    for h in (0.03, 3.0):
        lanes = Lanes(method, heavy_top(1.0), h)
        some = lanes.members(kinds=kinds)
        assert same(lanes.together(some), lanes.alone(some))


# ---- the quick steps of splittings
def asymmetric(rng):
    return inertias(rng)[:3]


@pytest.mark.parametrize("speed", [1.0, 1e-60, 1e60])
def test_quick_steps_hold_for_short_turns(speed):
    """Even at rest, about an axis and on the separatrix; so no block is run a second time."""
    method = METHODS["strang"]
    lanes = Lanes(method, free(), 0.05 / speed)
    some = lanes.members(speed=speed, kinds=asymmetric)
    blocks, slots, args = lanes.settings(some)
    again = np.ones(len(blocks), bool)
    lanes.advance.quick(blocks, again, *args)
    assert not again.any()
    assert same(extra_methods.results(blocks, slots, len(some)), lanes.alone(some))


def test_one_body_too_fast_for_quick_steps_does_not_disturb_its_neighbours():
    lanes = Lanes(METHODS["strang"], heavy_top(1.0), 0.05)
    some = lanes.members(kinds=asymmetric)
    assert len(some) < LANES
    fast = (0.0, 0.0, 0.0, 1.0), (3.0, 40.0, -1e3)
    lost = (0.0, 0.0, 0.0, 1.0), (math.nan, 1.0, 0.0)
    expected = lanes.alone(some)
    for state in (fast, lost):
        several = [*some[:7], (state, *some[7][1:]), *some[8:]]
        rows = lanes.together(several)
        assert same(rows, lanes.alone(several))
        assert same(np.delete(rows, 7, axis=0), np.delete(expected, 7, axis=0))
    assert rows[7, 0] == Status.NOT_FINITE


def test_quick_drifts_are_those_of_one_body():
    """With the numbers in the module, not only those of the method."""
    assert fixed.SHORT[free_flow.free_drift] is free_flow.quick_drift
