"""Departures of Fukushima's canonical variables from constants, and of f from a uniform rotation.

    L = L₀ + ΔL,    L_X = L_X0 + ΔL_X, …,    f = f₀ + n (t - t₀) + Δf                  (1)
    Δf' = ΔL/C + r + …,    n + r = L₀/C                                                (2)

and otherwise as in ``fukushima-canonical``.  Subtracting constants, and n t from an angle, is a
canonical change of variables: a symplectic integrator stays so.  For a body that spins about its
third axis all rates are small, and so are their errors, as in ``fukushima-departures``.
"""

from dataclasses import replace
from math import sqrt

from polhode.compiler.machine import fma
from polhode.contracts import inverse_moments, nominal_motion, torque
from polhode.formulations import fukushima_canonical
from polhode.formulations._parts import excess, inverse
from polhode.formulations.fukushima_canonical import angles_of, length, rates, seen, tilts
from polhode.kernels.angles import phase_at, reduced, two_product
from polhode.kernels.quaternion import to_inertial
from polhode.kernels.vector import add, dot, subtract


def nominal(t, q, m, body):
    """Return (L₀, |m₀| - L₀, m₀, L_X0, -σ₀, ξ₀, f/2 at t = 0 as two floats, n/2, r).

    Not compiled.
    """
    whole = sqrt(dot(m, m))
    rest = 0.5 * excess(m, whole) / whole if whole > 0.0 else 0.0
    n, r = two_product(whole, inverse_moments(body)[2])
    f, h, xi = angles_of(q, m)
    high, low = phase_at(0.5 * f, 0.5 * n, t)
    return whole, rest, m, to_inertial(q, m)[0], h, xi, high, low, 0.5 * n, r


def half_angle(t, body):
    """Return half of f₀ + n (t - t₀)."""
    _, _, _, _, _, _, high, low, n, _ = nominal_motion(body)
    return reduced(high, n, t, low)


def whole_variables(t, y, body):
    """Return L, L_X, L_A, f/2, -σ, ξ."""
    whole, _, m, x, h, xi, _, _, _, _ = nominal_motion(body)
    half = fma(0.5, y[3], half_angle(t, body))
    return whole + y[0], x + y[1], m[0] + y[2], half, h + y[4], xi + y[5]  # (1)


def enter(t, q, m, body):
    whole, rest, m0, x, h, xi, _, _, _, _ = nominal_motion(body)
    change = subtract(m, m0)
    longer = dot(change, add(m, m0)) * inverse(sqrt(dot(m, m)) + whole) + rest
    f, now, inner = angles_of(q, m)
    turned = f - 2.0 * half_angle(t, body)
    return longer, to_inertial(q, m)[0] - x, change[0], turned, now - h, inner - xi


def leave(t, y, body):
    q, m, _ = seen(*whole_variables(t, y, body))
    return q, m


def slope(t, y, body, params):
    whole, x, a, half, h, xi = whole_variables(t, y, body)
    q, m, known = seen(whole, x, a, half, h, xi)
    n = torque(t, q, m, body, params)
    r = rates(n, m, known, whole, body)
    spin = fma(y[0], inverse_moments(body)[2], nominal_motion(body)[9] + r[3])  # (2)
    return *r[:3], spin, *r[4:]


def error(d, y, body):
    whole, _, m, x, _, _, _, _, _, _ = nominal_motion(body)
    whole, x, a = whole + y[0], x + y[1], m[0] + y[2]
    return *length(d, whole, tilts(whole, x, a)), (0.0, 0.0, whole)


PLACE = 114
COORDINATES = replace(
    fukushima_canonical.COORDINATES,
    name="fukushima-canonical-departures",
    title="departures of Fukushima's canonical variables",
    enter=enter,
    leave=leave,
    slope=slope,
    nominal=nominal,
    error=error,
)
