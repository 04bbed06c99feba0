"""Six degrees of freedom for rotation maps without a ``motion`` of their own: a symmetric wrapper.

With the force F, the velocity v and the centre of mass on the straight line x(s) = x + s v within
the step, one step of (q, m, x, p) is

    p̂ = p + b F(t, q, m, x, p),    v = p̂ / M,    x' = x + a v                          (1)
    (q', m') = the step of the map from (q, m), its torque at time t + s taken at x(s), p̂ (2)
    p' = p̂ + c F(t + a, q', m', x', p')                                                (3)

with a = h and b = c = h/2, or the parts of a splitting.  If the map is its own adjoint, so is this;
the order is 2, or higher by composition.  Kicks by the torque and by the force of a potential
happen at the same times, so that symplectic splittings stay symplectic.

Only (3) is implicit, if the force depends on the velocity: it is iterated until it converges to
rounding.  A map that carries a torque then evaluates it again, because p̂ differs in the next step.
(Only the first evaluation in (3) is counted.)
F at the end is the first of the next step and is carried.  Inside (2) time starts at 0, so that s
loses no digits to t; maps of free bodies keep t, since some of them store their initial time.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from polhode.compiler.tree import bind
from polhode.contracts import Method, inverse_mass, torque, wrench
from polhode.kernels.sums import no_loss3, plus_scaled3
from polhode.kernels.vector import add_scaled, multiply
from polhode.tableaus.composition import COMPOSITIONS

MOST = 60  # iterations of (3)
ROUNDING = 1e-15  # where they end; the remaining error is smaller by the contraction factor
NAN = float("nan")


def torque_on_the_way(t, q, m, body, params):
    """Return the torque at the position of the centre of mass at time t of the step."""
    own, begun, x, v, p = params
    return wrench(begun + t, q, m, add_scaled(x, t, v), p, body, own)[0]


# ---- parts of a step
def parts_of(h):
    """Return (a, b, c) of a step; replaced for splittings, whose h is this triple."""
    return h, 0.5 * h, 0.5 * h


def given_parts(h):
    return h


def kicked(t, c, q, m, x, p, e, body, params):
    """Return (p, its rounding error, F) of (3); replaced if the force depends on the velocity."""
    _, f = wrench(t, q, m, x, p, body, params)
    p, e = plus_scaled3(p, e, c, f)
    return p, e, f


def kicked_by_friction(t, c, q, m, x, p, e, body, params):
    """Solve (3) where the force depends on p'; NaN if the step is too long to converge."""
    f = wrench(t, q, m, x, p, body, params)[1]
    done, count = False, 0
    while not done and count < MOST:
        new = wrench(t, q, m, x, add_scaled(p, c, f), body, params)[1]
        f, done, count = new, near(new, f), count + 1
    p, e = plus_scaled3(p, e, c if done else NAN, f)
    return p, e, f


def near(f, g):
    """Return whether two forces differ only by rounding."""
    off = abs(f[0] - g[0]) + abs(f[1] - g[1]) + abs(f[2] - g[2])
    return off <= ROUNDING * (abs(f[0]) + abs(f[1]) + abs(f[2]))


def pushed(h, state, carry, body):
    """Return (p̂, its rounding error, v) of (1)."""
    _, b, _ = parts_of(h)
    p, e = plus_scaled3(state[3], carry[2][1], b, carry[1])
    return p, e, multiply(inverse_mass(body), p)


# ---- the wrapper
def absent(*arguments):
    """Stand in for a function that the map does not have; never called."""


def with_translation(method: Method, depends_on_velocity: bool) -> Method:
    """Make the method for states (q, m, x, p); its carry is (the map's, F, rounding errors)."""
    if method.motion is not None:
        return method.motion
    return _wrapped(method, depends_on_velocity)


