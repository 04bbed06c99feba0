"""Symplectic integrators on the model Earth: python design/symplectic_earth.py [revolutions]

``gauss``, in canonical variables and in others, beside the splitting ``strang`` with compensated
sums: the worst attitude (radians, against 113 bits), torques and CPU time of a revolution.  A line
of a run that stops says why.
"""

import sys
import time

import polhode as ph
from polhode.celestial.model_orbits import orientation_error, truth

RUNS = (  # method, variables, steps a revolution, order
    ("strang", None, 128, None),
    ("strang", None, 512, None),
    ("strang4", None, 32, None),
    ("gauss", "fukushima-canonical-departures", 64, 2),
    ("gauss", "fukushima-canonical", 2, 16),
    ("gauss", "fukushima-canonical", 4, 16),
    ("gauss", "fukushima-canonical-departures", 2, 16),
    ("gauss", "fukushima-canonical-departures", 4, 16),
    ("gauss", "serret-andoyer", 4, 16),
    ("gauss", "quaternion", 4, 16),
    ("gauss", "encke-quaternion", 4, 16),
)


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 33_000
    earth = ph.celestial.rigid_earth_model()
    right = {n: q for n, (q, _) in truth(earth.name).items() if n <= most}
    for method, variables, a_turn, order in RUNS:
        plan = {"method": method, "dt": 1 / a_turn, "save_every": a_turn}
        if variables is None:
            plan["compensated"] = True
        else:
            plan |= {"formulation": variables, "options": {"order": order}}
        solver = ph.prepare(earth, **plan)
        solver((0.0, 1.0))
        begin = time.thread_time()
        run = solver((0.0, float(max(right))))
        spent = 1e6 * (time.thread_time() - begin) / run.t[-1]
        worst = max(orientation_error(run.q[n], q) for n, q in right.items() if n < len(run.q))
        label = f"{method}{'' if order is None else f' of order {order}'}, {variables or ''}"
        line = f"{worst:.1e} rad, {run.nfev / run.t[-1]:.0f} torques, {spent:.1f} µs"
        print(f"{label:52s} {a_turn:4d} steps: {line}{'' if run.success else '; ' + run.message}")


if __name__ == "__main__":
    main()
