"""Sampled angular velocities: errors and costs.

Errors on the precessing binary of Boyle (26), (27), even and jittered times, body axes; nanoseconds
a sample of ``integrate_samples``, estimate and checks included, for a million samples; and
numpy-quaternion's ``integrate_angular_velocity`` on one table (inertial axes).
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.bench.peers import peer
from polhode.bench.records import Bench, Finding, Key, Settings, Table
from polhode.bench.timing import round_robin, time_table
from polhode.problems.given_motions import PRECESSING_BINARY

ORDERS = 2, 4, 6, 8
ORBIT, ORBITS = 1000.0, 20


# ---- the motion
def attitude(t: Any) -> Rotation:
    """Return the attitude of the binary, at one time or many."""
    times = np.atleast_1d(np.asarray(t, float)).tolist()
    q = np.array([PRECESSING_BINARY.attitude(each) for each in times])
    return Rotation.from_quat(q if np.ndim(t) else q[0], scalar_first=True)


def rate(t: np.ndarray, frame: str) -> np.ndarray:
    inertial = np.array([PRECESSING_BINARY.omega(each) for each in t.tolist()])
    return inertial if frame == "inertial" else attitude(t).inv().apply(inertial)


def samples(t: np.ndarray, frame: str, kind: str) -> np.ndarray:
    if kind == "rate":
        return rate(t, frame)
    x, w = np.polynomial.legendre.leggauss(12)
    h, middle = np.diff(t), (t[1:] + t[:-1]) / 2
    parts = [wj * rate(middle + xj * h / 2, frame) for xj, wj in zip(x, w, strict=True)]
    return np.sum(parts, axis=0) * h[:, None] / 2


def largest_error(run: ph.Trajectory) -> float:
    return float((run.rotation.inv() * attitude(run.t)).magnitude().max())


def jittered(length: float, n: int, size: float = 0.3) -> np.ndarray:
    steps = 1 + size * np.random.default_rng(0).uniform(-1, 1, n)
    t = np.r_[0.0, np.cumsum(steps)]
    return t * (length / t[-1])


# ---- tables
def errors(settings: Settings) -> Table:
    rows = []
    for times in ("even", "jittered"):
        for kind in ("rate", "increment"):
            for per_orbit in (16, 32, 64, 128)[: 1 if settings.quick else 4]:
                n = ORBITS * per_orbit
                t = np.linspace(0, ORBITS * ORBIT, n + 1)
                if times == "jittered":
                    t = jittered(ORBITS * ORBIT, n)
                values, start = samples(t, "body", kind), attitude(0.0)
                given: dict[str, Any] = {"frame": "body", "kind": kind, "attitude": start}
                runs = (ph.integrate_samples(values, t, order=each, **given) for each in ORDERS)
                rows.append((times, f"{kind}s", per_orbit, *map(largest_error, runs)))
    head = {"times": "times", "data": "data", "orbit": "an orbit"}
    head |= {f"order_{order}": f"order {order}" for order in ORDERS}
    return Table.of("Largest errors (rad)", head, rows)


def speed(settings: Settings) -> Table:
    count = settings.count("samples", quick=10_000)
    t, variants = jittered(count / 100.0, count - 1), {}
    rates = np.stack([np.sin(0.01 * t), np.cos(0.013 * t), 0.1 * np.sin(0.02 * t)], axis=1)
    for kind in ("rate", "increment"):
        values = rates if kind == "rate" else rates[1:] * np.diff(t)[:, None]
        for order in ORDERS:
            call = partial(ph.integrate_samples, values, t, frame="body", kind=kind, order=order)
            variants[f"{kind}s, order {order}"] = call, count
    times = round_robin(variants, settings.repeats)
    return time_table(f"{count} samples", "a sample", times, "ns")


def against_peer(settings: Settings) -> Iterator[Finding]:
    quaternion = peer("numpy-quaternion")
    if quaternion is None:
        return
    orbits = 2 if settings.quick else 10
    t = jittered(orbits * ORBIT, orbits * 64)
    values, start = rate(t, "inertial"), attitude(0.0)
    first = quaternion.quaternion(*start.as_quat(scalar_first=True))

    def theirs(tolerance: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return quaternion.integrate_angular_velocity(
                (t, values), 0.0, t[-1], R0=first, tolerance=tolerance
            )

    def ours(order: int) -> ph.Trajectory:
        return ph.integrate_samples(
            values, t, frame="inertial", kind="rate", order=order, attitude=start
        )

    variants: dict[str, tuple[Callable, float]] = {}
    found = {}
    for tolerance in (1e-8, 1e-12):
        name = f"numpy-quaternion, tolerance {tolerance:g}"
        variants[name] = partial(theirs, tolerance), 1
        times, attitudes = theirs(tolerance)
        q = Rotation.from_quat(quaternion.as_float_array(attitudes), scalar_first=True)
        found[name] = float((q.inv() * attitude(times)).magnitude().max())
    for order in (4, 6, 8):
        name = f"integrate_samples, order {order}"
        variants[name] = partial(ours, order), 1
        found[name] = largest_error(ours(order))
    taken = round_robin(variants, settings.repeats)
    rows = [(name, each.minimum / 1e6, found[name]) for name, each in taken.items()]
    head = {"what": f"{len(t)} samples, jittered", "ms_min": "ms", "error": "error (rad)"}
    yield Table.of("Against numpy-quaternion", head, rows)


@Bench(
    name="sampled",
    place=90,
    summary="attitude from sampled rates: errors, time a sample, against numpy-quaternion",
    needs=("numpy-quaternion",),
    repeats=5,
    keys={"samples": Key("1e6", "samples of the second table")},
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    settings.report("errors")
    yield errors(settings)
    settings.report("speed")
    yield speed(settings)
    settings.report("peer")
    yield from against_peer(settings)
