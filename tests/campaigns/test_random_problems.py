"""Random problems over all maps and all pairs of integrator and formulation.

Bodies of all shapes, rates, steps and tolerances over many decades, spans forward and backward.
Whatever is asked, a run returns attitudes, and is a success or says why not.  One torque with
parameters serves all bodies, so each kind of run is compiled once; a solver takes several starts.
"""

import faulthandler
import math
import sys
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from support.bodies import NOTHING, forced
from support.campaigns import SEED

STARTS = 8  # of each solver
MOST_STEPS = 60
HANG = 600.0  # seconds after which a solver, with its compilation, hangs: the process then ends
NORM = 1e-9


def turning(t):
    """An angular velocity that is as fast as the time is late."""
    return 1.0 + 0.5 * math.sin(t), 0.3 * math.cos(2.0 * t), -0.2 * t


MAPS = [("map", name, None) for name in ("auto", *ph.METHODS)]
BODIES = [
    ("body", name, variables)
    for name, record in ph.INTEGRATORS.items()
    if not record.linear
    for variables in (*ph.FORMULATIONS, *ph.COORDINATES)
]
RATES = [
    (frame, name, variables)
    for frame in ("body frame", "inertial frame")
    for name, record in ph.INTEGRATORS.items()
    for variables in (["rotor"] if record.linear else ph.FORMULATIONS)
]
KINDS = MAPS + BODIES + RATES
GROUPS = {"maps": MAPS, "bodies": BODIES, "rates": RATES}  # each may have a process of its own


# ---- what is asked
def decades(rng, low, high):
    return float(10.0 ** rng.uniform(low, high))


def random_body(rng):
    """Any moments, two or three of them equal, a disc, a rod, slender, or not aligned."""
    a, b, c = 10.0 ** rng.uniform(-3, 0, 3)
    shapes = [
        [b + c, c + a, a + b], [a, a, a], [a, a, min(a, b)], [a, b, a + b], [a, a, 0.0],
        [a, a * (1 + 1e-13), a],
    ]  # fmt: skip
    moments = np.array(shapes[rng.integers(len(shapes))])[rng.permutation(3)]
    moments = moments * decades(rng, -20, 20) if rng.random() < 0.2 else moments
    if moments.min() > 0 and rng.random() < 0.3:
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moments = axes @ np.diag(moments) @ axes.T
        moments = (moments + moments.T) / 2
    return ph.RigidBody(moments)


def random_params(rng, body, takes_rate):
    size = float(np.trace(body.inertia)) * decades(rng, -6, 6)
    arm, rotor = (rng.normal(size=(2, 3)) * size).tolist()
    push, damping, wall = (rng.normal(size=3) * size * (rng.random(3) < 0.3)).tolist()
    rotor, damping = (tuple(rotor), damping) if takes_rate else (NOTHING, 0.0)
    swing, frequency = float(rng.uniform(-2, 2)), decades(rng, -3, 6)
    return tuple(arm), rotor, swing, frequency, push, damping, wall


def random_start(rng, body):
    rate = rng.normal(size=3) * (rng.random(3) < 0.8) * decades(rng, -6, 6)
    if rng.random() < 0.1:
        rate = rate * decades(rng, -100, 100)
    moments, axes = body.principal_moments, body.principal_axes
    rate = axes @ np.where(np.asarray(moments) > 0, axes.T @ rate, 0.0)  # a rod has no spin
    return {"attitude": Rotation.random(rng=rng), "omega": rate}


def random_span(rng, t0, length):
    return (t0, t0 + length) if rng.random() < 0.7 else (t0, t0 - length)


def random_settings(rng, adaptive, speed, late):
    """(settings, span): steps that turn the body by 1e-5 to 1e4 radians, or tolerances."""
    t0 = late * float(rng.choice([-1.0, 0.0, 1.0]))
    dt = decades(rng, -5, 4 if rng.random() < 0.2 else 1) / speed
    span = random_span(rng, t0, dt * float(rng.uniform(0.3, 20)))
    if adaptive:
        settings = {"rtol": decades(rng, -14, -1), "max_steps": int(rng.integers(1, MOST_STEPS))}
        if rng.random() < 0.3:
            settings["max_step"] = 2 * dt
    else:
        settings = {"dt": dt}
    what = rng.random()
    if what < 0.3:
        times = rng.uniform(min(span), max(span), rng.integers(1, 9))
        settings["t_eval"] = np.unique(times)[:: 1 if span[1] >= span[0] else -1]
    elif what < 0.5:
        settings["save_every"] = int(rng.integers(2, 9))
    return settings, span


