"""Every method on dual numbers, in plain Python: steps in which the body turns far.

Implicit steps are then solved slowly, and their derivatives, for a while, not at all.
"""

import math

import numpy as np
import pytest

import polhode as ph
from polhode.compiler.dual import Dual
from polhode.compiler.dual.plain import stripped
from polhode.compiler.tree import flat, like
from polhode.contracts import start
from polhode.loops import attempt, joined
from polhode.loops.tangents import solved_step_with_derivatives
from polhode.methods import METHODS
from support.derivatives import in_plain_python, seeded

MOMENTS = 2.0, 3.0, 4.5
BODY = MOMENTS, (1 / 2, 1 / 3, 1 / 4.5), (1.0, 0.0, 0.0, 0.0), 1.0, 1.0
PARAMS = (1.0, (1.0, 2.0, 5.0)), ()
STATE = (math.cos(0.25), 0.6 * math.sin(0.25), 0.0, 0.8 * math.sin(0.25)), (4.0, 9.0, 45.0)


def top(t, q, omega, params):
    strength, (a, b, c) = params
    w, x, y, z = q
    g1, g2, g3 = 2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z
    return strength * (g2 * c - g3 * b), strength * (g3 * a - g1 * c), strength * (g1 * b - g2 * a)


def steps(h):
    """Two steps of a method from a state."""

    def run(state):
        carry = start(0.0, h, state, BODY, PARAMS)
        state, carry, first, _, _ = attempt(0.0, h, state, carry, BODY, PARAMS)
        state, carry, second, _, _ = attempt(0.05, h, state, carry, BODY, PARAMS)
        return state, first + second

    return run


@pytest.mark.parametrize("name", METHODS)
def test_steps_have_derivatives(name):
    """Against differences of 1e-5."""
    method = METHODS[name]
    model = ph.models.free() if method.free_only else ph.torque(top, PARAMS[0])
    run = steps((0.05, 0.025, 0.025) if isinstance(method.weights[0], tuple) else 0.05)
    plain = joined(run, method, model)
    on_duals = in_plain_python(joined(run, method, model, solved=solved_step_with_derivatives))
    found, failed = on_duals(seeded(STATE))
    assert (stripped(found), failed) == plain(STATE)
    numbers, columns = flat(STATE), []
    for k in range(7):
        ends = []
        for e in (1e-5, -1e-5):
            moved = (x + e * (i == k) for i, x in enumerate(numbers))
            ends.append(np.array(flat(plain(like(STATE, moved))[0])))
        columns.append((ends[0] - ends[1]) / 2e-5)
    right = np.array(columns).T
    slopes = np.array([x.d[:7] if isinstance(x, Dual) else [0.0] * 7 for x in flat(found)])
    assert abs(slopes - right).max() < 5e-9 * abs(right).max()
