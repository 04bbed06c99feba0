"""Quaternions ``q = (w, x, y, z)``, Hamilton's product, body to inertial: ``v_N = q v_B q*``.

A small turn is kept as ``(c1, v)``, the quaternion ``(1 + c1, v)``: products and turns with it are
written as increments, so that |q| and |m| drift as the square root of the number of steps.
"""

from polhode._compile import fma
from polhode.kernels.vector import add, add_scaled, cross, dot


def conjugate(q):
    return q[0], -q[1], -q[2], -q[3]


def product(p, q):
    """p q."""
    return product1(p, q[0] - 1.0, (q[1], q[2], q[3]))


def product1(q, c1, v):
    """q (1 + c1, v), as an increment of q."""
    d = product_change(q, c1, v)
    return q[0] + d[0], q[1] + d[1], q[2] + d[2], q[3] + d[3]


def product_change(q, c1, v):
    """q (1 + c1, v) - q."""
    w, x, y, z = q
    return (
        fma(c1, w, -dot((x, y, z), v)),
        fma(c1, x, fma(w, v[0], fma(y, v[2], -(z * v[1])))),
        fma(c1, y, fma(w, v[1], fma(z, v[0], -(x * v[2])))),
        fma(c1, z, fma(w, v[2], fma(x, v[1], -(y * v[0])))),
    )


def turned_back(c1, v, m):
    """m seen from axes turned by the quaternion (1 + c1, v): an increment of m."""
    return add(m, turned_back_change(c1, v, m))


def turned_back_change(c1, v, m):
    """``turned_back`` less m."""
    k = cross(v, m)
    k = k[0] + k[0], k[1] + k[1], k[2] + k[2]
    return add_scaled(add_scaled(cross(v, k), -c1, k), -1.0, k)


def turned(c1, v, m):
    """m turned by the quaternion (1 + c1, v)."""
    return turned_back(c1, (-v[0], -v[1], -v[2]), m)


def to_body(q, v):
    """q* v q: from inertial to body axes."""
    return turned_back(q[0] - 1.0, (q[1], q[2], q[3]), v)


def to_inertial(q, v):
    """q v q*: from body to inertial axes."""
    return turned(q[0] - 1.0, (q[1], q[2], q[3]), v)


def vertical(q):
    """The inertial e_z in body axes, the third row of the attitude matrix."""
    w, x, y, z = q
    return (
        2.0 * fma(x, z, -(w * y)),
        2.0 * fma(y, z, w * x),
        fma(w, w, z * z) - fma(x, x, y * y),
    )
