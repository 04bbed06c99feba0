"""Claims of sections 5.1 to 5.3 of Krysl (2006): the free body and the two tops."""

import numpy as np

from polhode.models import heavy_top
from polhode.papers.krysl2006.laboratory import (
    EXAMPLES,
    KEPT,
    PRESENT,
    WHOLE_RUN,
    Convergence,
    Laboratory,
)
from polhode.papers.krysl2006.maps import torque_gap
from polhode.papers.maps import EXACT, VISIBLE, march, near, states, step
from polhode.papers.verdicts import Measured, judged


def _listed(errors: dict[str, float]) -> str:
    return ", ".join(f"{name.upper()} {error:.1e}" for name, error in errors.items())


def _second_order(study: Convergence) -> Measured:
    p, r = study.orders(study.momentum), study.orders(study.attitude)
    text = f"order {min(p):.2f} to {max(p):.2f} (Π), {min(r):.2f} to {max(r):.2f} (R)"
    return text, judged(all(near(x, 2) for x in (*p, *r)))


def _own_reference(lab: Laboratory, name: str, dt: float) -> Measured:
    """The error of the paper's kind of reference, and of ours against another method."""
    example, study = EXAMPLES[name], lab.convergence[name]
    run = lab.run(example.problem(), "imidm", example.t_end, dt, WHOLE_RUN)
    p, r = lab.error(name, run)
    smallest = min(float(e[-1]) for e in (*study.momentum.values(), *study.attitude.values()))
    text = f"IMIDM with Δt = {dt}: error {p:.0e} (Π), {r:.0e} (R)"
    if not lab.quick:
        gauss = lab.run(example.problem(), "mkrk:gauss6", example.t_end, dt * 10, WHOLE_RUN)
        p6, r6 = lab.error(name, gauss)
        text += f"; our DOP853 and Gauss of order 6 differ by {p6:.0e}, {r6:.0e}"
    return text, judged(max(p, r) < smallest)


# ---- 5.1
def free_order(lab: Laboratory) -> Measured:
    return _second_order(lab.convergence["free"])


def free_reference(lab: Laboratory) -> Measured:
    return _own_reference(lab, "free", 0.001)


