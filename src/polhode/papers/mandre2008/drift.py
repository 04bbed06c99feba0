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
    judge,
    largest,
    listing,
    near,
    relative_change,
    slope,
)
from polhode.problems.problem import Problem
from polhode.solvers.exact_torque import exact_constant_torque

WHERE = f"T = {SPAN:g}, h = {STEP}"


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
    euler, rk4 = (off_sphere(lab.kinematics[name]) for name in ("Euler", "RK4"))
    ours = lab.worst("as printed, never", "length")
    return above(1e-12, f"{WHERE}: Euler {{:.1g}}, RK4 {{:.1g}}, RKN4 {{:.1g}}", euler, rk4, ours)


def tangential(_: Laboratory) -> Measured:
    q = series.turning()
    length = series.apart((by_hand.dot(q, q),), (1,))
    across = by_hand.dot(q, series.rates(q))
    off = series.apart((across,), (0,), series.TERMS - 1)
    return f"|q|² - 1 = {length:g}, q·q̇ = {off:g}, in fractions", judge(length == off == 0)


def naive(lab: Laboratory) -> Measured:
    path, omega = lab.kinematics["Euler"], lab.tumbling_exact.omega
    length = np.linalg.norm(path, axis=1)
    law = np.sqrt(1 + (STEP * np.linalg.norm(omega[:-1], axis=1) / 2) ** 2)
    off = largest(length[1:] / length[:-1] - law)
    text = f"|q| grows by √(1 + h²ω²/4) in each step, to {off:.1g}: it is {length[-1]:.1f} after"
    return f"{text} {SPAN:g}", judge(off < 1e-13 and off_sphere(path) > 0.1)


def rk4_too(lab: Laboratory) -> Measured:
    steps = 0.4, 0.2, 0.1
    drifts = [off_sphere(kinematic_runs(h, round(20 / h))["RK4"]) for h in steps]
    found = off_sphere(lab.kinematics["RK4"])
    text = f"{found:.1g} ({WHERE}), as h^{slope(steps, drifts):.1f}"
    return text, judge(found > 1e-12)


def each_step(lab: Laboratory) -> Measured:
    count = round(SPAN / STEP)
    forced = kinematic_runs(STEP, count, normalise=True)
    apart = [angle(forced[name][-1], lab.kinematics[name][-1]) for name in ("Euler", "RK4")]
    text = (
        f"normalised at each of {count} steps or once at the end, the attitudes differ by"
        f" {apart[0]:.1g} (Euler) and {apart[1]:.1g} rad (RK4)"
    )
    return text, judge(max(apart) > 1e-12)


def nasa(lab: Laboratory) -> Measured:
    found, rate = off_sphere(lab.kinematics["NASA"]), orders("NASA")
    text = f"|q| - 1 at most {found:.1g} ({WHERE}); attitude wrong by"
    text += f" {off_attitude(lab, 'NASA'):.1g} rad, order {rate:.2f}"
    return text, judge(found < 1e-13 and near(rate, 2))


def on_the_surface(lab: Laboratory) -> Measured:
    printed, right = (lab.worst(f"{name}, never", "length") for name in ("as printed", "q⁻¹"))
    text = f"{WHERE}: |q| - 1 reaches {printed:.1e} as printed, {right:.1e} with q⁻¹; RK4 for q̇ ="
    text += f" qω/2 {off_sphere(lab.kinematics['RK4']):.1e}"
    return text, judge(max(printed, right) < 1e-12)


def keeps_momentum(lab: Laboratory) -> Measured:
    right, printed = (
        lab.worst(f"{name}, every step", "momentum") for name in ("q⁻¹", "as printed")
    )
    steps, found = (0.1, 0.05, 0.025), []
    for h in steps:
        momentum = lab.rkn4(TUMBLING, 20.0, h).angular_momentum_inertial
        found.append(float(np.linalg.norm(momentum - momentum[0], axis=1).max()))
    order = slope(steps, found)
    text = (
        f"{WHERE}: L changes by {right:.1g} with q⁻¹ ({printed:.1g} as printed, normalised every"
        f" step), as h^{order:.1f}"
    )
    return text, judge(right < 1e-6 and order > 3.5)


