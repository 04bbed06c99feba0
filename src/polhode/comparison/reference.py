"""The reference of a comparison: the true motion at the end of a span, and its error.

A free body moves in closed form (``solvers.exact``).  With a torque, Euler's equations

    q' = q ω / 2,    m' = m × ω + T,    ω = I⁻¹ m                                      (1)

are solved as they stand, as seven numbers, by the explicit method of order 8 of Dormand and Prince
(the coefficients of SciPy's ``DOP853``) with a fixed step and compensated sums: no exponential, no
Newton iteration, no splitting, so that it shares nothing with the methods that are compared.  The
step is halved until halving no longer reduces the change of the result, and twice more: what is
left is rounding, and the larger of the last two changes is the error.  The tests compare it with
SciPy's own integrator, with mpmath and with the closed form.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from polhode.compiler.four import each
from polhode.compiler.machine import fma
from polhode.contracts import Method, angular_velocity, torque
from polhode.errors import InputError
from polhode.kernels.tuples import first, second
from polhode.kernels.vector import add, cross
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.entry import prepare
from polhode.solvers.exact import exact_free_motion

EPS = 2.0**-52
FIRST_TURN = 0.5  # radians, at most, that a step of the first attempt turns the body
MOST_STEPS = 2**24  # of an attempt
SMALL = 1e-8  # a smaller change that halving the step does not reduce by 4 is rounding
PATIENCE = 10.0  # seconds of an attempt that is the last one
CONSTANT = 1e-9  # relative change of an energy that counts as constant
ROUNDING_CHANGES = 3  # to wait for; the larger of the last two is the error


@dataclass(frozen=True)
class Reference:
    """The end of a motion, and its error.

    ``attitude_error`` is an angle in radians, ``momentum_error`` relative to the momentum.
    ``keeps_energy``: the energy is known, and the same as at the start.  ``route`` describes how
    the motion was computed.
    """

    q: tuple[float, ...]
    angular_momentum: tuple[float, ...]
    keeps_energy: bool
    attitude_error: float
    momentum_error: float
    route: str


def true_end(problem: Problem, t_span: Sequence[float]) -> Reference:
    """The attitude and the momentum at the end of ``t_span``."""
    t0, t1 = map(float, t_span)
    return _free(problem, t1 - t0) if problem.model.is_free else _forced(problem, t0, t1)


# ---- distances
def angle(p: Sequence[float], q: Sequence[float]) -> float:
    """The angle between two attitudes: 4 arcsin(|p ∓ q| / 2), exact to rounding when small."""
    a, b = np.array(p) / math.hypot(*p), np.array(q) / math.hypot(*q)
    apart = min(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b)))
    return 4 * math.asin(min(apart / 2, 1.0))


def relative(m: Sequence[float], other: Sequence[float]) -> float:
    """|m - other| / |other|, without overflow however large m is."""
    return math.dist(m, other) / (math.hypot(*other) or 1.0)


def keeps_energy(run: Trajectory, error: float) -> bool:
    """Whether the energy is known, and the same at the end as at the start.

    ``error`` is that of the momentum.
    """
    if run.energy is None:
        return False
    change = abs(float(run.energy[-1] - run.energy[0])) / (float(run.kinetic_energy.max()) or 1.0)
    return change < 100 * error + CONSTANT


# ---- free bodies
def _free(problem: Problem, t: float) -> Reference:
    from scipy.spatial.transform import Rotation

    body, attitude = problem.body, Rotation.from_quat(problem.attitude, scalar_first=True)

    def end(omega) -> Trajectory:
        return exact_free_motion(body, attitude, omega, t)

    run = end(problem.omega)
    moments = body.principal_moments
    size = np.linalg.norm(problem.angular_momentum)
    rounding = 2 * EPS * (1 + size * abs(t) / moments[moments > 0].min())
    near = []  # the ends from starts that differ by one rounding
    for k in range(3):
        for towards in (-np.inf, np.inf):
            omega = list(problem.omega)
            omega[k] = float(np.nextafter(omega[k], towards))
            near.append(end(omega))
    q, m = run.q[0], run.angular_momentum[0]
    return Reference(
        tuple(q.tolist()),
        tuple(m.tolist()),
        True,
        float(rounding) + max(angle(other.q[0], q) for other in near),
        float(rounding) + max(relative(other.angular_momentum[0], m) for other in near),
        "closed form of the free body",
    )


# ---- bodies with a torque
def _forced(problem: Problem, t0: float, t1: float) -> Reference:
    steps, more = _first_steps(problem, t1 - t0), ROUNDING_CHANGES
    last, changes, took = None, [(np.inf, np.inf)], 0.0
    prepare(problem, method=_order_8(), dt=1.0)((t0, t0))  # compiles
    while more and steps <= MOST_STEPS and took < PATIENCE:
        begun = time.perf_counter()
        solver = prepare(problem, method=_order_8(), dt=abs(t1 - t0) / steps, save_every=steps)
        run = solver((t0, t1))
        took = time.perf_counter() - begun
        if run.success and last is not None:
            turn = angle(run.q[-1], last.q[-1])
            changes.append((turn, relative(run.angular_momentum[-1], last.angular_momentum[-1])))
            (before, _), (now, _) = changes[-2:]
            if more < ROUNDING_CHANGES or (before < SMALL and now >= before / 4):
                more -= 1
        last = run if run.success else None
        steps *= 2
    if last is None or len(changes) < 3:
        raise InputError(
            f"t_span = ({t0:g}, {t1:g}): no reference could be computed over it"
            f" ({run.message or 'too many steps'}); choose a shorter span, or give reference="
        )
    errors = np.max(changes[-2:], axis=0) + 4 * EPS
    order = 2 if problem.moves else 8  # translation is split off
    return Reference(
        tuple(last.q[-1].tolist()),
        tuple(last.angular_momentum[-1].tolist()),
        keeps_energy(last, float(errors[1])),
        float(errors[0]),
        float(errors[1]),
        f"order {order} on Euler's equations, {last.nsteps} steps, compensated",
    )


def _first_steps(problem: Problem, span: float) -> int:
    """The number of steps of the first attempt, a power of two."""
    rate = float(np.linalg.norm(problem.omega))
    return 2 ** max(4, int(np.ceil(np.log2(1 + rate * abs(span) / FIRST_TURN))))


# ---- the order-8 method, as plain functions of seven numbers y = (q, m)
def _rate(t, y, body, params):
    (w, x, y_, z), m = y[:4], y[4:]
    a, b, c = omega = angular_velocity(m, body)
    n = add(cross(m, omega), torque(t, (w, x, y_, z), m, body, params))
    return (
        -0.5 * fma(x, a, fma(y_, b, z * c)),
        0.5 * fma(w, a, fma(y_, c, -(z * b))),
        0.5 * fma(w, b, fma(z, a, -(x * c))),
        0.5 * fma(w, c, fma(x, b, -(y_ * a))),
        *n,
    )  # (1)


def _plus(y, f, k):
    """y + f k."""
    return each(fma, (f, k, y))


def _combination(weights: Sequence[float]) -> Callable:
    """ks -> Σ weights[j] ks[j], without the terms whose weights vanish."""
    used = [(j, weight) for j, weight in enumerate(weights) if weight != 0.0]
    if not used:
        return lambda ks: (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    j, weight = used[-1]
    before = _combination(weights[:j])
    return lambda ks: _plus(before(ks), weight, ks[j])


def _stages(rows: Sequence[Sequence[float]], nodes: Sequence[float]) -> Callable:
    if len(rows) == 1:
        return lambda t, h, y, body, params: (_rate(t, y, body, params),)
    before, total, node = _stages(rows[:-1], nodes[:-1]), _combination(rows[-1]), nodes[-1]

    def stages(t, h, y, body, params):
        ks = before(t, h, y, body, params)
        return *ks, _rate(t + node * h, _plus(y, h, total(ks)), body, params)

    return stages


def _add_with_loss(y, change):
    """(y + change, what rounding lost)."""
    total = y + change
    return total, change - (total - y)


def _start(t, h, state, body, params):
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


def consistent(weights: list[float]) -> list[float]:
    """Change the last bits of the first weight so that their sum is 1, not 1 + 7e-17.

    That error would act as one of the time, which halving the step does not reduce: 3e-14 after 500
    radians.
    """
    others = weights[1:]
    return [float(1 - sum(map(Fraction, others))), *others]


@cache
def _order_8() -> Method:
    from scipy.integrate import DOP853

    rows = [row[:k].tolist() for k, row in enumerate(DOP853.A)]
    stages = _stages(rows, DOP853.C.tolist())
    total = _combination(consistent(DOP853.B.tolist()))

    def step(t, h, state, carry, body, params):
        before = *state[0], *state[1]
        change = _plus(carry, h, total(stages(t, h, before, body, params)))
        pairs = each(_add_with_loss, (before, change))
        new = each(first, (pairs,))
        return (new[:4], new[4:]), each(second, (pairs,))

    return Method(
        name="order-8",
        title="Dormand and Prince's method of order 8 on Euler's equations",
        order=8,
        symmetric=False,
        torques_per_step=len(rows),
        references=(),
        start=_start,
        step=step,
    )
