"""Methods that only tests use, with a model and random bodies for them.

They show that the contracts carry more than the library ships: a carried torque, compositions,
compensated sums, six degrees of freedom, a history, adaptive steps.
"""

import re
from contextlib import contextmanager
from dataclasses import replace
from math import nan, sin, sqrt

import numpy as np
import pytest

from polhode.compiler import machine
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind, flat
from polhode.contracts import Method, Model, to_principal_axes, torque
from polhode.kernels.inertia import gyroscopic
from polhode.kernels.quaternion import product1, to_body, to_inertial, vertical
from polhode.kernels.so3 import exp1
from polhode.kernels.trig import double_angle, sincos1
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, scale, subtract
from polhode.loops.lanes import fixed
from polhode.loops.lanes.blocks import pack, unpack
from polhode.methods import mr2, mr4
from polhode.methods.mr2 import turns


# ---- machine code
@contextmanager
def no_disk_cache():
    """Compile everything again: machine code from the disk cannot be inspected."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLHODE_CACHE", "0")
        patch.setattr(machine, "_dispatchers", {})
        yield


def allocates(run):
    """Return whether a loop that was called allocates memory."""
    text = "".join(run.machine.inspect_llvm().values())
    assert "define" in text
    return re.search(r"call .*NRT_(MemInfo_alloc|Allocate)", text) is not None


# ---- a model, and bodies
def swaying(t, q, m, body, params):
    """A top whose weight sways, and is undefined for a while: numbers = (strength, gap)."""
    (strength, (gap_begins, gap_ends)), _ = params
    strength = strength + 0.1 * sin(3.0 * t)
    strength = nan if gap_begins < t < gap_ends else strength
    return cross(vertical(q), to_principal_axes((0.0, 0.0, strength), body))


TOP = Model(name="top", torque=swaying, potential=None)
NEVER = (1e9, 1e9)  # a gap that no test reaches


def random_vector(rng, size=3, scale=1.0):
    return tuple((scale * rng.normal(size=size)).tolist())


def random_unit(rng):
    q = rng.normal(size=4)
    return tuple((q / np.linalg.norm(q)).tolist())


def random_state(rng):
    return random_unit(rng), random_vector(rng, scale=2.0)


def random_body(rng, aligned=True):
    moments = rng.uniform(1.0, 1.9, 3)
    axes = (1.0, 0.0, 0.0, 0.0) if aligned else random_unit(rng)
    return tuple(moments.tolist()), tuple((1 / moments).tolist()), axes, 2.0, 0.5


TRIPLE_JUMP = mr4.METHOD.weights


# ---- splitting about the principal axes
AXES2, AXES4 = mr2.METHOD, mr4.METHOD


# ---- the same with compensated sums: what each sum lost is carried
def kept(a, lost, change):
    """a + lost + change as a rounded sum, and what it lost (Kahan)."""
    change = change + lost
    total = a + change
    return total, change - (total - a)


def kept_turn(a, b, lost_a, lost_b, s, c1):
    da, db = fma(c1, a, s * b), fma(c1, b, -(s * a))
    a, lost_a = kept(a, lost_a, da)
    b, lost_b = kept(b, lost_b, db)
    return a, b, lost_a, lost_b


def kept_about_1(q, m, lost, f):
    (w, x, y, z), (m1, m2, m3), ((ew, ex, ey, ez), (e1, e2, e3)) = q, m, lost
    s, c1 = sincos1(fma(f, e1, f * m1))
    x, w, ex, ew = kept_turn(x, w, ex, ew, s, c1)
    y, z, ey, ez = kept_turn(y, z, ey, ez, s, c1)
    s, c1 = double_angle(s, c1)
    m2, m3, e2, e3 = kept_turn(m2, m3, e2, e3, s, c1)
    return (w, x, y, z), (m1, m2, m3), ((ew, ex, ey, ez), (e1, e2, e3))


def cycled(q, m, lost):
    """Axes 2, 3, 1 named 1, 2, 3."""
    (w, x, y, z), (m1, m2, m3), ((ew, ex, ey, ez), (e1, e2, e3)) = q, m, lost
    return (w, y, z, x), (m2, m3, m1), ((ew, ey, ez, ex), (e2, e3, e1))


def kept_turned(h, q, m, lost, a):
    """The turns of ``mr2``: five about axis 1, the axes renamed in between."""
    f1, f2, f3 = h / 4 * a[0], h / 4 * a[1], h / 2 * a[2]
    q, m, lost = cycled(*kept_about_1(q, m, lost, f1))
    q, m, lost = cycled(*kept_about_1(q, m, lost, f2))
    q, m, lost = cycled(*cycled(*kept_about_1(q, m, lost, f3)))
    q, m, lost = cycled(*cycled(*kept_about_1(q, m, lost, f2)))
    return kept_about_1(q, m, lost, f1)


def kept_kick(m, lost, f, n):
    eq, (e1, e2, e3) = lost
    m1, e1 = kept(m[0], e1, f * n[0])
    m2, e2 = kept(m[1], e2, f * n[1])
    m3, e3 = kept(m[2], e3, f * n[2])
    return (m1, m2, m3), (eq, (e1, e2, e3))


def compensated_start(t, h, state, body, params):
    q, m = state
    return torque(t, q, m, body, params), ((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def compensated_step(t, h, state, carry, body, params):
    (q, m), (n, lost) = state, carry
    m, lost = kept_kick(m, lost, h / 2, n)
    q, m, lost = kept_turned(h, q, m, lost, body[1])
    n = torque(t + h, q, m, body, params)
    m, lost = kept_kick(m, lost, h / 2, n)
    return (q, m), (n, lost)


COMPENSATED = replace(
    AXES2,
    name="compensated",
    start=compensated_start,
    step=compensated_step,
    width=8,
)


# ---- six degrees of freedom: the state is (q, m, x, p), the model a wrench
def wrench(t, q, m, x, p, body, params):
    """Stub: (torque in body axes, force in inertial axes)."""
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def motion_start(t, h, state, body, params):
    q, m, x, p = state
    return wrench(t, q, m, x, p, body, params)


def motion_step(t, h, state, carry, body, params):
    """As ``mr2``; the place drifts with p/mass while the body turns."""
    q, m, x, p = state
    m, p = add_scaled(m, h / 2, carry[0]), add_scaled(p, h / 2, carry[1])
    x = add_scaled(x, h * body[4], p)
    q, m, _ = turns(h, q, m, (), body[1])
    carry = wrench(t + h, q, m, x, p, body, params)
    return (q, add_scaled(m, h / 2, carry[0]), x, add_scaled(p, h / 2, carry[1])), carry


def spring(t, q, m, x, p, body, params):
    """A spring from the inertial origin to a point of the body: numbers = (arm, stiffness)."""
    (arm, stiffness), _ = params
    force = multiply(-stiffness, add(x, to_inertial(q, arm)))
    return cross(arm, to_body(q, force)), force


MOTION = replace(
    AXES2,
    name="motion",
    start=bind(motion_start, {wrench: spring}),
    step=bind(motion_step, {wrench: spring}),
)


# ---- two steps: Adams and Bashforth's formula on the rates of m and q
def rates(t, state, body, params):
    q, m = state
    return add(gyroscopic(m, body[1]), torque(t, q, m, body, params)), scale(body[1], m)


def adams_start(t, h, state, body, params):
    return rates(t, state, body, params)


def adams_step(t, h, state, carry, body, params):
    """3/2 of the rates here less 1/2 of those before; the first step is Euler's."""
    (q, m), (rate, omega) = state, carry
    new_rate, new_omega = rates(t, state, body, params)
    psi = multiply(h, add_scaled(new_omega, 0.5, subtract(new_omega, omega)))
    m = add_scaled(m, h, add_scaled(new_rate, 0.5, subtract(new_rate, rate)))
    c1, v = exp1(psi)
    return (product1(q, c1, v), m), (new_rate, new_omega)


