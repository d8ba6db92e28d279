"""What was released for a distribution function: shares, quantiles and a curve that never falls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.curator.printing import number
from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational
from discreet.queries.linear.cells import edge_after, labels
from discreet.queries.linear.range_release import RangeRelease
from discreet.queries.linear.shares import Share, prefix_margins
from discreet.workloads.inference import Cumulative, cumulative_from_prefixes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.curator.plot import Axes

__all__ = ["CumulativeRelease", "Quantile"]

_MOST_CELLS = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A quantile by noisy counts.

    Attributes
    ----------
    value : float
        The lowest number of the first cell up to which at least the share of the rows lie, by the curve
        that never falls.
    lower, upper : float
        The lowest numbers of the first and the last cell that it may be, with at least the confidence.
    """

    value: float
    lower: float
    upper: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        error = max(self.upper - self.value, self.value - self.lower)
        return f"{number(self.value, error)} ({self.lower:,.6g} to {self.upper:,.6g})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CumulativeRelease(RangeRelease):
    """The distribution function of a column, made so that prefixes err as little as possible."""

    def at_most(self, value: Number, /, **conditions: object) -> Share:
        """Return the share of the rows whose number is at most a value: F(value).

        Where a cell holds several numbers, only the last of each can be asked for.
        """
        (axis,) = self.axes
        return replace(
            self.share(None, edge_after(axis, value), **conditions), about=f"{axis.column} <= {value}"
        )

    def curve(self, **conditions: object) -> Cumulative:
        """Return the distribution function that is closest to the noisy prefixes and never falls."""
        prefixes = np.cumsum(self._sums(conditions))
        return cumulative_from_prefixes(prefixes)

    def quantile(self, share: Number, /, *, confidence: Number = 0.95, **conditions: object) -> Quantile:
        """Return the least number that at least a share of the rows do not exceed, as far as cells tell.

        Error
        -----
        With j the cell of the true quantile, prefix_j - share · all is not negative and
        prefix_(j-1) - share · all is. `lower` is the first cell at which the noisy answers do not deny the
        former by more than its margin, `upper` the last at which they do not deny the latter; noise
        being symmetric, either end fails with at most half the probability (proof: measurement).
        """
        exact = rational(share, "share")
        if not 0 < exact < 1:
            raise ParameterError("share", "is no share", "a number between 0 and 1, such as 0.5")
        chosen, size = self._groups_of(conditions), self.design.strategy.size
        if size > _MOST_CELLS:
            raise ParameterError(
                "share", f"is asked of {size:,} cells", f"at most {_MOST_CELLS:,}: ask with a larger width"
            )
        prefixes = np.cumsum(self._sums(conditions))
        margins = prefix_margins(self.design, len(chosen), float(exact), confidence)
        below = prefixes - float(exact) * prefixes[-1]
        first = int(np.argmax(below + margins >= 0))
        denied = np.flatnonzero(below[:-1] - margins[:-1] < 0)
        last = int(denied[-1]) + 1 if denied.size else 0
        first, last = min(first, last), max(first, last)
        edges = labels(self.axes[0])
        found = self.curve(**conditions).quantile(exact) if prefixes[-1] > 0 else first
        value = min(max(found, first), last)
        low, middle, high = (float(edges[place]) for place in (first, value, last))  # type: ignore[arg-type]
        return Quantile(value=middle, lower=low, upper=high)

    def plot(self, output: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the distribution function with the intervals of its shares."""
        from discreet.queries.linear.plot import plot_cumulative

        del output
        return plot_cumulative(self, ax)

    def _sums(self, conditions: dict[str, object]) -> NDArray[np.float64]:
        cells = [group.cells.reshape(-1) for group in self._groups_of(conditions)]
        return np.asarray(np.sum(cells, axis=0))

    def _described(self) -> Iterator[str]:
        (axis,) = self.axes
        groups = f", in each of {len(self.released):,} groups" if self.groups else ""
        yield (
            f"distribution function of {axis.column} ({axis.cells:,} cells){groups}: at_most(x), "
            "quantile(q), share(low, high) and count(low, high) answer at no further cost"
        )
        yield from [*RangeRelease._described(self)][1:]
