"""The attitude of a body whose angular velocity is linear in time, at any time.

    dq/dt = q ω/2,    ω = (r, 0, p),    dp/dt = a,    r, a >= 0                        (1)

in axes 3 along the acceleration and 1 along the rest of ω.  This is the Landau-Zener problem (Zener
1932): w + i z and x + i y are parabolic cylinder functions of p/√a times a root of i, of an order
with imaginary part r²/4a.  Two series take a state to a later time, without any 1/a.

Near the resonance p = 0, where f² = r² + p² < EDGE a, it is the power series in time, from one
centre to the next over t = 2/(f + 2√a), that is, a rotation by at most 2 radians:

    u₀ = q,    u_(n+1) = (u_n (r, 0, p) + t u_(n-1) (0, 0, a)) t/(2n + 2),    q' = Σ u_n    (2)

Elsewhere ω turns slowly compared with its length, and the body rotates about an axis close to it,
given by an asymptotic series (``tableaus/slow_axis``).  With tan θ = r/p, (B, C, A) this axis in
axes rotated by θ about axis 2, and h the shortest rotation from axis 3 to (B, C, A),

    q' = q g exp(φ e₃/2) g'*,    g = exp(θ e₂/2) h,    φ = ∫ f dt + Γ' - Γ             (3)

with primes at the end.  Γ is zero far from the resonance on either side, and odd in p; so it jumps
at p = 0, where it matters only if r² > EDGE a, by twice its value.  The integral does not cancel:

    ∫ f dt = t (S/4 + (p + p')²/4S + r²/2δ log(1 + 2δ/D))
    δ = a t,    S = f + f',    D = (f + p) + (f' - p')                                 (4)

The cost does not depend on the time, except for some hundred steps through the resonance.  Error of
the attitude: about 2 eps (10 + ∫ f dt), as long as rates are between 1e-150 and 1e150.
"""

from math import inf, log1p, sqrt

from polhode.compiler.machine import fma
from polhode.kernels.quaternion import conjugate, product
from polhode.kernels.trig import sincos1

TERMS = 27  # of (2): the remainder is below 1e-18
EDGE = 160.0  # where (3) begins, with
ORDERS = 8  # terms of its series: the remainder is below 1e-17


# ---- near the resonance
def by_powers(t, q, r, p, a):
    """Return q after the time t <= 2/(f + 2√a); r, p and f are the initial values."""
    h1, h3, ha = 0.5 * t * r, 0.5 * t * p, 0.5 * t * t * a
    (w, x, y, z), (w0, x0, y0, z0) = q, (0.0, 0.0, 0.0, 0.0)
    sw, sx, sy, sz = 0.0, 0.0, 0.0, 0.0
    for n in range(1, TERMS):
        f = 1.0 / n
        w1 = -f * fma(h1, x, fma(h3, z, ha * z0))  # (2)
        x1 = f * fma(h1, w, fma(h3, y, ha * y0))
        y1 = f * fma(h1, z, -fma(h3, x, ha * x0))
        z1 = f * fma(-h1, y, fma(h3, w, ha * w0))
        w0, x0, y0, z0 = w, x, y, z
        w, x, y, z = w1, x1, y1, z1
        sw, sx, sy, sz = sw + w, sx + x, sy + y, sz + z
    return q[0] + sw, q[1] + sx, q[2] + sy, q[3] + sz


# ---- elsewhere
def polynomial(row, count, x):
    """Return Σ row[i] x^i for i < count."""
    total = row[count - 1]
    for i in range(count - 2, -1, -1):
        total = fma(total, x, row[i])
    return total


def slow_turn(r, p, f, a, tables):
    """Return (g, Γ) of (3)."""
    cs, bs, gs = tables
    k, z, far, e = r / f, p / f, abs(p) / f, a / f / f
    zz, ee, ratio = z * z, e * e, e / (1.0 + far)
    b, c, phase = 0.0, 0.0, 0.0
    for j in range(ORDERS - 1, -1, -1):
        c = fma(c, ee, polynomial(cs[j], j + 1, zz))
        b = fma(b, ee, polynomial(bs[j], j + 1, zz))
        phase = fma(phase, ratio * ratio, polynomial(gs[j], 4 * j + 3, far))
    b, c, phase = k * z * ee * b, k * e * c, ratio * phase
    up = 1.0 + sqrt(1.0 - fma(b, b, c * c))  # 1 + A
    d = sqrt(0.5 / up)
    w, x, y = d * up, -d * c, d * b  # h
    if p >= 0.0:
        cosine = sqrt(0.5 * (f + p) / f)
        sine = 0.5 * k / cosine
    else:
        sine = sqrt(0.5 * (f - p) / f)
        cosine, phase = 0.5 * k / sine, -phase
    g = fma(cosine, w, -(sine * y)), cosine * x, fma(cosine, y, sine * w), -(sine * x)
    return g, phase


def middle_phase(r, a, tables):
    """Return Γ just above p = 0."""
    e, gs, phase = a / r / r, tables[2], 0.0
    for j in range(ORDERS - 1, -1, -1):
        phase = fma(phase, e * e, gs[j, 0])
    return e * phase


def turned_angle(t, r, a, before, after):
    """Return ∫ f dt over the time t, from (p, f) at its start and end."""
    (p, f), (p_end, f_end) = before, after
    low = f + p if p >= 0.0 else r * (r / (f - p))
    high = f_end - p_end if p_end <= 0.0 else r * (r / (f_end + p_end))
    both, total, d = p + p_end, f + f_end, low + high
    x = 2.0 * (a * t) / d
    part = r * (r / d) * (log1p(x) / x if x > 0.0 else 1.0)
    return t * fma(0.25, fma(both, both / total, total), part)  # (4)


def by_turns(t, q, r, p, p_end, a, tables):
    """Return q after the time t, in which p becomes p_end and f² > EDGE a throughout."""
    f, f_end = sqrt(fma(r, r, p * p)), sqrt(fma(r, r, p_end * p_end))
    g, phase = slow_turn(r, p, f, a, tables)
    g_end, phase_end = slow_turn(r, p_end, f_end, a, tables)
    phase = phase_end - phase
    if (p < 0.0) & (p_end >= 0.0):
        phase = fma(-2.0, middle_phase(r, a, tables), phase)
    s, c1 = sincos1(0.5 * (turned_angle(t, r, a, (p, f), (p_end, f_end)) + phase))
    return product(product(product(q, g), (1.0 + c1, 0.0, 0.0, s)), conjugate(g_end))  # (3)


def by_angle(t, q, p, a):
    """Return q after the time t if r = 0."""
    s, c1 = sincos1(0.5 * t * fma(0.5 * a, t, p))
    return product(q, (1.0 + c1, 0.0, 0.0, s))


# ---- choosing between the series
def border(r, a):
    """Return |p| where one series takes over from the other; 0 if (2) is never needed."""
    return sqrt(max(fma(EDGE, a, -(r * r)), 0.0))


def next_centre(r, p, a, edge):
    """Return (whether (2) is needed at p, how long the series holds, whether that is a border)."""
    if (edge == 0.0) | (p >= edge):
        return False, inf, False
    if p < -edge:
        return False, (-edge - p) / a, True
    step, rest = 2.0 / (sqrt(fma(r, r, p * p)) + 2.0 * sqrt(a)), (edge - p) / a
    return True, min(step, rest), step >= rest
