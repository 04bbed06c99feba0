"""The variables of Fukushima 1995: the momentum's length and components, and one angle.

L_X, L_Y are components of the momentum in inertial axes, L_A, L_B in body axes, and f is the angle
from the plane of the momentum and X to that of the momentum and A:

    attitude = Q(L_X/L, L_Y/L) R(f) Q(L_A/L, L_B/L)ᵀ                                   (1)

R(f) a turn about 3, Q(x, y) one that takes the third axis to (x, y, z), the first to the plane of
that and X.  L_X' = N_X, …, L_A' = (1/C - 1/B) L_B L_C + N_A, …, L' = N·L/L, and

    f' = L/C + (1/B - 1/C) L L_B² / (L² - L_A²)                                        (2)
         - L_A (L_C N_B - L_B N_C) / (L (L² - L_A²)) + L_X (L_Z N_Y - L_Y N_Z) / (L (L² - L_X²))

(printed with the opposite sign of both terms of the torque).  L_C and L_Z are positive roots, and
(1) is singular where the momentum is parallel to A or X.  So the axes are labelled to suit the
momentum, and labelled anew when it has wandered off (``_labels``); the two labels are the last
variables, which do not change in between.
"""

from math import atan2, sqrt

from polhode._compile import blend, fma, mask
from polhode.contracts import Coordinates, Settled, torque
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
from polhode.formulations._parts import (
    NAN,
    combination,
    inverse,
    matrix,
    multiplied,
    root,
    transposed,
)
from polhode.kernels.quaternion import conjugate, hamilton, to_inertial
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import dot


# ---- attitude
def third(a, b, whole):
    """c of a vector (a, b, c) of that length."""
    return root(fma(-b, b, (whole - a) * (whole + a)))


def tilt(a, b, whole):
    """((a, b, c), w, w + c, L + w) of a vector of length L, with w² = b² + c²."""
    square = (whole - a) * (whole + a)
    w, c = root(square), root(fma(-b, b, square))
    return (a, b, c), w, w + c, whole + w


def tilted(v, whole):
    """Q of (1) for the vector v of that length, as a quaternion of any length."""
    (a, b, _), _, x, y = tilt(v[0], v[1], whole)
    return x * y, -(b * y), x * a, -(b * a)


def attitude_of(half, inner, outer, whole):
    """((1) as a quaternion of labelled axes, (1/L, 1/w of ``inner``, 1/w of ``outer``)).

    From half the angle f and ``tilt`` of both vectors.  Q is (w + c, -b, 0, 0) (L + w, 0, a, 0)
    over its length, 2 sqrt(L w (w + c) (L + w)), and all inverses come from one: L⁷ is a float.
    """
    ((a, b, _), w1, d, e), ((x, y, _), w2, u, v) = inner, outer
    r = (d * e) * (u * v)
    p = (w1 * w2) * r
    g = inverse(whole * p)
    f, h = 0.25 * (root(p) * g), g * (whole * r)
    s, c1 = sincos1(half)
    c = 1.0 + c1
    w, i = c * fma(v, e, x * a), s * fma(x, e, v * a)  # the middle three of five turns
    j, k = c * fma(x, e, -(v * a)), s * fma(v, e, -(x * a))
    m, n = fma(u, d, y * b), fma(u, b, -(y * d))  # the outer two, about the first axis
    o, q = fma(u, d, -(y * b)), fma(u, b, y * d)
    turned = (
        f * fma(w, m, -(i * n)),
        f * fma(w, n, i * m),
        f * fma(j, o, k * q),
        f * fma(k, o, -(j * q)),
    )
    return turned, (g * p, h * w2, h * w1)


def angle_of(q, body_label, space_label, inner, outer, whole):
    """f, from (1); NaN without a momentum."""
    left = hamilton(attitude(space_label), tilted(outer, whole))
    right = hamilton(attitude(body_label), tilted(inner, whole))
    w, _, _, z = hamilton(hamilton(conjugate(left), q), right)
    return blend(mask(whole > 0.0), 2.0 * atan2(z, w), NAN * w)


# ---- rates
def frame(body_label, space_label, body):
    """What follows from labels: columns of ``turn``, rows of the body's label, 1/A, 1/B, 1/C."""
    (p, q, r, s), (a, b, c) = turn(body_label, space_label), rows(body_label)
    return *p, *q, *r, *s, *a, *b, *c, *ordered(body_label, body[1])


