"""Section 2 of Celledoni & Säfström (2006): the splitting and its parts."""

from functools import partial

import numpy as np

from polhode import problems
from polhode.body import RigidBody
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.celledoni2006.elliptic import FREE_BODY, FREE_MOMENTUM, TOP_BODY
from polhode.papers.celledoni2006.laboratory import Laboratory
from polhode.papers.celledoni2006.maps import DIFFERENCE, ROUNDING, bodies, page_gap, truth
from polhode.papers.maps import (
    BOTH,
    EXACT,
    HALVINGS,
    asymmetry,
    defect,
    derivatives,
    orders,
    states,
    step_difference,
)
from polhode.papers.reference import solution
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Check, Measured, below, holds_if, largest, near, of_order
from polhode.problems.problem import Problem
from polhode.solvers.exact import exact_free_motion

MEASUREMENTS: dict[str, Check] = {
    "verlet": lambda _: below(
        DIFFERENCE, max(defect("strang", model, HALVINGS[0]) for model in BOTH)
    ),
    "scheme": lambda _: below(
        EXACT,
        max(
            page_gap(name, "torque", partial(by_hand.sej, order=order))
            for name, order in (("sej", 2), ("sej4", 4))
        ),
    ),
    "second-order": lambda _: of_order(2, *orders("sej", "torque", (10, 20, 40, 80))),
    "flow-symmetric": lambda _: below(
        EXACT,
        max(asymmetry(name, ["free"]) for name in ("jem2", "jem4")),
        max(asymmetry(name, ["torque"]) for name in ("sej", "sej4")),
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
    return below(DIFFERENCE, worst)


def skew(lab: Laboratory) -> Measured:
    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, p = y[:9].reshape(3, 3), y[9:]
        turn = by_hand.skew(p / FREE_BODY)
        return np.concatenate([(turn @ q).ravel(), turn @ p])

    start = np.concatenate([np.eye(3).ravel(), FREE_MOMENTUM])
    q, r = solution(rates, 1.0, start)[:9].reshape(3, 3), lab.ends["frb"][0]
    same, turned = largest(q - r), largest(q - r.T)
    return holds_if(same < EXACT, same, turned, corrected=turned < EXACT)


def asymmetric_flow(_: Laboratory) -> Measured:
    problem = problems.celledoni_free()
    run = exact_free_motion(problem.body, None, problem.omega, 1.0)
    error = largest(matrix(run.q[0]) - matrix(np.array(reference.FREE_Q)))
    k2 = by_hand.constants(FREE_BODY, FREE_MOMENTUM / FREE_BODY).modulus
    return holds_if(k2 > 0.01 and error < ROUNDING, k2, error)


def pi_exact(lab: Laboratory) -> Measured:
    worst = 0.0
    for inertia, omega in bodies(10):
        problem = Problem(RigidBody(inertia.tolist()), omega=omega.tolist())
        for h in (0.1, 1.0, 10.0):
            off = lab.run(problem, "je", h, h).omega[-1] - truth(inertia, omega, h)[0]
            worst = max(worst, float(np.linalg.norm(off) / np.linalg.norm(omega)))
    return below(3e-12, worst)


def magnus_orders(lab: Laboratory) -> Measured:
    second, fourth = lab.studies["frb"].orders("Q", ("jem2", "jem4")).values()
    back = max(asymmetry(name, ["free"]) for name in ("jem2", "jem4"))
    holds = near(second, 2, 0.1) and near(fourth, 4, 0.1) and back < EXACT
    return holds_if(holds, second, fourth, back)


def by_product(lab: Laboratory) -> Measured:
    once, twice = lab.studies["euler"].cost_of("je"), lab.studies["frb"].cost_of("jem2")
    return holds_if(twice < 2 * once, once, twice, twice / once - 1)


def rodrigues(_: Laboratory) -> Measured:
    from scipy.linalg import expm

    rng = np.random.default_rng(3)
    vectors = [rng.normal(size=3) * size for size in (1e-6, 1e-3, 0.1, 1.0, 3.0)]
    return below(EXACT, max(largest(by_hand.exp(v) - expm(by_hand.skew(v))) for v in vectors))


def kick(_: Laboratory) -> Measured:
    q, p = matrix(states(1)[0][0]).T, np.array([1.0, 2.0, 3.0])
    end = solution(lambda t, x: by_hand.top(q), 0.5, p, atol=1e-6)
    return below(ROUNDING, largest(end - p - 0.5 * by_hand.top(q)))


def more_terms(_: Laboratory) -> Measured:
    (p2, d2), (p4, d4) = (step_difference(name, "strang") for name in ("sej", "sej4"))
    return holds_if(d4 < 0.3 * d2 and p4 > p2 + 1, d2, p2, d4, p4)
