"""The method of the reference: Dormand and Prince's, of order 8, on the equations as they stand.

    q' = q ω / 2,    m' = m × ω + T,    ω = I⁻¹ m                                      (1)
    x' = p / M,    p' = F                                                              (2)

as seven numbers y = (q, m), or with six degrees of freedom thirteen, (q, m, x, p): the coefficients
of SciPy's ``DOP853`` with a fixed step and compensated sums.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from polhode.compiler.four import each
from polhode.compiler.machine import fma
from polhode.contracts import Method, angular_velocity, inverse_mass, torque, wrench
from polhode.kernels.tuples import first, second
from polhode.kernels.vector import add, cross, multiply


# ---- slopes
def turning(q, m, n, body):
    """Return (1) for the torque n."""
    w, x, y, z = q
    a, b, c = omega = angular_velocity(m, body)
    return (
        -0.5 * fma(x, a, fma(y, b, z * c)),
        0.5 * fma(w, a, fma(y, c, -(z * b))),
        0.5 * fma(w, b, fma(z, a, -(x * c))),
        0.5 * fma(w, c, fma(x, b, -(y * a))),
        *add(cross(m, omega), n),
    )


def rate_of_seven(t, y, body, params):
    q, m = y[:4], y[4:]
    return turning(q, m, torque(t, q, m, body, params), body)


def rate_of_thirteen(t, y, body, params):
    q, m, p = y[:4], y[4:7], y[10:]
    n, f = wrench(t, q, m, y[7:10], p, body, params)
    return (*turning(q, m, n, body), *multiply(inverse_mass(body), p), *f)  # (2)


# ---- states
def seven(state):
    return *state[0], *state[1]


def state_of_seven(y):
    return y[:4], y[4:]


def thirteen(state):
    return *state[0], *state[1], *state[2], *state[3]


def state_of_thirteen(y):
    return y[:4], y[4:7], y[7:10], y[10:]


# ---- stages
def plus(y, f, k):
    """Return y + f k."""
    return each(fma, (f, k, y))


def combination(weights: Sequence[float], numbers: int) -> Callable:
    """Make ks -> Σ weights[j] ks[j], without the terms whose weights vanish."""
    used = [(j, weight) for j, weight in enumerate(weights) if weight != 0.0]
    if not used:
        zeros = (0.0,) * numbers
        return lambda ks: zeros
    j, weight = used[-1]
    before = combination(weights[:j], numbers)
    return lambda ks: plus(before(ks), weight, ks[j])


def stages_of(
    rows: Sequence[Sequence[float]], nodes: Sequence[float], rate: Callable, numbers: int
) -> Callable:
    """Make (t, h, y, body, params) -> (k1, k2, …)."""
    if len(rows) == 1:
        return lambda t, h, y, body, params: (rate(t, y, body, params),)
    before = stages_of(rows[:-1], nodes[:-1], rate, numbers)
    total, node = combination(rows[-1], numbers), nodes[-1]

    def stages(t, h, y, body, params):
        ks = before(t, h, y, body, params)
        return *ks, rate(t + node * h, plus(y, h, total(ks)), body, params)

    return stages


def add_with_loss(y, change):
    """Return (y + change, what rounding lost)."""
    total = y + change
    return total, change - (total - y)


def consistent(weights: list[float]) -> list[float]:
    """Change the last bits of the first weight so that their sum is 1, not 1 + 7e-17.

    That error would act as one of the time, which halving the step does not reduce: 3e-14 after 500
    radians.
    """
    others = weights[1:]
    return [float(1 - sum(map(Fraction, others))), *others]


def functions(rate: Callable, flat: Callable, nested: Callable, numbers: int) -> dict[str, Any]:
    """Make start and step for states of so many numbers."""
    from scipy.integrate import DOP853

    rows = [row[:k].tolist() for k, row in enumerate(DOP853.A)]
    stages = stages_of(rows, DOP853.C.tolist(), rate, numbers)
    total, zeros = combination(consistent(DOP853.B.tolist()), numbers), (0.0,) * numbers

    def start(t, h, state, body, params):
        return zeros

    def step(t, h, state, carry, body, params):
        before = flat(state)
        change = plus(carry, h, total(stages(t, h, before, body, params)))
        pairs = each(add_with_loss, (before, change))
        return nested(each(first, (pairs,))), each(second, (pairs,))

    return {"start": start, "step": step, "torques_per_step": len(rows)}


@cache
def order_8() -> Method:
    """Make the method, with its ``motion`` for six degrees of freedom."""
    alone = Method(
        name="order-8",
        title="Dormand and Prince's method of order 8 on Euler's equations",
        order=8,
        symmetric=False,
        references=(),
        **functions(rate_of_seven, seven, state_of_seven, 7),
    )
    moving = functions(rate_of_thirteen, thirteen, state_of_thirteen, 13)
    return replace(alone, motion=replace(alone, **moving))
