"""Where the errors of the model Moon come from, by changing one thing at a time.

The table in ``docs/papers/fukushima1995.md`` ("Why departures gain 8 digits") has three numbers of
the Moon that its text explains.  12th-order Adams, 128 steps a revolution, plain sums, 33 000
revolutions, against the 113 bits of ``celestial/model_orbits.csv``:

    1  departures end with an error of 1e-14, in all variables
    2  departures of Euler's angles end with some 1e-11
    3  a plain quaternion ends with 2e-12, and that of the Earth with 1e-8

Run ``python design/moon_rounding.py``; it takes a minute or two.

Results.  1: All departures agree with each other much better than with the reference, with any step
and any sums, and the error grows in proportion to the time: they solve a slightly different
problem, with the float 1/I where the reference divides by I.  2: φ and ψ turn in opposite
directions, because the axis of the Moon circles the pole of the coordinates with the node, and an
angle that has grown to 833 rad is rounded.  The error vanishes with compensated sums, with angles
restarted at 0 now and then, or with the pole elsewhere.  3: The rounding of m3 is a random walk in
which the Earth's pull holds the Moon like a pendulum of frequency ν = W sqrt(3 (B - A)/C): the
error is σ sqrt(n/2)/ν, not σ h sqrt(n³/3).
"""

from dataclasses import replace
from fractions import Fraction
from math import cos, pi, sin, sqrt, ulp

import numpy as np

import polhode as ph
from polhode.celestial import rigid_moon_model
from polhode.celestial.model_orbits import W, orientation_error, torque, truth
from polhode.compiler.machine import fma
from polhode.compiler.tree import bind
from polhode.formulations import COORDINATES, encke_quaternion
from polhode.formulations._parts import momentum_rate
from polhode.kernels.quaternion import conjugate, hamilton

TURNS, A_TURN = 33_000, 128
SHOWN = 256, 1024, 4096, 16384, 32768, 33000
MOON = rigid_moon_model()
TRUTH = {n: q for n, (q, _) in truth(MOON.name).items()}


def attitudes(problem, name, *, compensated=False, a_turn=A_TURN, turns=TURNS, start=0):
    """The run, with a row for every revolution."""
    run = ph.solve(
        problem,
        (float(start), float(start + turns)),
        method="adams",
        dt=1 / a_turn,
        formulation=name,
        save_every=a_turn,
        options={"compensated": compensated},
    )
    assert run.success, run.message
    return run


def apart(q, p):
    return orientation_error(q, tuple(map(Fraction, p)))


def changed(**changes):
    """The Moon with another body, model or start."""
    given = {
        name: getattr(MOON, name) for name in ("body", "model", "attitude", "angular_momentum")
    }
    return ph.Problem(**given | changes, scalar_first=True)


def show(label, qs, right=TRUTH):
    row = " ".join(f"{orientation_error(qs[n], right[n]):8.1e}" for n in SHOWN)
    print(f"  {label:58} {row}", flush=True)
    return qs


def heading(text):
    print(f"\n{text}\n  {'revolutions':58} " + " ".join(f"{n:8}" for n in SHOWN))


# ---- 1: departures
def exact_reciprocals(problem):
    """``encke-quaternion`` with 1/I beyond a float: in m x ω, and in the nominal turn."""
    exact = [1 / Fraction(float(x)) for x in problem.body.data[0]]
    (a, b, c), m = exact, problem.angular_momentum
    p1, p2, p3 = float(c - b), float(a - c), float(b - a)
    rest = [
        float((e - Fraction(rounded)) * Fraction(k))
        for e, rounded, k in zip(exact, problem.body.data[1], m, strict=True)
    ]

    def rate(m, body, n):
        return fma(p1, m[1] * m[2], n[0]), fma(p2, m[2] * m[0], n[1]), fma(p3, m[0] * m[1], n[2])

    def nominal(t, q, m, body):
        *first, r = encke_quaternion.nominal(t, q, m, body)
        return *first, tuple(x + y for x, y in zip(r, rest, strict=True))

    old = encke_quaternion.COORDINATES
    return replace(old, name="exact", slope=bind(old.slope, {momentum_rate: rate}), nominal=nominal)


def departures():
    heading("1  departures: errors (rad)")
    plain = show("encke-quaternion", attitudes(MOON, "encke-quaternion").q)
    others = {
        "fukushima-departures": attitudes(MOON, "fukushima-departures").q,
        "encke-quaternion, compensated sums": attitudes(
            MOON, "encke-quaternion", compensated=True
        ).q,
        "encke-quaternion, 256 steps, compensated sums": attitudes(
            MOON, "encke-quaternion", compensated=True, a_turn=256
        ).q,
    }
    for label, qs in others.items():
        show(label, qs)
    off = max(apart(qs[n], plain[n]) for qs in others.values() for n in SHOWN)
    print(f"  all of them agree to {off:.0e}")
    for moment, inverse in zip(MOON.body.data[0], MOON.body.data[1], strict=True):
        lost = float(Fraction(inverse) * Fraction(float(moment)) - 1)
        print(f"  I = {moment!r}: 1/I is rounded by {lost:.1e} of itself")
    better = exact_reciprocals(MOON)
    show("encke-quaternion, 1/I exact", attitudes(MOON, better).q)
    show(
        "encke-quaternion, 1/I exact, compensated sums", attitudes(MOON, better, compensated=True).q
    )


