"""Sections 5.1 to 5.3 of Krysl (2006): the free body and the two tops."""

import numpy as np

from polhode.models import heavy_top
from polhode.papers.krysl2006.laboratory import EXAMPLES, KEPT, PRESENT, Laboratory
from polhode.papers.krysl2006.maps import torque_gap
from polhode.papers.laboratory import WHOLE_RUN
from polhode.papers.maps import EXACT, VISIBLE, march, states, step
from polhode.papers.verdicts import Check, Measured, below, between, judge, largest, listing, near


def _second_order(lab: Laboratory, name: str) -> Measured:
    """Return the orders of all methods, from the last two halvings."""
    study = lab.convergence[name]
    p, r = study.orders(study.momentum), study.orders(study.attitude)
    text = f"order {min(p):.2f} to {max(p):.2f} (Π), {min(r):.2f} to {max(r):.2f} (R)"
    return text, judge(all(near(x, 2) for x in (*p, *r)))


def _own_reference(lab: Laboratory, name: str, dt: float) -> Measured:
    """Return the error of a reference like the paper's, and of ours against another method."""
    example, study = EXAMPLES[name], lab.convergence[name]
    run = lab.run(example.problem(), "imidm", example.t_end, dt, WHOLE_RUN)
    p, r = lab.error(name, run)
    smallest = min(float(e[-1]) for e in (*study.momentum.values(), *study.attitude.values()))
    text = f"IMIDM with Δt = {dt}: error {p:.0e} (Π), {r:.0e} (R)"
    if not lab.quick:
        gauss = lab.run(example.problem(), "mkrk:gauss6", example.t_end, dt * 10, WHOLE_RUN)
        p6, r6 = lab.error(name, gauss)
        text += f"; our DOP853 and Gauss of order 6 differ by {p6:.0e}, {r6:.0e}"
    return text, judge(max(p, r) < smallest)


def _present_leads(errors: dict[str, float]) -> Measured:
    """Return whether one of the present algorithms is the most accurate."""
    return listing(errors, ".1e"), judge(next(iter(errors)) in PRESENT)


MEASUREMENTS: dict[str, Check] = {
    "free-order": lambda lab: _second_order(lab, "free"),
    "free-reference": lambda lab: _own_reference(lab, "free", 0.001),
    "slow-torque": lambda _: below(
        EXACT,
        "the model heavy_top(20) differs by {:.0e}",
        torque_gap(heavy_top(20.0), lambda r: -20 * np.cross(r[:, 2], [0.0, 0.0, 1.0])),
    ),
    "slow-order": lambda lab: _second_order(lab, "slow"),
    "slow-reference": lambda lab: _own_reference(lab, "slow", 0.0001),
    "slow-attitude": lambda lab: _present_leads(lab.convergence["slow"].by_attitude),
    "slow-momentum": lambda lab: _present_leads(lab.convergence["slow"].by_momentum),
    "fast-order": lambda lab: _second_order(lab, "fast"),
}


