"""MWEM: an estimate of all cells that is corrected, round by round, on the query that it answers worst."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from math import inf, log, nextafter, sqrt
from typing import cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms import Exponential, Laplace
from discreet.mechanisms.values import Value
from discreet.noise import current
from discreet.privacy.events import Event, compose
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, confidence_level, probability, rational, whole
from discreet.records import Record, dataclass
from discreet.workloads.algebra.arrays import Real
from discreet.workloads.data_release.person_change import (
    PersonChange,
    counts_of,
    integer_queries,
    largest_change,
)
from discreet.workloads.data_release.reweighting import NoisyAnswer, Reweighting

__all__ = ["MultiplicativeWeights", "MultiplicativeWeightsRelease"]

_STEPS = 64
"""Scores are multiples of 1/64 of a count."""
_LARGEST_SCORE = 1 << 60
_MOST_ROUNDS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MultiplicativeWeightsRelease:
    """Estimates of all cells, and what is known about their errors.

    Attributes
    ----------
    average : array
        The mean of the estimates before each round: the one that the theorem is about.
    best : array
        The estimate, among those before each round, whose error is bounded best.
    last : array
        The estimate after the last round: often the closest, but nothing bounds its error.
    measurements : tuple of Measurement
        What was released: the queries that were chosen, in order, and their noisy answers.
    total : int
        The public or noisy number of rows.
    bounds : array
        For each round, a bound on the largest error of the estimate before it. All hold together with the
        stated confidence, for any counts up to the mechanism's `largest_count` (larger ones are clamped,
        and the bounds are then about the clamped counts): from what was released, not from the theorem.
    """

    average: Real
    best: Real
    last: Real
    measurements: tuple[NoisyAnswer, ...]
    total: int
    bounds: Real

    @property
    def max_error(self) -> float:
        """A bound on the largest error of `best` over all queries."""
        return float(self.bounds.min())

    @property
    def average_max_error(self) -> float:
        """A bound on the largest error of `average` over all queries."""
        return nextafter(float(self.bounds.mean()), inf)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class MultiplicativeWeights(Record):
    """Learn an estimate of all cells that answers many linear queries.

    Parameters
    ----------
    queries : integer matrix or workload
        One row for each query, one column for each cell.
    epsilon : number
        The privacy loss of everything together.
    rounds : int
        How many queries are chosen and measured.
    total : int, optional
        The number of rows, where it is public. Else it is bought, for `total_share` of the budget.
    selection : number
        The share of each round that chooses the query; the rest measures it.
    total_share : number
        The share that buys the total.
    rows, groups : int
        How many rows one person has at most; with `groups`, in each of at most this many cells.
    neighbors : Neighbors
        The relation; by default adding or removing a person.
    passes : int
        How often a round goes over earlier measurements, which costs nothing. A measurement is used again
        only where the estimate misses it by more than twice what its noise explains, so that the
        theorem's bound stays.
    confidence : number
        Of the errors that a release reports.

    Guarantee
    ---------
    epsilon-DP: the exponential mechanism and the Laplace mechanism in turn, each on what one person moves
    by at most the change of one answer; everything else is computed from what they released (Hardt,
    Ligett & McSherry 2012; proof: docs/proofs/data_release.md). `event` records every choice and
    measurement.

    Finite precision
    ----------------
    Estimates are floats made of released values. Their answers are rounded to multiples of 1/64 before
    they are compared with the true ones, so that scores are integers, and every choice and all noise is
    exact. Counts beyond `largest_count` = 2^60 / (64 n largest entry), and below zero, are clamped.

    Error
    -----
    If the public total is right, max over q of abs(q(x) - q(average)) is at most 2 N h sqrt(log n / T) +
    the largest noise + what a choice falls short of the best; h is half the largest range of the entries
    of a query. A release reports a bound from what was measured, which holds for any counts up to
    `largest_count` and is smaller where the data are easy.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.workloads.data_release.multiplicative_weights import MultiplicativeWeights
    >>> prefixes = np.tril(np.ones((16, 16), int))
    >>> mechanism = MultiplicativeWeights(queries=prefixes, epsilon=1, rounds=4, total=1000)
    >>> mechanism.guarantee
    PureDP(epsilon=1)
    >>> mechanism.event
    ExponentialChoice(epsilon=0.125) * 4 + DiscreteLaplace(sensitivity=1, scale=8) * 4
    >>> estimate = mechanism.release(np.full(16, 62)).average
    """

    queries: NDArray[np.int64] = field(repr=False)
    rounds: int
    total: int | None
    change: PersonChange
    passes: int
    confidence: Fraction
    choice: Exponential
    measurement: Laplace
    counting: Laplace | None

    def __init__(
        self,
        *,
        queries: object,
        epsilon: Number,
        rounds: int,
        total: int | None = None,
        selection: Number = Fraction(1, 2),
        total_share: Number = Fraction(1, 10),
        rows: int = 1,
        groups: int | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
        passes: int = 10,
        confidence: Number = Fraction(19, 20),
    ) -> None:
        matrix = integer_queries(queries)
        change = PersonChange(rows=rows, groups=groups, neighbors=neighbors)
        moved = largest_change(matrix, change)
        count = whole(rounds, "rounds", least=1, most=_MOST_ROUNDS)
        budget, bought = rational(epsilon, "epsilon", positive=True), Fraction(0)
        counting = None
        if total is None:
            bought = budget * probability(total_share, "total_share", zero=False, one=False)
            counting = Laplace(sensitivity=change.counts, epsilon=bought, neighbors=neighbors)
        else:
            total = whole(total, "total", least=1, most=_most_count(matrix))
        each = (budget - bought) / count
        chosen = each * probability(selection, "selection", zero=False, one=False)
        self._set(
            queries=matrix,
            rounds=count,
            total=total,
            change=change,
            passes=whole(passes, "passes", least=0, most=1 << 16),
            confidence=confidence_level(confidence),
            choice=Exponential(sensitivity=_STEPS * moved, epsilon=chosen, neighbors=neighbors),
            measurement=Laplace(sensitivity=moved, epsilon=each - chosen, neighbors=neighbors),
            counting=counting,
        )
        self._slack()  # refuses a confidence out of range

    def __repr__(self) -> str:
        queries, cells = self.queries.shape
        asked = f"{queries} queries, {cells} cells, rounds={self.rounds}"
        return f"MultiplicativeWeights({asked}, {self.guarantee!r})"

    @property
    def event(self) -> Event:
        """The laws that `release` draws."""
        parts = [self.choice.event * self.rounds, self.measurement.event * self.rounds]
        return compose(parts if self.counting is None else [*parts, self.counting.event])

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy: the sum over all rounds."""
        loss = self.rounds * (self.choice.guarantee.epsilon + self.measurement.guarantee.epsilon)
        if self.counting is not None:
            loss += self.counting.guarantee.epsilon
        return PureDP(epsilon=loss, neighbors=self.neighbors)

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.change.neighbors

    @property
    def largest_count(self) -> int:
        """The largest count of a cell that enters unclamped."""
        return _most_count(self.queries)

    def error_bound(self) -> float:
        """Return the theorem's bound on the largest error of `average`, before anything is released.

        It holds with the stated confidence for data of the public total.
        """
        if self.total is None:
            raise ParameterError(
                "total", "is not public, so that no bound is known in advance", "a public total"
            )
        half = int((self.queries.max(axis=1) - self.queries.min(axis=1)).max()) / 2
        noise, shortfall = self._slack()
        learned = 2 * self.total * half * sqrt(log(self.queries.shape[1]) / self.rounds)
        return nextafter((learned + noise + shortfall) * (1 + 1e-12), inf)

    def _slack(self) -> tuple[float, float]:
        """Return what no noise exceeds, and what no choice falls short by, in all rounds together."""
        share = 1 - (1 - self.confidence) / (2 * self.rounds)
        noise = self.measurement.error.quantile(share)
        behind = self.choice.error.quantile(share, candidates=self.queries.shape[0])
        return noise, (behind + 1) / _STEPS

    def release(self, x: Value) -> MultiplicativeWeightsRelease:
        """Choose, measure and learn, for the counts x of all cells."""
        counts = counts_of(x, self.queries.shape[1], self.largest_count)
        truth = self.queries @ counts
        noise, shortfall = self._slack()
        total = self._bought_total(counts)
        learner = Reweighting(self.queries, total, tolerated=2 * noise)
        estimates, bounds, measured = [], [], []
        for _ in range(self.rounds):
            estimates.append(learner.cells)
            answers = self.queries @ learner.cells
            steps = np.rint(np.clip(_STEPS * answers, -_LARGEST_SCORE, _LARGEST_SCORE)).astype(np.int64)
            query = self.choice.release(np.abs(_STEPS * truth - steps))
            answer = cast("int", self.measurement.release(int(truth[query])))
            bounds.append(abs(answer - answers[query]) + noise + shortfall)
            measured.append(NoisyAnswer(query=query, answer=answer))
            learner = learner.corrected(measured, self.passes)
        mark = current().mark
        return MultiplicativeWeightsRelease(
            average=mark(np.mean(estimates, axis=0)),
            best=mark(estimates[int(np.argmin(bounds))]),
            last=mark(learner.cells),
            measurements=tuple(measured),
            total=total,
            bounds=mark(np.nextafter(np.array(bounds) * (1 + 1e-12), inf)),
        )

    def _bought_total(self, counts: NDArray[np.int64]) -> int:
        if self.counting is None:
            return cast("int", self.total)
        noisy = cast("int", self.counting.release(int(counts.sum())))
        return current().mark(max(noisy, 1))

    def neighboring_inputs(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        """Return counts that differ by all the rows that one person may have in a cell."""
        cells = self.queries.shape[1]
        start = np.zeros(cells, np.int64)
        return tuple(
            (start, start + self.change.rows * (np.arange(cells) == cell).astype(np.int64))
            for cell in range(cells)
        )


def _most_count(queries: NDArray[np.int64]) -> int:
    return int(_LARGEST_SCORE // (_STEPS * int(np.abs(queries).max()) * queries.shape[1]))
