"""The three schemes of table 1 as a program would evaluate them: E, and the equations of motion.

Plain functions of scalars, so that their operations can be counted (``counted``); ``clock.c`` has
the same formulas for the clock.  Sine and cosine are computed one by one, as by a program of that
time; ``JOINTLY`` computes both at once.  The model is a body turned by two others on circles.

    new:             departures of (L, L_X, L_Y, L_A, L_B, f)
    Euler:           (φ, θ, ψ, m₁, m₂, m₃)
    Serret-Andoyer:  (l, g, h, L, G, H)
"""

from math import sqrt

from polhode.kernels.trig import cos, sin, sincos1

MOMENTS = 0.99671, 0.99674, 1.0
NOMINAL = 6.25, 0.25, -2.5, 6e-6, -4e-6, 0.5, 6.25  # L, L_X, L_Y, L_A, L_B, f at t = 0, its rate
STARTS = {
    "new": (1e-6, 2e-6, -1e-6, 1e-7, 2e-7, 1e-6),
    "Euler": (0.3, 0.4, 0.5, 1e-2, 2e-2, 6.25),
    "Serret-Andoyer": (0.3, 0.4, 0.5, 6.0, 6.25, 5.5),
}
TIME = 0.75


def turn(angle):
    """(sine, cosine)."""
    return sin(angle), cos(angle)


def turn_jointly(angle):
    s, c1 = sincos1(angle)
    return s, 1.0 + c1


JOINTLY = {turn: turn_jointly}


# ---- E
def turned(a, angle, b, zero):
    """Rows of a R₃(angle) b, a given by its columns; (column of a or row of b, place) is zero."""
    (s, c), (first, place) = turn(angle), zero
    rows = []
    for i in range(3):
        if i != place:
            u, v = c * a[0][i] + s * a[1][i], c * a[1][i] - s * a[0][i]
        elif first == 0:
            u, v = s * a[1][i], c * a[1][i]
        else:
            u, v = c * a[0][i], -(s * a[0][i])
        row = []
        for k in range(3):
            if k != place:
                row.append(u * b[0][k] + v * b[1][k] + a[2][i] * b[2][k])
            else:
                row.append((v * b[1][k] if first == 0 else u * b[0][k]) + a[2][i] * b[2][k])
        rows.append(row)
    return rows


def q12(x, y, z, w, f, g):
    """The columns of Q₁₂(x/L, y/L), from z, w, 1/L and 1/w."""
    u, v, low = y * g, z * g, x * f
    return (w * f, -(low * u), -(low * v)), (0.0, v, -u), (low, y * f, z * f)


def new_matrix(t, d):
    """E of (1), and (L, L_X, L_Y, L_Z, L_A, L_B, L_C, 1/L, 1/w of X, 1/w of A)."""
    whole, x, y, a, b = (n + change for n, change in zip(NOMINAL, d[:5], strict=False))
    square = whole * whole
    p, q = square - x * x, square - a * a
    w, v, z, c = sqrt(p), sqrt(q), sqrt(p - y * y), sqrt(q - b * b)
    both = w * v
    every = 1.0 / (whole * both)
    f, whole_inverse = every * both, every * whole
    g, h = whole_inverse * v, whole_inverse * w
    outer, inner = q12(x, y, z, w, f, g), q12(a, b, c, v, f, h)
    e = turned(outer, NOMINAL[5] + NOMINAL[6] * t + d[5], inner, (1, 0))
    return e, (whole, x, y, z, a, b, c, f, g, h)


def euler_matrix(t, y):
    """E, and (sin θ, cos θ, sin ψ, cos ψ)."""
    (b, a), (s, c), (v, u) = turn(y[0]), turn(y[1]), turn(y[2])
    ac, bc = a * c, b * c
    return [
        [a * u - bc * v, -(a * v) - bc * u, b * s],
        [b * u + ac * v, ac * u - b * v, -(a * s)],
        [s * v, s * u, c],
    ], (s, c, v, u)


