"""The Moon as a rigid body in the field of the Earth, the Sun and the planets of DE421.

The body axes are the Moon's principal axes, the inertial axes those of the ICRF; the time is TDB,
in seconds after the start.  The moments follow from DE421's β = (C - A)/B, γ = (B - A)/C, J2 and
the mass,

    A = C (1 - β γ)/(1 + β),  B = C (1 + γ)/(1 + β),  C = 2 J2 (1 + β)/(2 β - γ + β γ) M R²   (1)

The potential of a mass μ/G in the direction u and at the distance r from the Moon is
V = -μ M Σ Rⁿ/rⁿ⁺¹ H_n(u), with the harmonics H_n, P_n being Legendre's polynomials,

    H_n = Σ_m dᵐP_n/dzᵐ (C_nm Re + S_nm Im)(x + i y)ᵐ,    C_n0 = -J_n                  (2)

and its torque on the Moon is the same sum of

    T_n = -μ M Rⁿ/rⁿ⁺¹ u × ∇H_n,    T_2 = 3 μ/r³ u × I u                               (3)

The Earth is not a point either: its J2 acts on the moments I by (Folkner et al. 2014)

    T = 15 μ R_E² J2_E/(2 r⁵) ((1 - 7 s²) u × I u + 2 s (u × I p + p × I u) - 2/5 p × I p)    (4)

with its pole p and s = u·p.  In the Sun's field the Moon's local inertial axes turn by the
geodetic precession Ω, 19.2 mas a year about the pole of the ecliptic:  T = Ω × m.       (5)

The torque of the whole field on any other moments J follows from its gradient G,

    G = Σ 3 μ/r³ u uᵀ + 15 μ R_E² J2_E/(2 r⁵) ((1 - 7 s²) u uᵀ + 2 s (u pᵀ + p uᵀ) - 2/5 p pᵀ)
    T_x = (J G)_zy - (J G)_yz,   T_y = (J G)_xz - (J G)_zx,   T_z = (J G)_yx - (J G)_xy       (6)

If the fluid core does not turn along, the torques on the whole figure turn the mantle alone, with
the moments I - f C diag(1 - e, 1 - e, 1): ``mantle``.
"""

from typing import Any

import numpy as np

from polhode.celestial import field
from polhode.celestial.ephemeris import DAY, J2000, Ephemeris, julian_date, opened, series_at
from polhode.celestial.field import (
    ARCSECOND,
    NO_GRADIENT,
    Moments,
    differences,
    direction,
    turned_by_moments,
    with_product,
)
from polhode.compiler.machine import fma
from polhode.errors import InputError
from polhode.kernels.quaternion import to_body
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, scale
from polhode.problems.problem import Problem

PRECESSION = 2004.1919 * ARCSECOND / (36525.0 * DAY)  # of the Earth's pole towards x, rad/s
REFERENCES = "folkner2009", "folkner2014"


# ---- the figure of the Moon
def turned_by(q1, q2, q3, q4, c, u):
    """Return u × ∇H of (2), from the derivatives q of P_n at z, and c = (C_n0, (C_n1, S_n1), …)."""
    x, y, _ = u
    c0, (c1, s1), (c2, s2), (c3, s3), (c4, s4) = c
    x2, y2 = fma(x, x, -(y * y)), 2.0 * x * y
    x3, y3 = fma(x, x2, -(y * y2)), fma(x, y2, y * x2)
    q2x, q3x, q4x = 2.0 * q2, 3.0 * q3, 4.0 * q4
    gx = q1 * c1 + q2x * fma(c2, x, s2 * y) + q3x * fma(c3, x2, s3 * y2)
    gy = q1 * s1 + q2x * fma(s2, x, -(c2 * y)) + q3x * fma(s3, x2, -(c3 * y2))
    gz = q1 * c0 + q2 * fma(c1, x, s1 * y) + q3 * fma(c2, x2, s2 * y2)
    gx += q4x * fma(c4, x3, s4 * y3)
    gy += q4x * fma(s4, x3, -(c4 * y3))
    gz += q4 * fma(c3, x3, s3 * y3)
    return cross(u, (gx, gy, gz))


def turned_by3(c, u):
    """Return u × ∇H_3."""
    z = u[2]
    return turned_by(fma(7.5 * z, z, -1.5), 15.0 * z, 15.0, 0.0, c, u)


