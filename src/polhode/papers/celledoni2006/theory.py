"""Claims of the abstract and of sections 1 and 2 of Celledoni & Säfström (2006)."""

import numpy as np

from polhode import problems
from polhode.exact import exact_free_motion
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.celledoni2006.elliptic import (
    FREE_BODY,
    FREE_MOMENTUM,
    MODULI,
    TOP_BODY,
    TOP_RATE,
    carlson,
    truth,
)
from polhode.papers.celledoni2006.laboratory import (
    NEAR,
    SATELLITE_STEPS,
    TOP_STEPS,
    Laboratory,
    astray,
    shown,
    swing,
    vertical,
)
from polhode.papers.celledoni2006.maps import (
    DIFFERENCE,
    ROUNDING,
    bodies,
    free_error,
    momentum_map,
    poisson_defect,
    returned,
    small,
)
from polhode.papers.claims import CORRECTED, Measured, Statements, judged
from polhode.papers.maps import (
    EXACT,
    HALVINGS,
    INERTIA,
    STEP,
    defect,
    defect_order,
    near,
    orders,
    states,
    step,
    step_difference,
    torque_by_hand,
)
from polhode.papers.rotations import matrix

STATEMENTS = Statements()
claim = STATEMENTS.claim

START = (1.0, 0.0, 0.0, 0.0)
COUNTS = (10, 20, 40, 80)


# ---- abstract
@claim(
    "jacobi",
    "abstract",
    "if the moments are distinct, Jacobi elliptic functions solve the Euler equations",
    claimed="exact",
    note="with the corrections of section 3",
)
def jacobi(_: Laboratory) -> Measured:
    made = bodies(12, seed=7)
    kinds = [
        float(inertia**2 @ omega**2) > float(inertia @ omega**2) * float(np.median(inertia))
        for inertia, omega in made
    ]
    worst = max(free_error(inertia, omega, 3.0) for inertia, omega in made)
    text = (
        f"12 bodies, {sum(kinds)} of the first kind and {12 - sum(kinds)} of the second: ω(3) right"
        f" to {worst:.0e}"
    )
    return text, judged(worst < 1e-12 and 0 < sum(kinds) < 12)


@claim(
    "means",
    "abstract",
    "the arithmetic-geometric mean calculates these functions efficiently and accurately",
    claimed="few steps, accurate",
)
def means(_: Laboratory) -> Measured:
    worst = 0.0
    for k2 in MODULI:
        for u in np.linspace(-3.0, 3.0, 25).tolist():
            cn, sn, _dn = by_hand.functions(u, 1 - k2)
            back = carlson(float(np.arctan2(sn, cn)), 1 - k2)
            period = 4 * carlson(np.pi / 2, 1 - k2)
            worst = max(
                worst, abs(back - u + period * round((u - back) / period)) * np.sqrt(1 - k2)
            )
    steps = max(len(by_hand.means(1 - k2)[0]) - 1 for k2 in MODULI)
    text = (
        f"{steps} recursion steps or fewer for k² up to 1 - 1e-8; am u by them, put into Carlson's"
        f" integral, is u to {worst:.0e}/√(1 - k²)"
    )
    return text, judged(worst < ROUNDING and steps <= 9)


