"""Multiplicative weights: an estimate of all cells moves toward a noisy answer by factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.records import dataclass
from discreet.workloads.algebra.arrays import Real

__all__ = ["NoisyAnswer", "Reweighting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyAnswer:
    """A query, by its row, and its noisy answer."""

    query: int
    answer: int


class Reweighting:
    """An estimate of the cells, of a fixed total, uniform at first.

    Parameters
    ----------
    queries : integer matrix
        All queries.
    total : int
        What the cells add up to.
    tolerated : float
        By how much the estimate may miss an earlier measurement before it is used again.
    """

    def __init__(
        self, queries: NDArray[np.int64], total: int, *, tolerated: float, logarithms: Real | None = None
    ) -> None:
        self._queries, self._total, self._tolerated = queries, int(total), tolerated
        self._logarithms = np.zeros(queries.shape[1]) if logarithms is None else logarithms
        self.cells = self._normalized(self._logarithms)
        span = (queries.max(axis=1) - queries.min(axis=1)).max()
        self._half = float(span) / 2

    def _normalized(self, logarithms: Real) -> Real:
        weights = np.exp(logarithms - logarithms.max())
        normalized: Real = self._total * (weights / weights.sum())
        return normalized

    def corrected(self, measured: Sequence[NoisyAnswer], passes: int) -> Reweighting:
        """Return the estimate after the newest measurement, and up to `passes` more rounds over all of them.

        One update multiplies cell i by exp(r (q_i - middle) / h), r = (answer - q(estimate)) / (2 N h),
        with h half the largest range of the entries of a query, middle the middle of this query's, and
        the answer clipped to what cells of this total can have. It brings the estimate closer to the
        truth, in relative entropy, by at least (e^2 - noise^2) / (4 N^2 h^2), e its error before: at a
        loss only where noise exceeds the error.
        """
        if self._half == 0.0:
            return self
        logarithms = self._moved(self._logarithms, measured[-1], 0.0)
        for _ in range(passes):
            before = logarithms
            for one in measured:
                logarithms = self._moved(logarithms, one, self._tolerated)
            if logarithms is before:
                break
        return Reweighting(self._queries, self._total, tolerated=self._tolerated, logarithms=logarithms)

    def _moved(self, logarithms: Real, one: NoisyAnswer, tolerated: float) -> Real:
        query = self._queries[one.query]
        low, high = int(query.min()), int(query.max())
        answer = min(max(int(one.answer), self._total * low), self._total * high)
        missed = answer - float(query @ self._normalized(logarithms))
        if abs(missed) <= tolerated:
            return logarithms
        strength = missed / (2 * self._total * self._half)
        moved: Real = logarithms + strength * (query - (low + high) / 2) / self._half
        moved -= moved.max()
        return moved
