"""A rigid triaxial Earth and Moon on simple orbits: model problems for Fukushima's scheme.

The paper does not give its orbits; these are ours, and every number is a float as written here.
The unit of time is the nominal rotation (a mean sidereal day, a mean sidereal month), C = 1, and
the inertial axes are those of the ecliptic.  At t = 0 the body axes are those of the equator, and
the momentum is (L_A, L_B, W), with W the float nearest to 2 pi.  With mean longitudes l = l₀ + n t,
and ϖ and Ω alike, reduced without rounding (``kernels/angles``),

    Sun:   M = l - ϖ,    λ = l + 2 e sin M,    d = (cos λ, sin λ, 0)                   (1)
    Moon:  M = l - ϖ,    u = l - Ω + 2 e sin M + 5/4 e² sin 2M                         (2)
           d at the argument of latitude u of an orbit with the node Ω, inclined by i
    k = K (1 + e cos M)³,    T = k (Rᵀd) x I (Rᵀd),    summed over both                (3)

For the Moon's own rotation (2) is the direction of the Earth, or its opposite, because T is even.
"""

import csv
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import cos, pi, sin, sqrt
from pathlib import Path

from polhode.body import RigidBody
from polhode.contracts import Model, moments, numbers
from polhode.kernels.angles import reduced_angle
from polhode.kernels.quaternion import to_body
from polhode.kernels.vector import add, dot, scale
from polhode.models.gravity_gradient import turning
from polhode.problems.problem import Problem

TRUTH = Path(__file__).with_suffix(".csv")  # made by design/model_orbits.py, with 113 bits
W = 2 * pi
E_SUN, E_MOON, I_MOON, PERI_SUN = 0.01670862, 0.0549, 0.0897980, 4.938188
YEAR, NODE, PERIGEE = 365.256363, 6798.383, 3232.605  # days
MONTH, SIDEREAL_DAY = 27.321661547, 0.99726966323716  # days
MU = 81.3005690699153  # mass of the Earth over that of the Moon


def sun(t, orbit):
    """Return (k, d) of (1) and (3)."""
    strength, e, l0, n, perihelion = orbit
    mean = reduced_angle(l0, n, t)
    anomaly = mean - perihelion
    near = 1.0 + e * cos(anomaly)
    longitude = mean + 2.0 * e * sin(anomaly)
    return strength * (near * near * near), (cos(longitude), sin(longitude), 0.0)


def moon(t, orbit):
    """Return (k, d) of (2) and (3)."""
    strength, e, tilt, (l0, n), (perigee0, perigee_rate), (node0, node_rate) = orbit
    mean, node = reduced_angle(l0, n, t), reduced_angle(node0, node_rate, t)
    anomaly = mean - reduced_angle(perigee0, perigee_rate, t)
    s, c = sin(anomaly), cos(anomaly)
    near = 1.0 + e * c
    latitude = (mean - node) + e * s * (2.0 + 2.5 * e * c)
    x, y = cos(latitude), sin(latitude)
    a, b = cos(node), sin(node)
    z = y * sin(tilt)
    y = y * cos(tilt)
    return strength * (near * near * near), (a * x - b * y, b * x + a * y, z)


def torque(t, q, m, body, params):
    first, second = numbers(params)
    (f, d), (g, e), inertia = sun(t, first), moon(t, second), moments(body)
    return add(turning(f, to_body(q, d), inertia), turning(g, to_body(q, e), inertia))  # (3)


def potential(t, q, body, params):
    first, second = numbers(params)
    (f, d), (g, e), inertia = sun(t, first), moon(t, second), moments(body)
    u, v = to_body(q, d), to_body(q, e)
    return 0.5 * (f * dot(u, scale(inertia, u)) + g * dot(v, scale(inertia, v)))


def _problem(name, inertia, tilt, momentum, sun_numbers, moon_numbers) -> Problem:
    model = Model(
        name="model_orbits",
        torque=torque,
        potential=potential,
        names=("sun", "moon"),
        numbers=(sun_numbers, moon_numbers),
        references=("fukushima1995",),
    )
    half = 0.5 * tilt
    return Problem(
        RigidBody(inertia),
        model,
        attitude=(cos(half), -sin(half), 0.0, 0.0),  # e_z to (0, sin, cos) of the tilt
        scalar_first=True,
        angular_momentum=(*momentum, W),
        name=name,
    )


def rigid_earth_model() -> Problem:
    """Return a rigid Earth turned by Sun and Moon; the unit of time is a sidereal day.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.solve(ph.celestial.rigid_earth_model(), (0, 1), rtol=1e-9).success  # a sidereal day
    True
    """
    h, t = 0.0032737875, 2.1961e-05
    n_sun, n_moon = 2 * pi / YEAR * SIDEREAL_DAY, 2 * pi / MONTH * SIDEREAL_DAY
    return _problem(
        "rigid-earth-model",
        (1 - h - 0.5 * t, 1 - h + 0.5 * t, 1.0),
        0.40909280422232897,
        (6.0e-06, -4.2e-06),
        (3 * n_sun**2 / (1 + 3.04043264e-6), E_SUN, 4.895063, n_sun, PERI_SUN),
        (
            3 * n_moon**2 / (1 + MU), E_MOON, I_MOON,
            (3.810344, n_moon),
            (1.454788, 2 * pi / PERIGEE * SIDEREAL_DAY),
            (2.182439, -2 * pi / NODE * SIDEREAL_DAY),
        ),
    )  # fmt: skip


def rigid_moon_model() -> Problem:
    """Return a rigid Moon turned by Earth and Sun; the unit of time is a sidereal month.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.solve(ph.celestial.rigid_moon_model(), (0, 1), rtol=1e-9).success  # a sidereal month
    True
    """
    beta, gamma = 0.0006310022025364629, 0.0002277305314199142
    n_sun = 2 * pi * MONTH / YEAR
    return _problem(
        "rigid-moon-model",
        ((1 - beta * gamma) / (1 + beta), (1 + gamma) / (1 + beta), 1.0),
        0.02692,
        (1.0e-4, -0.7e-4),
        (3 * n_sun**2, E_SUN, 4.895063, n_sun, PERI_SUN),
        (
            3 * W**2 * MU / (1 + MU), E_MOON, I_MOON,
            (0.0, W),
            (1.454788, 2 * pi / PERIGEE * MONTH),
            (0.0, -2 * pi / NODE * MONTH),
        ),
    )  # fmt: skip


# ---- the reference
@cache
def truth(name: str) -> dict[int, tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """Revolutions -> (attitude, momentum in body axes) of the problem of that name."""
    with TRUTH.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[0] == name]
    return {
        int(row[1]): (tuple(map(Fraction, row[2:6])), tuple(map(Fraction, row[6:]))) for row in rows
    }


def orientation_error(q: Sequence[float], right: Sequence[Fraction]) -> float:
    """Return the angle between attitudes, the second given with many digits."""
    w, x, y, z = (Fraction(float(number)) for number in q)
    a, b, c, d = right
    apart = (
        w * b - x * a - y * d + z * c,
        w * c - y * a - z * b + x * d,
        w * d - z * a - x * c + y * b,
    )
    return 2.0 * sqrt(sum(float(number) ** 2 for number in apart))
