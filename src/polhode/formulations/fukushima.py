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
from polhode.contracts import Coordinates, torque
from polhode.formulations._labels import (
    attitude,
    label_for,
    labelled,
    ordered,
    suits,
    unlabelled,
)
from polhode.formulations._parts import NAN, inverse, root
from polhode.kernels.quaternion import conjugate, hamilton, to_inertial
from polhode.kernels.trig import sincos1
from polhode.kernels.vector import dot


# ---- attitude
def third(a, b, whole):
    """c of a vector (a, b, c) of that length."""
    return root(fma(whole - a, whole + a, -(b * b)))


def tilted(v, whole):
    """(Q of (1) for the vector v of that length as a quaternion, its length squared); c >= 0."""
    a, b, c = v
    w = root((whole - a) * (whole + a))
    x, y = w + c, whole + w
    return (x * y, -(b * y), x * a, -(b * a)), 4.0 * ((w * x) * (whole * y))


def of_angle(half, body_label, space_label, inner, outer, whole):
    """(1), of half the angle f; ``inner`` and ``outer`` are (L_A, L_B, L_C) and (L_X, L_Y, L_Z)."""
    s, c1 = sincos1(half)
    (left, m), (right, n) = tilted(outer, whole), tilted(inner, whole)
    f = inverse(sqrt(m) * sqrt(n))
    left, right = hamilton(attitude(space_label), left), hamilton(attitude(body_label), right)
    w, x, y, z = hamilton(hamilton(left, (1.0 + c1, 0.0, 0.0, s)), conjugate(right))
    return f * w, f * x, f * y, f * z


def angle_of(q, body_label, space_label, inner, outer, whole):
    """f, from (1); NaN without a momentum."""
    (left, _), (right, _) = tilted(outer, whole), tilted(inner, whole)
    left, right = hamilton(attitude(space_label), left), hamilton(attitude(body_label), right)
    w, _, _, z = hamilton(hamilton(conjugate(left), q), right)
    return blend(mask(whole > 0.0), 2.0 * atan2(z, w), NAN * w)


# ---- rates
def angle_rate(inner, outer, whole, inverses, n, torque_outside):
    """(2) less L/C."""
    (a, b, c), (x, y, z) = inner, outer
    (_, n_b, n_c), (_, n_y, n_z) = n, torque_outside
    f, w = inverse(whole), whole * whole
    u, v = inverse(fma(-a, a, w)), inverse(fma(-x, x, w))
    wobble = (inverses[1] - inverses[2]) * (b * b) * (whole * u)
    back = a * (f * u) * fma(c, n_b, -(b * n_c))
    return fma(x * (f * v), fma(z, n_y, -(y * n_z)), wobble - back)


def rates(q, m, inner, outer, whole, body_label, space_label, body, n):
    """(L', L_X', L_Y', L_A', L_B', f' - L/C)."""
    i = ordered(body_label, body[1])
    inside = labelled(body_label, n)
    outside = labelled(space_label, to_inertial(q, n))
    (a, b, c) = inner
    return (
        dot(inner, inside) * inverse(whole),
        outside[0],
        outside[1],
        fma(i[2] - i[1], b * c, inside[0]),
        fma(i[0] - i[2], c * a, inside[1]),
        angle_rate(inner, outer, whole, i, inside, outside),
    )


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


def leave(t, y, body):
    inner, outer = components(y)
    q = of_angle(0.5 * y[5], y[6], y[7], inner, outer, y[0])
    return q, unlabelled(y[6], inner)


def slope(t, y, body, params):
    whole, k, j = y[0], y[6], y[7]
    inner, outer = components(y)
    q, m = of_angle(0.5 * y[5], k, j, inner, outer, whole), unlabelled(k, inner)
    n = torque(t, q, m, body, params)
    first, x, b, a, c, f = rates(q, m, inner, outer, whole, k, j, body, n)
    spin = fma(whole, ordered(k, body[1])[2], f)  # (2)
    return first, x, b, a, c, spin, 0.0 * k, 0.0 * j


def reset(t, y, body):
    whole = y[0]
    if suits(y[3], y[4], whole) and suits(y[1], y[2], whole):
        return y, False
    q, m = leave(t, y, body)
    _, outer = components(y)
    return variables(q, m, unlabelled(y[7], outer), whole), True


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
    error=error,
    continuous=True,
    singular="they are not defined where there is no momentum; use 'quaternion' or"
    " 'encke-quaternion'",
    references=("fukushima1995",),
)