# ---- 5.1
def free_best_momentum(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ranking = study.by_momentum
    text = f"{listing(ranking, '.1e')} (Δt = {study.steps[-1]:.4g})"
    others = min(error for name, error in ranking.items() if name not in ("imid", "akw"))
    return text, judge(ranking["imid"] < others)


def free_best_attitude(lab: Laboratory) -> Measured:
    ranking = lab.convergence["free"].by_attitude
    lead = 1 - ranking["trap"] / ranking["imid"]
    text = f"{listing(ranking, '.1e')}: TRAP's error is {lead:.0%} below IMID's"
    return text, judge(next(iter(ranking)) == "imid")


def free_imid_kept(lab: Laboratory) -> Measured:
    found = lab.free_drifts["imid"]
    text = f"energy {found.worst_energy:.0e}, momentum {found.momentum:.1e}"
    return text, judge(found.worst_energy < KEPT and found.momentum > VISIBLE)


def free_akw_momentum(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ratio = study.momentum["akw"] / study.momentum["imid"]
    text = f"ratio of the errors 1 to within {{:.0e}} at all {len(ratio)} steps"
    return below(1e-6, text, largest(ratio - 1))  # rounding: 1e-16 · 1e4 steps / errors of 1e-4


def free_akw_attitude(lab: Laboratory) -> Measured:
    errors = lab.convergence["free"].by_attitude
    return between(5, 50, "{:.1f} times the error of IMID", errors["akw"] / errors["imid"])


def free_trap_momentum(lab: Laboratory) -> Measured:
    errors = lab.convergence["free"].by_momentum
    return between(1, 3, "{:.2f} times the error of IMID", errors["trap"] / errors["imid"])


def free_half_step(_: Laboratory) -> Measured:
    start, h, count = states(1)[0], 0.2, 200
    shifted = step("forward-euler")(h / 2, start)
    trap, imid, late = (
        march(name, "free", count * h, count, first)[-1]
        for name, first in (("trap", start), ("imid", start), ("imid", shifted))
    )
    unshifted = step("backward-euler")(-h / 2, late)  # the inverse of the shift
    apart, left = (largest(np.subtract(trap[1], end[1])) for end in (imid, unshifted))
    text = f"{count} steps: |Π(TRAP) - Π(IMID)| = {apart:.0e}, with IMID half a step on {left:.0e}"
    return text, judge(left < KEPT and apart > VISIBLE)


def free_pair(lab: Laboratory) -> Measured:
    ranking = lab.convergence["free"].by_momentum
    ratio = min(ranking[name] / ranking["imid"] for name in ("bbtrap", "swc1"))
    other = ratio * ranking["imid"] / ranking["imidm"]
    text = f"{ratio:.0f} times the error of IMID, {other:.1f} times that of IMIDM: the last two of"
    last = set(list(ranking)[-2:]) == {"bbtrap", "swc1"}
    return f"{text} seven", judge(last and ratio > 10)


# ---- 5.3
def fast_kinetic(lab: Laboratory) -> Measured:
    run = lab.run(EXAMPLES["fast"].problem(), "imidm", 10.0, 1e-3)
    ratio = run.kinetic_energy / np.abs(np.asarray(run.potential_energy))
    return f"at least {ratio.min():.0f} times the potential energy", judge(ratio.min() > 20)


def fast_frequencies(_: Laboratory) -> Measured:
    times = np.linspace(0.0, 10.0, 4001)
    q, _m = EXAMPLES["fast"].reference(times)
    w, x, y, z = q.T
    azimuth = np.unwrap(np.arctan2(2 * (y * z - w * x), 2 * (x * z + w * y)))
    height = 1 - 2 * (x * x + y * y)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(height)))) + 1
    span = times[turns[-1]] - times[turns[0]]
    nutation = np.pi * (len(turns) - 1) / span
    precession = abs(azimuth[turns[-1]] - azimuth[turns[0]]) / span
    text = f"{precession:.2f} and {nutation:.2f} rad/s: 1 to {nutation / precession:.0f}"
    return text, judge(nutation > 5 * precession)


def fast_accuracy(lab: Laboratory) -> Measured:
    study, ratios = lab.convergence["fast"], []
    for ranking in (study.by_momentum, study.by_attitude):
        others = min(error for name, error in ranking.items() if name not in ("imidm", "trapm"))
        ratios.append(others / max(ranking["imidm"], ranking["trapm"]))
    text = f"{ratios[0]:.1f} times (Π) and {ratios[1]:.1f} times (R) better than the next best"
    return text, judge(min(ratios) > 3)


def fast_reason(lab: Laboratory) -> Measured:
    names = ("swc1", "bbtrap", "trapm", "imidm")
    trips = {name: lab.round_trips[name] for name in names}
    kept = {name: lab.top_drifts["fast"][name].momentum for name in names}
    errors = lab.convergence["fast"].by_attitude
    ratio = min(errors[n] for n in names[:2]) / max(errors[n] for n in names[2:])
    text = (
        f"SWC1 and BBTRAP too return from 1000 steps there and back (to"
        f" {max(trips['swc1'], trips['bbtrap']):.0e}; IMIDM, TRAPM"
        f" {max(trips['imidm'], trips['trapm']):.0e}) and keep the vertical momentum (to"
        f" {max(kept.values()):.0e}), with {ratio:.1f} times the error in R"
    )
    both = max(*trips.values(), *kept.values()) < KEPT
    return text, judge(not (both and ratio > 2))
