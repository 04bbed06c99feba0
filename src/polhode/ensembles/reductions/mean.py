"""Mean and standard deviation."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polhode.ensembles.reductions.base import Reduction


@dataclass(frozen=True)
class Mean(Reduction):
    """Mean and standard deviation of every component."""

    text = "mean(omega)"
    words: ClassVar = {"mean": "mean", "std": "standard deviation"}

    def part(self, values):
        n = len(values)
        if n == 0:
            return np.zeros(1 + 2 * values.shape[1])
        mean = values.mean(axis=0)
        return np.array([n, *mean, *((values - mean) ** 2).sum(axis=0)])

    def join(self, a, b):
        if a[0] == 0 or b[0] == 0:
            return b if a[0] == 0 else a
        k = len(a) // 2
        n, off = a[0] + b[0], b[1 : k + 1] - a[1 : k + 1]
        mean = a[1 : k + 1] + off * (b[0] / n)
        return np.array([n, *mean, *(a[k + 1 :] + b[k + 1 :] + off**2 * (a[0] * b[0] / n))])

    def end(self, row):
        k, n = len(row) // 2, row[0]
        if n == 0:
            none = np.full(k, np.nan)
            return {f"{self.label}_mean": none, f"{self.label}_std": none}
        return {
            f"{self.label}_mean": row[1 : k + 1],
            f"{self.label}_std": np.sqrt(row[k + 1 :] / max(n - 1, 1)),
        }
