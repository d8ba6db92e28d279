"""Counts that are not negative and add up to a total: the nearest ones to noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.synthesis.models.measured import MeasuredTable

__all__ = ["nearest_counts", "nearest_whole_counts", "rows_counted", "whole_rows_counted"]

_LARGEST = 1 << 40
"""Counts beyond it are clamped before they are added up: sums over 2^20 cells hold in 64 bits."""
_WEIGHT_UNITS = 1 << 40


def nearest_counts(noisy: Floats, total: float) -> Floats:
    """Return the nearest counts in the Euclidean norm: all are lowered alike, and none below 0."""
    ordered = np.sort(noisy.reshape(-1))[::-1]
    lowered = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    last = np.flatnonzero(ordered > lowered)
    return np.asarray(np.maximum(noisy - lowered[last[-1] if len(last) else 0], 0.0))


def nearest_whole_counts(noisy: Integers, total: int) -> Integers:
    """Return whole counts, each within 1 of `nearest_counts`: integers, the same on every machine."""
    held = np.clip(noisy.reshape(-1), -_LARGEST, _LARGEST).astype(np.int64)
    ordered = -np.sort(-held)
    over = np.cumsum(ordered) - min(total, _LARGEST)
    many = np.arange(1, ordered.size + 1)
    last = np.flatnonzero(ordered * many > over)[-1]  # the first is one of them, as a total is at least 1
    return np.asarray(np.maximum(held - over[last] // many[last], 0).reshape(noisy.shape), np.int64)


def rows_counted(measured: Sequence[MeasuredTable]) -> float:
    """Return the number of rows: the mean of all tables' sums, weighted by their precision; at least 1.

    The sum of c counts with noise of variance v has the variance c v.
    """
    sums = np.array([float(one.counts.sum()) for one in measured])
    weights = np.array([1.0 / (np.zeros(one.counts.shape) + one.variance).sum() for one in measured])
    return max(float((sums * weights).sum() / weights.sum()), 1.0)


def whole_rows_counted(measured: Sequence[MeasuredTable]) -> int:
    """Return the number of rows that tables say, rounded down; at least 1. All of it is in integers.

    Weights are those of `rows_counted`, each rounded down to a multiple of a public number.
    """
    sums = [int(np.clip(one.counts, -_LARGEST, _LARGEST).astype(np.int64).sum()) for one in measured]
    precisions = [1 / (Fraction(float(np.max(one.variance))) * one.counts.size) for one in measured]
    unit = max(precisions) / _WEIGHT_UNITS
    weights = [int(precision // unit) for precision in precisions]
    weighted = sum(held * weight for held, weight in zip(sums, weights, strict=True))
    return max(weighted // sum(weights), 1)
