"""Measurements of sections 1, 3 and 4 of Fukushima (1995): what the new scheme gains, and why.

The full form takes 33 000 revolutions.  In N revolutions, schemes that round the momentum or its
angle lose 1.5 log₁₀ N digits, the new one hardly any: after the 2048 of the quick form the gain is
smaller by 1.8 digits, and is judge accordingly.  The error of the new scheme itself has the same
bound in both forms.
"""

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
from polhode.papers.verdicts import Measured, judge, slope

ARCSECOND = pi / 180 / 3600
TITLES = {
    "extrapolation": "extrapolation of order 14, 16 steps a revolution",
    "RK4": "RK4, 64 steps",
}
LOST = {EARTH: 2e-15, MOON: 3e-14}  # rad: what departures may lose in up to 33 000 revolutions


def gains(lab: Laboratory, body: str, what: str = "orientation") -> tuple[float, ...]:
    """Digits gained over Euler's angles and over Serret and Andoyer's variables."""
    new = lab.errors(body, NEW)
    return tuple(digits(new, lab.errors(body, scheme), what) for scheme in (EULER, ANDOYER))


def least(lab: Laboratory, digits_claimed: float) -> float:
    """The digits required of those claimed for 33 000 revolutions, half a digit for reading."""
    return digits_claimed - 0.5 - lab.fewer


def within(lab: Laboratory, values: tuple[float, ...], low: float, high: float) -> bool:
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
    text = f"Euler's angles of the Earth: {first:.0e} rad after 1, {last:.0e} after {lab.where}"
    return text, judge(last > 1e4 * first)


def any_integrator(lab: Laboratory) -> Measured:
    found, parts, good = lab.other_integrators, [], True
    for name, title in TITLES.items():
        if (name, NEW) not in found:
            continue
        euler, new = found[name, EULER], found[name, NEW]
        parts.append(
            f"{title}: Euler {euler.worst():.0e}, departures {new.worst():.0e} rad after"
            f" {euler.revolutions[-1]:.0f} revolutions"
        )
        good = good and digits(new, euler) > 1.5  # RK4 also has a truncation error
    return "; ".join(parts), judge(good)


# ---- 3, figure 1
def _digits_gained(lab: Laboratory, what: str, low: float, high: float) -> Measured:
    found = gains(lab, EARTH, what)
    new, euler, andoyer = (lab.errors(EARTH, s).worst(what) for s in (NEW, EULER, ANDOYER))
    text = (
        f"Earth, {lab.where}, worst: Euler {euler:.0e}, Serret-Andoyer {andoyer:.0e}, new"
        f" {new:.0e} rad: {found[0]:.1f} and {found[1]:.1f} digits{expected(lab, low)}"
    )
    return text, judge(within(lab, found, low, high) and new < LOST[EARTH])


def orientation_digits(lab: Laboratory) -> Measured:
    return _digits_gained(lab, "orientation", 7, 9)


def axis_digits(lab: Laboratory) -> Measured:
    return _digits_gained(lab, "axis", 3, 10)


def moon(lab: Laboratory) -> Measured:
    euler, andoyer = gains(lab, MOON)
    run = lab.errors(MOON, ANDOYER)
    new, old = lab.errors(MOON, NEW).worst(), lab.errors(MOON, EULER).worst()
    text = (
        f"Moon, {lab.where}, worst: Euler {old:.0e}, new {new:.0e} rad: {euler:.1f} digits;"
        f" Serret-Andoyer {run.worst():.0e} until {run.revolutions[-1]:.0f} revolutions"
        f" ({andoyer:.1f} digits), and not defined after {run.ended:.0f}"
        f"{expected(lab, 5)}"
    )
    similar = euler > least(lab, 5) and steady(lab, MOON)
    return text, judge(similar and run.whole, similar)


