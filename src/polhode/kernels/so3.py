"""The rotation group: exp, log, Cayley, the differential of exp and its inverse.

``psi`` is a rotation vector.  All small-angle series of the library are here, with one threshold
``SERIES``, below which the closed forms would cancel.

    exp psi       = (cos a/2, sin(a/2)/a psi),    a = |psi|                            (1)
    dexp_psi v    = v + alpha psi x v + beta psi x (psi x v)                           (2)
    dexpinv_psi v = v - psi x v / 2 + gamma psi x (psi x v)                            (3)
    cay psi       = (1, psi/2) / √(1 + |psi|²/4)                                       (4)

with alpha = (1 - cos a) / a², beta = (a - sin a) / a³, gamma = (1 - (a/2) cot(a/2)) / a².

The attitude q exp(psi) has the body rate ``dexp_{-psi} psi'`` (mind the sign: Krysl 2006, (10)).
"""

from math import atan2, sqrt

from polhode.compiler.machine import fma
from polhode.kernels.trig import sincos1, sincos1_of_turn
from polhode.kernels.vector import add_scaled, cross, dot

SERIES = 0.25  # a² below which a series is used: closed forms would lose about 1 ulp of v
TINY = 1e-300  # keeps sin(a)/a finite at a = 0, and changes nothing elsewhere

# beta = Σ (-a²)^k / (2k+3)!,  gamma = Σ |B_(2k+2)| a^(2k) / (2k+2)!
B0, B1, B2, B3 = 1 / 6, -1 / 120, 1 / 5040, -1 / 362880
B4, B5, B6 = 1 / 39916800, -1 / 6227020800, 1 / 1307674368000
G0, G1, G2, G3 = 1 / 12, 1 / 720, 1 / 30240, 1 / 1209600
G4, G5, G6 = 1 / 47900160, 691 / 1307674368000, 1 / 74724249600
G7, G8 = 3617 / 10670622842880000, 43867 / 5109094217170944000


def exp1(psi):
    """Return (c1, v): the rotation exp(psi) as the quaternion (1 + c1, v)."""
    n = sqrt(fma(psi[0], psi[0], fma(psi[1], psi[1], fma(psi[2], psi[2], TINY))))
    s, c1 = sincos1_of_turn(0.5 * n)
    s = s / n
    return c1, (s * psi[0], s * psi[1], s * psi[2])  # (1)


def exp(psi):
    """Return the quaternion exp(psi)."""
    c1, v = exp1(psi)
    return 1.0 + c1, v[0], v[1], v[2]


def log(q):
    """Return the rotation vector of q, at most half a turn; the same for q and -q."""
    w, x, y, z = q
    n = sqrt(fma(x, x, fma(y, y, fma(z, z, TINY))))
    f = 2.0 * atan2(n, abs(w)) / n
    f = f if w >= 0.0 else -f
    return f * x, f * y, f * z


def cayley1(psi):
    """Return (c1, v): the Cayley rotation (1 - [psi]/2)^-1 (1 + [psi]/2), half-angle form.

    Its quaternion is (1, psi/2) / sqrt(1 + |psi|²/4): a rotation by 2 atan(|psi|/2).
    """
    k = 0.25 * dot(psi, psi)
    root = sqrt(1.0 + k)
    c1 = -k / fma(root, root, root)
    f = 0.5 / root
    return c1, (f * psi[0], f * psi[1], f * psi[2])  # (4)


def cayley(psi):
    """Return the quaternion of the Cayley rotation."""
    c1, v = cayley1(psi)
    return 1.0 + c1, v[0], v[1], v[2]


def alpha(a2):
    """Return (1 - cos a) / a²."""
    n = sqrt(a2 + TINY)
    s, _ = sincos1(0.5 * n)
    s = s / n
    return 2.0 * (s * s)


def beta(a2):
    """Return (a - sin a) / a³."""
    series, n = beta_series(a2), sqrt(a2 + TINY)
    s, _ = sincos1(n)
    return series if a2 < SERIES else (n - s) / (n * a2)


def beta_series(a2):
    low = fma(a2, fma(a2, B2, B1), B0)
    return fma(a2 * (a2 * a2), fma(a2, fma(a2, fma(a2, B6, B5), B4), B3), low)


def gamma(a2):
    """Return (1 - (a/2) cot(a/2)) / a²."""
    half = 0.5 * sqrt(a2 + TINY)
    s, c1 = sincos1(half)
    return gamma_series(a2) if a2 < SERIES else (1.0 - half * (1.0 + c1) / s) / a2


def gamma_series(a2):
    low = fma(a2, fma(a2, fma(a2, G3, G2), G1), G0)
    high = fma(a2, fma(a2, fma(a2, fma(a2, G8, G7), G6), G5), G4)
    return fma((a2 * a2) * (a2 * a2), high, low)


def dexp(psi, v):
    """Return dexp_psi v."""
    a2 = dot(psi, psi)
    k = cross(psi, v)
    return add_scaled(add_scaled(v, alpha(a2), k), beta(a2), cross(psi, k))  # (2)


def dexpinv(psi, v):
    """Return dexpinv_psi v; singular at |psi| = 2 pi."""
    return dexpinv_by(gamma(dot(psi, psi)), psi, v)


def dexpinv_by(g, psi, v):
    """Return dexpinv_psi v with gamma given."""
    k = cross(psi, v)
    return add_scaled(add_scaled(v, -0.5, k), g, cross(psi, k))  # (3)


def exp1_and_gamma(psi):
    """Return (c1, v, gamma) with one root and one sine, which lanes would otherwise do twice."""
    a2 = fma(psi[0], psi[0], fma(psi[1], psi[1], fma(psi[2], psi[2], TINY)))
    n = sqrt(a2)
    s, c1 = sincos1_of_turn(0.5 * n)
    s = s / n
    twice, series = s + s, gamma_series(a2)
    g = series if a2 < SERIES else (twice - (1.0 + c1)) / (twice * a2)
    return c1, (s * psi[0], s * psi[1], s * psi[2]), g


def turned_back_jacobian(psi, n):
    """Return the rows of d(exp(-psi) m)/dpsi = [n]x dexp_{-psi}, n = exp(-psi) m, to order psi².

    For Newton's method: with u = psi, [n]x (1 - [u]x/2 + [u]x²/6), and [n]x[u]x = u nᵀ - (n·u).
    """
    (u1, u2, u3), (n1, n2, n3) = psi, n
    p1, p2, p3 = 0.5 * u1, 0.5 * u2, 0.5 * u3
    k1, k2, k3 = cross(n, psi)
    # [n]x [u]x² = [n]x (u uᵀ - u·u) = (n x u) uᵀ - u·u [n]x
    s = 1.0 / 6.0
    f, g = fma(-s, dot(psi, psi), 1.0), dot(n, (p1, p2, p3))
    h1, h2, h3 = s * k1, s * k2, s * k3
    return (
        (
            fma(h1, u1, fma(-p1, n1, g)),
            fma(h1, u2, fma(-p1, n2, -(f * n3))),
            fma(h1, u3, fma(-p1, n3, f * n2)),
        ),
        (
            fma(h2, u1, fma(-p2, n1, f * n3)),
            fma(h2, u2, fma(-p2, n2, g)),
            fma(h2, u3, fma(-p2, n3, -(f * n1))),
        ),
        (
            fma(h3, u1, fma(-p3, n1, -(f * n2))),
            fma(h3, u2, fma(-p3, n2, f * n1)),
            fma(h3, u3, fma(-p3, n3, g)),
        ),
    )
