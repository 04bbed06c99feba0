"""Departures of the variables of Fukushima from constants, and of f from a uniform turn.

    L = L₀ + ΔL,    L_X = L_X0 + ΔL_X, …,    f = f₀ + n (t - t₀) + Δf                  (1)
    Δf' = ΔL/C + r + …,    n + r = L₀/C                                                (2)

with all else in (2) as in ``fukushima``: what the paper integrates.  ΔL is integrated itself, and
nothing is a difference of large numbers.  The angle n (t - t₀) is reduced without rounding
(``kernels/angles``).

After labelling anew the departures are those from the same constants, seen from the new axes.
"""

from fractions import Fraction
from math import sqrt

from polhode._compile import blend, fma, mask
from polhode.contracts import Coordinates, torque
from polhode.formulations import fukushima
from polhode.formulations._labels import label_for, labelled, ordered, suits, unlabelled
from polhode.formulations._parts import inverse
from polhode.formulations.fukushima import angle_of, length, of_angle, rates, third
from polhode.kernels.angles import nominal_angle, two_product
from polhode.kernels.quaternion import to_inertial
from polhode.kernels.vector import add, dot, subtract


def nominal(t, q, m, body):
    """(t₀, f₀/2, L₀, |m₀| - L₀, m₀, the same in inertial axes, (n, n, n), (r, r, r)).

    Each axis may become C.  Not compiled.
    """
    whole = sqrt(dot(m, m))
    square = sum(Fraction(x) ** 2 for x in m)
    rest = float((square - Fraction(whole) ** 2) / (2 * Fraction(whole))) if whole > 0.0 else 0.0
    outside = to_inertial(q, m)
    (n1, r1), (n2, r2), (n3, r3) = (two_product(whole, i) for i in body[1])
    f = fukushima.variables(q, m, outside, whole)[5]
    return t, 0.5 * f, whole, rest, m, outside, (n1, n2, n3), (r1, r2, r3)


def half_spin(t, label, body):
    """Half of f₀ + n (t - t₀)."""
    t0, half, _, _, _, _, n, _ = body[5]
    return nominal_angle(half, 0.5 * ordered(label, n)[2], t, t0)


def whole_variables(y, body):
    """L, L_X, L_Y, L_A, L_B."""
    _, _, whole, _, m, outside, _, _ = body[5]
    (a, b, _), (x, z, _) = labelled(y[6], m), labelled(y[7], outside)
    return whole + y[0], x + y[1], z + y[2], a + y[3], b + y[4]


def components(y, body):
    """(L_A, L_B, L_C), (L_X, L_Y, L_Z) and L."""
    whole, x, z, a, b = whole_variables(y, body)
    return (a, b, third(a, b, whole)), (x, z, third(x, z, whole)), whole


def variables(t, q, whole, m, outside, body):
    """From departures of L and of the momentum in body and in inertial axes."""
    _, _, whole0, _, m0, outside0, _, _ = body[5]
    m, inside = add(m0, m), m
    k, j = label_for(m), label_for(add(outside0, outside))
    inner, outer = labelled(k, m), labelled(j, add(outside0, outside))
    f = angle_of(q, k, j, inner, outer, whole0 + whole) - 2.0 * half_spin(t, k, body)
    (a, b, _), (x, y, _) = labelled(k, inside), labelled(j, outside)
    return whole, x, y, a, b, f, k, j


def enter(t, q, m, body):
    _, _, whole, rest, m0, outside, _, _ = body[5]
    change = subtract(m, m0)
    longer = dot(change, add(m, m0)) * inverse(sqrt(dot(m, m)) + whole) + rest
    return variables(t, q, longer, change, subtract(to_inertial(q, m), outside), body)


def leave(t, y, body):
    inner, outer, whole = components(y, body)
    half = fma(0.5, y[5], half_spin(t, y[6], body))
    return of_angle(half, y[6], y[7], inner, outer, whole), unlabelled(y[6], inner)


def slope(t, y, body, params):
    k, j = y[6], y[7]
    inner, outer, whole = components(y, body)
    half = fma(0.5, y[5], half_spin(t, k, body))
    q, m = of_angle(half, k, j, inner, outer, whole), unlabelled(k, inner)
    n = torque(t, q, m, body, params)
    first, x, b, a, c, f = rates(q, m, inner, outer, whole, k, j, body, n)
    spin = fma(y[0], ordered(k, body[1])[2], ordered(k, body[5][7])[2] + f)  # (2)
    return first, x, b, a, c, spin, 0.0 * k, 0.0 * j


def departed(d, longer, now, before, whole):
    """(Δa, Δb, Δc) from Δa and Δb, without cancellation."""
    a, b = d
    c = longer * (whole + whole - longer) - a * (now[0] + before[0]) - b * (now[1] + before[1])
    near = mask(before[2] > 0.5 * now[2])
    return a, b, blend(near, c * inverse(now[2] + before[2]), now[2] - before[2])


def reset(t, y, body):
    whole, x, z, a, b = whole_variables(y, body)
    if suits(a, b, whole) & suits(x, z, whole):
        return y, False
    inner, outer, _ = components(y, body)
    q, _ = leave(t, y, body)
    _, _, _, _, m0, outside, _, _ = body[5]
    inside = departed((y[3], y[4]), y[0], inner, labelled(y[6], m0), whole)
    beyond = departed((y[1], y[2]), y[0], outer, labelled(y[7], outside), whole)
    m, o = unlabelled(y[6], inside), unlabelled(y[7], beyond)
    return variables(t, q, y[0], m, o, body), True


def error(d, y, body):
    inner, outer, whole = components(y, body)
    turn, change = length(d, inner, outer, whole)
    return turn, change, inner


COORDINATES = Coordinates(
    name="fukushima-departures",
    title="departures of Fukushima's variables",
    numbers=8,
    enter=enter,
    leave=leave,
    slope=slope,
    reset=reset,
    nominal=nominal,
    error=error,
    continuous=True,
    singular=fukushima.COORDINATES.singular,
    references=("fukushima1995",),
)
