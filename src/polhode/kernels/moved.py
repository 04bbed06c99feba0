"""Attitude and momentum at the end of a step, with what their sums lose to rounding.

With the rotation E = (1 + c1, v) of a step in body axes,

    q' = q E,    m' = E⁻¹ m                                                            (1)

as increments of q and m.  e is empty in plain sums.  In compensated ones q + e and m + e are the
numbers that are meant, and the increment, which includes e, is rounded once:

    y = d + e,    x' = x + y,    e' = y - (x' - x)                                     (2)
    d = q (c1 + f, v),    f = (1 - |q + e|²) / 2                                       (3)

f pulls q back to length 1, to rounding, unless the body is at rest.  A symmetric body turns alike
in every step, and rotations that are rounded alike lengthen q in proportion to time: for these
``rotated_to_unit`` has f in plain sums, too.  e itself is not rotated: that error, E - 1 times a
rounding error, is of the size of the rounding of y.  ``CARRIED`` maps all plain functions to
replacements.
"""

from collections.abc import Callable

from polhode.compiler.four import each
from polhode.compiler.machine import blend, fma, mask
from polhode.kernels.quaternion import product1, product_change, turned_back, turned_back_change
from polhode.kernels.sums import no_loss3, no_loss4
from polhode.kernels.tuples import minus, plus, times
from polhode.kernels.turns import KEPT, kept

AT_REST = -1e-40  # of c1; the turn of a body at rest is not quite 0


def no_losses(q, m):
    """Return the initial e of an attitude and of a momentum."""
    return no_loss4(q), no_loss3(m)


# ---- plain
def rotated(q, e, c1, v):
    """Return (q E, its e)."""
    return product1(q, c1, v), e


def rotated_to_unit(q, e, c1, v):
    """Return (q E, its e), pulled back to length 1."""
    w, x, y, z = q
    lacking = fma(-w, w, fma(-x, x, fma(-y, y, fma(-z, z, 1.0))))
    return product1(q, blend(mask(c1 < AT_REST), fma(0.5, lacking, c1), c1), v), e  # (3)


def rotated_back(m, e, c1, v):
    """Return (E⁻¹ m, its e)."""
    return turned_back(c1, v, m), e


def no_loss(z):
    """Return the initial e of a row of any number of variables."""
    return ()


def plus_scaled(z, e, f, d):
    """Return (z + f d, e) of such rows."""
    return each(fma, (f, d, z)), e


# ---- compensated
def stretch(q, e):
    """Return f of (3)."""
    (w, x, y, z), (ew, ex, ey, ez) = q, e
    lacking = fma(-w, w, fma(-x, x, fma(-y, y, fma(-z, z, 1.0))))
    along = fma(w, ew, fma(x, ex, fma(y, ey, z * ez)))
    return fma(0.5, lacking, -along)


def rotated_and_kept(q, e, c1, v):
    c1 = blend(mask(c1 < AT_REST), c1 + stretch(q, e), c1)
    d0, d1, d2, d3 = product_change(q, c1, v)
    w, e0 = kept(q[0], d0 + e[0])
    x, e1 = kept(q[1], d1 + e[1])
    y, e2 = kept(q[2], d2 + e[2])
    z, e3 = kept(q[3], d3 + e[3])
    return (w, x, y, z), (e0, e1, e2, e3)


def rotated_back_and_kept(m, e, c1, v):
    d1, d2, d3 = turned_back_change(c1, v, m)
    m1, e1 = kept(m[0], d1 + e[0])
    m2, e2 = kept(m[1], d2 + e[1])
    m3, e3 = kept(m[2], d3 + e[2])
    return (m1, m2, m3), (e1, e2, e3)


def zeros(z):
    return each(times, (0.0, z))


def plus_scaled_and_kept(z, e, f, d):
    y = each(fma, (f, d, e))
    new = each(plus, (z, y))
    return new, each(minus, (y, each(minus, (new, z))))


CARRIED: dict[Callable, Callable] = KEPT | {
    rotated: rotated_and_kept,
    rotated_to_unit: rotated_and_kept,
    rotated_back: rotated_back_and_kept,
    no_loss: zeros,
    plus_scaled: plus_scaled_and_kept,
}