ADAMS2 = Method(
    name="adams2",
    title="Adams and Bashforth, two steps",
    order=2,
    references=(),
    symmetric=False,
    start=adams_start,
    step=adams_step,
)


# ---- adaptive: Heun's step with Euler's inside
def counting_start(t, h, state, body, params):
    return (0.0,)


def heun_trial(t, h, state, carry, body, params, tolerance):
    """The carry counts the steps that were accepted."""
    q, m = state
    rate, omega = rates(t, state, body, params)
    c1, v = exp1(multiply(h, omega))
    euler = product1(q, c1, v), add_scaled(m, h, rate)
    rate2, omega2 = rates(t + h, euler, body, params)
    off_psi = multiply(h / 2, subtract(omega2, omega))
    off_m = multiply(h / 2, subtract(rate2, rate))
    c1, v = exp1(add_scaled(off_psi, h, omega))
    new = product1(q, c1, v), add(euler[1], off_m)
    square = dot(off_psi, off_psi) + dot(off_m, off_m) / dot(m, m)
    error = sqrt(square) / tolerance
    factor = 0.9 / sqrt(error + 1e-12)  # the error of Euler's step is of second order
    return new, (carry[0] + 1.0,), error, max(0.2, min(5.0, factor)), 2


HEUN = Method(
    name="heun",
    title="Heun with Euler inside",
    order=2,
    references=(),
    symmetric=False,
    start=counting_start,
    trial=heun_trial,
)


# ---- bodies in lanes
def packed(method, members):
    """(blocks, slots) of ``members``, each (state, carry, body, params); the tables are shared."""
    rows = [fixed.slots_of(method, *member) for member in members]
    return pack(np.array([flat(row) for row in rows]).T, len(members)), rows[0]


def results(blocks, slots, bodies):
    """(status, iterations, state, carry) of each body, as rows."""
    first, _, last = fixed.places(slots)
    table = unpack(blocks, bodies)
    return np.concatenate([table[fixed.STATUS : fixed.COUNT + 1], table[first:last]]).T
