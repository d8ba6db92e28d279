"""The two private steps of a synthesizer: a table is measured, and one of several tables is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.mechanisms import Exponential, Gaussian
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import Event
from discreet.synthesis.models.measured import MeasuredTable

__all__ = ["SCORE_STEPS", "TableChoice", "TableNoise", "distance", "estimate_steps", "whole_scores"]

SCORE_STEPS = 64
"""Scores are whole multiples of 1/64 of a row."""
_LARGEST_COUNT = 1 << 34
"""Counts beyond it are clamped in scores, so that sums over 2^20 cells hold in 64 bits."""
_LARGEST_SCORE = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNoise:
    """Discrete Gaussian noise on a whole table, whose counts one person moves by `rows` together."""

    mechanism: Gaussian

    @classmethod
    def costing(cls, rho: Fraction, rows: int) -> TableNoise:
        """Return the noise of a table that costs a rho."""
        return cls(mechanism=Gaussian(sensitivity=rows, rho=rho))

    @property
    def event(self) -> Event:
        """The law of the noise."""
        return self.mechanism.event

    @property
    def variance(self) -> float:
        """The parameter sigma^2 of the noise of each count, which its variance does not exceed."""
        return float(self.mechanism.event.variance)

    def measured(self, columns: tuple[int, ...], table: Integers) -> MeasuredTable:
        """Measure a table."""
        noisy = cast("Integers", self.mechanism.release(table.reshape(-1)))
        return MeasuredTable(columns=columns, counts=noisy.reshape(table.shape), variance=self.variance)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChoice:
    """The exponential mechanism on scores: one person moves them by `rows` times the largest weight."""

    mechanism: Exponential

    @classmethod
    def costing(cls, rho: Fraction, rows: int, weight: int = 1) -> TableChoice:
        """Return the choice that costs a rho: epsilon^2 / 8, by its bounded range."""
        epsilon = sqrt_interval(8 * rho)[0]
        return cls(mechanism=Exponential(sensitivity=SCORE_STEPS * rows * weight, epsilon=epsilon))

    @property
    def event(self) -> Event:
        """The law of the choice."""
        return self.mechanism.event

    def chosen(self, scores: Integers) -> int:
        """Choose a place, better scores with higher probability."""
        return int(self.mechanism.release(scores))


def whole_scores(scores: Sequence[int]) -> Integers:
    """Return scores within 64 bits: those beyond 2^60 are clamped, which moves none of them farther."""
    return np.array([max(-_LARGEST_SCORE, min(one, _LARGEST_SCORE)) for one in scores], np.int64)


def distance(table: Integers, estimate: Floats) -> int:
    """Return the L1 distance of a table from a public estimate, in whole steps.

    Both are brought within 0 to 2^34, and the estimate is rounded to steps, before they meet: a row that
    comes or goes moves the distance by at most `SCORE_STEPS`, exactly.
    """
    return int(np.abs(np.minimum(table, _LARGEST_COUNT) * SCORE_STEPS - estimate_steps(estimate)).sum())


def estimate_steps(estimate: Floats) -> Integers:
    """Return a public estimate within 0 to 2^34, in whole steps."""
    near = np.nan_to_num(estimate, nan=0.0, posinf=0.0, neginf=0.0)
    return np.rint(np.clip(near, 0, _LARGEST_COUNT) * SCORE_STEPS).astype(np.int64)
