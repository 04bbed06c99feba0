"""A motion in closed form, for runs with a given angular velocity; and runs in plain Python.

q: a turn about z by a(t), then about the turned x by b(t)                         (1)
ω = (b' cos a, b' sin a, a')  in inertial,  (b', a' sin b, a' cos b)  in body axes (2)
"""

import math
from contextlib import contextmanager

import mpmath as mp
import numpy as np
import pytest

from polhode.contracts import Rate
from polhode.formulations import FORMULATIONS
from polhode.loops import binding
from polhode.loops import join as _join
from polhode.loops.join import BoundIntegrator
from polhode.solvers import adaptive_steps as _steps
from polhode.solvers import events


def inertial(t):
    a, c = 1.2 * t + 0.5 * math.sin(t), 1.17 * math.cos(1.3 * t)
    return c * math.cos(a), c * math.sin(a), 1.2 + 0.5 * math.cos(t)


def in_body(t):
    b, c = 0.9 * math.sin(1.3 * t) + 0.4, 1.2 + 0.5 * math.cos(t)
    return 1.17 * math.cos(1.3 * t), c * math.sin(b), c * math.cos(b)


OMEGAS = {"inertial": inertial, "body": in_body}


def attitude(t, sin=math.sin, cos=math.cos):
    """(1), of floats, arrays or mpmath numbers; its sign is continuous."""
    a, b = (1.2 * t + 0.5 * sin(t)) / 2, (0.9 * sin(1.3 * t) + 0.4) / 2
    return cos(a) * cos(b), cos(a) * sin(b), sin(a) * sin(b), sin(a) * cos(b)


def precise_attitude(t):
    return attitude(mp.mpf(t), mp.sin, mp.cos)


def attitudes(times):
    return np.array(attitude(np.asarray(times), np.sin, np.cos)).T


def body_rates(times):
    return np.array([in_body(t) for t in times])


def accelerations(times):
    """dω/dt in body axes."""
    t = np.asarray(times)
    b, db = 0.9 * np.sin(1.3 * t) + 0.4, 1.17 * np.cos(1.3 * t)
    da, dda = 1.2 + 0.5 * np.cos(t), -0.5 * np.sin(t)
    x = -1.521 * np.sin(1.3 * t)
    y = dda * np.sin(b) + da * db * np.cos(b)
    z = dda * np.cos(b) - da * db * np.sin(b)
    return np.array([x, y, z]).T


def error(run, sign=1.0):
    """The largest error of a component of q."""
    return np.abs(run.q - sign * attitudes(run.t)).max()


# ---- below the public functions
NONE = (), ()  # parameters


def parts(record, formulation="rotor", omega=inertial, frame="inertial"):
    """An integrator with an angular velocity, in plain Python."""

    def velocity(t, q, params):
        return omega(t)

    rate = Rate(velocity=velocity, inertial=frame == "inertial")
    return BoundIntegrator(record, FORMULATIONS[formulation], rate, True, plain=True)


# ---- the public functions in plain Python: nothing is compiled
@contextmanager
def plain_python():
    def plain(function, *_):
        return function

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_join, "CompiledOrPlain", plain)
        patch.setattr(binding, "CompiledOrPlain", plain)
        patch.setattr(events, "CompiledOrPlain", plain)
        patch.setattr(_join, "_known", {})
        _join._states.cache_clear()
        yield
    _join._states.cache_clear()


@contextmanager
def small_chunks(first=7, most=11):
    """Take only a few steps in one call of a loop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_steps, "FIRST_ROWS", first)
        patch.setattr(_steps, "MOST_ROWS", most)
        yield
