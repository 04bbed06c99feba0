"""Names A, B, C (or X, Y, Z) for the axes of a frame, so that a vector is far from A and near C.

C is the axis with the largest component, pointing so that it is positive, A the one with the
smallest, and the three are right-handed.  A label is one number, shift + 3 flip + 6 swap:

    (x, y, z) = (v1, v2, v3), (v2, v3, v1) or (v3, v1, v2)    shift = 0, 1, 2
    (a, b, c) = (x, y, z)    or with flip (x, -y, -z)                                  (1)
              = (y, -x, z)   or with flip (y, x, -z)          with swap

Components are only renamed: all of this is exact.  A label holds on until b² + a² or a² are larger
than ``TILT`` and ``SIDE`` of the whole, later than another would be better by a little, so that a
vector near the border of two labels does not change between them.
"""

from math import sqrt

from polhode._compile import blend, mask, rint
from polhode.kernels.quaternion import hamilton

TILT, SIDE = 0.75, 0.5
HALF = sqrt(0.5)


def parts_of(label):
    """Masks (shift is 1, shift is 2, flip, swap)."""
    k = rint(label)  # dense output may round it
    swap = mask(k > 5.5)
    k = blend(swap, k - 6.0, k)
    flip = mask(k > 2.5)
    k = blend(flip, k - 3.0, k)
    return mask(k == 1.0), mask(k == 2.0), flip, swap


def signs(flip, swap):
    """Those of b and c in (1)."""
    c = blend(flip, -1.0, 1.0)
    return blend(swap, -c, c), c


def ordered(label, v):
    """The components along A, B and C, without the signs."""
    once, twice, _, swap = parts_of(label)
    x, y, z = blend(once, (v[1], v[2], v[0]), blend(twice, (v[2], v[0], v[1]), (v[0], v[1], v[2])))
    return blend(swap, (y, x, z), (x, y, z))


def labelled(label, v):
    """(a, b, c) from (v1, v2, v3)."""
    _, _, flip, swap = parts_of(label)
    a, b, c = ordered(label, v)
    s, r = signs(flip, swap)
    return a, s * b, r * c  # (1)


def unlabelled(label, v):
    """(v1, v2, v3) from (a, b, c)."""
    once, twice, flip, swap = parts_of(label)
    s, r = signs(flip, swap)
    a, b, z = v[0], s * v[1], r * v[2]
    x, y = blend(swap, (b, a), (a, b))
    return blend(once, (z, x, y), blend(twice, (y, z, x), (x, y, z)))


def attitude(label):
    """The quaternion of the labelled axes: v = g (a, b, c) g*."""
    once, twice, flip, swap = parts_of(label)
    s = blend(once, 0.5, blend(twice, -0.5, 0.0))
    shift = blend(once, 0.5, blend(twice, 0.5, 1.0)), s, s, s
    turned = blend(flip, (0.0, HALF, HALF, 0.0), (HALF, 0.0, 0.0, HALF))
    straight = blend(flip, (0.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    return hamilton(shift, blend(swap, turned, straight))


def label_for(v):
    """The label that suits a vector."""
    x, y, z = abs(v[0]), abs(v[1]), abs(v[2])
    first, second = mask((x > y) & (x > z)), mask((y >= x) & (y > z))
    x, y, z = blend(
        first,
        (v[1], v[2], v[0]),
        blend(second, (v[2], v[0], v[1]), (v[0], v[1], v[2])),
    )
    shift = blend(first, 1.0, blend(second, 2.0, 0.0))
    flip = blend(mask(z < 0.0), 3.0, 0.0)
    return shift + flip + blend(mask(abs(x) > abs(y)), 6.0, 0.0)


def suits(a, b, whole):
    """Whether a label still is good enough for a vector of that length."""
    w = whole * whole
    return (a * a <= SIDE * w) & (a * a + b * b <= TILT * w)