@claim(
    "faster",
    "abstract",
    "compared to standard and Lie-Poisson solvers, a faster and more accurate numerical solution of"
    " the Euler equations",
    claimed="faster and more accurate",
    expected=CORRECTED,
    note="faster at high accuracy; a compiled RK4, which keeps nothing, is faster at low",
    timed=True,
)
def faster(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    others = [name for name in study.momentum if name != "je"]
    je = float(study.time("je")[0])
    high = {n: study.time_to(study.momentum, n, 1e-13) / je for n in others}
    low = study.time_to(study.momentum, "rk4", 1e-6) / je
    nearest = sorted((n for n in others if n != "mr4s"), key=lambda n: high[n])
    listed = ", ".join(f"{shown(n)} {high[n]:.3g}" for n in nearest)
    worst = float(study.momentum["je"].max())
    text = (
        f"JE: error {small(worst)} in 4 steps; times of the others to 1e-13, as multiples of that:"
        f" {listed}; but RK4 to 1e-6: {low:.2f}"
    )
    accurate = worst < min(float(study.momentum[n].min()) for n in others)
    return text, judged(low > 1, accurate and min(high.values()) > 1)


@claim(
    "symmetric-bodies",
    "abstract",
    "for symmetric bodies the exact solution is available in trigonometric functions",
    claimed="exact",
)
def symmetric_bodies(_: Laboratory) -> Measured:
    times = np.array([0.5, 2.0])
    inertia, omega = np.array([2.0, 2.0, 3.0]), np.array([0.3, -0.4, 1.0])
    rate = (inertia[2] - inertia[0]) / inertia[0] * omega[2]
    wave = omega[0] + 1j * omega[1]
    found = wave * np.exp(1j * rate * times)
    exact = truth(inertia, omega, times)
    apart = float(np.abs(found - (exact[:, 0] + 1j * exact[:, 1])).max())
    k2 = by_hand.constants(inertia, omega).modulus
    text = f"I1 = I2: k² = {k2:.0f}, and ω(t) by cos and sin is right to {apart:.0e}"
    return text, judged(apart < EXACT and k2 == 0)


@claim(
    "time-symmetric",
    "abstract",
    "the method proposed is time-symmetric",
    claimed="symmetric",
)
def time_symmetric(_: Laboratory) -> Measured:
    found = {
        name: max(returned(name, model) for model in ("free", "torque")) for name in ("sej", "sej4")
    }
    text = "h then -h: back to " + ", ".join(f"{x:.0e} ({shown(n)})" for n, x in found.items())
    return text, judged(max(found.values()) < EXACT)


@claim(
    "benefits",
    "abstract",
    "the overall solution benefits greatly from the very accurate solution of the Euler equations",
    claimed="greatly",
)
def benefits(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    k = 3
    momentum = float(study.momentum["mr2"][k] / study.momentum["sej"][k])
    attitude = float(study.attitude["mr2"][k] / study.attitude["sej4"][k])
    energy = swing(lab.top_runs["mr2", 0.01]).largest / swing(lab.top_runs["sej", 0.01]).largest
    text = (
        f"heavy top, MR against SEJ at the same step: error in π {momentum:.1g} times, in the"
        f" energy {energy:.1g} times; in Q against SEJ4 {attitude:.1g} times"
    )
    return text, judged(min(momentum, attitude, energy) > 100)


# ---- section 1
@claim(
    "constants",
    "1",
    "(2): E and G² are constant along the solutions of (1)",
    claimed="constant",
    note="E of (2) is twice the energy",
)
def constants(_: Laboratory) -> Measured:
    omega = truth(TOP_BODY, TOP_RATE, np.linspace(0.1, 2.0, 20))
    energy, square = omega**2 @ TOP_BODY, omega**2 @ TOP_BODY**2
    kept = [
        float(np.abs(values / start - 1).max())
        for values, start in (
            (energy, TOP_RATE**2 @ TOP_BODY),
            (square, TOP_RATE**2 @ TOP_BODY**2),
        )
    ]
    return f"to {kept[0]:.0e} and {kept[1]:.0e} along DOP853", judged(max(kept) < 1e-12)


@claim(
    "lie-poisson",
    "1",
    "the flow of (1) preserves a Lie-Poisson structure",
    claimed="preserved",
)
def lie_poisson(_: Laboratory) -> Measured:
    def flow(p: np.ndarray) -> np.ndarray:
        return by_hand.closed_form(FREE_BODY, p / FREE_BODY, 1.0)[0] * FREE_BODY

    found = poisson_defect(flow, np.array([-1.0, 0.3, 2.0]))
    text = f"|J skew(π)Jᵀ - skew(π')| = {found:.0e} |π| for the flow over t = 1"
    return text, judged(found < DIFFERENCE)


@claim(
    "fields",
    "1",
    "(3): the right-hand side of (1) is f1 + f2 + f3, each Hamiltonian",
    claimed="sum, and Hamiltonian",
    note="fi is π × ∇(πi²/2Ii)",
)
def fields(_: Laboratory) -> Measured:
    total, bracket = 0.0, 0.0
    for inertia, omega in bodies(10):
        parts = by_hand.fields(inertia, omega)
        right = by_hand.euler(inertia, omega)
        total = max(total, float(np.abs(parts.sum(axis=0) - right).max()))
        for axis in range(3):
            gradient = np.eye(3)[axis] * omega[axis]
            field = np.cross(inertia * omega, gradient)
            bracket = max(bracket, float(np.abs(parts[axis] - field).max()))
    text = f"10 bodies: the sum to {total:.0e}, the Hamiltonian fields to {bracket:.0e}"
    return text, judged(max(total, bracket) < ROUNDING)


@claim(
    "fields-flow",
    "1",
    "each of the three is easy to integrate exactly",
    claimed="exact",
)
def fields_flow(_: Laboratory) -> Measured:
    from scipy.integrate import solve_ivp

    inertia, p = FREE_BODY, np.array([-1.0, 0.5, 2.0])
    worst = 0.0
    for axis in range(3):

        def field(t: float, x: np.ndarray, axis: int = axis) -> np.ndarray:
            return by_hand.fields(inertia, x / inertia)[axis]

        end = solve_ivp(field, (0.0, 1.0), p, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
        turn = by_hand.exp(np.eye(3)[axis] * p[axis] / inertia[axis])
        worst = max(worst, float(np.abs(turn @ p - end).max()))
    text = f"a turn about the axis is the flow over t = 1 to {worst:.0e}"
    return text, judged(worst < EXACT)


@claim(
    "mr-poisson",
    "1",
    "the composition of their flows is a (non-canonical) symplectic approximation",
    claimed="Lie-Poisson",
)
def mr_poisson(_: Laboratory) -> Measured:
    found = poisson_defect(momentum_map("mr2", 0.4), np.array([-1.0, 1.5, 2.0]))
    text = f"one step of MR2, h = 0.4: |J skew(π)Jᵀ - skew(π')| = {found:.0e} |π|"
    return text, judged(found < DIFFERENCE)


@claim(
    "not-symplectic",
    "1",
    "the overall splitting is symmetric, but not symplectic",
    claimed="symmetric, not symplectic",
)
def not_symplectic(_: Laboratory) -> Measured:
    back = max(returned(name, "torque") for name in ("sej", "sej4"))
    (p2, d2), (p4, d4) = (defect_order(name, "torque") for name in ("sej", "sej4"))
    control = defect("strang", "torque", HALVINGS[0])
    text = (
        f"h then -h: back to {back:.0e}; |JᵀΩ'J - Ω| at h = 0.4: SEJ {d2:.0e} (O(h^{p2:.1f})), SEJ4"
        f" {d4:.0e} (O(h^{p4:.1f})); the same splitting with the exact flow {control:.0e}"
    )
    return text, judged(back < EXACT and min(d2, d4) > 1e4 * control)


@claim(
    "better-energy",
    "1",
    "in many of the experiments better conservation of energy than the symplectic integrator",
    claimed="many",
)
def better_energy(lab: Laboratory) -> Measured:
    ratios = lab.energy_ratios
    better = sum(ratio > 1 for ratio in ratios)
    text = (
        f"{better} of {len(ratios)} experiments of figures 4 to 8: the error of MR is"
        f" {min(ratios):.1g} to {max(ratios):.1g} times that of SEJ"
    )
    return text, judged(better > len(ratios) / 2)


@claim(
    "better-behaviour",
    "1",
    "and better behaviour of the numerical solution",
    claimed="better",
    note="where the step is large, h = 0.1",
)
def better_behaviour(lab: Laboratory) -> Measured:
    far = {
        name: [
            float(astray(vertical(runs[name, h]), curve).max())
            for runs, curve, steps in (
                (lab.top_runs, lab.top_curve, TOP_STEPS),
                (lab.satellite_runs, lab.satellite_curve, SATELLITE_STEPS),
            )
            for h in steps
        ]
        for name in ("mr2", "sej", "sej4")
    }
    left = {name: sum(x > NEAR for x in values) for name, values in far.items()}
    text = (
        f"of 5 runs of figures 4, 5, 7 and 8, those that leave the exact curve by more than {NEAR}:"
        f" MR {left['mr2']}, SEJ {left['sej']}, SEJ4 {left['sej4']}"
    )
    return text, judged(left["sej4"] == 0 and left["sej"] < left["mr2"])


@claim(
    "dmv-preserves",
    "1",
    "DMV approximations preserve energy, momentum and the Lie-Poisson structure",
    claimed="all three",
)
def dmv_preserves(lab: Laboratory) -> Measured:
    names = ("dmv2", "dmv4", "dmv6")
    energy = max(lab.free_swings[name].largest for name in names)
    moved = 0.0
    for name in names:
        run = lab.run(problems.celledoni_free(), name, 400.0, 0.4)
        momentum = run.angular_momentum_inertial
        moved = max(moved, float(np.abs(momentum - momentum[0]).max()))
    p = np.array([-1.0, 1.5, 2.0])
    structure = max(poisson_defect(momentum_map(name, 0.3), p) for name in names)
    text = (
        f"1000 steps of 0.4: energy to {energy:.0e}, momentum to {moved:.0e}; structure to"
        f" {structure:.0e}"
    )
    return text, judged(max(energy, moved) < 1e-12 and structure < DIFFERENCE)


@claim(
    "dmv-orders",
    "1",
    "rescaling the initial condition gives DMV methods of orders 4 and 6",
    claimed="4 and 6",
    note="in π, which is what the paper looks at; the attitude stays of order 2",
)
def dmv_orders(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    found = {n: study.order(study.momentum, n) for n in ("dmv2", "dmv4", "dmv6")}
    attitude = [study.order(study.attitude, n) for n in ("dmv4", "dmv6")]
    text = "order in π " + ", ".join(f"{shown(n)} {p:.2f}" for n, p in found.items())
    text += f"; in Q {attitude[0]:.2f} and {attitude[1]:.2f}"
    right = all(near(found[f"dmv{p}"], p) for p in (2, 4, 6))
    return text, judged(right and all(near(p, 2) for p in attitude))


@claim(
    "dmv-once",
    "1",
    "the rescaling needs to be performed just once, at the beginning",
    claimed="once",
    note="the scales are 1 - t3 h² and 1 - t3 h² + (3 t3² - t5) h⁴, of quantities that are kept",
)
def dmv_once(lab: Laboratory) -> Measured:
    h, apart = 1 / 8, 0.0
    problem = problems.celledoni_free()
    for order in (4, 6):
        scale = by_hand.scale(h, FREE_MOMENTUM, FREE_BODY, order)
        p = FREE_MOMENTUM * scale
        for _step in range(8):
            p = by_hand.dmv(h, p, FREE_BODY)
        run = lab.run(problem, f"dmv{order}", 1.0, h)
        apart = max(apart, float(np.abs(p / scale - run.angular_momentum[-1]).max()))
    text = f"scaled once, and at every step (library): π(1) differs by {apart:.0e}"
    return text, judged(apart < EXACT)


@claim(
    "dmv-cost",
    "1",
    "the higher order DMV methods have virtually the same computational cost as that of order 2",
    claimed="the same",
    timed=True,
)
def dmv_cost(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    base = float(np.median(study.cost["dmv2"]))
    ratio = {n: float(np.median(study.cost[n])) / base for n in ("dmv4", "dmv6")}
    newton = [study.iterations[n] for n in ("dmv2", "dmv4", "dmv6")]
    text = (
        f"a step takes {ratio['dmv4']:.2f} and {ratio['dmv6']:.2f} times that of DMV2, and"
        f" {newton[1]:.2f}, {newton[2]:.2f} Newton iterations (DMV2 {newton[0]:.2f})"
    )
    same = max(newton) < 1.1 * min(newton)
    return text, judged(same and max(ratio.values()) < 2)


@claim(
    "je-dmv",
    "1",
    "the exact solution is very competitive, also compared to the improved DMV",
    claimed="very competitive",
    timed=True,
)
def je_dmv(lab: Laboratory) -> Measured:
    study = lab.studies["euler"]
    cost = float(np.median(study.cost["je"]) / np.median(study.cost["dmv6"]))
    k = 2
    errors = [float(study.momentum[n][k]) for n in ("je", "dmv6")]
    gain = study.time_to(study.momentum, "dmv6", 1e-13) / float(study.time("je")[0])
    text = (
        f"a step of JE takes {cost:.1f} times that of DMV6; errors at h = 1/16: {small(errors[0])}"
        f" and {errors[1]:.0e}; DMV6 to 1e-13 takes {gain:.1f} times the time of JE with 4 steps"
    )
    return text, judged(errors[0] < 1e-3 * errors[1] and cost < 6)


@claim(
    "extra-cost",
    "1",
    "what is computed before the stepping (τ) increases the cost within a splitting",
    claimed="increased",
    timed=True,
)
def extra_cost(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    once, each = (float(np.median(study.cost[n])) for n in ("jem2", "sej"))
    text = (
        f"free body: a step takes {each:.1f} steps of MR2 with τ found anew (SEJ), {once:.1f} with"
        f" τ found once (JEM2): {each / once - 1:+.0%}"
    )
    return text, judged(each > once)


@claim(
    "torqued",
    "1",
    "the symmetric splitting remains competitive for torqued rigid bodies",
    claimed="competitive",
    note="SEJ4 at the same error in Q; SEJ gains in π and in energy only",
    timed=True,
)
def torqued(lab: Laboratory) -> Measured:
    study = lab.studies["top"]
    aim = 1e-3
    times = {n: study.time_to(study.attitude, n, aim) for n in ("mr2", "sej", "sej4")}
    text = (
        f"heavy top, time to an error of {aim} in Q: MR takes {times['mr2'] / times['sej']:.2f}"
        f" times that of SEJ, {times['mr2'] / times['sej4']:.1f} times that of SEJ4"
    )
    return text, judged(times["mr2"] > times["sej4"])


# ---- section 2
@claim(
    "hamiltonian",
    "2",
    "(4), (5): the system of the Hamiltonian H = kinetic energy + V(Q)",
    claimed="Hamiltonian",
)
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


@claim(
    "skew",
    "2",
    "(5): Q' = skew(I⁻¹π)Q, Q the rotation that the body undergoes",
    claimed="attitude of the body",
    expected=CORRECTED,
    note="skew has the sign opposite to most books', and Q takes inertial to body axes: it is the"
    " transpose of the attitude matrix R",
)
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


@claim(
    "verlet",
    "2",
    "the Störmer-Verlet scheme with the exact flows of S1 and S2 is symplectic",
    claimed="symplectic",
    note="it is the library's strang",
)
def verlet(_: Laboratory) -> Measured:
    found = max(defect("strang", model, HALVINGS[0]) for model in ("free", "torque"))
    return f"|JᵀΩ'J - Ω| of one step, h = 0.4: {found:.0e}", judged(found < DIFFERENCE)


@claim(
    "asymmetric-flow",
    "2",
    "the flow of S1 has a form in trigonometric functions for symmetric bodies, not for asymmetric",
    claimed="symmetric only",
    note="asymmetric bodies need elliptic functions; with an integral of the third kind Q is exact"
    " too, and the splitting then symplectic",
)
def asymmetric_flow(_: Laboratory) -> Measured:
    problem = problems.celledoni_free()
    run = exact_free_motion(problem.body, None, problem.omega, 1.0)
    error = float(np.abs(matrix(run.q[0]) - matrix(np.array(reference.FREE_Q))).max())
    k2 = by_hand.constants(FREE_BODY, FREE_MOMENTUM / FREE_BODY).modulus
    text = f"4.1: k² = {k2:.2f}; exact_free_motion has Q(1) to {error:.0e}"
    return text, judged(k2 > 0.01 and error < ROUNDING)


@claim(
    "pi-exact",
    "2",
    "(8): the update of π is exact, for any time and any initial value",
    claimed="exact",
)
def pi_exact(lab: Laboratory) -> Measured:
    from polhode.body import RigidBody
    from polhode.problem import Problem

    worst = 0.0
    for inertia, omega in bodies(10):
        problem = Problem(RigidBody(inertia.tolist()), omega=omega.tolist())
        for h in (0.1, 1.0, 10.0):
            found = lab.run(problem, "je", h, h).omega[-1]
            right = truth(inertia, omega, np.array([h]))[0]
            worst = max(worst, float(np.linalg.norm(found - right) / np.linalg.norm(omega)))
    text = f"10 bodies, one step of JE with h = 0.1, 1, 10: right to {worst:.0e}"
    return text, judged(worst < 3e-12)


@claim(
    "magnus-orders",
    "2",
    "a symmetric Magnus method of order 2 or 4 for the orientation",
    claimed="2 and 4",
)
def magnus_orders(lab: Laboratory) -> Measured:
    study = lab.studies["frb"]
    found = {n: study.order(study.attitude, n) for n in ("jem2", "jem4")}
    back = max(returned(n, "free") for n in found)
    text = "order in Q " + ", ".join(f"{shown(n)} {p:.2f}" for n, p in found.items())
    text += f"; h then -h: back to {back:.0e}"
    right = near(found["jem2"], 2, 0.1) and near(found["jem4"], 4, 0.1)
    return text, judged(right and back < EXACT)


@claim(
    "by-product",
    "2",
    "π in the middle of the step is a by-product of its update, with little extra cost",
    claimed="little",
    note="JEM2 has one more set of elliptic functions a step than JE: compiled, not so little",
    timed=True,
)
def by_product(lab: Laboratory) -> Measured:
    once = float(np.median(lab.studies["euler"].cost["je"]))
    twice = float(np.median(lab.studies["frb"].cost["jem2"]))
    text = (
        f"a step of JE takes {once:.1f}, of JEM2 {twice:.1f} steps of MR2: {twice / once - 1:+.0%}"
    )
    return text, judged(twice < 2 * once)


@claim(
    "rodrigues",
    "2",
    "the exponential in (9) is computed by Rodrigues' formula",
    claimed="exact",
)
def rodrigues(_: Laboratory) -> Measured:
    from scipy.linalg import expm

    rng = np.random.default_rng(3)
    vectors = [rng.normal(size=3) * size for size in (1e-6, 1e-3, 0.1, 1.0, 3.0)]
    worst = max(float(np.abs(by_hand.exp(v) - expm(by_hand.skew(v))).max()) for v in vectors)
    return f"differs from SciPy's matrix exponential by {worst:.0e}", judged(worst < EXACT)


@claim(
    "kick",
    "2",
    "given f(Q), the flow of S2 is calculated exactly: (11)",
    claimed="exact",
)
def kick(_: Laboratory) -> Measured:
    from scipy.integrate import solve_ivp

    q = matrix(states(1)[0][0]).T
    p = np.array([1.0, 2.0, 3.0])
    end = solve_ivp(lambda t, x: by_hand.top(q), (0.0, 0.5), p, method="DOP853", rtol=1e-13).y
    apart = float(np.abs(end[:, -1] - p - 0.5 * by_hand.top(q)).max())
    return f"π + hf(Q) is the solution of (7) to {apart:.0e}", judged(apart < ROUNDING)


@claim(
    "scheme",
    "2",
    "the scheme: (10), with the Magnus method of order 2 (or 4), between two halves of (11)",
    claimed="SEJ (SEJ4)",
    note="with the corrections of section 3",
)
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


@claim(
    "second-order",
    "2",
    "the updating scheme is of second order",
    claimed="order 2",
)
def second_order(_: Laboratory) -> Measured:
    p, r = orders("sej", "torque", COUNTS)
    text = f"asymmetric body with torque: order {p:.2f} (π), {r:.2f} (Q)"
    return text, judged(near(p, 2) and near(r, 2))


@claim(
    "flow-symmetric",
    "2",
    "φ(h)φ(-h) = 1 for (10), and Φ(h)Φ(-h) = 1 for the whole",
    claimed="identities",
)
def flow_symmetric(_: Laboratory) -> Measured:
    part = max(returned(name, "free") for name in ("jem2", "jem4"))
    whole = max(returned(name, "torque") for name in ("sej", "sej4"))
    text = f"back to {part:.0e} for (10), {whole:.0e} with torque"
    return text, judged(max(part, whole) < EXACT)


@claim(
    "more-terms",
    "2",
    "with more terms of the Magnus series the scheme approximates Störmer-Verlet more accurately",
    claimed="more accurate",
)
def more_terms(_: Laboratory) -> Measured:
    (p2, d2), (p4, d4) = (step_difference(name, "strang") for name in ("sej", "sej4"))
    text = (
        f"one step, h = 0.4, against the exact flow: SEJ {d2:.0e} (O(h^{p2:.1f})), SEJ4 {d4:.0e}"
        f" (O(h^{p4:.1f}))"
    )
    return text, judged(d4 < 0.3 * d2 and p4 > p2 + 1)
