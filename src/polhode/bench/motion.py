"""One body with six degrees of freedom: RKN4 on a spring against the same in C.

``C, same operations`` is ``motion.c`` compiled without liberties: it must give the library's result
to the last bit, and this is checked.  ``C, fastest`` is the same source with -Ofast.  Ratios are
C's time over ours, of the minima.  Below them: the time of a step of other methods.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

import polhode as ph
from polhode.bench.in_c import Loop, against_c
from polhode.bench.peers import COMPILER
from polhode.bench.records import Bench, Finding, Settings
from polhode.bench.single import QUICK_STEPS
from polhode.bench.tops import recorder
from polhode.compiler.tree import flat
from polhode.methods.translation import with_translation

STEPS, STEP, LEAST = 20_000, 1e-3, 0.9
OTHERS = "mr2", "imidm", "strang4", "mkrk:rk4"
PROBLEM = ph.Problem(
    ph.RigidBody([2.0, 3.0, 4.5], mass=1.3),
    ph.models.spring(3.0, anchor=(0.2, 0.0, 0.1), point=(0.5, -0.3, 0.8)),
    omega=(0.5, 0.7, -0.6),
    position=(1.0, 0.3, -0.2),
    velocity=(0.1, 0.4, 0.0),
)


@Bench(
    name="motion",
    place=100,
    summary="a step with six degrees of freedom, against the same operations in C",
    needs=(COMPILER,),
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    steps = QUICK_STEPS if settings.quick else STEPS
    state, body, model = PROBLEM.state, PROBLEM.body.data, PROBLEM.model
    inertia, inverse, _, mass, light = body
    in_c = np.array([*inertia, *inverse, mass, light]), np.array(flat(model.numbers))
    loops = {}
    for name in ("rkn4", *OTHERS):
        record = recorder(with_translation(ph.METHODS[name], False), model, numbers=13)
        loops[name] = Loop(partial(record, steps, STEP, state, body, model.params))
    loops["rkn4"] = Loop(loops["rkn4"].ours, "rkn4", in_c, LEAST, LEAST)
    grid = steps, STEP, state
    yield from against_c("Six degrees of freedom", "motion.c", loops, grid, settings)
