"""``RateProblem``: a motion with a given angular velocity, kept together like a ``Problem``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from polhode.errors import InputError
from polhode.problems.problem import quaternion
from polhode.results.trajectory import Trajectory
from polhode.solvers.angular_velocity import prepare_angular_velocity


@dataclass(frozen=True, kw_only=True, eq=False)
class RateProblem:
    """An angular velocity and how the motion starts, for ``ph.fit``.

    Parameters
    ----------
    omega, frame, variables, slope, params, scale : as in ``ph.integrate_angular_velocity``; with
        ``params`` by name, ``{"amplitude": 0.3}``, those that are numbers can be fitted
    attitude : at the start, as there, with ``scalar_first``
    name : for results

    Examples
    --------
    >>> import polhode as ph
    >>> def nodding(t, q, params):
    ...     return 0.0, params[0] * math.cos(t), 1.0
    >>> import math
    >>> motion = ph.RateProblem(omega=nodding, frame="body", params={"size": 0.1})
    >>> motion.solve((0, 1), rtol=1e-9).success
    True
    """

    omega: Callable
    frame: str
    attitude: Any = None
    scalar_first: bool | None = None
    variables: Mapping[str, Any] | None = None
    slope: Callable | None = None
    params: Any = ()
    scale: Mapping[str, float] | None = None
    name: str = ""

    moves: ClassVar[bool] = False

    def __post_init__(self) -> None:
        q = quaternion(self.attitude, self.scalar_first)
        object.__setattr__(self, "attitude", q)
        object.__setattr__(self, "scalar_first", True)
        if not callable(self.omega):
            raise InputError(f"omega must be a function, got {self.omega!r}")

    def prepare(self, **arguments: Any) -> Callable[[Sequence[float]], Trajectory]:
        """Return a function of the time span; ``arguments`` as in ``prepare_angular_velocity``."""
        given: dict[str, Any] = {
            "variables": self.variables,
            "slope": self.slope,
            "scale": self.scale,
        }
        solver = prepare_angular_velocity(
            self.omega, frame=self.frame, params=self.params, **given, **arguments
        )
        solver.name = self.name
        return partial(solver, attitude=self.attitude, scalar_first=True)

    def solve(self, t_span: Sequence[float], **arguments: Any) -> Trajectory:
        """Integrate over a time span; ``arguments`` as in ``integrate_angular_velocity``."""
        return self.prepare(**arguments)(t_span)

    def __repr__(self) -> str:
        title = f"{self.name}: " if self.name else ""
        name = getattr(self.omega, "__name__", repr(self.omega))
        return f"<RateProblem {title}{name}, attitude {list(self.attitude)} (w, x, y, z)>"
