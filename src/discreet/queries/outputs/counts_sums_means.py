"""How counts, sums and means are computed from noisy integers, with intervals that cover.

Every interval covers the bounded statistic with at least the confidence of the request, each group on its
own. Where one noise is involved this is the exact law of the mechanism; where two are, each may fail with
half the probability (the union bound). All arithmetic here is on public values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import CountDistinct, CountNonNull, CountPersons, CountRows, Measure, Sum
from discreet.data.language.measures import SumDistinct
from discreet.privacy.rational import float_above, float_below, show
from discreet.queries.outputs.base import QueryOutput, excess_of, margin_of, of_several, variance_of
from discreet.queries.outputs.jets import Jet, divided_by, public_number, total_of
from discreet.queries.outputs.rounding import enclosed
from discreet.records import dataclass

__all__ = ["CountOutput", "MeanOutput", "QueryOutput", "SumOutput"]


_SLACK = 2.0**-49
"""More than the roundings of a ratio, scaled and shifted, in double precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOutput(QueryOutput):
    """A count of rows, persons or distinct values: the noisy integer itself, so that it has no bias.

    It may be negative. `Release.nonnegative` raises it to 0, and says by how much that biases it.

    Error
    -----
    The interval is value ± t with P(abs(noise) > t) <= 1 - confidence, by the exact law. A count is never
    negative, so both ends are raised to 0, which leaves out no possible count.
    """

    name: str
    measure: CountRows | CountNonNull | CountPersons | CountDistinct | SumDistinct

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The count."""
        return (self.measure,)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """A step is a row."""
        return (Fraction(1),)

    @property
    def factors(self) -> tuple[Fraction, ...]:
        """What each noisy integer is multiplied by."""
        return (Fraction(1),)

    @property
    def formula(self) -> str:
        """The count itself."""
        return "the count"

    @property
    def empty_is_null(self) -> bool:
        """A group without rows has a count of 0."""
        return False

    def supposed(self, rows: int) -> float:
        """All rows."""
        return float(rows)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return integers."""
        steps = draws[0].steps
        margin = margin_of(draws[0].part, confidence)
        lower, upper = np.maximum(steps - margin, 0), np.maximum(steps + margin, 0)
        excess = excess_of(draws[0].part)
        return AnswerColumn(name=self.name, values=steps, lower=lower, upper=upper, excess=excess)

    def jet(self, of: Mapping[Measure, Jet]) -> Jet:
        """Return the integer itself."""
        return of[self.measure]

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the quantile of the noise, for any count."""
        return Expectation(
            name=self.name,
            margin=float(margin_of(parts[0], confidence)),
            standard_deviation=sqrt(variance_of(parts[0])),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SumOutput(QueryOutput):
    """A sum of clipped values: step times the noisy integer, plus center times the noisy count if centered.

    Error
    -----
    Without a center, value ± step t by the exact law of the noise. With one, value ± (step s +
    abs(center) t), where either noise exceeds its s or t with at most half the failure probability.
    """

    name: str
    total: Sum | SumDistinct
    count: CountRows | CountNonNull | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The sum and, if it is centered, the count."""
        return (self.total,) if self.count is None else (self.total, self.count)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """1 / R for the sum, center / R for the count, in steps."""
        bounds = self.total.bounds
        largest = max(abs(bounds.lower_steps), abs(bounds.upper_steps))
        if isinstance(self.total, SumDistinct):
            return (Fraction(1, self.total.largest),)
        center = Fraction(abs(self.total.center_steps), largest)
        return (Fraction(1, largest),) if self.count is None else (Fraction(1, largest), center)

    @property
    def factors(self) -> tuple[Fraction, ...]:
        """What each noisy integer is multiplied by."""
        return (self._step,) if self.count is None else (self._step, self._center * self._step)

    @property
    def formula(self) -> str:
        """The sum, or what it was centered on put back."""
        if self.count is None:
            return "the sum"
        return f"the sum + {show(Fraction(self._center) * self.total.bounds.step)} x the count"

    @property
    def empty_is_null(self) -> bool:
        """A group without rows has a sum of 0."""
        return False

    @property
    def _center(self) -> int:
        return 0 if isinstance(self.total, SumDistinct) else self.total.center_steps

    @property
    def _step(self) -> Fraction:
        return self.total.step if isinstance(self.total, SumDistinct) else self.total.bounds.step

    def supposed(self, rows: int) -> float:
        """The largest sum."""
        bounds = self.total.bounds
        if isinstance(self.total, SumDistinct):
            return float(rows * self.total.largest * self.total.step)
        return float(rows * max(abs(bounds.lower), abs(bounds.upper)))

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return floats, intervals rounded outward."""
        steps: NDArray[Any] = draws[0].steps
        if self.count is not None:
            steps = _plus(steps, self._center, draws[1].steps)
        margin = self._steps([draw.part for draw in draws], confidence)
        step = self._step
        return AnswerColumn(
            name=self.name,
            values=enclosed(steps, step).nearest,
            lower=enclosed(_plus(steps, -margin), step).below,
            upper=enclosed(_plus(steps, margin), step).above,
        )

    def jet(self, of: Mapping[Measure, Jet]) -> Jet:
        """Return it as a function of the integers."""
        terms = [
            public_number(one, of[each]) * of[each]
            for one, each in zip(self.factors, self.measures, strict=True)
        ]
        return reduce(total_of, terms)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the quantile of the noise, for any sum."""
        step = self._step
        variances = [variance_of(part) for part in parts]
        scales = (1, self._center)
        deviation = sqrt(sum(scale**2 * one for scale, one in zip(scales, variances, strict=False)))
        return Expectation(
            name=self.name,
            margin=float_above(step * self._steps(parts, confidence)),
            standard_deviation=float(step) * deviation,
        )

    def _steps(self, parts: Sequence[Part], confidence: Fraction) -> int:
        if self.count is None:
            return margin_of(parts[0], confidence)
        total, count = (margin_of(part, of_several(confidence, 2)) for part in parts)
        return total + abs(self._center) * count


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOutput(QueryOutput):
    """A mean of clipped values: center + step S / max(N, 1), clipped to the bounds.

    S is the noisy sum of the values less the center, N the noisy number of values; centering halves what one
    row can change.

    Error
    -----
    With at least the confidence, the true sum is within S ± s and the true count within N ± t (each fails
    with half the failure probability), so the mean is between the extreme ratios of these. It is always
    within the bounds; where the count may be 0, the interval is all of them.
    """

    name: str
    total: Sum
    count: CountRows | CountNonNull

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The centered sum and the count."""
        return (self.total, self.count)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """1 / H for the sum, in steps; 1 for the count, which matters most if the mean is at a bound."""
        return Fraction(1, self.total.largest), Fraction(1)

    @property
    def formula(self) -> str:
        """The ratio."""
        center = f"{show(self.total.center)} + " if self.total.center else ""
        return f"{center}the sum / the count"

    def supposed(self, rows: int) -> float:
        """The middle of the bounds."""
        del rows
        return float((self.total.bounds.lower + self.total.bounds.upper) / 2)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return floats within the bounds, intervals rounded outward."""
        bounds, share = self.total.bounds, of_several(confidence, 2)
        (total, off), (count, by) = ((draw.steps, margin_of(draw.part, share)) for draw in draws)
        low, high = float_below(bounds.lower), float_above(bounds.upper)
        least, most = np.maximum(count - by, 1), np.maximum(count + by, 1)
        down, up = total - off, total + off
        value = self._mean(total, np.maximum(count, 1), 0)
        lower = self._mean(down, np.where(down < 0, least, most), -1)
        upper = self._mean(up, np.where(up < 0, most, least), 1)
        unknown = count - by <= 0
        value = value.clip(float(bounds.lower), float(bounds.upper))
        return AnswerColumn(
            name=self.name,
            values=value,
            lower=np.where(unknown, low, np.minimum(lower.clip(low, high), value)),
            upper=np.where(unknown, high, np.maximum(upper.clip(low, high), value)),
            unknown=unknown,
        )

    def jet(self, of: Mapping[Measure, Jet]) -> Jet:
        """Return it as a function of both integers."""
        total, count = of[self.total], of[self.count]
        spread = public_number(self.total.bounds.step, count) * divided_by(total, count)
        return total_of(public_number(self.total.center, count), spread)

    def _mean(self, total: NDArray[np.int64], count: NDArray[np.int64], side: int) -> NDArray[np.float64]:
        """Return center + step total / count, moved to a side by more than its roundings amount to."""
        center = float(self.total.center)
        spread = float(self.total.bounds.step) * (total.astype(np.float64) / count.astype(np.float64))
        return np.asarray(center + spread + side * _SLACK * (abs(center) + np.abs(spread)))

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return half the width of the interval, or more, if there are `rows` values, wherever their mean is.

        From the value to an end of the interval it is at most (step s + H t) / (n - t), for n values.
        """
        bounds, largest = self.total.bounds, self.total.largest
        off, by = (margin_of(part, of_several(confidence, 2)) for part in parts)
        widest = (bounds.upper - bounds.lower) / 2
        margin = widest if rows <= by else min(widest, bounds.step * Fraction(off + largest * by, rows - by))
        noise, counted = (variance_of(part) for part in parts)
        deviation = float(bounds.step) * sqrt(noise + largest**2 * counted) / max(rows, 1)
        return Expectation(
            name=self.name,
            margin=float_above(margin),
            standard_deviation=min(deviation, float_above(widest)),
            assumes=f"{rows} values in every group, their mean anywhere within the bounds",
        )


def _plus(steps: NDArray[Any], factor: int, count: NDArray[np.int64] | None = None) -> NDArray[Any]:
    """Return steps + factor count (by default 1), with Python's integers where 64 bits may not hold it."""
    times = np.ones(1, np.int64) if count is None else count
    if abs(factor) * max(int(np.abs(times).max(initial=0)), 1) < 1 << 60:
        return np.asarray(steps + factor * times)
    return np.asarray(steps.astype(object) + factor * times.astype(object))
