"""Departures of attitude and momentum from a uniform rotation: Encke's method (Fukushima 2008).

With the initial angular velocity n u + r, where r is the rounding error of the floats n and u,

    q = (1 + c, v) p,    p = q₀ (cos a/2, u sin a/2),    a = n (t - t₀)                (1)
    m = m₀ + Δm,    δ = I⁻¹ Δm + r
    (c, v)' = (1 + c, v) (p δ p*) / 2,    Δm' = m x ω + T                              (2)

Small rates have small errors: nothing in (2) is a difference of large numbers, and δ alone
determines how fast c and v change, however large they are.  The angle a is reduced without rounding
(``kernels/angles``).  Nowhere singular.  When the length of (1 + c, v) is off by a billionth, it is
normalised.
"""

from math import hypot, sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.contracts import Coordinates, angular_velocity, inverse_moments, nominal_motion, torque
from polhode.formulations._parts import add_products, excess, momentum_rate
from polhode.formulations.quaternion import LOST
from polhode.kernels.angles import cycle, two_product
from polhode.kernels.quaternion import conjugate, half_rate, hamilton, to_unit_length
from polhode.kernels.trig import sincos1, sincos1_of_reduced
from polhode.kernels.vector import add, dot, multiply, subtract


def nominal(t, q, m, body):
    """Return (p at t = 0, p (0, u) there, m₀, n/2, r); not compiled."""
    omega = angular_velocity(m, body)
    n = hypot(*omega)
    u = multiply(1.0 / n, omega) if n > 0.0 else (0.0, 0.0, 1.0)
    e = excess(u, 1.0)  # (1) turns about u/|u|, which is u (1 - e/2)
    rest = (left_over(i, k, n, x, e) for i, k, x in zip(inverse_moments(body), m, u, strict=True))
    s, c1 = sincos1(cycle(-0.5 * n, t))
    p = hamilton(q, (1.0 + c1, *multiply(s, u)))
    return p, half_rate(p, u), m, 0.5 * n, tuple(rest)


def left_over(i, k, n, x, e):
    """Return i k - n x (1 - e/2), accurate to rounding."""
    (p, p1), (r, r1) = two_product(i, k), two_product(n, x)
    return (p - r) + ((p1 - r1) + 0.5 * e * r)


def uniform(t, body):
    """Return p of (1)."""
    p0, p1, _, half, _ = nominal_motion(body)
    s, c1 = sincos1_of_reduced(cycle(half, t))
    return (
        fma(s, p1[0], fma(c1, p0[0], p0[0])),
        fma(s, p1[1], fma(c1, p0[1], p0[1])),
        fma(s, p1[2], fma(c1, p0[2], p0[2])),
        fma(s, p1[3], fma(c1, p0[3], p0[3])),
    )


def enter(t, q, m, body):
    d = hamilton(q, conjugate(to_unit_length(uniform(t, body))))
    v = d[1], d[2], d[3]
    c = d[0] - 1.0
    c = blend(mask(d[0] > 0.0), -dot(v, v) / (1.0 + abs(d[0])), c)  # without cancellation
    return c, *v, *subtract(m, nominal_motion(body)[2])


def leave(t, y, body):
    q = hamilton((1.0 + y[0], y[1], y[2], y[3]), uniform(t, body))
    return to_unit_length(q), add(nominal_motion(body)[2], (y[4], y[5], y[6]))


def lost(y):
    """Return |(1 + c, v)|² - 1."""
    c, v = y[0], (y[1], y[2], y[3])
    return fma(c, c, fma(2.0, c, dot(v, v)))


def inverse_root(e):
    """Return 1/sqrt(1 + e) for small e."""
    return fma(e, fma(0.375, e, -0.5), 1.0)


def slope(t, y, body, params):
    _, _, m0, _, rest = nominal_motion(body)
    p = uniform(t, body)
    c, v, change = y[0], (y[1], y[2], y[3]), (y[4], y[5], y[6])
    q, m = hamilton((1.0 + c, *v), p), add(m0, change)
    f = inverse_root(lost(y))
    n = torque(t, (f * q[0], f * q[1], f * q[2], f * q[3]), m, body, params)
    delta = add_products(rest, inverse_moments(body), change)
    rate = hamilton(half_rate(q, multiply(0.5, delta)), conjugate(p))
    return *rate, *momentum_rate(m, body, n)  # (2)


def reset(t, y, body):
    c, v = y[0], (y[1], y[2], y[3])
    if abs(lost(y)) < LOST:
        return y, False
    q = to_unit_length((1.0 + c, *v))
    return (q[0] - 1.0, q[1], q[2], q[3], y[4], y[5], y[6]), True


def error(d, y, body):
    turn = sqrt(fma(d[0], d[0], dot((d[1], d[2], d[3]), (d[1], d[2], d[3]))))
    change = d[4], d[5], d[6]
    return 2.0 * turn, sqrt(dot(change, change)), add(nominal_motion(body)[2], (y[4], y[5], y[6]))


PLACE = 120
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
