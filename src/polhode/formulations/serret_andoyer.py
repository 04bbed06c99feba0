"""Serret-Andoyer variables: canonical for the free body.

G is the length of the momentum, L and H are its components along the third axes of body and space,

    cos J = L/G,    cos I = H/G
    attitude = rotations by h about 3, I about 1, g about 3, J about 1, l about 3      (1)
    m = (G sin J sin l, G sin J cos l, L)                                              (2)

and with the torque N (1, 2, 3 in body axes, X, Y, Z in inertial axes)

    G' = N·m/G,    L' = m1 m2 (1/I2 - 1/I1) + N3,    H' = N_Z
    l' = L (1/I3 - sin² l/I1 - cos² l/I2) + (N1 cos l - N2 sin l) / (G sin J)          (3)
    h' = (N_X cos h + N_Y sin h) / (G sin I),    g' = m·ω/G - h' cos I - l' cos J

Singular where the momentum is parallel to one of the third axes, and inaccurate near there: sin J
follows from G and L, whose difference is then small.
"""

from math import atan2, sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.contracts import Coordinates, angular_velocity, inverse_moments, torque
from polhode.formulations._parts import NAN, NEAR, inverse, inverse_sine, momentum_rate, root
from polhode.kernels.quaternion import conjugate, hamilton, to_inertial, to_unit_length
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import dot


def half_turn(angle):
    """Return (cosine, sine) of half an angle."""
    s, c1 = sincos1(0.5 * angle)
    return 1.0 + c1, s


def half_tilt(sine, cosine):
    """Return (cosine, sine) of half an angle in [0, pi] from its own, without cancellation."""
    big, small = sqrt(0.5 * (1.0 + abs(cosine))), 0.0
    small = 0.5 * sine / big
    return blend(mask(cosine >= 0.0), (big, small), (small, big))


def about_3_then_1(a, b):
    """Return the rotation about 3, then about the new 1, from (cosine, sine) of the half angles."""
    return a[0] * b[0], a[0] * b[1], a[1] * b[1], a[1] * b[0]


def about_1_then_3(a, b):
    return a[0] * b[0], a[1] * b[0], -(a[1] * b[1]), a[0] * b[1]


def cosines(y):
    """Return (sin J, cos J, sin I, cos I)."""
    f = inverse(y[4])
    j, i = f * y[3], f * y[5]
    return root((1.0 - j) * (1.0 + j)), j, root((1.0 - i) * (1.0 + i)), i


def defined(sine):
    return (sine > NEAR) & (sine < 2.0)


def enter(t, q, m, body):
    whole = sqrt(dot(m, m))
    f = inverse(whole)
    a, b, c = to_inertial(q, m)
    sin_j, sin_i = f * sqrt(m[0] * m[0] + m[1] * m[1]), f * sqrt(a * a + b * b)
    left = about_3_then_1(half_turn(atan2(a, -b)), half_tilt(sin_i, f * c))
    right = about_1_then_3(half_tilt(sin_j, f * m[2]), half_turn(atan2(m[0], m[1])))
    w, _, _, z = hamilton(hamilton(conjugate(left), q), conjugate(right))
    g = blend(mask(defined(sin_j) & defined(sin_i)), 2.0 * atan2(z, w), NAN * w)
    return atan2(m[0], m[1]), g, atan2(a, -b), m[2], whole, c


def seen(y):
    """Return (q, m, and the sines and cosines of J, I and l)."""
    sin_j, cos_j, sin_i, cos_i = cosines(y)
    lower, middle, upper = half_turn(y[0]), half_turn(y[1]), half_turn(y[2])
    left = about_3_then_1(upper, half_tilt(sin_i, cos_i))
    right = about_1_then_3(half_tilt(sin_j, cos_j), lower)
    q = to_unit_length(hamilton(hamilton(left, (middle[0], 0.0, 0.0, middle[1])), right))  # (1)
    sin_l, cos_l = 2.0 * lower[0] * lower[1], fma(lower[0], lower[0], -(lower[1] * lower[1]))
    across = y[4] * sin_j
    return q, (across * sin_l, across * cos_l, y[3]), (sin_j, cos_j, sin_i, cos_i, sin_l, cos_l)


def leave(t, y, body):
    q, m, _ = seen(y)
    return q, m


def slope(t, y, body, params):
    q, m, (sin_j, cos_j, sin_i, cos_i, sin_l, cos_l) = seen(y)
    (a, b, c), f = inverse_moments(body), inverse(y[4])
    n = torque(t, q, m, body, params)
    x, y_, z = to_inertial(q, n)
    s, k = sincos1(y[2])
    l_rate = fma(
        y[3],
        c - fma(a * sin_l, sin_l, b * cos_l * cos_l),
        f * inverse_sine(sin_j) * fma(n[0], cos_l, -(n[1] * sin_l)),
    )
    h_rate = f * inverse_sine(sin_i) * fma(x, 1.0 + k, y_ * s)
    spin = f * dot(m, angular_velocity(m, body))
    g_rate = spin - fma(h_rate, cos_i, l_rate * cos_j)
    along = momentum_rate(m, body, n)[2]
    return l_rate, g_rate, h_rate, along, f * dot(n, m), z  # (3)


def error(d, y, body):
    sin_j, cos_j, sin_i, cos_i = cosines(y)
    f, whole = inverse(y[4]), y[4]
    tilt = f * fma(cos_j, d[4], -d[3]) * inverse_sine(sin_j)
    other = f * fma(cos_i, d[4], -d[5]) * inverse_sine(sin_i)
    along = d[1] + fma(cos_i, d[2], cos_j * d[0])
    inner = fma(tilt, tilt, (sin_j * d[0]) * (sin_j * d[0]))
    outer = fma(other, other, (sin_i * d[2]) * (sin_i * d[2]))
    turn = sqrt(fma(along, along, inner + outer))
    return turn, sqrt(fma(d[4], d[4], whole * whole * inner)), (0.0, 0.0, whole)


PLACE = 90
COORDINATES = Coordinates(
    name="serret-andoyer",
    title="variables of Serret and Andoyer",
    numbers=6,
    enter=enter,
    leave=leave,
    slope=slope,
    error=error,
    continuous=True,
    singular="they are not defined where the momentum is parallel to the third axis of the body"
    " (J = 0) or of space; use 'fukushima' or 'fukushima-departures', or 'encke-quaternion'",
    references=("deprit1967",),
)
