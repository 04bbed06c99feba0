"""Indicators of chaos: how tangents grow."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polhode.ensembles.reductions.base import GrowthReduction


@dataclass(frozen=True)
class FLI(GrowthReduction):
    """The fast Lyapunov indicator, the largest natural logarithm of a tangent so far.

    It grows as log t along regular motions, and linearly along chaotic ones (Froeschlé, Lega &
    Gonczi 1997).
    """

    text = "fli"
    words: ClassVar = {"": "fast Lyapunov indicator, the largest logarithm of a tangent"}

    def of_gauges(self, gauges):
        return gauges.largest.max(axis=1)


@dataclass(frozen=True)
class MEGNO(GrowthReduction):
    """The mean exponential growth factor of nearby orbits, its mean over time.

    It tends to 2 along quasi-periodic motions, to 0 along periodic ones that are stable in a linear
    sense, and grows as λ t/2 along chaotic ones (Cincotta & Simó 2000).  Of several tangents it is
    the mean.
    """

    text = "megno"
    words: ClassVar = {"": "mean exponential growth factor of nearby orbits, mean over time"}

    def of_gauges(self, gauges):
        with np.errstate(invalid="ignore", divide="ignore"):
            return (gauges.sum / gauges.time[:, None]).mean(axis=1)
