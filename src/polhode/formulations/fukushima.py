"""The variables of Fukushima 1995: the momentum's length and components, and one angle.

L_X, L_Y are components of the momentum in inertial axes, L_A, L_B in body axes, and f is the angle
from the plane of the momentum and X to that of the momentum and A:

    attitude = Q(L_X/L, L_Y/L) R(f) Q(L_A/L, L_B/L)ᵀ                                   (1)

where R(f) is a rotation about 3, and Q(x, y) one that takes the third axis to (x, y, z), the first
to the plane of that and X.  L_X' = N_X, …, L_A' = (1/C - 1/B) L_B L_C + N_A, …, L' = N·L/L, and

    f' = L/C + (1/B - 1/C) L L_B² / (L² - L_A²)                                        (2)
         - L_A (L_C N_B - L_B N_C) / (L (L² - L_A²)) + L_X (L_Z N_Y - L_Y N_Z) / (L (L² - L_X²))

(the paper prints both terms of the torque with the opposite sign).  The torque in body axes is
transformed by the five rotations of (1) one by one, which yields the rates on the way.  With
w² = L_B² + L_C², and W likewise from L_Y and L_Z,

    n₂ = (L_C N_B - L_B N_C)/w,    r = (L_B N_B + L_C N_C)/w
    L' = (L_A N_A + w r)/L,    n₁ = (w N_A - L_A r)/L                                  (3)
    m₁ = n₁ cos f - n₂ sin f,    m₂ = n₁ sin f + n₂ cos f
    N_X = (W m₁ + L_X L')/L,    N_Y = (L_Z m₂ + L_Y (W L' - L_X m₁)/L)/W

where (2) has w n₂ and W m₂.  L_C and L_Z are positive roots, and (1) is singular where the momentum
is parallel to A or X.  So the axes are labelled to suit the momentum, and relabelled when it has
moved away (``_labels``); the two labels are the last variables, constant in between.  Axes that
keep their names cost nothing.
"""

from math import atan2, sqrt

from polhode.compiler.machine import blend, fma, mask
from polhode.contracts import Coordinates, Settled, ahead, inverse_moments, torque
from polhode.formulations._labels import (
    attitude,
    label_for,
    labelled,
    ordered,
    rows,
    suits,
    turn,
    unlabelled,
)
from polhode.formulations._parts import NAN, combination, inverse, multiplied, root, transposed
from polhode.kernels.quaternion import conjugate, hamilton, to_inertial
from polhode.kernels.trig import double_angle, sincos1
from polhode.kernels.vector import dot


# ---- attitude
def third(a, b, whole):
    """Return c of a vector (a, b, c) of length ``whole``."""
    return root(fma(-b, b, (whole - a) * (whole + a)))


def tilt(a, b, whole):
    """Return ((a, b, c), w) of a vector of length ``whole``, with w² = b² + c²."""
    square = (whole - a) * (whole + a)
    w, c = root(square), root(fma(-b, b, square))
    return (a, b, c), w


def tilted(v, whole):
    """Return Q of (1) for the vector v of length ``whole``, as a quaternion of any length."""
    (a, b, c), w = tilt(v[0], v[1], whole)
    x, y = w + c, whole + w
    return x * y, -(b * y), x * a, -(b * a)


def attitude_of(half, inner, outer, whole):
    """Return (p, g, (1/L, 1/w, 1/W), (sin f/2, cos f/2 - 1)); (1) is g p in labelled axes.

    From half the angle f and ``tilt`` of both vectors.  Q is (w + c, -b, 0, 0) (L + w, 0, a, 0)
    over its length, 2 sqrt(L w (w + c) (L + w)).  All inverses come from one division, so L⁷ must
    be in the range of floats.
    """
    ((a, b, l_c), w1), ((x, y, l_z), w2) = inner, outer
    d, e, u, v = w1 + l_c, whole + w1, w2 + l_z, whole + w2
    r = (d * e) * (u * v)
    p = (w1 * w2) * r
    g = inverse(whole * p)
    f, h = root(p) * (0.25 * g), g * (whole * r)
    s, c1 = sincos1(half)
    c = 1.0 + c1
    w, i = c * fma(v, e, x * a), s * fma(x, e, v * a)  # the middle three of five rotations
    j, k = c * fma(x, e, -(v * a)), s * fma(v, e, -(x * a))
    m, n = fma(u, d, y * b), fma(u, b, -(y * d))  # the outer two, about the first axis
    o, q = fma(u, d, -(y * b)), fma(u, b, y * d)
    turned = fma(w, m, -(i * n)), fma(w, n, i * m), fma(j, o, k * q), fma(k, o, -(j * q))
    return turned, f, (g * p, h * w2, h * w1), (s, c1)


