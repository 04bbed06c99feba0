"""Euler angles about the axes 3-1-3, and the momentum in body axes.

    attitude = rotation by φ about 3, by θ about the new 1, by ψ about the new 3       (1)
    φ' = (ω1 sin ψ + ω2 cos ψ) / sin θ,    θ' = ω1 cos ψ - ω2 sin ψ                    (2)
    ψ' = ω3 - φ' cos θ,    m' = m x ω + T,    ω = I⁻¹ m

The angles are not reduced, so that the sign of the attitude is continuous.  Singular where the
third axes of body and space are parallel.
"""

from math import atan2, sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.contracts import Coordinates, angular_velocity, torque
from polhode.formulations._parts import NAN, NEAR, inverse_sine, momentum_rate
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import dot


def angles(q):
    """Return (φ, θ, ψ) of an attitude; NaN where they are not defined."""
    w, x, y, z = q
    c, s = sqrt(w * w + z * z), sqrt(x * x + y * y)
    defined = mask((c > NEAR) & (s > NEAR))
    sigma, delta = atan2(z, w), atan2(y, x)  # (φ + ψ)/2, (φ - ψ)/2
    return blend(defined, sigma + delta, NAN * w), 2.0 * atan2(s, c), sigma - delta


def halves(y):
    """Return (φ + ψ)/2, (φ - ψ)/2 and θ/2."""
    a, b, c = 0.5 * y[0], 0.5 * y[1], 0.5 * y[2]
    return a + c, a - c, b


def turned(plus, minus, b):
    """Return (q, sin θ, cos θ, sin ψ, cos ψ) from ``halves``."""
    (s1, c1), (s2, c2), (s3, c3) = sincos1(plus), sincos1(minus), sincos1(b)
    c1, c2, c3 = 1.0 + c1, 1.0 + c2, 1.0 + c3
    q = c3 * c1, s3 * c2, s3 * s2, c3 * s1  # (1)
    sine, cosine = fma(s1, c2, -(c1 * s2)), fma(c1, c2, s1 * s2)
    return q, 2.0 * s3 * c3, fma(c3, c3, -(s3 * s3)), sine, cosine


def rates(omega, sin_theta, sin_psi, cos_psi):
    """Return (φ', θ') of (2)."""
    along = fma(omega[0], sin_psi, omega[1] * cos_psi)
    return along * inverse_sine(sin_theta), fma(omega[0], cos_psi, -(omega[1] * sin_psi))


def length(d, cosine):
    """Return the angle of the rotation by a small change of the angles."""
    a, b, c = d[0], d[1], d[2]
    return sqrt(abs(a * a + b * b + c * c + 2.0 * a * c * cosine))


def enter(t, q, m, body):
    phi, theta, psi = angles(q)
    return phi, theta, psi, m[0], m[1], m[2]


def leave(t, y, body):
    q, _, _, _, _ = turned(*halves(y))
    return q, (y[3], y[4], y[5])


def slope(t, y, body, params):
    q, sin_theta, cos_theta, sin_psi, cos_psi = turned(*halves(y))
    m = y[3], y[4], y[5]
    omega = angular_velocity(m, body)
    n = torque(t, q, m, body, params)
    phi, theta = rates(omega, sin_theta, sin_psi, cos_psi)
    return phi, theta, fma(-phi, cos_theta, omega[2]), *momentum_rate(m, body, n)  # (2)


def error(d, y, body):
    change = d[3], d[4], d[5]
    return length(d, 1.0 + sincos1(y[1])[1]), sqrt(dot(change, change)), y[3:]


PLACE = 80
COORDINATES = Coordinates(
    name="euler-angles",
    title="Euler's angles 3-1-3 and momentum in body axes",
    numbers=6,
    enter=enter,
    leave=leave,
    slope=slope,
    error=error,
    continuous=True,
    singular="Euler angles are not defined where the third axes of body and space are parallel; use"
    " 'quaternion' or 'encke-quaternion', defined everywhere",
    references=(),
)
