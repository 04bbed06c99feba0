"""Claims of section 2 of Celledoni & Säfström (2006): the splitting and its parts."""

import numpy as np

from polhode import problems
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.celledoni2006.elliptic import FREE_BODY, FREE_MOMENTUM, TOP_BODY
from polhode.papers.celledoni2006.laboratory import Laboratory, shown
from polhode.papers.celledoni2006.maps import DIFFERENCE, ROUNDING, bodies, returned, truth
from polhode.papers.maps import (
    EXACT,
    HALVINGS,
    INERTIA,
    STEP,
    defect,
    near,
    orders,
    states,
    step,
    step_difference,
    torque_by_hand,
)
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Measured, judged
from polhode.solvers.exact import exact_free_motion

COUNTS = (10, 20, 40, 80)


def hamiltonian(_: Laboratory) -> Measured:
    cases = (
        (by_hand.top, by_hand.top_potential),
        (by_hand.satellite(TOP_BODY), by_hand.satellite_potential(TOP_BODY)),
    )
    worst, size = 0.0, 1e-3
    for q, _m in states():
        start = matrix(q).T
        for force, potential in cases:
            slopes = [
                (
                    8 * (potential(by_hand.exp(size * e) @ start))
                    - 8 * (potential(by_hand.exp(-size * e) @ start))
                    - potential(by_hand.exp(2 * size * e) @ start)
                    + potential(by_hand.exp(-2 * size * e) @ start)
                )
                / (12 * size)
                for e in np.eye(3)
            ]
            right = force(start)
            worst = max(worst, float(np.abs(right + slopes).max() / np.abs(right).max()))
    text = f"f is minus the derivative of V along (5), for 4.2 and 4.3: to {worst:.0e}"
    return text, judged(worst < DIFFERENCE)


def skew(lab: Laboratory) -> Measured:
    from scipy.integrate import solve_ivp

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, p = y[:9].reshape(3, 3), y[9:]
        turn = by_hand.skew(p / FREE_BODY)
        return np.concatenate([(turn @ q).ravel(), turn @ p])

    start = np.concatenate([np.eye(3).ravel(), FREE_MOMENTUM])
    end = solve_ivp(rates, (0.0, 1.0), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:9, -1]
    q, r = end.reshape(3, 3), lab.ends["frb"][0]
    same, turned = float(np.abs(q - r).max()), float(np.abs(q - r.T).max())
    text = f"4.1, t = 1: |Q - R| = {same:.2f}, |Q - Rᵀ| = {turned:.0e}"
    return text, judged(same < EXACT, turned < EXACT)


def verlet(_: Laboratory) -> Measured:
    found = max(defect("strang", model, HALVINGS[0]) for model in ("free", "torque"))
    return f"|JᵀΩ'J - Ω| of one step, h = 0.4: {found:.0e}", judged(found < DIFFERENCE)


def asymmetric_flow(_: Laboratory) -> Measured:
    problem = problems.celledoni_free()
    run = exact_free_motion(problem.body, None, problem.omega, 1.0)
    error = float(np.abs(matrix(run.q[0]) - matrix(np.array(reference.FREE_Q))).max())
    k2 = by_hand.constants(FREE_BODY, FREE_MOMENTUM / FREE_BODY).modulus
    text = f"4.1: k² = {k2:.2f}; exact_free_motion has Q(1) to {error:.0e}"
    return text, judged(k2 > 0.01 and error < ROUNDING)


def pi_exact(lab: Laboratory) -> Measured:
    from polhode.body import RigidBody
    from polhode.problems.problem import Problem

    worst = 0.0
    for inertia, omega in bodies(10):
        problem = Problem(RigidBody(inertia.tolist()), omega=omega.tolist())
        for h in (0.1, 1.0, 10.0):
            found = lab.run(problem, "je", h, h).omega[-1]
            right = truth(inertia, omega, np.array([h]))[0]
            worst = max(worst, float(np.linalg.norm(found - right) / np.linalg.norm(omega)))
    text = f"10 bodies, one step of JE with h = 0.1, 1, 10: right to {worst:.0e}"
    return text, judged(worst < 3e-12)