def turned_by4(c, u):
    """Return u × ∇H_4."""
    z = u[2]
    z2 = z * z
    return turned_by(fma(17.5, z2, -7.5) * z, fma(52.5, z2, -7.5), 105.0 * z, 105.0, c, u)


# ---- torques
def torque(t, q, m, body, params):
    """Return the torque of the Earth and the others on the undistorted Moon."""
    (_, gravities, _, _, oblate, rate), _ = params
    n, _ = pull(t, q, params, 0, PRECESSION, gravities, oblate[0])
    return add(n, cross(to_body(q, rate), m))  # (5)


def pull(t, q, params, reach, precession, others, strength):
    """Return (torque on the Moon's figure, gradient of the field); each series is read once.

    Bodies up to the series ``reach`` act on degrees 3 and 4, too; ``precession`` is the rate of the
    Earth's pole.  The gradient is that of (6) with the gravities ``others`` and the ``strength`` of
    the Earth's J2.
    """
    (clocks, gravities, share, figure, oblate, _), tables = params
    radius, differences, mass_area, c3, c4 = figure
    moon = pair = n = (0.0, 0.0, 0.0)
    gradient = NO_GRADIENT
    for k in range(len(tables)):
        s = series_at(t, clocks[k], tables[k])
        if k == 1:
            pair = s  # Earth and Moon together
            continue
        if k == 0:
            moon = s
            s = -s[0], -s[1], -s[2]
        else:
            s = add_scaled(add_scaled(s, -1.0, pair), -share, moon)
        u, r = direction(q, s)
        cube = r * r * r
        near = gravities[k] / cube
        n = add_scaled(n, 3.0 * near, turned_by_moments(differences, u))
        gradient = with_product(gradient, 3.0 * others[k] / cube, u, u)
        if k <= reach:
            ratio = radius / r
            f3 = -near * mass_area * ratio
            n = add_scaled(n, f3, turned_by3(c3, u))
            n = add_scaled(n, f3 * ratio, turned_by4(c4, u))  # (3)
        if k == 0:
            p = pole(t, q, oblate[1], precession)
            n = add(n, turned_by_oblate(u, r, p, oblate))
            gradient = with_oblate(gradient, u, p, strength / (cube * r * r))
    return n, gradient


def pole(t, q, begun, rate):
    """Return the Earth's pole in body axes, moving towards x in the ICRF at a rate."""
    return to_body(q, (rate * (begun + t), 0.0, 1.0))


def turned_by_oblate(u, r, p, oblate):
    """Return the torque of the Earth's J2."""
    strength, _, moments = oblate
    s = dot(u, p)
    iu, ip = scale(moments, u), scale(moments, p)
    n = multiply(fma(-7.0 * s, s, 1.0), cross(u, iu))
    n = add_scaled(n, 2.0 * s, add(cross(u, ip), cross(p, iu)))
    n = add_scaled(n, -0.4, cross(p, ip))
    return multiply(strength / (r * r * r * r * r), n)  # (4)


def with_oblate(gradient, u, p, f):
    """Return a gradient and that of the Earth's J2, of which (4) is the torque."""
    s = dot(u, p)
    gradient = with_product(gradient, f * fma(-7.0 * s, s, 1.0), u, u)
    gradient = with_product(gradient, 4.0 * f * s, u, p)
    return with_product(gradient, -0.4 * f, p, p)


# ---- constants
def moments(ephemeris: Ephemeris) -> Moments:
    """Return A, B, C of the whole, undistorted Moon in kg m²."""  # (1)
    c = ephemeris.constants
    beta, gamma = c["LBET"], c["LGAM"]
    polar = 2.0 * c["J2M"] * (1.0 + beta) / (2.0 * beta - gamma + beta * gamma)
    polar *= mass_area(ephemeris)
    return (
        polar * (1.0 - beta * gamma) / (1.0 + beta),
        polar * (1.0 + gamma) / (1.0 + beta),
        polar,
    )


def core_moments(ephemeris: Ephemeris) -> Moments:
    """Return the moments of the fluid core in kg m²."""
    c = ephemeris.constants
    polar = c["IFAC"] * moments(ephemeris)[2]
    return polar * (1.0 - c["COBLAT"]), polar * (1.0 - c["COBLAT"]), polar


