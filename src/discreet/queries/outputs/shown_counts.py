"""Counts of keys that a threshold showed: the noisy count that passed it, with an interval that knows so."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

from discreet.curator.release.release import as_drawn
from discreet.curator.request.counted_keys_request import CountedPart
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.mechanisms.error.shown_counts import ShownCounts, shown_counts
from discreet.queries.outputs.counts_sums_means import CountOutput
from discreet.records import dataclass

__all__ = ["ShownCountOutput"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCountOutput(CountOutput):
    """A count of rows or persons that was shown because it reached a threshold.

    Error
    -----
    The interval covers the bounded count of every key that is shown with at least the confidence, given that
    it is shown (proof: counted_keys, theorem 2). Far above the threshold it is value ± t, as for any count.
    Near the threshold it reaches down: the value lies above the count, on average, because only large
    noise shows a small count.
    """

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return the noisy counts."""
        steps, known = draws[0].steps, _shown(draws[0].part, confidence)
        lower, upper = as_drawn(known.lower(steps), draws), as_drawn(known.upper(steps), draws)
        return AnswerColumn(name=self.name, values=steps, lower=lower, upper=upper)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the margin of counts that are far above the threshold."""
        known, (part, *_) = _shown(parts[0], confidence), parts
        assert isinstance(part, CountedPart)  # noqa: S101
        return Expectation(
            name=self.name,
            margin=float(known.margin),
            standard_deviation=sqrt(part.mechanism.noise.variance_of_noise),
            assumes=f"a count above {known.threshold + 2 * known.margin}; smaller ones may be lower",
        )


def _shown(part: Part, confidence: Fraction) -> ShownCounts:
    assert isinstance(part, CountedPart)  # noqa: S101
    return shown_counts(part.mechanism.noise, part.mechanism.threshold, confidence)