def andoyer_matrix(t, y):
    """E, and (1/G, cos J, sin J, cos I, sin I, sines and cosines of l and h)."""
    f = 1.0 / y[4]
    cj, ci = f * y[3], f * y[5]
    sj, si = sqrt(1.0 - cj * cj), sqrt(1.0 - ci * ci)
    (sl, cl), (sh, ch) = turn(y[0]), turn(y[2])
    a = (ch, sh, 0.0), (-(sh * ci), ch * ci, si), (sh * si, -(ch * si), ci)
    b = (cl, -sl, 0.0), (cj * sl, cj * cl, -sj), (sj * sl, sj * cl, cj)
    return turned(a, y[1], b, (0, 2)), (f, cj, sj, ci, si, sl, cl, sh, ch)


# ---- the torque, in body and in inertial axes
def torque(t, e):
    (ss, cs), (sm, cm) = turn(0.017 * t), turn(0.23 * t)
    k, j, up = 9e-4, 2e-3, 0.09 * sm
    d = [e[0][i] * cs + e[1][i] * ss for i in range(3)]
    g = [e[0][i] * cm + e[1][i] * sm + e[2][i] * up for i in range(3)]
    a, b, c = MOMENTS
    return (
        (c - b) * (k * d[1] * d[2] + j * g[1] * g[2]),
        (a - c) * (k * d[2] * d[0] + j * g[2] * g[0]),
        (b - a) * (k * d[0] * d[1] + j * g[0] * g[1]),
    )


def outside(e, n):
    return [row[0] * n[0] + row[1] * n[1] + row[2] * n[2] for row in e]


# ---- the equations of motion
INVERSES = tuple(1 / moment for moment in MOMENTS)


def new_slope(t, d):
    """The rates of the paper, (2) with the right signs."""
    e, (whole, x, y, z, a, b, c, f, g, h) = new_matrix(t, d)
    n = torque(t, e)
    o, (i, j, k), u, v = outside(e, n), INVERSES, h * h, g * g
    free = d[0] * k + (j - k) * whole * b * b * u
    back, ahead = f * a * (c * n[1] - b * n[2]) * u, f * x * (z * o[1] - y * o[2]) * v
    along = f * (a * n[0] + b * n[1] + c * n[2])
    return (
        along, o[0], o[1], (k - j) * b * c + n[0], (i - k) * c * a + n[1], free - back + ahead
    )  # fmt: skip


def euler_slope(t, y):
    e, (s, c, v, u) = euler_matrix(t, y)
    n = torque(t, e)
    p, q, r = (m * inverse for m, inverse in zip(y[3:], INVERSES, strict=True))
    phi = (p * v + q * u) / s
    return (
        phi, p * u - q * v, r - phi * c,
        y[4] * r - y[5] * q + n[0], y[5] * p - y[3] * r + n[1], y[3] * q - y[4] * p + n[2],
    )  # fmt: skip


def andoyer_slope(t, y):
    e, (f, cj, sj, ci, si, sl, cl, sh, ch) = andoyer_matrix(t, y)
    n = torque(t, e)
    o, (i, j, k), across = outside(e, n), INVERSES, y[4] * sj
    m1, m2 = across * sl, across * cl
    lower = y[3] * (k - i * sl * sl - j * cl * cl) + f * (n[0] * cl - n[1] * sl) / sj
    upper = f * (o[0] * ch + o[1] * sh) / si
    middle = f * (m1 * m1 * i + m2 * m2 * j + y[3] * y[3] * k) - upper * ci - lower * cj
    along = f * (n[0] * m1 + n[1] * m2 + n[2] * y[3])
    return lower, middle, upper, m1 * m2 * (j - i) + n[2], along, o[2]


SCHEMES = {
    "new": (new_matrix, new_slope),
    "Euler": (euler_matrix, euler_slope),
    "Serret-Andoyer": (andoyer_matrix, andoyer_slope),
}