# ---- what is checked
def fault(run, span, settings):
    """What is wrong with a run; None if nothing is."""
    t0, t1 = span
    t = run.t if t1 >= t0 else -run.t
    norms = np.abs(np.linalg.norm(run.q, axis=1) - 1) if len(run.q) else np.zeros(0)
    m = run.angular_momentum
    if not run.success and (run.status == 0 or not run.message):
        return "a failure without a reason"
    if run.success and run.status != 0:
        return "a success with a status"
    if not (np.isfinite(run.t).all() and np.isfinite(run.q).all()):
        return "not finite"
    if m is not None and not np.isfinite(m).all():
        return "the momentum is not finite"
    if norms.size and norms.max() > NORM:
        return f"|q| is off by {norms.max():.1e}"
    if len(run.q) != len(t) or (t[1:] < t[:-1]).any():
        return "times in disorder"
    if len(t) and (run.t.min() < min(span) or run.t.max() > max(span)):
        return "times outside the span"
    wanted = settings.get("t_eval")
    if wanted is None and (len(t) == 0 or run.t[0] != t0 or (run.success and run.t[-1] != t1)):
        return "the ends of the span are missing"
    if wanted is not None and run.success and not np.array_equal(run.t, wanted):
        return "times of t_eval are missing"
    return None


# ---- one solver
def begin(rng, kind, name, variables):
    """(solver, span, settings, starts) of one random problem."""
    if kind.endswith("frame"):
        late = decades(rng, -3, 9)
        speed = 1.0 + 0.2 * late
        settings, span = random_settings(rng, ph.INTEGRATORS[name].adaptive, speed, late)
        given = {"method": name, "formulation": variables, "frame": kind.split()[0]}
        solver = ph.prepare_angular_velocity(turning, **given, **settings)
        return solver, span, settings, [{"attitude": q} for q in Rotation.random(STARTS, rng)]
    body = random_body(rng)
    method = ph.METHODS.get(name)
    takes_rate = method is None or method.takes_rate
    free = name == "auto" or (method is not None and method.free_only)
    params = random_params(rng, body, takes_rate)
    model = None if free else ph.torque(forced, params, depends_on_omega=takes_rate)
    starts = [random_start(rng, body) for _ in range(STARTS)]
    speed = max(float(np.linalg.norm(starts[0]["omega"])), 1e-290)
    adaptive = method is None and name != "auto" and ph.INTEGRATORS[name].adaptive
    settings, span = random_settings(rng, adaptive, speed, decades(rng, -3, 3) / speed)
    problem = ph.Problem(body, model, **starts[0])
    given = {"method": name, **({"formulation": variables} if kind == "body" else {})}
    solver = ph.prepare(problem, **given, **settings)
    if not free:
        for start in starts:
            start["params"] = random_params(rng, body, takes_rate)
    return solver, span, settings, starts


def attempt(campaign, place, starts):
    """Solve a random problem of one kind from several starts."""
    kind = KINDS[place[0]]
    rng = np.random.default_rng([SEED, *place])
    counts, words = campaign.counts, f"{' '.join(map(str, kind))}, seed {[SEED, *place]}"
    try:
        solver, span, settings, found = begin(rng, *kind)
    except ph.PolhodeError:
        counts["problems"] += 1
        counts["refused"] += 1
        return
    except Exception as error:
        campaign.fail(f"{words}: {type(error).__name__}: {error}")
        return
    for number, start in enumerate(found[:starts]):
        counts["problems"] += 1
        try:
            run = solver(span, **start)
            wrong = fault(run, span, settings)
            counts["ok" if run.success else run.status.name.lower()] += 1
            counts["rows"] += len(run.t)
        except ph.PolhodeError:
            wrong = None
            counts["refused"] += 1
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            campaign.fail(f"{words}, start {number}: {wrong}")


@pytest.mark.parametrize("group", GROUPS)
def test_random_problems(campaign, request, group):
    """Kind after kind; each has its share of the problems, whose number is for all groups."""
    made = campaign(f"random problems, {group}", 21, 20_000)
    slow = request.config.getoption("--slow")
    starts, stride = (STARTS, 1) if slow else (1, len(KINDS) // made.size)
    each = -(-made.size * stride // (starts * len(KINDS)))
    chosen = [number for number, kind in enumerate(KINDS) if kind in GROUPS[group]][::stride]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", ph.PolhodeWarning)
        try:
            for number in chosen:
                made.counts["kinds"] += 1
                for trial in range(each):
                    faulthandler.dump_traceback_later(HANG, exit=True, file=sys.__stderr__)
                    attempt(made, (number, trial), starts)
        finally:
            faulthandler.cancel_dump_traceback_later()
    made.close()
