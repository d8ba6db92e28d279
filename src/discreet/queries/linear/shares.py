"""Shares and quantiles of noisy counts, with intervals that hold at the stated confidence.

Let c and t be the noisy counts of a range and of all rows, f the true share. The linear query
range - f all has the true answer 0, so its noisy answer c - f t is within its own margin with the confidence;
the shares for which it is are an interval (Fieller 1954), found by a quadratic inequality. For a
quantile the same is asked of every prefix.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.curator.printing import number
from discreet.privacy.rational import Number
from discreet.workloads import Plan
from discreet.workloads.intervals import half_width

if TYPE_CHECKING:
    from discreet.workloads.workload import Vector

__all__ = ["Share", "prefix_margins", "share_of"]

_AT_ONCE = 256
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of rows.

    Attributes
    ----------
    value : float
        The ratio of the noisy counts, raised to 0 or lowered to 1; NaN where the noisy total is not positive.
    about : str
        What was asked, in words.
    """

    value: float
    about: str
    _counts: tuple[float, float]
    _factors: tuple[float, float, float]
    _design: Plan

    def interval(self, confidence: Number = _CONFIDENCE) -> tuple[float, float]:
        """Return an interval within [0, 1] that holds the true share with at least this probability."""
        part, total = self._counts
        own, both, all_rows = self._factors
        unit = half_width(self._design.mechanism, 1.0, confidence) ** 2
        square, half, rest = total**2 - unit * all_rows, part * total - unit * both, part**2 - unit * own
        root = half**2 - square * rest
        if square <= 0 or root < 0:
            return 0.0, 1.0
        low, high = (half - sqrt(root)) / square, (half + sqrt(root)) / square
        return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        low, high = self.interval()
        size = max(high - low, 1e-6)
        ends = f"{number(low, size, side=-1)} to {number(high, size, side=1)}"
        return f"{self.about}: {number(self.value, size)} ({ends})"


def share_of(row: Vector, cells: Vector, design: Plan, groups: int, *, about: str) -> Share:
    """Return the share of a query's rows among all, from noisy cells that add up so many tables."""
    everything = np.ones(len(row))
    covered = design.strategy.covariance_times(np.stack([row, everything]))
    part, total = float(row @ cells), float(cells.sum())
    return Share(
        value=min(max(part / total, 0.0), 1.0) if total > 0 else float("nan"),
        about=about,
        _counts=(part, total),
        _factors=(
            groups * max(float(row @ covered[0]), 0.0),
            groups * float(everything @ covered[0]),
            groups * max(float(everything @ covered[1]), 0.0),
        ),
        _design=design,
    )


def prefix_margins(design: Plan, groups: int, share: float, confidence: Number) -> Vector:
    """Return the margins of all queries prefix - share · all, one for each cell that a prefix ends with."""
    size, blocks = design.strategy.size, []
    for first in range(0, size, _AT_ONCE):
        rows = np.tri(min(_AT_ONCE, size - first), size, first) - share
        blocks.append((rows * design.strategy.covariance_times(rows)).sum(axis=1))
    factors = groups * np.maximum(np.concatenate(blocks), 0.0)
    return np.asarray(half_width(design.mechanism, 1.0, confidence) * np.sqrt(factors))