@cache
def _wrapped(method: Method, depends_on_velocity: bool) -> Method:
    again = depends_on_velocity and method.torques_at_start > 0
    stubs: dict[Callable, Callable] = {}
    if isinstance(method.weights[0], tuple):
        stubs[parts_of] = given_parts
    if depends_on_velocity:
        stubs[kicked] = kicked_by_friction
    functions: dict[str, Any] = {
        name: bind(function, stubs) for name, function in wrapped_functions(method, again).items()
    }
    return replace(
        method,
        **functions,
        **raised(method),
        momentum_order=method.momentum_order if method.free_only else None,
        order_when_free=None,
        compensated=method.compensated and not again,  # what was lost is not kept, either
        torques_at_start=method.torques_at_start + 1,
        torques_per_step=method.torques_per_step + 1 + again * (2 if method.implicit else 1),
    )


def wrapped_functions(method: Method, again: bool) -> dict[str, Callable]:
    """Make the functions of the map for states (q, m, x, p).

    ``again``: the torque that the map carries is evaluated again at the start of a step.
    """
    own: Mapping[str, Any] = {
        name: bind(function, {torque: torque_on_the_way})
        for name in ("start", "step", "guess", "improve", "finish")
        if (function := getattr(method, name)) is not None
    }
    map_start, map_step = own["start"], own.get("step", absent)
    map_guess, map_improve = own.get("guess", absent), own.get("improve", absent)
    map_finish = own.get("finish", absent)
    keeps_time = 1.0 if method.free_only else 0.0

    def carried(t, h, state, carry, body, way):
        """Return the carry of the map at the start of its step."""
        if again:
            return map_start(keeps_time * t, h, state, body, way)
        return carry[0]

    def start(t, h, state, body, params):
        q, m, x, p = state
        way = params, t, x, multiply(inverse_mass(body), p), p
        carry = map_start(keeps_time * t, h, (q, m), body, way)
        return carry, wrench(t, q, m, x, p, body, params)[1], (no_loss3(x), no_loss3(p))

    def ended(t, h, x, v, p, ex, ep, rotated, carry, body, params):
        a, _, c = parts_of(h)
        x, ex = plus_scaled3(x, ex, a, v)
        q, m = rotated
        p, ep, f = kicked(t + a, c, q, m, x, p, ep, body, params)  # (3)
        return (q, m, x, p), (carry, f, (ex, ep))

    def step(t, h, state, carry, body, params):
        q, m, x, _ = state
        p, ep, v = pushed(h, state, carry, body)  # (1)
        way = params, t, x, v, p
        inner = carried(t, h, (q, m), carry, body, way)
        rotated, inner = map_step(keeps_time * t, h, (q, m), inner, body, way)  # (2)
        return ended(t, h, x, v, p, carry[2][0], ep, rotated, inner, body, params)

    def guess(t, h, state, carry, body, params):
        q, m, x, _ = state
        p, _, v = pushed(h, state, carry, body)
        way = params, t, x, v, p
        inner = carried(t, h, (q, m), carry, body, way)
        unknown = map_guess(keeps_time * t, h, (q, m), inner, body, way)
        return unknown, (v, p), unknown[-1]

    def improve(t, h, unknown, state, body, params):
        q, m, x, _ = state
        inner, (v, p), _ = unknown
        inner, done = map_improve(keeps_time * t, h, inner, (q, m), body, (params, t, x, v, p))
        return (inner, (v, p), inner[-1]), done

    def finish(t, h, unknown, state, carry, body, params):
        q, m, x, _ = state
        p, ep, v = pushed(h, state, carry, body)
        way = params, t, x, v, p
        inner = carried(t, h, (q, m), carry, body, way)
        rotated, inner = map_finish(keeps_time * t, h, unknown[0], (q, m), inner, body, way)
        return ended(t, h, x, v, p, carry[2][0], ep, rotated, inner, body, params)

    made = start, step, guess, improve, finish
    return {function.__name__: function for function in made if function.__name__ in own}


def raised(method: Method) -> dict[str, Any]:
    """Return the order with translation, and the weights that give it.

    The wrapper has order 2.  A composition of several parts raises it as it raises that of the map,
    and a symmetric map of one part can be composed.  Others need a ``motion`` of their own, as all
    of the library's have, or stay at 2.
    """
    if method.order <= 2 or len(method.weights) > 1:
        return {}
    if method.symmetric:
        best = next(c for c in COMPOSITIONS.values() if c.order >= method.order)
        return {"weights": best.floats}
    return {"order": 2}
