"""First times."""

from dataclasses import dataclass

import numpy as np

from polhode.ensembles.quantities import Labelled
from polhode.ensembles.reductions.base import Reduction
from polhode.errors import InputError


@dataclass(frozen=True)
class FirstTime(Reduction):
    """For every member, the time of the first zero of a function like those for events.

    Its attribute ``direction`` works as in ``ph.solve``.  The function is evaluated after every
    step, or at 1001 times if members take their own steps; ``every`` sets the interval in seconds,
    rounded down to whole steps.  Two zeros in between are missed.  NaN: no zero.
    """

    every: float | None = None

    @property
    def result(self) -> str:
        return f"{self.label}_first_time"

    def combine(self, rows):
        """The result, from the times found, (members,)."""
        return {self.result: rows}

    def check(self):
        if isinstance(self.of, str):
            raise InputError("FirstTime takes a function f(t, q, omega)")
        try:
            positive = self.every is None or 0 < float(self.every) < np.inf
        except (TypeError, ValueError):
            positive = False
        if not positive:
            raise InputError(f"every must be a positive number of seconds, got {self.every!r}")

    def describe(self, name, values):
        attrs = {"long_name": f"time of the first zero of {self.label}", "units": "s"}
        return Labelled(("member",), values, attrs, {})

    def trial(self, values):
        return {self.result: self.describe(self.result, values[:, 0])}
