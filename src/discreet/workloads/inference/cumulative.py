"""Distribution functions and quantiles from noisy prefixes or ranges: monotone, from 0 to the total."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, probability, rational, whole
from discreet.records import dataclass
from discreet.workloads.algebra.arrays import Real, real_vector
from discreet.workloads.inference.estimate import Estimate
from discreet.workloads.inference.fitting import fit_cells, project
from discreet.workloads.inference.sets.isotonic import Ordered
from discreet.workloads.inference.sets.simplex import NonNegative, Simplex
from discreet.workloads.queries.base import about

__all__ = ["Cumulative", "RangeSums", "cumulative_from_prefixes", "cumulative_from_ranges"]

MOST_FITTED_CELLS = 1 << 24
"""The most cells that are fitted: a fit holds about a dozen vectors of them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cumulative:
    """A consistent distribution function over the cells 0, …, n - 1.

    Attributes
    ----------
    counts : array
        counts[i] estimates how many records lie in the cells 0, …, i: it never falls, never is below
        zero, and never is above the total. The last entry is the total.
    estimate : Estimate
        What it was made from: of prefixes, or of cells.
    """

    counts: Real
    estimate: Estimate

    @property
    def total(self) -> float:
        """The estimated or public number of records."""
        return float(self.counts[-1])

    def range(self, first: int, last: int) -> float:
        """Return the estimated count of the cells first, …, last, both included: never below zero."""
        first = whole(first, "first", least=0, most=self.counts.size - 1)
        last = whole(last, "last", least=0, most=self.counts.size - 1)
        if last < first:
            raise ParameterError("last", "is before first", "at least first")
        before = self.counts[first - 1] if first else 0.0
        return float(self.counts[last] - before)

    def share(self, cell: int) -> float:
        """Return the estimated share of records in the cells 0, …, cell."""
        return self.range(0, cell) / self._positive_total()

    def quantile(self, level: Number) -> int:
        """Return the first cell up to which at least `level` of the records lie.

        Never falls as the level rises.
        """
        wanted = float(probability(level, "level")) * self._positive_total()
        first = int(np.searchsorted(self.counts, wanted, side="left"))
        return min(first, int(self.counts.size) - 1)

    def _positive_total(self) -> float:
        if self.total <= 0:
            raise ParameterError(
                "counts", "add up to nothing by this estimate", "an estimate of at least one record"
            )
        return self.total


def cumulative_from_prefixes(
    prefixes: ArrayLike, *, variances: ArrayLike = 1.0, total: Number | None = None
) -> Cumulative:
    """Return the distribution function that is closest to noisy prefix counts.

    Parameters
    ----------
    prefixes : array
        prefixes[i] is the noisy count of the cells 0, …, i.
    variances : number or array
        Of the noise; only ratios matter.
    total : number, optional
        The number of records, where it is public. Then no entry is above it and the last one is it.

    Notes
    -----
    Pool adjacent violators with bounds, O(n). The last prefix, if the total is public, is known and is
    left out of the fit.
    """
    values = real_vector(prefixes, "prefixes")
    _check_cells(values.size)
    weights = _weights(variances, values.size)
    if total is None:
        estimate = project(values, Ordered(lower=0), weights=weights)
        return Cumulative(counts=estimate.constrained, estimate=estimate)
    known = _total(total)
    estimate = project(values[:-1], Ordered(lower=0, upper=total), weights=weights[:-1])
    return Cumulative(counts=np.append(estimate.constrained, known), estimate=estimate)


def cumulative_from_ranges(
    size: int,
    ranges: ArrayLike,
    answers: ArrayLike,
    *,
    variances: ArrayLike = 1.0,
    total: Number | None = None,
) -> Cumulative:
    """Return the distribution function of the non-negative cells that fit noisy range counts best.

    Parameters
    ----------
    size : int
        How many cells there are.
    ranges : array of pairs (first, last)
        The cells that each range includes, both ends included.
    answers : array
        One noisy count for each range.
    variances : number or array
        Of the noise; only ratios matter.
    total : number, optional
        The number of records, where it is public.
    """
    sums = RangeSums(size=size, ranges=np.array(ranges))
    values = real_vector(answers, "answers", sums.shape[0])
    held = NonNegative() if total is None else Simplex(_total(total))
    estimate = fit_cells(sums, values, held, weights=_weights(variances, values.size))
    return Cumulative(counts=np.cumsum(estimate.constrained), estimate=estimate)


class RangeSums:
    """The sums of cells over ranges, as an operator that stores only their ends.

    O(cells + ranges) for each product.
    """

    def __init__(self, *, size: int, ranges: NDArray[np.generic]) -> None:
        self._size = whole(size, "size", least=1)
        if self._size > MOST_FITTED_CELLS:
            raise ParameterError(
                "size",
                f"is {about(self._size)} cells",
                f"at most {MOST_FITTED_CELLS}: merge neighboring cells",
            )
        allowed = "pairs of integers (first, last) with 0 <= first <= last < the number of cells"
        if ranges.size == 0:
            raise ParameterError("ranges", "are empty", f"at least one of {allowed}")
        if ranges.ndim != 2 or ranges.shape[1] != 2 or ranges.dtype.kind not in "iu":
            raise ParameterError("ranges", "are not pairs of integers", allowed)
        ends = ranges.astype(np.int64)
        for problem, wrong in (
            ("are reversed", ends[:, 0] > ends[:, 1]),
            ("lie outside the domain", (ends[:, 0] < 0) | (ends[:, 1] >= self._size)),
        ):
            if wrong.any():
                raise ParameterError(f"ranges[{int(np.argmax(wrong))}]", problem, allowed)
        self._first, self._after = ends[:, 0], ends[:, 1] + 1

    @property
    def shape(self) -> tuple[int, int]:
        """Ranges, and cells."""
        return self._first.size, self._size

    def matvec(self, x: Real) -> Real:
        """Differences of prefix sums."""
        prefixes = np.concatenate([[0.0], np.cumsum(x)])
        sums: Real = prefixes[self._after] - prefixes[self._first]
        return sums

    def rmatvec(self, y: Real) -> Real:
        """Each cell gathers the ranges that hold it: what began before it, less what ended."""
        steps = np.bincount(self._first, y, self._size + 1) - np.bincount(self._after, y, self._size + 1)
        return np.cumsum(steps)[:-1]


def _total(total: Number) -> int | float:
    exact = rational(total, "total")
    if exact < 0:
        raise ParameterError("total", "is negative", "0 or greater")
    return int(exact) if exact == ceil(exact) else float(exact)


def _weights(variances: ArrayLike, size: int) -> Real:
    spread = real_vector(
        np.full(size, variances) if np.ndim(variances) == 0 else variances, "variances", size
    )
    if (spread <= 0).any():
        raise ParameterError("variances", "are not all positive", "positive numbers")
    return 1 / spread


def _check_cells(size: int) -> None:
    if size == 0:
        raise ParameterError("prefixes", "are empty", "one for each cell, at least one")
