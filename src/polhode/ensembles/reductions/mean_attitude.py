"""The mean attitude."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polhode.ensembles.reductions.base import Reduction
from polhode.errors import InputError

UPPER = np.triu_indices(4)


@dataclass(frozen=True)
class MeanAttitude(Reduction):
    """The mean attitude (Markley et al. 2007) and the spread about it.

    The mean q is the eigenvector of M = Σ q qᵀ/n for its greatest eigenvalue λ, and the spread the
    root mean square of 2 sin(θ/2), θ being the angle from the mean: 2 √(1 - λ).
    """

    text = "attitude"
    words: ClassVar = {"mean": "mean"}

    of: str | Callable = "q"

    def part(self, values):
        return np.array([len(values), *(values.T @ values)[UPPER]])

    def join(self, a, b):
        return a + b

    def end(self, row):
        if row[0] == 0:
            return {"attitude_mean": np.full(4, np.nan), "attitude_spread": np.array([np.nan])}
        matrix = np.zeros((4, 4))
        matrix[UPPER] = row[1:] / row[0]
        values, vectors = np.linalg.eigh(np.triu(matrix) + np.triu(matrix, 1).T)
        q = vectors[:, -1]
        q = q if q[np.argmax(np.abs(q))] > 0 else -q
        left = np.sqrt(max(1.0 - values[-1] / values.sum(), 0.0))
        return {"attitude_mean": q, "attitude_spread": np.array([2.0 * left])}

    def check(self):
        if self.of != "q":
            raise InputError(f"reduce: MeanAttitude is for the attitude, not for {self.of!r}")

    def describe(self, name, values):
        found = super().describe(name, values)
        if name.endswith("spread"):
            text = "root mean square of 2 sin(angle/2) from the mean attitude"
            found = found._replace(attrs={"long_name": text})
        return found
