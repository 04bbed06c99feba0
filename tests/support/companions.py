"""Bodies with variables beside them, and their motion by SciPy."""

from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

import polhode as ph

NUMBERS = 4.0, 0.3, 0.8
BODY = ph.RigidBody([1.0, 1.6, 2.2], mass=1.5)
START = {"attitude": [0.8, 0.6, 0.0, 0.0], "scalar_first": True, "omega": [0.6, 1.1, -0.8]}
PLACED = {"position": [0.3, -0.2, 0.5], "velocity": [0.1, 0.4, -0.3]}
FIRST = {"slosh": (0.2, -0.1), "heat": 0.5}
END = 2.0


def down(q):
    w, x, y, z = q
    return 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


def sloshing(t, q, omega, y, params):
    """An oscillator (s, s') in the body, pushed by its weight, and the heat of its friction."""
    k, c, g = params
    (s, ds), heat = y
    a, b, _ = down(q)
    torque = g * s * b, -g * s * a, 0.2 * s - 0.05 * heat
    return torque, ((ds, -k * s - c * ds + a + 0.1 * t), c * ds * ds - 0.4 * heat)


def sloshing_fast(t, q, omega, y, params):
    """The same with a torque, and slopes, that depend on the rate."""
    (n1, n2, n3), ((ds, dds), heat) = sloshing(t, q, omega, y, params)
    torque = n1 - 0.05 * omega[0], n2, n3 - 0.02 * y[0][1] * omega[2]
    return torque, ((ds, dds + 0.3 * omega[1]), heat)


def drifting(t, x, v, q, omega, y, params):
    """With a force that depends on the velocity, the place and the variables."""
    torque, slope = sloshing_fast(t, q, omega, y, params)
    (s, _), heat = y
    force = -x[0] - 0.1 * v[0], -2.0 * x[1] + s, -x[2] - 0.3 * heat * v[2]
    return torque, force, slope


FUNCTIONS = {f.__name__: f for f in (sloshing, sloshing_fast, drifting)}


@cache
def problem(name):
    model = ph.coupled(FUNCTIONS[name], FIRST, NUMBERS, scale={"slosh": 0.2})
    return ph.Problem(BODY, model, **START, **(PLACED if name == "drifting" else {}))


@cache
def reference(name, end=END):
    """(q, m, x, p, y) at the end, by SciPy's DOP853 of equations that are written here."""
    inertia, mass = np.diag(BODY.inertia), BODY.mass
    function = FUNCTIONS[name]

    def rate(t, z):
        q, m, x, p, y = z[:4], z[4:7], z[7:10], z[10:13], ((z[13], z[14]), z[15])
        omega, v = m / inertia, p / mass
        if name == "drifting":
            torque, force, slope = function(t, x, v, q, omega, y, NUMBERS)
        else:
            torque, slope = function(t, q, omega, y, NUMBERS)
            force = np.zeros(3)
        w, u = q[0], q[1:]
        dq = 0.5 * np.array([-u @ omega, *(w * omega + np.cross(u, omega))])
        return [*dq, *(np.cross(m, omega) + torque), *v, *force, *slope[0], slope[1]]

    first = [*START["attitude"], *(inertia * START["omega"]), *np.zeros(6), *FIRST["slosh"], 0.5]
    if name == "drifting":
        first[7:13] = [*PLACED["position"], *(mass * np.array(PLACED["velocity"]))]
    return solve_ivp(rate, (0.0, end), first, "DOP853", rtol=3e-14, atol=1e-15).y[:, -1]


def error(run, name):
    """The largest error of a run at its end."""
    q, *rest = run.q[-1:], run.angular_momentum[-1]
    right = reference(name)
    place = [*run.x[-1], *(BODY.mass * run.v[-1])] if name == "drifting" else right[7:13]
    found = [*np.hstack(rest), *place, *run.variables["slosh"][-1], run.variables["heat"][-1]]
    turned = min(np.abs(q[0] - right[:4]).max(), np.abs(q[0] + right[:4]).max())
    return max(turned, np.abs(np.array(found) - right[4:]).max())
