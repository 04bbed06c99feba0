"""Measurements of sections 5 and 6 of Mandre (2008): linear and angular movement."""

from collections.abc import Callable
from fractions import Fraction
from math import cos, sin
from typing import Any

import numpy as np

from polhode.body import RigidBody
from polhode.compiler.tree import bind
from polhode.contracts import torque
from polhode.methods.rkn4 import rkn4
from polhode.models import heavy_top
from polhode.papers.mandre2008 import by_hand, series
from polhode.papers.mandre2008.by_hand import Numbers
from polhode.papers.mandre2008.laboratory import MOMENTS, TUMBLING, Laboratory
from polhode.papers.mandre2008.reference import five
from polhode.papers.mandre2008.rigid_body import INTEGRATED, OMEGA, TIMES, around_centre
from polhode.papers.maps import orders
from polhode.papers.verdicts import Measured, above, below, holds_if, largest, near, slope
from polhode.problems.problem import Problem
from polhode.solvers.exact import exact_free_motion

# ---- section 5: a particle
Force = Callable[[Any, Numbers, Numbers], Numbers]  # F(t, p, v) of a mass of 1
START, SPEED, UNTIL = (1.0, 0.2, -0.3), (0.1, 0.8, 0.4), 2.0
COUNTS = 40, 80, 160
STEPS = [UNTIL / count for count in COUNTS]


def driving_force(t: float, p: Numbers, v: Numbers) -> Numbers:
    """Stiffening springs, a swinging force, and friction that grows with the speed."""
    square, speed = by_hand.dot(p, p), by_hand.dot(v, v)
    f = -1.0 - square
    return (
        f * p[0] - 0.2 * speed * v[0] + cos(3 * t),
        f * p[1] - 0.2 * speed * v[1] + p[0] * v[2],
        f * p[2] - 0.2 * speed * v[2] - sin(2 * t),
    )


def lorentz(t: float, p: Numbers, v: Numbers) -> Numbers:
    """E = -grad |p|⁴/4, and the field of a magnetic mirror."""
    square = by_hand.dot(p, p)
    field = -0.8 * p[0] * p[2], -0.8 * p[1] * p[2], 2.0 + 0.8 * p[2] ** 2
    return by_hand.combine((-square, p), (1, by_hand.cross(v, field)))


def hamiltonian(p: Numbers, v: Numbers) -> float:
    return float(by_hand.dot(v, v) / 2 + by_hand.dot(p, p) ** 2 / 4)


def fly(force: Force, count: int, **reading: bool) -> tuple[Numbers, Numbers]:
    h, p, v = UNTIL / count, START, SPEED
    for k in range(count):
        p, v = by_hand.nystrom(k * h, h, p, v, force, **reading)
    return p, v


def linear_orders(force: Force, **reading: bool) -> list[float]:
    """Return the orders in p and v."""
    from scipy.integrate import solve_ivp

    def rates(t: float, y: np.ndarray) -> Numbers:
        return *y[3:], *force(t, tuple(y[:3]), tuple(y[3:]))

    found = solve_ivp(rates, (0, UNTIL), [*START, *SPEED], method="DOP853", rtol=1e-13, atol=1e-14)
    right = found.y[:3, -1], found.y[3:, -1]
    ends = [fly(force, count, **reading) for count in COUNTS]
    return [
        slope(STEPS, [float(np.linalg.norm(end[k] - right[k])) for end in ends]) for k in (0, 1)
    ]


def nyström(_: Laboratory) -> Measured:
    found = linear_orders(driving_force)
    return holds_if(min(found) > 3.85, *found, *linear_orders(driving_force, second=True))


def lorentz_(_: Laboratory) -> Measured:
    found, first = linear_orders(lorentz), hamiltonian(START, SPEED)
    energies = [abs(hamiltonian(*fly(lorentz, n)) / first - 1) for n in COUNTS]
    return holds_if(min(found) > 3.85, *found, energies[-1], STEPS[-1], slope(STEPS, energies))


def constant_force(_: Laboratory) -> Measured:
    h, a, p, v = Fraction(3, 7), (1, -2, 5), (2, 3, -1), (-4, 1, 1)
    found = by_hand.nystrom(Fraction(0), h, p, v, lambda t, p, v: a)
    right = by_hand.combine((1, p), (h, v), (h * h / 2, a)), by_hand.combine((1, v), (h, a))
    off = float(max(abs(x - y) for x, y in zip(sum(found, ()), sum(right, ()), strict=True)))
    return holds_if(off == 0, off)


# ---- section 6: the equations, without rounding
TENSOR = tuple(tuple(map(Fraction, row)) for row in ((5, 1, -1), (1, 4, 2), (-1, 2, 7)))
KNOWN = series.TERMS - 1  # coefficients of a first derivative


def inverse_tensor() -> tuple[Numbers, ...]:
    """Cramer's rule: the rows are cross products over the determinant."""
    a, b, c = TENSOR
    size = by_hand.dot(a, by_hand.cross(b, c))
    columns = by_hand.cross(b, c), by_hand.cross(c, a), by_hand.cross(a, b)
    return series.transposed(tuple(tuple(x / size for x in column) for column in columns))


def given_motion() -> tuple[Numbers, Numbers, Numbers]:
    """(q, ω, τ) of a motion as series, ω and τ from the rotation matrix alone."""
    q = series.turning()
    a = series.matrix(q)
    omega = series.rate_in_body(a)
    momentum = tuple(by_hand.dot(row, by_hand.apply(TENSOR, omega)) for row in a)
    return q, omega, by_hand.apply(series.transposed(a), series.rates(momentum))


