"""Questions under other neighbor relations: of statistics, each with the mechanism that was proven for it."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.curator.request.statistic_request import StatisticRequest
from discreet.data import Table
from discreet.data.tables.graph import Graph
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.queries.asking.asked import Asked
from discreet.queries.question.statistic import StatisticQuestion
from discreet.queries.question.terms import Terms
from discreet.records import dataclass

__all__ = ["AskedStatistic", "refuse_other_relations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStatistic(Asked):
    """A statistic on its terms: an offer and a confidence, nothing else."""

    question: StatisticQuestion

    def request(self) -> StatisticRequest:
        """Return the request that the offer buys."""
        self._check_terms()
        return self.question.request(self.tables, self.terms.stated_offer(), self.terms.confidence)

    def explain(self, *, sql: bool) -> str:
        """Describe what is protected, what is declared and, if anything is offered, noise and error."""
        del sql
        self._check_terms()
        table = self.question.declared(self.tables)
        lines = [
            f"asked: {self.question.words}, of {self.question.table}",
            f"protected: {table.unit} ({table.relation.phrase})",
            f"declared: {table!r}",
        ]
        if self.terms.offer is None:
            return "\n".join(lines)
        request = self.request()
        (expected,) = request.expectations(self.terms.rows)
        note = f" ({expected.note})" if expected.note else ""
        return "\n".join(
            [
                *lines,
                f"released: {request.words}",
                f"event: {request.event!r}",
                f"error: ± {expected.margin:.6g} at {float(request.confidence):.0%}{note}",
            ]
        )

    def _check_terms(self) -> None:
        terms = self.terms
        plain = Terms(
            offer=terms.offer,
            confidence=terms.confidence,
            by_rho=terms.by_rho,
            rows=terms.rows,
            day=terms.day,
            neighbors=terms.neighbors,
        )
        if terms != plain:
            raise ParameterError(
                "question",
                "is a statistic, which has no keys, limits, bounds, shares or wanted errors",
                "an offer (epsilon, delta or rho) and a confidence",
            )


def refuse_other_relations(tables: Mapping[str, Table], terms: Terms) -> None:
    """Refuse a question about persons where the ledger protects something else, saying what to ask."""
    if terms.neighbors == ADD_REMOVE_PERSON:
        return
    asked = [
        f"curator.{'graph' if isinstance(table, Graph) else 'fixed'}({name!r})"
        for name, table in tables.items()
        if isinstance(table, RelatedTable)
    ]
    instead = f"ask {' or '.join(asked)}" if asked else "reserve a permit, for code of your own"
    raise UnsupportedQuery(
        f"SQL, table(…) and counts are about adding or removing a person, and this ledger is about "
        f"{terms.neighbors.phrase}; {instead}, or keep a ledger of its own for questions about persons"
    )
