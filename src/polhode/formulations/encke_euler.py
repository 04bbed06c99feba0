"""Departures of Euler angles 3-1-3 and momentum from a uniform rotation about the third axis.

    φ = φ₀ + Δφ,    θ = θ₀ + Δθ,    ψ = ψ₀ + n (t - t₀) + Δψ                           (1)
    m = (m1, m2, m₀ + Δm),    Δψ' = Δm/I3 + r - φ' cos θ,    n + r = m₀/I3             (2)

and the other rates as in ``euler-angles``.  For a body that spins about its third axis all rates
are small, and so are their errors; (2) has no difference of large numbers.  m1 and m2 are then
small and circle around 0: departures from their initial values would not be smaller.  The angle
n (t - t₀) is reduced without rounding (``kernels/angles``).
"""

from dataclasses import replace
from math import sqrt

from polhode.compiler.machine import fma
from polhode.contracts import angular_velocity, inverse_moments, nominal_motion, torque
from polhode.formulations import euler_angles
from polhode.formulations._parts import momentum_rate
from polhode.formulations.euler_angles import angles, length, rates, turned
from polhode.kernels.angles import cycle, phase_at, two_product
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import dot, multiply


def nominal(t, q, m, body):
    """Return (half the angles: the first two, and the third at t = 0, n/2, r, m₀)."""
    n, rest = two_product(inverse_moments(body)[2], m[2])
    phi, theta, psi = multiply(0.5, angles(q))
    return (phi, theta, sum(phase_at(psi, 0.5 * n, t))), 0.5 * n, rest, m[2]


def halves(t, y, body):
    """Return (φ + ψ)/2, (φ - ψ)/2 and θ/2."""
    (phi, theta, psi), n, _, _ = nominal_motion(body)
    psi = psi + cycle(n, t)
    plus, minus = fma(0.5, y[0] + y[2], phi + psi), fma(0.5, y[0] - y[2], phi - psi)
    return plus, minus, fma(0.5, y[1], theta)  # (1)


def momentum(y, body):
    return y[3], y[4], nominal_motion(body)[3] + y[5]  # (2)


def enter(t, q, m, body):
    (phi, theta, psi), n, _, m0 = nominal_motion(body)
    a, b, c = angles(q)
    d = a - 2.0 * phi, b - 2.0 * theta, c - 2.0 * (psi + cycle(n, t))
    return *d, m[0], m[1], m[2] - m0


def leave(t, y, body):
    q, _, _, _, _ = turned(*halves(t, y, body))
    return q, momentum(y, body)


def slope(t, y, body, params):
    q, sin_theta, cos_theta, sin_psi, cos_psi = turned(*halves(t, y, body))
    m = momentum(y, body)
    n = torque(t, q, m, body, params)
    phi, theta = rates(angular_velocity(m, body), sin_theta, sin_psi, cos_psi)
    psi = fma(-phi, cos_theta, fma(inverse_moments(body)[2], y[5], nominal_motion(body)[2]))  # (2)
    return phi, theta, psi, *momentum_rate(m, body, n)


def error(d, y, body):
    change = d[3], d[4], d[5]
    cosine = 1.0 + sincos1(fma(2.0, nominal_motion(body)[0][1], y[1]))[1]
    return length(d, cosine), sqrt(dot(change, change)), momentum(y, body)


PLACE = 130
COORDINATES = replace(
    euler_angles.COORDINATES,
    name="encke-euler",
    title="departures of Euler's angles from a uniform turn",
    enter=enter,
    leave=leave,
    slope=slope,
    nominal=nominal,
    error=error,
    singular=euler_angles.COORDINATES.singular.replace("'quaternion' or ", ""),
    references=("fukushima2008",),
)