def angle_of(q, body_label, space_label, inner, outer, whole):
    """Return f, from (1); NaN if the momentum is 0."""
    left = hamilton(attitude(space_label), tilted(outer, whole))
    right = hamilton(attitude(body_label), tilted(inner, whole))
    w, _, _, z = hamilton(hamilton(conjugate(left), q), right)
    return blend(mask(whole > 0.0), 2.0 * atan2(z, w), NAN * w)


# ---- rates
def frame(body_label, space_label, body):
    """Return the quantities that depend on the labels.

    (1 if all axes keep their names, else 0; columns of ``turn``; rows of the body's label; (1/A,
    1/B, 1/C)).
    """
    kept = blend(mask(abs(body_label) + abs(space_label) < 0.5), 1.0, 0.0)
    inverse = ordered(body_label, inverse_moments(body))
    return kept, turn(body_label, space_label), rows(body_label), inverse


def rates(n, inverses, half, inner, outer, whole, i):
    """Return (L', L_X', L_Y', L_A', L_B', f' - L/C), from the torque in labelled axes.

    ``inverses`` and ``half`` are those of ``attitude_of``, ``i`` is (1/A, 1/B, 1/C).
    """
    ((a, b, c), w1), ((x, y, z), w2) = inner, outer
    by_whole, u, v = inverses
    (n_a, n_b, n_c), (i, j, k) = n, i
    # sines and cosines of the rotations about A and B, and about X and Y
    low, side, flat, lean = b * u, c * u, w1 * by_whole, a * by_whole
    low2, side2, flat2, lean2 = y * v, z * v, w2 * by_whole, x * by_whole
    sine, c1 = double_angle(*half)
    cosine = 1.0 + c1
    n2, r = fma(side, n_b, -(low * n_c)), fma(low, n_b, side * n_c)
    along, n1 = fma(lean, n_a, flat * r), fma(flat, n_a, -(lean * r))
    m1, m2 = fma(cosine, n1, -(sine * n2)), fma(sine, n1, cosine * n2)
    n_x = fma(flat2, m1, lean2 * along)
    n_y = fma(-(low2 * lean2), m1, fma(side2, m2, (low2 * flat2) * along))  # (3)
    f = fma(lean2 * v, m2, fma(-(lean * u), n2, (j - k) * (low * low) * whole))  # (2)
    return along, n_x, n_y, fma(k - j, b * c, n_a), fma(i - k, c * a, n_b), f


# ---- the variables
def variables(q, m, outside, whole):
    """Return the variables from attitude, momentum in body and inertial axes, and its length."""
    k, j = label_for(m), label_for(outside)
    inner, outer = labelled(k, m), labelled(j, outside)
    f = angle_of(q, k, j, inner, outer, whole)
    return whole, outer[0], outer[1], inner[0], inner[1], f, k, j


def components(y):
    """Return (L_A, L_B, L_C), (L_X, L_Y, L_Z)."""
    whole, x, b, a, c = y[0], y[1], y[2], y[3], y[4]
    return (a, c, third(a, c, whole)), (x, b, third(x, b, whole))


def enter(t, q, m, body):
    whole = sqrt(dot(m, m))
    return variables(q, m, to_inertial(q, m), whole)


def unlabelled_attitude(y, p):
    """Return q from the attitude of labelled axes."""
    return hamilton(hamilton(attitude(y[7]), p), conjugate(attitude(y[6])))


