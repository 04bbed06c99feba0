"""Kernels on dual numbers: the values they have without, and derivatives against differences.

Differences are those of the same trees on mpmath numbers, at 50 digits, and exact to 30; where the
trees themselves are cut off at sixteen digits, closed forms.
"""

import math

import mpmath as mp
import pytest

from polhode.compiler.dual import Dual, plain
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind, flat, spread
from polhode.kernels import (
    angles,
    elliptic,
    euler_flow,
    inertia,
    kepler,
    linear_rate,
    magnus,
    moved,
    newton,
    quaternion,
    so3,
    sums,
    trig,
    turns,
    vector,
)
from polhode.kernels.rules import RULES
from support.bits import bits_of
from support.derivatives import (
    STEP,
    by_differences,
    derivatives,
    error,
    in_plain_python,
    on_rows,
    precise,
    seeded,
)
from support.precise import exact_fma

NIL, U, V, W = (0.0, 0.0, 0.0), (0.2, 0.5, -0.4), (1.1, -0.3, 0.6), (0.3, -1.2, 0.7)
Q = 0.8040302522073697, 0.10050378152592121, -0.502518907629606, 0.30151134457776363
ONE, HALF_TURN = (1.0, 0.0, 0.0, 0.0), (-1.0, 1e-9, 0.0, 0.0)


def round_trip(q):
    return quaternion.of_columns(*quaternion.columns(quaternion.to_unit_length(q)))


def momentum_after(t, m, moments):
    inverse = 1.0 / moments[0], 1.0 / moments[1], 1.0 / moments[2]
    return euler_flow.momentum(t, euler_flow.orbit(m, moments, inverse))


