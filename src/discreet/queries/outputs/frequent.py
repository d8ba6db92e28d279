"""The most frequent keys of a group, chosen from a histogram (proof: aggregates)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.curator.request.histogram_choices import HistogramChoice
from discreet.curator.request.histogram_rules import FrequencyRule
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import Histogram, Keys
from discreet.queries.outputs.quantiles_and_extremes import (
    ChoiceOutput,
    Maker,
    choices_of,
    deviation_in_rows,
    shortfall,
)
from discreet.records import dataclass

__all__ = ["FrequentOutput"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentOutput(ChoiceOutput):
    """The most frequent of the declared keys, or a list of several in order; or some nearly as frequent.

    Error
    -----
    No interval: with the confidence, the j-th key has at most t rows less than the j-th most frequent, for
    all j; t is the quantile of the mechanism's error.
    """

    name: str
    histogram: Histogram
    most: int | None = None

    @property
    def rule(self) -> FrequencyRule:
        """The rule of the choice."""
        return FrequencyRule(picks=self.most or 1)

    @property
    def picks(self) -> int:
        """One for each key."""
        return self.most or 1

    @property
    def question(self) -> tuple[object, ...]:
        """How many keys."""
        return ("frequent", self.picks)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """One for each key."""
        return (Fraction(self.picks),)

    @property
    def formula(self) -> str:
        """In words."""
        keys = "the most frequent" if self.most is None else f"the {self.most} most frequent"
        return f"{keys} of {self.histogram.width} keys, chosen"

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its histogram, and how many keys."""
        return {**super().identity, "most": self.most}

    def choices(self, make: Maker, confidence: Fraction) -> tuple[HistogramChoice, ...]:
        """Return the one choice, of as many keys as are wanted."""
        del confidence
        return (make.choice(self.rule),)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return keys, or lists of keys."""
        mechanism = choices_of(draws[0].part)
        places = mechanism.drawn(draws[0].steps, self.rule)
        assert isinstance(self.histogram.values, Keys)  # noqa: S101
        keys = self.histogram.values.values
        values = np.empty(len(places), np.object_)
        for group, chosen in enumerate(places.tolist()):
            values[group] = keys[chosen[0]] if self.most is None else [keys[place] for place in chosen]
        short = shortfall(mechanism.of(self.rule), confidence, mechanism.width)
        level = f"with {float(confidence):.6g} confidence"
        best = "the most frequent" if self.most is None else "the most frequent in its place"
        return AnswerColumn(
            name=self.name, values=values, offers=f"at most {short} rows short of {best}, {level}"
        )

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return how many rows a key may be short, for any counts."""
        del rows
        mechanism = choices_of(parts[0]).of(self.rule)
        return Expectation(
            name=self.name,
            margin=float(shortfall(mechanism, confidence, self.histogram.width)),
            standard_deviation=deviation_in_rows(self.rule, mechanism),
            means="by how many rows it may fall short of the most frequent",
        )
