"""Quaternions ``q = (w, x, y, z)``, Hamilton's product, body to inertial: ``v_N = q v_B q*``.

A small rotation is stored as ``(c1, v)`` for the quaternion ``(1 + c1, v)``: products and rotations
with it are written as increments,

    (w, u) (1 + c1, v) - (w, u) = (c1 w - u·v, c1 u + w v + u x v)                     (1)
    E* m E - m = v x k - (1 + c1) k,    k = 2 v x m,    E = (1 + c1, v)                (2)

so that |q| and |m| drift only as the square root of the number of steps.
"""

from math import sqrt

from polhode.compiler.machine import fma
from polhode.kernels.vector import add, add_scaled, cross, dot


def conjugate(q):
    return q[0], -q[1], -q[2], -q[3]


def hamilton(p, q):
    """Return p q of any two quaternions, unit or not."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        fma(a, w, -fma(b, x, fma(c, y, d * z))),
        fma(a, x, fma(b, w, fma(c, z, -(d * y)))),
        fma(a, y, fma(c, w, fma(d, x, -(b * z)))),
        fma(a, z, fma(d, w, fma(b, y, -(c * x)))),
    )


def product(p, q):
    """Return p q for a rotation q, written as an increment of p."""
    return product1(p, q[0] - 1.0, (q[1], q[2], q[3]))


def product1(q, c1, v):
    """Return q (1 + c1, v), as an increment of q."""
    d = product_change(q, c1, v)
    return q[0] + d[0], q[1] + d[1], q[2] + d[2], q[3] + d[3]


def product_change(q, c1, v):
    """Return q (1 + c1, v) - q."""
    w, x, y, z = q
    return (
        fma(c1, w, -dot((x, y, z), v)),  # (1)
        fma(c1, x, fma(w, v[0], fma(y, v[2], -(z * v[1])))),
        fma(c1, y, fma(w, v[1], fma(z, v[0], -(x * v[2])))),
        fma(c1, z, fma(w, v[2], fma(x, v[1], -(y * v[0])))),
    )


def turned_back(c1, v, m):
    """Return m in axes rotated by the quaternion (1 + c1, v), as an increment of m."""
    return add(m, turned_back_change(c1, v, m))


def turned_back_change(c1, v, m):
    """Return ``turned_back`` less m."""
    k = cross(v, m)
    k = k[0] + k[0], k[1] + k[1], k[2] + k[2]
    return add_scaled(add_scaled(cross(v, k), -c1, k), -1.0, k)  # (2)


def turned(c1, v, m):
    """Return m rotated by the quaternion (1 + c1, v)."""
    return turned_back(c1, (-v[0], -v[1], -v[2]), m)


def to_body(q, v):
    """Return q* v q: v from inertial to body axes."""
    return turned_back(q[0] - 1.0, (q[1], q[2], q[3]), v)


def to_inertial(q, v):
    """Return q v q*: v from body to inertial axes."""
    return turned(q[0] - 1.0, (q[1], q[2], q[3]), v)


def vertical(q):
    """Return the inertial e_z in body axes, the third row of the attitude matrix."""
    g1, g2, g3 = half_vertical(q)
    return 2.0 * g1, 2.0 * g2, g3


def half_vertical(q):
    """Return ``vertical`` with its first two components halved, which saves doubling them."""
    w, x, y, z = q
    return fma(x, z, -(w * y)), fma(y, z, w * x), fma(w, w, z * z) - fma(x, x, y * y)


def left_rate(omega, q):
    """Return ω q / 2: the rate of change of q for an angular velocity in inertial axes."""
    w, x, y, z = q
    a, b, c = 0.5 * omega[0], 0.5 * omega[1], 0.5 * omega[2]
    return (
        -fma(a, x, fma(b, y, c * z)),
        fma(a, w, fma(b, z, -(c * y))),
        fma(b, w, fma(c, x, -(a * z))),
        fma(c, w, fma(a, y, -(b * x))),
    )


def half_rate(q, half):
    """Return q h: the rate of change of q for the angular velocity 2 h in body axes."""
    w, x, y, z = q
    a, b, c = half
    return (
        -fma(a, x, fma(b, y, c * z)),
        fma(a, w, fma(c, y, -(b * z))),
        fma(b, w, fma(a, z, -(c * x))),
        fma(c, w, fma(b, x, -(a * y))),
    )


def to_unit_length(q):
    """Return q / |q|."""
    w, x, y, z = q
    f = 1.0 / sqrt(fma(w, w, fma(x, x, fma(y, y, z * z))))
    return f * w, f * x, f * y, f * z


def columns(q):
    """Return the columns of the attitude matrix: the body axes in inertial axes."""
    return (
        to_inertial(q, (1.0, 0.0, 0.0)),
        to_inertial(q, (0.0, 1.0, 0.0)),
        to_inertial(q, (0.0, 0.0, 1.0)),
    )


def squared_up(a, b, c):
    """Take one step towards the nearest rotation matrix, by columns: X (3 - XᵀX) / 2.

    An error e of lengths and angles becomes 3e²/4 (Higham 1986, without an inverse).
    """
    aa, bb, cc = 1.5 - 0.5 * dot(a, a), 1.5 - 0.5 * dot(b, b), 1.5 - 0.5 * dot(c, c)
    ab, bc, ca = -0.5 * dot(a, b), -0.5 * dot(b, c), -0.5 * dot(c, a)
    return (
        add_scaled(add_scaled((aa * a[0], aa * a[1], aa * a[2]), ab, b), ca, c),
        add_scaled(add_scaled((bb * b[0], bb * b[1], bb * b[2]), bc, c), ab, a),
        add_scaled(add_scaled((cc * c[0], cc * c[1], cc * c[2]), ca, a), bc, b),
    )


def of_columns(a, b, c):
    """Return the quaternion of the rotation nearest to the matrix with these columns.

    The largest of w, x, y, z is computed first, so that nothing cancels (Shepperd 1978).
    """
    a, b, c = squared_up(a, b, c)
    a, b, c = squared_up(a, b, c)
    trace = a[0] + b[1] + c[2]
    if trace >= a[0] and trace >= b[1] and trace >= c[2]:
        q = 1.0 + trace, b[2] - c[1], c[0] - a[2], a[1] - b[0]
    elif a[0] >= b[1] and a[0] >= c[2]:
        q = b[2] - c[1], 1.0 + a[0] - b[1] - c[2], a[1] + b[0], c[0] + a[2]
    elif b[1] >= c[2]:
        q = c[0] - a[2], a[1] + b[0], 1.0 - a[0] + b[1] - c[2], b[2] + c[1]
    else:
        q = a[1] - b[0], c[0] + a[2], b[2] + c[1], 1.0 - a[0] - b[1] + c[2]
    return to_unit_length(q)
