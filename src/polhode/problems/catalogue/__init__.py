"""The problems of the catalogue: one file each.

A file has a function that makes the problem, called ``ph.problems.fast_top`` outside, and either
``PROBLEM``, an ``Entry`` of ``ph.problems.CATALOGUE``, or ``RATES``, functions that make a
``GivenRate``, by name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, sin
from typing import Any

import numpy as np

from polhode.problems.given_motions import Quaternion, Turning, Vector
from polhode.problems.problem import Problem


@dataclass(frozen=True)
class Entry:
    """A problem of the catalogue, and how the paper runs it."""

    make: Callable[[], Problem]
    t_end: float
    dt: float
    method: str = "imidm"
    references: tuple[str, ...] = ("krysl2006",)

    @property
    def name(self) -> str:
        """The name of the function, with dashes."""
        return self.make.__name__.replace("_", "-")

    @property
    def summary(self) -> str:
        return (self.make.__doc__ or "").strip()


@dataclass(frozen=True)
class GivenRate:
    """A motion with a given angular velocity, whose attitude is known in closed form.

    >>> import polhode as ph
    >>> binary = ph.problems.precessing_binary()
    >>> run = ph.integrate_angular_velocity(
    ...     binary.omega, (0, 1e4), frame=binary.frame, attitude=binary.attitude, scalar_first=True
    ... )
    >>> bool(run.frame_error(binary.exact).max() < 1e-8)
    True
    """

    name: str
    motion: Turning
    span: tuple[float, float]
    references: tuple[str, ...] = ("boyle2017",)
    frame = "inertial"  # the axes of omega

    @property
    def omega(self) -> Callable[[float], Vector]:
        return self.motion.omega

    @property
    def attitude(self) -> Quaternion:
        """At the start of the span, (w, x, y, z)."""
        return self.motion.attitude(self.span[0])

    def exact(self, t: Any) -> np.ndarray:
        """The attitude (w, x, y, z) at a time, or at each of several."""
        rows = [self.motion.attitude(float(x)) for x in np.ravel(t)]
        return np.array(rows).reshape(*np.shape(t), 4)


def tilted(angle: float) -> dict[str, Any]:
    """The attitude of a body turned by ``angle`` about its axis 1, as arguments of ``Problem``."""
    return {"attitude": [cos(angle / 2), sin(angle / 2), 0.0, 0.0], "scalar_first": True}