def angular_acceleration(tau: Numbers, u: Numbers, factor: int = 1) -> Numbers:
    """I⁻¹(τ - factor u × (Iu))."""
    turning = by_hand.cross(u, by_hand.apply(TENSOR, u))
    return by_hand.apply(inverse_tensor(), by_hand.combine((1, tau), (-factor, turning)))


def euler(_: Laboratory) -> Measured:
    _q, omega, tau = given_motion()
    off = series.apart(angular_acceleration(tau, omega), series.rates(omega), KNOWN - 1)
    body = five()
    run = exact_free_motion(RigidBody(body.tensor), None, OMEGA, TIMES)
    particles = largest(run.point_position(body.places) - around_centre(None))
    return holds_if(off == 0 and particles < INTEGRATED, off, particles)


def quaternion_rate(_: Laboratory) -> Measured:
    q, omega, _tau = given_motion()
    world = by_hand.apply(series.matrix(q), omega)
    forms = by_hand.grassmann(by_hand.pure(world), q), by_hand.grassmann(q, by_hand.pure(omega))
    off = max(series.apart(tuple(x / 2 for x in form), series.rates(q), KNOWN) for form in forms)
    return holds_if(off == 0, off)


def grassmann(_: Laboratory) -> Measured:
    q, x = tuple(map(Fraction, (2, -1, 3, 1))), tuple(map(Fraction, (4, 1, -2)))
    turned = by_hand.grassmann(by_hand.grassmann(q, by_hand.pure(x)), by_hand.conjugate(q))
    p = tuple(map(series.Series, (2, -1, 3, 1), (1, 2, 0, 1)))
    lost = by_hand.grassmann(by_hand.conjugate(p), series.rates(p))[0] * 2
    off = series.apart((lost,), (by_hand.dot(p, p).rate(),), KNOWN)
    return holds_if(turned[0] == 0 and off == 0, float(turned[0]), off)


def omega(_: Laboratory) -> Measured:
    q, right, tau = given_motion()
    first = series.apart(by_hand.omega_of(q, series.rates(q)), right, KNOWN)
    u = by_hand.grassmann(by_hand.conjugate(q), series.rates(q))[1:]
    second = series.apart(angular_acceleration(tau, u, 4), series.rates(right), KNOWN - 1)
    return holds_if(first == second == 0, first, second)


def second_derivative(_: Laboratory) -> Measured:
    q, omega, tau = given_motion()
    rate = series.rates(q)
    terms = (
        by_hand.grassmann(rate, by_hand.pure(omega)),
        by_hand.grassmann(q, by_hand.pure(series.rates(omega))),
    )
    first = tuple((x + y) / 2 for x, y in zip(*terms, strict=True))
    page = by_hand.second_derivative(q, rate, tau, TENSOR, inverse_tensor())
    off = [series.apart(form, series.rates(rate), KNOWN - 1) for form in (first, page)]
    return holds_if(max(off) == 0, *off)


# ---- section 6: the step
def top(t: Any, q: Numbers, omega: Numbers) -> Numbers:
    """Return the torque of a heavy top of strength 3, polynomial in q."""
    w, x, y, z = q
    return 6 * (w * x + y * z), -6 * (x * z - w * y), 0 * w


def one_step(back: by_hand.Back) -> float:
    """Return how far a step of the library is from the page, which is computed in fractions."""
    q, omega, h = (0.5, 0.5, -0.5, 0.5), (0.75, -1.25, 0.5), 0.125
    exact_q, exact_omega, moments = (tuple(map(Fraction, x)) for x in (q, omega, MOMENTS))
    exact = by_hand.spin_step(Fraction(0), Fraction(h), exact_q, exact_omega, top, moments, back)
    method = rkn4(as_printed=back is by_hand.conjugate, normalise_every=0)
    assert method.step is not None
    model, body = heavy_top(3.0), TUMBLING.body.data
    step = bind(method.step, {torque: model.torque})
    momentum = tuple(i * w for i, w in zip(MOMENTS, omega, strict=True))
    start = method.start(0.0, h, (q, momentum), body, model.params)
    (new, m), _ = step(0.0, h, (q, momentum), start, body, model.params)
    rates = (x / i for x, i in zip(m, MOMENTS, strict=True))
    pairs = zip((*new, *rates), (*exact[0], *exact[1]), strict=True)
    return float(max(abs(Fraction(x) - y) for x, y in pairs))


def page_step(_: Laboratory) -> Measured:
    return below(1e-14, one_step(by_hand.conjugate), one_step(by_hand.inverse))


def order(lab: Laboratory) -> Measured:
    page, other = lab.spinning["as printed"], lab.spinning["q⁻¹"]
    printed, right = page.orders, other.orders
    library = min(min(orders("rkn4", model, (20, 40, 80))) for model in ("torque", "swinging"))
    shown = *printed, *right, library, *(page.errors[-1] / other.errors[-1]), other.steps[-1]
    fine = min(*right, library) > 3.85 and all(near(x, 3, 0.25) for x in printed)
    return holds_if(min(printed) > 3.85, *shown, corrected=fine)


def drifts(lab: Laboratory) -> Measured:
    return above(1e-10, *(lab.worst(f"{name}, never", "length") for name in ("as printed", "q⁻¹")))


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
    first, second = (
        [lab.worst(f"{name}, {n}", "energy") for n in ("every step", "every 1000", "never")]
        for name in ("as printed", "q⁻¹")
    )
    printed, right = (rarely / often for often, rarely, _ in (first, second))
    enough = 2.0  # times the error
    good = right < enough and second[0] < 4e-7
    return holds_if(printed < enough, *first, *second, printed, right, corrected=good)


def sign(lab: Laboratory) -> Measured:
    return below(1e-15, lab.worst("q⁻¹, every step", "length"))
