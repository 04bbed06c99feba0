"""Adams-Bashforth-Moulton methods of any order k from 2 to 16, with fixed steps (PECE).

The slopes f_n, f_(n-1), … of the last k steps predict, and a new slope corrects:

    p  = y + h (f_n + Σ_j AB_j (f_(n-j) - f_n)),    f* = f(t + h, p)                   (1)
    y' = y + h (f_n + AM_0 (f* - f_n) + Σ_j AM_(j+1) (f_(n-j) - f_n))                  (2)

and f_(n+1) = f(t + h, y'): two evaluations per step, for any order.  The weights are exact
fractions (``tableaus/adams``), rounded.  Rounded weights of slopes do not sum to 1, and y would
drift by the same error in every step; those of differences as in (1) and (2) do not sum exactly
either, and energy would drift.  So both are summed as f_n + ∇f/2 + Σ_i u_i ∇²f_i, with second
differences of slopes, and nothing drifts.  The rounding error of y is carried, unless ``options``
have ``compensated=False``, the usual form, which is not faster.

The first k - 1 steps are steps of Gragg's extrapolation, of a higher order.  They go forward from
the initial state, so that the force is never evaluated outside the run, where it may be undefined
or different.  Every history starts like this, also after a ``reset`` of the variables or a change
of the step.

A step to t + x h, 0 < x < 1 (``t_eval``, a shorter last step) also comes from the history.
With the polynomial P of (1) through the last k slopes, and g of ``tableaus/adams``,

    p  = y + h ∫_0^x P(s) ds,    y' = p + h g(x) (f(t + x h, p) - P(x))                (3)

whose error falls faster than that of the steps, by one power of h.  Where only the states of the
steps are known, as for ``run.sol`` and events, it is a step of the extrapolation.

Steps must be short, because old slopes persist: a rotation at the rate ω is stable for

    order  6    8    10    12    14    16
    |ω h|  0.52 0.28 0.144 0.067 0.025 0.008                                           (4)

in variables that rotate with the body; a quaternion turns half as fast.  After a jump or a kink of
the force the accuracy is lower for k steps.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from polhode.compiler.four import table
from polhode.compiler.machine import combined
from polhode.contracts import Integrator, slope
from polhode.errors import InputError
from polhode.integrators._runge_kutta import accumulated, gragg, moved, nothing, picked
from polhode.tableaus import adams as tableau
from polhode.tableaus.extrapolation import Columns

HIGHEST = 16
SUBSTEPS = 2, 4, 6, 8, 12, 16, 24, 32, 48  # of the extrapolation: Bulirsch's sequence


# ---- sums
def minus(a, b):
    return combined((1.0, -1.0), (a, b))


def powers(x):
    """Return 1, x, …, x¹⁵."""
    x2 = x * x
    x3, x4 = x2 * x, x2 * x2
    x5, x6, x7, x8 = x4 * x, x4 * x2, x4 * x3, x4 * x4
    low = x, x2, x3, x4, x5, x6, x7, x8
    return 1.0, *low, x8 * x, x8 * x2, x8 * x3, x8 * x4, x8 * x5, x8 * x6, x8 * x7


def plainly(y, low, h, d):
    """Return the same as ``accumulated``, without compensation."""
    return moved(y, h, d), low


def columns(k: int) -> Columns:
    """Return the columns of the extrapolation, of order k + 1 or k + 2, that starts order k."""
    return Columns(name=f"adams:{k}", lanes=(SUBSTEPS[: k // 2 + 1],))


# ---- the three kinds of steps: (d, s) with y' = y + s d
def extrapolation(k: int, number: Callable[[Any], Any]) -> Callable:
    """Make a step of Gragg's extrapolation, one column after another."""
    start = columns(k)
    weights = start.rounded if number is float else start.weights
    count, substeps = len(start.numbers), table(start.numbers)
    weight = table([number(weights[n]) for n in start.numbers])

    def first_steps(t, h, y, f, body, params):
        total = nothing(y)
        for j in range(count):
            d = gragg(substeps(j), t, h, y, f, body, params)
            total = combined((1.0, weight(j)), (total, d))
        return total, 1.0

    return first_steps


