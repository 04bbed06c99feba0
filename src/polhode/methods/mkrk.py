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

With six degrees of freedom z = (x, p) has stages of the same tableau (``further``): T_j and the
slope f_j = (p_j / M, F_j) are those of one wrench, at t + c_j h, q exp(psi_j), m_j and z_j,

    z_k = z + h Σ_j a_kj f_j,    z' = z + h Σ_j b_j f_j                                (4)

In exponential coordinates (1) to (4) are one Runge-Kutta step of all variables together, and the
order is again that of the tableau, whatever force and torque depend on.  Implicit tableaus replace
z_j by (4) in each iteration, until (k_j) and (z_j) both have converged.

Carried, too: the rounding errors of compensated sums, in (2), (3) and the second of (4).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from polhode.compiler.four import each
from polhode.compiler.machine import fma
from polhode.contracts import AXIAL, FREE, LINEAR, Method, angular_velocity, inverse_moments
from polhode.kernels.moved import no_loss, no_losses, plus_scaled, rotated, rotated_back
from polhode.kernels.newton import settled
from polhode.kernels.quaternion import product1, turned, turned_back
from polhode.kernels.so3 import dexpinv, dexpinv_by, exp1, exp1_and_gamma
from polhode.kernels.sums import plus_scaled3
from polhode.kernels.tuples import collected, first, minus, second, times
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, scale, subtract
from polhode.methods.further import ALONE, TRANSLATION, Further, shift
from polhode.tableaus.runge_kutta import TABLEAUS, Tableau

NEUMANN_TERMS = 5


# ---- unrolling (two or three terms per function: compile time depends on the number of functions)
def combination(weights: Sequence) -> Callable:
    """Make rows -> Σ weights[j] rows[j], without a loop and without zero weights.

    Rows are tuples of the same length; three zeros if all weights vanish.
    """
    terms = [(j, weight) for j, weight in enumerate(weights) if weight != 0]
    if not terms:
        return lambda rows: (0.0, 0.0, 0.0)
    j, b = terms[-1]
    if len(terms) == 1:
        return lambda rows: each(times, (b, rows[j]))
    i, a = terms[-2]
    if len(terms) == 2:
        return lambda rows: each(fma, (b, rows[j], each(times, (a, rows[i]))))
    before = combination(weights[:i])
    return lambda rows: each(fma, (b, rows[j], each(fma, (a, rows[i], before(rows)))))


def squares(count: int) -> Callable:
    """Make vectors -> the sum of their squared lengths."""
    last = count - 1
    if last == 0:
        return lambda vectors: dot(vectors[0], vectors[0])
    before = squares(last)
    return lambda vectors: before(vectors) + dot(vectors[last], vectors[last])


def total_of(count: int) -> Callable:
    """Make numbers -> their sum."""
    last = count - 1
    if last == 0:
        return lambda numbers: numbers[0]
    before = total_of(last)
    return lambda numbers: before(numbers) + numbers[last]


# ---- both kinds
def losses(parts):
    """Return the initial rounding errors of the sums of q, m and z."""
    q, m, z = parts
    return *no_losses(q, m), no_loss(z)


def landing(b: Sequence, further: Further) -> Callable:
    """Make the end of the step from the k_j, the torques exp(psi_j) T_j and the slopes f_j."""
    total, together = combination(b), further.together

    def landed(h, ks, impulses, slopes, parts, lost):
        (q, m, z), (eq, em, ez) = parts, lost
        c1, v = exp1(multiply(h, total(ks)))
        q, eq = rotated(q, eq, c1, v)  # (2)
        m, em = plus_scaled3(m, em, h, total(impulses))
        m, em = rotated_back(m, em, c1, v)  # (3)
        z, ez = plus_scaled(z, ez, h, total(slopes))  # (4)
        return together(q, m, z), (eq, em, ez)

    return landed


