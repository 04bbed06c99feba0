"""Sections 2 and 3 of Celledoni & Säfström (2006): the splitting, the closed form of its parts."""

from collections.abc import Callable
from functools import partial

import numpy as np

from polhode import problems
from polhode.body import RigidBody
from polhode.kernels.elliptic import elliptic_f, sn_cn_dn
from polhode.papers.celledoni2006 import by_hand, reference
from polhode.papers.celledoni2006.laboratory import Laboratory
from polhode.papers.celledoni2006.maps import (
    DIFFERENCE,
    ROUNDING,
    bodies,
    free_error,
    page_gap,
    truth,
)
from polhode.papers.maps import (
    BOTH,
    EXACT,
    HALVINGS,
    VISIBLE,
    asymmetry,
    defect,
    derivatives,
    orders,
    states,
    step_difference,
)
from polhode.papers.reference import solution as integrated
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import (
    Check,
    Measured,
    added_if,
    below,
    holds_if,
    largest,
    near,
    of_order,
    slope,
)
from polhode.problems.problem import Problem
from polhode.solvers.exact import exact_free_motion

TOP_BODY, TOP_RATE = np.array([1000.0, 5000.0, 6000.0]), np.array([10.0, 10.0, 10.0])  # 4.2
FREE_BODY, FREE_MOMENTUM = np.array([5.0, 4.0, 3.0]), np.array([-1.0, 0.0, 2.0])  # 4.1
MODULI = (0.0, 0.1, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-8)  # k²
TIMES = np.array([0.1, 0.3, 0.7, 1.0])
ANGLES = np.linspace(0.0, 2 * np.pi, 41).tolist()


def carlson(phi: float, mc: float) -> float:
    """F(φ | k²) from Carlson's symmetric integral, which needs neither means nor branches."""
    from scipy.special import elliprf

    turns = round(phi / np.pi)
    rest, less = phi - turns * np.pi, turns * 1.2246467991473532e-16  # π in two parts
    s, c = np.sin(rest) - less * np.cos(rest), np.cos(rest) + less * np.sin(rest)
    if c < 0:  # a rounding past a quarter turn
        turns, s, c = turns + round(float(np.sign(s))), -s, -c
    whole = 2 * turns * float(elliprf(0.0, mc, 1.0)) if turns else 0.0
    return whole + float(s * elliprf(c * c, c * c + mc * s * s, 1.0))


def circle(inertia: np.ndarray, omega: np.ndarray, **reading: bool) -> float:
    """cos²φ + sin²φ of the amplitude at the start, from (13), with a reading of (12)."""
    c = by_hand.constants(inertia, omega, **reading)
    i1, _, i3 = inertia
    cosine = omega[0] ** 2 * i1 * (i3 - i1) / c.a1
    return float(cosine + omega[1] ** 2 * c.b1 / c.a1)


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
    "tau": lambda _: below(
        1e-12,
        max(
            largest(by_hand.closed_form(inertia, omega, TIMES) - truth(inertia, omega, TIMES))
            for inertia, omega in bodies(8)
        ),
    ),
}


# ---- section 2
def hamiltonian(_: Laboratory) -> Measured:
    def error(start: np.ndarray, force: by_hand.Torque, potential: Callable) -> float:
        slopes = derivatives(lambda v: np.array([potential(by_hand.exp(v) @ start)]), 1e-3, 3)
        return largest(force(start) + slopes[0]) / largest(force(start))

    cases = (
        (by_hand.top, by_hand.top_potential),
        (by_hand.satellite(TOP_BODY), by_hand.satellite_potential(TOP_BODY)),
    )
    return below(DIFFERENCE, max(error(matrix(q).T, *case) for q, _ in states() for case in cases))


def skew(lab: Laboratory) -> Measured:
    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, p = y[:9].reshape(3, 3), y[9:]
        turn = by_hand.skew(p / FREE_BODY)
        return np.concatenate([(turn @ q).ravel(), turn @ p])

    start = np.concatenate([np.eye(3).ravel(), FREE_MOMENTUM])
    q, r = integrated(rates, 1.0, start)[:9].reshape(3, 3), lab.ends["frb"][0]
    same, turned = largest(q - r), largest(q - r.T)
    return holds_if(same < EXACT, same, turned, corrected=turned < EXACT)


def asymmetric_flow(_: Laboratory) -> Measured:
    problem = problems.celledoni_free()
    run = exact_free_motion(problem.body, None, problem.omega, 1.0)
    error = largest(matrix(run.q[0]) - matrix(np.array(reference.FREE_Q)))
    k2 = by_hand.constants(FREE_BODY, FREE_MOMENTUM / FREE_BODY).modulus
    return holds_if(k2 > 0.01 and error < ROUNDING, k2, error)


def pi_exact(lab: Laboratory) -> Measured:
    def error(inertia: np.ndarray, omega: np.ndarray, h: float) -> float:
        problem = Problem(RigidBody(inertia.tolist()), omega=omega.tolist())
        off = lab.run(problem, "je", h, h).omega[-1] - truth(inertia, omega, h)[0]
        return float(np.linalg.norm(off) / np.linalg.norm(omega))

    return below(3e-12, max(error(*body, h) for body in bodies(10) for h in (0.1, 1.0, 10.0)))


