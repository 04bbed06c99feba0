"""SciPy's DOP853 with a right-hand side compiled by Numba, in both of its forms, and
numpy-quaternion, which uses the second one for an attitude from a given ω.

numpy-quaternion calls it for each step anew, so that its steps stay short: it is timed over a part
of the motion, for which its error counts, and the time is multiplied.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from polhode.bench.overview.cases import BINARY, TURNING, Case, Run, decades
from polhode.bench.time_to_accuracy import kinematics

PART = 1000  # of the motion, for numpy-quaternion


def by_scipy(case: Case, quick: bool) -> Iterator[Run]:
    from scipy.integrate import ode, solve_ivp

    slope, start = case.compiled, np.array(case.start)
    for tolerance in decades(4, 14, quick):

        def by_class(tolerance: float = tolerance) -> np.ndarray:
            accuracy = {"rtol": max(tolerance, 2.3e-14), "atol": tolerance}  # the least it accepts
            run = solve_ivp(slope, (0.0, case.end), start, method="DOP853", **accuracy)
            return np.asarray(run.y[:, -1])

        def by_translation(tolerance: float = tolerance) -> np.ndarray:
            run = ode(slope).set_integrator(
                "dop853", rtol=tolerance, atol=tolerance, nsteps=1_000_000
            )
            run.set_initial_value(start, 0.0)
            return np.asarray(run.integrate(case.end))

        setting = f"tol {tolerance:.0e}"
        yield Run("SciPy solve_ivp", "DOP853", setting, by_class, lambda y: y[:4])
        yield Run("SciPy ode", "dop853", setting, by_translation, lambda y: y[:4])


def by_quaternion(case: Case, quick: bool) -> Iterator[Run]:
    if case.name != TURNING:
        return
    for tolerance in (1e-2, 1e-4, 1e-6, 1e-9):
        call = partial(kinematics.by_quaternion(BINARY, tolerance), case.end / PART)
        name, setting = "numpy-quaternion", f"tol {tolerance:.0e}, a part"
        yield Run(name, "dop853", setting, call, lambda end: end[0], part=PART)
