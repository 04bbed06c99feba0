"""The gravity gradient of a distant point mass (Celledoni & Säfström 2006, section 4.3).

With u = Rᵀ d, the direction d to the mass in body axes, and the principal moments I,

    V = 3 mu/(2 r³) u·I u,    T = 3 mu/r³ u x I u                                      (1)

mu is the mass times the gravitational constant, r its distance.  V omits what does not depend on
the attitude.  The direction is fixed in inertial axes, as in the paper, or follows a circular
orbit in the plane of x and y, from x at t = 0:

    d = (cos n t, sin n t, 0),    n² = mu/r³                                           (2)

or one of Kepler's in that plane, from periapsis on x at t = 0, with the semi-major axis a for r in
n and the eccentricity e (Wisdom, Peale & Mignard 1984); E is the eccentric anomaly:

    E - e sin E = n t,    r = a (1 - e cos E)                                          (3)
    d = (cos E - e, √(1 - e²) sin E, 0) a/r                                            (4)

Then V depends on time, and the energy is not constant.
"""

from collections.abc import Callable, Sequence
from math import cos, sin, sqrt
from typing import Any

from polhode.contracts import Model, moments, numbers
from polhode.contracts.checks import not_negative, positive, unit
from polhode.errors import InputError
from polhode.kernels.kepler import MOST, eccentric_anomaly
from polhode.kernels.quaternion import to_body
from polhode.kernels.vector import dot, multiply, scale


def turning(f, u, inertia):
    """f u x I u, which vanishes exactly about an axis of symmetry."""
    (u1, u2, u3), (i1, i2, i3) = u, inertia
    return multiply(f, ((i3 - i2) * (u2 * u3), (i1 - i3) * (u3 * u1), (i2 - i1) * (u1 * u2)))


def torque(t, q, m, body, params):
    mu, r, direction = numbers(params)
    return turning(3.0 * mu / (r * r * r), to_body(q, direction), moments(body))  # (1)


def potential(t, q, body, params):
    mu, r, direction = numbers(params)
    u = to_body(q, direction)
    return 1.5 * mu / (r * r * r) * dot(u, scale(moments(body), u))


# ---- a circular orbit
def square_of_rate(params):
    """n² = mu/r³."""
    mu, r = numbers(params)
    return mu / (r * r * r)


def in_orbit(t, q, n2):
    """u, with d of (2)."""
    angle = sqrt(n2) * t
    return to_body(q, (cos(angle), sin(angle), 0.0))


def orbit_torque(t, q, m, body, params):
    n2 = square_of_rate(params)
    return turning(3.0 * n2, in_orbit(t, q, n2), moments(body))  # (1)


def orbit_potential(t, q, body, params):
    n2 = square_of_rate(params)
    u = in_orbit(t, q, n2)
    return 1.5 * n2 * dot(u, scale(moments(body), u))


# ---- an orbit of Kepler's
def in_ellipse(t, q, params):
    """(mu/r³, u), with d of (4)."""
    mu, a, e = numbers(params)
    n2 = mu / (a * a * a)
    anomaly = eccentric_anomaly(sqrt(n2) * t, e)
    c, s = cos(anomaly), sin(anomaly)
    f = 1.0 / (1.0 - e * c)  # a/r
    d = f * (c - e), f * sqrt(1.0 - e * e) * s, 0.0
    return n2 * (f * f * f), to_body(q, d)


def ellipse_torque(t, q, m, body, params):
    f, u = in_ellipse(t, q, params)
    return turning(3.0 * f, u, moments(body))  # (1)


def ellipse_potential(t, q, body, params):
    f, u = in_ellipse(t, q, params)
    return 1.5 * f * dot(u, scale(moments(body), u))


def gravity_gradient(
    mu: float,
    r: float,
    direction: Sequence[float] | str = (0.0, 0.0, 1.0),
    eccentricity: float | None = None,
) -> Model:
    """The torque of a point mass with ``mu`` (m³/s², mass times G) at the distance ``r`` (m).

    ``direction`` is three numbers in inertial axes, of any length, or ``"orbit"``: the body is on a
    circular orbit in the plane of x and y, and the direction to the mass turns with it.  With an
    ``eccentricity`` the orbit is an ellipse, ``r`` its semi-major axis, and the body passes
    periapsis, on the axis x, at t = 0.
    """
    mu, r = positive(mu, "mu"), positive(r, "r")
    functions: tuple[Callable, Callable] = torque, potential
    own: dict[str, Any] = {}
    references: tuple[str, ...] = ("celledoni2006",)
    if not isinstance(direction, str):
        if eccentricity is not None:
            raise InputError(f"eccentricity is for direction='orbit', got {direction!r}")
        own["direction"] = unit(direction, "direction")
    elif direction != "orbit":
        raise InputError(f"direction must be three numbers or 'orbit', got {direction!r}")
    elif eccentricity is None:
        functions = orbit_torque, orbit_potential
    else:
        functions, references = (ellipse_torque, ellipse_potential), ("wisdom1984", "danby1983")
        own["eccentricity"] = e = not_negative(eccentricity, "eccentricity")
        if e > MOST:
            raise InputError(f"eccentricity must be at most {MOST}, got {eccentricity!r}")
    return Model(
        name="gravity_gradient",
        torque=functions[0],
        potential=functions[1],
        names=("mu", "r", *own),
        numbers=(mu, r, *own.values()),
        references=references,
    )


PLACE = 40
EXAMPLES = (
    {"mu": 3.0, "r": 1.2},
    {"mu": 3.0, "r": 1.2, "direction": (1.0, -2.0, 3.0)},
    {"mu": 3.0, "r": 1.2, "direction": "orbit"},
    {"mu": 3.0, "r": 1.2, "direction": "orbit", "eccentricity": 0.4},
)