def magnus_orders(lab: Laboratory) -> Measured:
    second, fourth = (lab.studies["frb"].order("Q", name) for name in ("jem2", "jem4"))
    back = max(asymmetry(name, ["free"]) for name in ("jem2", "jem4"))
    holds = near(second, 2, 0.1) and near(fourth, 4, 0.1) and back < EXACT
    return holds_if(holds, second, fourth, back)


def by_product(lab: Laboratory) -> Measured:
    one, two = lab.studies["euler"], lab.studies["frb"]
    once, twice = one.work_of("je"), two.work_of("jem2")
    shown = once, twice, twice / once - 1, one.times_of("je"), two.times_of("jem2")
    return holds_if(twice < 2 * once, *shown)


def rodrigues(_: Laboratory) -> Measured:
    from scipy.linalg import expm

    rng = np.random.default_rng(3)
    vectors = [rng.normal(size=3) * size for size in (1e-6, 1e-3, 0.1, 1.0, 3.0)]
    return below(EXACT, max(largest(by_hand.exp(v) - expm(by_hand.skew(v))) for v in vectors))


def kick(_: Laboratory) -> Measured:
    q, p = matrix(states(1)[0][0]).T, np.array([1.0, 2.0, 3.0])
    end = integrated(lambda t, x: by_hand.top(q), 0.5, p, atol=1e-6)
    return below(ROUNDING, largest(end - p - 0.5 * by_hand.top(q)))


def more_terms(_: Laboratory) -> Measured:
    (p2, d2), (p4, d4) = (step_difference(name, "strang") for name in ("sej", "sej4"))
    return holds_if(d4 < 0.3 * d2 and p4 > p2 + 1, d2, p2, d4, p4)


# ---- section 3, the constants (12)
def energy_half(_: Laboratory) -> Measured:
    printed, off = circle(TOP_BODY, TOP_RATE, half=False), abs(circle(TOP_BODY, TOP_RATE) - 1)
    return holds_if(abs(printed - 1) < ROUNDING, printed, off, corrected=off < ROUNDING)


def b1(_: Laboratory) -> Measured:
    printed, off = circle(TOP_BODY, TOP_RATE, printed=True), abs(circle(TOP_BODY, TOP_RATE) - 1)
    gap = free_error(TOP_BODY, TOP_RATE, 1.0)
    corrected = off < ROUNDING and gap < EXACT
    return holds_if(abs(printed - 1) < ROUNDING, printed, off, gap, corrected=corrected)


def solution(_: Laboratory) -> Measured:
    def missed(printed: bool) -> float:
        i1, i2, i3 = TOP_BODY
        c, worst = by_hand.constants(TOP_BODY, TOP_RATE, printed=printed), 0.0
        rate, size = np.sqrt(c.b1 * c.a3) / (i2 * np.sqrt(i1 * i3)), c.amplitudes(TOP_BODY)
        for u in np.linspace(-3.0, 3.0, 13).tolist():
            cn, sn, dn = by_hand.functions(u, 1 - c.modulus)
            slopes = rate * size * np.array([-sn * dn, cn * dn, -c.modulus * sn * cn])
            right = by_hand.euler(TOP_BODY, size * np.array([cn, sn, dn])) / TOP_BODY
            worst = max(worst, largest(slopes - right) / largest(right))
        return worst

    printed, right = missed(True), missed(False)
    return holds_if(printed < ROUNDING, printed, right, corrected=right < ROUNDING)


def ordering(_: Laboratory) -> Measured:
    i1, _, i3 = FREE_BODY
    worst = max(free_error(inertia, omega, 2.0) for inertia, omega in bodies(12))
    square = float(i1 * (i3 - i1))
    return holds_if(square > 0, square, worst, corrected=worst < 1e-12)


def odd_permutation(_: Laboratory) -> Measured:
    omega = np.array([0.5, 0.1, 0.2])  # first family: (5, 4, 3) sorts by an exchange
    odd = by_hand.closed_form(FREE_BODY, omega, 1.0, proper=False)[0]
    error = largest(odd - truth(FREE_BODY, omega, 1.0)[0])
    reverse = largest(odd + truth(FREE_BODY, -omega, 1.0)[0])  # against ω(-1)
    proper = free_error(FREE_BODY, omega, 1.0)
    found = error > VISIBLE and max(reverse, proper) < EXACT
    return added_if(found, error, reverse, proper)


def second_family(_: Laboratory) -> Measured:
    omega = FREE_MOMENTUM / FREE_BODY
    upside = by_hand.constants(FREE_BODY[::-1], omega[::-1]).modulus
    right = by_hand.constants(FREE_BODY, omega).modulus
    gap = largest(by_hand.closed_form(FREE_BODY, omega, 1.0)[0] * FREE_BODY - reference.FREE_PI)
    return holds_if(upside > 1 > right and gap < ROUNDING, upside, right, gap)


