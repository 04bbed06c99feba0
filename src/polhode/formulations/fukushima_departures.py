"""Departures of Fukushima's variables from constants, and of f from a uniform rotation.

    L = L₀ + ΔL,    L_X = L_X0 + ΔL_X, …,    f = f₀ + n (t - t₀) + Δf                  (1)
    Δf' = ΔL/C + r + …,    n + r = L₀/C                                                (2)

and otherwise as in ``fukushima``: the variables that the paper integrates.  ΔL itself is
integrated, so nothing is a difference of large numbers.  The angle n (t - t₀) is reduced without
rounding (``kernels/angles``).

After a change of labels the departures are from the same constants, in the new axes.
"""

from dataclasses import replace
from math import sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.contracts import Settled, inverse_moments, nominal_motion
from polhode.formulations import fukushima
from polhode.formulations._labels import label_for, labelled, ordered, suits, unlabelled
from polhode.formulations._parts import excess, inverse
from polhode.formulations.fukushima import (
    angle_of,
    frame,
    labelled_rates,
    length,
    seen,
    settled_rates,
    third,
    tilt,
)
from polhode.kernels.angles import cycle, phase_at, reduced, two_product
from polhode.kernels.quaternion import to_inertial
from polhode.kernels.vector import add, dot, subtract


def nominal(t, q, m, body):
    """Return (L₀, |m₀| - L₀, m₀, m₀ in inertial axes, f/2 at t = 0 as a sum of two, n/2, r).

    The last four are three numbers each, since any axis may become C.  Not compiled.
    """
    whole = sqrt(dot(m, m))
    rest = 0.5 * excess(m, whole) / whole if whole > 0.0 else 0.0
    outside = to_inertial(q, m)
    (n1, r1), (n2, r2), (n3, r3) = (two_product(whole, i) for i in inverse_moments(body))
    half = 0.5 * fukushima.variables(q, m, outside, whole)[5]
    (h1, l1), (h2, l2), (h3, l3) = (phase_at(half, 0.5 * n, t) for n in (n1, n2, n3))
    spin = (h1, h2, h3), (l1, l2, l3), (0.5 * n1, 0.5 * n2, 0.5 * n3), (r1, r2, r3)
    return whole, rest, m, outside, *spin


def spin_of(label, body):
    """Return (half of f at t = 0 as two floats, n/2, r)."""
    _, _, _, _, high, low, n, rest = nominal_motion(body)
    return (
        ordered(label, high)[2],
        ordered(label, low)[2],
        ordered(label, n)[2],
        ordered(label, rest)[2],
    )


def half_angle(t, spin):
    """Return half of f₀ + n (t - t₀)."""
    high, low, n, _ = spin
    return reduced(high, n, t, low)


def constants_of(y, body):
    """Return the initial L, L_X, L_Y, L_A, L_B."""
    whole, _, m, outside, _, _, _, _ = nominal_motion(body)
    (a, b, _), (x, z, _) = labelled(y[6], m), labelled(y[7], outside)
    return whole, x, z, a, b


def whole_variables(y, constants):
    """Return L, L_X, L_Y, L_A, L_B."""
    whole, x, z, a, b = constants
    return whole + y[0], x + y[1], z + y[2], a + y[3], b + y[4]


def components(y, body):
    """Return (L_A, L_B, L_C), (L_X, L_Y, L_Z) and L."""
    whole, x, z, a, b = whole_variables(y, constants_of(y, body))
    return (a, b, third(a, b, whole)), (x, z, third(x, z, whole)), whole


def variables(t, q, whole, m, outside, body):
    """Return the variables from departures of L and of the momentum in body and inertial axes."""
    whole0, _, m0, outside0, _, _, _, _ = nominal_motion(body)
    m, inside = add(m0, m), m
    k, j = label_for(m), label_for(add(outside0, outside))
    inner, outer = labelled(k, m), labelled(j, add(outside0, outside))
    f = angle_of(q, k, j, inner, outer, whole0 + whole) - 2.0 * half_angle(t, spin_of(k, body))
    (a, b, _), (x, y, _) = labelled(k, inside), labelled(j, outside)
    return whole, x, y, a, b, f, k, j


