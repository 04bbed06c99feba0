"""One exact drift of an asymmetric free body, as a step of a splitting makes it.

    python benchmarks/drift.py [--json FILE] [--repeats N]

Each drift starts from the end of the last, so this is the time from one to the next: the turn of
the body, its product with the attitude, and the momentum turned back.  A time is the mean over a
few bodies with random momenta; the step is given by the angle |omega| h of the turn.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from common import round_robin, table, write_json
from polhode._compile import compiled
from polhode.kernels.free_flow import free_turn
from polhode.kernels.quaternion import product1, turned_back

ANGLES = 0.02, 0.1, 0.4, 1.0, 3.0
BODIES = (2.0, 3.0, 4.5), (1.0, 2.0, 2.5), (1.9, 1.1, 1.0), (3.0, 5.0, 4.0)
DRIFTS, MOST_OF_A_SMALL_STEP = 2000, 150.0


def drifts(count, h, q, m, moments, inverse):
    for _ in range(count):
        (c1, v), _ = free_turn(h, m, moments, inverse)
        q, m = product1(q, c1, v), turned_back(c1, v, m)
    return q, m


def calls(angle: float) -> Callable:
    """A call that drifts every body."""
    random, run = np.random.default_rng(1), compiled(drifts)
    arguments = []
    for moments in BODIES:
        omega = random.normal(size=3)
        m = tuple((np.array(moments) * omega).tolist())
        h = angle / float(np.linalg.norm(omega))
        inverse = tuple(1.0 / moment for moment in moments)
        arguments.append((DRIFTS, h, (1.0, 0.0, 0.0, 0.0), m, moments, inverse))
    return lambda: [run(*each) for each in arguments]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    parser.add_argument("--repeats", type=int, default=25, help="of every angle, at least 7")
    options = parser.parse_args()
    repeats = max(7, options.repeats)

    variants = {str(angle): (calls(angle), DRIFTS * len(BODIES)) for angle in ANGLES}
    times = round_robin(variants, repeats)
    rows = [
        {"angle": angle, "ns_min": each.minimum, "ns_median": each.median}
        for angle, each in times.items()
    ]
    print(table(("|omega| h", "ns min", "ns median"), rows), end="\n\n")
    worst = max(times[str(angle)].minimum for angle in ANGLES if angle <= 0.4)
    met = "met" if worst <= MOST_OF_A_SMALL_STEP else "MISSED"
    verdict = f"a small step: {worst:.0f} ns, at most {MOST_OF_A_SMALL_STEP:.0f}: {met}"
    print(verdict)
    if options.json is not None:
        write_json(options.json, {"repeats": repeats, "drift": rows, "verdicts": [verdict]})


if __name__ == "__main__":
    main()
