"""The exact motion of free bodies at 50 digits, and bodies of every regime."""

from math import sqrt

import mpmath as mp
import numpy as np

import polhode as ph
from polhode.compiler.tree import bind
from polhode.kernels import free_flow as kernel
from polhode.kernels.short_flow import sincos1_of_half
from polhode.kernels.trig import sincos1
from polhode.solvers.exact import free_rows

EPS = 2.0**-52
BOUND = 20  # times eps (1 + G|t|/I_min + K)
DIGITS = 50


def exact_sincos1(a):
    return mp.sin(a), -2 * mp.sin(a / 2) ** 2


def exact_sincos1_of_half(a):
    return exact_sincos1(a / 2)


def precise_flow(t, q, m, moments, short=1e-5):
    """The kernel at 50 digits, its series so short that rounded coefficients do not matter."""
    numbers = {sincos1: exact_sincos1, sincos1_of_half: exact_sincos1_of_half}
    numbers |= {sqrt: mp.sqrt, kernel.short: lambda: short}
    flow = bind(kernel.free_flow, numbers)
    moments = tuple(map(mp.mpf, moments))
    inverse = tuple(1 / i if i else mp.mpf(0) for i in moments)
    return flow(mp.mpf(t), tuple(map(mp.mpf, q)), tuple(map(mp.mpf, m)), moments, inverse)


def distance(q, p):
    """The angle between two attitudes."""
    same = sum(a * b for a, b in zip(q, p, strict=True)) > 0
    return 2 * mp.sqrt(sum((a - b if same else a + b) ** 2 for a, b in zip(q, p, strict=True)))


def error(found, expected, size):
    (q, m), (p, n) = found, expected
    gap = mp.sqrt(sum((mp.mpf(a) - b) ** 2 for a, b in zip(m, n, strict=True)))
    return max(distance(list(map(mp.mpf, q)), p), gap / size if size else gap)


def conditioning(t, q, m, moments, size):
    """K: what one ulp of the input does to the exact answer, in eps."""
    exact, worst = precise_flow(t, q, m, moments), 0
    for i in range(3):
        for given in (m, moments):
            changed = list(given)
            changed[i] = float(np.nextafter(changed[i], np.inf))
            pair = (changed, moments) if given is m else (m, changed)
            worst = max(worst, error(precise_flow(t, q, *pair), exact, size))
    return worst / EPS


# ---- every regime
def near_separatrix(rng, inertia, m, off):
    inertia = np.sort(inertia)
    slope = inertia[0] * (inertia[2] - inertia[1]) / (inertia[2] * (inertia[1] - inertia[0]))
    m[0] = np.sqrt(slope) * m[2] * (1 + off)
    order = rng.permutation(3)
    return inertia[order], m[order]


def next_to_the_axis(rng, inertia, m):
    """On the separatrix, where it nears the middle axis."""
    return near_separatrix(rng, inertia, m * [1, 10.0 ** rng.uniform(1, 8), 1], 0.0)


def slender(rng):
    """Moments of any ratio that the triangle inequality leaves."""
    x, y, z = 10.0 ** rng.uniform(-6, 0, 3)
    return np.array([y + z, z + x, x + y])


def axis(rng, m, off):
    k = rng.integers(3)
    spin = off * m
    spin[k] = 1.0
    return spin


REGIMES = {
    "asymmetric": lambda rng, i, m: (i, m),
    "symmetric": lambda rng, i, m: (i[[0, 0, 2]][rng.permutation(3)], m),
    "almost symmetric": lambda rng, i, m: (
        i[[0, 0, 2]] * [1, 1 + 10 ** rng.uniform(-15, -5), 1],
        m,
    ),
    "sphere": lambda rng, i, m: (i[[0, 0, 0]], m),
    "disc": lambda rng, i, m: (np.array([i[0], i[1], i[0] + i[1]])[rng.permutation(3)], m),
    "rod": lambda rng, i, m: (np.array([i[0], i[0], 0.0]), m * [1, 1, 0]),
    "one component zero": lambda rng, i, m: (i, m * (np.arange(3) != rng.integers(3))),
    "permanent rotation": lambda rng, i, m: (i, axis(rng, m, 0.0)),
    "1e-14 off it": lambda rng, i, m: (i, axis(rng, m, 1e-14)),
    "near an axis": lambda rng, i, m: (i, axis(rng, m, 10.0 ** rng.uniform(-15, -3))),
    "separatrix": lambda rng, i, m: near_separatrix(rng, i, m, 0.0),
    "1e-13 off it": lambda rng, i, m: near_separatrix(rng, i, m, 1e-13),
    "near the separatrix": lambda rng, i, m: near_separatrix(
        rng, i, m, 10.0 ** rng.uniform(-15, -6)
    ),
    "separatrix, next to the axis": next_to_the_axis,
    "slender": lambda rng, i, m: (i[0] * slender(rng), m),
    "slender, separatrix": lambda rng, i, m: near_separatrix(rng, i[0] * slender(rng), m, 0.0),
    "at rest": lambda rng, i, m: (i, 0 * m),
}


def worst_ratio(regime, count, seed=0):
    """The largest error in units of eps (1 + G|t|/I_min + K)."""
    rng = np.random.default_rng([sorted(REGIMES).index(regime), seed])
    worst = 0.0
    for _ in range(count):
        inertia = rng.uniform(1, 1.9, 3) * 10.0 ** rng.integers(-3, 4)
        inertia, m = REGIMES[regime](rng, inertia, rng.normal(size=3) * 10.0 ** rng.integers(-3, 4))
        size, least = float(np.linalg.norm(m)), inertia[inertia > 0].min()
        turns = 10.0 ** rng.uniform(-3, 5) * rng.choice([-1, 1])
        t = float(turns * least / size) if size else float(turns)
        q = rng.normal(size=4)
        q = tuple((q / np.linalg.norm(q)).tolist())
        body = ph.RigidBody(inertia)
        moments = body.data[0]
        m = tuple(m.tolist())
        out = free_rows(body.data, (q, m), np.array([t]))
        assert np.isfinite(out).all()
        found = out[0, :4].tolist(), out[0, 4:].tolist()
        with mp.workdps(DIGITS):
            gap = error(found, precise_flow(t, q, m, moments), size)
            scale = EPS * (1 + size * abs(t) / least)
            if gap > BOUND * scale:
                scale += EPS * conditioning(t, q, m, moments, size)
            worst = max(worst, float(gap / scale))
    return worst
