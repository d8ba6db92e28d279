"""Covariances and correlations, computed from noisy sums of products; intervals as those of variances.

(Proof: aggregates, lemma 5; delta_method.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import sqrt

import numpy as np

from discreet.array_types import Floats
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import Measure, Moment
from discreet.data.language.measures import Factor
from discreet.queries.outputs.base import QueryOutput, margin_of, variance_of
from discreet.queries.outputs.delta_method import (
    box_share,
    expected_half_width,
    has_law,
    within_law,
    within_root_law,
)
from discreet.queries.outputs.float_interval import FloatInterval, product, root
from discreet.queries.outputs.jets import Jet, difference, divided_by, public_number, root_of, total_of
from discreet.queries.outputs.moments import (
    Count,
    DrawnCount,
    SumOrMoment,
    axis,
    ends_of,
    spread_of,
    supposed_draw,
    widest_of,
)
from discreet.records import dataclass

__all__ = ["CorrelationOutput", "CovarianceOutput"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CovarianceOutput(QueryOutput):
    """A covariance of clipped values, over the rows in which both are present.

    Error
    -----
    The law of the noises of first order and what is of second order, within interval arithmetic over margins
    of all four noises (`delta_method`), clipped to W W' / 4 in magnitude for bounds of widths W and W' (with
    the correction n / (n - 1), to twice that).
    """

    name: str
    products: Moment
    totals: tuple[SumOrMoment, SumOrMoment]
    count: Count
    sample: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The products, both sums and the count."""
        return (self.products, *self.totals, self.count)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """In units of M M' / n, about what one row moves."""
        one, other = (axis(total).largest for total in self.totals)
        return Fraction(1, one * other), Fraction(1, 2 * one), Fraction(1, 2 * other), Fraction(1, 2)

    @property
    def formula(self) -> str:
        """From the moments."""
        corrected = " x n / (n - 1)" if self.sample else ""
        return f"(the mean product - the product of the means){corrected}"

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its measures, and which of the two."""
        return {**super().identity, "sample": self.sample}

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return floats, intervals rounded outward."""
        parts, axes = [draw.part for draw in draws], [axis(total) for total in self.totals]
        share = box_share(parts, confidence)
        drawn = DrawnCount.of(draws[3], share)
        found = _together(drawn, draws[:3], axes, share)
        widest = _widest_pair(axes)
        if self.sample:
            widest *= 2
            found = product(found, drawn.correction()).clipped(-widest, widest)
        if has_law(parts, confidence):
            read = dict(zip(self.measures, draws, strict=True))
            found = within_law(self._ratio, read, confidence, found)
        unknown = drawn.count - drawn.by < (2 if self.sample else 1)
        found = found.unknown(unknown, -widest, widest)
        return found.scaled(axes[0].bounds.step * axes[1].bounds.step).column(self.name, unknown)

    def jet(self, of: Mapping[Measure, Jet]) -> Jet:
        """Return it as a function of the four integers."""
        step = axis(self.totals[0]).bounds.step * axis(self.totals[1]).bounds.step
        return divided_by(*self._ratio(of)) * public_number(step, of[self.count])

    def _ratio(self, of: Mapping[Measure, Jet]) -> tuple[Jet, Jet]:
        """Return the covariance in steps of both, as (P - S S' / n) / n, or divided by n - 1."""
        count = of[self.count]
        below = difference(count, public_number(1, count)) if self.sample else count
        return _around_means(of, self.products, self.totals, self.count), below

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return half the width of the interval for some rows, or more."""
        share, axes = box_share(parts, confidence), [axis(total) for total in self.totals]
        off, first, second, by = (margin_of(part, share) for part in parts)
        one, other = (factor.largest for factor in axes)
        step = float(axes[0].bounds.step * axes[1].bounds.step)
        widest = float(_widest_pair(axes)) * (2 if self.sample else 1)
        margin = widest
        if rows - by >= 2:
            moved = off + one * (second + other * by) + other * (first + one * by) + one * other * by
            times = (rows - by) / (rows - by - 1) if self.sample else 1
            spread = widest / (rows - by - 1) if self.sample else 0.0
            margin = min(margin, times * moved / (rows - by) + spread)
            if has_law(parts, confidence):
                most = float(rows) * one * other
                sums = [(float(rows) * low, float(rows) * high) for low, high in map(ends_of, axes)]
                ranges = [(-most, most), *sums, (float(rows), float(rows))]
                noises = dict(zip(self.measures, parts, strict=True))
                half = expected_half_width(self._ratio, noises, confidence, ranges, widest)
                margin = min(margin, half)
        noise = [variance_of(part) for part in parts]
        scales = (1, other, one, one * other)
        deviation = sqrt(sum(scale**2 * each for scale, each in zip(scales, noise, strict=True))) / rows
        return Expectation(
            name=self.name,
            margin=margin * step * (1 + 2.0**-40),
            standard_deviation=min(deviation, widest) * step,
            assumes=f"{rows} rows with both values in every group, anywhere within the bounds",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationOutput(QueryOutput):
    """A correlation of clipped values, over the rows in which both are present; 0 where one is constant.

    Error
    -----
    The law of the noises of first order and what is of second order, within interval arithmetic over margins
    of all six noises (`delta_method`, lemma 5), clipped to [-1, 1].
    """

    name: str
    products: Moment
    totals: tuple[SumOrMoment, SumOrMoment]
    squares: tuple[Moment, Moment]
    count: Count

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The products, both sums, both sums of squares and the count."""
        return (self.products, *self.totals, *self.squares, self.count)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """In units of M M' / n, for correlations around one half."""
        one, other = (axis(total).largest for total in self.totals)
        half = Fraction(1, 2)
        squares = (half / one**2, half / other**2)
        return Fraction(1, one * other), half / one, half / other, *squares, half

    @property
    def formula(self) -> str:
        """From the moments."""
        return "the covariance / the root of the product of both variances"

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return floats, intervals rounded outward."""
        parts, axes = [draw.part for draw in draws], [axis(total) for total in self.totals]
        share = box_share(parts, confidence, root=True)
        drawn = DrawnCount.of(draws[5], share)
        together = _together(drawn, draws[:3], axes, share)
        spreads = []
        for factor, moment, total, squares in zip(axes, self.squares, draws[1:3], draws[3:5], strict=True):
            mean = drawn.mean(total, share, *ends_of(factor))
            power = drawn.mean(squares, share, -moment.shift, factor.largest**2 - moment.shift)
            spreads.append(spread_of(factor, mean, power, moment.shift))
        below = root(product(*spreads))
        found = FloatInterval(
            low=_ratio(together.low, np.where(together.low < 0, below.low, below.high)),
            value=_ratio(together.value, below.value, at_zero=0.0),
            high=_ratio(together.high, np.where(together.high > 0, below.low, below.high)),
        )
        found = found.widened().clipped(-1, 1)
        if has_law(parts, confidence):
            read = dict(zip(self.measures, draws, strict=True))
            found = within_root_law(self._spreads, read, confidence, found)
        unknown = drawn.count - drawn.by < 1
        return found.unknown(unknown, -1, 1).column(self.name, unknown)

    def jet(self, of: Mapping[Measure, Jet]) -> Jet:
        """Return it as a function of the six integers."""
        products, *squares = self._spreads(of)
        return divided_by(products, root_of(squares[0]) * root_of(squares[1]))

    def _spreads(self, of: Mapping[Measure, Jet]) -> tuple[Jet, Jet, Jet]:
        """Return the sum of products around both means, and both sums of squares."""
        found = []
        for total, squares in zip(self.totals, self.squares, strict=True):
            around = _around_means(of, squares, (total, total), self.count)
            shifts = public_number(squares.shift, of[self.count]) * of[self.count]
            found.append(total_of(around, shifts))
        return _around_means(of, self.products, self.totals, self.count), found[0], found[1]

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return half the width of the interval for values that are spread evenly and unrelated."""
        axes = [axis(total) for total in self.totals]
        even = [float(widest_of(factor)) / 3 for factor in axes]
        squares = [
            round(rows * (spread - moment.shift)) for spread, moment in zip(even, self.squares, strict=True)
        ]
        steps = (0, 0, 0, *squares, rows)
        column = self.finish([supposed_draw(*one) for one in zip(parts, steps, strict=True)], confidence)
        assert column.lower is not None  # noqa: S101
        assert column.upper is not None  # noqa: S101
        margin = float(column.upper[0] - column.lower[0]) / 2
        noise = variance_of(parts[0])
        return Expectation(
            name=self.name,
            margin=margin * (1 + 2.0**-40),
            standard_deviation=min(1.0, sqrt(noise) / rows / sqrt(even[0] * even[1])),
            assumes=f"{rows} rows with both values in every group, spread evenly and unrelated",
        )