def magnus_orders(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    found = {n: study.order(study.attitude, n) for n in ("jem2", "jem4")}
    back = max(returned(n, "free") for n in found)
    text = "order in Q " + ", ".join(f"{shown(n)} {p:.2f}" for n, p in found.items())
    text += f"; h then -h: back to {back:.0e}"
    right = near(found["jem2"], 2, 0.1) and near(found["jem4"], 4, 0.1)
    return text, judged(right and back < EXACT)


def by_product(lab: Laboratory) -> Measured:
    once = float(np.median(lab.studies["euler"].cost["je"]))
    twice = float(np.median(lab.studies["frb"].cost["jem2"]))
    text = (
        f"a step of JE takes {once:.1f}, of JEM2 {twice:.1f} steps of MR2: {twice / once - 1:+.0%}"
    )
    return text, judged(twice < 2 * once)


def rodrigues(_: Laboratory) -> Measured:
    from scipy.linalg import expm

    rng = np.random.default_rng(3)
    vectors = [rng.normal(size=3) * size for size in (1e-6, 1e-3, 0.1, 1.0, 3.0)]
    worst = max(float(np.abs(by_hand.exp(v) - expm(by_hand.skew(v))).max()) for v in vectors)
    return f"differs from SciPy's matrix exponential by {worst:.0e}", judged(worst < EXACT)


def kick(_: Laboratory) -> Measured:
    from scipy.integrate import solve_ivp

    q = matrix(states(1)[0][0]).T
    p = np.array([1.0, 2.0, 3.0])
    end = solve_ivp(lambda t, x: by_hand.top(q), (0.0, 0.5), p, method="DOP853", rtol=1e-13).y
    apart = float(np.abs(end[:, -1] - p - 0.5 * by_hand.top(q)).max())
    return f"π + hf(Q) is the solution of (7) to {apart:.0e}", judged(apart < ROUNDING)


def scheme(_: Laboratory) -> Measured:
    apart = 0.0
    for q, m in states():
        for name, order in (("sej", 2), ("sej4", 4)):
            start = matrix(q).T, np.array(m)
            attitude, p = by_hand.sej(STEP, start, INERTIA, _page_torque, order)
            new, found = step(name, "torque")(STEP, (q, m))
            apart = max(apart, float(np.abs(matrix(new).T - attitude).max()))
            apart = max(apart, float(np.abs(found - p).max()))
    text = f"one step with torque: page and library differ by {apart:.0e}"
    return text, judged(apart < EXACT)


def _page_torque(q: np.ndarray) -> np.ndarray:
    return torque_by_hand("torque")(0.0, q.T)


def second_order(_: Laboratory) -> Measured:
    p, r = orders("sej", "torque", COUNTS)
    text = f"asymmetric body with torque: order {p:.2f} (π), {r:.2f} (Q)"
    return text, judged(near(p, 2) and near(r, 2))


def flow_symmetric(_: Laboratory) -> Measured:
    part = max(returned(name, "free") for name in ("jem2", "jem4"))
    whole = max(returned(name, "torque") for name in ("sej", "sej4"))
    text = f"back to {part:.0e} for (10), {whole:.0e} with torque"
    return text, judged(max(part, whole) < EXACT)


def more_terms(_: Laboratory) -> Measured:
    (p2, d2), (p4, d4) = (step_difference(name, "strang") for name in ("sej", "sej4"))
    text = (
        f"one step, h = 0.4, against the exact flow: SEJ {d2:.0e} (O(h^{p2:.1f})), SEJ4 {d4:.0e}"
        f" (O(h^{p4:.1f}))"
    )
    return text, judged(d4 < 0.3 * d2 and p4 > p2 + 1)
