"""A request for a statistic under another neighbor relation than that of a person.

It is frozen before anything is charged, and goes through the door as any other: preview, pay, draw, store,
answer. What it computes is no plan of the language but a statistic with the mechanism that was proven for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction

from discreet.curator.ledger import JsonValue
from discreet.curator.request.identity import canonical_identity, check_versions, keyed_digest
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import AnswerKeys, ReleasedStatistic
from discreet.data import Table
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import EngineFailed, LedgerTampered, ParameterError
from discreet.noise import current, is_private
from discreet.privacy.events import Event
from discreet.privacy.rational import confidence_level
from discreet.records import dataclass

__all__ = ["StatisticRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticRequest:
    """All that an answer depends on, except for the data and the noise.

    Attributes
    ----------
    table : str
        The table that is read.
    version : str
        Its version.
    statistic : ReleasedStatistic
        What is computed and how it is released, for what the table declares.
    confidence : Fraction
        Of the interval.
    """

    table: str
    version: str
    statistic: ReleasedStatistic
    confidence: Fraction = Fraction(95, 100)

    def __post_init__(self) -> None:
        from discreet.curator.request.statistics.known import is_known  # which loads mechanisms that few need

        if not isinstance(self.statistic, ReleasedStatistic) or not is_known(self.statistic):
            raise ParameterError("statistic", "is not one that was proven", "what graph(…) or fixed(…) makes")
        confidence_level(self.confidence)

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """Which data it is computed on."""
        return ((self.table, self.version),)

    @property
    def plans(self) -> tuple[()]:
        """None: a statistic is not a plan of the language."""
        return ()

    @property
    def outline(self) -> dict[str, JsonValue]:
        """What the ledger records of it, without parameters that an analyst chose."""
        measured: JsonValue = {"node": self.statistic.name, "released_by": self.statistic.kind}
        return {"node": "statistic", "table": self.table, "measures": [measured]}

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the output."""
        return (self.statistic.name,)

    @property
    def words(self) -> str:
        """What is computed, in words."""
        return f"{self.statistic.words}, of {self.table}"

    @property
    def event(self) -> Event:
        """The law of everything that is drawn: what the ledger records and the budget pays for."""
        return self.statistic.event

    @property
    def identity(self) -> bytes:
        """Canonical bytes: equal for two requests exactly if they ask the same about the same data."""
        content = {
            "confidence": str(self.confidence),
            "event": self.event.to_object(),
            "parameters": self.statistic.parameters,
            "statistic": self.statistic.kind,
        }
        return canonical_identity(content, self.versions)

    def digest(self, secret: bytes, declared: Mapping[str, JsonValue]) -> str:
        """Return a keyed hash of the identity and of what is declared about the table."""
        return keyed_digest(self.identity, secret, [self.table], declared)

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse tables that it was not made for, before anything is charged."""
        check_versions(self.versions, tables)
        found = tables[self.table]
        if not isinstance(found, RelatedTable) or not self.statistic.fits(found):
            raise ParameterError(
                "request", "was made under other declarations than these", "one made for these tables"
            )
        if self.event.neighbors != found.relation:
            raise ParameterError("request", "is about another neighbor relation", repr(found.relation))

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return how wrong the answer is expected to be; a hypothetical number of rows does not matter."""
        del rows
        return (self.statistic.expect(self.confidence),)

    def draw(self, tables: Mapping[str, Table]) -> bytes:
        """Compute and release. Exact values never leave this function, and neither do errors."""
        content = None
        try:
            table = tables[self.table]
            assert isinstance(table, RelatedTable)  # noqa: S101
            drawn = self.statistic.draw(table, self.confidence)
            private = is_private(current().mark(0))  # None, for no answer, could not carry the mark
            content = json.dumps({"drawn": drawn, "private": private}, separators=(",", ":")).encode()
        except Exception:  # noqa: S110
            pass
        if content is None:
            raise EngineFailed
        return content

    def opened(self, content: bytes) -> tuple[AnswerKeys, tuple[AnswerColumn, ...], bool]:
        """Return keys, columns, and whether they are private, of what `draw` wrote for the same request."""
        try:
            found = json.loads(content)
            drawn, private = found["drawn"], found["private"]
            if not isinstance(drawn, list) or not self.statistic.may_have_drawn(drawn):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise LedgerTampered("a stored answer is not one of its request") from None
        keys, column = self.statistic.finish(drawn, self.confidence)
        return keys, (column,), private is True
