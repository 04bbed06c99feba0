"""The abstract and section 1 of Celledoni & Säfström (2006): what others do, what is compared."""

import numpy as np

from polhode import problems
from polhode.papers.celledoni2006 import by_hand
from polhode.papers.celledoni2006.laboratory import (
    NEAR,
    SATELLITE_STEPS,
    THREE,
    TOP_STEPS,
    Laboratory,
    label,
)
from polhode.papers.celledoni2006.maps import (
    DIFFERENCE,
    ROUNDING,
    bodies,
    free_error,
    momentum_map,
    poisson_defect,
    truth,
)
from polhode.papers.celledoni2006.method import (
    FREE_BODY,
    FREE_MOMENTUM,
    MODULI,
    TOP_BODY,
    TOP_RATE,
    carlson,
)
from polhode.papers.maps import EXACT, HALVINGS, asymmetry, defect, defect_order
from polhode.papers.reference import solution
from polhode.papers.verdicts import Check, Measured, below, holds_if, largest, listing, near

START = np.array([-1.0, 1.5, 2.0])  # a momentum away from all axes
MOVING = "dmv2", "dmv4", "dmv6"

MEASUREMENTS: dict[str, Check] = {
    "time-symmetric": lambda _: below(EXACT, *map(asymmetry, ("sej", "sej4"))),
    "mr-poisson": lambda _: below(DIFFERENCE, poisson_defect(momentum_map("mr2", 0.4), START)),
}


# ---- the abstract
def jacobi(_: Laboratory) -> Measured:
    made = bodies(12, seed=7)
    first = sum(
        float(inertia**2 @ omega**2) > float(inertia @ omega**2) * float(np.median(inertia))
        for inertia, omega in made
    )
    worst = max(free_error(inertia, omega, 3.0) for inertia, omega in made)
    return holds_if(worst < 1e-12 and 0 < first < 12, first, 12 - first, worst)


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
    return holds_if(worst < ROUNDING and steps <= 9, steps, worst)


