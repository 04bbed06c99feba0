"""Measurements of sections 1, 3 and 4 of Fukushima (1995): what the new scheme gains, and why.

The full form takes 33 000 revolutions.  In N revolutions, schemes that round the momentum or its
angle lose 1.5 log₁₀ N digits, the new one hardly any: after the 2048 of the quick form the gain is
smaller by 1.8 digits, and is judged accordingly.  The error of the new scheme itself has the same
bound in both forms.
"""

from collections.abc import Sequence
from math import pi, remainder, sqrt, ulp

import numpy as np

from polhode.celestial.model_orbits import truth
from polhode.kernels.angles import two_product
from polhode.papers.fukushima1995 import by_hand
from polhode.papers.fukushima1995.laboratory import (
    A_TURN,
    ANDOYER,
    BODIES,
    CARRIED,
    EARTH,
    ENCKE,
    ENCKE_EULER,
    EULER,
    FULL,
    MOON,
    NEW,
    QUATERNION,
    SAME,
    Laboratory,
    digits,
)
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Check, Measured, added_if, holds_if, slope

ARCSECOND = pi / 180 / 3600
LOST = {EARTH: 2e-15, MOON: 3e-14}  # rad: what departures may lose in up to 33 000 revolutions


def gains(lab: Laboratory, body: str, what: str = "orientation") -> tuple[float, ...]:
    """Digits gained over Euler's angles and over Serret and Andoyer's variables."""
    new = lab.errors(body, NEW)
    return tuple(digits(new, lab.errors(body, scheme), what) for scheme in (EULER, ANDOYER))


def least(lab: Laboratory, digits_claimed: float) -> float:
    """The digits required of those claimed for 33 000 revolutions, half a digit for reading."""
    return digits_claimed - 0.5 - lab.fewer


def within(lab: Laboratory, values: Sequence[float], low: float, high: float) -> bool:
    return least(lab, low) < min(values) and max(values) < high + 0.5


def steady(lab: Laboratory, body: str) -> bool:
    """Return whether departures lose no more than ``LOST``."""
    return lab.errors(body, NEW).worst() < LOST[body]


def expected(lab: Laboratory, low: float) -> str:
    """What the digits claimed amount to after fewer revolutions than the paper's, in words."""
    if not lab.quick:
        return ""
    return f"; {low:g} after {FULL} are {low - lab.fewer:.1f} after {lab.revolutions}"


# ---- 1
def loss(lab: Laboratory) -> Measured:
    first, last = lab.errors(EARTH, EULER).orientation[[0, -1]]
    return holds_if(last > 1e4 * first, first, last, lab.revolutions)


def any_integrator(lab: Laboratory) -> Measured:
    words, good = [], True
    for name, (euler, new) in lab.other_integrators.items():
        words.append(
            f"{name}: Euler {euler.worst():.0e}, departures {new.worst():.0e} rad after"
            f" {euler.revolutions[-1]:.0f} revolutions"
        )
        good = good and digits(new, euler) > 1.5  # RK4 also has a truncation error
    return holds_if(good, "; ".join(words))


# ---- 3, figure 1
def _digits_gained(lab: Laboratory, what: str, low: float, high: float) -> Measured:
    gained = gains(lab, EARTH, what)
    euler, andoyer, new = (lab.errors(EARTH, s).worst(what) for s in (EULER, ANDOYER, NEW))
    good = within(lab, gained, low, high) and new < LOST[EARTH]
    return holds_if(good, lab.revolutions, euler, andoyer, new, *gained, expected(lab, low))


MEASUREMENTS: dict[str, Check] = {
    "orientation-digits": lambda lab: _digits_gained(lab, "orientation", 7, 9),
    "axis-digits": lambda lab: _digits_gained(lab, "axis", 3, 10),
}