# ---- explicit tableaus
def explicit(a: Sequence, b: Sequence, c: Sequence, further: Further) -> dict[str, Callable]:
    """Make the step of a tableau whose A is strictly lower triangular."""
    apart, acting = further.apart, further.acting

    def first_stage(t, h, parts, body, params):
        q, m, z = parts
        n, slope = acting(t, q, m, z, body, params)
        return (angular_velocity(m, body),), (n,), (slope,)

    def following(before, row, node):
        total, moved = combination(row), shift(row, combination)

        def stages(t, h, parts, body, params):
            ks, impulses, slopes = before(t, h, parts, body, params)
            q, m, z = parts
            psi = multiply(h, total(ks))  # (1)
            c1, v, g = exp1_and_gamma(psi)
            m, z = turned_back(c1, v, add_scaled(m, h, total(impulses))), moved(z, h, slopes)
            n, slope = acting(t + node * h, product1(q, c1, v), m, z, body, params)
            k = dexpinv_by(g, multiply(-1.0, psi), angular_velocity(m, body))
            return (*ks, k), (*impulses, turned(c1, v, n)), (*slopes, slope)

        return stages

    stages = first_stage
    for k in range(1, len(b)):
        stages = following(stages, a[k][:k], c[k])
    landed = landing(b, further)

    def start(t, h, state, body, params):
        return losses(apart(state))

    def step(t, h, state, carry, body, params):
        parts = apart(state)
        ks, impulses, slopes = stages(t, h, parts, body, params)
        return landed(h, ks, impulses, slopes, parts, carry)

    return {"start": start, "step": step}


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


# each makes a function of stage k, its node, its row of A and the variables beside (q, m)
def turn(k, node, row, further):
    total = combination(row)
    return lambda x: exp1(multiply(x[0], total(x[1])))


def action(k, node, row, further):
    """Return exp(psi_k) T_k and f_k."""
    acting = further.acting

    def action_k(x):
        t, h, exps, ms, zs, q, body, params = x
        c1, v = exps[k]
        n, slope = acting(t + node * h, product1(q, c1, v), ms[k], zs[k], body, params)
        return turned(c1, v, n), slope

    return action_k


def momentum(k, node, row, further):
    total = combination(row)

    def momentum_k(x):
        h, exps, impulses, m = x
        c1, v = exps[k]
        return turned_back(c1, v, add_scaled(m, h, total(impulses)))

    return momentum_k


def others(k, node, row, further):
    moved = shift(row, combination)
    return lambda x: moved(x[0], x[1], x[2])


def moves(k, node, row, further):
    """Return the size of the change of z_k."""
    size = further.size

    def moves_k(x):
        old, new, z, ms, body = x
        return size(each(minus, (new[k], old[k])), z, new[k], ms[k], body)

    return moves_k


def rate(k, node, row, further):
    """Return dexpinv_{-psi_k} I⁻¹ m_k."""
    total = combination(row)

    def rate_k(x):
        h, ks, ms, inverse = x
        return dexpinv(multiply(-h, total(ks)), scale(inverse, ms[k]))

    return rate_k


def again(k, node, row, further):
    """Add a term of the Neumann series: F + h B A x."""
    total = combination(row)

    def again_k(x):
        h, errors, changes, ms, inverse = x
        y, m = multiply(h, total(changes)), ms[k]
        product = add_scaled(scale(inverse, cross(m, y)), -0.5, cross(scale(inverse, m), y))
        return add(errors[k], product)

    return again_k


def difference(k, node, row, further):
    return lambda x: subtract(x[0][k], x[1][k])


def inverted(k, node, row, further):
    return lambda x: scale(x[1], x[0][k])


def evaluation(each_stage: Callable) -> Callable:
    """Make the function that evaluates all stages once."""
    turns, actions = each_stage(turn), each_stage(action)
    momenta, places = each_stage(momentum), each_stage(others)

    def evaluated(t, h, ks, ms, zs, parts, body, params):
        """Return exp(psi_j) T_j, f_j, and m_j and z_j of (1) and (4)."""
        q, m, z = parts
        exps = turns((h, ks))
        acted = actions((t, h, exps, ms, zs, q, body, params))
        impulses, slopes = each(first, (acted,)), each(second, (acted,))
        return impulses, slopes, momenta((h, exps, impulses, m)), places((z, h, slopes))

    return evaluated


