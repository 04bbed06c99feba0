"""REBOUND's integrator of ordinary differential equations, Gragg, Bulirsch and Stoer's.

The right-hand side is compiled by Numba, and REBOUND gets its address: a function in Python, or
Numba's own function for ctypes, would be called through Python.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from polhode.bench.overview.cases import Case, Run, decades
from polhode.bench.peers import peer
from polhode.compiler.machine import compiled
from polhode.compiler.tree import bind
from polhode.kernels.trig import ELEMENTARY


def derivatives(case: Case) -> Any:
    """Return the right-hand side as a function in C; whoever uses its address has to keep it."""
    import numba
    from numba import types

    slope = compiled(bind(case.slope, ELEMENTARY))
    numbers = types.CPointer(types.double)

    def four(ode, out, y, t):
        out[0], out[1], out[2], out[3] = slope(t, (y[0], y[1], y[2], y[3]))

    def seven(ode, out, y, t):
        out[0], out[1], out[2], out[3], out[4], out[5], out[6] = slope(
            t, (y[0], y[1], y[2], y[3], y[4], y[5], y[6])
        )

    made = numba.cfunc(types.void(types.voidptr, numbers, numbers, types.double))
    return made(four if len(case.start) == 4 else seven)


def by_rebound(case: Case, quick: bool) -> Iterator[Run]:
    rebound, size, function = peer("REBOUND"), len(case.start), derivatives(case)
    for tolerance in decades(4, 15, quick):

        def call(tolerance: float = tolerance) -> np.ndarray:
            sim = rebound.Simulation()
            sim.integrator = "bs"
            sim.integrator.eps_abs = sim.integrator.eps_rel = tolerance
            sim.dt = case.end / 100.0
            ode = sim.create_ode(length=size, needs_nbody=False)
            ode._derivatives = rebound.ode.ODEDER(function.address)
            np.ctypeslib.as_array(ode.y, (size,))[:] = case.start
            sim.integrate(case.end)
            return np.ctypeslib.as_array(ode.y, (size,)).copy()  # elsewhere than before

        yield Run("REBOUND", "BS", f"tol {tolerance:.0e}", call, lambda y: y[:4])