def times(f, q):
    """Return the number f times the quaternion q."""
    return f * q[0], f * q[1], f * q[2], f * q[3]


def seen(half, inner, outer, whole, y):
    """Return (q, m)."""
    p, g, _, _ = attitude_of(half, inner, outer, whole)
    return times(g, unlabelled_attitude(y, p)), unlabelled(y[6], inner[0])


def leave(t, y, body):
    return seen(0.5 * y[5], tilt(y[3], y[4], y[0]), tilt(y[1], y[2], y[0]), y[0], y)


# ---- between resets
def numbers(y, body):
    return frame(y[6], y[7], body)


def settled_rates(t, half, inner, outer, whole, here, body, params):
    """Return ``rates`` with a known ``frame``."""
    kept, columns, axes, i = here
    ahead(t, body, params)
    p, g, inverses, turned = attitude_of(half, inner, outer, whole)
    named = kept == 1.0
    q = times(g, p if named else combination(columns, p))
    m = inner[0] if named else transposed(axes, inner[0])
    n = torque(t, q, m, body, params)
    n = n if named else multiplied(axes, n)
    return rates(n, inverses, turned, inner, outer, whole, i)


def labelled_rates(t, half, inner, outer, whole, y, body, params):
    """Return the same from the labels, to rounding; less work for a single evaluation."""
    p, g, inverses, turned = attitude_of(half, inner, outer, whole)
    q, axes, i = unlabelled_attitude(y, p), rows(y[6]), ordered(y[6], inverse_moments(body))
    n = torque(t, times(g, q), transposed(axes, inner[0]), body, params)
    return rates(multiplied(axes, n), inverses, turned, inner, outer, whole, i)


def moving(t, y, here, body, params):
    """Return the slope of all variables except the labels."""
    whole, x, z, a, b, f = y
    inner, outer = tilt(a, b, whole), tilt(x, z, whole)
    r = settled_rates(t, 0.5 * f, inner, outer, whole, here, body, params)
    return *r[:5], fma(whole, here[3][2], r[5])  # (2)


def stays(y, here):
    return suits(y[3], y[4], y[0]) & suits(y[1], y[2], y[0])


def slope(t, y, body, params):
    whole, x, z, a, b, f, k, j = y
    inner, outer = tilt(a, b, whole), tilt(x, z, whole)
    r = labelled_rates(t, 0.5 * f, inner, outer, whole, y, body, params)
    spin = fma(whole, ordered(k, inverse_moments(body))[2], r[5])  # (2)
    return *r[:5], spin, 0.0 * k, 0.0 * j


def reset(t, y, body):
    if stays(y, ()):
        return y, False
    q, m = leave(t, y, body)
    _, outer = components(y)
    return variables(q, m, unlabelled(y[7], outer), y[0]), True


# ---- errors
def change_of(d, inner, whole):
    """Return the change of (a, b, c), squared, from that of the length, a and b."""
    (a, b, c), (e, x, y) = inner, d
    z = (whole * e - fma(a, x, b * y)) * inverse(c)
    return fma(x, x, fma(y, y, z * z))


def length(d, inner, outer, whole):
    """Return (rotation angle, change of momentum) for a small change of the variables."""
    inside = change_of((d[0], d[3], d[4]), inner, whole)
    outside = change_of((d[0], d[1], d[2]), outer, whole)
    f = inverse(whole)
    return sqrt(fma(d[5], d[5], f * f * (inside + outside))), sqrt(inside)


def error(d, y, body):
    inner, outer = components(y)
    turn, change = length(d, inner, outer, y[0])
    return turn, change, inner


PLACE = 100
COORDINATES = Coordinates(
    name="fukushima",
    title="variables of Fukushima",
    numbers=8,
    enter=enter,
    leave=leave,
    slope=slope,
    reset=reset,
    settled=Settled(moving=6, numbers=numbers, slope=moving, stays=stays),
    error=error,
    continuous=True,
    singular="they are not defined where there is no momentum; use 'quaternion' or"
    " 'encke-quaternion'",
    references=("fukushima1995",),
)