def correction(k: int, number: Callable[[Any], Any]) -> Callable:
    """Make a full step, (1) and (2)."""
    before, after = (
        tuple(map(number, reversed(tableau.of_second_differences(weights))))
        for weights in (tableau.bashforth(k), tableau.moulton(k))
    )
    ahead, back = (*before, 0.5, 1.0), (*after[:-1], 1.0, 0.5, *after[-1:])
    count = len(back)

    def corrected(t, h, y, f, past, body, params):
        p = moved(y, h, combined(ahead, (*past, f)))  # (1)
        change = minus(slope(t + h, p, body, params), f)
        second = minus(change, past[-1])
        return combined(back, (*past[1:-1], f, change, second)[:count]), h  # (2)

    return corrected


def inside(k: int, number: Callable[[Any], Any]) -> Callable:
    """Make a shorter step from the history, (3)."""
    parts, last = tableau.aside(k), k - 2
    rows = *reversed(parts.values), *reversed(parts.slopes), parts.above, parts.below
    coefficients = tuple(tuple(map(number, power)) for power in zip(*rows, strict=True))
    a, b = 2 * last, 2 * last + 1

    def step_inside(t, h, x, y, f, past, body, params):
        w = combined(powers(x)[:k], coefficients)
        d = combined((*w[:last], 0.5 * x, 1.0), (*past, f))
        there = slope(t + h, moved(y, h, d), body, params)
        missing = minus(there, combined((*w[last:a], x, 1.0), (*past, f)))
        return moved(d, w[a] / w[b], missing), h

    return step_inside


# ---- the step
def steps(k: int, compensated: bool, number: Callable[[Any], Any]) -> dict[str, Callable]:
    """Make start, step and the functions that replace them in special cases.

    Both slopes of a quick step are evaluated in one branch: quantities that depend on time alone,
    such as the positions of Sun and Moon, are then computed once.

    The carry is (step size, number of known differences of slopes, last slope, second differences
    from the oldest on and the last first difference, rounding error of y).
    """
    last, full = k - 1, k - 1.0
    first_steps, corrected = extrapolation(k, number), correction(k, number)
    step_inside, none = inside(k, number), picked([0] * last)
    summed = accumulated if compensated else plainly

    def start(t, h, y, body, params):
        zero = nothing(y)
        return h, 0.0, slope(t, y, body, params), none((zero,)), zero

    def again(t, h, y, carry, body, params):
        _, _, _, past, _ = carry  # any values would do: they are replaced before they are read
        return h, 0.0, slope(t, y, body, params), past, nothing(y)

    def after(t, h, y, carry, d, scale, body, params):
        _, _, f, past, low = carry
        new, low = summed(y, low, scale, d)
        rate = slope(t + h, new, body, params)
        change = minus(rate, f)
        return new, rate, (*past[:-1], minus(change, past[-1]), change)[1:], low

    def ready(h, carry):
        return carry[1] == full and h == carry[0]

    def quick(t, h, y, carry, body, params):
        _, _, f, past, _ = carry
        d, scale = corrected(t, h, y, f, past, body, params)
        new, rate, past, low = after(t, h, y, carry, d, scale, body, params)
        return new, (h, full, rate, past, low)

    def step(t, h, y, carry, body, params):
        size, known, f, past, _ = carry
        if ready(h, carry):
            return quick(t, h, y, carry, body, params)
        if known == full and abs(h) < abs(size) and (h > 0.0) == (size > 0.0):
            d, scale = step_inside(t, h, h / size, y, f, past, body, params)
        else:
            d, scale = first_steps(t, h, y, f, body, params)
        new, rate, past, low = after(t, h, y, carry, d, scale, body, params)
        known = min(known + 1.0 if h == size else 1.0, full)
        return new, (h, known, rate, past, low)

    functions = start, again, step, ready, quick
    return {function.__name__: function for function in functions}


@cache
def adams(
    order: int = 12, compensated: bool = True, number: Callable[[Any], Any] = float, **changed: Any
) -> Integrator:
    """Make the record for an order; ``number`` converts the fractions (to mpmath, say)."""
    if order not in range(2, HIGHEST + 1):
        raise InputError(f"adams: the order is a whole number from 2 to {HIGHEST}, got {order!r}")
    order = int(order)
    settings: dict[str, Any] = {
        "name": f"adams:{order}",
        "title": f"Adams, Bashforth and Moulton's method of order {order}",
        "order": order,
        "dense_order": order,
        "evaluations": 2,
        # the first slope, and the evaluations of each starting step beyond the usual 2
        "evaluations_at_start": 1 + (order - 1) * (columns(order).evaluations - 2),
        "references": ("bashforth1883", "moulton1926", "hairer1993"),
        "options": adams,
    }
    return Integrator(**settings | steps(order, bool(compensated), number) | changed)


PLACE = 70
INTEGRATOR = adams(name="adams")