def mass_area(ephemeris: Ephemeris) -> float:
    """Return M R² in kg m²."""
    return field.mass(ephemeris, "moon") * (1e3 * ephemeris.constants["AM"]) ** 2


def harmonics(ephemeris: Ephemeris, n: int) -> tuple:
    """Return (C_n0, (C_n1, S_n1), …) up to order 4, not normalised."""
    c = ephemeris.constants
    rows = [(c.get(f"C{n}{k}M", 0.0), c.get(f"S{n}{k}M", 0.0)) for k in range(1, 5)]
    return -c[f"J{n}M"], *rows


NO_HARMONICS = 0.0, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)


# ---- the problem
def moon(
    start: Any,
    *,
    degree: int = 4,
    sun: bool = True,
    planets: bool = False,
    oblateness: bool = False,
    geodetic: bool = False,
    mantle: bool = False,
    ephemeris: str = "de421",
) -> Problem:
    """Return the rotation of the Moon from a date on, with the start of DE421.

    The time of the problem is TDB, in seconds after ``start``; the body axes are the Moon's
    principal axes, the inertial axes those of the ICRF.  Needs the extra ``celestial``.

    Parameters
    ----------
    start : a date of TDB, "2000-01-01" or "2000-01-01T12:00", or a TDB Julian date, 1900 to 2200
    degree : 2, 3 or 4, the highest degree of the Moon's figure on which the Earth acts
    sun, planets : their torques on the figure of degree 2
    oblateness : the torque of the Earth's J2 on the figure of degree 2
    geodetic : the geodetic precession of the local inertial axes
    mantle : turn the mantle alone, as if the fluid core did not turn along
    ephemeris : de421, or the newer de422 or de423 if their packages are installed

    Examples
    --------
    >>> import polhode as ph
    >>> moon = ph.celestial.moon("2000-01-01")
    >>> days = 2 * 3.141592653589793 / float(moon.omega[2]) / 86400
    >>> 27.2 < days < 27.5  # of a turn
    True
    """
    source, begin = opened(ephemeris), julian_date(start)
    source.check(begin)
    if degree not in (2, 3, 4):
        raise InputError(f"degree must be 2, 3 or 4, got {degree!r}")
    c, whole, others = source.constants, moments(source), field.other_bodies(sun, planets)
    of_degree = {n: harmonics(source, n) if n <= degree else NO_HARMONICS for n in (3, 4)}
    strength = 7.5 * source.gravity("earth") * c["AE"] ** 2 * c["J2E"] if oblateness else 0.0
    parts = {
        "figure": (c["AM"], differences(whole), mass_area(source), *of_degree.values()),
        "oblateness": (strength, (begin - J2000) * DAY, whole),
    }
    model = field.model("moon", torque, source, begin, "earth", others, parts, geodetic, REFERENCES)
    inertia = np.array(whole) - core_moments(source) if mantle else np.array(whole)
    return field.problem(source, begin, inertia, model, state(source, begin))


def state(ephemeris: Ephemeris, start: float) -> tuple[Any, np.ndarray]:
    """Return (attitude, angular velocity in body axes) in DE421."""
    angles, rates = ephemeris.librations(start, 0.0)
    return attitudes(angles)[0], velocities(angles, rates)[0]


def attitudes(angles: np.ndarray) -> Any:
    """Return the rotations Rz(φ) Rx(θ) Rz(ψ) of rows of angles."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_euler("ZXZ", angles)


def velocities(angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return rows of the angular velocity in body axes, from φ, θ, ψ and their rates."""
    (_, theta, psi), (dphi, dtheta, dpsi) = angles.T, rates.T
    along = dphi * np.sin(theta)
    return np.stack(
        [
            along * np.sin(psi) + dtheta * np.cos(psi),
            along * np.cos(psi) - dtheta * np.sin(psi),
            dphi * np.cos(theta) + dpsi,
        ],
        axis=1,
    )


def moon_residuals(run: Any, start: Any, ephemeris: str = "de421") -> np.ndarray:
    """Return rotation vectors from JPL's Moon to that of a run, in body axes and arcseconds."""
    angles, _ = opened(ephemeris).librations(julian_date(start), run.t)
    return (attitudes(angles).inv() * run.rotation).as_rotvec() / ARCSECOND
