"""The canonical variables of Fukushima 1995: (L, L_X, L_A; f, -σ, ξ).

L is the length of the momentum, L_X and L_A are its components along the first axes of space and
body, f is the angle of ``fukushima``, and σ and ξ are the directions of the other components:

    σ = arg(L_Z + i L_Y),    ξ = arg(L_C + i L_B)                                      (1)
    attitude = rotations by -σ about 1, α about 2, f about 3, -β about 2, ξ about 1    (2)
    sin α = L_X/L,    sin β = L_A/L

These are the variables of Serret and Andoyer with the first axes in place of the third.  With a
potential V the equations of motion are Hamilton's, of the pairs (f, L), (-σ, L_X), (ξ, L_A) and

    H = L_A²/2A + (L² - L_A²) (sin² ξ/2B + cos² ξ/2C) + V                              (3)

so a symplectic integrator, such as ``gauss``, is symplectic for the motion of the body.  With the
torque N, in the letters of ``fukushima``,

    n₂ = N_B cos ξ - N_C sin ξ,    r = N_B sin ξ + N_C cos ξ
    L' = N_A sin β + r cos β,    n₁ = N_A cos β - r sin β                              (4)
    m₁ = n₁ cos f - n₂ sin f,    m₂ = n₁ sin f + n₂ cos f
    L_X' = m₁ cos α + L' sin α,    L_A' = (1/C - 1/B) L_B L_C + N_A
    -σ' = -m₂/(L cos α),    ξ' = L_A (1/A - sin² ξ/B - cos² ξ/C) + n₂/(L cos β)        (5)
    f' = L (sin² ξ/B + cos² ξ/C) - n₂ tan β/L + m₂ tan α/L

There are no labels: L_C and L_Z may have any sign.  Singular where the momentum is parallel to one
of the first axes; a body that spins about its third axis, and stands upright, is far from there.
"""

from math import atan2, sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.contracts import Coordinates, inverse_moments, torque
from polhode.formulations._parts import NAN, NEAR, inverse, inverse_sine, root
from polhode.kernels.quaternion import conjugate, hamilton, to_inertial, to_unit_length
from polhode.kernels.trig import double_angle, sincos1
from polhode.kernels.vector import dot


# ---- attitude
def half_tilt(sine, cosine):
    """Return (cosine, sine) of half an angle from its own, with a cosine that is not negative."""
    c = sqrt(0.5 * (1.0 + cosine))
    return c, 0.5 * sine / c


def half_turn(half):
    """Return (cosine, sine)."""
    s, c1 = sincos1(half)
    return 1.0 + c1, s


def outer_turn(h, tilt):
    """Return the rotation about 1, then about the new 2, from (cosine, sine) of half angles."""
    return h[0] * tilt[0], h[1] * tilt[0], h[0] * tilt[1], h[1] * tilt[1]


def inner_turn(tilt, xi):
    """Return the rotation about 2 by the opposite of an angle, then about the new 1."""
    return tilt[0] * xi[0], tilt[0] * xi[1], -(tilt[1] * xi[0]), tilt[1] * xi[1]


def tilts(whole, x, a):
    """Return (1/L, (sin α, cos α), (sin β, cos β))."""
    g = inverse(whole)
    s, t = g * x, g * a
    return g, (s, root((1.0 - s) * (1.0 + s))), (t, root((1.0 - t) * (1.0 + t)))


def seen(whole, x, a, half, h, xi):
    """Return (q, m, sines and cosines of f, of ξ, ``tilts``), from L, L_X, L_A, f/2, -σ and ξ."""
    g, outer, inner = tilts(whole, x, a)
    turn, upper, lower = half_turn(half), half_turn(0.5 * h), half_turn(0.5 * xi)
    left = outer_turn(upper, half_tilt(*outer))
    right = inner_turn(half_tilt(*inner), lower)
    q = to_unit_length(hamilton(hamilton(left, (turn[0], 0.0, 0.0, turn[1])), right))  # (2)
    sine, c1 = double_angle(turn[1], turn[0] - 1.0)
    low, side = 2.0 * lower[0] * lower[1], fma(lower[0], lower[0], -(lower[1] * lower[1]))
    across = whole * inner[1]
    return q, (a, across * low, across * side), ((sine, 1.0 + c1), (low, side), g, outer, inner)