def _together(
    drawn: DrawnCount, draws: Sequence[Draw], axes: Sequence[Factor], share: Fraction
) -> FloatInterval:
    """Return the covariance in steps of both, from the products and both sums."""
    largest = axes[0].largest * axes[1].largest
    mean = drawn.mean(draws[0], share, -largest, largest)
    means = (drawn.mean(draw, share, *ends_of(factor)) for draw, factor in zip(draws[1:], axes, strict=True))
    widest = _widest_pair(axes)
    return mean.minus(product(*means)).clipped(-widest, widest)


def _around_means(
    of: Mapping[Measure, Jet], products: Measure, totals: Sequence[Measure], count: Measure
) -> Jet:
    """Return the sum of products, less that of both means n times, in steps of both."""
    one, other = (of[total] for total in totals)
    return difference(of[products], divided_by(one * other, of[count]))


def _widest_pair(axes: Sequence[Factor]) -> Fraction:
    one, other = (Fraction(factor.bounds.upper_steps - factor.bounds.lower_steps, 2) for factor in axes)
    return one * other


def _ratio(above: Floats, below: Floats, *, at_zero: float | None = None) -> Floats:
    """Return a quotient; without a divisor 0 of 0, else infinity of its sign; or a given value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = above / below
    infinite = np.where(above == 0, 0.0, np.copysign(np.inf, above))
    return np.where(below > 0, found, infinite if at_zero is None else at_zero)
