"""Shares and quantiles of noisy counts, with intervals that hold at the stated confidence.

Let c and t be the noisy counts of a range and of all rows, f the true share. The linear query
range - f all has the true answer 0, so its noisy answer c - f t is within its own margin with the confidence;
the shares for which it is are an interval (Fieller 1954), found by a quadratic inequality. For a
quantile the same is asked of every prefix.
"""

from __future__ import annotations

from dataclasses import field
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.privacy.decimals import number
from discreet.privacy.rational import Number
from discreet.records import dataclass
from discreet.visible import visible
from discreet.workloads.error.intervals import half_width

if TYPE_CHECKING:
    from discreet.workloads import Plan
    from discreet.workloads.queries.base import Vector

__all__ = ["Share", "prefix_margins", "prefix_shares", "share_of"]

_AT_ONCE = 256


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Share:
    """A share of rows.

    Attributes
    ----------
    value : float
        The ratio of the noisy counts, raised to 0 or lowered to 1; NaN if the noisy total is not positive.
    about : str
        What was asked, in words.
    confidence : number
        Of the interval that is printed.
    """

    value: float
    about: str
    confidence: Number
    _counts: tuple[float, float] = field(repr=False)
    _factors: tuple[float, float, float] = field(repr=False)
    _everything: bool = field(repr=False)
    _design: Plan = field(repr=False)

    def interval(self, confidence: Number | None = None) -> tuple[float, float]:
        """Return an interval within [0, 1] that holds the true share with at least this probability.

        By default the confidence is that of the question.
        """
        part, total = self._counts
        own, both, all_rows = self._factors
        level = self.confidence if confidence is None else confidence
        unit = half_width(self._design.mechanism, 1.0, level) ** 2
        if self._everything:
            return 1.0, 1.0
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
        value = "unknown" if isnan(self.value) else number(self.value, size)
        return f"{visible(self.about)}: {value} ({ends})"

    __repr__ = __str__


def share_of(
    row: Vector, cells: Vector, design: Plan, groups: int, *, about: str, confidence: Number
) -> Share:
    """Return the share of a query's rows among all, from noisy cells that add up this many tables."""
    everything = np.ones(len(row))
    covered = design.strategy.covariance_times(np.stack([row, everything]))
    part, total, whole = float(row @ cells), float(cells.sum()), bool(row.all())
    return Share(
        value=1.0 if whole else min(max(part / total, 0.0), 1.0) if total > 0 else nan,
        about=about,
        confidence=confidence,
        _everything=whole,
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
        rows = _prefix_rows(size, first) - share
        blocks.append((rows * design.strategy.covariance_times(rows)).sum(axis=1))
    factors = groups * np.maximum(np.concatenate(blocks), 0.0)
    return np.asarray(half_width(design.mechanism, 1.0, confidence) * np.sqrt(factors))


def prefix_shares(cells: Vector, design: Plan, groups: int, confidence: Number) -> tuple[Vector, Vector]:
    """Return the intervals of the shares of all prefixes, as `Share.interval` has each."""
    size, everything = len(cells), np.ones(len(cells))
    of_all = design.strategy.covariance_times(everything)
    own, both = [], np.cumsum(of_all) * groups
    for first in range(0, size, _AT_ONCE):
        rows = _prefix_rows(size, first)
        own.append((rows * design.strategy.covariance_times(rows)).sum(axis=1))
    unit = half_width(design.mechanism, 1.0, confidence) ** 2
    parts = np.cumsum(cells)
    square = parts[-1] ** 2 - unit * groups * float(everything @ of_all)
    if square <= 0:
        lower, upper = np.zeros(size), np.ones(size)
    else:
        half = parts * parts[-1] - unit * both
        root = half**2 - square * (parts**2 - unit * groups * np.concatenate(own))
        known = root >= 0
        width = np.sqrt(np.maximum(root, 0.0))
        lower = np.where(known, np.clip((half - width) / square, 0.0, 1.0), 0.0)
        upper = np.where(known, np.clip((half + width) / square, 0.0, 1.0), 1.0)
    lower[-1] = upper[-1] = 1.0
    return lower, upper


def _prefix_rows(size: int, first: int) -> Vector:
    """Return some of the prefixes, from that which ends with a cell on, as their coefficients."""
    return np.tri(min(_AT_ONCE, size - first), size, first)