def enter(t, q, m, body):
    whole, rest, m0, outside, _, _, _, _ = nominal_motion(body)
    change = subtract(m, m0)
    longer = dot(change, add(m, m0)) * inverse(sqrt(dot(m, m)) + whole) + rest
    return variables(t, q, longer, change, subtract(to_inertial(q, m), outside), body)


def leave(t, y, body):
    whole, x, z, a, b = whole_variables(y, constants_of(y, body))
    inner, outer = tilt(a, b, whole), tilt(x, z, whole)
    half = fma(0.5, y[5], half_angle(t, spin_of(y[6], body)))
    return seen(half, inner, outer, whole, y)


# ---- between resets
def numbers(y, body):
    """Return ``frame``, ``constants_of`` and ``spin_of``."""
    return frame(y[6], y[7], body), constants_of(y, body), spin_of(y[6], body)


def moving(t, y, here, body, params):
    """Return the slope of all variables except the labels.

    The nominal angle for the force may have one rounding more than in ``leave``.
    """
    names, constants, (high, _, n, rest) = here
    whole, x, z, a, b = whole_variables(y, constants)
    inner, outer = tilt(a, b, whole), tilt(x, z, whole)
    half = fma(0.5, y[5], high + cycle(n, t))
    r = settled_rates(t, half, inner, outer, whole, names, body, params)
    return *r[:5], fma(y[0], names[3][2], rest + r[5])  # (2)


def slope(t, y, body, params):
    k, j, spin = y[6], y[7], spin_of(y[6], body)
    whole, x, z, a, b = whole_variables(y, constants_of(y, body))
    inner, outer = tilt(a, b, whole), tilt(x, z, whole)
    half = fma(0.5, y[5], half_angle(t, spin))
    r = labelled_rates(t, half, inner, outer, whole, y, body, params)
    f = fma(y[0], ordered(k, inverse_moments(body))[2], spin[3] + r[5])  # (2)
    return *r[:5], f, 0.0 * k, 0.0 * j


def stays(y, here):
    whole, x, z, a, b = whole_variables(y, here[1])
    return suits(a, b, whole) & suits(x, z, whole)


def departed(d, longer, now, before, whole):
    """Return (Δa, Δb, Δc) from Δa and Δb, without cancellation."""
    a, b = d
    c = longer * (whole + whole - longer) - a * (now[0] + before[0]) - b * (now[1] + before[1])
    near = mask(before[2] > 0.5 * now[2])
    return a, b, blend(near, c * inverse(now[2] + before[2]), now[2] - before[2])


def reset(t, y, body):
    whole, x, z, a, b = whole_variables(y, constants_of(y, body))
    if suits(a, b, whole) & suits(x, z, whole):
        return y, False
    inner, outer, _ = components(y, body)
    q, _ = leave(t, y, body)
    _, _, m0, outside, _, _, _, _ = nominal_motion(body)
    inside = departed((y[3], y[4]), y[0], inner, labelled(y[6], m0), whole)
    beyond = departed((y[1], y[2]), y[0], outer, labelled(y[7], outside), whole)
    m, o = unlabelled(y[6], inside), unlabelled(y[7], beyond)
    return variables(t, q, y[0], m, o, body), True


def error(d, y, body):
    inner, outer, whole = components(y, body)
    turn, change = length(d, inner, outer, whole)
    return turn, change, inner


PLACE = 110
COORDINATES = replace(
    fukushima.COORDINATES,
    name="fukushima-departures",
    title="departures of Fukushima's variables",
    enter=enter,
    leave=leave,
    slope=slope,
    reset=reset,
    nominal=nominal,
    settled=Settled(moving=6, numbers=numbers, slope=moving, stays=stays),
    error=error,
)
