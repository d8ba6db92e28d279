"""Counts that are not negative and add up to a total: the nearest ones to noisy counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.array_types import Floats
from discreet.synthesis.models.measured import MeasuredTable

__all__ = ["nearest_counts", "rows_counted"]


def nearest_counts(noisy: Floats, total: float) -> Floats:
    """Return the nearest counts in the Euclidean norm: all are lowered alike, and none below 0."""
    ordered = np.sort(noisy.reshape(-1))[::-1]
    lowered = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    last = np.flatnonzero(ordered > lowered)
    return np.asarray(np.maximum(noisy - lowered[last[-1] if len(last) else 0], 0.0))


def rows_counted(measured: Sequence[MeasuredTable]) -> float:
    """Return the number of rows: the mean of all tables' sums, weighted by their precision; at least 1.

    The sum of c counts with noise of variance v has the variance c v.
    """
    sums = np.array([float(one.counts.sum()) for one in measured])
    weights = np.array([1.0 / (np.zeros(one.counts.shape) + one.variance).sum() for one in measured])
    return max(float((sums * weights).sum() / weights.sum()), 1.0)