def free_best_momentum(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ranking = study.ranking(study.momentum)
    text = f"{_listed(ranking)} (Δt = {study.steps[-1]:.4g})"
    others = min(error for name, error in ranking.items() if name not in ("imid", "akw"))
    return text, judged(ranking["imid"] < others)


def free_best_attitude(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ranking = study.ranking(study.attitude)
    lead = 1 - ranking["trap"] / ranking["imid"]
    text = f"{_listed(ranking)}: TRAP's error is {lead:.0%} below IMID's"
    return text, judged(next(iter(ranking)) == "imid")


def free_imid_kept(lab: Laboratory) -> Measured:
    found = lab.free_drifts["imid"]
    text = f"energy {found.worst_energy:.0e}, momentum {found.momentum:.1e}"
    return text, judged(found.worst_energy < KEPT and found.momentum > VISIBLE)


def free_akw_momentum(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ratio = study.momentum["akw"] / study.momentum["imid"]
    found = float(np.abs(ratio - 1).max())
    text = f"ratio of the errors 1 to within {found:.0e} at all {len(ratio)} steps"
    return text, judged(found < 1e-6)  # both errors have rounding of 1e-16 · 1e4 steps / 1e-4


def free_akw_attitude(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ranking = study.ranking(study.attitude)
    ratio = ranking["akw"] / ranking["imid"]
    return f"{ratio:.1f} times the error of IMID", judged(5 < ratio < 50)


def free_trap_momentum(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ratio = float(study.momentum["trap"][-1] / study.momentum["imid"][-1])
    return f"{ratio:.2f} times the error of IMID", judged(1 < ratio < 3)


def free_half_step(_: Laboratory) -> Measured:
    start, h, count = states(1)[0], 0.2, 200
    shift = step("forward-euler")
    trap = march("trap", "free", count * h, count, start)[-1]
    imid = march("imid", "free", count * h, count, start)[-1]
    shifted = march("imid", "free", count * h, count, shift(h / 2, start))[-1]
    apart = float(np.abs(np.subtract(trap[1], imid[1])).max())
    # undo the shift: backward Euler with -h/2 is the inverse of forward Euler
    unshifted = step("backward-euler")(-h / 2, shifted)
    left = float(np.abs(np.subtract(trap[1], unshifted[1])).max())
    text = f"{count} steps: |Π(TRAP) - Π(IMID)| = {apart:.0e}, with IMID half a step on {left:.0e}"
    return text, judged(left < KEPT and apart > VISIBLE)


def free_pair(lab: Laboratory) -> Measured:
    study = lab.convergence["free"]
    ranking = study.ranking(study.momentum)
    ratio = min(ranking[name] / ranking["imid"] for name in ("bbtrap", "swc1"))
    text = f"{ratio:.0f} times the error of IMID, {ratio * ranking['imid'] / ranking['imidm']:.1f}"
    return f"{text} times that of IMIDM: the last two of seven", judged(
        set(list(ranking)[-2:]) == {"bbtrap", "swc1"} and ratio > 10
    )


# ---- 5.2
def slow_torque(_: Laboratory) -> Measured:
    def printed(r: np.ndarray) -> np.ndarray:
        return -20 * np.cross(r[:, 2], [0.0, 0.0, 1.0])

    found = torque_gap(heavy_top(20.0), printed)
    return f"the model heavy_top(20) differs by {found:.0e}", judged(found < EXACT)


def slow_order(lab: Laboratory) -> Measured:
    return _second_order(lab.convergence["slow"])


def slow_reference(lab: Laboratory) -> Measured:
    return _own_reference(lab, "slow", 0.0001)


def slow_attitude(lab: Laboratory) -> Measured:
    study = lab.convergence["slow"]
    ranking = study.ranking(study.attitude)
    return _listed(ranking), judged(next(iter(ranking)) in PRESENT)


def slow_momentum(lab: Laboratory) -> Measured:
    study = lab.convergence["slow"]
    ranking = study.ranking(study.momentum)
    return _listed(ranking), judged(next(iter(ranking)) in PRESENT)


# ---- 5.3
def fast_order(lab: Laboratory) -> Measured:
    return _second_order(lab.convergence["fast"])


def fast_kinetic(lab: Laboratory) -> Measured:
    run = lab.run(EXAMPLES["fast"].problem(), "imidm", 10.0, 1e-3)
    ratio = run.kinetic_energy / np.abs(np.asarray(run.potential_energy))
    return f"at least {ratio.min():.0f} times the potential energy", judged(ratio.min() > 20)


def fast_frequencies(_: Laboratory) -> Measured:
    times = np.linspace(0.0, 10.0, 4001)
    q, _m = EXAMPLES["fast"].reference(times)
    w, x, y, z = q.T
    azimuth = np.unwrap(np.arctan2(2 * (y * z - w * x), 2 * (x * z + w * y)))
    height = 1 - 2 * (x * x + y * y)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(height)))) + 1
    nutation = np.pi * (len(turns) - 1) / (times[turns[-1]] - times[turns[0]])
    precession = abs(azimuth[turns[-1]] - azimuth[turns[0]]) / (times[turns[-1]] - times[turns[0]])
    text = f"{precession:.2f} and {nutation:.2f} rad/s: 1 to {nutation / precession:.0f}"
    return text, judged(nutation > 5 * precession)


def fast_accuracy(lab: Laboratory) -> Measured:
    study = lab.convergence["fast"]
    ratios = []
    for errors in (study.momentum, study.attitude):
        ranking = study.ranking(errors)
        others = min(error for name, error in ranking.items() if name not in ("imidm", "trapm"))
        ratios.append(others / max(ranking["imidm"], ranking["trapm"]))
    text = f"{ratios[0]:.1f} times (Π) and {ratios[1]:.1f} times (R) better than the next best"
    return text, judged(min(ratios) > 3)


def fast_reason(lab: Laboratory) -> Measured:
    names = ("swc1", "bbtrap", "trapm", "imidm")
    trips = {name: lab.round_trips[name] for name in names}
    kept = {name: lab.top_drifts["fast"][name].momentum for name in names}
    errors = lab.convergence["fast"].attitude
    ratio = min(errors[n][-1] for n in names[:2]) / max(errors[n][-1] for n in names[2:])
    text = (
        f"SWC1 and BBTRAP too return from 1000 steps there and back (to"
        f" {max(trips['swc1'], trips['bbtrap']):.0e}; IMIDM, TRAPM"
        f" {max(trips['imidm'], trips['trapm']):.0e}) and keep the vertical momentum (to"
        f" {max(kept.values()):.0e}), with {ratio:.1f} times the error in R"
    )
    both = max(*trips.values(), *kept.values()) < KEPT
    return text, judged(not (both and ratio > 2))
