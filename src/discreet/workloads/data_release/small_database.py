"""SmallDB: a small database that answers all queries, chosen by the exponential mechanism."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from itertools import chain, combinations_with_replacement
from math import ceil, comb, inf, log, nextafter, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms import Exponential
from discreet.mechanisms.values import Value
from discreet.noise import current
from discreet.privacy.events import ExponentialChoice
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, confidence_level, rational, whole
from discreet.records import Record, dataclass
from discreet.workloads.algebra.arrays import MOST_ENTRIES, Real
from discreet.workloads.data_release.person_change import (
    PersonChange,
    counts_of,
    integer_queries,
    largest_change,
)
from discreet.workloads.queries.base import about

__all__ = ["MOST_DATABASES", "SmallDatabase", "SmallDatabaseRelease"]

MOST_DATABASES = 1 << 18
"""The most databases that are enumerated."""

_MOST_RECORDS = 1 << 12
_LARGEST_SCORE = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmallDatabaseRelease:
    """A chosen database, and what it says.

    Attributes
    ----------
    records : integer array
        How many of the few records lie in each cell.
    cells : array
        The same, scaled to the public total: an estimate of the counts of all cells.
    answers : array
        The answers to all queries on `cells`.
    max_error : float
        A bound on the largest error of `answers`, that holds with the stated confidence for data of the
        public total.
    """

    records: NDArray[np.int64]
    cells: Real
    answers: Real
    max_error: float


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class SmallDatabase(Record):
    """Release, in place of the data, the database of a few records that answers all queries alike.

    Parameters
    ----------
    queries : integer matrix or workload
        One row for each query, one column for each cell of a small public domain.
    epsilon : number
        The privacy loss.
    records : int
        How many records, m, the small database has. `records_for` gives the textbook's log(queries) /
        alpha^2.
    total : int
        The public number N of rows of the data, or a public guess of it: it sets the scale of the answers.
    rows, groups : int
        How many rows one person has at most; with `groups`, in each of at most this many cells.
    neighbors : Neighbors
        The relation; by default adding or removing a person.
    confidence : number
        Of the error that a release reports.

    Guarantee
    ---------
    epsilon-DP: the exponential mechanism over all multisets of m cells with the score -max over queries
    of abs(m q(x) - N q(y)), which one person moves by at most m times the change of one answer (Blum,
    Ligett & Roth 2008; Dwork & Roth 2014, Section 4.1; proof: docs/proofs/data_release.md).

    Finite precision
    ----------------
    Scores are integers and the choice is exact. Counts beyond 2^60 / (m n largest entry) are clamped.

    Error
    -----
    With probability `confidence`, max over q of abs(q(x) - (N / m) q(y)) is at most N R sqrt(log(2 k) /
    (2 m)), which some database of m records reaches, plus what the choice falls short of the best; R is
    the largest range of the entries of a query, k the number of queries. If the data have D rows more or
    fewer than N, add D times the largest entry.

    Examples
    --------
    >>> from discreet.workloads.data_release.small_database import SmallDatabase
    >>> mechanism = SmallDatabase(queries=[[1, 1, 0, 0], [0, 1, 1, 0]], epsilon=1, records=6, total=500)
    >>> mechanism.event, mechanism.candidates
    (ExponentialChoice(epsilon=1), 84)
    >>> answers = mechanism.release([200, 100, 150, 50]).answers
    """

    queries: NDArray[np.int64] = field(repr=False)
    records: int
    total: int
    change: PersonChange
    confidence: Fraction
    choice: Exponential

    def __init__(
        self,
        *,
        queries: object,
        epsilon: Number,
        records: int,
        total: int,
        rows: int = 1,
        groups: int | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
        confidence: Number = Fraction(19, 20),
    ) -> None:
        matrix = integer_queries(queries)
        size = whole(records, "records", least=1, most=_MOST_RECORDS)
        _check_candidates(size, *matrix.shape)
        change = PersonChange(rows=rows, groups=groups, neighbors=neighbors)
        most = _LARGEST_SCORE // (size * int(np.abs(matrix).max()) * matrix.shape[1])
        sensitivity = size * largest_change(matrix, change)
        self._set(
            queries=matrix,
            records=size,
            total=whole(total, "total", least=1, most=most),
            change=change,
            confidence=confidence_level(confidence),
            choice=Exponential(sensitivity=sensitivity, epsilon=epsilon, neighbors=neighbors),
        )
        self.error_bound(self.confidence)  # refuses a confidence out of range

    def __repr__(self) -> str:
        queries, cells = self.queries.shape
        return f"SmallDatabase({queries} queries, {cells} cells, records={self.records}, {self.choice!r})"

    @staticmethod
    def records_for(queries: int, alpha: Number) -> int:
        """Return log(queries) / alpha^2, rounded up: how many records keep errors of sampling below alpha.

        For queries with entries from 0 to 1, as shares of the total; at least 1, and
        log(2 queries) / (2 alpha^2) where that is more, which is so for a single query.
        """
        count = whole(queries, "queries", least=1)
        share = float(rational(alpha, "alpha", positive=True))
        return max(1, ceil(max(log(count), log(2 * count) / 2) / share**2))

    @property
    def candidates(self) -> int:
        """How many databases there are to choose from."""
        return comb(self.queries.shape[1] + self.records - 1, self.records)

    @property
    def event(self) -> ExponentialChoice:
        """The law that `release` draws."""
        return self.choice.event

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        return self.choice.guarantee

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.choice.neighbors

    def error_bound(self, confidence: Number) -> float:
        """Return a bound on the largest error of all answers, before anything is released."""
        queries = self.queries.shape[0]
        span = int((self.queries.max(axis=1) - self.queries.min(axis=1)).max())
        sampling = self.total * span * sqrt(log(2 * queries) / (2 * self.records))
        shortfall = self.choice.error.quantile(confidence, candidates=self.candidates) / self.records
        return nextafter((sampling + shortfall) * (1 + 1e-12), inf)

    def databases(self) -> NDArray[np.int64]:
        """Return all candidates, one row of counts for each."""
        cells, picked = self.queries.shape[1], self.candidates * self.records
        members = np.fromiter(
            chain.from_iterable(combinations_with_replacement(range(cells), self.records)), np.int64, picked
        )
        slots = members + cells * np.repeat(np.arange(self.candidates), self.records)
        return np.bincount(slots, minlength=cells * self.candidates).reshape(self.candidates, cells)

    def scores(self, x: Value) -> NDArray[np.int64]:
        """Return -max over queries of abs(m q(x) - N q(y)) for every candidate y. Private."""
        return self._scores(x, self.databases())

    def _scores(self, x: Value, databases: NDArray[np.int64]) -> NDArray[np.int64]:
        entry = int(np.abs(self.queries).max())
        most = _LARGEST_SCORE // (self.records * entry * self.queries.shape[1])
        truth = self.records * (self.queries @ counts_of(x, self.queries.shape[1], most))
        scores: NDArray[np.int64] = -np.abs(truth - self.total * (databases @ self.queries.T)).max(axis=1)
        return scores

    def release(self, x: Value) -> SmallDatabaseRelease:
        """Choose a database for the counts x of all cells."""
        databases = self.databases()
        chosen = databases[self.choice.release(self._scores(x, databases))].copy()
        cells = chosen * (self.total / self.records)
        mark = current().mark
        return SmallDatabaseRelease(
            records=mark(chosen),
            cells=mark(cells),
            answers=mark(self.queries @ cells),
            max_error=self.error_bound(self.confidence),
        )

    def neighboring_inputs(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        """Return counts that differ by all the rows that one person may have in a cell."""
        cells = self.queries.shape[1]
        pairs = []
        for cell in range(cells):
            start = np.zeros(cells, np.int64)
            start[0] = self.total
            end = start.copy()
            end[cell] += self.change.rows
            pairs.append((start, end))
        return tuple(pairs)


def _check_candidates(records: int, queries: int, cells: int) -> None:
    """Refuse more candidates than can be enumerated, and name the most records that can."""
    limit = min(MOST_DATABASES, MOST_ENTRIES // max(queries, cells))

    def fits(count: int) -> bool:
        made = comb(cells + count - 1, count)
        return made <= limit and made * count <= MOST_ENTRIES

    if not fits(records):
        fitting = 0
        while fits(fitting + 1):
            fitting += 1
        instead = f"at most {fitting} records, or " if fitting else ""
        raise ParameterError(
            "records",
            f"makes {about(comb(cells + records - 1, records))} databases over {cells} cells, to be scored on"
            f" {queries} queries",
            f"{instead}MultiplicativeWeights, which enumerates none",
        )
