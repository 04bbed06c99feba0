"""The abstract of Celledoni & Säfström (2006)."""

import numpy as np

from polhode.papers.celledoni2006 import by_hand
from polhode.papers.celledoni2006.elliptic import MODULI, carlson
from polhode.papers.celledoni2006.laboratory import Laboratory, label
from polhode.papers.celledoni2006.maps import ROUNDING, bodies, free_error, round_trip, small, truth
from polhode.papers.maps import EXACT
from polhode.papers.verdicts import Measured, judge, largest, listing


def jacobi(_: Laboratory) -> Measured:
    made = bodies(12, seed=7)
    first = sum(
        float(inertia**2 @ omega**2) > float(inertia @ omega**2) * float(np.median(inertia))
        for inertia, omega in made
    )
    worst = max(free_error(inertia, omega, 3.0) for inertia, omega in made)
    text = (
        f"12 bodies, {first} of the first kind and {12 - first} of the second: ω(3) right"
        f" to {worst:.0e}"
    )
    return text, judge(worst < 1e-12 and 0 < first < 12)


def means(_: Laboratory) -> Measured:
    worst = 0.0
    for k2 in MODULI:
        period = 4 * carlson(np.pi / 2, 1 - k2)
        for u in np.linspace(-3.0, 3.0, 25).tolist():
            cn, sn, _dn = by_hand.functions(u, 1 - k2)
            back = carlson(float(np.arctan2(sn, cn)), 1 - k2)
            off = abs(back - u + period * round((u - back) / period))
            worst = max(worst, off * np.sqrt(1 - k2))
    steps = max(by_hand.recursions(1 - k2) for k2 in MODULI)
    text = (
        f"{steps} recursion steps or fewer for k² up to 1 - 1e-8; am u by them, put into Carlson's"
        f" integral, is u to {worst:.0e}/√(1 - k²)"
    )
    return text, judge(worst < ROUNDING and steps <= 9)


def faster(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    others = [name for name in study.momentum if name != "je"]
    je = float(study.time("je")[0])
    high = {n: study.time_to(study.momentum, n, 1e-13) / je for n in others}
    low = study.time_to(study.momentum, "rk4", 1e-6) / je
    nearest = {n: high[n] for n in sorted(high, key=lambda n: high[n]) if n != "mr4s"}
    worst = float(study.momentum["je"].max())
    text = (
        f"JE: error {small(worst)} in 4 steps; times of the others to 1e-13, as multiples of that:"
        f" {listing(nearest, '.3g', label)}; but RK4 to 1e-6: {low:.2f}"
    )
    accurate = worst < min(float(study.momentum[n].min()) for n in others)
    return text, judge(low > 1, accurate and min(high.values()) > 1)


def symmetric_bodies(_: Laboratory) -> Measured:
    times = np.array([0.5, 2.0])
    inertia, omega = np.array([2.0, 2.0, 3.0]), np.array([0.3, -0.4, 1.0])
    rate = (inertia[2] - inertia[0]) / inertia[0] * omega[2]
    found = (omega[0] + 1j * omega[1]) * np.exp(1j * rate * times)
    exact = truth(inertia, omega, times)
    apart = largest(found - (exact[:, 0] + 1j * exact[:, 1]))
    k2 = by_hand.constants(inertia, omega).modulus
    text = f"I1 = I2: k² = {k2:.0f}, and ω(t) by cos and sin is right to {apart:.0e}"
    return text, judge(apart < EXACT and k2 == 0)


def time_symmetric(_: Laboratory) -> Measured:
    found = {
        name: max(round_trip(name, model) for model in ("free", "torque"))
        for name in ("sej", "sej4")
    }
    text = "h then -h: back to " + ", ".join(f"{x:.0e} ({label(n)})" for n, x in found.items())
    return text, judge(max(found.values()) < EXACT)


def benefits(lab: Laboratory) -> Measured:
    study, k = lab.studies["top"], 3
    momentum = float(study.momentum["mr2"][k] / study.momentum["sej"][k])
    attitude = float(study.attitude["mr2"][k] / study.attitude["sej4"][k])
    energy = lab.top.energy_ratio(0.01)
    text = (
        f"heavy top, MR against SEJ at the same step: error in π {momentum:.1g} times, in the"
        f" energy {energy:.1g} times; in Q against SEJ4 {attitude:.1g} times"
    )
    return text, judge(min(momentum, attitude, energy) > 100)
