"""Torques and forces of potentials on dual numbers: second derivatives, values of the same bits."""

import math

import mpmath as mp
import pytest

import polhode as ph
from polhode import contracts
from polhode.compiler.dual import ON_DUAL, Dual, plain
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind, flat, like
from polhode.kernels.quaternion import product
from polhode.kernels.rules import RULES
from polhode.loops import model_pieces
from support.bits import bits_of
from support.derivatives import seeded

Q, X, NUMBERS = (0.8, 0.3, -0.1, 0.5), (0.4, -1.2, 0.7), (1.3, (1.0, 2.0, 5.0))
BODY = (2.0, 3.0, 4.5), (1 / 2, 1 / 3, 1 / 4.5), (1.0, 0.0, 0.0, 0.0), 2.0, 0.5
STILL = (0.0, 0.0, 0.0)


def turning(t, q, params):
    strength, (a, b, c) = params
    w, x, y, z = q
    g1, g2, g3 = 2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z
    return strength * (a * g1 + b * g2 + c * g3) + 0.1 * math.sin(2 * g1) * math.exp(g2) * w**3


def moving(t, x, q, params):
    off = x[0] * x[0] + 2.0 * x[1] * x[1] + x[2] ** 4
    return turning(t, q, params) * math.sqrt(1.0 + off) + x[0] * q[1] / (2.0 + math.cos(x[2]))


def energy(function, q, x, numbers, turn=STILL, shift=STILL):
    """The potential on mpmath numbers after a small turn and shift of the body."""
    half = [mp.mpf(a) / 2 for a in turn]
    size = mp.sqrt(sum(a * a for a in half))
    unit = mp.cos(size), *(a * (mp.sin(size) / size if size else 1) for a in half)
    q, x = product(q, unit), tuple(a + b for a, b in zip(x, shift, strict=True))
    given = (0.0, q, numbers) if function is turning else (0.0, x, q, numbers)
    precise = {getattr(math, name): getattr(mp, name) for name in ("sin", "cos", "exp", "sqrt")}
    return bind(function, precise)(*given)


def slopes(function, *given):
    """The torque and the force, minus the derivatives along turns and shifts, by differences."""
    e = mp.mpf(10) ** -15
    found = []
    for k in range(3 if function is turning else 6):
        step = [e * (i == k) for i in range(6)]
        back = [-a for a in step]
        ends = (energy(function, *given, s[:3], s[3:]) for s in (back, step))
        found.append((next(ends) - next(ends)) / (2 * e))
    return found


@pytest.fixture
def fifty_digits():
    with mp.workdps(50):
        yield


@pytest.mark.usefixtures("fifty_digits")
@pytest.mark.parametrize("function", [turning, moving])
@pytest.mark.parametrize("speed", ["plain", "compiled"])
def test_derivatives_of_torque_and_force(function, speed):
    model = ph.potential(function, {"strength": 1.3, "centre": (1.0, 2.0, 5.0)})

    def piece(model):
        return model_pieces(model, True)[contracts.wrench]

    def wrench(q, x, numbers):
        return on_duals(0.0, q, STILL, x, STILL, BODY, (numbers, ()))

    on_duals = bind(piece(model.for_duals()), RULES)
    on_duals = compiled(on_duals) if speed == "compiled" else bind(on_duals, ON_DUAL)
    given = Q, X, NUMBERS
    found = wrench(*seeded(given))
    alone = piece(model) if speed == "plain" else compiled(piece(model))
    values = alone(0.0, Q, STILL, X, STILL, BODY, (NUMBERS, ()))
    assert bits_of(plain.stripped(found)) == bits_of(values)

    numbers, rows = flat(given), flat(found)
    e = mp.mpf(10) ** -15
    for k in range(len(numbers)):
        ends = []
        for sign in (1, -1):
            moved = (mp.mpf(a) + sign * e * (i == k) for i, a in enumerate(numbers))
            ends.append(slopes(function, *like(given, moved)))
        right = [float((a - b) / (2 * e)) for a, b in zip(*ends, strict=True)]
        slope = [x.d[k] if isinstance(x, Dual) else 0.0 for x in rows[: len(right)]]
        assert slope == pytest.approx(right, rel=1e-12, abs=1e-12), k


def test_only_parameters_may_have_derivatives():
    """The turns of the torque are then still directions of their own."""
    model = ph.potential(turning, NUMBERS)
    torque = bind(bind(model_pieces(model.for_duals(), True)[contracts.torque], RULES), ON_DUAL)
    strength = Dual(1.3, (1.0, 0.0, 0.0, 0.0))
    found = torque(0.0, Q, STILL, BODY, ((strength, NUMBERS[1]), ()))
    ends = [
        model_pieces(model, True)[contracts.torque](0.0, Q, STILL, BODY, ((s, NUMBERS[1]), ()))
        for s in (2.3, 1.3)
    ]
    for x, a, b in zip(found, *ends, strict=True):
        assert x.x == b
        assert x.d[0] == pytest.approx(a - b, rel=1e-12)


def test_sums_of_models_have_them():
    """A sum of a potential and a top, and a model that is driven."""
    model = ph.potential(turning, NUMBERS) + ph.models.heavy_top(1.0)
    torque = bind(bind(model_pieces(model.for_duals(), True)[contracts.torque], RULES), ON_DUAL)
    params = ((NUMBERS, (1.0,)), ((), ()))
    found = torque(0.0, seeded(Q), STILL, BODY, params)
    assert plain.stripped(found) == model_pieces(model, True)[contracts.torque](
        0.0, Q, STILL, BODY, params
    )
    assert all(any(x.d) for x in found)
