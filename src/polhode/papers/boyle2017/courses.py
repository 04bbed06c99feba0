"""Costs of one method relative to another, over the whole range of errors that both reach."""

from dataclasses import dataclass

import numpy as np

FINENESS = 4  # errors for each power of ten


def errors_between(high: float, low: float) -> np.ndarray:
    """Return falling errors from ``high`` to ``low``, both included."""
    count = max(2, round(FINENESS * np.log10(high / low)) + 1)
    return np.geomspace(high, low, count)


def in_words(errors: np.ndarray) -> str:
    """Return the range of some errors."""
    return f"{errors[0]:.0e} … {errors[-1]:.0e}"


@dataclass(frozen=True)
class Course:
    """Ratios of costs at falling errors; as text, their range and where they are below 1."""

    errors: np.ndarray
    ratios: np.ndarray

    @property
    def least(self) -> float:
        return float(self.ratios.min())

    @property
    def most(self) -> float:
        return float(self.ratios.max())

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return float(np.exp(np.log(self.ratios).mean()))

    @property
    def share_above(self) -> float:
        """The share of the powers of ten in which the ratio is above 1."""
        return float((self.ratios > 1).mean())

    def down_to(self, error: float) -> "Course":
        """Return the part with errors of this size and larger."""
        kept = self.errors >= error
        return Course(self.errors[kept], self.ratios[kept])

    def __truediv__(self, other: "Course") -> "Course":
        return Course(self.errors, self.ratios / other.ratios)

    @property
    def below(self) -> list[np.ndarray]:
        """The stretches of errors at which the ratio is below 1."""
        low = np.flatnonzero(self.ratios < 1)
        return [self.errors[k] for k in np.split(low, np.flatnonzero(np.diff(low) > 1) + 1)]

    def __str__(self) -> str:
        text = f"{self.least:.2f} to {self.most:.2f}"
        if self.share_above in (0.0, 1.0):
            return text
        where = (in_words(part) if len(part) > 1 else f"{part[0]:.0e}" for part in self.below)
        return f"{text} (below 1 at {', '.join(where)})"
