"""Order: the closest non-decreasing sequence, by pooling adjacent violators."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational
from discreet.records import Record, dataclass
from discreet.workloads.algebra.arrays import Real, real_vector, weight_vector
from discreet.workloads.inference.sets.base import LinearRows

__all__ = ["Ordered", "pool_adjacent_violators"]


def pool_adjacent_violators(values: Real, weights: Real) -> Real:
    """Return the non-decreasing x that minimizes sum w_i (x_i - y_i)^2, in O(n).

    Blocks of entries carry their weighted mean. A new block that is not above its left neighbor
    is pooled with it, again and again; each pooling removes a block, so there are fewer than n.
    """
    means: list[float] = []
    masses: list[float] = []
    lengths: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, mass, length = value, weight, 1
        while means and means[-1] >= mean:
            left = masses.pop()
            total = left + mass
            mean += (means.pop() - mean) * (left / total)
            mass = total
            length += lengths.pop()
        means.append(mean)
        masses.append(mass)
        lengths.append(length)
    return np.repeat(np.array(means, np.float64), lengths)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Ordered(Record):
    """Entries never fall (or never rise) from first to last, and lie within public bounds.

    Parameters
    ----------
    lower, upper : number, optional
        Bounds on all entries. The bounded projection is the unbounded one, clipped.
    falling : bool
        Whether entries never rise, in place of never fall.
    """

    lower: float
    upper: float
    falling: bool

    affine = False

    def __init__(
        self, *, lower: Number | None = None, upper: Number | None = None, falling: bool = False
    ) -> None:
        self._set(
            lower=-np.inf if lower is None else float(rational(lower, "lower")),
            upper=np.inf if upper is None else float(rational(upper, "upper")),
            falling=bool(falling),
        )
        if self.lower > self.upper:
            raise ParameterError(
                "constraints", "contradict each other: the lower bound is above the upper", "lower <= upper"
            )

    @property
    def words(self) -> str:
        """The constraint in words."""
        order = "entries never rise" if self.falling else "entries never fall"
        bounded = np.isfinite(self.lower) or np.isfinite(self.upper)
        return f"{order} and lie within their bounds" if bounded else order

    def non_negative(self) -> Ordered:
        """Return the same order with a lower bound of at least zero."""
        return Ordered(
            lower=max(self.lower, 0.0),
            upper=None if np.isinf(self.upper) else self.upper,
            falling=self.falling,
        )

    def check(self, size: int) -> None:
        """Any number of entries will do."""

    def project(self, answers: ArrayLike, weights: ArrayLike | None = None) -> Real:
        """Pool adjacent violators, then clip."""
        values = real_vector(answers, "answers")
        weight = weight_vector(weights, values.size)
        if self.falling:
            pooled = pool_adjacent_violators(values[::-1], weight[::-1])[::-1]
        else:
            pooled = pool_adjacent_violators(values, weight)
        return pooled.clip(self.lower, self.upper)

    def residual(self, point: Real, answers: ArrayLike, weights: ArrayLike | None = None) -> float:
        """How far the multipliers, which are partial sums of w (x - y), are from those of the optimum.

        With u_0 the multiplier of the lower bound and u_i = u_0 - sum of the first i terms w (x - y), the
        optimum has every u_i >= 0, u_i = 0 wherever x_i < x_(i + 1), and the last one, which belongs to the
        upper bound, 0 unless that is reached.
        """
        values, weight = real_vector(answers, "answers", point.size), weight_vector(weights, point.size)
        if point.size == 0:
            return 0.0
        if self.falling:
            point, values, weight = point[::-1], values[::-1], weight[::-1]
        sums = np.cumsum(weight * (point - values))
        steps = np.append(np.diff(point), self.upper - point[-1])
        jumps = np.nonzero(steps > 0)[0]
        if point[0] > self.lower:
            first = 0.0
        else:
            first = float(sums[jumps[0]]) if jumps.size else max(float(sums.max()), 0.0)
        multipliers = np.concatenate([[first], first - sums])
        missed = max(-steps.min(), self.lower - point[0], -multipliers.min(), 0.0)
        complementary = np.minimum(np.abs(multipliers[1:]), np.maximum(steps, 0.0)).max()
        return float(max(missed, complementary))

    def along(self, point: Real, direction: Real) -> Real:
        """Equal neighbors stay equal, and entries at a bound stay there."""
        if point.size == 0:
            return direction
        starts = np.append(0, np.nonzero(np.diff(point))[0] + 1)
        lengths = np.diff(np.append(starts, point.size))
        means = np.add.reduceat(direction, starts) / lengths
        free = (point[starts] > self.lower) & (point[starts] < self.upper)
        return np.repeat(np.where(free, means, 0.0), lengths)

    def rows(self, size: int) -> LinearRows:
        """Differences >= 0, and the bounds that are finite on the two ends."""
        from scipy.sparse import csr_array, diags_array, vstack

        sign = -1.0 if self.falling else 1.0
        steps = max(size - 1, 0)
        blocks = [
            diags_array([-sign * np.ones(steps), sign * np.ones(steps)], offsets=[0, 1], shape=(steps, size))
        ]
        bounds = [np.zeros(steps)]
        low, high = (size - 1, 0) if self.falling else (0, size - 1)
        for index, factor, bound in ((low, 1.0, self.lower), (high, -1.0, -self.upper)):
            if size and np.isfinite(bound):
                blocks.append(csr_array(([factor], ([0], [index])), shape=(1, size)))
                bounds.append(np.array([bound]))
        return LinearRows(least=csr_array(vstack(blocks)), bounds=np.concatenate(bounds))
