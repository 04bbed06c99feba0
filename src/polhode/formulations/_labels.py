"""Labels A, B, C (or X, Y, Z) for the axes of a frame, so that a vector is far from A and near C.

C is the axis with the largest component, directed so that it is positive, A the one with the
smallest, and the three are right-handed: then a² <= v²/3 <= c².  If this already holds, the axes
keep their names, which is label 0.  A label is one number, shift + 3 flip + 6 swap:

    (x, y, z) = (v1, v2, v3), (v2, v3, v1) or (v3, v1, v2)    shift = 0, 1, 2
    (a, b, c) = (x, y, z)    or with flip (x, -y, -z)                                  (1)
              = (y, -x, z)   or with flip (y, x, -z)          with swap

As a matrix this has entries 0, 1 and -1: relabelling components is exact.  A label is kept until
b² + a² or a² exceed ``TILT`` and ``SIDE`` of the whole, somewhat later than another label becomes
better, so that a vector near the border of two labels does not switch back and forth.
"""

from math import sqrt

from polhode.compiler.machine import blend, fma, mask, rint
from polhode.formulations._parts import multiplied, transposed
from polhode.kernels.quaternion import conjugate, hamilton
from polhode.kernels.vector import dot

TILT, SIDE = 0.75, 0.5
HALF, THIRD = sqrt(0.5), 1 / 3


def parts_of(label):
    """Return (1.0 or 0.0 for shift = 0, for shift = 1, for shift = 2, flip, swap)."""
    k = rint(label)  # dense output may round it
    swap = blend(mask(k > 5.5), 1.0, 0.0)
    k = fma(-6.0, swap, k)
    flip = blend(mask(k > 2.5), 1.0, 0.0)
    k = fma(-3.0, flip, k)
    once, twice = blend(mask(k == 1.0), 1.0, 0.0), blend(mask(k == 2.0), 1.0, 0.0)
    return 1.0 - once - twice, once, twice, flip, swap


def mixed(u, row, w, other):
    return (
        fma(u, row[0], w * other[0]),
        fma(u, row[1], w * other[1]),
        fma(u, row[2], w * other[2]),
    )


def ordered(label, v):
    """Return the components along A, B and C, without the signs."""
    none, once, twice, _, swap = parts_of(label)
    x, y, stay = dot((none, once, twice), v), dot((twice, none, once), v), 1.0 - swap
    return fma(stay, x, swap * y), fma(stay, y, swap * x), dot((once, twice, none), v)


def rows(label):
    """Return the matrix of (1), by rows."""
    none, once, twice, flip, swap = parts_of(label)
    x, y, z = (none, once, twice), (twice, none, once), (once, twice, none)
    c = fma(-2.0, flip, 1.0)
    stay, b = 1.0 - swap, fma(-2.0 * c, swap, c)
    first, second = mixed(stay, x, swap, y), mixed(b * stay, y, b * swap, x)
    return first, second, (c * z[0], c * z[1], c * z[2])


def labelled(label, v):
    """Return (a, b, c) from (v1, v2, v3)."""
    return multiplied(rows(label), v)


def unlabelled(label, v):
    """Return (v1, v2, v3) from (a, b, c)."""
    return transposed(rows(label), v)


def attitude(label):
    """Return the quaternion of the labelled axes: v = g (a, b, c) g*."""
    none, once, twice, flip, swap = parts_of(label)
    s = 0.5 * (once - twice)
    stay, upright = 1.0 - swap, 1.0 - flip
    w = fma(HALF, swap, stay)
    turn = upright * w, flip * w, flip * swap * HALF, upright * swap * HALF
    return hamilton((fma(0.5, once + twice, none), s, s, s), turn)


def turn(body_label, space_label):
    """Return the columns of the matrix from the attitude p of labelled axes to q = h p g*."""
    back, (w, x, y, z) = conjugate(attitude(body_label)), attitude(space_label)
    return (
        hamilton((w, x, y, z), back),
        hamilton((-x, w, z, -y), back),
        hamilton((-y, -z, w, x), back),
        hamilton((-z, y, -x, w), back),
    )


def label_for(v):
    """Return the best label for a vector."""
    least = THIRD * dot(v, v)
    kept = mask((v[2] > 0.0) & (v[2] * v[2] >= least) & (v[0] * v[0] <= least))
    x, y, z = abs(v[0]), abs(v[1]), abs(v[2])
    first, second = mask((x > y) & (x > z)), mask((y >= x) & (y > z))
    x, y, z = blend(
        first, (v[1], v[2], v[0]), blend(second, (v[2], v[0], v[1]), (v[0], v[1], v[2]))
    )
    shift = blend(first, 1.0, blend(second, 2.0, 0.0))
    flip = blend(mask(z < 0.0), 3.0, 0.0)
    best = shift + flip + blend(mask(abs(x) > abs(y)), 6.0, 0.0)
    return blend(kept, 0.0, best)


def suits(a, b, whole):
    """Return whether a label is still good enough for a vector of length ``whole``."""
    w, rest = whole * whole, (whole - a) * (whole + a)
    return (rest >= (1.0 - SIDE) * w) & (fma(-b, b, rest) >= (1.0 - TILT) * w)
