"""What a step of Adams's method costs in the variables of Fukushima 1995 and their rivals.

The model Earth, 128 steps a revolution; ratios to Euler's angles, all variables in turn in one
process, by the CPU time of the thread.  The time of a call and of the first steps is taken away:
a run of one revolution is subtracted.  Then the worst attitude within 33 000 revolutions.
"""

import argparse
import statistics
import time

import polhode as ph
from polhode.celestial.model_orbits import orientation_error, truth

NAMES = (
    "euler-angles",
    "quaternion",
    "encke-euler",
    "encke-quaternion",
    "fukushima",
    "fukushima-departures",
)
A_TURN = 128


def took(solver, turns):
    begin = time.thread_time_ns()
    solver((0.0, float(turns)))
    return time.thread_time_ns() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument("--turns", type=int, default=400, help="revolutions of a timed run")
    parser.add_argument("--long", type=int, default=33_000, help="revolutions for the accuracy")
    options = parser.parse_args()
    problem = ph.celestial.rigid_earth_model()
    common = {"method": "adams", "dt": 1 / A_TURN, "save_every": A_TURN * options.turns}
    solvers = {name: ph.prepare(problem, formulation=name, **common) for name in NAMES}
    times: dict[str, list[float]] = {name: [] for name in NAMES}
    for repeat in range(options.repeats + 1):
        for name, solver in solvers.items():
            steps = A_TURN * (options.turns - 1)
            each = (took(solver, options.turns) - took(solver, 1)) / steps
            if repeat:  # the first compiles
                times[name].append(each)
    right = {turns: q for turns, (q, _) in truth(problem.name).items() if turns <= options.long}
    print("variables               ns a step  ratio: least  median   worst attitude")
    for name, ns in times.items():
        ratios = [a / b for a, b in zip(ns, times[NAMES[0]], strict=True)]
        run = ph.solve(
            problem, (0.0, max(right)), formulation=name, method="adams", dt=1 / A_TURN,
            t_eval=[float(turns) for turns in right],
        )  # fmt: skip
        off = max(map(orientation_error, run.q, right.values()))
        print(
            f"{name:22s} {min(ns):10.1f} {min(ns) / min(times[NAMES[0]]):14.2f}"
            f" {statistics.median(ratios):7.2f} {off:16.1e}"
        )


if __name__ == "__main__":
    main()
