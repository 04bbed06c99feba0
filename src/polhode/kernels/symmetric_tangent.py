"""The derivative of the exact motion of a free body with two equal moments.

With axis 3 the axis of symmetry and the notation of ``symmetric_flow``, the rotation is
exp(psi) exp(k e_3), psi = t m / I1, k = t m3 (1/I3 - 1/I1).  So with E the matrix of exp(-k e_3)

    dφ = E (dpsi - α psi x dpsi + β psi x (psi x dpsi)) + e_3 dk                       (1)
    dm' = E dm + m' x e_3 dk                                                           (2)
    α = (1 - cos a)/a²,    β = (a - sin a)/a³,    a = |psi|

for every time.  A change of the moments that makes all three different is not in these, but in
``free_tangent_of_moments``.
"""

from polhode.compiler.machine import blend, fma, mask
from polhode.kernels.so3 import SERIES, beta_series
from polhode.kernels.symmetric_flow import forth, half1, sinc1, twice
from polhode.kernels.vector import dot, multiply


def symmetric_tangent_3(t, m, moments, inverse, turn, new_m):
    """Return ``free_tangent`` for a body symmetric about its axis 3."""
    r, x = t * inverse[0], t * (inverse[2] - inverse[0])
    p1, p2, p3 = psi = multiply(r, m)
    z = dot(psi, psi)
    f, c1 = sinc1(z)
    far = fma(-2.0 * f, 1.0 + c1, 1.0) / blend(mask(z < SERIES), 1.0, z)
    a, b = 2.0 * (f * f), blend(mask(z < SERIES), beta_series(z), far)
    s, d1 = half1((t * m[2]) * (inverse[2] - inverse[0]))
    (sine, cosine1), _ = twice(s, d1)
    d, a1, a2, a3 = fma(-b, z, 1.0), a * p1, a * p2, a * p3
    b12, b23, b31 = b * (p1 * p2), b * (p2 * p3), b * (p3 * p1)
    first = fma(b, p1 * p1, d), b12 - a3, b31 + a2  # (1)
    second = b12 + a3, fma(b, p2 * p2, d), b23 - a1
    third = b31 - a2, b23 + a1, fma(b, p3 * p3, d)
    a1, a2, a3 = multiply(r, spun(sine, cosine1, third))
    dphi = multiply(r, spun(sine, cosine1, first)), multiply(r, spun(sine, cosine1, second))
    zero = 0.0 * x
    change = (  # (2)
        (cosine1, -sine, zero),
        (sine, cosine1, zero),
        (x * new_m[1], -(x * new_m[0]), zero),
    )
    return (*dphi, (a1, a2, a3 + x)), change


def spun(sine, cosine1, v):
    """Return exp(-k e_3) v."""
    return (
        v[0] + fma(sine, v[1], cosine1 * v[0]),
        v[1] + fma(-sine, v[0], cosine1 * v[1]),
        v[2],
    )


def symmetric_tangent_1(t, m, moments, inverse, turn, new_m):
    """Return ``free_tangent`` for a body symmetric about its axis 1."""
    m, inverse, new_m = forth(m), forth(inverse), forth(new_m)
    dphi, change = symmetric_tangent_3(t, m, moments, inverse, turn, new_m)
    return twice_forth(dphi), twice_forth(change)


def symmetric_tangent_2(t, m, moments, inverse, turn, new_m):
    """Return ``free_tangent`` for a body symmetric about its axis 2."""
    m, inverse, new_m = forth(forth(m)), forth(forth(inverse)), forth(forth(new_m))
    dphi, change = symmetric_tangent_3(t, m, moments, inverse, turn, new_m)
    return twice_forth(twice_forth(dphi)), twice_forth(twice_forth(change))


def twice_forth(columns):
    """Permute the axes of a matrix cyclically, twice."""
    a, b, c = columns
    return forth(forth((forth(forth(a)), forth(forth(b)), forth(forth(c)))))


SYMMETRIC_TANGENTS = symmetric_tangent_1, symmetric_tangent_2, symmetric_tangent_3
