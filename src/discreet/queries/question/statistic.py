"""A question about a statistic of a graph, or of a table of a public number of rows: not yet paid for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from discreet.curator.request.statistic_request import StatisticRequest
from discreet.curator.request.statistics.base import ReleasedStatistic
from discreet.data import Table
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.records import dataclass

__all__ = ["StatisticQuestion"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticQuestion:
    """A statistic of a table, to be previewed and asked with an offer. It reads nothing.

    Attributes
    ----------
    table : str
        The table.
    words : str
        What is asked.
    made : callable
        Makes the statistic of what the table declares and of an offer.
    """

    table: str
    words: str
    made: Callable[[RelatedTable, Offer], ReleasedStatistic]

    def request(self, tables: Mapping[str, Table], offer: Offer, confidence: Fraction) -> StatisticRequest:
        """Return the request that an offer buys, or a refusal from public facts."""
        found = self.declared(tables)
        return StatisticRequest(
            table=self.table,
            version=found.version,
            statistic=self.made(found, offer),
            confidence=confidence,
        )

    def declared(self, tables: Mapping[str, Table]) -> RelatedTable:
        """Return the table, if it is one of those declared."""
        found = tables.get(self.table)
        if not isinstance(found, RelatedTable):
            raise ParameterError("question", f"is about {self.table!r}, which is no such table", "graph(…)")
        return found
