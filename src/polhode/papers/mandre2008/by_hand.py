"""The formulas of Mandre (2008) for numbers of any kind, from the page, without the library.

Vectors and quaternions (scalar first) are arrays of floats, fractions or series.  Where the page
has a misprint or leaves a choice, an argument chooses the reading, so that both can be measured.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import cos, sin
from typing import Any

import numpy as np

from polhode.papers.quaternions import Array, conjugate, cross, product, pure, times

Torque = Callable[[Any, Array, Array], Array]  # (t, q, ω), in body axes
fractions = np.vectorize(Fraction, otypes=[object])  # an array of numbers without rounding


def dot(a: Array, b: Array) -> Any:
    """a·b."""
    return (a * b).sum()


# ---- quaternions, sections 4 and 6
def rotate(q: Array, v: Array) -> Array:
    """q v q̄, section 4."""
    return times(q, pure(v), conjugate(q))[..., 1:]


def rate_of(q: Array, omega: Array) -> Array:
    """q̇ = q ω/2."""
    return product(q, pure(omega)) / 2


Back = Callable[[Array], Array]


def omega_of(q: Array, qd: Array, back: Back = conjugate) -> Array:
    """ω = 2 q̄ q̇ (``back=inverse``: 2 q⁻¹ q̇)."""
    return 2 * product(back(q), qd)[1:]


def second_derivative(
    q: Array, qd: Array, tau: Array, tensor: Array, inverse_tensor: Array, back: Back = conjugate
) -> Array:
    """q̈ of section 6."""
    u = product(back(q), qd)
    bracket = tau - 4 * cross(u[1:], tensor @ u[1:])
    return product(qd, u) + product(q, pure(inverse_tensor @ bracket)) / 2


# ---- Nyström's formulas, sections 5 and 6
Acceleration = Callable[[Any, Array, Array], Array]  # (t, y, ẏ)


def nystrom(
    t: Any, h: Any, y: Array, yd: Array, g: Acceleration, second: bool = False
) -> tuple[Array, Array]:
    """(y₁, ẏ₁) of ÿ = g; ``second`` uses k₂ instead of k₁ in the argument y of k₃."""
    k1 = g(t, y, yd)
    middle = y + h / 2 * yd + h * h / 8 * k1
    k2 = g(t + h / 2, middle, yd + h / 2 * k1)
    if second:
        middle = y + h / 2 * yd + h * h / 8 * k2
    k3 = g(t + h / 2, middle, yd + h / 2 * k2)
    k4 = g(t + h, y + h * yd + h * h / 2 * k3, yd + h * k3)
    w = h * h / 6
    return (
        y + h * yd + w * k1 + w * k2 + w * k3,
        yd + h / 6 * k1 + h / 3 * k2 + h / 3 * k3 + h / 6 * k4,
    )


def spin_step(
    t: Any,
    h: Any,
    q: Array,
    omega: Array,
    torque: Torque,
    moments: Sequence[Any],
    back: Back = conjugate,
) -> tuple[Array, Array]:
    """(q₁, ω₁) of a step of section 6, as printed with ``back=conjugate``; not normalised."""
    tensors = np.diag(moments), np.diag([1 / i for i in moments])

    def g(t: Any, q: Array, qd: Array) -> Array:
        tau = torque(t, q, omega_of(q, qd, back))
        return second_derivative(q, qd, tau, *tensors, back)

    q, qd = nystrom(t, h, q, rate_of(q, omega), g)
    return q, omega_of(q, qd, back)


def normalise(q: Array) -> Array:
    """sgn(q) = q/|q|."""
    return q / dot(q, q) ** 0.5


# ---- 7.1: the cubic
def cubic(tensor: Any) -> tuple[Any, Any, Any, Any]:
    """(a, b, c, d) of |I - λ1| = aλ³ + bλ² + cλ + d."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor
    return (
        -1,
        xx + yy + zz,
        xy**2 + xz**2 + yz**2 - xx * yy - xx * zz - yy * zz,
        xx * yy * zz + 2 * xy * xz * yz - xx * yz**2 - yy * xz**2 - zz * xy**2,
    )


# ---- 7.3: extrapolation from the starts of the last three steps
def extrapolate(values: Sequence[Any], x: Any) -> Any:
    """Return the value x steps after the last of (a, b, c), from as many of them as are given."""
    if len(values) == 1:
        return values[0]
    if len(values) == 2:
        b, c = values
        return c + x * (c - b)
    a, b, c = values
    return a * (x + 1) * x / 2 - b * (x + 2) * x + c * (x + 2) * (x + 1) / 2


# ---- 7.7: ways to turn a quaternion by a given ω
def euler(q: Array, h: Any, rates: Array) -> Array:
    """q + h q̇, with the first of the rates at the start, the middle and the end of the step."""
    return q + h * rate_of(q, rates[0])


def runge_kutta(q: Array, h: Any, rates: Array) -> Array:
    """RK4 for q̇ = q ω/2."""
    begin, middle, end = rates
    k1 = rate_of(q, begin)
    k2 = rate_of(q + h / 2 * k1, middle)
    k3 = rate_of(q + h / 2 * k2, middle)
    k4 = rate_of(q + h * k3, end)
    return q + h / 6 * k1 + h / 3 * k2 + h / 3 * k3 + h / 6 * k4


def whitmore(q: Array, h: Any, rates: Array) -> Array:
    """NASA's method: a turn about the mean of the rates at both ends of the step."""
    mean = 0.5 * rates[0] + 0.5 * rates[2]
    size = dot(mean, mean) ** 0.5
    half = h * size / 2
    share = sin(half) / size if size else h / 2
    return product(q, np.array([cos(half), *(share * mean)]))
