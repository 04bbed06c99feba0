"""Departures of Euler's angles 3-1-3 and of the momentum from a uniform turn about the third axis.

    φ = φ₀ + Δφ,    θ = θ₀ + Δθ,    ψ = ψ₀ + n (t - t₀) + Δψ,    m = m₀ + Δm           (1)
    Δψ' = Δm3/I3 + r - φ' cos θ,    n + r = m₀3/I3                                     (2)

and the other rates as in ``euler-angles``.  For a body that spins about its third axis all rates
are small, and so are their errors; there is no difference of large numbers in (2).  The angle
n (t - t₀) is reduced without rounding (``kernels/angles``).
"""

from math import sqrt

from polhode._compile import fma
from polhode.contracts import Coordinates, torque
from polhode.formulations import euler_angles
from polhode.formulations._parts import momentum_rate
from polhode.formulations.euler_angles import angles, length, rates, turned
from polhode.kernels.angles import nominal_angle, two_product
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import add, dot, scale, subtract


def nominal(t, q, m, body):
    """(t₀, the angles at first, n, r, m₀)."""
    n, rest = two_product(body[1][2], m[2])
    return t, angles(q), n, rest, m


def halves(t, y, body):
    """Half of φ, θ and ψ."""
    t0, (phi, theta, psi), n, _, _ = body[5]
    spin = nominal_angle(0.5 * psi, 0.5 * n, t, t0)
    return 0.5 * (phi + y[0]), 0.5 * (theta + y[1]), fma(0.5, y[2], spin)  # (1)


def enter(t, q, m, body):
    t0, (phi, theta, psi), n, _, m0 = body[5]
    a, b, c = angles(q)
    spin = 2.0 * nominal_angle(0.5 * psi, 0.5 * n, t, t0)
    return a - phi, b - theta, c - spin, *subtract(m, m0)


def leave(t, y, body):
    a, b, c = halves(t, y, body)
    q, _, _, _, _ = turned(a, b, c)
    return q, add(body[5][4], (y[3], y[4], y[5]))


def slope(t, y, body, params):
    a, b, c = halves(t, y, body)
    q, sin_theta, cos_theta, sin_psi, cos_psi = turned(a, b, c)
    _, _, _, rest, m0 = body[5]
    m = add(m0, (y[3], y[4], y[5]))
    n = torque(t, q, m, body, params)
    phi, theta = rates(scale(body[1], m), sin_theta, sin_psi, cos_psi)
    psi = fma(-phi, cos_theta, fma(body[1][2], y[5], rest))  # (2)
    return phi, theta, psi, *momentum_rate(m, body, n)


def error(d, y, body):
    change = d[3], d[4], d[5]
    cosine = 1.0 + sincos1(body[5][1][1] + y[1])[1]
    return length(d, cosine), sqrt(dot(change, change)), add(body[5][4], (y[3], y[4], y[5]))


COORDINATES = Coordinates(
    name="encke-euler",
    title="departures of Euler's angles from a uniform turn",
    numbers=6,
    enter=enter,
    leave=leave,
    slope=slope,
    nominal=nominal,
    error=error,
    continuous=True,
    singular=euler_angles.COORDINATES.singular.replace("'quaternion' or ", ""),
    references=("fukushima2008",),
)
