"""Top-k: the exponential mechanism, k times, without replacement."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.error.selection import TopKError
from discreet.mechanisms.selection.scores import Pairs, ScoreVector, Selection, cheapest
from discreet.noise import choose, current
from discreet.privacy.events import Event, ExponentialChoice
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, rational, whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.mechanisms.selection.laws import Law

__all__ = ["TopK"]

_MOST_CHOICES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class TopK(Selection):
    """Choose k of several candidates, one after the other, better ones with higher probability.

    Parameters
    ----------
    k : int
        How many candidates to choose.
    sensitivity : number or Sensitivity
        The most that any one score moves between neighbors (the L-infinity norm). An int says that
        scores are integers; a float or a fraction says that they are real.
    epsilon : number
        The privacy loss of all choices together.
    monotone : bool
        Whether between neighbors all scores move in the same direction, as counts do when a
        person is added or removed. Then half the epsilon gives the same choice.
    grid : number, optional
        For real scores: the power of two to round to. By default fine enough not to matter.
    neighbors : Neighbors, optional
        The relation for which the sensitivity holds; by default adding or removing a person.

    Guarantee
    ---------
    epsilon-DP: each choice is the exponential mechanism with epsilon / k among the candidates that are
    left (proof: docs/proofs/top_k.md). `event` records the k choices, whose losses have bounded range and
    compose to less than k times their epsilon in zero-concentrated privacy. Adding Gumbel noise once
    and taking the k largest in order has the same law (Durfee & Rogers 2019).

    Finite precision
    ----------------
    As for `Exponential`: every choice is exact, real scores are rounded to the grid and that is charged.

    Error
    -----
    A bound on the largest shortfall of the j-th choice from the j-th best score, j = 1, …, k: it exceeds
    t with probability at most 1 - prod 1 / (1 + (n - j) p), p = exp(-rate g) with g the first multiple
    of the grid beyond t; see `error`.

    Examples
    --------
    >>> from discreet.mechanisms import TopK
    >>> mechanism = TopK(k=2, sensitivity=1, epsilon=1, monotone=True)
    >>> mechanism.event
    ExponentialChoice(epsilon=0.5) * 2
    >>> mechanism.guarantee
    PureDP(epsilon=1)
    >>> best = mechanism.release([120, 90, 119, 3])
    """

    k: int

    def __init__(
        self,
        *,
        k: int,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        monotone: bool = False,
        grid: Number | None = None,
        neighbors: Neighbors | None = None,
    ) -> None:
        count = whole(k, "k", least=1, most=_MOST_CHOICES)
        share = rational(epsilon, "epsilon", positive=True) / count
        self._choose_by(sensitivity, share, monotone, grid, neighbors, k=count)

    def __repr__(self) -> str:
        return f"TopK(k={self.k}, {Selection.__repr__(self).removeprefix('TopK(')}"

    @property
    def _share(self) -> Fraction:
        return self.rate * self.scores.swing * self.grid

    @property
    def _loss(self) -> Fraction:
        return self.k * self._share

    @property
    def event(self) -> Event:
        """The laws that `release` draws: k choices."""
        return ExponentialChoice(epsilon=self._share, neighbors=self.neighbors) * self.k

    @property
    def error(self) -> TopKError:
        """A bound on how far the j-th choice falls short of the j-th best score, for all j."""
        return TopKError(rate=self.rate, step=self.grid, rounding=self.scores.rounding, k=self.k)

    def release(self, scores: ScoreVector) -> NDArray[np.int64]:
        """Return the indices of k candidates in the order in which they were chosen."""
        steps = self.scores.enter(scores)
        self._check(len(steps))
        source = current()
        chosen = np.empty(self.k, np.int64)
        left = np.arange(len(steps))
        for turn in range(self.k):
            position = choose(steps.max() - steps, self._rate_in_steps, source)
            chosen[turn] = left[position]
            kept = np.arange(len(left)) != position
            left, steps = left[kept], steps[kept]
        return source.mark(chosen)

    def _check(self, candidates: int) -> None:
        if self.k > candidates:
            raise ParameterError("k", "is larger than the number of candidates", "at most that number")

    @property
    def _outcome(self) -> str:
        return "candidates in order (indices)"

    def _law(self, steps: NDArray[np.int64]) -> Law:
        from discreet.mechanisms.selection.laws import top_k_law

        self._check(len(steps))
        return top_k_law(steps, float(self._rate_in_steps), self.k)

    def neighboring_inputs(self) -> Pairs:
        """Return scores of k + 1 candidates whose outputs differ nearly as much as the guarantee allows."""
        return self.scores.pairs(1 / self._rate_in_steps, behind=self.k)

    @classmethod
    def for_error(  # type: ignore[override]
        cls,
        tolerance: Number,
        *,
        k: int,
        candidates: int,
        confidence: Number = 0.95,
        sensitivity: Number | Sensitivity = 1,
        monotone: bool = False,
        grid: Number | None = None,
    ) -> Self:
        """Return the mechanism with the smallest epsilon whose error stays within a tolerance.

        Parameters
        ----------
        tolerance : number
            How far the j-th choice may fall short of the j-th best score.
        k : int
            How many candidates to choose.
        candidates : int
            How many candidates there are.
        confidence : number
            With at least which probability.
        sensitivity, monotone, grid
            As for the mechanism.
        """
        return cheapest(
            lambda epsilon: cls(k=k, sensitivity=sensitivity, epsilon=epsilon, monotone=monotone, grid=grid),
            tolerance,
            confidence,
            candidates,
        )
