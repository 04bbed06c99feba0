"""Departures of attitude and momentum from a uniform turn: Encke's method (Fukushima 2008).

With the angular velocity n u + r of the start, r being what the floats n and u have rounded away,

    q = (1 + c, v) p,    p = q₀ (cos a/2, u sin a/2),    a = n (t - t₀)                (1)
    m = m₀ + Δm,    δ = I⁻¹ Δm + r
    (c, v)' = (1 + c, v) (p δ p*) / 2,    Δm' = m x ω + T                              (2)

Small rates have small errors: nothing in (2) is a difference of large numbers, and δ alone decides
how fast c and v change, however large they have become.  The angle a is reduced without rounding
(``kernels/angles``).  Nowhere singular.  When an integrator has lost a billionth of the length of
(1 + c, v), it is made a unit again.
"""

from fractions import Fraction
from math import hypot, sqrt

from polhode._compile import blend, fma, mask
from polhode.contracts import Coordinates, torque
from polhode.formulations._parts import momentum_rate
from polhode.formulations.quaternion import LOST
from polhode.kernels.angles import nominal_angle
from polhode.kernels.quaternion import conjugate, hamilton, to_inertial, to_unit_length
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, scale, subtract


def nominal(t, q, m, body):
    """(t₀, q₀, m₀, u, n, r).  Not compiled: r is the difference of exact fractions."""
    omega = scale(body[1], m)
    n = hypot(*omega)
    u = multiply(1.0 / n, omega) if n > 0.0 else (0.0, 0.0, 1.0)
    # (1) turns about u/|u|; with e = u·u - 1 that is u (1 - e/2 + 3e²/8)
    exact = [Fraction(x) for x in u]
    e = sum(x * x for x in exact) - 1
    f = Fraction(n) * (1 - e / 2 + 3 * e * e / 8)
    rest = (Fraction(i) * Fraction(k) - f * x for i, k, x in zip(body[1], m, exact, strict=True))
    return t, q, m, u, n, tuple(map(float, rest))


def uniform(t, body):
    """p of (1)."""
    t0, q0, _, u, n, _ = body[5]
    s, c1 = sincos1(nominal_angle(0.0, 0.5 * n, t, t0))
    return hamilton(q0, (1.0 + c1, s * u[0], s * u[1], s * u[2]))


def enter(t, q, m, body):
    d = hamilton(q, conjugate(to_unit_length(uniform(t, body))))
    v = d[1], d[2], d[3]
    c = d[0] - 1.0
    c = blend(mask(d[0] > 0.0), -dot(v, v) / (1.0 + abs(d[0])), c)  # without cancellation
    return c, *v, *subtract(m, body[5][2])


def leave(t, y, body):
    q = hamilton((1.0 + y[0], y[1], y[2], y[3]), uniform(t, body))
    return to_unit_length(q), add(body[5][2], (y[4], y[5], y[6]))


def slope(t, y, body, params):
    _, _, m0, _, _, rest = body[5]
    p = uniform(t, body)
    v, change = (y[1], y[2], y[3]), (y[4], y[5], y[6])
    q, m = hamilton((1.0 + y[0], *v), p), add(m0, change)
    n = torque(t, to_unit_length(q), m, body, params)
    delta = add(scale(body[1], change), rest)
    half = multiply(0.5, to_inertial(p, delta))
    turn = add(add_scaled(half, y[0], half), cross(v, half))
    return -dot(v, half), *turn, *momentum_rate(m, body, n)  # (2)


def reset(t, y, body):
    c, v = y[0], (y[1], y[2], y[3])
    lost = fma(c, c, c + c) + dot(v, v)
    if abs(lost) < LOST:
        return y, False
    q = to_unit_length((1.0 + c, *v))
    return (q[0] - 1.0, q[1], q[2], q[3], y[4], y[5], y[6]), True


def error(d, y, body):
    turn = sqrt(fma(d[0], d[0], dot((d[1], d[2], d[3]), (d[1], d[2], d[3]))))
    change = d[4], d[5], d[6]
    return 2.0 * turn, sqrt(dot(change, change)), add(body[5][2], (y[4], y[5], y[6]))


COORDINATES = Coordinates(
    name="encke-quaternion",
    title="departures of quaternion and momentum from a uniform turn",
    numbers=7,
    enter=enter,
    leave=leave,
    slope=slope,
    reset=reset,
    nominal=nominal,
    error=error,
    continuous=True,
    singular="they are defined everywhere",
    references=("fukushima2008",),
)
