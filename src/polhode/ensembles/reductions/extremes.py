"""Least and greatest values."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polhode.ensembles.reductions.base import Reduction


@dataclass(frozen=True)
class Extremes(Reduction):
    """The least and the greatest value of every component."""

    text = "extremes(energy)"
    words: ClassVar = {"min": "least", "max": "greatest"}

    def part(self, values):
        if len(values) == 0:
            return np.repeat([np.inf, -np.inf], values.shape[1])
        return np.concatenate([values.min(axis=0), values.max(axis=0)])

    def join(self, a, b):
        k = len(a) // 2
        return np.concatenate([np.minimum(a[:k], b[:k]), np.maximum(a[k:], b[k:])])

    def end(self, row):
        k = len(row) // 2
        row = np.where(np.isfinite(row), row, np.nan)
        return {f"{self.label}_min": row[:k], f"{self.label}_max": row[k:]}
