"""A count of rows under a condition, as a sum of classes of rows that are measured together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.curator.release.release import as_drawn
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import Histogram, Measure, to_object
from discreet.mechanisms import Gaussian, Laplace
from discreet.queries.outputs.base import QueryOutput
from discreet.records import dataclass
from discreet.workloads.error.combined_noise import combined_half_width
from discreet.workloads.error.intervals import half_width

if TYPE_CHECKING:
    from discreet.workloads import Plan

__all__ = ["JointCountOutput"]

_MOST_MEASUREMENTS = 512
_ROUNDING = 1e-9
"""Weights that are so much smaller than others are roundings of 0."""
_STORED_KIND = "TogetherOutput"
"""The kind under which ledgers store such answers: another word would charge for them a second time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointCountOutput(QueryOutput):
    """A count as the sum of estimated classes, rounded to an integer.

    Error
    -----
    The interval is the margin of the linear combination of noises, and one half for the rounding.
    """

    name: str
    histogram: Histogram
    design: Plan
    row: int

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The numbers of rows in each class."""
        return (self.histogram,)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """A step is a row."""
        return (Fraction(1),)

    @property
    def formula(self) -> str:
        """In words."""
        return f"a sum of {self.histogram.width} classes of rows, measured together by {self.design.name}"

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its classes, and which of them it adds up."""
        measures = [to_object(self.histogram)]
        return {"kind": _STORED_KIND, "measures": measures, "row": self.row}

    @property
    def empty_is_null(self) -> bool:
        """A group without rows has a count of 0."""
        return False

    def supposed(self, rows: int) -> float:
        """All rows."""
        return float(rows)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return integers."""
        strategy = self.design.strategy
        cells = strategy.reconstruct(np.asarray(draws[0].steps).reshape(-1, strategy.measurements))
        values = as_drawn(np.rint(cells @ self._coefficients).astype(np.int64), draws)
        margin = self._margin(confidence)
        lower, upper = np.maximum(values - margin, 0), np.maximum(values + margin, 0)
        excess = (sqrt(self.variance) + 1) / 2
        return AnswerColumn(name=self.name, values=values, lower=lower, upper=upper, excess=excess)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the margin of the noise, for any counts."""
        del parts, rows
        return Expectation(
            name=self.name,
            margin=float(self._margin(confidence)),
            standard_deviation=sqrt(self.variance),
            means=f"measured together in {self.histogram.width} classes of rows",
        )

    @property
    def _coefficients(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self.design.workload.row(self.row)

    @property
    def _factor(self) -> float:
        return max(0.0, self.design.strategy.variance(self._coefficients))

    @property
    def variance(self) -> float:
        """The variance of its noise."""
        return self._factor * self.design.mechanism.error.variance

    def _margin(self, confidence: Fraction) -> int:
        """Return what the count is off by at most: it is an integer, and so is what it estimates."""
        together = self.measured_together
        if together is None:
            return floor(half_width(self.design.mechanism, self._factor, confidence) + 0.5)
        return floor(combined_half_width(*together, confidence) + 0.5 + _ROUNDING)

    @property
    def measured_together(self) -> tuple[Laplace | Gaussian, tuple[float, ...]] | None:
        """The noise, and by what that of each measurement is multiplied, before rounding to an integer."""
        strategy = self.design.strategy
        if strategy.measurements > _MOST_MEASUREMENTS:
            return None
        weights = strategy.reconstruct(np.eye(strategy.measurements)) @ self._coefficients
        weights[np.abs(weights) < _ROUNDING * np.abs(weights).max()] = 0
        return self.design.mechanism, tuple(weights.tolist())
