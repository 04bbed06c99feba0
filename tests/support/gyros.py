"""Motions in closed form with their angular velocities, and samples of them."""

import numpy as np
from scipy.spatial.transform import Rotation

AXES = dict(zip("xyz", np.eye(3), strict=True))
ORBIT = 1000.0


def about(axis, angle):
    return Rotation.from_rotvec(np.multiply.outer(angle, AXES[axis]))


class Motion:
    """Turns one after the other, each (axis, angle(t), speed(t))."""

    def __init__(self, *turns):
        self.turns = turns

    def attitude(self, t):
        t = np.asarray(t, float)
        result = Rotation.identity()
        for axis, angle, _ in self.turns:
            result = result * about(axis, angle(t) + 0 * t)
        return result

    def body_rate(self, t):
        """Each turn adds its own rate, seen from the axes after it."""
        t = np.asarray(t, float)
        rate = np.zeros((*t.shape, 3))
        for axis, angle, speed in self.turns:
            rate = about(axis, -angle(t) - 0 * t).apply(rate)
            rate += np.multiply.outer(speed(t) + 0 * t, AXES[axis])
        return rate

    def rate(self, t, frame):
        rate = self.body_rate(t)
        return rate if frame == "body" else self.attitude(t).apply(rate)

    def samples(self, t, frame, kind):
        if kind == "rate":
            return self.rate(t, frame)
        x, w = np.polynomial.legendre.leggauss(12)
        h, middle = np.diff(t), (t[1:] + t[:-1]) / 2
        parts = (wj * self.rate(middle + xj * h / 2, frame) for xj, wj in zip(x, w, strict=True))
        return sum(parts) * h[:, None] / 2

    def errors(self, run):
        return (run.rotation.inv() * self.attitude(run.t)).magnitude()


def _steady(axis, angle, speed):
    return axis, lambda t: angle + speed * t, lambda t: speed


def _fixed(axis, angle):
    return _steady(axis, angle, 0.0)


A = np.pi / 8
F, P = 2 * np.pi / ORBIT, 2 * np.pi / (10 * ORBIT)
# Boyle (26) and (27): an orbit that nutates, precesses and opens
BINARY = Motion(
    _fixed("x", -0.6 * A),
    *(_steady("z", 0.0, F), _fixed("x", np.pi / 80), _steady("z", 0.0, -F)),
    *(_steady("z", 0.0, P), _steady("x", A, 2 * A / 1e5), _steady("z", 0.0, -P)),
    _steady("z", 0.0, F),
)
# a platform whose axis runs around a cone
CONING = Motion(_steady("z", 0.2, 1.0), _fixed("x", 0.3), _steady("z", -0.4, 0.7))


def jittered(length, n, seed=0, size=0.3):
    steps = 1 + size * np.random.default_rng(seed).uniform(-1, 1, n)
    t = np.r_[0.0, np.cumsum(steps)]
    return t * (length / t[-1])


def stretched(length, n):
    """Steps that grow and shrink smoothly, the longest nine times the shortest."""
    s = np.linspace(0, 1, n + 1)
    return length * (s - 0.8 * np.sin(2 * np.pi * s) / (2 * np.pi))
