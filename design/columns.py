"""Which columns of Gragg's extrapolation are the fastest at which error: justifies its ``RULE``.

Three tops (those of ``polhode bench highorder``), six starts each.  For every set of columns, as
values and as increments, it prints the time of the compiled loop at the loosest tolerance whose
root mean square error over the starts, and those of the next two tolerances, reach an error.

    python design/columns.py
"""

from dataclasses import replace
from types import MappingProxyType

import numpy as np

import polhode as ph
from polhode.bench.time_to_accuracy.highorder import TOPS
from polhode.bench.timing import timed
from polhode.integrators import extrapolation
from polhode.tableaus.extrapolation import COLUMNS, Columns

OTHERS = {
    "12 from 2": ((32,), (30,), (24, 2), (18, 14)),
    "14 fast": ((32,), (26,), (18, 14), (12, 10, 8)),
    "16 calm": ((32,), (22, 10), (16, 12, 4), (8, 6)),
    "14 from 2": ((32,), (30, 2), (20, 12), (18, 14)),
    "16 from 2": ((32,), (22, 10), (20, 12), (16, 14, 2)),
    "18": ((32,), (24, 8), (18, 10, 4), (14, 12, 6)),
    "18 from 2": ((32,), (24, 8), (20, 10, 2), (14, 12, 6)),
}
ERRORS = 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 3e-13, 1e-13
TOLERANCES = 10.0 ** -np.arange(4.0, 14.51, 0.25)
STARTS = 6


def errors_of(record, tops, right, tolerance):
    """Return (rms error at the end, mean number of trials)."""
    options = {"method": record, "rtol": float(tolerance), "atol": 0.0}
    runs = [ph.solve(top.problem, (0.0, top.end), **options) for top in tops.starts]
    trials = np.mean([run.nsteps + run.rejected for run in runs])
    return tops.error([run.q[-1] for run in runs], right), trials


def main():
    made = {name: Columns(name=name, lanes=lanes) for name, lanes in OTHERS.items()}
    extrapolation.COLUMNS = MappingProxyType({**COLUMNS, **made})
    for top in TOPS.values():
        tops = replace(top, others=STARTS - 1)
        right = tops.extended()
        found, calls = {}, {}
        for name in extrapolation.COLUMNS:
            for values in (True, False):
                record = replace(extrapolation.integrator(name, values), suited=None)
                use = [t for t in TOLERANCES if (t > 0.9e-11 if values else t < 2e-7)]
                key = f"{name}, {'values' if values else 'increments'}"
                found[key] = [(t, *errors_of(record, tops, right, t)) for t in use]
                solver = ph.prepare(top.problem, method=record, rtol=1e-9, atol=0.0)
                count = len(solver((0.0, top.end)).t) - 1
                calls[key] = (lambda s=solver, end=top.end: s((0.0, end))), count
        times = timed({key: call for key, (call, _) in calls.items()}, 25)
        print(top.title)
        for error in ERRORS:
            rows = []
            for key, runs in found.items():
                for k in range(len(runs) - 2):
                    if max(e for _, e, _ in runs[k : k + 3]) <= error:
                        tolerance, _, trials = runs[k]
                        us = trials * times[key].minimum / calls[key][1] / 1e3
                        rows.append(
                            (us, f"{us:.1f} us {key} ({tolerance:.0e}, {trials:.1f} trials)")
                        )
                        break
            print(f"  {error:.0e} ", "; ".join(text for _, text in sorted(rows)[:5]))


if __name__ == "__main__":
    main()
