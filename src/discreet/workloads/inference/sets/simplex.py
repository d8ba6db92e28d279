"""Non-negative entries, a known total, and both at once: exact projections."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational
from discreet.records import Record, dataclass
from discreet.workloads.algebra.arrays import Real, real_vector, weight_vector
from discreet.workloads.inference.sets.base import LinearRows

__all__ = ["KnownTotal", "NonNegative", "Simplex"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NonNegative:
    """No entry is below zero. The projection sets negative entries to zero, for any weights."""

    affine = False
    words = "entries are non-negative"

    def check(self, size: int) -> None:
        """Any number of entries will do."""

    def project(self, answers: ArrayLike, weights: ArrayLike | None = None) -> Real:
        """max(y, 0), entry by entry."""
        del weights
        return np.maximum(real_vector(answers, "answers"), 0.0)

    def residual(self, point: Real, answers: ArrayLike, weights: ArrayLike | None = None) -> float:
        """The largest abs(min(x_i, x_i - y_i)): at the optimum both are >= 0, and one of them is 0."""
        del weights
        return float(np.abs(np.minimum(point, point - real_vector(answers, "answers"))).max(initial=0.0))

    def along(self, point: Real, direction: Real) -> Real:
        """Entries at zero stay there."""
        return np.where(point > 0, direction, 0.0)

    def rows(self, size: int) -> LinearRows:
        """X >= 0."""
        from scipy.sparse import eye_array

        return LinearRows(least=eye_array(size, format="csr"), bounds=np.zeros(size))


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class KnownTotal(Record):
    """The entries add up to a public total. The projection spreads the difference over all of them."""

    total: float

    affine = True
    words = "entries add up to the total"

    def __init__(self, total: Number) -> None:
        self._set(total=float(rational(total, "total")))

    def check(self, size: int) -> None:
        """Without entries only a total of zero is possible."""
        _check_total(self.total, size)

    def project(self, answers: ArrayLike, weights: ArrayLike | None = None) -> Real:
        """y_i + (total - sum y) (1 / w_i) / sum (1 / w)."""
        values = real_vector(answers, "answers")
        self.check(values.size)
        share = 1 / weight_vector(weights, values.size)
        for _ in range(2):  # the second pass removes what rounding left of a large difference
            values = values + (self.total - values.sum()) * share / share.sum() if values.size else values
        return values

    def residual(self, point: Real, answers: ArrayLike, weights: ArrayLike | None = None) -> float:
        """How far the sum is from the total, and w (x - y) from a constant."""
        values = real_vector(answers, "answers", point.size)
        force = weight_vector(weights, point.size) * (point - values)
        spread = np.ptp(force) / 2 if point.size else 0.0
        return float(max(abs(point.sum() - self.total), spread))

    def along(self, point: Real, direction: Real) -> Real:
        """What comes to one entry leaves the others."""
        del point
        return direction - direction.mean() if direction.size else direction

    def rows(self, size: int) -> LinearRows:
        """Sum x = total."""
        from scipy.sparse import csr_array

        return LinearRows(equal=csr_array(np.ones((1, size))), values=np.array([self.total]))


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Simplex(Record):
    """Non-negative entries with a public total.

    With v_i = w_i y_i, the projection is x_i = max(y_i - price / w_i, 0) for the one price at which the
    entries add up to the total. The entries that stay positive are those with the largest v, so one sort
    finds the price: O(n log n), exact up to rounding.
    """

    total: float

    affine = False
    words = "entries are non-negative and add up to the total"

    def __init__(self, total: Number) -> None:
        self._set(total=float(rational(total, "total")))
        if self.total < 0:
            raise ParameterError(
                "constraints",
                "contradict each other: entries are non-negative, and add up to a total below zero",
                "a total of at least 0",
            )

    def check(self, size: int) -> None:
        """Without entries only a total of zero is possible."""
        _check_total(self.total, size)

    def project(self, answers: ArrayLike, weights: ArrayLike | None = None) -> Real:
        """max(y - price / w, 0)."""
        values = real_vector(answers, "answers")
        self.check(values.size)
        if values.size == 0 or self.total == 0:
            return np.zeros(values.size)
        weight = weight_vector(weights, values.size)
        order = np.argsort(-weight * values, kind="stable")
        prices = (np.cumsum(values[order]) - self.total) / np.cumsum(1 / weight[order])
        positive = int(np.nonzero((weight * values)[order] > prices)[0].max(initial=0)) + 1
        kept = order[:positive]
        point = np.zeros(values.size)
        point[kept] = np.maximum(KnownTotal(self.total).project(values[kept], weight[kept]), 0.0)
        return point

    def residual(self, point: Real, answers: ArrayLike, weights: ArrayLike | None = None) -> float:
        """How far the sum is from the total, and w (y - x) from one price, not reached where x = 0."""
        values = real_vector(answers, "answers", point.size)
        prices = weight_vector(weights, point.size) * (values - point)
        missed = max(abs(point.sum() - self.total), -point.min(initial=0.0))
        return float(max(missed, price_residual(prices, point)))

    def along(self, point: Real, direction: Real) -> Real:
        """Entries at zero stay there, and what comes to another leaves the rest."""
        kept = point > 0
        mean = direction[kept].mean() if kept.any() else 0.0
        return np.where(kept, direction - mean, 0.0)

    def rows(self, size: int) -> LinearRows:
        """X >= 0 and sum x = total."""
        total, signs = KnownTotal(self.total).rows(size), NonNegative().rows(size)
        return LinearRows(equal=total.equal, values=total.values, least=signs.least, bounds=signs.bounds)


def price_residual(prices: Real, point: Real) -> float:
    """Return by how much entries miss a common price: equal to it where positive, and not above elsewhere."""
    paid = prices[point > 0]
    if paid.size == 0:
        return 0.0
    price = (paid.max() + paid.min()) / 2
    return float(max(np.ptp(paid) / 2, prices.max() - price))


def _check_total(total: float, size: int) -> None:
    if size == 0 and total != 0:
        raise ParameterError("constraints", "ask for a total other than zero of no entries", "a total of 0")
