"""Measurements of sections 5 and 6 of Mandre (2008): linear and angular movement."""

from collections.abc import Callable
from fractions import Fraction
from math import cos, sin
from typing import Any

import numpy as np

from polhode.compiler.tree import bind
from polhode.contracts import torque
from polhode.methods.rkn4 import rkn4
from polhode.models import heavy_top
from polhode.papers.mandre2008 import by_hand, series
from polhode.papers.mandre2008.by_hand import dot
from polhode.papers.mandre2008.laboratory import MOMENTS, TUMBLING, Laboratory
from polhode.papers.mandre2008.rigid_body import BODY, INTEGRATED, around_centre, as_one_body
from polhode.papers.maps import orders
from polhode.papers.quaternions import Array, conjugate, cross, inverse, product, pure, times
from polhode.papers.reference import solution
from polhode.papers.verdicts import Check, Measured, above, below, holds_if, largest, near, slope
from polhode.problems.problem import Problem

# ---- section 5: a particle
Force = Callable[[Any, Array, Array], Array]  # F(t, p, v) of a mass of 1
START, SPEED, UNTIL = np.array([1.0, 0.2, -0.3]), np.array([0.1, 0.8, 0.4]), 2.0
COUNTS = 40, 80, 160
STEPS = [UNTIL / count for count in COUNTS]


def driving_force(t: float, p: Array, v: Array) -> Array:
    """Stiffening springs, a swinging force, and friction that grows with the speed."""
    swing = np.array([cos(3 * t), p[0] * v[2], -sin(2 * t)])
    return (-1.0 - dot(p, p)) * p - 0.2 * dot(v, v) * v + swing


def lorentz(t: float, p: Array, v: Array) -> Array:
    """E = -grad |p|⁴/4, and the field of a magnetic mirror."""
    field = np.array([-0.8 * p[0] * p[2], -0.8 * p[1] * p[2], 2.0 + 0.8 * p[2] ** 2])
    return -dot(p, p) * p + cross(v, field)


def hamiltonian(p: Array, v: Array) -> float:
    return float(dot(v, v) / 2 + dot(p, p) ** 2 / 4)


def fly(force: Force, count: int, **reading: bool) -> tuple[Array, Array]:
    h, p, v = UNTIL / count, START, SPEED
    for k in range(count):
        p, v = by_hand.nystrom(k * h, h, p, v, force, **reading)
    return p, v


def linear_orders(force: Force, **reading: bool) -> list[float]:
    """Return the orders in p and v."""

    def rates(t: float, y: Array) -> Array:
        return np.concatenate([y[3:], force(t, y[:3], y[3:])])

    right = solution(rates, UNTIL, [*START, *SPEED]).reshape(2, 3)
    ends = np.array([fly(force, count, **reading) for count in COUNTS])
    errors = [[float(np.linalg.norm(part)) for part in end - right] for end in ends]
    return [slope(STEPS, column) for column in zip(*errors, strict=True)]


def nyström(_: Laboratory) -> Measured:
    found = linear_orders(driving_force)
    return holds_if(min(found) > 3.85, *found, *linear_orders(driving_force, second=True))


def lorentz_(_: Laboratory) -> Measured:
    found, first = linear_orders(lorentz), hamiltonian(START, SPEED)
    energies = [abs(hamiltonian(*fly(lorentz, n)) / first - 1) for n in COUNTS]
    return holds_if(min(found) > 3.85, *found, energies[-1], STEPS[-1], slope(STEPS, energies))


def constant_force(_: Laboratory) -> Measured:
    a, p, v = by_hand.fractions([(1, -2, 5), (2, 3, -1), (-4, 1, 1)])
    h = Fraction(3, 7)
    found = by_hand.nystrom(Fraction(0), h, p, v, lambda t, p, v: a)
    off = largest(np.subtract(found, (p + h * v + h * h / 2 * a, v + h * a)))
    return holds_if(off == 0, off)


# ---- section 6: the equations, without rounding
TENSOR = by_hand.fractions([(5, 1, -1), (1, 4, 2), (-1, 2, 7)])
ADJUGATE = cross(np.roll(TENSOR, -1, 0), np.roll(TENSOR, -2, 0)).T
INVERSE = ADJUGATE / dot(TENSOR[0], ADJUGATE[:, 0])  # Cramer's rule
KNOWN = series.TERMS - 1  # coefficients of a first derivative


def given_motion() -> tuple[Array, Array, Array]:
    """(q, ω, τ) of a motion as series, ω and τ from the rotation matrix alone."""
    q = series.turning()
    a = series.matrix(q)
    omega = series.rate_in_body(a)
    return q, omega, a.T @ series.rates(a @ (TENSOR @ omega))


def angular_acceleration(tau: Array, u: Array, factor: int = 1) -> Array:
    """I⁻¹(τ - factor u × (Iu))."""
    return INVERSE @ (tau - factor * cross(u, TENSOR @ u))


def euler(_: Laboratory) -> Measured:
    _q, omega, tau = given_motion()
    off = series.apart(angular_acceleration(tau, omega), series.rates(omega), KNOWN - 1)
    particles = largest(as_one_body().point_position(BODY.places) - around_centre(None))
    return holds_if(off == 0 and particles < INTEGRATED, off, particles)


