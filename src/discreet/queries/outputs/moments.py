"""Variances and deviations, computed from noisy sums of powers; what pairs of columns share with them.

With x the values less the center of their bounds, in steps, n their number and h the shift of their
squares: the variance is h + (sum of x^2 - h) / n - ((sum of x) / n)^2, in squared steps. Its interval is what
the law of the noises of first order leaves (`delta_method`), within what interval arithmetic over margins of
all noises gives, clipped to what values within the bounds allow. (Proof: aggregates, lemma 5; delta_method.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import CountNonNull, CountRows, Measure, Moment, Sum
from discreet.data.language.measures import Factor
from discreet.queries.outputs.base import QueryOutput, margin_of, variance_of
from discreet.queries.outputs.delta_method import box_share, expected_half_width, has_law, within_law
from discreet.queries.outputs.float_interval import FloatInterval, mean_range, product, root, square
from discreet.queries.outputs.jets import Jet, difference, divided_by, public_number, root_of, total_of
from discreet.records import dataclass

__all__ = [
    "Count",
    "DrawnCount",
    "SumOrMoment",
    "VarianceOutput",
    "axis",
    "ends_of",
    "spread_of",
    "supposed_draw",
    "widest_of",
]

SumOrMoment: TypeAlias = Sum | Moment
Count: TypeAlias = CountRows | CountNonNull | Moment


def axis(total: SumOrMoment) -> Factor:
    """Return the column of a centered sum: its bounds and center."""
    if isinstance(total, Sum):
        return Factor(column=total.column, bounds=total.bounds, center=total.center)
    return next(factor for factor in total.factors if factor.power)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnCount:
    """Noisy integers with their margins, and how many values there may be."""

    count: NDArray[np.int64]
    by: int

    @classmethod
    def of(cls, draw: Draw, confidence: Fraction) -> DrawnCount:
        """Return a noisy count, with its margin at a confidence."""
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


def spread_of(total: Factor, mean: FloatInterval, squares: FloatInterval, shift: int) -> FloatInterval:
    """Return the variance in squared steps, from the means of x and of x^2 - shift."""
    power = squares.plus(shift).clipped(0, total.largest**2)
    return power.minus(square(mean)).clipped(0, widest_of(total))


def widest_of(factor: Factor) -> Fraction:
    """The largest variance of values within bounds, in squared steps: half the width, squared."""
    return Fraction(factor.bounds.upper_steps - factor.bounds.lower_steps, 2) ** 2


def ends_of(factor: Factor) -> tuple[int, int]:
    """Return the bounds of a column less its center, in steps."""
    bounds = factor.bounds
    return bounds.lower_steps - factor.center_steps, bounds.upper_steps - factor.center_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceOutput(QueryOutput):
    """A variance of clipped values, or its root; of the population, or with the correction n / (n - 1).

    Error
    -----
    The law of the noises of first order and what is of second order, within interval arithmetic over margins
    of all three noises (`delta_method`), clipped to [0, W^2 / 4] for bounds of width W, which no variance
    exceeds (with the correction, to twice that). Where there may be too few values, the interval is all of
    it.
    """

    name: str
    squares: Moment
    total: SumOrMoment
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
        return {**super().identity, "sample": self.sample, "root": self.root}

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return floats, intervals rounded outward."""
        parts, factor = [draw.part for draw in draws], axis(self.total)
        share = box_share(parts, confidence)
        squares, total, count = draws
        drawn = DrawnCount.of(count, share)
        shift = self.squares.shift
        mean = drawn.mean(total, share, *ends_of(factor))
        found = spread_of(factor, mean, drawn.mean(squares, share, -shift, factor.largest**2 - shift), shift)
        widest = widest_of(factor)
        if self.sample:
            widest *= 2
            found = product(found, drawn.correction()).clipped(0, widest)
        if has_law(parts, confidence):
            read = dict(zip(self.measures, draws, strict=True))
            found = within_law(self._ratio, read, confidence, found.plus(-shift)).plus(shift)
        unknown = drawn.count - drawn.by < (2 if self.sample else 1)
        found = found.unknown(unknown, 0, widest).scaled(factor.bounds.step**2)
        return (root(found) if self.root else found).column(self.name, unknown)

    def jet(self, of: Mapping[Measure, Jet]) -> Jet:
        """Return it as a function of the three integers."""
        shift = public_number(self.squares.shift, of[self.count])
        found = total_of(shift, divided_by(*self._ratio(of)))
        found = found * public_number(axis(self.total).bounds.step ** 2, of[self.count])
        return root_of(found) if self.root else found

    def _ratio(self, of: Mapping[Measure, Jet]) -> tuple[Jet, Jet]:
        """Return the variance less h, in squared steps: (Q - S^2 / n) / n or (Q + h - S^2 / n) / (n - 1)."""
        count = of[self.count]
        around = difference(of[self.squares], divided_by(of[self.total] * of[self.total], count))
        if not self.sample:
            return around, count
        return total_of(around, public_number(self.squares.shift, count)), difference(
            count, public_number(1, count)
        )

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return half the width of the interval for some rows; that of a root for values spread evenly."""
        share, factor = box_share(parts, confidence), axis(self.total)
        squares_off, off, by = (margin_of(part, share) for part in parts)
        step, largest, widest = float(factor.bounds.step), factor.largest, float(widest_of(factor))
        widest *= 2 if self.sample else 1
        counted = f"{rows} values in every group"
        noise = [variance_of(part) for part in parts]
        deviation = sqrt(noise[0] + (2 * largest) ** 2 * noise[1] + self.squares.largest**2 * noise[2]) / rows
        few = rows - by < 2
        if not self.root:
            margin = widest / 2
            if not few:
                times = (rows - by) / (rows - by - 1) if self.sample else 1.0
                moved = squares_off + self.squares.largest * by + 2 * largest * (off + largest * by)
                spread = widest * (1 / (rows - by - 1)) if self.sample else 0.0
                margin = min(margin, times * moved / (rows - by) + spread)
                if has_law(parts, confidence):
                    noises = dict(zip(self.measures, parts, strict=True))
                    ranges, most = self._anywhere(rows), widest + self.squares.shift
                    half = expected_half_width(self._ratio, noises, confidence, ranges, most)
                    margin = min(margin, half)
            return Expectation(
                name=self.name,
                margin=margin * step**2 * (1 + 2.0**-40),
                standard_deviation=min(deviation, widest) * step**2,
                assumes=f"{counted}, anywhere within the bounds",
            )
        even = float(widest_of(factor)) / 3
        steps = (round(rows * (even - self.squares.shift)), 0, rows)
        column = self.finish([supposed_draw(*one) for one in zip(parts, steps, strict=True)], confidence)
        assert column.lower is not None  # noqa: S101
        assert column.upper is not None  # noqa: S101
        margin, slope = float(column.upper[0] - column.lower[0]) / 2, 2 * sqrt(even)
        return Expectation(
            name=self.name,
            margin=margin * (1 + 2.0**-40),
            standard_deviation=min(deviation / slope, sqrt(widest)) * step,
            assumes=f"{counted}, spread evenly over the bounds",
        )

    def _anywhere(self, rows: int) -> list[tuple[float, float]]:
        """Return what the three integers can be for a number of values within the bounds."""
        factor, shift = axis(self.total), self.squares.shift
        low, high = ends_of(factor)
        return [
            (-float(rows) * shift, float(rows) * (factor.largest**2 - shift)),
            (float(rows) * low, float(rows) * high),
            (float(rows), float(rows)),
        ]


def supposed_draw(part: Part, steps: int) -> Draw:
    """Return a released integer that is supposed, for expected errors."""
    return Draw(part=part, steps=np.array([steps], np.int64))
