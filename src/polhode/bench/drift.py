"""One exact drift of a free body, asymmetric or symmetric, as in a step of a splitting method.

Each drift starts where the last one ends, so this is the time from one to the next: the turn of the
body, its product with the attitude, and the momentum turned back.  A time is the mean over a few
bodies with random momenta; the step is given by the angle |omega| h of the turn.
"""

from collections.abc import Callable, Iterator

import numpy as np

from polhode.bench.records import Bench, Finding, Settings, Table, at_most
from polhode.bench.timing import round_robin
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels.free_flow import free_drift
from polhode.kernels.quaternion import product1
from polhode.kernels.symmetric_flow import symmetric_drift_3
from polhode.kernels.vector import add

ANGLES = 0.02, 0.1, 0.4, 1.0, 3.0
BODIES = {
    "asymmetric": [(2.0, 3.0, 4.5), (1.0, 2.0, 2.5), (1.9, 1.1, 1.0), (3.0, 5.0, 4.0)],
    "symmetric": [(2.0, 2.0, 3.5), (5.0, 5.0, 1.0), (1.0, 1.0, 1.1), (3.0, 3.0, 3.0)],
}
DRIFTS, SMALL = 2000, 0.4
AT_MOST = {"asymmetric": 150.0, "symmetric": 60.0}  # ns, of a small step


def drifts(count, h, q, m, moments, inverse):
    for _ in range(count):
        (c1, v), change = free_drift(h, m, moments, inverse)
        q, m = product1(q, c1, v), add(m, change)
    return q, m


def calls(kind: str, angle: float) -> Callable[[], list]:
    """Return a call that drifts every body of a kind."""
    drift = symmetric_drift_3 if kind == "symmetric" else free_drift
    random, run = np.random.default_rng(1), compiled(bind(drifts, {free_drift: drift}))
    arguments = []
    for moments in BODIES[kind]:
        omega = random.normal(size=3)
        m = tuple((np.array(moments) * omega).tolist())
        h = angle / float(np.linalg.norm(omega))
        inverse = tuple(1.0 / moment for moment in moments)
        arguments.append((DRIFTS, h, (1.0, 0.0, 0.0, 0.0), m, moments, inverse))
    return lambda: [run(*each) for each in arguments]


@Bench(
    name="drift",
    place=140,
    summary="a drift of an exactly solved free body",
    repeats=25,
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    variants = {
        (kind, angle): (calls(kind, angle), DRIFTS * len(BODIES[kind]))
        for kind in BODIES
        for angle in ANGLES
    }
    times = round_robin(variants, settings.repeats)
    rows = [(*key, each.minimum, each.median) for key, each in times.items()]
    head = {"body": "body", "angle": "|ω| h", "ns_min": "ns min", "ns_median": "ns median"}
    yield Table.of("A drift", head, rows)
    for kind, most in AT_MOST.items():
        worst = max(times[kind, angle].minimum for angle in ANGLES if angle <= SMALL)
        yield at_most(f"a small step, {kind}, in ns", worst, most)
