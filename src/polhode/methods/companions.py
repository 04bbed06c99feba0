"""Variables of a model beside every map: one symmetric wrapper.

With y' = f(t, q, m, y), and a torque that may read y, one step of (q, m, y), or (q, m, x, p, y), is

    ŷ = y + h/2 f(t, q, m, y)                                                          (1)
    (q', m') = the step of the map from (q, m), its torque taken at ŷ                   (2)
    y' = ŷ + h/2 f(t + h, q', m', y')                                                  (3)

If the map is its own adjoint, so is this; the order is 2, or higher by composition.  Methods with
stages give y stages of their own tableau instead (``further``), and keep their order.

(3) is implicit if f depends on y: it is iterated until y' converges to rounding, or no longer comes
nearer, which it does not where f is a small difference.  f at the end is the first of the next step
and is carried.  A map that carries a torque evaluates it again, because ŷ differs in the next
step.  (Only the first evaluation in (3) is counted.)
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from polhode.compiler.tree import flat
from polhode.contracts import ORIGIN, Method, coupled, inverse_mass
from polhode.contracts.company import Company
from polhode.kernels.tuples import collected, flattened, nested, sum_of_all, sum_of_squares
from polhode.kernels.vector import multiply
from polhode.methods.further import TRANSLATION, Further
from polhode.methods.translation import absent, raised

MOST = 60  # iterations of (3)
ROUNDING = 1.6e-31  # of y', squared, where they end; the rest is smaller by the contraction factor
NEAR = 1e-18  # of y', squared, where they may end because they come no nearer
NAN = float("nan")


@cache
def with_companions(method: Method, moving: bool, company: Company) -> Method:
    """Make the method for states (q, m, y), or (q, m, x, p, y).

    ``moving``: ``method`` is for states (q, m, x, p).  A method whose stages take ``further``
    variables keeps its order; the carry of all others is (the map's, f).
    """
    lost: dict[str, Any] = {
        "momentum_order": None,
        "order_when_free": None,
        "symplectic": False,
        "exact_when_free": False,
        "exact_momentum_when_free": False,
        "compensates": False,
        "compensated": False,
    }
    if method.further is not None:
        make = _beside_motion if moving else _beside_rotation
        functions: dict[str, Any] = method.further(make(company))
        return replace(method, **lost, **functions)
    again = method.torques_at_start > 0
    wrapped: dict[str, Any] = wrapped_functions(method, moving, company, again)
    return replace(
        method,
        **wrapped,
        **raised(method),
        **lost,
        width=1,  # (3) is a loop, which SIMD lanes cannot share
        torques_at_start=method.torques_at_start + 1,
        torques_per_step=method.torques_per_step + 1 + again * (2 if method.implicit else 1),
    )


# ---- stages of their own
def _beside_rotation(company: Company) -> Further:
    """The variables as further ones of a method with stages."""
    nest, flatten, strayed = nested(company.pattern), flattened(company.pattern), _strayed(company)

    def apart(state):
        q, m, y = state
        return q, m, flatten(y)

    def together(q, m, z):
        return q, m, nest(z)

    def acting(t, q, m, z, body, params):
        n, _, slope = coupled(t, q, m, ORIGIN, ORIGIN, body, (*params, nest(z)))
        return n, flatten(slope)

    def size(d, z, new, m, body):
        return strayed(d, z, new)

    return Further(apart=apart, together=together, acting=acting, size=size)


def _beside_motion(company: Company) -> Further:
    """Position and momentum, and the variables behind them."""
    nest, flatten, strayed = nested(company.pattern), flattened(company.pattern), _strayed(company)
    off_course = TRANSLATION.size

    def apart(state):
        q, m, x, p, y = state
        return q, m, (*x, *p, *flatten(y))

    def together(q, m, z):
        return q, m, z[:3], z[3:6], nest(z[6:])

    def acting(t, q, m, z, body, params):
        p = z[3:6]
        n, f, slope = coupled(t, q, m, z[:3], p, body, (*params, nest(z[6:])))
        return n, (*multiply(inverse_mass(body), p), *f, *flatten(slope))

    def size(d, z, new, m, body):
        return off_course(d[:6], z[:6], new[:6], m, body) + strayed(d[6:], z[6:], new[6:])

    return Further(apart=apart, together=together, acting=acting, size=size)


def _strayed(company: Company) -> Callable:
    """Make (d, y, new) -> the squared size of a change d, relative to y or its scale."""
    pairs = zip(company.places.values(), company.scales, strict=True)
    total = sum_of_all([_relative(p.start, p.stop, scale * scale) for p, scale in pairs])
    return lambda d, y, new: total((d, y, new))


def _relative(first: int, last: int, least: float) -> Callable:
    square = sum_of_squares(last, first)

    def relative(given):
        d, y, new = given
        return square(d) / max(square(y), square(new), least)

    return relative


# ---- the wrapper
def wrapped_functions(
    method: Method, moving: bool, company: Company, again: bool
) -> dict[str, Callable]:
    """Make the functions of the map for states with variables.

    ``again``: the torque that the map carries is evaluated again at the start of a step.
    """
    own: Mapping[str, Any] = {
        name: function
        for name in ("start", "step", "guess", "improve", "finish")
        if (function := getattr(method, name)) is not None
    }
    map_start, map_step = own["start"], own.get("step", absent)
    map_guess, map_improve = own.get("guess", absent), own.get("improve", absent)
    map_finish = own.get("finish", absent)
    plus_scaled, solved = _plus_scaled(company.pattern), _solved(company)
    rate = _moving_rate if moving else _rate

    def carried(t, h, inner, carry, middle, body, params):
        """Return the carry of the map at the start of its step."""
        if again:
            return map_start(t, h, inner, body, (*params, middle))
        return carry[0]

    def start(t, h, state, body, params):
        inner, y = state[:-1], state[-1]
        carry = map_start(t, h, inner, body, (*params, y))
        return carry, rate(t, inner, body, (*params, y))

    def ended(t, h, middle, inner, carry, body, params):
        y, f = solved(rate, t + h, 0.5 * h, inner, middle, body, params)  # (3)
        return (*inner, y), (carry, f)

    def step(t, h, state, carry, body, params):
        inner, middle = state[:-1], plus_scaled(state[-1], 0.5 * h, carry[1])  # (1)
        kept = carried(t, h, inner, carry, middle, body, params)
        inner, kept = map_step(t, h, inner, kept, body, (*params, middle))  # (2)
        return ended(t, h, middle, inner, kept, body, params)

    def guess(t, h, state, carry, body, params):
        inner, middle = state[:-1], plus_scaled(state[-1], 0.5 * h, carry[1])
        kept = carried(t, h, inner, carry, middle, body, params)
        unknown = map_guess(t, h, inner, kept, body, (*params, middle))
        return unknown, middle, unknown[-1]

    def improve(t, h, unknown, state, body, params):
        within, middle, _ = unknown
        within, done = map_improve(t, h, within, state[:-1], body, (*params, middle))
        return (within, middle, within[-1]), done

    def finish(t, h, unknown, state, carry, body, params):
        inner, middle = state[:-1], unknown[1]
        kept = carried(t, h, inner, carry, middle, body, params)
        inner, kept = map_finish(t, h, unknown[0], inner, kept, body, (*params, middle))
        return ended(t, h, middle, inner, kept, body, params)

    made = start, step, guess, improve, finish
    return {function.__name__: function for function in made if function.__name__ in own}


def _rate(t, inner, body, params):
    """Return f for a body that turns."""
    return coupled(t, inner[0], inner[1], ORIGIN, ORIGIN, body, params)[2]


def _moving_rate(t, inner, body, params):
    """Return f for a body that moves as well."""
    q, m, x, p = inner
    return coupled(t, q, m, x, p, body, params)[2]


# ---- variables of any form
def _plus_scaled(pattern: Any) -> Callable:
    """Make (y, h, f) -> y + h f."""
    flatten, nest = flattened(pattern), nested(pattern)
    numbers = range(len(flat(pattern)))
    add = collected([_sum_at(k) for k in numbers])
    return lambda y, h, f: nest(add((flatten(y), h, flatten(f))))


def _sum_at(k: int) -> Callable:
    def plus(x):
        y, h, f = x
        return y[k] + h * f[k]

    return plus


def _solved(company: Company) -> Callable:
    """Make the function that solves (3): (y, f); NaN if the step is too long to converge."""
    pattern = company.pattern
    plus_scaled, flatten, strayed = _plus_scaled(pattern), flattened(pattern), _strayed(company)
    changes = collected([_change_at(k) for k in range(len(flat(pattern)))])

    def solved(rate, t, c, inner, middle, body, params):
        f = rate(t, inner, body, (*params, middle))
        y = plus_scaled(middle, c, f)
        done, count, before = False, 0, 1.0
        while not done and count < MOST:
            new = rate(t, inner, body, (*params, y))
            change = changes((c, flatten(new), flatten(f)))
            y = plus_scaled(middle, c, new)
            off = strayed(change, flatten(middle), flatten(y))
            done = off <= ROUNDING or (off <= NEAR and off >= before)
            f, count, before = new, count + 1, off
        return plus_scaled(middle, c if done else NAN, f), f

    return solved


def _change_at(k: int) -> Callable:
    def change(given):
        h, f, g = given
        return h * (f[k] - g[k])

    return change
