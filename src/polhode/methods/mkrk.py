"""Runge-Kutta-Munthe-Kaas methods of any Butcher tableau (Munthe-Kaas 1998; MKRK in Krysl 2006).

With s stages, the stage torques T_j at t + c_j h and q exp(psi_j), and
k_j = dexpinv_{-psi_j} I⁻¹ m_j,

    psi_k = h Σ_j a_kj k_j,    m_k = exp(-psi_k) (m + h Σ_j a_kj exp(psi_j) T_j)       (1)
    psi = h Σ_j b_j k_j,    q' = q exp(psi)                                            (2)
    m' = exp(-psi) (m + h Σ_j b_j exp(psi_j) T_j)                                      (3)

The order is that of the tableau.  Without torque the momentum in inertial axes is conserved to
rounding, with torque it changes only by the impulses; energy is not conserved.  (The paper prints
T_(k) in the sum of (1); it is T_(j).)  ``mkrk:midpoint`` is IMIDM, ``mkrk:trapezoid`` is BBTRAPWD.

Explicit tableaus need no iteration.  Implicit ones solve (1) for the k_j by Newton's method;
the linear equations (1 - h B A) x = F, with B_k y = I⁻¹ (m_k x y) - (I⁻¹ m_k) x y / 2, are solved
by their Neumann series: h |B A| is well below 1 for any useful step.  A torque that depends
on the rate sees the m_j of the previous iteration.  Implicit tableaus carry the momenta at the
start and at the stages of the last step, extrapolated to the initial guess of the next.

Sums over stages are unrolled by closures, so that the explicit step runs in SIMD lanes; the series
of implicit tableaus is a loop, which is not vectorised.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from polhode.contracts import AXIAL, FREE, LINEAR, Method, angular_velocity, inverse_moments, torque
from polhode.kernels.newton import settled
from polhode.kernels.quaternion import product1, turned, turned_back
from polhode.kernels.so3 import dexpinv, dexpinv_by, exp1, exp1_and_gamma
from polhode.kernels.tuples import collected
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, scale, subtract
from polhode.tableaus.runge_kutta import TABLEAUS, Tableau

NEUMANN_TERMS = 5


# ---- unrolling (two or three terms per function: compile time depends on the number of functions)
def combination(weights: Sequence) -> Callable:
    """Make vectors -> Σ weights[j] vectors[j], without a loop and without zero weights."""
    terms = [(j, weight) for j, weight in enumerate(weights) if weight != 0]
    if not terms:
        return lambda vectors: (0.0, 0.0, 0.0)
    j, b = terms[-1]
    if len(terms) == 1:
        return lambda vectors: multiply(b, vectors[j])
    i, a = terms[-2]
    if len(terms) == 2:
        return lambda vectors: add_scaled(multiply(a, vectors[i]), b, vectors[j])
    before = combination(weights[:i])
    return lambda vectors: add_scaled(add_scaled(before(vectors), a, vectors[i]), b, vectors[j])


def squares(count: int) -> Callable:
    """Make vectors -> the sum of their squared lengths."""
    last = count - 1
    if last == 0:
        return lambda vectors: dot(vectors[0], vectors[0])
    before = squares(last)
    return lambda vectors: before(vectors) + dot(vectors[last], vectors[last])


# ---- both kinds
def landing(b: Sequence) -> Callable:
    """Make the end of the step, (2) and (3), from the k_j and the torques exp(psi_j) T_j."""
    total = combination(b)

    def landed(h, ks, impulses, state):
        q, m = state
        c1, v = exp1(multiply(h, total(ks)))  # (2)
        return product1(q, c1, v), turned_back(c1, v, add_scaled(m, h, total(impulses)))  # (3)

    return landed


# ---- explicit tableaus
def explicit(a: Sequence, b: Sequence, c: Sequence) -> Callable:
    """Make the step of a tableau whose A is strictly lower triangular."""

    def first(t, h, state, body, params):
        q, m = state
        return (angular_velocity(m, body),), (torque(t, q, m, body, params),)

    def following(before, row, node):
        total = combination(row)

        def stages(t, h, state, body, params):
            ks, impulses = before(t, h, state, body, params)
            q, m = state
            psi = multiply(h, total(ks))  # (1)
            c1, v, g = exp1_and_gamma(psi)
            m = turned_back(c1, v, add_scaled(m, h, total(impulses)))
            n = torque(t + node * h, product1(q, c1, v), m, body, params)
            k = dexpinv_by(g, multiply(-1.0, psi), angular_velocity(m, body))
            return (*ks, k), (*impulses, turned(c1, v, n))

        return stages

    stages = first
    for k in range(1, len(b)):
        stages = following(stages, a[k][:k], c[k])
    landed = landing(b)

    def step(t, h, state, carry, body, params):
        ks, impulses = stages(t, h, state, body, params)
        return landed(h, ks, impulses, state), carry

    return step


# ---- implicit tableaus
def extrapolation(c: Sequence) -> list[list]:
    """Return, for each stage of the next step, the weights of (m, m_1 … m_s, m') of this one."""
    nodes = [0, *c, 1]
    used = [i for i, node in enumerate(nodes) if float(node) not in map(float, nodes[:i])]
    table = []
    for node in c:
        weights = [0 * node] * len(nodes)
        for i in used:
            weights[i] = 1 + 0 * node
            for j in used:
                if j != i:
                    weights[i] *= (1 + node - nodes[j]) / (nodes[i] - nodes[j])
        table.append(weights)
    return table


# each makes a function of stage k, its node and the sum Σ_j a_kj x_j
def turn(k, node, total):
    return lambda x: exp1(multiply(x[0], total(x[1])))


def impulse(k, node, total):
    def impulse_k(x):
        t, h, exps, ms, state, body, params = x
        c1, v = exps[k]
        q = product1(state[0], c1, v)
        return turned(c1, v, torque(t + node * h, q, ms[k], body, params))

    return impulse_k


def momentum(k, node, total):
    def momentum_k(x):
        h, exps, impulses, m = x
        c1, v = exps[k]
        return turned_back(c1, v, add_scaled(m, h, total(impulses)))

    return momentum_k


def rate(k, node, total):
    """Return dexpinv_{-psi_k} I⁻¹ m_k."""

    def rate_k(x):
        h, ks, ms, inverse = x
        return dexpinv(multiply(-h, total(ks)), scale(inverse, ms[k]))

    return rate_k


def again(k, node, total):
    """Add a term of the Neumann series: F + h B A x."""

    def again_k(x):
        h, errors, changes, ms, inverse = x
        y, m = multiply(h, total(changes)), ms[k]
        product = add_scaled(scale(inverse, cross(m, y)), -0.5, cross(scale(inverse, m), y))
        return add(errors[k], product)

    return again_k


def difference(k, node, total):
    return lambda x: subtract(x[0][k], x[1][k])


def inverted(k, node, total):
    return lambda x: scale(x[1], x[0][k])


def implicit(a: Sequence, b: Sequence, c: Sequence) -> dict[str, Callable]:
    """Make start, guess, improve and finish of any tableau.  The unknown is (k_j, m_j, size)."""
    rows = [combination(row) for row in a]
    ahead = [combination(weights) for weights in extrapolation(c)]
    square, landed = squares(len(b)), landing(b)

    def each(make: Callable) -> Callable:
        return collected([make(k, c[k], rows[k]) for k in range(len(b))])

    turns, impulses, momenta, rates = each(turn), each(impulse), each(momentum), each(rate)
    next_term, differences, velocities = each(again), each(difference), each(inverted)
    predicted = collected(ahead)
    constant = collected([lambda m: m] * (len(b) + 1))

    def evaluated(t, h, ks, ms, state, body, params):
        """Return exp(psi_j) T_j and the m_j of (1)."""
        exps = turns((h, ks))
        turned_torques = impulses((t, h, exps, ms, state, body, params))
        return turned_torques, momenta((h, exps, turned_torques, state[1]))

    def start(t, h, state, body, params):
        return constant(state[1])

    def guess(t, h, state, carry, body, params):
        ms, inverse = predicted((*carry, state[1])), inverse_moments(body)
        return rates((h, velocities((ms, inverse)), ms, inverse)), ms, 0.0

    def improve(t, h, unknown, state, body, params):
        ks, ms, last = unknown
        inverse = inverse_moments(body)
        _, ms = evaluated(t, h, ks, ms, state, body, params)
        errors = differences((ks, rates((h, ks, ms, inverse))))
        changes = errors
        for _ in range(NEUMANN_TERMS):
            changes = next_term((h, errors, changes, ms, inverse))
        ks = differences((ks, changes))
        size = square(changes)
        return (ks, ms, size), settled(size, last, square(ks))

    def finish(t, h, unknown, state, carry, body, params):
        ks, ms, _ = unknown
        turned_torques, ms = evaluated(t, h, ks, ms, state, body, params)
        return landed(h, ks, turned_torques, state), (state[1], *ms)

    return {"start": start, "guess": guess, "improve": improve, "finish": finish}


def method(tableau: Tableau, number: Callable[[Any], Any] = float) -> Method:
    """Make the method ``mkrk:NAME``; ``number`` converts the coefficients (to mpmath, say)."""
    a, b, c = tableau.converted(number)
    functions: dict[str, Any]
    functions = {"step": explicit(a, b, c)} if tableau.explicit else implicit(a, b, c)
    stages = tableau.stages
    return Method(
        name=f"mkrk:{tableau.name}",
        title=f"Runge-Kutta-Munthe-Kaas, {tableau.name}",
        order=tableau.order,
        symmetric=tableau.symmetric and stages == 1,  # the base point is at the start of the step
        keeps_momentum=(FREE, LINEAR, AXIAL),
        keeps_norm=True,
        torques_per_step=stages,
        torques_per_iteration=0 if tableau.explicit else stages,
        references=("munthekaas1998", "krysl2006", *tableau.references),
        width=8 if tableau.explicit else 1,
        **functions,
    )


PLACE = 310
METHODS = {f"mkrk:{name}": partial(method, tableau) for name, tableau in TABLEAUS.items()}
