"""Variances, deviations, covariances and correlations, computed from noisy sums of powers and products.

With x the values less the center of their bounds, in steps, n their number and h the shift of their
squares: the variance is h + (sum of x^2 - h) / n - ((sum of x) / n)^2, in squared steps. Each noisy sum
holds the true one within a margin that fails with an equal part of the failure probability (the union
bound); everything else is interval arithmetic, clipped to what values within the bounds allow. (Proof:
aggregates.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import CountNonNull, CountRows, Measure, Moment, Sum
from discreet.data.language.measures import Factor
from discreet.queries.outputs.base import QueryOutput, margin_of, of_several, variance_of
from discreet.queries.outputs.float_interval import FloatInterval, mean_range, product, root, square

__all__ = ["CorrelationOutput", "CovarianceOutput", "VarianceOutput"]

Total: TypeAlias = Sum | Moment
Count: TypeAlias = CountRows | CountNonNull | Moment
Floats: TypeAlias = NDArray[np.float64]


def axis(total: Total) -> Factor:
    """Return the column of a centered sum: its bounds and center."""
    if isinstance(total, Sum):
        return Factor(column=total.column, bounds=total.bounds, center=total.center)
    return next(factor for factor in total.factors if factor.power)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Drawn:
    """Noisy integers with their margins, and how many values there may be."""

    count: NDArray[np.int64]
    by: int

    @classmethod
    def of(cls, draw: Draw, confidence: Fraction) -> _Drawn:
        return cls(count=np.asarray(draw.steps), by=margin_of(draw.part, confidence))

    def mean(self, draw: Draw, confidence: Fraction, least: int, most: int) -> FloatInterval:
        """Return the mean of a sum's terms, which lie between two integers."""
        off = margin_of(draw.part, confidence)
        return mean_range(np.asarray(draw.steps), off, self.count, self.by).clipped(least, most)

    def correction(self) -> FloatInterval:
        """Return n / (n - 1), at most 2."""
        low, middle, high = (
            np.maximum(one, 2).astype(np.float64)
            for one in (self.count - self.by, self.count, self.count + self.by)
        )
        return FloatInterval(
            low=high / (high - 1), value=middle / (middle - 1), high=low / (low - 1)
        ).widened()


def _spread(total: Factor, mean: FloatInterval, squares: FloatInterval, shift: int) -> FloatInterval:
    """Return the variance in squared steps, from the means of x and of x^2 - shift."""
    power = squares.plus(shift).clipped(0, total.largest**2)
    return power.minus(square(mean)).clipped(0, _widest(total))


def _widest(factor: Factor) -> Fraction:
    """The largest variance of values within bounds, in squared steps: half the width, squared."""
    return Fraction(factor.bounds.upper_steps - factor.bounds.lower_steps, 2) ** 2