def as_good(lab: Laboratory) -> Measured:
    ours = lab.worst("as printed, every 1000", "length")
    theirs = off_sphere(lab.kinematics["NASA"])
    printed, right = (
        angle(lab.tumbling[f"{name}, every 1000"].q[-1], lab.tumbling_exact.q[-1])
        for name in ("as printed", "q⁻¹")
    )
    text = (
        f"{WHERE}: |q| - 1 is {ours:.1g} against {theirs:.1g}; attitude wrong by {printed:.1g} rad"
        f" as printed, {right:.1g} with q⁻¹, against {off_attitude(lab, 'NASA'):.1g} of"
        " NASA's from the exact ω"
    )
    return text, judge(ours < 10 * theirs)


def better_than_euler(lab: Laboratory) -> Measured:
    (euler, first), (nasa, second) = (
        (off_attitude(lab, name), orders(name)) for name in ("Euler", "NASA")
    )
    text = (
        f"{WHERE}: attitude wrong by {nasa:.1g} against {euler:.1g} rad, order"
        f" {second:.2f} against {first:.2f}"
    )
    return text, judge(nasa < euler and second > first + 0.5)


def rk4_comparable(lab: Laboratory) -> Measured:
    rk4, nasa = (off_attitude(lab, name) for name in ("RK4", "NASA"))
    text = f"{WHERE}, exact ω: attitude wrong by {rk4:.1g} rad by RK4, {nasa:.1g} by NASA's; order"
    return f"{text} {orders('RK4'):.2f}", judge(rk4 < 2 * nasa)


def eons(lab: Laboratory) -> Measured:
    h, count = 0.1, 10_000 if lab.quick else 200_000
    paths = kinematic_runs(h, count)
    run = lab.rkn4(TUMBLING, h * count, h, as_printed=True, normalise_every=0)
    lost, end = -float(relative_change(run.energy)[-1]), tumbling_exact([h * count]).q[0]
    (length, wrong), (other, theirs) = (
        (off_sphere(paths[name]), angle(paths[name][-1], end)) for name in ("NASA", "RK4")
    )
    text = (
        f"{count} steps of {h}: |q| - 1 is {length:.1g}, for RK4 {other:.1g}; RKN4"
        f" as printed loses {100 * lost:.0f} % of the energy; attitude wrong by {wrong:.1g}"
        f" (RK4 {theirs:.1g}) rad"
    )
    return text, judge(length < 1e-12 and min(other, lost) > 1e-6)


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
    cases = {
        "sphere": ((2.0, 2.0, 2.0), (1.0, 0.5, -0.3), (0.3, -0.2, 0.4)),
        "symmetric": ((2.0, 2.0, 1.0), (1.0, 0.5, -0.3), (0.0, 0.0, 0.4)),
        "about a principal axis": ((1.0, 2.0, 3.0), (0.0, 0.0, -0.3), (0.0, 0.0, 0.4)),
    }
    off = {name: closed_form_error(*case) for name, case in cases.items()}
    moments, omega, torque = cases["symmetric"]
    times = np.linspace(0.0, 1e6, 101)
    length = off_sphere(exact_constant_torque(RigidBody(moments), None, omega, torque, times).q)
    try:
        exact_constant_torque(RigidBody([1.0, 2.0, 3.0]), None, [1, 0.5, 0], [0.1, 0.2, 0], [1.0])
        refused = False
    except MethodError:
        refused = True
    text = (
        f"closed forms against DOP853 after 10 s: {listing(off, '.1g', str)}; |q| - 1 after 10⁶ s"
        f" {length:.1g}; {'0' if refused else '1'} for any body and torque"
    )
    known = max(off.values()) < 1e-10 and length < 1e-14
    return text, judge(known and not refused, known)
