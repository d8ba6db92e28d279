"""A question on its terms over declared tables: everything is settled but the data and the noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from discreet.curator import Door, Preview, Release, Request
from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.data import Table
from discreet.errors import ParameterError
from discreet.queries.question.terms import Terms
from discreet.records import dataclass

__all__ = ["Asked", "FinishedRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(ABC):
    """What the curator previews, explains and answers.

    Each kind of question makes its request; that one request is what is previewed, explained and paid for.

    Attributes
    ----------
    tables : mapping of names to Table
        The declared tables; no data is read.
    terms : Terms
        What the analyst states beside the question.
    """

    tables: Mapping[str, Table]
    terms: Terms

    @abstractmethod
    def request(self) -> Request | CompoundRequest | StatisticRequest:
        """Return the request that the terms make of the question."""

    @abstractmethod
    def explain(self, *, sql: bool) -> str:
        """Describe how the question would be answered; `sql` adds the statement of the engine."""

    def preview(self, door: Door, *, analyst: str) -> Preview:
        """Return what the answer would cost and how wrong it would be. Spends nothing."""
        return door.preview_request(self.request(), analyst=analyst, rows=self.terms.rows)

    def answer(self, door: Door, *, analyst: str) -> Release:
        """Spend, then answer."""
        return door.answer(self.request(), analyst=analyst)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRequest(Asked):
    """A request that was made before, with its offer."""

    finished: Request | CompoundRequest | StatisticRequest

    def request(self) -> Request | CompoundRequest | StatisticRequest:
        """Return the request as it is."""
        if self.terms.are_stated:
            raise ParameterError(
                "question", "is a finished request, which already has its offer", "no second offer"
            )
        return self.finished

    def explain(self, *, sql: bool) -> str:
        """Refuse: a request does not remember the question that it was made of."""
        raise ParameterError("question", "is a finished request", "the question that it was made of")
