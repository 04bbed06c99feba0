"""Motions in closed form: an attitude and its angular velocity as functions of time.

    about(axis, angle, speed)         a turn about a fixed axis by an angle that is a function of t
    by_vector(vector, slope)          the rotation exp(θ(t)), from θ and its derivative
    a * b,  a.turned_by(b)            products R_a R_b, and R_b R_a R_b⁻¹: the axis of a turned by b

Each knows its angular velocity, and so do all products of them (Boyle 2017, section VI.A):

    ω(R_a R_b) = ω_a + R_a ω_b R_a⁻¹,    ω(R⁻¹) = -R⁻¹ ω R                              (1)
    ω(exp θ) = dexp_θ θ'                                                                (2)

so that very complicated motions and their rates are known exactly: test cases for integrators.  ω
is in inertial axes, ``body_omega`` in body axes.  Attitudes are quaternions (w, x, y, z), body to
inertial, continuous in t.

``PRECESSING_BINARY`` is Boyle's binary, (26) and (27).  The rotation vectors of the four examples
of Zupan & Saje that he used as well stood in the titles of figures that are lost; ``ZUPAN_SAJE``
are stand-ins of the same character.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

from polhode.errors import InputError
from polhode.kernels.quaternion import conjugate, product, to_body, to_inertial
from polhode.kernels.so3 import dexp, exp
from polhode.kernels.vector import add, multiply

Function = Callable[[float], float]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class Turning:
    """A motion: ``attitude(t)``, and ``omega(t)`` in inertial axes.

    >>> from polhode.turning import about
    >>> spin = about((0, 0, 1), lambda t: 5 * t, lambda t: 5.0)
    >>> cone = about((1, 0, 0), lambda t: 0.3, lambda t: 0.0)
    >>> top = cone.turned_by(about((0, 0, 1), lambda t: t, lambda t: 1.0)) * spin
    >>> [round(x, 12) for x in top.omega(0.0)]
    [0.0, -1.182080826645, 4.821345956502]
    """

    attitude: Callable[[float], Quaternion]
    omega: Callable[[float], Vector]

    def __mul__(self, other: "Turning") -> "Turning":
        if not isinstance(other, Turning):
            return NotImplemented
        q, omega, other_q, other_omega = self.attitude, self.omega, other.attitude, other.omega

        def attitude(t):
            return product(q(t), other_q(t))

        def rate(t):
            return add(omega(t), to_inertial(q(t), other_omega(t)))  # (1)

        return Turning(attitude, rate)

    @property
    def inverse(self) -> "Turning":
        q, omega = self.attitude, self.omega

        def attitude(t):
            return conjugate(q(t))

        def rate(t):
            return multiply(-1.0, to_body(q(t), omega(t)))  # (1)

        return Turning(attitude, rate)

    @property
    def body_omega(self) -> Callable[[float], Vector]:
        """The angular velocity in body axes."""
        q, omega = self.attitude, self.omega

        def rate(t):
            return to_body(q(t), omega(t))

        return rate

    def turned_by(self, other: "Turning") -> "Turning":
        """The motion whose axes are turned by another: R_b R_a R_b⁻¹."""
        return other * self * other.inverse


# ---- simple ones
def about(axis, angle: Function, speed: Function) -> Turning:
    """A turn about a fixed ``axis`` of any length by ``angle(t)``, with the slope ``speed(t)``."""
    length = sqrt(sum(float(x) ** 2 for x in axis))
    if len(axis) != 3 or not 0 < length < float("inf"):
        raise InputError(f"axis must be three finite numbers that are not all 0, got {axis!r}")
    n1, n2, n3 = (float(x) / length for x in axis)

    def attitude(t):
        half = 0.5 * angle(t)
        s = sin(half)
        return cos(half), s * n1, s * n2, s * n3

    def omega(t):
        f = speed(t)
        return f * n1, f * n2, f * n3

    return Turning(attitude, omega)


def by_vector(vector: Callable[[float], Vector], slope: Callable[[float], Vector]) -> Turning:
    """Return the rotation by the rotation vector ``vector(t)``, whose derivative is ``slope``."""

    def attitude(t):
        return exp(vector(t))

    def omega(t):
        return dexp(vector(t), slope(t))  # (2)

    return Turning(attitude, omega)


# ---- Boyle's binary
ORBIT, PRECESSION = 2 * pi / 1000, 2 * pi / 10000  # (27a), (27b)
CONE = pi / 8  # (27c)
OPENING = 2 * CONE / 100000  # (27d)
NUTATION = pi / 80  # (27e)
TILT = -0.6 * CONE  # the angle of (27f)
COS_TILT, SIN_TILT = cos(TILT), sin(TILT)
COS_NUTATION, SIN_NUTATION = cos(NUTATION), sin(NUTATION)
NUTATION_VERSINE = 2 * sin(NUTATION / 2) ** 2  # 1 - cos, without cancellation
HALF_COS_TILT, HALF_SIN_TILT = cos(TILT / 2), sin(TILT / 2)
HALF_COS_NUTATION, HALF_SIN_NUTATION = cos(NUTATION / 2), sin(NUTATION / 2)


def binary_attitude(t):
    """(26): R₀ (R₁ R₄ R₁⁻¹) (R₃ R₂ R₃⁻¹) R₁, the two products in brackets written out."""
    orbit, precession, half = ORBIT * t, PRECESSION * t, 0.5 * (CONE + OPENING * t)
    nutation = (
        HALF_COS_NUTATION,
        HALF_SIN_NUTATION * cos(orbit),
        HALF_SIN_NUTATION * sin(orbit),
        0.0,
    )
    s = sin(half)
    cone = cos(half), s * cos(precession), s * sin(precession), 0.0
    spin = cos(0.5 * orbit), 0.0, 0.0, sin(0.5 * orbit)
    return product(product((HALF_COS_TILT, HALF_SIN_TILT, 0.0, 0.0), nutation), product(cone, spin))


def binary_omega(t):
    """(1) for (26), simplified by hand: three sines and three cosines.

    b is the rate of R₃ R₂ R₃⁻¹ R₁.  R₁ R₄ R₁⁻¹ turns it about n = (cos Ωt, sin Ωt, 0) by ν, and
    adds the rate of n; R₀ turns the sum about the first axis.
    """
    cf, sf = cos(ORBIT * t), sin(ORBIT * t)
    cp, sp = cos(PRECESSION * t), sin(PRECESSION * t)
    cone = CONE + OPENING * t
    f, g = ORBIT - PRECESSION, sin(cone)
    b1 = OPENING * cp + f * g * sp
    b2 = OPENING * sp - f * g * cp
    b3 = PRECESSION + f * cos(cone)
    along = (cf * b1 + sf * b2) * NUTATION_VERSINE
    rest = SIN_NUTATION * (b3 - ORBIT)
    x = COS_NUTATION * b1 + sf * rest + cf * along
    y = COS_NUTATION * b2 - cf * rest + sf * along
    z = COS_NUTATION * b3 + SIN_NUTATION * (cf * b2 - sf * b1) + ORBIT * NUTATION_VERSINE
    return x, COS_TILT * y - SIN_TILT * z, SIN_TILT * y + COS_TILT * z


PRECESSING_BINARY = Turning(binary_attitude, binary_omega)


# ---- the stand-ins
def regular(t):
    return 1.5 * cos(2.0 * t), 1.5 * sin(2.0 * t), 0.5 * sin(t)


def regular_slope(t):
    return -3.0 * sin(2.0 * t), 3.0 * cos(2.0 * t), 0.5 * cos(t)


ROOT2 = sqrt(2)


def vibrational(t):
    return 0.1 * sin(10.0 * t), 0.1 * sin(10.0 * ROOT2 * t), 0.1 * (cos(10.0 * t) - 1.0)


def vibrational_slope(t):
    return cos(10.0 * t), ROOT2 * cos(10.0 * ROOT2 * t), -sin(10.0 * t)


def strongly_vibrational(t):
    return 0.01 * sin(100.0 * t), 0.01 * (cos(100.0 * t) - 1.0), 0.01 * sin(73.0 * t)


def strongly_vibrational_slope(t):
    return cos(100.0 * t), -sin(100.0 * t), 0.73 * cos(73.0 * t)


def unbounded_attitude(t):
    """exp(θ), θ = t² n with the axis n = (cos t, sin t, 1)/√2, through the identity at t = 0."""
    half = 0.5 * t * t
    s = sin(half) / ROOT2
    return cos(half), s * cos(t), s * sin(t), s


def unbounded_omega(t):
    """(t²)' n + sin t² n' + (1 - cos t²) n × n': (2) would lose digits where t² is large."""
    c, s = cos(t), sin(t)
    a, b, d = sin(t * t) / ROOT2, 0.5 * (1.0 - cos(t * t)), ROOT2 * t
    return d * c - a * s - b * c, d * s + a * c - b * s, d + b


# name -> (motion, the span of time that Boyle's figures use)
ZUPAN_SAJE: dict[str, tuple[Turning, tuple[float, float]]] = {
    "regular": (by_vector(regular, regular_slope), (0.0, 100.0)),
    "vibrational": (by_vector(vibrational, vibrational_slope), (0.0, 50.0)),
    "strongly vibrational": (
        by_vector(strongly_vibrational, strongly_vibrational_slope),
        (0.0, 10.0),
    ),
    "unbounded": (Turning(unbounded_attitude, unbounded_omega), (0.0, 10.0)),
}