def _ends(factor: Factor) -> tuple[int, int]:
    bounds = factor.bounds
    return bounds.lower_steps - factor.center_steps, bounds.upper_steps - factor.center_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceOutput(QueryOutput):
    """A variance of clipped values, or its root; of the population, or with the correction n / (n - 1).

    Error
    -----
    Interval arithmetic over three margins, each failing with a third of the failure probability, clipped to
    [0, W^2 / 4] for bounds of width W, which no variance exceeds (with the correction, to twice that).
    Where there may be too few values, the interval is all of it.
    """

    name: str
    squares: Moment
    total: Total
    count: Count
    sample: bool = False
    root: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The squares, the sum and the count."""
        return (self.squares, self.total, self.count)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """1 / M^2, 1 / M and 1 / 2 for values of at most M steps: one row moves it by about M^2 / n."""
        largest = axis(self.total).largest
        return Fraction(1, largest**2), Fraction(1, largest), Fraction(1, 2)

    @property
    def formula(self) -> str:
        """From the moments."""
        corrected = " x n / (n - 1)" if self.sample else ""
        text = f"(the mean square - the squared mean){corrected}"
        return f"the root of {text}" if self.root else text

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its measures, and which of the four."""
        return {**super(VarianceOutput, self).identity, "sample": self.sample, "root": self.root}

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return floats, intervals rounded outward."""
        share, factor = of_several(confidence, 3), axis(self.total)
        squares, total, count = draws
        drawn = _Drawn.of(count, share)
        shift = self.squares.shift
        mean = drawn.mean(total, share, *_ends(factor))
        found = _spread(factor, mean, drawn.mean(squares, share, -shift, factor.largest**2 - shift), shift)
        widest = _widest(factor)
        if self.sample:
            widest *= 2
            found = product(found, drawn.correction()).clipped(0, widest)
        unknown = drawn.count - drawn.by < (2 if self.sample else 1)
        found = found.unknown(unknown, 0, widest).scaled(factor.bounds.step**2)
        return (root(found) if self.root else found).column(self.name, unknown)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return half the width of the interval for some rows; that of a root for values spread evenly."""
        share, factor = of_several(confidence, 3), axis(self.total)
        squares_off, off, by = (margin_of(part, share) for part in parts)
        step, largest, widest = float(factor.bounds.step), factor.largest, float(_widest(factor))
        widest *= 2 if self.sample else 1
        counted = f"{rows} values in every group"
        noise = [variance_of(part) for part in parts]
        deviation = sqrt(noise[0] + (2 * largest) ** 2 * noise[1] + self.squares.largest**2 * noise[2]) / rows
        few = rows - by < 2
        if not self.root:
            margin = widest / 2
            if not few:
                corrected = (rows - by) / (rows - by - 1) if self.sample else 1.0
                moved = squares_off + self.squares.largest * by + 2 * largest * (off + largest * by)
                spread = widest * (1 / (rows - by - 1)) if self.sample else 0.0
                margin = min(margin, corrected * moved / (rows - by) + spread)
            return Expectation(
                name=self.name,
                margin=margin * step**2 * (1 + 2.0**-40),
                standard_deviation=min(deviation, widest) * step**2,
                assumes=f"{counted}, anywhere within the bounds",
            )
        even = float(_widest(factor)) / 3
        margin, slope = sqrt(widest) / 2, 2 * sqrt(even)
        if not few:
            about = squares_off + abs(even - self.squares.shift) * by
            about = about / (rows - by) + (off / (rows - by)) ** 2
            corrected = (rows - by) / (rows - by - 1) if self.sample else 1.0
            high, low = min((even + about) * corrected, widest), max(even - about, 0.0)
            margin = min(margin, (sqrt(high) - sqrt(low)) / 2)
        return Expectation(
            name=self.name,
            margin=margin * step * (1 + 2.0**-40),
            standard_deviation=min(deviation / slope, sqrt(widest)) * step,
            assumes=f"{counted}, spread evenly over the bounds",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CovarianceOutput(QueryOutput):
    """A covariance of clipped values, over the rows in which both are present.

    Error
    -----
    Interval arithmetic over four margins, each failing with a quarter of the failure probability, clipped to
    W W' / 4 in magnitude for bounds of widths W and W' (with the correction n / (n - 1), to twice that).
    """

    name: str
    products: Moment
    totals: tuple[Total, Total]
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
        return {**super(CovarianceOutput, self).identity, "sample": self.sample}

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return floats, intervals rounded outward."""
        share, axes = of_several(confidence, 4), [axis(total) for total in self.totals]
        drawn = _Drawn.of(draws[3], share)
        found = _together(drawn, draws[:3], axes, share)
        widest = _widest_pair(axes)
        if self.sample:
            widest *= 2
            found = product(found, drawn.correction()).clipped(-widest, widest)
        unknown = drawn.count - drawn.by < (2 if self.sample else 1)
        found = found.unknown(unknown, -widest, widest)
        return found.scaled(axes[0].bounds.step * axes[1].bounds.step).column(self.name, unknown)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return half the width of the interval for some rows, or more."""
        share, axes = of_several(confidence, 4), [axis(total) for total in self.totals]
        off, first, second, by = (margin_of(part, share) for part in parts)
        one, other = (factor.largest for factor in axes)
        step = float(axes[0].bounds.step * axes[1].bounds.step)
        widest = float(_widest_pair(axes)) * (2 if self.sample else 1)
        margin = widest
        if rows - by >= 2:
            moved = off + one * (second + other * by) + other * (first + one * by) + one * other * by
            corrected = (rows - by) / (rows - by - 1) if self.sample else 1
            spread = widest / (rows - by - 1) if self.sample else 0.0
            margin = min(margin, corrected * moved / (rows - by) + spread)
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
    Interval arithmetic over six margins, each failing with a sixth of the failure probability, clipped to
    [-1, 1].
    """

    name: str
    products: Moment
    totals: tuple[Total, Total]
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
        share, axes = of_several(confidence, 6), [axis(total) for total in self.totals]
        drawn = _Drawn.of(draws[5], share)
        together = _together(drawn, draws[:3], axes, share)
        spreads = []
        for factor, moment, total, squares in zip(axes, self.squares, draws[1:3], draws[3:5], strict=True):
            mean = drawn.mean(total, share, *_ends(factor))
            power = drawn.mean(squares, share, -moment.shift, factor.largest**2 - moment.shift)
            spreads.append(_spread(factor, mean, power, moment.shift))
        below = root(product(*spreads))
        found = FloatInterval(
            low=_ratio(together.low, np.where(together.low < 0, below.low, below.high)),
            value=_ratio(together.value, below.value, at_zero=0.0),
            high=_ratio(together.high, np.where(together.high > 0, below.low, below.high)),
        )
        unknown = drawn.count - drawn.by < 1
        return found.widened().clipped(-1, 1).unknown(unknown, -1, 1).column(self.name, unknown)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return half the width of the interval for values that are spread evenly and unrelated."""
        share, axes = of_several(confidence, 6), [axis(total) for total in self.totals]
        off, first, second, one, other, by = (margin_of(part, share) for part in parts)
        margin, even = 1.0, [float(_widest(factor)) / 3 for factor in axes]
        if rows > by:
            least = rows - by
            about = off / least + first * second / least**2
            low = [
                spread - (squares + abs(spread - moment.shift) * by) / least - (sums / least) ** 2
                for spread, squares, sums, moment in zip(
                    even, (one, other), (first, second), self.squares, strict=True
                )
            ]
            if min(low) > 0:
                margin = min(1.0, about / sqrt(low[0] * low[1]))
        noise = variance_of(parts[0])
        return Expectation(
            name=self.name,
            margin=margin * (1 + 2.0**-40),
            standard_deviation=min(1.0, sqrt(noise) / rows / sqrt(even[0] * even[1])),
            assumes=f"{rows} rows with both values in every group, spread evenly and unrelated",
        )


def _together(drawn: _Drawn, draws: Sequence[Draw], axes: Sequence[Factor], share: Fraction) -> FloatInterval:
    """Return the covariance in steps of both, from the products and both sums."""
    largest = axes[0].largest * axes[1].largest
    mean = drawn.mean(draws[0], share, -largest, largest)
    means = (drawn.mean(draw, share, *_ends(factor)) for draw, factor in zip(draws[1:], axes, strict=True))
    widest = _widest_pair(axes)
    return mean.minus(product(*means)).clipped(-widest, widest)


def _widest_pair(axes: Sequence[Factor]) -> Fraction:
    one, other = (Fraction(factor.bounds.upper_steps - factor.bounds.lower_steps, 2) for factor in axes)
    return one * other


def _ratio(above: Floats, below: Floats, *, at_zero: float | None = None) -> Floats:
    """Return a quotient; without a divisor, infinity of its sign, or a given value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = above / below
    return np.where(below > 0, found, np.sign(above) * np.inf if at_zero is None else at_zero)
