"""What was released for one column: counts, shares, quantiles and a curve that never falls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.curator.release.release import Release
from discreet.curator.request.request import AnswerColumn
from discreet.errors import ParameterError
from discreet.privacy.decimals import number
from discreet.privacy.rational import Number, probability
from discreet.queries.counts.cells import edge_after, highest, lowest
from discreet.queries.counts.range_release import RangeRelease
from discreet.queries.counts.shares import Share, prefix_margins, prefix_shares
from discreet.records import dataclass
from discreet.visible import visible
from discreet.workloads import Prefixes
from discreet.workloads.inference import Cumulative, cumulative_from_prefixes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.figures import Axes, Panels

__all__ = ["ColumnRelease", "Quantile"]

_MOST_CELLS = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A quantile by noisy counts.

    Attributes
    ----------
    value : float
        A number in the first cell up to which at least the share of the rows lie, by the curve that never
        falls; within a cell of several numbers by proportion.
    lower, upper : float
        The least and the largest number that it may be, with at least the confidence.
    about : str
        What was asked, in words.
    """

    value: float
    lower: float
    upper: float
    about: str = ""

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        size = max(self.upper - self.lower, abs(self.value) * 1e-6)
        asked = f"{visible(self.about)}: " if self.about else ""
        return f"{asked}{number(self.value, size)} ({self.lower:,.10g} to {self.upper:,.10g})"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ColumnRelease(RangeRelease):
    """The counts of one column's cells, made so that ranges, or prefixes, have the least error."""

    def at_most(self, value: Number, /, **conditions: object) -> Share:
        """Return the share of the rows whose number is at most a value: F(value).

        Where a cell holds several numbers, only the last of each can be asked for; see `below`.
        """
        (axis,) = self.axes
        found = self.share(None, edge_after(axis, value), **conditions)
        return replace(found, about=f"{axis.column} <= {value}")

    def below(self, value: Number, /, **conditions: object) -> Share:
        """Return the share of the rows whose number is below a value, which is the first of a cell."""
        return self.share(None, value, **conditions)

    def quantile(
        self, share: Number, /, *, confidence: Number | None = None, **conditions: object
    ) -> Quantile:
        """Return the least number that at least a share of the rows do not exceed, as far as cells show.

        Error
        -----
        With j the cell of the true quantile, prefix_j - share · all is not negative and
        prefix_(j-1) - share · all is. `lower` is in the first cell at which the noisy answers do not deny the
        former by more than its margin, `upper` in the last at which they do not deny the latter; noise
        being symmetric, either end fails with at most half the probability (proof: measurement).
        """
        exact = probability(share, "share", zero=False, one=False)
        chosen, size = self._groups_of(conditions), self.design.strategy.size
        if size > _MOST_CELLS:
            raise ParameterError(
                "share", f"is asked over {size:,} cells", f"at most {_MOST_CELLS:,}: ask with a larger width"
            )
        (axis,) = self.axes
        level = self.request.confidence if confidence is None else confidence
        prefixes = np.cumsum(self._sums(conditions))
        margins = prefix_margins(self.design, len(chosen), float(exact), level)
        over = prefixes - float(exact) * prefixes[-1]
        first = int(np.argmax(over + margins >= 0))
        denied = np.flatnonzero(over[:-1] - margins[:-1] < 0)
        last = int(denied[-1]) + 1 if denied.size else 0
        first, last = min(first, last), max(first, last)
        least, most = lowest(axis, first), highest(axis, last)
        return Quantile(
            value=float(min(max(self._inside(exact, conditions), least), most)),
            lower=float(least),
            upper=float(most),
            about=" and ".join([f"{float(exact):g} quantile of {axis.column}", *self._named(conditions)]),
        )

    def curve(self, **conditions: object) -> Release:
        """Return the distribution function as a table: for the last number of each cell the share up to it.

        The shares are those of the curve that is closest to the noisy prefixes and never falls; intervals
        hold for each share by itself.
        """
        (axis,) = self.axes
        sums, found = self._sums(conditions), self._cumulative(conditions)
        values = np.clip(found.counts / max(found.total, 1.0), 0.0, 1.0)
        column = AnswerColumn(name="share", values=values, offers="at_most(x) gives intervals")
        if axis.cells <= _MOST_CELLS:
            groups = len(self._groups_of(conditions))
            lower, upper = prefix_shares(sums, self.design, groups, self.request.confidence)
            lower, upper = np.minimum(lower, values), np.maximum(upper, values)
            column = AnswerColumn(name="share", values=values, lower=lower, upper=upper)
        last = [float(highest(axis, cell)) for cell in range(axis.cells)]
        return Release(
            request=self.request,
            keys={axis.column: last},
            outputs=(column,),
            label=self.label,
            stored=self.stored,
        )

    def plot(self, output: str | None = None, ax: Panels | None = None, label: str | None = None) -> Axes:
        """Draw the cells of every group; of a distribution function, the share below every number."""
        from discreet.queries.counts.plot import plot_cells, plot_cumulative

        del output
        return plot_cumulative(self, ax, label) if self._is_curve else plot_cells(self, ax, label)

    @property
    def _is_curve(self) -> bool:
        return isinstance(self.design.workload, Prefixes)

    def _sums(self, conditions: dict[str, object]) -> NDArray[np.float64]:
        cells = [group.cells.reshape(-1) for group in self._groups_of(conditions)]
        return np.asarray(np.sum(cells, axis=0))

    def _cumulative(self, conditions: dict[str, object]) -> Cumulative:
        return cumulative_from_prefixes(np.cumsum(self._sums(conditions)))

    def _inside(self, share: Fraction, conditions: dict[str, object]) -> Fraction:
        """Return the quantile of the curve that never falls, by proportion within its cell."""
        (axis,) = self.axes
        found = self._cumulative(conditions)
        if found.total <= 0:
            return lowest(axis, 0)
        cell = found.quantile(share)
        before = float(found.counts[cell - 1]) if cell else 0.0
        inside = float(found.counts[cell]) - before
        part = Fraction((float(share) * found.total - before) / inside) if inside > 0 else Fraction(0)
        low, high = lowest(axis, cell), highest(axis, cell)
        return low + (high - low) * min(max(part, Fraction(0)), Fraction(1))

    def _described(self) -> Iterator[str]:
        (axis,) = self.axes
        what = "distribution function" if self._is_curve else "ranges"
        yield (
            f"{what} of {axis.column} ({axis.cells:,} cells){self._in_groups}: count, share, at_most, below "
            "and quantile answer at no further cost"
        )
        yield from [*RangeRelease._described(self)][1:]
