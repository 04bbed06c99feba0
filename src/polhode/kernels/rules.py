"""Functions with known derivatives: on dual numbers, these take the place of the functions.

A function need not be differentiated operation by operation if its derivative is known: a rule
computes the value as the function does, without derivatives, so that it has the same bits, and
gives it the right slopes by ``chain``.  That is faster, and it is right where the source says
nothing about derivatives: at an early return, or where a clamp keeps a number from 0.

``bind(tree, RULES)`` comes last, after everything else is bound.  A rule takes the function and
returns the one for duals.  With a = |psi|, z = a²/4 and B as in ``so3``,

    alpha = 2 S²,    S = sin √z / (2 √z),    dS/da² = -(sin √z - √z cos √z) / (16 z √z)   (1)

Kepler's equation E - e sin E = M gives

    dE = (dM + sin E de) / (1 - e cos E)                                               (2)

and the elliptic functions of u, with m = 1 - mc and J = ∂F/∂m at the amplitude of u,

    d sn = cn dn g,    d cn = -sn dn g,    g = du + J dmc                              (3)
    d dn = -m sn cn g + sn²/(2 dn) dmc
    6 J = sin³φ R_D(cos²φ, 1, 1 - m sin²φ),    6 J(K) = 6 dK/dm = R_D(0, 1, mc)       (4)

where (4) holds for |φ| up to a quarter turn, and J(φ + π) = J(φ) + 2 J(K).
"""

from collections.abc import Callable
from math import sqrt

from polhode.compiler.dual import chain, chained, stripped, value, with_values
from polhode.compiler.machine import fma, rint
from polhode.kernels import elliptic, euler_flow, kepler, so3, trig
from polhode.kernels.free_flow import free_turn
from polhode.kernels.free_rules import FREE_RULES
from polhode.kernels.so3 import SERIES, TINY
from polhode.kernels.trig import sincos1


# ---- sine and cosine
def of_angle(function: Callable) -> Callable:
    """Return the rule for a function that returns (sin a, cos a - 1)."""

    def of_dual(a):
        s, c1 = function(value(a))
        return chain(s, 1.0 + c1, a), chain(c1, -s, a)

    return of_dual


# ---- rotations
def of_alpha(function: Callable) -> Callable:
    def alpha(a2):
        x2 = value(a2)
        z = 0.25 * x2
        x = sqrt(z + TINY)
        s, c1 = sincos1(x)
        series = fma(z, fma(z, fma(z, fma(z, fma(z, A5, A4), A3), A2), A1), A0)
        g = series if x2 < SERIES else (s - fma(x, c1, x)) / (z * x)
        return chain(function(x2), -0.125 * (s / x) * g, a2)  # (1)

    return alpha


# (sin x - x cos x) / x³ = Σ (-x²)^k (2k+2) / (2k+3)!
A0, A1, A2, A3, A4, A5 = 1 / 3, -1 / 30, 1 / 840, -1 / 45360, 1 / 3991680, -1 / 518918400


# ---- Kepler's equation
def of_mean_anomaly(function: Callable) -> Callable:
    def eccentric_anomaly(mean, e):
        x = function(value(mean), value(e))
        s, c1 = sincos1(x)
        f = 1.0 / fma(-value(e), c1, 1.0 - value(e))
        return chained(x, (f, s * f), (mean, e))  # (2)

    return eccentric_anomaly


# ---- elliptic functions
def of_quarter(mc):
    """Return J(K)."""
    return elliptic.rd(0.0, 1.0, mc) / 6.0


def of_direction(s, c, mc):
    """Return J at the angle of the direction (c, s), which has length 1, within a quarter turn."""
    return s * (s * s) * (elliptic.rd(c * c, 1.0, fma(mc * s, s, c * c)) / 6.0)  # (4)


def of_time(function: Callable) -> Callable:
    """Return the rule for (sn, cn, dn) of (u, mc)."""

    def sn_cn_dn(u, mc):
        x, rest = value(u), value(mc)
        s, c, d = function(x, rest)
        turns = rint(x / (2.0 * elliptic.complete_k(rest)))
        j = of_direction(s, abs(c), rest)
        if turns != 0.0:
            sign = 1.0 if turns == 2.0 * rint(0.5 * turns) else -1.0
            j = fma(2.0 * turns, of_quarter(rest), sign * j)
        sn = chained(s, (c * d, c * d * j), (u, mc))  # (3)
        cn = chained(c, (-s * d, -s * d * j), (u, mc))
        over, f = s * s / (d + d), (rest - 1.0) * s * c
        return sn, cn, chained(d, (f, fma(f, j, over)), (u, mc))

    return sn_cn_dn


def of_amplitude(function: Callable) -> Callable:
    """Return the rule for F of j quarter turns and the direction (c, s)."""

    def integral(j, s, c, mc):
        y, x, rest = value(s), value(c), value(mc)
        found = function(j, y, x, rest)
        f = 1.0 / sqrt(fma(x, x, y * y))
        y, x = f * y, f * x
        odd = j != 2.0 * rint(0.5 * j)
        across, along = (-x, y) if odd else (y, x)  # less an even number of quarter turns
        square = fma(rest * across, across, along * along)
        slope, part = f / sqrt(square), of_direction(across, along, rest)
        quarters = j + 1.0 if odd else j
        part = part if quarters == 0.0 else fma(quarters, of_quarter(rest), part)
        return chained(found, (slope * x, -(slope * y), -part), (s, c, mc))

    return integral


def of_complement(function: Callable) -> Callable:
    def complete_k(mc):
        return chain(function(value(mc)), -of_quarter(value(mc)), mc)

    return complete_k


# ---- Euler's equations: the orbit of values, and where it begins
def of_orbit(function: Callable) -> Callable:
    def orbit(m, moments, inverse):
        constants = function(stripped(m), stripped(moments), stripped(inverse))
        return constants, (m, moments, inverse)

    return orbit


def of_momentum(function: Callable, turn: Callable) -> Callable:
    """Return the rule for the momentum on an orbit, whose derivatives are those of ``turn``."""

    def momentum(t, given):
        constants, (m, moments, inverse) = given
        _, after = turn(t, m, moments, inverse)
        return with_values(after, function(stripped(t), stripped(constants)))

    return momentum


SINES = (
    *(trig.sincos1, trig.sincos1_of_reduced),
    *(trig.sincos1_of_turn, trig.sincos1_of_short_turn),
)
RULES: dict[Callable, Callable] = {
    **{function: of_angle(of_angle(function)) for function in SINES},  # of two levels
    so3.alpha: of_alpha(so3.alpha),
    kepler.eccentric_anomaly: of_mean_anomaly(kepler.eccentric_anomaly),
    elliptic.sn_cn_dn: of_time(elliptic.sn_cn_dn),
    elliptic.integral: of_amplitude(elliptic.integral),
    elliptic.complete_k: of_complement(elliptic.complete_k),
    **FREE_RULES,
}
RULES[euler_flow.orbit] = of_orbit(euler_flow.orbit)
RULES[euler_flow.momentum] = of_momentum(euler_flow.momentum, RULES[free_turn])
