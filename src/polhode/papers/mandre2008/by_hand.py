"""The formulas of Mandre (2008) for numbers of any kind, from the page, without the library.

Vectors and quaternions (scalar first) are tuples of floats, fractions or series, tensors are tuples
of rows.  Where the page has a misprint or leaves a choice, an argument chooses the reading, so that
both can be measured.
"""

from collections.abc import Callable, Sequence
from typing import Any

Numbers = tuple[Any, ...]
Rows = Sequence[Sequence[Any]]
Torque = Callable[[Any, Numbers, Numbers], Numbers]  # (t, q, ω), in body axes


# ---- vectors
def combine(*terms: tuple[Any, Numbers]) -> Numbers:
    """Return the sum of factor * vector over all terms."""
    return tuple(
        sum((f * v for f, v in zip((f for f, _ in terms), column, strict=True)), 0 * column[0])
        for column in zip(*(v for _, v in terms), strict=True)
    )


def dot(a: Numbers, b: Numbers) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0 * a[0])


def cross(a: Numbers, b: Numbers) -> Numbers:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def apply(tensor: Rows, v: Numbers) -> Numbers:
    return tuple(dot(tuple(row), v) for row in tensor)


def diagonal(moments: Sequence[Any]) -> tuple[Numbers, ...]:
    a, b, c = moments
    return (a, 0 * a, 0 * a), (0 * a, b, 0 * a), (0 * a, 0 * a, c)


# ---- quaternions, section 6
def grassmann(p: Numbers, q: Numbers) -> Numbers:
    a, v, b, w = p[0], p[1:], q[0], q[1:]
    return a * b - dot(v, w), *combine((a, w), (b, v), (1, cross(v, w)))


def conjugate(q: Numbers) -> Numbers:
    return q[0], -q[1], -q[2], -q[3]


def inverse(q: Numbers) -> Numbers:
    size = dot(q, q)
    return tuple(x / size for x in conjugate(q))


def pure(v: Numbers) -> Numbers:
    return 0 * v[0], *v


def rotate(q: Numbers, v: Numbers) -> Numbers:
    """q v q̄, section 4."""
    return grassmann(grassmann(q, pure(v)), conjugate(q))[1:]


def rate_of(q: Numbers, omega: Numbers) -> Numbers:
    """q̇ = q ω/2."""
    return tuple(x / 2 for x in grassmann(q, pure(omega)))


Back = Callable[[Numbers], Numbers]


def omega_of(q: Numbers, qd: Numbers, back: Back = conjugate) -> Numbers:
    """ω = 2 q̄ q̇ (``back=inverse``: 2 q⁻¹ q̇)."""
    return tuple(2 * x for x in grassmann(back(q), qd)[1:])


def second_derivative(
    q: Numbers,
    qd: Numbers,
    tau: Numbers,
    tensor: Rows,
    inverse_tensor: Rows,
    back: Back = conjugate,
    gyroscopic: bool = True,
) -> Numbers:
    """q̈ of section 6; without the gyroscopic term that of 7.6."""
    u = grassmann(back(q), qd)
    bracket = tau
    if gyroscopic:
        bracket = combine((1, tau), (-4, cross(u[1:], apply(tensor, u[1:]))))
    turning = grassmann(q, pure(apply(inverse_tensor, bracket)))
    return tuple(x + y / 2 for x, y in zip(grassmann(qd, u), turning, strict=True))


# ---- Nyström's formulas, sections 5 and 6
Acceleration = Callable[[Any, Numbers, Numbers], Numbers]  # (t, y, ẏ)


def nystrom(
    t: Any, h: Any, y: Numbers, yd: Numbers, g: Acceleration, second: bool = False
) -> tuple[Numbers, Numbers]:
    """(y₁, ẏ₁) of ÿ = g; ``second`` uses k₂ instead of k₁ in the argument y of k₃."""
    k1 = g(t, y, yd)
    middle = combine((1, y), (h / 2, yd), (h * h / 8, k1))
    k2 = g(t + h / 2, middle, combine((1, yd), (h / 2, k1)))
    if second:
        middle = combine((1, y), (h / 2, yd), (h * h / 8, k2))
    k3 = g(t + h / 2, middle, combine((1, yd), (h / 2, k2)))
    k4 = g(t + h, combine((1, y), (h, yd), (h * h / 2, k3)), combine((1, yd), (h, k3)))
    w = h * h / 6
    return (
        combine((1, y), (h, yd), (w, k1), (w, k2), (w, k3)),
        combine((1, yd), (h / 6, k1), (h / 3, k2), (h / 3, k3), (h / 6, k4)),
    )


def spin_step(
    t: Any,
    h: Any,
    q: Numbers,
    omega: Numbers,
    torque: Torque,
    moments: Sequence[Any],
    back: Back = conjugate,
    gyroscopic: bool = True,
) -> tuple[Numbers, Numbers]:
    """(q₁, ω₁) of a step of section 6, as printed with ``back=conjugate``; not normalised."""
    tensor, inverse_tensor = diagonal(moments), diagonal([1 / i for i in moments])

    def g(t: Any, q: Numbers, qd: Numbers) -> Numbers:
        tau = torque(t, q, omega_of(q, qd, back))
        return second_derivative(q, qd, tau, tensor, inverse_tensor, back, gyroscopic)

    q, qd = nystrom(t, h, q, rate_of(q, omega), g)
    return q, omega_of(q, qd, back)


def normalise(q: Numbers) -> Numbers:
    """sgn(q) = q/|q|."""
    size = dot(q, q) ** 0.5
    return tuple(x / size for x in q)


# ---- 7.1: the cubic
def cubic(tensor: Rows) -> tuple[Any, Any, Any, Any]:
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
def euler(q: Numbers, h: Any, rates: Sequence[Numbers]) -> Numbers:
    """q + h q̇, with the first of the rates at the start, the middle and the end of the step."""
    return combine((1, q), (h, rate_of(q, rates[0])))


def runge_kutta(q: Numbers, h: Any, rates: Sequence[Numbers]) -> Numbers:
    """RK4 for q̇ = q ω/2."""
    begin, middle, end = rates
    k1 = rate_of(q, begin)
    k2 = rate_of(combine((1, q), (h / 2, k1)), middle)
    k3 = rate_of(combine((1, q), (h / 2, k2)), middle)
    k4 = rate_of(combine((1, q), (h, k3)), end)
    return combine((1, q), (h / 6, k1), (h / 3, k2), (h / 3, k3), (h / 6, k4))


def whitmore(q: Numbers, h: Any, rates: Sequence[Numbers]) -> Numbers:
    """NASA's method: a turn about the mean of the rates at both ends of the step."""
    from math import cos, sin

    mean = combine((0.5, rates[0]), (0.5, rates[2]))
    size = dot(mean, mean) ** 0.5
    half = h * size / 2
    share = sin(half) / size if size else h / 2
    return grassmann(q, (cos(half), *(share * w for w in mean)))
