"""Quantiles and trimmed means by smooth sensitivity: little noise where the values lie close together.

How large the noise was depends on the data and stays private, so that there is no interval. (Proof:
aggregates.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.curator.request.histogram_choices import Choices
from discreet.curator.request.histogram_estimates import (
    FINENESS,
    HistogramEstimate,
    SmoothRule,
    TrimmedMeanRule,
)
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import Bounds, Histogram
from discreet.privacy.rational import show
from discreet.queries.outputs.quantiles_and_extremes import ChoiceOutput, Maker
from discreet.records import dataclass

__all__ = ["NO_INTERVAL", "SmoothOutput"]

NO_INTERVAL = "no interval: how large the noise is depends on the data, and stays private"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothOutput(ChoiceOutput):
    """A statistic of a column's values in each group, with noise for its smooth sensitivity.

    Error
    -----
    No interval, because its width would reveal how close together the values are. MEDIAN and QUANTILE have
    one.
    """

    name: str
    histogram: Histogram
    rule: type[SmoothRule]
    share: Fraction

    @property
    def picks(self) -> int:
        """One estimate."""
        return 1

    @property
    def question(self) -> tuple[object, ...]:
        """Which statistic."""
        return ("smooth", self.rule.__name__, self.share)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """As one choice."""
        return (Fraction(1),)

    @property
    def formula(self) -> str:
        """In words."""
        if self.rule is TrimmedMeanRule:
            return f"the mean without {show(self.share)} of the values at either end, by smooth sensitivity"
        return f"the quantile {show(self.share)}, by smooth sensitivity"

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its histogram, its rule and its share."""
        return {
            **super().identity,
            "rule": self.rule.__name__,
            "share": str(self.share),
        }

    def choices(self, make: Maker, confidence: Fraction) -> tuple[HistogramEstimate, ...]:
        """Return the one estimate."""
        del confidence
        return (make.estimate(self.rule, self.share),)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return points of the finer grid as floats."""
        del confidence
        mechanism = _choices(draws[0].part)
        steps = mechanism.drawn(draws[0].steps, self._estimate(mechanism).rule)[:, 0]
        bounds = self._bounds
        values = [float(bounds.lower + Fraction(int(step), FINENESS) * bounds.step) for step in steps]
        return AnswerColumn(name=self.name, values=np.array(values, np.float64), offers=NO_INTERVAL)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the error if the values are spread evenly over the bounds; of close ones it is smaller."""
        estimate = self._estimate(_choices(parts[0]))
        decay = float(estimate.mechanism.decay)
        supposed = estimate.rule.supposed(self.histogram.width, rows, decay)
        error = estimate.mechanism.error_at(smooth_sensitivity=supposed)
        step, bounds = float(self._bounds.step) / FINENESS, self._bounds
        return Expectation(
            name=self.name,
            margin=min(error.quantile(float(confidence)) * step, float(bounds.upper - bounds.lower)),
            standard_deviation=min(error.deviation * step, float(bounds.upper - bounds.lower)),
            assumes=f"{rows} values in every group, spread evenly over the bounds",
            means="how far off it would be; the answer does not show it",
        )

    @property
    def _bounds(self) -> Bounds:
        bounds = self.histogram.values
        assert isinstance(bounds, Bounds)  # noqa: S101
        return bounds

    def _estimate(self, mechanism: Choices) -> HistogramEstimate:
        """Return the estimate that was made for this output."""
        (found,) = (
            one
            for one in mechanism.choices
            if isinstance(one, HistogramEstimate)
            and type(one.rule) is self.rule
            and one.rule.share == self.share
        )
        return found


def _choices(part: Part) -> Choices:
    assert isinstance(part.mechanism, Choices)  # noqa: S101
    return part.mechanism