def implicit(a: Sequence, b: Sequence, c: Sequence, further: Further) -> dict[str, Callable]:
    """Make start, guess, improve and finish of any tableau.

    The unknown is (k_j, m_j, z_j, size of the change of z_j, that of k_j), and carried are m and z
    at the start and at the stages of the last step.
    """
    stages = range(len(b))

    def each_stage(make: Callable) -> Callable:
        return collected([make(k, c[k], a[k], further) for k in stages])

    apart, landed, evaluated = further.apart, landing(b, further), evaluation(each_stage)
    rates, next_term, differences = each_stage(rate), each_stage(again), each_stage(difference)
    velocities, changed = each_stage(inverted), each_stage(moves)
    square, total = squares(len(b)), total_of(len(b))
    predicted = collected([combination(weights) for weights in extrapolation(c)])
    constant = collected([lambda value: value] * (len(b) + 1))

    def start(t, h, state, body, params):
        _, m, z = parts = apart(state)
        return constant(m), constant(z), losses(parts)

    def guess(t, h, state, carry, body, params):
        (_, m, z), inverse = apart(state), inverse_moments(body)
        ms, zs = predicted((*carry[0], m)), predicted((*carry[1], z))
        return rates((h, velocities((ms, inverse)), ms, inverse)), ms, zs, 0.0, 0.0

    def improve(t, h, unknown, state, body, params):
        ks, ms, before, moved, last = unknown
        parts, inverse = apart(state), inverse_moments(body)
        _, _, ms, zs = evaluated(t, h, ks, ms, before, parts, body, params)
        errors = differences((ks, rates((h, ks, ms, inverse))))
        changes = errors
        for _ in range(NEUMANN_TERMS):
            changes = next_term((h, errors, changes, ms, inverse))
        ks = differences((ks, changes))
        size, change = square(changes), total(changed((before, zs, parts[2], ms, body)))
        done = settled(size, last, square(ks)) and settled(change, moved, 1.0)
        return (ks, ms, zs, change, size), done

    def finish(t, h, unknown, state, carry, body, params):
        ks, ms, zs, _, _ = unknown
        parts = apart(state)
        impulses, slopes, ms, zs = evaluated(t, h, ks, ms, zs, parts, body, params)
        new, lost = landed(h, ks, impulses, slopes, parts, carry[2])
        return new, ((parts[1], *ms), (parts[2], *zs), lost)

    return {"start": start, "guess": guess, "improve": improve, "finish": finish}


def stages_of(
    tableau: Tableau, further: Further, number: Callable[[Any], Any] = float
) -> dict[str, Any]:
    """Make the functions of a ``Method`` whose states hold the ``further`` variables, too."""
    make = explicit if tableau.explicit else implicit
    return make(*tableau.converted(number), further)


def method(tableau: Tableau, number: Callable[[Any], Any] = float) -> Method:
    """Make the method ``mkrk:NAME``; ``number`` converts the coefficients (to mpmath, say).

    Examples
    --------
    >>> import polhode as ph
    >>> a, b, c = ((0, 0), (2 / 3, 0)), (1 / 4, 3 / 4), (0, 2 / 3)
    >>> ralston = ph.Tableau(name="ralston", a=a, b=b, c=c, order=2)
    >>> run = ph.solve(ph.problems.fast_top(), (0, 1), method=ph.mkrk(ralston), dt=0.001)
    >>> run.method
    'mkrk:ralston'
    """
    stages = tableau.stages
    alone = Method(
        name=f"mkrk:{tableau.name}",
        title=f"Runge-Kutta-Munthe-Kaas, {tableau.name}",
        order=tableau.order,
        symmetric=tableau.symmetric and stages == 1,  # the base point is at the start of the step
        keeps_momentum=(FREE, LINEAR, AXIAL),
        keeps_norm=True,
        compensates=True,
        compensated=stages > 2 or not tableau.explicit,  # else it would cost more than a tenth
        torques_per_step=stages,
        torques_per_iteration=0 if tableau.explicit else stages,
        references=("munthekaas1998", "krysl2006", *tableau.references),
        width=8 if tableau.explicit else 1,
        further=partial(stages_of, tableau, number=number),
        **stages_of(tableau, ALONE, number),
    )
    return replace(alone, motion=replace(alone, **stages_of(tableau, TRANSLATION, number)))


PLACE = 310
METHODS = {f"mkrk:{name}": partial(method, tableau) for name, tableau in TABLEAUS.items()}
