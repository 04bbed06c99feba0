"""SciPy's ``solve_ivp`` with a compiled right-hand side."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from polhode.bench.engines.tumbling import END, INERTIA, OMEGA, Motion, Variant, decades


@cache
def slope() -> Callable:
    """Return the right-hand side, compiled as a user of SciPy would."""
    import numba

    @numba.njit
    def compiled(t, state):
        c, x, y, z, p, r, s = state
        i1, i2, i3 = INERTIA
        return np.array(
            [
                -0.5 * (x * p + y * r + z * s),
                0.5 * (c * p + y * s - z * r),
                0.5 * (c * r + z * p - x * s),
                0.5 * (c * s + x * r - y * p),
                (i2 - i3) / i1 * r * s,
                (i3 - i1) / i2 * s * p,
                (i1 - i2) / i3 * p * r,
            ]
        )

    made: Callable = compiled
    return made


START = np.array([1.0, 0.0, 0.0, 0.0, *OMEGA])


def by_scipy(quick: bool) -> Iterator[Variant]:
    from scipy.integrate import solve_ivp

    def variant(name: str, tolerance: float) -> Variant:
        accuracy = {"rtol": max(tolerance, 2.3e-14), "atol": tolerance}  # the least it accepts

        def call() -> Any:
            return solve_ivp(slope(), (0.0, END), START, method=name, **accuracy)

        def motion() -> Motion:
            run = call()
            return run.t, run.y[:4].T, run.y[4:].T

        return Variant("SciPy", name, call, motion, tolerance=tolerance)

    for name, last in (("RK45", 10), ("DOP853", 14), ("LSODA", 13)):
        for tolerance in decades(3, last, quick):
            yield variant(name, tolerance)
