"""Quantiles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polhode.ensembles.quantities import Labelled
from polhode.ensembles.reductions.base import TIME, ValuesReduction, numbers
from polhode.errors import InputError


@dataclass(frozen=True)
class Quantiles(ValuesReduction):
    """Exact quantiles of a quantity with one component.

    Needs the values of all members at all its times: 8 bytes each.  A ``Histogram`` needs next to
    nothing.
    """

    text = "quantiles(speed, 0.05, 0.5, 0.95)"

    levels: Sequence[float] = (0.05, 0.5, 0.95)

    def of_values(self, values):
        """From values (times, members); NaN does not count."""
        with np.errstate(all="ignore"):
            found = np.nanquantile(values, self.levels, axis=1)
        return {f"{self.label}_quantiles": found.T}

    def check(self):
        levels = numbers(self.levels)
        if not len(levels) or not ((levels >= 0) & (levels <= 1)).all():
            raise InputError(
                f"levels of quantiles must be one or more numbers from 0 to 1, got {self.levels!r}"
            )

    def describe(self, name, values):
        level, (_, units, text) = f"{self.label}_level", self.caption
        attrs = ({"units": units} if units else {}) | {"long_name": f"quantiles of: {text}"}
        return Labelled((TIME, level), values, attrs, {level: list(map(float, self.levels))})
