"""One body with six degrees of freedom: RKN4 on a spring against the same in C.

    python benchmarks/motion.py [--json FILE] [--repeats N]

``C, same operations`` is ``motion.c`` compiled without liberties: it must give the library's result
to the last bit, and this is checked.  ``C, fastest`` is the same source with -Ofast.  Ratios are
C's time over ours, of the minima.  Below them: what other methods need for a step.
"""

import ctypes
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import polhode as ph
from common import c_library, compilers, conclude, parser, round_robin, table
from polhode import loops
from polhode._motion import with_translation
from polhode._tree import flat
from polhode.contracts import OK
from single import KINDS, SAME, row, verdict

STEPS, STEP, LEAST = 20_000, 1e-3, 0.9
OTHERS = "mr2", "imidm", "strang4", "mkrk:rk4"
PROBLEM = ph.Problem(
    ph.RigidBody([2.0, 3.0, 4.5], mass=1.3),
    ph.models.spring(3.0, anchor=(0.2, 0.0, 0.1), point=(0.5, -0.3, 0.8)),
    omega=(0.5, 0.7, -0.6),
    position=(1.0, 0.3, -0.2),
    velocity=(0.1, 0.4, 0.0),
)


def recorder(name: str) -> Callable:
    """A call of the compiled loop, which returns the last state."""
    method, model, body = with_translation(ph.METHODS[name], False), PROBLEM.model, PROBLEM.body
    run = loops.build(loops.record, method, model)
    weights, offsets = loops.substeps(method)
    out, sides, state = np.empty((1, 13)), np.zeros(1), PROBLEM.state
    carry = loops.joined(method.start, None, model)(0.0, STEP, state, body.data, model.params)
    grid = 0.0, STEP, 0, np.array([STEPS]), sides, weights, offsets, True

    def go():
        found, _, status, *_ = run(*grid, state, carry, body.data, model.params, out)
        assert status == OK
        return flat(found)

    return go


def in_c(library: ctypes.CDLL) -> Callable:
    function = library.rkn4
    function.restype = ctypes.c_long
    array = np.ctypeslib.ndpointer(np.float64)
    function.argtypes = ctypes.c_long, ctypes.c_double, array, array, array
    inertia, inverse, _, mass, light = PROBLEM.body.data
    body, spring = np.array([*inertia, *inverse, mass, light]), flat(PROBLEM.model.numbers)
    first, work, spring = np.array(flat(PROBLEM.state)), np.empty(13), np.array(spring)

    def go():
        work[:] = first
        assert function(STEPS, STEP, work, body, spring) >= 0
        return work

    return go


def main() -> None:
    options = parser(__doc__).parse_args()
    ours = recorder("rkn4")
    calls: dict = {("rkn4", None): ours}
    with tempfile.TemporaryDirectory() as folder:
        for kind, flags in KINDS.items():
            for compiler in compilers():
                source = Path(__file__).with_suffix(".c")
                call = in_c(c_library(compiler, flags, source, Path(folder)))
                same = np.array_equal(call(), ours())
                assert same or kind != SAME, f"{compiler} gives other bits"
                calls[kind, compiler] = call
        calls |= {(name, None): recorder(name) for name in OTHERS}
        times = round_robin({key: (call, STEPS) for key, call in calls.items()}, options.repeats)
    least = times["rkn4", None].minimum
    rows, ratios = [], {}
    for (what, compiler), taken in times.items():
        if compiler is not None:
            ratios[what, compiler] = taken.minimum / least
        title = what if compiler is None else f"  {what}, {compiler}"
        rows.append(row(title, taken, ratios.get((what, compiler))))
    print(table(("six degrees of freedom, a step", "ns min", "ns median", "C / ours"), rows))
    print()
    verdicts = []
    if ratios:
        same = min(ratio for (kind, _), ratio in ratios.items() if kind == SAME)
        verdicts = [
            verdict("rkn4: speed over the same operations in C", same, LEAST),
            verdict("rkn4: speed over the fastest C", min(ratios.values()), LEAST),
        ]
    else:
        print("No C compiler found: only the times of the library.")
    conclude(options, {"steps": rows}, verdicts)


if __name__ == "__main__":
    main()
