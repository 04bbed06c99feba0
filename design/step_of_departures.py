"""Why a step of ``fukushima-departures`` costs more: python design/step_of_departures.py [rounds]

A step of Adams's method on the model Earth, over that in Euler angles, with parts of the slope left
out or replaced.  Some variants are wrong on purpose: they show how little would be gained if a part
cost nothing.

    no second root     the length of the quaternion by a linear function in place of its root
    few rates          the torque enters the rates as it is, without the rotations of (3)
    rows first         the rotations of (3) multiplied before the torque is known
    nothing ahead      what depends on time alone where the torque uses it, after the attitude

All variants take turns, by the CPU time of the thread; the range is that of several groups.
"""

import math
import sys
from dataclasses import replace
from functools import partial

import numpy as np

import polhode as ph
from polhode.bench.timing import round_robin
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind
from polhode.contracts import ahead
from polhode.formulations import fukushima
from polhode.formulations._parts import inverse
from polhode.kernels.trig import double_angle, sincos1

EULERIAN, NAME = "euler-angles", "fukushima-departures"
A_TURN, TURNS, GROUPS = 128, 40, 4
WHOLE = 2 * math.pi  # L of the Earth
LENGTH = WHOLE**3 * math.sqrt(8 * (1 + math.cos(0.40909280422232897)))  # the root, for the Earth
RATE, CONSTANT = 0.5 / LENGTH, 0.5 * LENGTH


def without_second_root(half, inner, outer, whole):
    """``attitude_of`` for an Earth whose L stays where it is."""
    ((a, b, l_c), w1), ((x, y, l_z), w2) = inner, outer
    d, e, u, v = w1 + l_c, whole + w1, w2 + l_z, whole + w2
    r = (d * e) * (u * v)
    p = (w1 * w2) * r
    g = inverse(whole * p)
    f, h = fma(p, RATE, CONSTANT) * (0.25 * g), g * (whole * r)
    s, c1 = sincos1(half)
    c = 1.0 + c1
    w, i = c * fma(v, e, x * a), s * fma(x, e, v * a)
    j, k = c * fma(x, e, -(v * a)), s * fma(v, e, -(x * a))
    m, n = fma(u, d, y * b), fma(u, b, -(y * d))
    o, q = fma(u, d, -(y * b)), fma(u, b, y * d)
    turned = fma(w, m, -(i * n)), fma(w, n, i * m), fma(j, o, k * q), fma(k, o, -(j * q))
    return turned, f, (g * p, h * w2, h * w1), (s, c1)


def few_rates(n, inverses, half, inner, outer, whole, i):
    """``rates`` that are wrong, but wait for all that they need."""
    (a, b, c), _ = inner
    by_whole, u, v = inverses
    (n_a, n_b, n_c), (i, j, k) = n, i
    sine, c1 = double_angle(*half)
    low = b * u
    f = fma(by_whole, c1, (j - k) * (low * low) * whole)
    return n_c, fma(v, 1e-9 * sine, n_a), n_b, fma(k - j, b * c, n_a), fma(i - k, c * a, n_b), f


def rows_first(n, inverses, half, inner, outer, whole, i):
    """``rates`` by rows that are multiplied with the torque at the end."""
    ((a, b, c), w1), ((x, y, z), w2) = inner, outer
    by_whole, u, v = inverses
    i, j, k = i
    low, side, flat, lean = b * u, c * u, w1 * by_whole, a * by_whole
    low2, side2, flat2, lean2 = y * v, z * v, w2 * by_whole, x * by_whole
    sine, c1 = double_angle(*half)
    cosine = 1.0 + c1
    along, across = (lean, flat * low, flat * side), (flat, -(lean * low), -(lean * side))
    m1 = (
        cosine * across[0],
        fma(cosine, across[1], -(sine * side)),
        fma(cosine, across[2], sine * low),
    )
    m2 = (
        sine * across[0],
        fma(sine, across[1], cosine * side),
        fma(sine, across[2], -(cosine * low)),
    )
    p, q, s, t = low2 * lean2, low2 * flat2, lean2 * v, lean * u
    first = combined(flat2, m1, lean2, along)
    second = combined(-p, m1, 1.0, combined(side2, m2, q, along))
    turn = s * m2[0], fma(s, m2[1], -(t * side)), fma(s, m2[2], t * low)
    f = fma(turn[0], n[0], fma(turn[1], n[1], fma(turn[2], n[2], (j - k) * (low * low) * whole)))
    rest = fma(k - j, b * c, n[0]), fma(i - k, c * a, n[1]), f
    return product(along, n), product(first, n), product(second, n), *rest


def combined(f, a, g, b):
    return fma(f, a[0], g * b[0]), fma(f, a[1], g * b[1]), fma(f, a[2], g * b[2])


def product(a, b):
    return fma(a[0], b[0], fma(a[1], b[1], a[2] * b[2]))


def nothing(t, body, params):
    return 0.0, 0.0, 0.0


VARIANTS = {
    "as it is": {},
    "no second root": {fukushima.attitude_of: without_second_root},
    "few rates": {fukushima.rates: few_rates},
    "no second root, few rates": {
        fukushima.attitude_of: without_second_root,
        fukushima.rates: few_rates,
    },
    "rows first": {fukushima.rates: rows_first},
    "nothing ahead": {ahead: nothing},
}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 61
    record, problem = ph.COORDINATES[NAME], ph.celestial.rigid_earth_model()
    forms = {EULERIAN: ph.COORDINATES[EULERIAN], "fukushima": ph.COORDINATES["fukushima"]}
    for number, (name, pieces) in enumerate(VARIANTS.items()):
        settled = replace(record.settled, slope=bind(record.settled.slope, pieces))
        forms[name] = replace(record, name=f"variant-{number}", settled=settled)
    calls = {}
    for name, form in forms.items():
        plan = {"method": "adams", "dt": 1 / A_TURN, "save_every": A_TURN * TURNS}
        solver = ph.prepare(problem, formulation=form, **plan)
        for count in (TURNS, 1):
            calls[name, count] = partial(solver, (0.0, float(count))), A_TURN * (TURNS - 1)
    found = {name: [] for name in forms}
    for _ in range(GROUPS):
        times = round_robin(calls, rounds)
        steps = {n: times[n, TURNS].minimum - times[n, 1].minimum for n in forms}
        for name, ns in steps.items():
            found[name].append(ns / steps[EULERIAN])
    for name, ratios in found.items():
        print(f"{name:27s} {np.min(ratios):.3f} to {np.max(ratios):.3f}")


if __name__ == "__main__":
    main()
