"""Newton's method for three unknowns, one correction at a time, to rounding.

It has converged when the next correction, estimated from the last two, is below rounding, or when
corrections near rounding no longer shrink: the first below 64 times it, later ones below 4096 times
it, since a stiff torque magnifies the rounding of its argument.  Sizes are squared.  If it does not
converge (or is NaN), the loop counts and reports it.
"""

from polhode.kernels.vector import dot, solve3, subtract


def rounding():
    """Return the relative error of one operation; replaced for other number types."""
    return 1.1102230246251565e-16


def settled(size, last, whole):
    """Return whether to stop after corrections ``last`` and ``size`` of an unknown ``whole``."""
    least = rounding() * rounding() * whole
    near = 64.0 * 64.0 if last == 0.0 else 4096.0 * 4096.0
    limit = last if size < last else near * size  # not shrinking: size <= near least
    return size * size <= least * limit


def corrected(x, last, residual, rows, scale):
    """Return (x, size, done) after one correction.

    ``rows`` is the Jacobian of ``residual``; ``scale`` is the squared size of the quantity to which
    x is added, in case x itself may vanish.
    """
    change = solve3(rows, residual)
    x = subtract(x, change)
    size = dot(change, change)
    return x, size, settled(size, last, dot(x, x) + scale)


def extrapolated(h, rates):
    """Return an initial guess, h times the next rate after three equally spaced, newest first."""
    (a1, a2, a3), (b1, b2, b3), (c1, c2, c3) = rates
    return (
        h * (3.0 * (a1 - b1) + c1),
        h * (3.0 * (a2 - b2) + c2),
        h * (3.0 * (a3 - b3) + c3),
    )


def history(h, x, rates):
    """Return the rates with x/h as the newest."""
    f = 1.0 / h
    return (f * x[0], f * x[1], f * x[2]), rates[0], rates[1]
