"""Histograms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polhode.ensembles.quantities import Labelled
from polhode.ensembles.reductions.base import TIME, Reduction, numbers
from polhode.errors import InputError


@dataclass(frozen=True)
class Histogram(Reduction):
    """The number of members between ``edges``, of a quantity with one component.

    The first count is of values below all edges, the last of those above.
    """

    text = "histogram(speed, 0, 1, 2)"
    one_component = True

    edges: Sequence[float] = ()

    def part(self, values):
        edges = np.array(self.edges, dtype=float)
        places = np.searchsorted(edges, values[:, 0], side="right")
        places[values[:, 0] == edges[-1]] = len(edges) - 1  # the last bin is closed
        return np.bincount(places, minlength=len(edges) + 1).astype(float)

    def join(self, a, b):
        return a + b

    def end(self, row):
        return {f"{self.label}_histogram": row}

    def check(self):
        edges = numbers(self.edges)
        if len(edges) < 2 or not (np.diff(edges) > 0).all():
            raise InputError(
                f"edges of a histogram must be two or more increasing numbers, got {self.edges!r}"
            )

    def describe(self, name, values):
        edge = f"{self.label}_edge"
        attrs = {"long_name": f"members from this edge to the next: {self.caption.text}"}
        return Labelled((TIME, edge), values, attrs, {edge: [-np.inf, *map(float, self.edges)]})
