"""Runge-Kutta-Nyström method of Mandre 2008, for quaternions and their second derivatives.

With ω = 2 q⁻¹ q', the rate in body axes, and its derivative by Euler's equations,

    q'' = q' q⁻¹ q' + q/2 [I⁻¹ (T - ω x I ω)]                                          (1)

and Nyström's formulas for y'' = g(t, y, y'), section 6 of the paper with y = q:

    k1 = g(t, y, y'),    k2, k3 = g(t + h/2, y + h/2 y' + h²/8 k1, y' + h/2 k1, k2)     (2)
    k4 = g(t + h, y + h y' + h²/2 k3, y' + h k3)                                       (3)
    y + h y' + h²/6 (k1 + k2 + k3),    y' + h/6 (k1 + 2 k2 + 2 k3 + k4)                 (4)

Fourth order, explicit; conserves nothing.  q is normalised after every step.

The paper has the conjugate for q⁻¹ and normalises q "every 1000 iterations".  The deviation of |q|²
from 1 then enters q' in each step, and the order is 3.

With six degrees of freedom y is q and x together, as in section 7.5: force and torque depend on
both at the same time.  With one of them held at its initial value in the step the order would be 1.

Options (``rkn4(…)``, or ``options=`` of ``solve``), from section 7 of the paper:

``normalise_every``   steps between normalisations of q, 0 for never.  Cost: a square root.
``keep_momentum``     7.2: ω = I⁻¹ (q⁻¹ L q) after every step, with the momentum L in inertial axes
                      at the start; for bodies without torque.  Cost: two rotations of a vector.
``gyroscopic``        7.6: False leaves out ω x I ω, as games do.  It saves a cross product and
                      changes the motion: a free body then turns at a constant rate.
``substeps``          7.4: divide each step into this many substeps, at as many times the cost.
``tolerance``         7.4: as many substeps as needed for the two halves of each to agree with
                      the whole to this tolerance, an angle in rad and |ω|, |x|, |v| relative.
                      Cost: 1.5 times that of the substeps; their number is carried over steps.
``as_printed``        with conjugates, and normalised every 1000 steps by default.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import sqrt
from typing import Any

from polhode.compiler.four import each
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind
from polhode.contracts import (
    Method,
    angular_velocity,
    inverse_mass,
    inverse_moments,
    mass,
    moments,
    torque,
    wrench,
)
from polhode.contracts.checks import whole
from polhode.errors import InputError
from polhode.kernels.quaternion import (
    conjugate,
    half_rate,
    hamilton,
    to_body,
    to_inertial,
    to_unit_length,
)
from polhode.kernels.tuples import plus, times
from polhode.kernels.vector import cross, dot, multiply, scale, subtract

PAPER = 1000  # steps between normalisations in the paper
MOST = 4096  # substeps in a step
NAN = float("nan")
SPARE = 32.0  # an error smaller by this factor allows half as many substeps


# ---- q, its inverse, and (1)
def inverse(q):
    w, x, y, z = q
    f = 1.0 / fma(w, w, fma(x, x, fma(y, y, z * z)))
    return f * w, -f * x, -f * y, -f * z


def gyroscopic_torque(omega, m):
    return cross(omega, m)


def no_torque(omega, m):
    return 0.0, 0.0, 0.0


def spin(q, qd, body):
    """Return (q⁻¹ q', ω, I ω)."""
    u = hamilton(inverse(q), qd)
    omega = 2.0 * u[1], 2.0 * u[2], 2.0 * u[3]
    return u, omega, scale(moments(body), omega)


def turning(q, qd, u, omega, m, n, body):
    """Return q'' of (1) for the torque n."""
    rate = multiply(0.5, scale(inverse_moments(body), subtract(n, gyroscopic_torque(omega, m))))
    return each(plus, (hamilton(qd, u), half_rate(q, rate)))


# ---- rotation: y = q
def spinning(t, y, yd, body, params):
    u, omega, m = spin(y, yd, body)
    return turning(y, yd, u, omega, m, torque(t, y, m, body, params), body)


def entered(state, body):
    """Return (y, y') of a state."""
    q, m = state
    return q, half_rate(q, multiply(0.5, angular_velocity(m, body)))


def left(y, yd, body):
    """Return (q, m) of (y, y'); q is not yet normalised."""
    _, _, m = spin(y, yd, body)
    return y, m


# ---- six degrees of freedom: y = (q, x)
def flying(t, y, yd, body, params):
    q, qd = y[:4], yd[:4]
    u, omega, m = spin(q, qd, body)
    n, f = wrench(t, q, m, y[4:], multiply(mass(body), yd[4:]), body, params)
    return (*turning(q, qd, u, omega, m, n, body), *multiply(inverse_mass(body), f))


def entered_with_place(state, body):
    q, m, x, p = state
    qd = half_rate(q, multiply(0.5, angular_velocity(m, body)))
    return (*q, *x), (*qd, *multiply(inverse_mass(body), p))


def left_with_place(y, yd, body):
    _, _, m = spin(y[:4], yd[:4], body)
    return y[:4], m, y[4:], multiply(mass(body), yd[4:])


# ---- Nyström's formulas
def nystrom(t, h, y, yd, g, body, params):
    """Take one step by (2) to (4)."""
    half, eighth = 0.5 * h, 0.125 * h * h
    k1 = g(t, y, yd, body, params)
    middle = each(fma, (eighth, k1, each(fma, (half, yd, y))))
    k2 = g(t + half, middle, each(fma, (half, k1, yd)), body, params)
    k3 = g(t + half, middle, each(fma, (half, k2, yd)), body, params)
    end = each(fma, (0.5 * h * h, k3, each(fma, (h, yd, y))))
    k4 = g(t + h, end, each(fma, (h, k3, yd)), body, params)
    inner = each(plus, (k2, k3))
    new = each(fma, (h * h / 6.0, each(plus, (k1, inner)), each(fma, (h, yd, y))))
    rate = each(fma, (h / 6.0, each(fma, (2.0, inner, each(plus, (k1, k4)))), yd))
    return new, rate


def stepped(t, h, state, body, params):
    """Take one step of Nyström's formulas; replaced if the body also moves."""
    y, yd = entered(state, body)
    y, yd = nystrom(t, h, y, yd, spinning, body, params)
    return left(y, yd, body)


def stepped_with_place(t, h, state, body, params):
    y, yd = entered_with_place(state, body)
    y, yd = nystrom(t, h, y, yd, flying, body, params)
    return left_with_place(y, yd, body)


# ---- after each step
def normalised(state, count):
    """Normalise q after ``count`` steps; replaced by ``normalise_every``."""
    return (to_unit_length(state[0]), *state[1:])


def seldom(every: int) -> Callable:
    interval = float(every)

    def normalised_seldom(state, count):
        if (count + 1.0) % interval == 0.0:
            return normalised(state, count)
        return state

    return normalised_seldom


def never(state, count):
    return state


def momentum(state):
    """Return the momentum to carry: none; replaced by ``keep_momentum``."""
    return ()


def momentum_inertial(state):
    return to_inertial(to_unit_length(state[0]), state[1])


def held(state, level):
    """Return the state with the carried momentum; replaced by ``keep_momentum``."""
    return state


def held_momentum(state, level):
    return (state[0], to_body(to_unit_length(state[0]), level), *state[2:])


# ---- whole steps
def step(t, h, state, carry, body, params):
    return normalised(stepped(t, h, state, body, params), 0.0), carry


# ---- with options; carried: (steps so far, momentum in inertial axes, substeps, evaluations)
def counted_start(t, h, state, body, params):
    return 0.0, momentum(state), 1.0, 0.0


def counted(t, h, state, carry, body, params):
    count, level, n, evaluations = carry
    state = held(normalised(stepped(t, h, state, body, params), count), level)
    return state, (count + 1.0, level, n, evaluations + 4.0)


def repeated(n, t, h, state, carry, body, params):
    """Take n substeps instead of one step."""
    part = h / n
    for i in range(n):
        state, carry = counted(t + i * part, part, state, carry, body, params)
    return state, carry


def dividing(substeps: int) -> Callable:
    def step(t, h, state, carry, body, params):
        return repeated(substeps, t, h, state, carry, body, params)

    return step


def refining(tolerance: float) -> Callable:
    def step(t, h, state, carry, body, params):
        n = carry[2]
        coarse, _ = repeated(int(n), t, h, state, carry, body, params)
        fine, kept = repeated(int(2.0 * n), t, h, state, carry, body, params)
        spent, error = 3.0 * n, apart(coarse, fine, body)
        while not error <= tolerance and n < MOST:  # NaN: refine further
            n = 2.0 * n
            coarse = fine
            fine, kept = repeated(int(2.0 * n), t, h, state, carry, body, params)
            spent, error = spent + 2.0 * n, apart(coarse, fine, body)
        good = 1.0 if error <= tolerance else NAN
        n = 0.5 * n if SPARE * error < tolerance and n > 1.0 else n
        fine = (each(times, (good, fine[0])), *fine[1:])
        return fine, (kept[0], kept[1], n, carry[3] + 4.0 * spent)

    return step


def evaluations(carry: tuple) -> int:
    """Return the number of evaluations, from the final carry."""
    return int(carry[3])


def apart(state, other, body):
    """Estimate the error of ``other``, with twice the substeps; replaced if the body also moves."""
    turn = hamilton(conjugate(state[0]), other[0])
    angle = 2.0 * length(turn[1:])
    return max(angle, relative(state[1], other[1])) / 15.0


def apart_with_place(state, other, body):
    i1, i2, i3 = moments(body)
    reach = sqrt(0.5 * inverse_mass(body) * (i1 + i2 + i3))  # radius of gyration
    x = length(subtract(state[2], other[2])) / max(length(other[2]), reach)
    p = relative(state[3], other[3])
    return max(max(x, p) / 15.0, apart(state, other, body))


def length(v):
    return sqrt(dot(v, v))


def relative(a, b):
    return length(subtract(a, b)) / (length(b) + 1e-300)


# ---- the record
@cache
def rkn4(
    *,
    normalise_every: int | None = None,
    keep_momentum: bool = False,
    gyroscopic: bool = True,
    substeps: int = 1,
    tolerance: float | None = None,
    as_printed: bool = False,
) -> Method:
    """Make the method with options; see the top of this file.

    Examples
    --------
    >>> import polhode as ph
    >>> loose = {"normalise_every": 100, "tolerance": 1e-6}
    >>> run = ph.solve(ph.problems.fast_top(), (0, 1), method="rkn4", dt=0.05, options=loose)
    >>> run.success
    True
    """
    if normalise_every is None:
        normalise_every = PAPER if as_printed else 1
    every, parts = whole(normalise_every, "normalise_every", 0), whole(substeps, "substeps", 1)
    if tolerance is not None:
        if not 1e-13 <= float(tolerance) < 1.0:
            raise InputError(f"tolerance must be between 1e-13 and 1, got {tolerance!r}")
        if parts != 1:
            raise InputError("give substeps or tolerance, not both")
    meanings: dict[Callable, Callable] = {}
    if as_printed:
        meanings[inverse] = conjugate
    if not gyroscopic:
        meanings[gyroscopic_torque] = no_torque
    if every != 1:
        meanings[normalised] = seldom(every) if every else never
    if keep_momentum:
        meanings |= {momentum: momentum_inertial, held: held_momentum}
    plain = every == 1 and not keep_momentum and parts == 1 and tolerance is None
    if plain:
        stepping: Callable = step
    else:
        stepping = dividing(parts) if tolerance is None else refining(float(tolerance))
    settings: dict[str, Any] = {
        "name": "rkn4",
        "title": "Runge-Kutta-Nyström method for quaternions",
        "order": 3 if as_printed and every != 1 else 4,
        "symmetric": False,
        "keeps_unit": every == 1,
        "free_only": bool(keep_momentum),
        "torques_per_step": 4 * parts,
        "references": ("mandre2008",),
        "step": bind(stepping, meanings),
        "options": rkn4,
    }
    if not plain:
        settings["start"] = bind(counted_start, meanings)
        settings["evaluations"] = evaluations
    with_place = {stepped: bind(stepped_with_place, meanings), apart: apart_with_place}
    motion = replace(Method(**settings), step=bind(stepping, meanings | with_place))
    return Method(**settings, motion=motion)


PLACE = 300
METHOD = rkn4()
