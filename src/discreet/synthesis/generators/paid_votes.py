"""The gate between teachers and all else: a vote is charged, then counted, then answered with noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from discreet.array_types import Integers
from discreet.errors import BudgetExceeded
from discreet.learning.teachers.aggregation import Answers, ConfidentGNMax, GNMax
from discreet.privacy.events import Event

__all__ = ["PaidVotes", "QueryRecord"]


class QueryRecord(Protocol):
    """Where queries are recorded before they are asked: a journal, or a permit of a curator."""

    def charge(self, event: Event) -> None:
        """Record what is about to run."""


class PaidVotes:
    """So many rounds of so many queries, each round charged before a vote is counted.

    Parameters
    ----------
    aggregation : GNMax or ConfidentGNMax
        How votes are answered.
    rounds : int
        How many rounds there may be.
    queries : int
        How many queries a round has.
    record : QueryRecord, optional
        What is charged.

    Guarantee
    ---------
    What `answer` returns in all rounds together has the law of `aggregation.event(queries)` times the rounds
    that were charged, at most `rounds` (proof: docs/proofs/generators.md, theorem 3).
    """

    def __init__(
        self,
        aggregation: GNMax | ConfidentGNMax,
        *,
        rounds: int,
        queries: int,
        record: QueryRecord | None,
    ) -> None:
        self._aggregation, self._record = aggregation, record
        self._rounds, self._queries = rounds, queries
        self.taken = 0

    @property
    def queries(self) -> int:
        """How many queries a round has."""
        return self._queries

    @property
    def teachers(self) -> int:
        """How many teachers vote."""
        return self._aggregation.teachers

    @property
    def event_of_round(self) -> Event:
        """What one round releases."""
        return self._aggregation.event(self._queries)

    def answer(self, counted: Callable[[], Integers]) -> Answers | None:
        """Return the answers of one round; None if there is none left, or if it cannot be paid.

        Parameters
        ----------
        counted : callable
            Returns how many teachers vote for each class in each query. It is called after the charge.
        """
        if self.taken >= self._rounds:
            return None
        if self._record is not None:
            try:
                self._record.charge(self.event_of_round)
            except BudgetExceeded:
                self._rounds = self.taken
                return None
        self.taken += 1
        counts = counted()
        if len(counts) != self._queries:
            raise ValueError("a round of another number of queries than was charged")
        return self._aggregation.answer(counts)
