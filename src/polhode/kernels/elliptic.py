"""Elliptic functions and integrals by means: the arithmetic-geometric mean, and Carlson's.

All take the complementary parameter mc = 1 - k², which keeps its digits as k -> 1, where computing
1 - k² would lose them: any mc >= 0, including 0 (tanh and sech), 1 (sine and cosine) and above 1
(an imaginary modulus k).

From a₀ = 1, b₀ = √mc (Abramowitz & Stegun 1972, 17.6; Celledoni & Säfström 2006, section 3)

    a' = (a + b)/2,    b' = √(a b),    lim a = lim b = π/(2K)                          (1)

and F(φ) is the limit of φₙ/(2ⁿ aₙ), with the arctangent next to φₙ in

    tan(φ' - φ) = (b/a) tan φ                                                          (2)

φ' - φ and φ lie in the same quadrant, and so φ' in one of two.  It is stored as the number of
quarter turns and the direction of the remainder, whose components are positive, so that nothing
cancels on which F depends.  In the other direction, from v = u lim a to sn, cn, dn (Bulirsch 1965),
c starts as cot v lim a and dn as 1, and from the last means to the first

    dn' = (b + c²/a')/(a + c²/a'),    c' = c dn                                        (3)

with a' the mean of a and b.  All terms are positive, so that cn and dn are accurate to the last
digits where they are small.  At the end c = cn/sn and dn² = (c² + mc)/(c² + 1).

The symmetric integrals move towards the mean (Carlson 1995): with λ = √x√y + √y√z + √z√x,

    R(x, y, z) = R((x + λ)/4, (y + λ)/4, (z + λ)/4)                                    (4)

until the arguments are so close that a series in their differences is accurate to rounding.
"""

from math import asinh, atan2, exp, expm1, inf, sqrt

from polhode.compiler.machine import fma, rint
from polhode.kernels.newton import rounding
from polhode.kernels.trig import in_reach, sincos1

QUARTER, QUARTER_REST, QUARTERS = 1.5707963267948966, 6.123233995736766e-17, 0.6366197723675814
MEANS = ((1.0, 1.0),) * 14  # the least mc > 0 needs 12; two to spare


# ---- angles in quarter turns
def reduced(u, a):
    """Return (j, r): the angle u a is j whole quarter turns and r, at most half of one.

    r is NaN where u a is too large, beyond ten times what ``sincos1`` takes.
    """
    v = u * a
    j = rint(v * QUARTERS)
    r = fma(-j, QUARTER_REST, fma(-j, QUARTER, v)) + fma(u, a, -v)
    return j, in_reach(0.1 * v, r)


def sincos(u, a):
    """Return (sin, cos) of the angle u a, each accurate to the last digits where it is small."""
    j, r = reduced(u, a)
    s, c1 = sincos1(r)
    c = 1.0 + c1
    j = fma(-4.0, rint(0.25 * j), j)
    s, c = (s, c) if abs(j) != 1.0 else (c, -s)
    return (s, c) if (j == 0.0) | (j == 1.0) else (-s, -c)


def whole(j, s, c):
    """Return the angle of j quarter turns and the direction (c, s)."""
    return fma(j, QUARTER, fma(j, QUARTER_REST, atan2(s, c)))


# ---- the arithmetic-geometric mean
def apart(a, b):
    """Return whether another mean of a and b would still change it."""
    return (a - b) * (a - b) > rounding() * (a * a)


def mean(mc):
    """Return the arithmetic-geometric mean of 1 and √mc."""
    a, b = 1.0, sqrt(mc)
    while apart(a, b):
        a, b = 0.5 * (a + b), sqrt(a * b)  # (1)
    return 0.5 * (a + b)


def complete_k(mc):
    """Return K, the quarter period, within 4 ulp; infinite for mc = 0."""
    return QUARTER / mean(mc) if mc > 0.0 else inf


def with_means(means, a, b):
    """Return the means with one more pair in front and without the last."""
    return ((a, b), *means[:-1])


