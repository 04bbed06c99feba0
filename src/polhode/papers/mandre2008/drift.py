"""Measurements of sections 7.7 and 7.8 of Mandre (2008): quaternion drift, constant torque."""

from collections.abc import Sequence

import numpy as np

from polhode.body import RigidBody
from polhode.errors import MethodError
from polhode.papers.mandre2008 import by_hand, series
from polhode.papers.mandre2008.laboratory import (
    SPAN,
    STEP,
    TUMBLING,
    Laboratory,
    angle,
    kinematic_runs,
    tumbling_exact,
)
from polhode.papers.mandre2008.reference import Array, flight
from polhode.papers.verdicts import (
    Measured,
    above,
    added_if,
    holds_if,
    largest,
    near,
    relative_change,
    slope,
)
from polhode.problems.problem import Problem
from polhode.solvers.exact_torque import exact_constant_torque


def off_sphere(path: Array) -> float:
    """Return the largest | |q| - 1 |."""
    return largest(np.linalg.norm(path, axis=1) - 1)


def off_attitude(lab: Laboratory, name: str) -> float:
    """Return the angle by which a run from the exact ω misses the attitude at its end."""
    return angle(lab.kinematics[name][-1], lab.tumbling_exact.q[-1])


def orders(name: str) -> float:
    """Return the order in the attitude at t = 4, from the exact ω."""
    counts, end = (40, 80, 160, 320), tumbling_exact([4.0]).q[0]
    errors = [angle(kinematic_runs(4.0 / n, n)[name][-1], end) for n in counts]
    return slope([4.0 / n for n in counts], errors)


def leaves_length(lab: Laboratory) -> Measured:
    theirs = (off_sphere(lab.kinematics[name]) for name in ("Euler", "RK4"))
    return above(1e-12, *theirs, lab.worst("as printed, never", "length"))


def tangential(_: Laboratory) -> Measured:
    q = series.turning()
    length = series.apart((by_hand.dot(q, q),), (1,))
    off = series.apart((by_hand.dot(q, series.rates(q)),), (0,), series.TERMS - 1)
    return holds_if(length == off == 0, length, off)


def naive(lab: Laboratory) -> Measured:
    path, omega = lab.kinematics["Euler"], lab.tumbling_exact.omega
    length = np.linalg.norm(path, axis=1)
    law = np.sqrt(1 + (STEP * np.linalg.norm(omega[:-1], axis=1) / 2) ** 2)
    off = largest(length[1:] / length[:-1] - law)
    return holds_if(off < 1e-13 and off_sphere(path) > 0.1, off, length[-1])


def rk4_too(lab: Laboratory) -> Measured:
    steps = 0.4, 0.2, 0.1
    drifts = [off_sphere(kinematic_runs(h, round(20 / h))["RK4"]) for h in steps]
    found = off_sphere(lab.kinematics["RK4"])
    return holds_if(found > 1e-12, found, slope(steps, drifts))


def each_step(lab: Laboratory) -> Measured:
    count = round(SPAN / STEP)
    forced = kinematic_runs(STEP, count, normalise=True)
    apart = [angle(forced[name][-1], lab.kinematics[name][-1]) for name in ("Euler", "RK4")]
    return holds_if(max(apart) > 1e-12, count, *apart)


def nasa(lab: Laboratory) -> Measured:
    found, rate = off_sphere(lab.kinematics["NASA"]), orders("NASA")
    return holds_if(found < 1e-13 and near(rate, 2), found, off_attitude(lab, "NASA"), rate)


def on_the_surface(lab: Laboratory) -> Measured:
    found = lab.both_worst("never", "length")
    return holds_if(max(found) < 1e-12, *found, off_sphere(lab.kinematics["RK4"]))


def keeps_momentum(lab: Laboratory) -> Measured:
    printed, right = lab.both_worst("every step", "momentum")
    steps, found = (0.1, 0.05, 0.025), []
    for h in steps:
        momentum = lab.rkn4(TUMBLING, 20.0, h).angular_momentum_inertial
        found.append(float(np.linalg.norm(momentum - momentum[0], axis=1).max()))
    order = slope(steps, found)
    return holds_if(right < 1e-6 and order > 3.5, right, printed, order)


def as_good(lab: Laboratory) -> Measured:
    ours = lab.worst("as printed, every 1000", "length")
    theirs = off_sphere(lab.kinematics["NASA"])
    printed, right = (
        angle(lab.tumbling[f"{name}, every 1000"].q[-1], lab.tumbling_exact.q[-1])
        for name in ("as printed", "q⁻¹")
    )
    return holds_if(ours < 10 * theirs, ours, theirs, printed, right, off_attitude(lab, "NASA"))


def better_than_euler(lab: Laboratory) -> Measured:
    (euler, first), (nasa, second) = (
        (off_attitude(lab, name), orders(name)) for name in ("Euler", "NASA")
    )
    return holds_if(nasa < euler and second > first + 0.5, nasa, euler, second, first)


def rk4_comparable(lab: Laboratory) -> Measured:
    rk4, nasa = (off_attitude(lab, name) for name in ("RK4", "NASA"))
    return holds_if(rk4 < 2 * nasa, rk4, nasa, orders("RK4"))


def eons(lab: Laboratory) -> Measured:
    h, count = 0.1, 10_000 if lab.quick else 200_000
    paths = kinematic_runs(h, count)
    run = lab.rkn4(TUMBLING, h * count, h, as_printed=True, normalise_every=0)
    lost, end = -float(relative_change(run.energy)[-1]), tumbling_exact([h * count]).q[0]
    (length, wrong), (other, theirs) = (
        (off_sphere(paths[name]), angle(paths[name][-1], end)) for name in ("NASA", "RK4")
    )
    shown = count, h, length, other, 100 * lost, wrong, theirs
    return holds_if(length < 1e-12 and min(other, lost) > 1e-6, *shown)


# ---- 7.8
def closed_form_error(
    moments: Sequence[float], omega: Sequence[float], torque: Sequence[float]
) -> float:
    """Return how far the closed form is from DOP853 after 10 s."""
    body, end = RigidBody(list(moments)), 10.0
    found = exact_constant_torque(body, None, omega, torque, [end])
    problem = Problem(body, omega=omega, position=[0.0, 0.0, 0.0])
    _, _, q, rate = flight(problem, lambda *_: (np.array(torque), np.zeros(3)), end)
    return max(angle(found.q[0], q), largest(found.omega[0] - rate))


def constant_torque(_: Laboratory) -> Measured:
    moments, omega, torque = symmetric = (2.0, 2.0, 1.0), (1.0, 0.5, -0.3), (0.0, 0.0, 0.4)
    cases = (
        ((2.0, 2.0, 2.0), (1.0, 0.5, -0.3), (0.3, -0.2, 0.4)),  # a sphere
        symmetric,
        ((1.0, 2.0, 3.0), (0.0, 0.0, -0.3), (0.0, 0.0, 0.4)),  # about a principal axis
    )
    off = [closed_form_error(*case) for case in cases]
    times = np.linspace(0.0, 1e6, 101)
    length = off_sphere(exact_constant_torque(RigidBody(moments), None, omega, torque, times).q)
    try:
        exact_constant_torque(RigidBody([1.0, 2.0, 3.0]), None, [1, 0.5, 0], [0.1, 0.2, 0], [1.0])
        general = 1
    except MethodError:
        general = 0
    known = max(off) < 1e-10 and length < 1e-14
    return added_if(known and general == 0, *off, length, general)
