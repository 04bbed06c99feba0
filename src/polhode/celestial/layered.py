"""The Moon with tides in its mantle and a fluid core, as in DE421 (Folkner et al. 2014).

The variables are the attitude q and the momentum m of the mantle, and the momentum m_c of the core,
all in the mantle's axes.  The moments of the mantle are those of ``libration`` less the core's, and
plus what tides of the Earth and the spin add with a delay τ: with u, r of the Earth and ω at t - τ,

    δI = -k2 m_E R⁵/r³ (u uᵀ - 1/3) + k2 R⁵/(3 G) (ω ωᵀ - ω²/3 - n² (e_z e_zᵀ - 1/3))   (1)
    m = (I + δI) ω                                                                    (2)

with the mean motion n.  Friction and the oblateness of the core's boundary couple the two,

    N = k_v (ω_c - ω) + (C_c - A_c) ω_cz (e_z × ω_c)                                  (3)
    m' = m × ω + T + 3 μ/r³ u × δI u + N,    m_c' = m_c × ω - N,    q' = q ω/2         (4)

T is the torque of ``libration``.  No derivative of δI is needed, because m is integrated and not ω.
Delayed values are extrapolated back from t: u by a turn ω τ, ω by its rate of change.  The error of
this is (ω τ)², 6e-4, of the effect of the delay.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from polhode.celestial import libration
from polhode.celestial.ephemeris import DAY, Ephemeris, de421, julian_date, series_at
from polhode.celestial.field import NEWTON, direction
from polhode.celestial.libration import torque as rigid_torque
from polhode.compiler.machine import fma
from polhode.contracts import Coordinates, Model, inverse_moments
from polhode.kernels.quaternion import half_rate, turned
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, scale, subtract
from polhode.problems.problem import Problem
from polhode.solvers.entry import solve

MEAN_MOTION = 2.6616995e-6  # rad/s, of the Moon in its orbit
METHOD, RTOL = "extrapolation", 1e-12
REFERENCES = "folkner2009", "folkner2014", "williams2001"


def torque(t, q, m, body, params):
    """Return the torque on the undistorted Moon."""
    (numbers, _), tables = params
    return rigid_torque(t, q, m, body, (numbers, tables))


def times_axis(f, u, v):
    """Return f (u uᵀ - 1/3) v, for any vector u."""
    return multiply(f, add_scaled(multiply(dot(u, v), u), -dot(u, u) / 3.0, v))


def distorted(distortion, v):
    """Return δI v, of (1)."""
    f, u, g, omega, n = distortion
    x, y, z = add(times_axis(f, u, v), times_axis(g, omega, v))
    mean = g * n * n / 3.0
    return fma(mean, v[0], x), fma(mean, v[1], y), fma(-2.0 * mean, v[2], z)


def spins(distortion, m, inverse):
    """Return ω of (2), by iteration; tides change the moments by some 1e-6."""
    omega = scale(inverse, m)
    omega = scale(inverse, subtract(m, distorted(distortion, omega)))
    return scale(inverse, subtract(m, distorted(distortion, omega)))


def distortion_of(t, q, omega, change, params):
    """Return the parts of (1): the factors of the brackets, u, ω and n."""
    (numbers, layers), tables = params
    clocks = numbers[0]
    bulge, spun, delay, n = layers[0]
    u, r = direction(q, multiply(-1.0, series_at(t - delay, clocks[0], tables[0])))
    c1, v = exp1(multiply(delay, omega))
    return bulge / (r * r * r), turned(c1, v, u), spun, add_scaled(omega, -delay, change), n


def coupling(omega, core, layers):
    """Return N of (3)."""
    friction, excess = layers[1]
    n = multiply(friction, subtract(core, omega))
    f = excess * core[2]
    return fma(-f, core[1], n[0]), fma(f, core[0], n[1]), n[2]


def slope(t, y, body, params):
    """Return y' of (4)."""
    (numbers, layers), tables = params
    inverse = inverse_moments(body)
    q, m, mc = y[:4], y[4:7], y[7:10]
    n = torque(t, q, m, body, params)
    omega = scale(inverse, m)
    change = scale(inverse, add(cross(m, omega), n))
    distortion = distortion_of(t, q, omega, change, params)
    omega = spins(distortion, m, inverse)
    core = scale(layers[2], mc)
    u, r = direction(q, multiply(-1.0, series_at(t, numbers[0][0], tables[0])))
    near = 3.0 * numbers[1][0] / (r * r * r)
    n = add_scaled(n, near, cross(u, distorted(distortion, u)))
    between = coupling(omega, core, layers)
    moved = add(add(cross(m, omega), n), between)  # (4)
    dq = half_rate(q, multiply(0.5, omega))
    return (*dq, *moved, *subtract(cross(mc, omega), between))


