"""Euler's equations in body axes: the rate of the momentum of a free body, and its derivative."""

from polhode.compiler.machine import fma


def gyroscopic(m, a):
    """Return m x (a m), the rate of the momentum m in body axes; ``a`` are the inverse moments.

    Written with differences of ``a``, so that it vanishes exactly about an axis of symmetry.
    """
    (m1, m2, m3), (a1, a2, a3) = m, a
    return (a3 - a2) * (m2 * m3), (a1 - a3) * (m3 * m1), (a2 - a1) * (m1 * m2)


def gyroscopic_newton_rows(f, m, a):
    """Return the rows of 1 - f d(m x (a m))/dm."""
    (m1, m2, m3), (a1, a2, a3) = m, a
    f1, f2, f3 = f * (a3 - a2), f * (a1 - a3), f * (a2 - a1)
    return (
        (1.0, -(f1 * m3), -(f1 * m2)),
        (-(f2 * m3), 1.0, -(f2 * m1)),
        (-(f3 * m2), -(f3 * m1), 1.0),
    )


def euler_newton_rows(f, a, jacobian):
    """Return the rows of 1 - f a·jacobian, for unknown rotation vectors; ``a`` scales the rows."""
    (r1, r2, r3), (a1, a2, a3) = jacobian, a
    f1, f2, f3 = f * a1, f * a2, f * a3
    return (
        (fma(-f1, r1[0], 1.0), -(f1 * r1[1]), -(f1 * r1[2])),
        (-(f2 * r2[0]), fma(-f2, r2[1], 1.0), -(f2 * r2[2])),
        (-(f3 * r3[0]), -(f3 * r3[1]), fma(-f3, r3[2], 1.0)),
    )


def with_skew(rows, f, w):
    """Return rows + f [w]x."""
    (r1, r2, r3), (w1, w2, w3) = rows, w
    f1, f2, f3 = f * w1, f * w2, f * w3
    return (
        (r1[0], r1[1] - f3, r1[2] + f2),
        (r2[0] + f3, r2[1], r2[2] - f1),
        (r3[0] - f2, r3[1] + f1, r3[2]),
    )
