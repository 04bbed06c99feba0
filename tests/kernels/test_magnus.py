"""The Magnus series: the order of each formula, with 50 digits, and its compiled form."""

import mpmath as mp
import numpy as np
import pytest

from polhode.kernels import magnus
from support.precise import ROUNDING, distance, hamilton, to_mp, unit_quaternion

FORMULAS = {2: magnus.magnus2, 4: magnus.magnus4, 6: magnus.magnus6, 8: magnus.magnus8}
AXES = [to_mp((0.7, -0.2, 0.4)), to_mp((-0.1, 0.9, 0.3)), to_mp((0.5, 0.2, -0.8))]
START = mp.mpf("0.3")


def angles(t):
    return t, mp.sin(1.5 * t) + t * t / 3, mp.cos(2 * t)


def speeds(t):
    return mp.mpf(1), 1.5 * mp.cos(1.5 * t) + 2 * t / 3, -2 * mp.sin(2 * t)


def exp(psi):
    c1, v = unit_quaternion(psi)
    return (1 + c1, *v)


def conjugate(q):
    return (q[0], *(-x for x in q[1:]))


def attitude(t):
    """Three turns, one after the other."""
    q = to_mp((1.0, 0.0, 0.0, 0.0))
    for angle, axis in zip(angles(t), AXES, strict=True):
        q = hamilton(q, exp(tuple(angle * x for x in axis)))
    return q


def body_rate(t):
    """Each turn adds its own rate, seen from the axes after it."""
    rate = (mp.mpf(0),) * 3
    for angle, speed, axis in zip(angles(t), speeds(t), AXES, strict=True):
        turn = exp(tuple(angle * x for x in axis))
        rate = hamilton(hamilton(conjugate(turn), (mp.mpf(0), *rate)), turn)[1:]
        rate = tuple(r + speed * x for r, x in zip(rate, axis, strict=True))
    return rate


def nodes(order):
    """Gauss's: the roots of Legendre's polynomial."""
    near = np.polynomial.legendre.leggauss(order // 2)[0]
    return [mp.findroot(lambda x: mp.legendre(order // 2, x), mp.mpf(float(x))) / 2 for x in near]


def error(order, h):
    rates = [body_rate(START + h / 2 + h * x) for x in nodes(order)]
    psi = FORMULAS[order](h, *rates)
    found = hamilton(attitude(START), exp(psi))
    return mp.norm(hamilton(conjugate(found), attitude(START + h))[1:])


def test_the_motion_has_this_rate():
    h = mp.mpf(10) ** -15
    turned = hamilton(conjugate(attitude(START)), attitude(START + h))
    assert distance([2 * x / h for x in turned[1:]], body_rate(START)) < 1e-13


@pytest.mark.parametrize("order", FORMULAS)
def test_one_step_errs_by_a_power_more_than_the_order(order):
    coarse, fine = error(order, mp.mpf("0.05")), error(order, mp.mpf("0.025"))
    assert abs(mp.log(coarse / fine, 2) - (order + 1)) < 0.1


def test_the_nodes_are_those_of_gauss():
    found = [magnus.NODES4, magnus.NODES6, magnus.INNER8, magnus.OUTER8]
    right = [nodes(4)[-1], nodes(6)[-1], nodes(8)[2], nodes(8)[3]]
    assert distance(found, right) < 2 * ROUNDING


@pytest.mark.parametrize("order", FORMULAS)
def test_a_constant_rate_gives_its_own_multiple(order, at_speed):
    w = 0.3, -0.7, 1.1
    psi = at_speed(FORMULAS[order])(0.25, *[w] * (order // 2))
    assert psi == tuple(0.25 * x for x in w)


@pytest.mark.parametrize("order", FORMULAS)
def test_rounding_is_small(order, at_speed):
    h = mp.mpf("0.25")
    rates = [tuple(map(float, body_rate(START + h / 2 + h * x))) for x in nodes(order)]
    right = FORMULAS[order](h, *map(to_mp, rates))
    found = at_speed(FORMULAS[order])(0.25, *rates)
    assert distance(found, right) < 8 * ROUNDING
