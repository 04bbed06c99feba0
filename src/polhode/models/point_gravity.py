"""The field of a point mass, to second order in the size of the body over its distance.

With x measured from the mass, u = Rᵀ x / r, the principal moments I and their sum S (Schaub &
Junkins 2018, section 4.5),

    V = -mu M/r - mu/(2 r³) (S - 3 u·I u)                                              (1)
    T = 3 mu/r³ u x I u                                                                (2)
    F = -mu/r² R [M u + 3/(2 r²) (S u + 2 I u - 5 (u·I u) u)]                          (3)

(2) and (3) are the derivatives of (1), so that energy and the angular momentum about the mass are
constants of the motion.  mu is the mass times the gravitational constant.
"""

from collections.abc import Sequence
from math import sqrt

from polhode.contracts import Model, mass, moments, numbers
from polhode.contracts.checks import positive, three
from polhode.kernels.quaternion import to_body, to_inertial
from polhode.kernels.vector import add_scaled, dot, multiply, scale, subtract
from polhode.models.gravity_gradient import turning


def seen(q, x, centre):
    """(r, u)."""
    d = to_body(q, subtract(x, centre))
    r = sqrt(dot(d, d))
    return r, multiply(1.0 / r, d)


def wrench(t, q, m, x, p, body, params):
    mu, centre = numbers(params)
    inertia = moments(body)
    r, u = seen(q, x, centre)
    n = turning(3.0 * mu / (r * r * r), u, inertia)  # (2)
    w = scale(inertia, u)
    f = (inertia[0] + inertia[1] + inertia[2]) - 5.0 * dot(u, w)
    gradient = add_scaled(multiply(f, u), 2.0, w)
    pull = add_scaled(multiply(mass(body), u), 1.5 / (r * r), gradient)
    return n, to_inertial(q, multiply(-mu / (r * r), pull))  # (3)


def potential_at(t, q, x, body, params):
    mu, centre = numbers(params)
    inertia = moments(body)
    r, u = seen(q, x, centre)
    spread = (inertia[0] + inertia[1] + inertia[2]) - 3.0 * dot(u, scale(inertia, u))
    return -mu / r * (mass(body) + 0.5 * spread / (r * r))  # (1)


def point_gravity(mu: float, centre: Sequence[float] = (0.0, 0.0, 0.0)) -> Model:
    """Attraction and torque of a mass with ``mu`` (m³/s², mass times G) at ``centre`` (m)."""
    return Model(
        name="point_gravity",
        wrench=wrench,
        potential_at=potential_at,
        names=("mu", "centre"),
        numbers=(positive(mu, "mu"), three(centre, "centre")),
        references=("schaub2018",),
    )


PLACE = 60
EXAMPLES = ({"mu": 40.0}, {"mu": 40.0, "centre": (0.3, 0.1, -0.2)})
