"""Rotation and translation in one scheme, in mpmath numbers, apart from the library.

``WORLD`` is a body on a damped spring whose stiffness grows with time: force and torque depend on
t, position, velocity, attitude and rate.  It is written twice: ``PROBLEM`` with the library's
quaternions, ``World`` with attitude matrices.  ``mkrk`` is a Munthe-Kaas step in *inertial* axes:
psi, L = R m, x and p are the variables of one Runge-Kutta method in a vector space.
``World.motion`` is the true motion by mpmath's Taylor series.
"""

from dataclasses import dataclass
from functools import cache

import mpmath as mp

import polhode as ph
from polhode.contracts import Model, angular_velocity, inverse_mass, numbers
from polhode.kernels.quaternion import to_body, to_inertial
from polhode.kernels.vector import add, add_scaled, cross, multiply, subtract
from support.bodies import INERTIA
from support.krysl_schemes import dexpinv, exp, number, root, skew
from support.precise import to_mp

MASS = 1.25  # these numbers are exact in binary, and so is the start
ATTITUDE, OMEGA = (0.5, 0.5, -0.5, 0.5), (0.5, 0.75, -0.625)
POSITION, VELOCITY = (1.0, 0.375, -0.25), (0.125, 0.5, -0.375)
ARM, ANCHOR, STIFFNESS, GROWTH, FRICTION = (0.5, -0.25, 0.75), (0.25, 0.0, 0.125), 3.0, 0.5, 0.25
DIGITS = 40


# ---- for the library
def damped_spring(t, q, m, x, p, body, params):
    arm, anchor, stiffness, growth, friction = numbers(params)
    lever, spin = to_inertial(q, arm), to_inertial(q, angular_velocity(m, body))
    velocity = add(multiply(inverse_mass(body), p), cross(spin, lever))
    off = subtract(add(x, lever), anchor)
    pull = add_scaled(multiply(-stiffness * (1.0 + growth * t), off), -friction, velocity)
    return cross(arm, to_body(q, pull)), pull


MODEL = Model(
    name="damped_spring",
    wrench=damped_spring,
    potential_at=None,
    names=("arm", "anchor", "stiffness", "growth", "friction"),
    numbers=(ARM, ANCHOR, STIFFNESS, GROWTH, FRICTION),
    depends_on_omega=True,
    depends_on_velocity=True,
)
PROBLEM = ph.Problem(
    ph.RigidBody(INERTIA, MASS),
    MODEL,
    attitude=ATTITUDE,
    scalar_first=True,
    omega=OMEGA,
    position=POSITION,
    velocity=VELOCITY,
)


# ---- with matrices; a state is (R, L, x, p), L and p in inertial axes
@dataclass(frozen=True)
class World:
    """The same body."""

    def slope(self, t, r, momentum, x, p):
        """Return (ω in body axes, L', x', p')."""
        inverse = mp.diag([1 / mp.mpf(i) for i in INERTIA])
        omega = inverse * (r.T * momentum)
        lever = r * mp.matrix(ARM)
        velocity = p / MASS + skew(r * omega) * lever
        off = x + lever - mp.matrix(ANCHOR)
        pull = -STIFFNESS * (1 + GROWTH * t) * off - FRICTION * velocity
        return omega, skew(lever) * pull, p / MASS, pull

    def start(self):
        q = mp.matrix(to_mp(ATTITUDE))
        w, v = q[0], q[1:]
        r = (w * w - (v.T * v)[0]) * mp.eye(3) + 2 * v * v.T + 2 * w * skew(v)
        m = mp.diag(INERTIA) * mp.matrix(OMEGA)
        return r, r * m, mp.matrix(POSITION), MASS * mp.matrix(VELOCITY)

    @cache  # noqa: B019 - there is one
    def motion(self):
        """Return t -> (R, L, x, p), by mpmath's Taylor series."""

        def rate(t, y):
            r = mp.matrix(3, 3)
            for i in range(9):
                r[i // 3, i % 3] = y[i]
            omega, *others = self.slope(t, r, *(mp.matrix(y[i : i + 3]) for i in (9, 12, 15)))
            return [*(r * skew(omega)), *(x for part in others for x in part)]

        y = [x for part in self.start() for x in part]
        return cache(mp.odefun(rate, 0, y))


WORLD = World()


def mkrk(world, t, h, state, tableau):
    """One step of all variables."""
    a, b, c = tableau.converted(number)
    stages = range(len(b))
    r = state[0]

    def slope(j, values):
        """Return (psi', L', x', p') of stage j."""
        psi, *rest = values
        omega, *others = world.slope(t + c[j] * h, r * exp(psi), *rest)
        return dexpinv(-psi, omega), *others

    def moved(weights, slopes):
        values = [mp.zeros(3, 1), *state[1:]]
        for weight, change in zip(weights, slopes, strict=False):
            values = [v + h * weight * d for v, d in zip(values, change, strict=True)]
        return values

    slopes = []
    if tableau.explicit:
        for k in stages:
            slopes.append(slope(k, moved(a[k], slopes)))
    else:

        def residual(*unknown):
            values = [unknown[4 * k : 4 * k + 4] for k in stages]
            found = [slope(k, values[k]) for k in stages]
            right = [moved(a[k], found) for k in stages]
            return [x - y for k in stages for x, y in zip(values[k], right[k], strict=True)]

        guess = [x for _ in stages for x in moved((), ())]
        solved = root(residual, guess)
        slopes = [slope(k, solved[4 * k : 4 * k + 4]) for k in stages]
    psi, *rest = moved(b, slopes)
    return r * exp(psi), *rest