# ---- section 3, the start
def amplitude(_: Laboratory) -> Measured:
    worst, off = 0.0, 0.0
    for inertia, omega in bodies(50):
        worst = max(worst, largest(by_hand.closed_form(inertia, omega, 0.0) - omega))
        turn = by_hand.arrangement(inertia, omega)
        off = max(off, abs(circle(np.abs(turn) @ inertia, turn @ omega) - 1))
    return below(1e-12, off, worst)


def signs(_: Laboratory) -> Measured:
    mirror = np.array([1.0, 1.0, -1.0])
    omega = TOP_RATE * mirror
    right = truth(TOP_BODY, omega, 1.0)[0]
    found = by_hand.closed_form(TOP_BODY, omega, 1.0)[0]
    without = by_hand.closed_form(TOP_BODY, TOP_RATE, 1.0)[0] * mirror
    good, bad = largest(found / right - 1), largest(without / right - 1)
    return holds_if(good < 1e-12 and bad > 0.1, good, bad)


# ---- section 3, the means
def agm(_: Laboratory) -> Measured:
    exact = {(phi, k2): carlson(phi, 1 - k2) for k2 in MODULI for phi in ANGLES}

    def error(function: Callable[[float, float], float]) -> float:
        return max(
            float(abs(function(phi, 1 - k2) - right) / max(abs(right), 1.0))
            for (phi, k2), right in exact.items()
        )

    return below(ROUNDING, error(by_hand.integral), error(elliptic_f))


def branch(_: Laboratory) -> Measured:
    principal, right = (
        max(abs(by_hand.integral(phi, 0.5, next_to) - carlson(phi, 0.5)) for phi in ANGLES)
        for next_to in (False, True)
    )
    return holds_if(principal < EXACT, principal, right, corrected=right < EXACT)


def quadratic(_: Laboratory) -> Measured:
    counts = [by_hand.recursions(1 - k2) for k2 in (0.5, 0.99, MODULI[-1])]
    starts = (TOP_BODY, TOP_RATE), (FREE_BODY, FREE_MOMENTUM / FREE_BODY)
    taken = [by_hand.recursions(1 - by_hand.constants(*start).modulus) for start in starts]
    logs = np.log([c for _, _, c in by_hand.means(0.01)[1:] if c > 1e-14])
    exponent = float(np.max(logs[2:] / logs[1:-1]))
    most = max(by_hand.recursions(1 - k2) for k2 in MODULI)
    return holds_if(most <= 9 and exponent > 1.9, *counts, *taken, exponent)


def reuse(_: Laboratory) -> Measured:
    back, right = 0.0, 0.0
    for k2 in MODULI:
        for phi in ANGLES:
            u = carlson(phi, 1 - k2)
            s, c, d = sn_cn_dn(u, 1 - k2)
            true = np.cos(phi), np.sin(phi), np.hypot(np.cos(phi), np.sqrt(1 - k2) * np.sin(phi))
            scale = max(1.0, u)  # an ulp of u is an error of the argument
            back = max(back, largest(np.subtract(by_hand.functions(u, 1 - k2), true)) / scale)
            right = max(right, largest(np.subtract((c, s, d), true)) / scale)
    return below(ROUNDING, back, right)


def special(_: Laboratory) -> Measured:
    u = np.linspace(-4.0, 4.0, 17)
    flat = max(abs(carlson(float(x), 1.0) - x) for x in u)
    steep = max(abs(carlson(float(np.arctan(np.sinh(x))), 0.0) - x) for x in u)
    inertia = np.array([1.0, 2.0, 3.0])
    omega = np.array([1.0, 0.0, 1 / np.sqrt(3)])  # on the separatrix, G² = 2E I2
    size = np.array([1.0, 1.0, omega[2]])  # (13): a1² = a3² = b1² = 2
    wave = size[2] * TIMES  # λt
    found = size * np.stack([1 / np.cosh(wave), np.tanh(wave), 1 / np.cosh(wave)], axis=1)
    apart = largest(found - truth(inertia, omega, TIMES))
    return holds_if(max(flat, steep) < EXACT and apart < 1e-12, flat, steep, apart)


# ---- section 3, the nodes
def nodes(_: Laboratory) -> Measured:
    right = matrix(np.array(reference.FREE_Q)).T

    def order(swapped: bool) -> float:
        errors = []
        for n in (4, 8, 16):
            state = np.eye(3), FREE_MOMENTUM
            for _step in range(n):
                state = by_hand.sej(1 / n, state, FREE_BODY, lambda q: np.zeros(3), 4, swapped)
            errors.append(float(np.linalg.norm(state[0] - right)))
        return slope((1 / 4, 1 / 8, 1 / 16), errors)

    printed, exchanged = order(True), order(False)
    corrected = near(exchanged, 4) and near(printed, 2)
    return holds_if(near(printed, 4), printed, exchanged, corrected=corrected)