def faster(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    errors = dict(study.errors["π"])
    worst = float(errors.pop("je").max())
    high = {name: study.work_ratio("π", name, "je", 1e-13) for name in errors}
    low = study.work_ratio("π", "rk4", "je", 1e-6)
    nearest = {name: high[name] for name in sorted(high, key=high.__getitem__) if name != "mr4s"}
    times = ", ".join(f"{label(n)} {study.time_ratio('π', n, 'je', 1e-13)}" for n in nearest)
    accurate = worst < min(float(error.min()) for error in errors.values())
    corrected = accurate and min(high.values()) > 1
    shown = listing(nearest, ".3g", label), low, times, study.time_ratio("π", "rk4", "je", 1e-6)
    return holds_if(low > 1, worst, *shown, corrected=corrected)


def symmetric_bodies(_: Laboratory) -> Measured:
    times = np.array([0.5, 2.0])
    inertia, omega = np.array([2.0, 2.0, 3.0]), np.array([0.3, -0.4, 1.0])
    rate = (inertia[2] - inertia[0]) / inertia[0] * omega[2]
    found = (omega[0] + 1j * omega[1]) * np.exp(1j * rate * times)
    exact = truth(inertia, omega, times)
    apart = largest(found - (exact[:, 0] + 1j * exact[:, 1]))
    k2 = by_hand.constants(inertia, omega).modulus
    return holds_if(apart < EXACT and k2 == 0, k2, apart)


def benefits(lab: Laboratory) -> Measured:
    momentum, attitude = (
        float(lab.studies["top"].error_ratio(quantity, "mr2", other)[3])
        for quantity, other in (("π", "sej"), ("Q", "sej4"))
    )
    energy = lab.top.energy_ratio(0.01)
    return holds_if(min(momentum, attitude, energy) > 100, momentum, energy, attitude)


# ---- section 1
def constants(_: Laboratory) -> Measured:
    omega = truth(TOP_BODY, TOP_RATE, np.linspace(0.1, 2.0, 20))
    weights = TOP_BODY, TOP_BODY**2
    return below(1e-12, *(largest(omega**2 @ w / (TOP_RATE**2 @ w) - 1) for w in weights))


def lie_poisson(_: Laboratory) -> Measured:
    def flow(p: np.ndarray) -> np.ndarray:
        return by_hand.closed_form(FREE_BODY, p / FREE_BODY, 1.0)[0] * FREE_BODY

    return below(DIFFERENCE, poisson_defect(flow, np.array([-1.0, 0.3, 2.0])))


def fields(_: Laboratory) -> Measured:
    total, bracket = 0.0, 0.0
    for inertia, omega in bodies(10):
        parts = by_hand.fields(inertia, omega)
        total = max(total, largest(parts.sum(axis=0) - by_hand.euler(inertia, omega)))
        hamiltonian = [np.cross(inertia * omega, e * omega) for e in np.eye(3)]
        bracket = max(bracket, largest(parts - hamiltonian))
    return below(ROUNDING, total, bracket)


def fields_flow(_: Laboratory) -> Measured:
    p = np.array([-1.0, 0.5, 2.0])

    def error(axis: int) -> float:
        end = solution(lambda t, x: by_hand.fields(FREE_BODY, x / FREE_BODY)[axis], 1.0, p)
        return largest(by_hand.exp(np.eye(3)[axis] * p[axis] / FREE_BODY[axis]) @ p - end)

    return below(EXACT, max(map(error, range(3))))


def not_symplectic(_: Laboratory) -> Measured:
    back = max(asymmetry(name, ["torque"]) for name in ("sej", "sej4"))
    (p2, d2), (p4, d4) = (defect_order(name, "torque") for name in ("sej", "sej4"))
    control = defect("strang", "torque", HALVINGS[0])
    holds = back < EXACT and min(d2, d4) > 1e4 * control
    return holds_if(holds, back, d2, p2, d4, p4, control)


def better_energy(lab: Laboratory) -> Measured:
    ratios = lab.energy_ratios
    better = sum(ratio > 1 for ratio in ratios)
    return holds_if(better > len(ratios) / 2, better, len(ratios), min(ratios), max(ratios))


def better_behaviour(lab: Laboratory) -> Measured:
    cases = [(lab.top, h) for h in TOP_STEPS] + [(lab.satellite, h) for h in SATELLITE_STEPS]
    left = {name: sum(case.farthest(name, h) > NEAR for case, h in cases) for name in THREE}
    holds = left["sej4"] == 0 and left["sej"] < left["mr2"]
    return holds_if(holds, NEAR, *left.values())


def dmv_preserves(lab: Laboratory) -> Measured:
    energy = max(lab.free_swings[name].largest for name in MOVING)
    runs = (lab.run(problems.celledoni_free(), name, 400.0, 0.4) for name in MOVING)
    momenta = (run.angular_momentum_inertial for run in runs)
    moved = max(largest(momentum - momentum[0]) for momentum in momenta)
    structure = max(poisson_defect(momentum_map(name, 0.3), START) for name in MOVING)
    holds = max(energy, moved) < 1e-12 and structure < DIFFERENCE
    return holds_if(holds, energy, moved, structure)


def dmv_orders(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    found = [study.order("π", name) for name in MOVING]
    found += [study.order("Q", name) for name in MOVING[1:]]
    return holds_if(all(map(near, found, (2, 4, 6, 2, 2))), *found)


def dmv_once(lab: Laboratory) -> Measured:
    h, apart = 1 / 8, 0.0
    for order in (4, 6):
        scale = by_hand.scale(h, FREE_MOMENTUM, FREE_BODY, order)
        p = FREE_MOMENTUM * scale
        for _step in range(8):
            p = by_hand.dmv(h, p, FREE_BODY)
        run = lab.run(problems.celledoni_free(), f"dmv{order}", 1.0, h)
        apart = max(apart, largest(p / scale - run.angular_momentum[-1]))
    return below(EXACT, apart)


def dmv_cost(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    ratio = [study.work_of(n) / study.work_of("dmv2") for n in ("dmv4", "dmv6")]
    times = [study.times_of(n, "dmv2") for n in ("dmv4", "dmv6")]
    newton = [study.iterations[n] for n in MOVING]
    return holds_if(max(newton) < 1.1 * min(newton) and max(ratio) < 2, *ratio, *times, *newton)


def je_dmv(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    cost, times = study.work_of("je") / study.work_of("dmv6"), study.times_of("je", "dmv6")
    je, dmv = (float(study.errors["π"][name][2]) for name in ("je", "dmv6"))
    gain = study.work_ratio("π", "dmv6", "je", 1e-13)
    gained = study.time_ratio("π", "dmv6", "je", 1e-13)
    return holds_if(je < 1e-3 * dmv and cost < 2, cost, times, je, dmv, gain, gained)


def extra_cost(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    once, each = (study.work_of(n) for n in ("jem2", "sej"))
    shown = each, once, each / once - 1, study.times_of("sej"), study.times_of("jem2")
    return holds_if(each > 1.2 * once, *shown)


def torqued(lab: Laboratory) -> Measured:
    study, others = lab.studies["top"], ("sej", "sej4")
    sej, sej4 = (study.work_ratio("Q", "mr2", n, 1e-3) for n in others)
    return holds_if(sej4 > 1.5, sej, sej4, *(study.time_ratio("Q", "mr2", n, 1e-3) for n in others))