def magnitude(lab: Laboratory) -> Measured:
    euler, new = lab.errors(EARTH, EULER), lab.errors(EARTH, NEW)
    small = lab.errors(EARTH, QUATERNION)
    steps = lab.revolutions * A_TURN
    walk = ulp(2 * pi) / sqrt(12) * steps**1.5 / sqrt(3) / A_TURN
    text = (
        f"Earth, {lab.where}: quaternion {small.worst():.0e}, Euler {euler.worst():.0e}, new"
        f" {new.worst():.0e} rad; a random walk by the rounding of L makes {walk:.0e}"
    )
    gained, whole = digits(small, euler), digits(new, euler)
    return text, judge(gained > 0.5 * whole, whole > least(lab, 7) and gained < 0.25 * whole)


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
    names = "ΔL", "ΔL_X", "ΔL_Y", "ΔL_A", "ΔL_B", "Δf"
    text = "largest of the truth after up to 33 000 revolutions, relative to L: " + ", ".join(
        f"{name} {size:.2g}″" for name, size in zip(names, sizes, strict=True)
    )
    text += f"; more than 10″ from revolution {passed} on"
    return text, judge(bool(sizes.max() < 10))


def slower_growth(lab: Laboratory) -> Measured:
    found = {b: [lab.errors(b, scheme).growth() for scheme in (EULER, NEW)] for b in BODIES}
    text = "errors of the first 10 000 revolutions grow as N^p: " + "; ".join(
        f"{body}, p = {euler:.1f} (Euler), {new:.1f} (new)" for body, (euler, new) in found.items()
    )
    return text, judge(all(new < euler - 0.5 for euler, new in found.values()))


def linear(lab: Laboratory) -> Measured:
    new = [lab.errors(body, NEW).growth() for body in BODIES]
    turns = [2**k for k in range(16)]
    spin = BODIES[EARTH].angular_momentum[2]
    lost = [
        float(np.sqrt(np.mean([two_product(spin, n + k / A_TURN)[1] ** 2 for k in range(A_TURN)])))
        for n in turns
    ]
    p = slope(turns, lost)
    text = (
        f"p = {new[0]:.1f} (Earth), {new[1]:.1f} (Moon); what the product n t loses, p = {p:.2f},"
        f" {lost[-1]:.0e} rad after {turns[-1]} revolutions"
    )
    printed = all(0.7 < x < 1.3 for x in new)
    return text, judge(printed, max(new) < 0.7 and abs(p - 1) < 0.1)


# ---- 4
def five_to_nine(lab: Laboratory) -> Measured:
    (a, b), (c, d) = (gains(lab, body) for body in BODIES)
    text = (
        f"{lab.where}: Earth, Euler {a:.1f}, Serret-Andoyer {b:.1f}, Moon, Euler {c:.1f},"
        f" Serret-Andoyer (while defined) {d:.1f}{expected(lab, 5)}"
    )
    good = within(lab, (a, b, c, d), 5, 9) and all(steady(lab, body) for body in BODIES)
    return text, judge(good)


def variables(lab: Laboratory) -> Measured:
    parts, printed, corrected = [], True, True
    for body in BODIES:
        euler = lab.errors(body, EULER)
        same, new, encke, angles = (
            digits(lab.errors(body, s), euler) for s in (SAME, NEW, ENCKE, ENCKE_EULER)
        )
        parts.append(
            f"{body}: new variables as such {same:.1f}, as departures {new:.1f}, quaternion as a"
            f" departure {encke:.1f}, Euler's angles as departures {angles:.1f}"
        )
        printed = printed and same > 0.5 * new
        corrected = corrected and same < 0.5 * new and encke > new - 1
        corrected = corrected and angles > (new - 1 if body == EARTH else 1)  # the Moon's φ grows
    head = f"digits gained over Euler's angles in {lab.where}: "
    return head + "; ".join(parts), judge(printed, corrected)


# ---- beyond
def carried(lab: Laboratory) -> Measured:
    found, plain = ([lab.errors(b, s).worst() for b in BODIES] for s in (CARRIED, QUATERNION))
    text = (
        f"{lab.where}: {found[0]:.0e} rad (Earth), {found[1]:.0e} (Moon); with plain sums"
        f" {plain[0]:.0e} and {plain[1]:.0e}"
    )
    return text, judge(max(found) < 3e-14 and min(plain) > 100 * max(found))
