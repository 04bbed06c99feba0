"""Sections 5.1 to 5.3 of Krysl (2006): the free body and the two tops."""

import numpy as np

from polhode.models import heavy_top
from polhode.papers.krysl2006.laboratory import EXAMPLES, KEPT, PRESENT, Laboratory
from polhode.papers.laboratory import WHOLE_RUN
from polhode.papers.maps import EXACT, STEP, VISIBLE, march, states, step, torque_gap
from polhode.papers.verdicts import (
    Check,
    Measured,
    below,
    between,
    holds_if,
    largest,
    listing,
    near,
)


def _second_order(lab: Laboratory, name: str) -> Measured:
    """Return the orders of all methods, from the last two halvings."""
    p, r = map(lab.convergence[name].orders, ("Π", "R"))
    return holds_if(all(near(x, 2) for x in (*p, *r)), min(p), max(p), min(r), max(r))


def _own_reference(lab: Laboratory, name: str, dt: float) -> Measured:
    """Return the error of a reference like the paper's, and of ours against another method."""
    example, study, ours = EXAMPLES[name], lab.convergence[name], ""
    run = lab.run(example.problem(), "imidm", example.t_end, dt, WHOLE_RUN)
    p, r = lab.error(name, run)
    smallest = min(float(e[-1]) for errors in study.errors.values() for e in errors.values())
    if not lab.quick:
        gauss = lab.run(example.problem(), "mkrk:gauss6", example.t_end, dt * 10, WHOLE_RUN)
        p6, r6 = lab.error(name, gauss)
        ours = f"; our DOP853 and Gauss of order 6 differ by {p6:.0e}, {r6:.0e}"
    return holds_if(max(p, r) < smallest, p, r, ours)


def _present_leads(lab: Laboratory, quantity: str) -> Measured:
    """Return whether one of the present algorithms is the most accurate for the slow top."""
    ranking = lab.convergence["slow"].ranking(quantity)
    return holds_if(next(iter(ranking)) in PRESENT, listing(ranking, ".1e"))


def _over_imid(lab: Laboratory, name: str, quantity: str) -> float:
    """Return the error of a method over that of IMID, for the free body."""
    ranking = lab.convergence["free"].ranking(quantity)
    return ranking[name] / ranking["imid"]


MEASUREMENTS: dict[str, Check] = {
    "free-order": lambda lab: _second_order(lab, "free"),
    "free-reference": lambda lab: _own_reference(lab, "free", 0.001),
    "free-akw-attitude": lambda lab: between(5, 50, _over_imid(lab, "akw", "R")),
    "free-trap-momentum": lambda lab: between(1, 3, _over_imid(lab, "trap", "Π")),
    "slow-torque": lambda _: below(
        EXACT,
        torque_gap(
            heavy_top(20.0), lambda r: -20 * np.cross(r[:, 2], [0.0, 0.0, 1.0]), inertial=True
        ),
    ),
    "slow-order": lambda lab: _second_order(lab, "slow"),
    "slow-reference": lambda lab: _own_reference(lab, "slow", 0.0001),
    "slow-attitude": lambda lab: _present_leads(lab, "R"),
    "slow-momentum": lambda lab: _present_leads(lab, "Π"),
    "fast-order": lambda lab: _second_order(lab, "fast"),
}


# ---- 5.1
def free_best_momentum(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ranking = study.ranking("Π")
    others = min(error for name, error in ranking.items() if name not in ("imid", "akw"))
    return holds_if(ranking["imid"] < others, listing(ranking, ".1e"), study.steps[-1])


def free_best_attitude(lab: Laboratory) -> Measured:
    ranking = lab.convergence["free"].ranking("R")
    lead = 1 - ranking["trap"] / ranking["imid"]
    return holds_if(next(iter(ranking)) == "imid", listing(ranking, ".1e"), lead)


def free_imid_kept(lab: Laboratory) -> Measured:
    found = lab.free_drifts["imid"]
    holds = found.worst_energy < KEPT and found.momentum > VISIBLE
    return holds_if(holds, found.worst_energy, found.momentum)


def free_akw_momentum(lab: Laboratory) -> Measured:
    errors = lab.convergence["free"].errors["Π"]
    ratio = errors["akw"] / errors["imid"]
    off = largest(ratio - 1)  # rounding: 1e-16 · 1e4 steps / errors of 1e-4
    return holds_if(off < 1e-6, off, len(ratio))


def free_half_step(_: Laboratory) -> Measured:
    start, count = states(1)[0], 200
    shifted = step("forward-euler")(STEP / 2, start)
    trap, imid, late = (
        march(name, "free", count * STEP, count, first)[-1]
        for name, first in (("trap", start), ("imid", start), ("imid", shifted))
    )
    unshifted = step("backward-euler")(-STEP / 2, late)  # the inverse of the shift
    apart, left = (largest(np.subtract(trap[1], end[1])) for end in (imid, unshifted))
    return holds_if(left < KEPT and apart > VISIBLE, apart, left)


def free_pair(lab: Laboratory) -> Measured:
    ranking = lab.convergence["free"].ranking("Π")
    ratio = min(ranking[name] / ranking["imid"] for name in ("bbtrap", "swc1"))
    last = set(list(ranking)[-2:]) == {"bbtrap", "swc1"}
    return holds_if(last and ratio > 10, ratio, ratio * ranking["imid"] / ranking["imidm"])


# ---- 5.3
def fast_kinetic(lab: Laboratory) -> Measured:
    run = lab.run(EXAMPLES["fast"].problem(), "imidm", 10.0, 1e-3)
    ratio = run.kinetic_energy / np.abs(np.asarray(run.potential_energy))
    return holds_if(ratio.min() > 20, ratio.min())


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
    return holds_if(nutation > 5 * precession, precession, nutation, nutation / precession)


def fast_accuracy(lab: Laboratory) -> Measured:
    ratios = []
    for ranking in map(lab.convergence["fast"].ranking, ("Π", "R")):
        others = min(error for name, error in ranking.items() if name not in ("imidm", "trapm"))
        ratios.append(others / max(ranking["imidm"], ranking["trapm"]))
    return holds_if(min(ratios) > 3, *ratios)


def fast_reason(lab: Laboratory) -> Measured:
    others, present = ("swc1", "bbtrap"), ("trapm", "imidm")
    trips = [max(map(lab.fast_round_trip, names)) for names in (others, present)]
    kept = max(lab.top_drifts["fast"][name].momentum for name in (*others, *present))
    errors = lab.convergence["fast"].ranking("R")
    ratio = min(errors[name] for name in others) / max(errors[name] for name in present)
    return holds_if(not (max(*trips, kept) < KEPT and ratio > 2), *trips, kept, ratio)