def sn_cn_dn(u, mc):
    """Return (sn u, cn u, dn u) for any u, up to 1e15 K.

    Within 3 ulp of the value plus 3 times the effect of one ulp of u (6 and 6 for mc < 0.1).
    """
    if (1.0 + mc) * (u * u) <= rounding():
        return u, 1.0, 1.0
    if mc == 0.0:
        e, twice = exp(-abs(u)), expm1(-2.0 * abs(u))
        c = 2.0 * e / fma(e, e, 1.0)
        s = -twice / fma(e, e, 1.0)
        return s if u >= 0.0 else -s, c, c
    a, b, means, count = 1.0, sqrt(mc), MEANS, 1
    while apart(a, b):
        means, count = with_means(means, a, b), count + 1
        a, b = 0.5 * (a + b), sqrt(a * b)  # (1)
    means = with_means(means, a, b)
    last = 0.5 * (a + b)
    s, c = sincos(u, last)
    if s == 0.0:
        return s, c, 1.0
    ratio, dn = c / s, 1.0
    c = last * ratio
    for i in range(count):
        a, b = means[i]
        square, c = ratio * c, c * dn
        dn = (b + square) / (a + square)  # (3)
        ratio = c / a
    square = fma(c, c, 1.0)
    sn = 1.0 / sqrt(square)
    sn = sn if s >= 0.0 else -sn
    return sn, c * sn, sqrt(fma(c, c, mc) / square)


def integral(j, s, c, mc):
    """Return F of j quarter turns and the angle of the direction (c, s), both positive.

    For mc = 0 it is infinite if j > 0 or c = 0.
    """
    if mc == 0.0:
        return asinh(s / c) if (j == 0.0) & (c > 0.0) else inf
    a, b, scale = 1.0, sqrt(mc), 1.0
    more = True
    while more:
        more = apart(a, b)
        odd = j != 2.0 * rint(0.5 * j)
        x, y = (b * c, a * s) if odd else (a * c, b * s)  # (2)
        s, c, j = fma(s, x, c * y), fma(c, x, -(s * y)), j + j
        s, c, j = (s, c, j) if c >= 0.0 else (-c, s, j + 1.0)
        largest = max(s, c)
        s, c = s / largest, c / largest
        a, b, scale = 0.5 * (a + b), sqrt(a * b), scale + scale  # (1)
    return whole(j, s, c) / (scale * a)


def elliptic_f(phi, mc):
    """Return F(phi), the integral of 1/√(cos² + mc sin²) from 0 to phi; as accurate as sn."""
    j, r = reduced(abs(phi), 1.0)
    s, c1 = sincos1(r)
    s, c, j = (s, 1.0 + c1, j) if s >= 0.0 else (1.0 + c1, -s, j - 1.0)
    f = integral(j, s, c, mc)
    return f if phi >= 0.0 else -f


# ---- Carlson's symmetric integrals, for numbers >= 0 from 1e-100 to 1e100: RF and RC within 4 ulp,
# ---- RJ and RD within 8
def rf(x, y, z):
    """Return RF(x, y, z); at most one of the three may be 0."""
    if (x + y == 0.0) | (y + z == 0.0) | (z + x == 0.0):
        return inf
    a = (x + y + z) / 3.0
    dx, dy, f = a - x, a - y, 1.0
    far = 404.0 * max(abs(dx), abs(dy), abs(a - z))
    while f * far > a:
        root, rooty, rootz = sqrt(x), sqrt(y), sqrt(z)
        step = fma(root, rooty, fma(rooty, rootz, rootz * root))  # (4)
        x, y, z = 0.25 * (x + step), 0.25 * (y + step), 0.25 * (z + step)
        a, f = 0.25 * (a + step), 0.25 * f
    dx, dy = dx * (f / a), dy * (f / a)
    dz = -(dx + dy)
    e2, e3 = fma(dx, dy, -(dz * dz)), dx * dy * dz
    high = e2 * fma(e2, 1.0 / 24.0, fma(e3, -3.0 / 44.0, -0.1)) + e3 / 14.0
    return (1.0 + high) / sqrt(a)


