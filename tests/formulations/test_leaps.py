"""Leaps: ``before`` + step times the slope, whether or not the sum is inside its products."""

import math

import mpmath as mp
import pytest

import polhode as ph
from polhode import loops
from polhode.compiler.four import ON_FOUR
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind
from polhode.contracts import leap, pace, slope
from polhode.contracts.company import company_of
from polhode.formulations import FORMULATIONS
from polhode.formulations.equations import equations_of
from support.precise import exact_fma

BODY = (1.0, 1.6, 2.2), (1.0, 1 / 1.6, 1 / 2.2), (1.0, 0.0, 0.0, 0.0), 2.0, 0.5
FIRST = (0.8, 0.36, -0.48, 0.0), (1.0, 9.6, 4.4), (0.3, -0.2, 0.9), (1.0, 2.0, -1.5)


def push(t, q, omega, params):
    return params[0] * q[1] - 0.1 * omega[0], math.cos(t), q[0] * q[3]


def pull(t, x, v, q, omega, params):
    return -params[0] * x[0], -x[1] - 0.1 * v[1], math.sin(t)


def ring(t, q, omega, y, params):
    slip = params[0] * (omega[0] - y)
    return (-slip, 0.0, 0.0), slip


MODELS = {
    "free": ph.models.free(),
    "heavy top": ph.models.heavy_top(2.0, centre=(0.3, -0.4, 1.0)),
    "torque": ph.torque(push, (0.7,), frame="body"),
    "force": ph.torque(push, (0.7,), frame="body") + ph.force(pull, (0.4,), frame="inertial"),
    "ring": ph.coupled(ring, variables={"wheel": 0.2}, params=(0.4,)),
}


def parts(name, model):
    moving = model.moves
    company = None if model.coupled is None else company_of(model)
    equations = equations_of(FORMULATIONS[name], moving, company)
    state = FIRST if moving else FIRST[:2]
    if company is not None:
        state = (*state, model.variables)
    return equations, loops.model_pieces(model, True), equations.enter(0.3, state, BODY)


def onward(t, y, before, step, body, params):
    return leap(t, y, before, step, pace(step, body), body, params)


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_leap_is_a_sum(name, model):
    """To rounding; exactly where the formulation has none of its own."""
    equations, own, y = parts(name, model)
    layers = equations.pieces, own
    before, step = tuple(0.9 * v + 0.01 for v in y), 0.037
    found = bind(loops.bound(onward, *layers), {fma: exact_fma})(
        0.3, y, before, step, BODY, model.params
    )
    rates = bind(loops.bound(slope, *layers), {fma: exact_fma})(0.3, y, BODY, model.params)
    right = [exact_fma(step, rate, b) for rate, b in zip(rates, before, strict=True)]
    assert len(found) == len(y)
    for a, b in zip(found, right, strict=True):
        assert abs(a - b) <= (4e-16 if leap in equations.pieces else 0.0) * (1.0 + abs(b))


def test_the_quaternion_has_a_leap_beside_everything():
    for model in MODELS.values():
        assert leap in parts("quaternion", model)[0].pieces


def test_other_numbers():
    """A leap in mpmath numbers is exact."""
    equations, own, y = parts("quaternion", MODELS["heavy top"])
    with mp.workdps(50):
        y = tuple(map(mp.mpf, y))
        before, step = tuple(v / 3 for v in y), mp.mpf(1) / 7
        body = tuple(tuple(map(mp.mpf, row)) for row in BODY[:3])
        layers = equations.pieces, own
        given = body, MODELS["heavy top"].params
        found = bind(loops.bound(onward, *layers), ON_FOUR)(0, y, before, step, *given)
        rates = bind(loops.bound(slope, *layers), ON_FOUR)(0, y, *given)
        for a, rate, b in zip(found, rates, before, strict=True):
            assert abs(a - (b + step * rate)) < mp.mpf(10) ** -48
