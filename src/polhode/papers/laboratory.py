"""What the laboratories of the papers share: runs that must succeed, and errors at their ends."""

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.contracts import Method, Model
from polhode.papers.rotations import matrix
from polhode.papers.verdicts import Untestable
from polhode.problems.problem import Problem
from polhode.results.trajectory import Trajectory
from polhode.solvers.entry import solve

WHOLE_RUN = 10**9  # save_every: the ends only

Progress = Callable[[str], None]


class Laboratory:
    """The results that the claims and figures of a paper share, each computed once on first use.

    ``quick`` takes fewer and shorter runs; ``progress`` is called with a line of text before
    anything that takes time.
    """

    def __init__(self, quick: bool, progress: Progress):
        self.quick = quick
        self.progress = progress

    @property
    def form(self) -> str:
        """How a quick and a full form run what they time, in words."""
        return "plain Python" if self.quick else "compiled"

    def run(
        self,
        problem: Problem,
        method: str | Method,
        t_end: float,
        dt: float,
        save_every: int = 1,
        *,
        may_stop: bool = False,
        **more: Any,
    ) -> Trajectory:
        """A run from time 0; one that stops early is not a measurement, unless it may.

        ``more`` are other arguments of ``solve``.
        """
        run = solve(problem, (0.0, t_end), method=method, dt=dt, save_every=save_every, **more)
        if not (run.success or may_stop):
            raise Untestable(f"{run.method} on {problem.name}: {run.message}")
        return run


def under(problem: Problem, model: Model) -> Problem:
    """Return the same start of the same body with another model."""
    return Problem(
        problem.body,
        model,
        problem.attitude,
        angular_momentum=problem.angular_momentum,
        scalar_first=True,
        name=problem.name,
    )


def end_errors(
    run: Trajectory, end: tuple[np.ndarray, np.ndarray], norm: int | None = None
) -> tuple[float, float]:
    """The errors in (momentum, attitude matrix) against ``end = (R, m)``; NaN if the run stopped.

    ``norm`` is that of the matrix, by default Frobenius's; 2 is the spectral norm.
    """
    if not run.success:
        return float("nan"), float("nan")
    attitude, momentum = end
    return (
        float(np.linalg.norm(run.angular_momentum[-1] - momentum)),
        float(np.linalg.norm(matrix(run.q[-1]) - attitude, norm)),
    )