PLACES = {
    so3.exp1: [
        (U,),
        (NIL,),
        ((1e-9, 0.0, 2e-9),),
        ((math.pi, 0.0, 0.0),),
        ((2 * math.pi, 0.0, 0.0),),
    ],
    so3.exp: [((1e-160, 0.0, 0.0),), ((3.0, 1.0, -1.0),)],
    so3.log: [(Q,), (ONE,), (HALF_TURN,), ((-0.6, 0.0, 0.8, 0.0),)],
    so3.cayley1: [(U,), (NIL,)],
    so3.alpha: [(0.0,), (1e-6,), (0.2,), (0.26,), (30.0,)],
    so3.beta: [(0.0,), (1e-6,), (0.24,), (30.0,)],
    so3.gamma: [(0.0,), (0.24,), (20.0,)],
    so3.dexp: [(U, V), (NIL, V), ((1e-7, 1e-7, 0.0), V)],
    so3.dexpinv: [(U, V), (NIL, V)],
    so3.exp1_and_gamma: [(U,), (NIL,), ((1.0, 1.0, 1.0),)],
    so3.turned_back_jacobian: [(U, V)],
    quaternion.product1: [(Q, -0.1, U), (Q, 0.0, NIL)],
    quaternion.turned_back: [(-0.1, U, W)],
    quaternion.to_body: [(Q, U)],
    quaternion.to_inertial: [(Q, U)],
    quaternion.vertical: [(Q,)],
    quaternion.to_unit_length: [(Q,)],
    round_trip: [(Q,), *(((*[0.0] * k, 1.0, *[0.0] * (3 - k)),) for k in range(4))],
    vector.solve3: [((U, V, W), (0.8, 0.1, -0.5))],
    trig.sincos1: [(0.0,), (0.4,), (100.0,), (math.pi,), (-3.0,)],
    trig.sincos1_of_turn: [(0.4,), (100.0,)],
    trig.sincos1_of_reduced: [(0.4,), (3.1,)],
    trig.sincos1_of_short_turn: [(0.0,), (3.1,)],
    trig.sin: [(2.0,)],
    trig.cos: [(0.0,), (2.0,)],
    trig.double_angle: [(0.3, -0.1)],
    trig.half_angle: [(0.0,), (0.3,), (9.0,)],
    kepler.eccentric_anomaly: [(0.0, 0.3), (1.0, 0.0), (2.0, 0.9), (10.0, 0.5), (-3.0, 0.99)],
    turns.turn_1: [(Q, W, (), 0.3), (Q, NIL, (), 0.0)],
    turns.kept_turn_2: [(Q, W, ((0.0, *NIL), NIL), 0.3)],
    moved.rotated: [(Q, (), -0.1, U)],
    moved.rotated_to_unit: [(Q, (), -0.1, U)],
    moved.rotated_and_kept: [(Q, (0.0, *NIL), -0.1, U)],
    sums.added3: [(U, NIL, V)],
    sums.two_sum: [(1.0, 0.3)],
    magnus.magnus4: [(0.1, U, V)],
    magnus.magnus6: [(0.1, U, V, W)],
    magnus.magnus8: [(0.1, U, V, W, (0.8, 0.1, -0.5)), (0.0, U, U, U, U)],
    inertia.gyroscopic: [(W, (0.5, 0.5, 0.2))],
    angles.two_product: [(1.3, 2.7)],
    angles.reduced_angle: [(1.0, 2.0, 30.0)],
    angles.phase_at: [(1.0, 2.0, 30.0)],
    linear_rate.by_powers: [(0.1, Q, 1.0, 2.0, 0.5)],
    linear_rate.by_angle: [(0.1, Q, 2.0, 0.5)],
    newton.corrected: [(U, 1.0, W, (U, V, W), 1.0)],
    elliptic.sn_cn_dn: [
        *((0.7, 0.3), (0.0, 0.3), (1e-9, 0.3), (3.0, 0.01), (20.0, 0.3), (-5.0, 1.7)),
        *((0.5, 1.0), (1e-3, 1e-3), (9.0, 1e-8)),
    ],
    elliptic.elliptic_f: [(0.7, 0.3), (0.0, 0.3), (3.0, 0.3), (-8.0, 0.01), (1.5, 0.5), (4.0, 1.5)],
    elliptic.complete_k: [(0.3,), (1e-6,), (1.0,)],
    elliptic.rf: [(0.3, 0.5, 1.2), (1.0, 1.0, 1.0)],
    elliptic.rc: [(0.3, 0.5), (0.5, 0.3), (1.0, 1.0)],
    elliptic.rd: [(0.3, 0.5, 1.2), (1.0, 1.0, 1.0)],
    elliptic.rj: [(0.3, 0.5, 1.2, 0.8), (1.0, 1.0, 1.0, 1.0)],
    momentum_after: [(3.0, W, (2.0, 3.0, 4.5)), (5.0, W, (2.5, 0.9, 3.0))],
}


@pytest.mark.parametrize("kernel", PLACES, ids=lambda kernel: kernel.__name__)
def test_derivatives_are_those_of_differences(kernel):
    on_duals = in_plain_python(kernel)
    for args in PLACES[kernel]:
        found = on_duals(*seeded(args))
        assert bits_of(plain.stripped(found)) == bits_of(kernel(*args)), args
        count = len(flat(args))
        gap = error(derivatives(found, count), by_differences(kernel, args))
        assert gap < 4e-15, args


@pytest.mark.parametrize("kernel", PLACES, ids=lambda kernel: kernel.__name__)
def test_compiled_code_has_the_same_bits(kernel, monkeypatch):
    monkeypatch.setattr(plain, "fma", exact_fma)
    args = PLACES[kernel][0]
    on_duals = bind(in_plain_python(kernel), {fma: exact_fma})
    compiled = on_rows(bind(kernel, RULES), seeded(args), on_duals(*seeded(args)))
    alone = on_rows(kernel, args, kernel(*args))
    for args in PLACES[kernel]:
        found = compiled(*seeded(args))
        assert bits_of(plain.stripped(found)) == bits_of(alone(*args)), args
        assert bits_of(spread(found)) == bits_of(spread(on_duals(*seeded(args)))), args


