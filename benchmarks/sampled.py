"""Sampled angular velocities: ``python benchmarks/sampled.py``.

Errors on the precessing binary of Boyle (26), (27), even and jittered times, body axes; nanoseconds
a sample of ``integrate_samples``, estimate and checks included, for a million samples; and, where
numpy-quaternion is installed, its ``integrate_angular_velocity`` on one table (inertial axes).
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import polhode as ph
from common import installed, parser, round_robin, table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from gyros import BINARY, ORBIT, jittered

ORDERS = 2, 4, 6, 8
ORBITS = 20


def integrated(t, frame, kind, order):
    values = BINARY.samples(t, frame, kind)
    start = BINARY.attitude(0.0)
    return ph.integrate_samples(values, t, frame=frame, kind=kind, order=order, attitude=start)


def errors() -> str:
    rows = []
    for times in ("even", "jittered"):
        for kind in ("rate", "increment"):
            for per_orbit in (16, 32, 64, 128):
                n = ORBITS * per_orbit
                t = np.linspace(0, ORBITS * ORBIT, n + 1)
                if times == "jittered":
                    t = jittered(ORBITS * ORBIT, n)
                runs = [integrated(t, "body", kind, order) for order in ORDERS]
                found = {
                    o: f"{BINARY.errors(r).max():.1e}" for o, r in zip(ORDERS, runs, strict=True)
                }
                rows.append({"times": times, "kind": f"{kind}s", "n": per_orbit, **found})
    return table(["times", "data", "an orbit", *(f"order {o}" for o in ORDERS)], rows)


def speed(samples: int, repeats: int) -> str:
    t = jittered(samples / 100.0, samples - 1)
    variants = {}
    for kind in ("rate", "increment"):
        values = BINARY.body_rate(t)
        if kind == "increment":
            values = values[1:] * np.diff(t)[:, None]

        for order in ORDERS:

            def call(values=values, kind=kind, order=order):
                ph.integrate_samples(values, t, frame="body", kind=kind, order=order)

            variants[f"{kind}s, order {order}"] = call, samples
    times = round_robin(variants, repeats)
    rows = [{"n": k, "m": v.minimum, "d": v.median} for k, v in times.items()]
    return table(["ns a sample", "minimum", "median"], rows)


def peer(repeats: int) -> str:
    quaternion = installed("quaternion")
    if quaternion is None:
        return "numpy-quaternion is not installed"
    warnings.simplefilter("ignore")
    t = jittered(10 * ORBIT, 10 * 64)
    values, start = BINARY.rate(t, "inertial"), BINARY.attitude(0.0)
    first = quaternion.quaternion(*start.as_quat(scalar_first=True))

    def theirs(tolerance):
        return quaternion.integrate_angular_velocity(
            (t, values), 0.0, t[-1], R0=first, tolerance=tolerance
        )

    def ours(order):
        return ph.integrate_samples(
            values, t, frame="inertial", kind="rate", order=order, attitude=start
        )

    variants, found = {}, {}
    right = BINARY.attitude(t)
    for tolerance in (1e-8, 1e-12):
        name = f"numpy-quaternion, tolerance {tolerance:g}"
        variants[name] = lambda tolerance=tolerance: theirs(tolerance), 1
        times, attitudes = theirs(tolerance)
        right = BINARY.attitude(times)
        q = type(right).from_quat(quaternion.as_float_array(attitudes), scalar_first=True)
        found[name] = (q.inv() * right).magnitude().max()
    for order in (4, 6, 8):
        name = f"integrate_samples, order {order}"
        variants[name] = lambda order=order: ours(order), 1
        found[name] = BINARY.errors(ours(order)).max()
    times = round_robin(variants, repeats)
    rows = [
        {"n": name, "ms": v.minimum / 1e6, "e": f"{found[name]:.1e}"} for name, v in times.items()
    ]
    return table(["641 samples, jittered", "ms", "error"], rows)


if __name__ == "__main__":
    asked = parser(__doc__, 5, 1, results=False)
    asked.add_argument("--samples", type=int, default=1_000_000)
    args = asked.parse_args()
    print(errors(), speed(args.samples, args.repeats), peer(args.repeats), sep="\n\n")