def rc(x, y):
    """Return RC(x, y) = RF(x, y, y); y > 0."""
    if y == 0.0:
        return inf
    a = (x + y + y) / 3.0
    d, f = y - a, 1.0
    far = 60.0 * abs(x - a)
    while f * far > a:
        step = fma(2.0 * sqrt(x), sqrt(y), y)
        x, y, a, f = 0.25 * (x + step), 0.25 * (y + step), 0.25 * (a + step), 0.25 * f
    d = d * (f / a)
    high = fma(d, fma(d, fma(d, 9.0 / 8.0, 159.0 / 208.0), 9.0 / 22.0), 3.0 / 8.0)
    return fma(d * d, fma(d, fma(d, high, 1.0 / 7.0), 0.3), 1.0) / sqrt(a)


def series_of_third_kind(e2, e3, e4, e5):
    """Return the series of RJ and RD in the symmetric functions of the differences, minus 1."""
    low = e2 * fma(e2, 9.0 / 88.0, fma(e3, -9.0 / 52.0, -3.0 / 14.0))
    return low + (e3 / 6.0 + fma(e4, -3.0 / 22.0, e5 * (3.0 / 26.0)))


def rj(x, y, z, p):
    """Return RJ(x, y, z, p); at most one of x, y, z may be 0, p > 0."""
    if (x + y == 0.0) | (y + z == 0.0) | (z + x == 0.0) | (p == 0.0):
        return inf
    a = (x + y + z + p + p) / 5.0
    dx, dy, dz, f, total = a - x, a - y, a - z, 1.0, 0.0
    far = 600.0 * max(abs(dx), abs(dy), abs(dz), abs(a - p))
    while f * far > a:
        rootx, rooty, rootz, rootp = sqrt(x), sqrt(y), sqrt(z), sqrt(p)
        step = fma(rootx, rooty, fma(rooty, rootz, rootz * rootx))  # (4)
        d = (rootp + rootx) * (rootp + rooty) * (rootp + rootz)
        total = fma(f / d, rc(1.0, 2.0 * rootp * (p + step) / d), total)
        x, y, z, p = 0.25 * (x + step), 0.25 * (y + step), 0.25 * (z + step), 0.25 * (p + step)
        a, f = 0.25 * (a + step), 0.25 * f
    dx, dy, dz = dx * (f / a), dy * (f / a), dz * (f / a)
    dp, xyz = -0.5 * (dx + dy + dz), dx * dy * dz
    e2 = fma(dx, dy, fma(dy, dz, dz * dx)) - 3.0 * (dp * dp)
    e3 = fma(2.0 * dp, fma(2.0 * dp, dp, e2), xyz)
    e4, e5 = dp * fma(dp, fma(3.0 * dp, dp, e2), 2.0 * xyz), xyz * (dp * dp)
    return fma(f / (a * sqrt(a)), 1.0 + series_of_third_kind(e2, e3, e4, e5), 6.0 * total)


def rd(x, y, z):
    """Return RD(x, y, z) = RJ(x, y, z, z); at most one of x and y may be 0, z > 0."""
    if (x + y == 0.0) | (z == 0.0):
        return inf
    a = (x + y + 3.0 * z) / 5.0
    dx, dy, f, total = a - x, a - y, 1.0, 0.0
    far = 600.0 * max(abs(dx), abs(dy), abs(a - z))
    while f * far > a:
        rootx, rooty, rootz = sqrt(x), sqrt(y), sqrt(z)
        step = fma(rootx, rooty, fma(rooty, rootz, rootz * rootx))  # (4)
        total = total + f / (rootz * (z + step))
        x, y, z = 0.25 * (x + step), 0.25 * (y + step), 0.25 * (z + step)
        a, f = 0.25 * (a + step), 0.25 * f
    dx, dy = dx * (f / a), dy * (f / a)
    dz = -(dx + dy) / 3.0
    xy, zz = dx * dy, dz * dz
    e2, e3 = fma(-6.0, zz, xy), dz * fma(-8.0, zz, 3.0 * xy)
    e4, e5 = 3.0 * zz * (xy - zz), xy * (zz * dz)
    return fma(f / (a * sqrt(a)), 1.0 + series_of_third_kind(e2, e3, e4, e5), 3.0 * total)