@pytest.mark.parametrize(
    ("u", "mc"), [(0.0, 0.0), (0.7, 0.0), (-3.0, 0.0), (1e-9, 0.0), (5.0, 0.2), (-20.0, 0.9)]
)
def test_elliptic_functions_on_the_separatrix_and_beyond(u, mc):
    """Against mpmath's own; at mc = 0 the slope along mc is that of Abramowitz & Stegun 16.15."""
    sn_cn_dn = in_plain_python(elliptic.sn_cn_dn)
    found = [x.d[:2] for x in sn_cn_dn(*seeded((u, mc)))]
    names = "sn", "cn", "dn"

    def exact(u, mc):
        return [mp.ellipfun(name, u, m=1 - mc) for name in names]

    if mc > 0.0:
        right = zip(
            mp.diff(lambda x: mp.matrix(exact(x, mp.mpf(mc))), u),
            mp.diff(lambda x: mp.matrix(exact(mp.mpf(u), x)), mc),
            strict=True,
        )
    else:
        s, c, t = mp.sinh(u), mp.cosh(u), mp.tanh(u)
        along_u = 1 / c**2, -t / c, -t / c
        along_mc = (s * c - u) / c**2 / 4, -t * (s * c - u) / c / 4, t * (s * c + u) / c / 4
        right = zip(along_u, along_mc, strict=True)
    assert error(found, [list(row) for row in right]) < 1e-14


def test_rules_hold_for_duals_of_duals():
    """The second derivative of the sine."""
    sine = in_plain_python(trig.sincos1)
    a = Dual(Dual(0.7, (1.0,)), (Dual(1.0, (0.0,)),))
    s, c1 = sine(a)
    assert (s.x.x, s.x.d[0], s.d[0].x) == (trig.sincos1(0.7)[0], 1 + c1.x.x, 1 + c1.x.x)
    assert s.d[0].d[0] == -s.x.x
    assert c1.d[0].d[0] == -(1 + c1.x.x)


SPECIAL = [
    *(
        (NIL, (2.0, 3.0, 4.5)),
        ((0.0, 1.3, 0.0), (2.0, 3.0, 4.5)),
        ((1.3, 0.0, 0.0), (3.0, 2.0, 4.5)),
    ),
    *((W, (2.0, 2.0, 2.0)), (W, (2.0, 2.0, 3.0)), ((0.0, 0.0, -2.0), (2.0, 3.0, 3.0))),
    ((0.3, 0.0, 0.0), (2.0, 2.0, 3.0)),
]


@pytest.mark.parametrize(("m", "moments"), SPECIAL)
def test_orbits_that_are_points_have_derivatives(m, moments):
    """At rest, about an axis, of a sphere: along directions in which it does not stay so."""
    on_duals = in_plain_python(momentum_after)
    found = on_duals(3.0, *seeded((m, moments)))
    assert bits_of(plain.stripped(found)) == bits_of(momentum_after(3.0, m, moments))
    rows = derivatives(found, 6)
    precisely = precise(momentum_after)
    for row in ((0.3, -0.5, 0.8), (0.9, 0.4, 0.2), (-0.2, 0.7, 0.6)):
        way = [*row, 0.11, -0.17, 0.05]
        ends = []
        for sign in (1, -1):
            moved = [mp.mpf(x) + sign * STEP * u for x, u in zip((*m, *moments), way, strict=True)]
            ends.append(precisely(mp.mpf(3), tuple(moved[:3]), tuple(moved[3:])))
        for k, (a, b) in enumerate(zip(*ends, strict=True)):
            slope = sum(d * u for d, u in zip(rows[k], way, strict=True))
            assert slope == pytest.approx(float((a - b) / (2 * STEP)), rel=1e-13, abs=2e-14)
