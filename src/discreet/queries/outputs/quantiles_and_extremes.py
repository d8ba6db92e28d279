"""Quantiles and extremes: chosen from histograms, not calculated from noisy counts.

An output says which choices it needs, given a maker of mechanisms; `histogram_choices` gives each its part of
the budget. (Proof: aggregates.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import hypot, pi, sqrt

import numpy as np

from discreet.array_types import Integers
from discreet.curator.request.histogram_choices import Choices, HistogramChoice, Selector
from discreet.curator.request.histogram_estimates import HistogramEstimate, SmoothRule
from discreet.curator.request.histogram_rules import (
    FrequencyRule,
    HistogramRankRule,
    HistogramReachRule,
    Rule,
    reaches,
)
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import Bounds, Histogram, Measure
from discreet.mechanisms import PermuteAndFlip
from discreet.privacy.rational import float_above, show
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.rounding import enclosed
from discreet.records import dataclass

__all__ = [
    "ChoiceOutput",
    "ExtremeOutput",
    "Maker",
    "QuantileOutput",
    "choices_of",
    "deviation_in_rows",
    "shortfall",
]

_DEVIATIONS = 2.5
"""Nearly all intervals go at most this many deviations of both choices beyond the ranks that are aimed at."""
_ROUNDED_UP = Fraction(9, 8)
"""Reaches are an eighth apart."""


class Maker(ABC):
    """Makes what outputs draw from a histogram, from its part of the budget."""

    __slots__ = ()

    @abstractmethod
    def choice(self, rule: Rule) -> HistogramChoice:
        """Return a choice by a rule."""

    @abstractmethod
    def estimate(self, rule: type[SmoothRule], parameter: Fraction) -> HistogramEstimate:
        """Return an estimate by smooth sensitivity."""


class ChoiceOutput(QueryOutput):
    """An output that is chosen from the values of a histogram."""

    __slots__ = ()

    histogram: Histogram

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The histogram."""
        return (self.histogram,)

    @property
    @abstractmethod
    def picks(self) -> int:
        """How many equal parts its budget has."""

    @property
    @abstractmethod
    def question(self) -> tuple[object, ...]:
        """What it asks for; outputs that ask the same share the answer."""

    @abstractmethod
    def choices(self, make: Maker, confidence: Fraction) -> tuple[HistogramChoice | HistogramEstimate, ...]:
        """Return the choices that it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileOutput(ChoiceOutput):
    """The least grid point c such that at least the share q of the n values are at most c.

    Two choices of half the budget each: a value near the rank q n; then how far to both sides of it the
    interval reaches, so that it goes beyond the rank q n on either side with the confidence.
    Several quantiles of one column are in order: values are sorted, lower ends lowered to those of higher
    quantiles, upper ends raised to those of lower ones.

    Error
    -----
    With t the most by which the score of the reach falls short (except for the failure probability), reaches
    are scored for going beyond q n by t: the chosen one has less than q n values below its interval, and at
    least q n up to its upper end. The quantile is between, whatever the value is. Where the grid is coarser
    than the declared one, values were rounded to it: the ends are half a step farther out.
    """

    name: str
    histogram: Histogram
    share: Fraction
    beside: tuple[Fraction, ...] = ()
    coarse: bool = False

    @property
    def picks(self) -> int:
        """One for the value and one for the reach of its interval."""
        return 2

    @property
    def question(self) -> tuple[object, ...]:
        """The share."""
        return ("quantile", self.share)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """Two choices, whose scores a row moves by max(q, 1 - q) rows."""
        return (2 * max(self.share, 1 - self.share),)

    @property
    def formula(self) -> str:
        """In words."""
        return f"the quantile {show(self.share)}, chosen from {self.histogram.width} grid points"

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its histogram, its share and those it is kept in order with."""
        shares = {"share": str(self.share), "beside": [str(share) for share in self.beside]}
        return {**super().identity, **shares}

    def choices(self, make: Maker, confidence: Fraction) -> tuple[HistogramChoice, ...]:
        """Return the choices of the value and of the reach of its interval."""
        value = make.choice(HistogramRankRule(share=self.share))
        reach = make.choice(HistogramReachRule(share=self.share))
        shift = _reach_shortfall(reach.mechanism, confidence, self.histogram.width)
        return value, replace(reach, rule=HistogramReachRule(share=self.share, shift=shift))

    def supposed(self, rows: int) -> float:
        """The middle of the bounds."""
        del rows
        return _grid_point(self.histogram, Fraction(1, 2))

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return grid points as floats."""
        mechanism = choices_of(draws[0].part)
        shares = sorted({self.share, *self.beside})
        found = [_with_ends(mechanism, draws[0].steps, share, confidence) for share in shares]
        value, lower, upper = (np.stack(parts) for parts in zip(*found, strict=True))
        value = np.sort(value, axis=0)
        lower = np.minimum.accumulate(lower[::-1], axis=0)[::-1]
        upper = np.maximum.accumulate(upper, axis=0)
        place = shares.index(self.share)
        return _on_grid(
            self.name,
            self.histogram,
            value[place].clip(lower[place], upper[place]),
            (lower[place], upper[place]),
            coarse=self.coarse,
        )

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return half the width of nearly every interval, if the values are spread evenly over the bounds."""
        mechanism = choices_of(parts[0])
        reach = _reach_rule(mechanism, self.share)
        deviation = deviation_in_rows(reach.center, mechanism.of(reach.center))
        beyond = _reach_shortfall(mechanism.of(reach), confidence, self.histogram.width)
        off = hypot(deviation, deviation_in_rows(reach, mechanism.of(reach)))
        ranks = (Fraction(beyond, self.share.denominator) + Fraction(_DEVIATIONS * off)) * _ROUNDED_UP
        return _spread_evenly(self.name, self.histogram, ranks, deviation, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtremeOutput(ChoiceOutput):
    """A value a few ranks inside the least (or the largest) value, as many as privacy needs.

    No single row may show, so the least value itself cannot. One choice, at rank T from the end: with
    t the most by which its score falls short, T = t + 1.

    Error
    -----
    With the confidence at least one value is at most (least) the one returned, so the true least value lies
    between the lower bound and it; nothing better can be said about the other end, which one row decides. On
    a coarser grid than the declared one, that end is half a step farther out.
    """

    name: str
    histogram: Histogram
    largest: bool
    coarse: bool = False

    @property
    def picks(self) -> int:
        """One."""
        return 1

    @property
    def share(self) -> Fraction:
        """0 for the least value, 1 for the largest."""
        return Fraction(int(self.largest))

    @property
    def question(self) -> tuple[object, ...]:
        """Which end."""
        return ("extreme", self.largest)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """One choice."""
        return (Fraction(1),)

    @property
    def formula(self) -> str:
        """In words."""
        end = "largest" if self.largest else "least"
        return f"a value a few ranks inside the {end}, chosen from {self.histogram.width} grid points"

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its histogram, and which end."""
        return {**super().identity, "largest": self.largest}

    def choices(self, make: Maker, confidence: Fraction) -> tuple[HistogramChoice, ...]:
        """Return the one choice."""
        choice = make.choice(HistogramRankRule(share=self.share))
        ranks = shortfall(choice.mechanism, confidence, self.histogram.width) + 1
        return (replace(choice, rule=self._rule(ranks)),)

    def _rule(self, ranks: int) -> HistogramRankRule:
        return HistogramRankRule(share=self.share, shift=-ranks if self.largest else ranks)

    def supposed(self, rows: int) -> float:
        """The bound."""
        del rows
        return _grid_point(self.histogram, self.share)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return grid points as floats."""
        mechanism = choices_of(draws[0].part)
        (rule,) = (one.rule for one in mechanism.selections if _is_extreme(one.rule, self.share))
        value = mechanism.drawn(draws[0].steps, rule)[:, 0]
        low, high = np.zeros_like(value), np.full_like(value, self.histogram.width - 1)
        enough = _reach(rule) > shortfall(mechanism.of(rule), confidence, mechanism.width)
        if not enough:
            return _on_grid(self.name, self.histogram, value, (low, high), coarse=self.coarse)
        ends = (value, high) if self.largest else (low, value)
        return _on_grid(self.name, self.histogram, value, ends, coarse=self.coarse)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return how far from the end the value is, if the values are spread evenly over the bounds."""
        mechanism = choices_of(parts[0])
        (rule,) = (one.rule for one in mechanism.selections if _is_extreme(one.rule, self.share))
        ranks = Fraction(2 * _reach(rule))
        expected = _spread_evenly(
            self.name, self.histogram, ranks, _deviation(mechanism.of(rule), self.share), rows
        )
        return Expectation(
            name=self.name,
            margin=expected.margin,
            standard_deviation=expected.standard_deviation,
            assumes=expected.assumes,
            means=f"how far inside the {'largest' if self.largest else 'least'} value it may be",
        )


def _grid_point(histogram: Histogram, share: Fraction) -> float:
    """Return the point that lies at a share of the way between the bounds."""
    bounds = histogram.values
    assert isinstance(bounds, Bounds)  # noqa: S101
    return float(bounds.lower + share * (bounds.upper - bounds.lower))


def deviation_in_rows(rule: Rule, mechanism: Selector) -> float:
    """Return the standard deviation, in rows, of noise on scores that would choose alike.

    Gumbel noise does for the exponential mechanism (its deviation is pi / (rate sqrt(6))), exponential
    noise for permute-and-flip (1 / rate).
    """
    unit = 1.0 if isinstance(mechanism, PermuteAndFlip) else pi / sqrt(6)
    scale = 1 if isinstance(rule, FrequencyRule) else rule.share.denominator
    return unit / float(mechanism.rate * scale)


def _deviation(mechanism: Selector, share: Fraction) -> float:
    return deviation_in_rows(HistogramRankRule(share=share), mechanism)


def choices_of(part: Part) -> Choices:
    """Return the choices that a part of a request draws from a histogram."""
    assert isinstance(part.mechanism, Choices)  # noqa: S101
    return part.mechanism


def shortfall(mechanism: Selector, confidence: Fraction, candidates: int) -> int:
    """Return the most by which the chosen score falls short of the best, with the confidence."""
    return int(mechanism.error.quantile(confidence, candidates=candidates))


def _is_extreme(rule: Rule, share: Fraction) -> bool:
    return isinstance(rule, HistogramRankRule) and rule.share == share and rule.share.denominator == 1


def _reach(rule: Rule) -> int:
    assert isinstance(rule, HistogramRankRule)  # noqa: S101
    return abs(rule.shift)


def _with_ends(
    mechanism: Choices, steps: Integers, share: Fraction, confidence: Fraction
) -> tuple[Integers, Integers, Integers]:
    """Return the value, the lower and the upper end of a quantile, as positions; ends only if they hold."""
    reach = _reach_rule(mechanism, share)
    value, far = (mechanism.drawn(steps, rule)[:, 0] for rule in (reach.center, reach))
    if reach.shift < _reach_shortfall(mechanism.of(reach), confidence, mechanism.width):
        far = np.full_like(far, mechanism.width)
    return value, np.maximum(value - far, 0), np.minimum(value + far, mechanism.width - 1)


def _reach_rule(mechanism: Choices, share: Fraction) -> HistogramReachRule:
    """Return the rule by which the interval of a quantile was chosen."""
    rules = (one.rule for one in mechanism.selections)
    (found,) = (rule for rule in rules if isinstance(rule, HistogramReachRule) and rule.share == share)
    return found


def _reach_shortfall(mechanism: Selector, confidence: Fraction, width: int) -> int:
    return shortfall(mechanism, confidence, len(reaches(width)))


def _on_grid(
    name: str, histogram: Histogram, value: Integers, ends: tuple[Integers, Integers], *, coarse: bool
) -> AnswerColumn:
    """Return positions as numbers; rounding to a coarse grid moved values by up to half a step."""
    bounds = histogram.values
    assert isinstance(bounds, Bounds)  # noqa: S101
    (lower, upper), last = ends, histogram.width - 1
    out = 1 if coarse else 0
    below = enclosed(2 * (lower + bounds.lower_steps) - out * (lower > 0), bounds.step / 2).below
    above = enclosed(2 * (upper + bounds.lower_steps) + out * (upper < last), bounds.step / 2).above
    return AnswerColumn(
        name=name,
        values=enclosed(value + bounds.lower_steps, bounds.step).nearest,
        lower=below,
        upper=above,
        unknown=(lower == 0) & (upper == last),
    )


def _spread_evenly(
    name: str, histogram: Histogram, ranks: Fraction, deviation: float, rows: int
) -> Expectation:
    bounds = histogram.values
    assert isinstance(bounds, Bounds)  # noqa: S101
    width = bounds.upper - bounds.lower
    return Expectation(
        name=name,
        margin=float_above(min(width / 2, width * ranks / rows + bounds.step)),
        standard_deviation=min(float(width) / 2, float(width) * deviation / rows),
        assumes=f"{rows} values in every group, spread evenly over the bounds",
    )