def quaternion_rate(_: Laboratory) -> Measured:
    q, omega, _tau = given_motion()
    forms = product(pure(series.matrix(q) @ omega), q) / 2, by_hand.rate_of(q, omega)
    off = max(series.apart(form, series.rates(q), KNOWN) for form in forms)
    return holds_if(off == 0, off)


def grassmann(_: Laboratory) -> Measured:
    q, x = by_hand.fractions((2, -1, 3, 1)), by_hand.fractions((4, 1, -2))
    turned = times(q, pure(x), conjugate(q))
    p = np.array([*map(series.Series, (2, -1, 3, 1), (1, 2, 0, 1))])
    lost = product(conjugate(p), series.rates(p))[0] * 2
    off = series.apart((lost,), (dot(p, p).rate(),), KNOWN)
    return holds_if(turned[0] == 0 and off == 0, float(turned[0]), off)


def omega(_: Laboratory) -> Measured:
    q, right, tau = given_motion()
    first = series.apart(by_hand.omega_of(q, series.rates(q)), right, KNOWN)
    u = product(conjugate(q), series.rates(q))[1:]
    second = series.apart(angular_acceleration(tau, u, 4), series.rates(right), KNOWN - 1)
    return holds_if(first == second == 0, first, second)


def second_derivative(_: Laboratory) -> Measured:
    q, omega, tau = given_motion()
    rate = series.rates(q)
    first = (product(rate, pure(omega)) + product(q, pure(series.rates(omega)))) / 2
    page = by_hand.second_derivative(q, rate, tau, TENSOR, INVERSE)
    off = [series.apart(form, series.rates(rate), KNOWN - 1) for form in (first, page)]
    return holds_if(max(off) == 0, *off)


# ---- section 6: the step
def top(t: Any, q: Array, omega: Array) -> Array:
    """Return the torque of a heavy top of strength 3, polynomial in q."""
    w, x, y, z = q
    return np.array([6 * (w * x + y * z), -6 * (x * z - w * y), 0 * w])


def one_step(back: by_hand.Back) -> float:
    """Return how far a step of the library is from the page, which is computed in fractions."""
    q, omega, h = (0.5, 0.5, -0.5, 0.5), (0.75, -1.25, 0.5), 0.125
    start, rate, moments = map(by_hand.fractions, (q, omega, MOMENTS))
    exact = by_hand.spin_step(Fraction(0), Fraction(h), start, rate, top, moments, back)
    method = rkn4(as_printed=back is conjugate, normalise_every=0)
    assert method.step is not None
    model, body = heavy_top(3.0), TUMBLING.body.data
    step = bind(method.step, {torque: model.torque})
    momentum = tuple(i * w for i, w in zip(MOMENTS, omega, strict=True))
    carry = method.start(0.0, h, (q, momentum), body, model.params)
    (new, m), _ = step(0.0, h, (q, momentum), carry, body, model.params)
    return largest(by_hand.fractions([*new, *np.divide(m, MOMENTS)]) - np.concatenate(exact))


MEASUREMENTS: dict[str, Check] = {
    "page-step": lambda _: below(1e-14, one_step(conjugate), one_step(inverse)),
    "drifts": lambda lab: above(1e-10, *lab.both_worst("never", "length")),
    "sign": lambda lab: below(1e-15, lab.worst("q⁻¹, every step", "length")),
}


def order(lab: Laboratory) -> Measured:
    page, other = lab.spinning["as printed"], lab.spinning["q⁻¹"]
    printed, right = page.orders, other.orders
    library = min(min(orders("rkn4", model, (20, 40, 80))) for model in ("torque", "swinging"))
    shown = *printed, *right, library, *(page.errors[-1] / other.errors[-1]), other.steps[-1]
    fine = min(*right, library) > 3.85 and all(near(x, 3, 0.25) for x in printed)
    return holds_if(min(printed) > 3.85, *shown, corrected=fine)


def drift_rate(lab: Laboratory, faster: float, h: float) -> float:
    """The mean rate of | |q| - 1 | over 20 time units, for a body ``faster`` times as fast."""
    omega = [faster * w for w in TUMBLING.omega]
    run = lab.rkn4(Problem(TUMBLING.body, omega=omega), 20.0, h, normalise_every=0)
    return float(abs(np.linalg.norm(run.q[-1]) - 1)) / 20.0


def how_often(lab: Laboratory) -> Measured:
    speeds, steps = (1.0, 2.0, 4.0), (0.02, 0.01, 0.005)
    by_step = slope(steps, [drift_rate(lab, 4.0, h) for h in steps])
    by_speed = slope(speeds, [drift_rate(lab, s, 0.02) for s in speeds])
    return holds_if(by_step > 3 and by_speed > 4, by_step, by_speed)


def thousand(lab: Laboratory) -> Measured:
    times = "every step", "every 1000", "never"
    first, second = zip(*(lab.both_worst(when, "energy") for when in times), strict=True)
    printed, right = (rarely / often for often, rarely, _ in (first, second))
    enough = 2.0  # times the error
    good = right < enough and second[0] < 4e-7
    return holds_if(printed < enough, *first, *second, printed, right, corrected=good)
