"""The Moon with tides in its mantle and a fluid core, as in DE421 (Folkner et al. 2014).

The variables are the attitude q of the mantle and, beside it, the momenta m of the mantle and m_c
of the core, in the mantle's axes; ω is a function of all of them.  The moments of the mantle are
those of ``libration`` less the core's, and plus what tides of the Earth and the spin add with a
delay τ: with u, r of the Earth and ω at t - τ,

    δI = -k2 m_E R⁵/r³ (u uᵀ - 1/3) + k2 R⁵/(3 G) (ω ωᵀ - ω²/3 - n² (e_z e_zᵀ - 1/3))   (1)
    m = (I + δI) ω                                                                    (2)

with the mean motion n.  Friction and the oblateness of the core's boundary couple the two,

    N = k_v (ω_c - ω) + (C_c - A_c) ω_cz (e_z × ω_c)                                  (3)
    m' = m × ω + T + D + N,    m_c' = m_c × ω - N,    q' = q ω/2                       (4)

T is the torque of ``libration`` on I, and D that of the same bodies on δI, by (6) there:

    D = Σ 3 μ/r³ u × δI u + the part of the Earth's J2                                 (5)

The Sun acts on the figure of degrees 3 and 4, too; k_v is DE421's constant times the mantle's C.
No derivative of δI is needed, because m is integrated and not ω.  Delayed values are extrapolated
back from t: u by a turn ω τ, ω by its rate of change.  The error of this is (ω τ)², 6e-4, of the
effect of the delay.
"""

from polhode.celestial.ephemeris import series_at
from polhode.celestial.field import direction
from polhode.celestial.libration import pull
from polhode.celestial.libration import torque as rigid_torque
from polhode.compiler.machine import fma
from polhode.contracts import inverse_moments
from polhode.kernels.quaternion import to_body, turned
from polhode.kernels.so3 import exp1
from polhode.kernels.vector import add, add_scaled, cross, dot, multiply, scale, subtract

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


def turned_by_gradient(gradient, distortion):
    """Return D of (5)."""
    xx, yy, zz, yz, zx, xy = gradient
    x = distorted(distortion, (xx, xy, zx))
    y = distorted(distortion, (xy, yy, yz))
    z = distorted(distortion, (zx, yz, zz))
    return y[2] - z[1], z[0] - x[2], x[1] - y[0]


def motion(t, q, m, mc, body, params):
    """Return (ω, m', m_c') of (4), from the attitude and the momenta of mantle and core."""
    (numbers, layers), tables = params
    inverse = inverse_moments(body)
    n, gradient = pull(t, q, (numbers, tables), *layers[3])
    n = add(n, cross(to_body(q, numbers[5]), m))
    omega = scale(inverse, m)
    change = scale(inverse, add(cross(m, omega), n))
    distortion = distortion_of(t, q, omega, change, params)
    omega = spins(distortion, m, inverse)
    n = add(n, turned_by_gradient(gradient, distortion))
    between = coupling(omega, scale(layers[2], mc), layers)
    moved = add(add(cross(m, omega), n), between)
    return omega, moved, subtract(cross(mc, omega), between)


def rates(t, q, y, params):
    """Return ω, and the slopes of the momenta of mantle and core; ``params`` has the body, too."""
    numbers, body, tables = params
    omega, moved, core = motion(t, q, y[0], y[1], body, (numbers, tables))
    return omega, (moved, core)