# ---- 2: departures of Euler's angles
def tilted(angle):
    """The same Moon in inertial axes turned about X, and the turn."""
    w, x = cos(0.5 * angle), sin(0.5 * angle)

    def turned(t, q, m, body, params):
        return torque(t, hamilton((w, x, 0.0, 0.0), q), m, body, params)

    back = w, -x, 0.0, 0.0
    model = replace(MOON.model, torque=turned, potential=None)
    return changed(model=model, attitude=hamilton(back, MOON.attitude)), conjugate(back)


def angles(problem, run):
    """The largest |Δφ| and |Δψ| of the run, from continuous angles."""
    first = COORDINATES["euler-angles"]
    body = problem.body.data
    found = np.unwrap(
        [first.enter(0.0, tuple(q), (0.0, 0.0, 1.0), body)[:3] for q in run.q.tolist()], axis=0
    )
    return np.abs(found - found[0]).max(axis=0)


def euler():
    heading("2  departures of Euler's angles: errors (rad)")
    run = attitudes(MOON, "encke-euler")
    show("encke-euler", run.q)
    swept = angles(MOON, run)[0]
    period = TURNS * 2 * pi / swept
    print(f"  φ runs through {swept:.0f} rad: the node takes {period:.0f} revolutions to go round")
    walk = walked(swept)
    print(f"  a random walk by the rounding of such φ and ψ gives {walk:.0e} rad")
    show("encke-euler, compensated sums", attitudes(MOON, "encke-euler", compensated=True).q)
    qs, problem = list(run.q[:1]), MOON
    while len(qs) <= TURNS:
        done = len(qs) - 1
        part = attitudes(problem, "encke-euler", turns=min(250, TURNS - done), start=done)
        qs += list(part.q[1:])
        problem = changed(attitude=part.q[-1], angular_momentum=part.angular_momentum[-1])
    show("encke-euler, restarted every 250 revolutions", qs)
    problem, turn = tilted(0.4)
    run = attitudes(problem, "encke-euler")
    show("encke-euler, inertial axes tilted by 0.4", [hamilton(turn, q) for q in run.q.tolist()])
    print(f"  φ runs through {angles(problem, run)[0]:.2g} rad")


def walked(swept):
    """The error of φ and ψ, both growing evenly to ``swept`` and rounded in every step."""
    sizes = np.linspace(0.0, swept, TURNS * A_TURN // 64)
    return sqrt(2 * 64 * sum(ulp(x) ** 2 / 12 for x in sizes.tolist()))


# ---- 3: a plain quaternion
def off(problem):
    """The rms error of a plain quaternion in the last 8000 revolutions."""
    one, other = (
        attitudes(problem, name, compensated=compensated).q[-8000::10].tolist()
        for name, compensated in (("quaternion", False), ("encke-quaternion", True))
    )
    return sqrt(np.mean([apart(a, b) ** 2 for a, b in zip(one, other, strict=True)]))


def quaternion():
    """Other moments have no stored reference: departures with compensated sums are good enough.

    Larger (B - A)/C are not examined: three times the Moon's has an error of 1e-7.
    """
    print("\n3  a plain quaternion: rms error of the last 8000 revolutions (rad)")
    count, rounding = TURNS * A_TURN, ulp(W) / sqrt(12)
    beta, gamma = 0.0006310022025364629, 0.0002277305314199142
    for factor in (2.0, 1.0, 0.1, 0.01, 0.0001):
        less = factor * gamma
        moments = (1 - beta * less) / (1 + beta), (1 + less) / (1 + beta), 1.0
        held = rounding * sqrt(count / 2) / (W * sqrt(3 * less))
        found = off(changed(body=ph.RigidBody(moments)))
        print(f"  (B - A)/C = {factor:g} times the Moon's: {found:.1e};", end=" ")
        print(f"a walk that is held gives {held:.1e}", flush=True)
    (a, b, c), free = MOON.angular_momentum, rounding * sqrt(count**3 / 3) / A_TURN
    found = off(changed(angular_momentum=(a, b, 1.25 * c)))
    print(f"  turning 1.25 times as fast: {found:.1e}; a free walk gives {free:.1e}")


if __name__ == "__main__":
    departures()
    euler()
    quaternion()
