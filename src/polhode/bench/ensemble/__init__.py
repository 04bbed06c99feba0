"""Many bodies: mr2 in SIMD lanes against C with explicit vectors, JAX, and whole libraries.

Heavy tops, each with its own inertia, strength and start, one thread, nanoseconds of CPU time per
body and step.  ``C, same operations`` is ``ensemble.c`` with explicit vectors, compiled without
liberties, for turns of any angle: it must give our results to the last bit, and this is checked.
``C, fastest`` drops what can be dropped (kicks merged, the sign of q lost, fast-math).  Those for
short turns subtract no whole turns; the one checks for NaN like our quick lanes, the other for
nothing.  ``C, one by one`` is the natural loop with libm.  Of all compilers, widths and flags the
fastest counts.  JAX runs the same map with jit, vmap and scan, in double precision.

The second table is the cost of an accuracy with whole libraries: heyoka's batch and ensemble modes,
MuJoCo's batched rollout, diffrax, against our maps with fixed steps; the error is the root mean
square over bodies of the attitude error at the end, the reference SciPy's DOP853 at its tightest.

The third table takes every map of the registry that has lanes: its speed over that of one body, and
for splittings over the exact free motion also with symmetric bodies.
The last ones are about many bodies: the cost of a body and step, and the memory, in the lanes alone
and of ``ph.solve_ensemble`` with reductions.
"""

from collections.abc import Iterator

from polhode.bench.ensemble.accuracy import others
from polhode.bench.ensemble.by_everyone import same_map
from polhode.bench.ensemble.sizes import front, registry, scale
from polhode.bench.peers import COMPILER
from polhode.bench.records import Bench, Finding, Key, Settings

PARTS = "same", "others", "registry", "scale", "front"


@Bench(
    name="ensemble",
    place=20,
    summary="many bodies in SIMD lanes, against C with explicit vectors, JAX, heyoka, MuJoCo",
    needs=(COMPILER, "JAX", "diffrax", "heyoka", "MuJoCo"),
    long=True,
    repeats=61,
    keys={
        "parts": Key("", f"of {', '.join(PARTS)}; default: all"),
        "bodies": Key("4096", "bodies of the first table"),
        "methods": Key("", "maps of the third table; default: all that have lanes"),
    },
)
def benchmark(settings: Settings) -> Iterator[Finding]:
    tables = {"same": same_map, "others": others, "registry": registry}
    tables |= {"scale": scale, "front": front}
    for part in settings.choose("parts", PARTS):
        yield from tables[part](settings)