def angles_of(q, m):
    """Return (f, -σ, ξ) of an attitude and a momentum; NaN where they are not defined."""
    o, (a, b, c) = to_inertial(q, m), m
    g = inverse(sqrt(dot(m, m)))
    flat, level = g * sqrt(o[1] * o[1] + o[2] * o[2]), g * sqrt(b * b + c * c)
    h, xi = -atan2(o[1], o[2]), atan2(b, c)
    left = outer_turn(half_turn(0.5 * h), half_tilt(g * o[0], flat))
    right = inner_turn(half_tilt(g * a, level), half_turn(0.5 * xi))
    w, _, _, z = hamilton(hamilton(conjugate(left), q), conjugate(right))
    defined = mask((flat > NEAR) & (level > NEAR))
    return blend(defined, 2.0 * atan2(z, w), NAN * w), h, xi


# ---- rates
def rates(n, m, known, whole, body):
    """Return (L', L_X', L_A', f' - L/C, -σ', ξ') from the torque; ``known`` is from ``seen``."""
    (sine, cosine), (low, side), g, (lean2, flat2), (lean, flat) = known
    i, j, k = inverse_moments(body)
    n2, r = fma(side, n[1], -(low * n[2])), fma(low, n[1], side * n[2])
    along, n1 = fma(lean, n[0], flat * r), fma(flat, n[0], -(lean * r))
    m1, m2 = fma(cosine, n1, -(sine * n2)), fma(sine, n1, cosine * n2)  # (4)
    sigma, inner = g * inverse_sine(flat2) * m2, g * inverse_sine(flat) * n2
    bulge = (j - k) * (low * low)
    return (
        along,
        fma(flat2, m1, lean2 * along),
        fma(k - j, m[1] * m[2], n[0]),
        fma(lean2, sigma, fma(-lean, inner, bulge * whole)),
        -sigma,
        fma(m[0], (i - k) - bulge, inner),
    )  # (5)


# ---- the variables
def enter(t, q, m, body):
    return sqrt(dot(m, m)), to_inertial(q, m)[0], m[0], *angles_of(q, m)


def leave(t, y, body):
    whole, x, a, f, h, xi = y
    q, m, _ = seen(whole, x, a, 0.5 * f, h, xi)
    return q, m


def slope(t, y, body, params):
    whole, x, a, f, h, xi = y
    q, m, known = seen(whole, x, a, 0.5 * f, h, xi)
    n = torque(t, q, m, body, params)
    r = rates(n, m, known, whole, body)
    return *r[:3], fma(whole, inverse_moments(body)[2], r[3]), *r[4:]


# ---- errors
def length(d, whole, tilted):
    """Return (rotation angle, change of momentum) for a small change of the variables."""
    g, (lean2, flat2), (lean, flat) = tilted
    outer = g * fma(-lean2, d[0], d[1]) * inverse_sine(flat2)
    inner = g * fma(-lean, d[0], d[2]) * inverse_sine(flat)
    along = d[3] + fma(lean2, d[4], lean * d[5])
    inside = fma(inner, inner, (flat * d[5]) * (flat * d[5]))
    outside = fma(outer, outer, (flat2 * d[4]) * (flat2 * d[4]))
    return sqrt(fma(along, along, inside + outside)), sqrt(fma(d[0], d[0], whole * whole * inside))


def error(d, y, body):
    return *length(d, y[0], tilts(y[0], y[1], y[2])), (0.0, 0.0, y[0])


PLACE = 112
COORDINATES = Coordinates(
    name="fukushima-canonical",
    title="canonical variables of Fukushima",
    numbers=6,
    enter=enter,
    leave=leave,
    slope=slope,
    error=error,
    continuous=True,
    singular="they are not defined where the momentum is parallel to the first axis of the body or"
    " of space; use 'fukushima' or 'fukushima-departures', or 'encke-quaternion'",
    references=("fukushima1995", "fukushima1994"),
)
