"""Newton's method for three unknowns, one correction at a time, to rounding.

Done when the next correction, judged from the last two, is below rounding, or when corrections near
rounding no longer shrink: the first one below 64 times it, later ones below 4096 times it, for a
stiff torque magnifies the rounding of its argument.  Sizes are squared.  A correction that never
gets there (or is NaN) is for the loop to count and to report.
"""

from polhode.kernels.vector import dot, solve3, subtract


def rounding():
    """The relative error of one operation (a function, so that other numbers may bind theirs)."""
    return 1.1102230246251565e-16


def settled(size, last, whole):
    """Whether to stop after corrections ``last`` and ``size`` of an unknown ``whole``."""
    least = rounding() * rounding() * whole
    near = 64.0 * 64.0 if last == 0.0 else 4096.0 * 4096.0
    limit = last if size < last else near * size  # not shrinking: size <= near least
    return size * size <= least * limit


def corrected(x, last, residual, rows, scale):
    """(x, size, done) after one correction.

    ``rows`` is the Jacobian of ``residual``; ``scale`` the squared size of what x is added to, in
    case x itself may vanish.
    """
    change = solve3(rows, residual)
    x = subtract(x, change)
    size = dot(change, change)
    return x, size, settled(size, last, dot(x, x) + scale)


def extrapolated(h, rates):
    """h times the rate that follows three equally spaced ones, the newest first: a first guess."""
    (a1, a2, a3), (b1, b2, b3), (c1, c2, c3) = rates
    return (
        h * (3.0 * (a1 - b1) + c1),
        h * (3.0 * (a2 - b2) + c2),
        h * (3.0 * (a3 - b3) + c3),
    )


def history(h, x, rates):
    """The rates with x/h as the newest."""
    f = 1.0 / h
    return (f * x[0], f * x[1], f * x[2]), rates[0], rates[1]
