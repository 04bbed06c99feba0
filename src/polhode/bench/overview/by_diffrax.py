"""diffrax with double precision: Dormand and Prince's method of order 8, compiled once a problem.

The tolerance is an argument of the compiled function.
"""

import math
import os
from collections.abc import Iterator

import numpy as np

from polhode.bench.overview.cases import Case, Run, decades
from polhode.bench.peers import peer
from polhode.compiler.tree import bind


def by_diffrax(case: Case, quick: bool) -> Iterator[Run]:
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("XLA_FLAGS", flags)
    jax, diffrax = peer("JAX"), peer("diffrax")
    jax.config.update("jax_enable_x64", True)
    of = jax.numpy
    slope = bind(case.slope, {math.sin: of.sin, math.cos: of.cos})
    size = len(case.start)
    term = diffrax.ODETerm(lambda t, y, args: of.stack(slope(t, tuple(y[k] for k in range(size)))))

    @jax.jit
    def solve(start, tolerance):
        run = diffrax.diffeqsolve(
            term,
            diffrax.Dopri8(),
            0.0,
            case.end,
            None,
            start,
            saveat=diffrax.SaveAt(t1=True),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=1_000_000,
            throw=False,
        )
        return run.ys[0]

    start = of.asarray(np.array(case.start))
    for tolerance in decades(5, 14, quick):

        def call(tolerance: float = tolerance) -> np.ndarray:
            return np.asarray(solve(start, tolerance).block_until_ready())

        yield Run("diffrax", "Dopri8", f"tol {tolerance:.0e}", call, lambda y: y[:4])
