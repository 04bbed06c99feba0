"""What a trial step of extrapolation costs: a substep of four columns side by side, and the rest.

Columns of 8, 16, 32 and 64 substeps, with the tops of ``polhode bench highorder``: the slope of the
time of a trial over its substeps is the cost of one, and what is left is that of the sums, the
error and the next step.  Then ensembles: what a step costs where a register holds 8 bodies (with
AVX-512; ``NUMBA_CPU_FEATURES`` turns it off) or 4.

    python design/substeps.py
"""

from dataclasses import replace
from types import MappingProxyType

import numpy as np

import polhode as ph
from polhode.bench.time_to_accuracy.highorder import TOPS
from polhode.bench.timing import timed
from polhode.compiler.four import BODIES
from polhode.integrators import extrapolation
from polhode.tableaus.extrapolation import COLUMNS, Columns

CHAINS = {
    8: ((8,), (6,), (4,), (2,)),
    16: ((16,), (14,), (12,), (10,)),
    32: ((32,), (30,), (28,), (26,)),
    64: ((64,), (60,), (56,), (50,)),
}
REPEATS, MEMBERS = 61, 1024


def alone():
    made = {str(n): Columns(name=str(n), lanes=lanes) for n, lanes in CHAINS.items()}
    extrapolation.COLUMNS = MappingProxyType({**COLUMNS, **made})
    for top in TOPS.values():
        calls, trials = {}, {}
        for n in CHAINS:
            record = replace(extrapolation.integrator(str(n), True), suited=None)
            solver = ph.prepare(top.problem, method=record, rtol=1e-8 if n > 8 else 1e-5, atol=0.0)
            run = solver((0.0, top.end))
            trials[n] = run.nsteps + run.rejected
            calls[n] = lambda s=solver, end=top.end: s((0.0, end))
        times = timed(calls, REPEATS)
        each = [times[n].minimum / trials[n] for n in CHAINS]
        substep, rest = np.polyfit([*CHAINS], each, 1)
        print(f"{top.title}: {substep:.2f} ns a substep, {rest:.0f} ns a trial besides")


def in_lanes():
    problem = TOPS["1"].problem
    spins = ph.distributions.OnSphere(8.0)
    asked = {"vary": {"omega": spins}, "seed": 1, "threads": 1, "save": [10.0], "rtol": 1e-8}
    run = ph.solve_ensemble(problem, (0, 10.0), members=MEMBERS, **asked)
    call = {0: lambda: ph.solve_ensemble(problem, (0, 10.0), members=MEMBERS, **asked)}
    time = timed(call, 15)[0].minimum / run.nsteps.sum()
    print(f"{BODIES} bodies in a register: {time:.0f} ns a step of one, {BODIES * time:.0f} of all")


if __name__ == "__main__":
    alone()
    in_lanes()