def moon(lab: Laboratory) -> Measured:
    euler, andoyer = gains(lab, MOON)
    old, new, run = (lab.errors(MOON, scheme) for scheme in (EULER, NEW, ANDOYER))
    shown = old.worst(), new.worst(), euler, run.worst(), run.revolutions[-1], andoyer, run.ended
    similar = euler > least(lab, 5) and steady(lab, MOON)
    return holds_if(
        similar and run.whole, lab.revolutions, *shown, expected(lab, 5), corrected=similar
    )


def magnitude(lab: Laboratory) -> Measured:
    runs = [lab.errors(EARTH, scheme) for scheme in (QUATERNION, EULER, NEW)]
    steps = lab.revolutions * A_TURN
    walk = ulp(2 * pi) / sqrt(12) * steps**1.5 / sqrt(3) / A_TURN
    gained, whole = (digits(run, runs[1]) for run in (runs[0], runs[2]))
    explained = whole > least(lab, 7) and gained < 0.25 * whole
    shown = lab.revolutions, *(run.worst() for run in runs), walk
    return holds_if(gained > 0.5 * whole, *shown, corrected=explained)


def ten_arcseconds(_: Laboratory) -> Measured:
    problem, rows = BODIES[EARTH], {}
    first = by_hand.variables(matrix(problem.attitude), np.array(problem.angular_momentum))
    spin = first[0] / problem.body.data[0][2]
    for turns, exact in truth(problem.name).items():
        q, m = (np.array(part, dtype=float) for part in exact)
        now = by_hand.variables(matrix(q), m)
        angle = remainder(now[5] - first[5] - spin * turns, 2 * pi)
        rows[turns] = np.abs([*(now - first)[:5] / first[0], angle]) / ARCSECOND
    sizes = np.max(list(rows.values()), axis=0)
    passed = next((n for n, row in rows.items() if row.max() > 10), 0)
    return holds_if(sizes.max() < 10, *sizes, passed)


def slower_growth(lab: Laboratory) -> Measured:
    p = [lab.errors(body, scheme).growth() for body in BODIES for scheme in (EULER, NEW)]
    return holds_if(p[1] < p[0] - 0.5 and p[3] < p[2] - 0.5, *p)


def linear(lab: Laboratory) -> Measured:
    new = [lab.errors(body, NEW).growth() for body in BODIES]
    turns = [2**k for k in range(16)]
    spin = BODIES[EARTH].angular_momentum[2]
    lost = [
        float(np.sqrt(np.mean([two_product(spin, n + k / A_TURN)[1] ** 2 for k in range(A_TURN)])))
        for n in turns
    ]
    p = slope(turns, lost)
    explained = max(new) < 0.7 and abs(p - 1) < 0.1
    printed = all(0.7 < x < 1.3 for x in new)
    return holds_if(printed, *new, p, lost[-1], turns[-1], corrected=explained)


# ---- 4
def five_to_nine(lab: Laboratory) -> Measured:
    found = [gain for body in BODIES for gain in gains(lab, body)]
    good = within(lab, found, 5, 9) and all(steady(lab, body) for body in BODIES)
    return holds_if(good, lab.revolutions, *found, expected(lab, 5))


def variables(lab: Laboratory) -> Measured:
    shown, printed, corrected = list[float](), True, True
    for body in BODIES:
        euler, schemes = lab.errors(body, EULER), (SAME, NEW, ENCKE, ENCKE_EULER)
        gained = [digits(lab.errors(body, scheme), euler) for scheme in schemes]
        shown += gained
        same, new, encke, angles = gained
        printed = printed and same > 0.5 * new
        corrected = corrected and same < 0.5 * new and encke > new - 1
        corrected = corrected and angles > (new - 1 if body == EARTH else 1)  # the Moon's φ grows
    return holds_if(printed, lab.revolutions, *shown, corrected=corrected)


# ---- beyond
def carried(lab: Laboratory) -> Measured:
    found, plain = ([lab.errors(b, s).worst() for b in BODIES] for s in (CARRIED, QUATERNION))
    good = max(found) < 3e-14 and min(plain) > 100 * max(found)
    return added_if(good, lab.revolutions, *found, *plain)