def rates(t, p, q, inverses, inner, outer, whole, axes, i, body, params):
    """(L', L_X', L_Y', L_A', L_B', f' - L/C).

    From ``attitude_of``, p and ``inverses``, from q, ``tilt`` of both vectors, the rows of the
    body's label, and ``i``, (1/A, 1/B, 1/C).
    """
    (by_whole, u, v), (i, j, k) = inverses, i
    (a, b, c), (x, y, z) = inner[0], outer[0]
    n = torque(t, q, transposed(axes, (a, b, c)), body, params)
    n_a, n_b, n_c = multiplied(axes, n)
    n_x, n_y, n_z = multiplied(matrix(p), (n_a, n_b, n_c))
    u, v = u * u, v * v
    back, ahead = (a * by_whole) * u, (x * by_whole) * v
    f = fma(back * b, n_c, fma(-(back * c), n_b, (j - k) * (b * b) * (whole * u)))
    f = fma(ahead * z, n_y, fma(-(ahead * y), n_z, f))  # (2)
    along = fma(a * by_whole, n_a, fma(b * by_whole, n_b, (c * by_whole) * n_c))
    return along, n_x, n_y, fma(k - j, b * c, n_a), fma(i - k, c * a, n_b), f


# ---- the variables
def variables(q, m, outside, whole):
    """From the momentum in body and in inertial axes, its length and the attitude."""
    k, j = label_for(m), label_for(outside)
    inner, outer = labelled(k, m), labelled(j, outside)
    f = angle_of(q, k, j, inner, outer, whole)
    return whole, outer[0], outer[1], inner[0], inner[1], f, k, j


def components(y):
    """(L_A, L_B, L_C), (L_X, L_Y, L_Z)."""
    whole, x, b, a, c = y[0], y[1], y[2], y[3], y[4]
    return (a, c, third(a, c, whole)), (x, b, third(x, b, whole))


def enter(t, q, m, body):
    whole = sqrt(dot(m, m))
    return variables(q, m, to_inertial(q, m), whole)


def unlabelled_attitude(y, p):
    """q from the attitude of labelled axes."""
    return hamilton(hamilton(attitude(y[7]), p), conjugate(attitude(y[6])))


def seen(half, inner, outer, whole, y):
    """(q, m)."""
    p, _ = attitude_of(half, inner, outer, whole)
    return unlabelled_attitude(y, p), unlabelled(y[6], inner[0])


def leave(t, y, body):
    return seen(0.5 * y[5], tilt(y[3], y[4], y[0]), tilt(y[1], y[2], y[0]), y[0], y)


# ---- between resets
def numbers(y, body):
    return frame(y[6], y[7], body)


def settled_rates(t, half, inner, outer, whole, here, body, params):
    """``rates`` with ``frame``."""
    columns = here[0:4], here[4:8], here[8:12], here[12:16]
    axes = here[16:19], here[19:22], here[22:25]
    p, inverses = attitude_of(half, inner, outer, whole)
    q = combination(columns, p)
    return rates(t, p, q, inverses, inner, outer, whole, axes, here[25:28], body, params)


def labelled_rates(t, half, inner, outer, whole, y, body, params):
    """The same from the labels, to rounding; for one evaluation alone this is less work."""
    p, inverses = attitude_of(half, inner, outer, whole)
    q, axes, i = unlabelled_attitude(y, p), rows(y[6]), ordered(y[6], body[1])
    return rates(t, p, q, inverses, inner, outer, whole, axes, i, body, params)


def moving(t, y, here, body, params):
    """The slope of all but the labels."""
    whole, x, z, a, b, f = y
    inner, outer = tilt(a, b, whole), tilt(x, z, whole)
    r = settled_rates(t, 0.5 * f, inner, outer, whole, here, body, params)
    return *r[:5], fma(whole, here[27], r[5])  # (2)


def stays(y, here):
    return suits(y[3], y[4], y[0]) & suits(y[1], y[2], y[0])


def slope(t, y, body, params):
    whole, x, z, a, b, f, k, j = y
    inner, outer = tilt(a, b, whole), tilt(x, z, whole)
    r = labelled_rates(t, 0.5 * f, inner, outer, whole, y, body, params)
    spin = fma(whole, ordered(k, body[1])[2], r[5])  # (2)
    return *r[:5], spin, 0.0 * k, 0.0 * j


def reset(t, y, body):
    if stays(y, ()):
        return y, False
    q, m = leave(t, y, body)
    _, outer = components(y)
    return variables(q, m, unlabelled(y[7], outer), y[0]), True


# ---- errors
def change_of(d, inner, whole):
    """The change of (a, b, c), squared, from that of the length, a and b."""
    (a, b, c), (e, x, y) = inner, d
    z = (whole * e - fma(a, x, b * y)) * inverse(c)
    return fma(x, x, fma(y, y, z * z))


def length(d, inner, outer, whole):
    """(the turn that a small change of the variables makes, the change of the momentum)."""
    inside = change_of((d[0], d[3], d[4]), inner, whole)
    outside = change_of((d[0], d[1], d[2]), outer, whole)
    f = inverse(whole)
    return sqrt(fma(d[5], d[5], f * f * (inside + outside))), sqrt(inside)


def error(d, y, body):
    inner, outer = components(y)
    turn, change = length(d, inner, outer, y[0])
    return turn, change, inner


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
