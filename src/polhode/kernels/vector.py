"""Three-vectors as tuples, and systems of three linear equations."""

from polhode.compiler.machine import fma


def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def subtract(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def multiply(f, a):
    """Return the number f times the vector a."""
    return f * a[0], f * a[1], f * a[2]


def add_scaled(a, f, b):
    """Return a + f b."""
    return fma(f, b[0], a[0]), fma(f, b[1], a[1]), fma(f, b[2], a[2])


def scale(a, b):
    """Return the product by components: a diagonal matrix times a vector."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


def dot(a, b):
    return fma(a[0], b[0], fma(a[1], b[1], a[2] * b[2]))


def cross(a, b):
    return (
        fma(a[1], b[2], -(a[2] * b[1])),
        fma(a[2], b[0], -(a[0] * b[2])),
        fma(a[0], b[1], -(a[1] * b[0])),
    )


def solve3(rows, b):
    """Solve rows · x = b by Cramer's rule."""
    r1, r2, r3 = rows
    c23, c31, c12 = cross(r2, r3), cross(r3, r1), cross(r1, r2)
    f = 1.0 / dot(r1, c23)
    x = add_scaled(add_scaled(multiply(b[0], c23), b[1], c31), b[2], c12)
    return multiply(f, x)
