"""Section 2 of Celledoni & Säfström (2006): the splitting and its parts."""

import numpy as np

from polhode import problems
from polhode.body import RigidBody
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.celledoni2006.elliptic import FREE_BODY, FREE_MOMENTUM, TOP_BODY
from polhode.papers.celledoni2006.laboratory import Laboratory, label
from polhode.papers.celledoni2006.maps import DIFFERENCE, ROUNDING, bodies, round_trip, truth
from polhode.papers.maps import (
    EXACT,
    HALVINGS,
    INERTIA,
    STEP,
    defect,
    derivatives,
    orders,
    states,
    step,
    step_difference,
    torque_by_hand,
)
from polhode.papers.reference import solution
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Check, Measured, below, judge, largest, listing, near, of_order
from polhode.problems.problem import Problem
from polhode.solvers.exact import exact_free_motion

MEASUREMENTS: dict[str, Check] = {
    "verlet": lambda _: below(
        DIFFERENCE,
        "|JᵀΩ'J - Ω| of one step, h = 0.4: {:.0e}",
        max(defect("strang", model, HALVINGS[0]) for model in ("free", "torque")),
    ),
    "second-order": lambda _: of_order(
        2,
        "asymmetric body with torque: order {:.2f} (π), {:.2f} (Q)",
        *orders("sej", "torque", (10, 20, 40, 80)),
    ),
    "flow-symmetric": lambda _: below(
        EXACT,
        "back to {:.0e} for (10), {:.0e} with torque",
        max(round_trip(name, "free") for name in ("jem2", "jem4")),
        max(round_trip(name, "torque") for name in ("sej", "sej4")),
    ),
}


def hamiltonian(_: Laboratory) -> Measured:
    cases = (
        (by_hand.top, by_hand.top_potential),
        (by_hand.satellite(TOP_BODY), by_hand.satellite_potential(TOP_BODY)),
    )
    worst = 0.0
    for q, _m in states():
        start = matrix(q).T
        for force, potential in cases:

            def moved(v: np.ndarray, start=start, potential=potential) -> np.ndarray:
                return np.array([potential(by_hand.exp(v) @ start)])

            right = force(start)
            worst = max(worst, largest(right + derivatives(moved, 1e-3, 3)[0]) / largest(right))
    text = "f is minus the derivative of V along (5), for 4.2 and 4.3: to {:.0e}"
    return below(DIFFERENCE, text, worst)


def skew(lab: Laboratory) -> Measured:
    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, p = y[:9].reshape(3, 3), y[9:]
        turn = by_hand.skew(p / FREE_BODY)
        return np.concatenate([(turn @ q).ravel(), turn @ p])

    start = np.concatenate([np.eye(3).ravel(), FREE_MOMENTUM])
    q, r = solution(rates, 1.0, start)[:9].reshape(3, 3), lab.ends["frb"][0]
    same, turned = largest(q - r), largest(q - r.T)
    text = f"4.1, t = 1: |Q - R| = {same:.2f}, |Q - Rᵀ| = {turned:.0e}"
    return text, judge(same < EXACT, turned < EXACT)


def asymmetric_flow(_: Laboratory) -> Measured:
    problem = problems.celledoni_free()
    run = exact_free_motion(problem.body, None, problem.omega, 1.0)
    error = largest(matrix(run.q[0]) - matrix(np.array(reference.FREE_Q)))
    k2 = by_hand.constants(FREE_BODY, FREE_MOMENTUM / FREE_BODY).modulus
    text = f"4.1: k² = {k2:.2f}; exact_free_motion has Q(1) to {error:.0e}"
    return text, judge(k2 > 0.01 and error < ROUNDING)


def pi_exact(lab: Laboratory) -> Measured:
    worst = 0.0
    for inertia, omega in bodies(10):
        problem = Problem(RigidBody(inertia.tolist()), omega=omega.tolist())
        for h in (0.1, 1.0, 10.0):
            off = lab.run(problem, "je", h, h).omega[-1] - truth(inertia, omega, np.array([h]))[0]
            worst = max(worst, float(np.linalg.norm(off) / np.linalg.norm(omega)))
    return below(3e-12, "10 bodies, one step of JE with h = 0.1, 1, 10: right to {:.0e}", worst)


def magnus_orders(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    found = study.orders(study.attitude, ("jem2", "jem4"))
    back = max(round_trip(n, "free") for n in found)
    text = f"order in Q {listing(found, '.2f', label)}; h then -h: back to {back:.0e}"
    right = near(found["jem2"], 2, 0.1) and near(found["jem4"], 4, 0.1)
    return text, judge(right and back < EXACT)


def by_product(lab: Laboratory) -> Measured:
    once, twice = lab.studies["euler"].cost_of("je"), lab.studies["frb"].cost_of("jem2")
    text = (
        f"a step of JE takes {once:.1f}, of JEM2 {twice:.1f} steps of MR2: {twice / once - 1:+.0%}"
    )
    return text, judge(twice < 2 * once)


def rodrigues(_: Laboratory) -> Measured:
    from scipy.linalg import expm

    rng = np.random.default_rng(3)
    vectors = [rng.normal(size=3) * size for size in (1e-6, 1e-3, 0.1, 1.0, 3.0)]
    worst = max(largest(by_hand.exp(v) - expm(by_hand.skew(v))) for v in vectors)
    return below(EXACT, "differs from SciPy's matrix exponential by {:.0e}", worst)


def kick(_: Laboratory) -> Measured:
    q, p = matrix(states(1)[0][0]).T, np.array([1.0, 2.0, 3.0])
    end = solution(lambda t, x: by_hand.top(q), 0.5, p, atol=1e-6)
    apart = largest(end - p - 0.5 * by_hand.top(q))
    return below(ROUNDING, "π + hf(Q) is the solution of (7) to {:.0e}", apart)


def scheme(_: Laboratory) -> Measured:
    def torque(q: np.ndarray) -> np.ndarray:
        return torque_by_hand("torque")(0.0, q.T)

    apart = 0.0
    for q, m in states():
        for name, order in (("sej", 2), ("sej4", 4)):
            attitude, p = by_hand.sej(STEP, (matrix(q).T, np.array(m)), INERTIA, torque, order)
            new, found = step(name, "torque")(STEP, (q, m))
            apart = max(apart, largest(matrix(new).T - attitude), largest(found - p))
    return below(EXACT, "one step with torque: page and library differ by {:.0e}", apart)


def more_terms(_: Laboratory) -> Measured:
    (p2, d2), (p4, d4) = (step_difference(name, "strang") for name in ("sej", "sej4"))
    text = (
        f"one step, h = 0.4, against the exact flow: SEJ {d2:.0e} (O(h^{p2:.1f})), SEJ4 {d4:.0e}"
        f" (O(h^{p4:.1f}))"
    )
    return text, judge(d4 < 0.3 * d2 and p4 > p2 + 1)
