"""What noisy moments say: means, variances and covariances, by rules over public numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.array_types import Floats

__all__ = ["Moments"]

_UNIFORM = 1 / 3
"""The mean square of a number that may be anywhere between -1 and 1."""
_LEAST_ROWS = 2.0**-20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Released sums over the rows of each group, in half widths of the columns; all public.

    Where noise may be as large as what it hides, ratios of noisy sums would be anything. So a few rows that
    nobody has are added to each group: as many as the deviation of the noise in a sum, spread evenly over
    the box. With little noise they are none; where a group is empty, its moments are those of the box.
    """

    counts: Floats
    first: Floats
    second: Floats
    mixed: Floats | None
    deviation: float
    """Of the noise in a sum of a coordinate."""
    count_deviation: float
    """Of the noise in a count."""
    least_variance: float
    """That of a step of the grid: no variance is less."""

    @property
    def added(self) -> float:
        """How many rows are added to each group."""
        return max(self.deviation, _LEAST_ROWS)

    @property
    def totals(self) -> Floats:
        """How many rows each group has, with those that are added."""
        return np.maximum(self.counts, 0.0) + self.added

    @property
    def shares(self) -> Floats:
        """The share of each group in all rows."""
        found: Floats = self.totals / self.totals.sum()
        return found

    @property
    def means(self) -> Floats:
        """The mean of each column in each group, within the box."""
        return (self.first / self.totals[:, None]).clip(-1.0, 1.0)

    @property
    def variances(self) -> Floats:
        """The variance of each column in each group: at most 1, and at least what noise alone would show."""
        means, totals = self.means, self.totals[:, None]
        squares = (self.second + self.added * _UNIFORM) / totals
        noise = np.sqrt(self._square_variance + (2 * means * self.deviation) ** 2) / totals
        return (squares - means**2).clip(np.maximum(noise, self.least_variance).clip(max=1.0), 1.0)

    @property
    def covariances(self) -> Floats:
        """The covariances of the columns in each group; noise may make them indefinite."""
        assert self.mixed is not None  # noqa: S101 - asked for where products were released
        width = self.first.shape[1]
        squares = (self.mixed + self.added * _UNIFORM * np.eye(width)) / self.totals[:, None, None]
        found: Floats = squares - self.means[:, :, None] * self.means[:, None, :]
        return found

    @property
    def _square_variance(self) -> float:
        """The variance of the noise in a sum of squares, which is half of two independent noises."""
        return (self.deviation**2 + self.count_deviation**2) / 4