def error(d, y, body):
    """Return the effect of a change d of y on the attitude and the momentum of the mantle."""
    turn = sqrt(fma(d[0], d[0], dot(d[1:4], d[1:4])))
    return 2.0 * turn, sqrt(dot(d[4:7], d[4:7])), y[4:7]


def leave(t, y, body):
    """Return (q, m) of the mantle."""
    return y[:4], y[4:7]


def leave_with_core(t, y, body):
    """Return q of the mantle, and the momentum of the core in place of the mantle's."""
    return y[:4], y[7:10]


def variables(core: Iterable[float]) -> Coordinates:
    """Return the variables (q, m, m_c); ``core`` is m_c at the start, in kg m²/s."""
    x, y, z = map(float, core)

    def enter(t, q, m, body):
        return (*q, *m, x, y, z)

    return Coordinates(
        name="layered-moon",
        title="attitude and momentum of the mantle, momentum of the core",
        numbers=10,
        enter=enter,
        leave=leave,
        slope=slope,
        error=error,
        continuous=True,
        singular="nowhere",
        references=REFERENCES,
    )


# ---- the problem
def layered_moon(
    start: Any,
    *,
    degree: int = 4,
    sun: bool = True,
    planets: bool = False,
    oblateness: bool = True,
    geodetic: bool = True,
) -> tuple[Problem, Coordinates]:
    """Return (problem, variables to solve it in) of the Moon with tides and a fluid core.

    Give both to ``solve``, the second as ``formulation=``.  The attitude and the angular momentum
    of the run are the mantle's; its ``omega`` is that momentum over the undistorted moments, which
    differs from ω by 1e-6.  DE421 has the core's state at one date, 1969-06-28; from there it is
    integrated to ``start``.  For the arguments see ``ph.celestial.moon``.
    """
    ephemeris, begin = de421(), julian_date(start)
    switches = {"degree": degree, "sun": sun, "planets": planets}
    switches |= {"oblateness": oblateness, "geodetic": geodetic}
    epoch, core = ephemeris.constants["JDEPOC"], first_core(ephemeris)
    if begin != epoch:
        along, span = replace(variables(core), leave=leave_with_core), (0.0, (begin - epoch) * DAY)
        first = problem(ephemeris, epoch, switches)
        run = solve(first, span, method=METHOD, formulation=along, rtol=RTOL)
        core = run.angular_momentum[-1]
    return problem(ephemeris, begin, switches), variables(core)


def first_core(ephemeris: Ephemeris) -> np.ndarray:
    """Return the momentum of the core at the epoch of DE421."""
    c = ephemeris.constants
    rates = np.array([c["OMGCX"], c["OMGCY"], c["OMGCZ"]]) / DAY
    return rates * libration.core_moments(ephemeris)


def problem(ephemeris: Ephemeris, start: float, switches: dict[str, Any]) -> Problem:
    """Return the problem of the mantle, with the momentum (2) of DE421's attitude and ω."""
    rigid = libration.moon(start, mantle=True, **switches)
    model = Model(
        name="layered moon",
        torque=torque,
        potential=None,
        names=("rigid", "layers"),
        numbers=(rigid.model.numbers, layers(ephemeris)),
        tables=rigid.model.tables,
        depends_on_omega=rigid.model.depends_on_omega,
        references=REFERENCES,
    )
    q, m, omega, body = rigid.attitude, rigid.angular_momentum, rigid.omega, rigid.body.data
    n = torque(0.0, q, m, body, model.params)
    change = scale(inverse_moments(body), add(cross(m, omega), n))
    distortion = distortion_of(0.0, q, omega, change, model.params)
    return Problem(
        rigid.body,
        model=model,
        attitude=q,
        angular_momentum=add(m, distorted(distortion, omega)),
        scalar_first=True,
        name=f"layered {rigid.name}",
    )


def layers(ephemeris: Ephemeris) -> tuple:
    """Return (tide km³, spin, delay, mean motion), (friction, excess of core), its 1/moments."""
    c = ephemeris.constants
    radius, core = 1e3 * c["AM"], libration.core_moments(ephemeris)
    spin = c["K2M"] * radius**5 / (3.0 * NEWTON)
    tide = -3.0 * spin * ephemeris.gravity("earth")  # r³ in km³
    friction = c["KVC"] * libration.moments(ephemeris)[2] / DAY
    return (
        (tide, spin, c["TAUM"] * DAY, MEAN_MOTION),
        (friction, core[2] - core[0]),
        (1.0 / core[0], 1.0 / core[1], 1.0 / core[2]),
    )
