"""Plain and compensated sums of a state and its changes: ``x, e = plus3(x, e, change)``.

In plain sums e is empty and this is x + change.  In compensated sums e is the accumulated rounding
error of x: with the change d,

    y = d + e,    x' = x + y,    e' = (y - (x' - x)) + (e - (y - d))                   (1)

loses nothing but the rounding of e itself (Kahan 1965, plus the error of the first sum for
|d| >= |e|).  x stays the leading part.  ``COMPENSATED`` maps plain functions to replacements.
"""

from collections.abc import Callable

from polhode.compiler.machine import fma
from polhode.kernels.vector import add, add_scaled


# ---- plain
def no_loss3(x):
    """Return the initial e of a vector."""
    return ()


def no_loss4(q):
    """Return the initial e of a quaternion."""
    return ()


def plus3(x, e, d):
    """Return (x + d, e) of vectors."""
    return add(x, d), e


def plus_scaled3(x, e, f, d):
    """Return (x + f d, e) of vectors."""
    return add_scaled(x, f, d), e


# ---- compensated
def zeros3(x):
    return 0.0 * x[0], 0.0 * x[1], 0.0 * x[2]


def zeros4(q):
    return 0.0 * q[0], 0.0 * q[1], 0.0 * q[2], 0.0 * q[3]


def added(x, e, d):
    """Return (x', e') of numbers."""
    y = d + e
    new = x + y
    return new, (y - (new - x)) + (e - (y - d))  # (1)


def added3(x, e, d):
    x1, e1 = added(x[0], e[0], d[0])
    x2, e2 = added(x[1], e[1], d[1])
    x3, e3 = added(x[2], e[2], d[2])
    return (x1, x2, x3), (e1, e2, e3)


def added_scaled(x, e, f, d):
    """Return (x', e') for the change f d: f d + e is rounded once, as f d would be alone."""
    y = fma(f, d, e)
    new = x + y
    return new, y - (new - x)


def added_scaled3(x, e, f, d):
    x1, e1 = added_scaled(x[0], e[0], f, d[0])
    x2, e2 = added_scaled(x[1], e[1], f, d[1])
    x3, e3 = added_scaled(x[2], e[2], f, d[2])
    return (x1, x2, x3), (e1, e2, e3)


def two_sum(a, b):
    """Return (a + b, its rounding error), whichever is larger."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


def square(x):
    """Return (x², its rounding error)."""
    s = x * x
    return s, fma(x, x, -s)


COMPENSATED: dict[Callable, Callable] = {
    no_loss3: zeros3,
    no_loss4: zeros4,
    plus3: added3,
    plus_scaled3: added_scaled3,
}
