"""A statement: several measured questions, and what is calculated from their answers.

`SELECT AVG(n) FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)` measures one question, the counts
by city, and calculates with the released table. Questions about the same rows by the same keys are one, with
all their aggregates, so that what is asked twice is measured once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from discreet.data import Aggregate
from discreet.data.language.relations import Named
from discreet.errors import UnsupportedQuery
from discreet.queries.question.answer_relations import AnswerRelation
from discreet.queries.question.per_person import take_name
from discreet.queries.question.query import Query
from discreet.records import dataclass

__all__ = ["MOST_PARTS", "MeasuredParts", "Statement"]

MOST_PARTS = 20
"""How many different questions a statement may measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What an analyst asks in one statement of several answers, by names alone.

    Attributes
    ----------
    parts : tuple of Query
        What is measured, without anything done afterwards.
    relation : AnswerRelation
        What is done with the released tables.
    keys : tuple of str
        The columns of `relation` that name its rows: keys of a part, or public columns, as they are.
    names : tuple of str
        Its other columns.
    selected : tuple of str
        Both in the order of SELECT, which is no part of what is asked.
    """

    parts: tuple[Query, ...]
    relation: AnswerRelation
    keys: tuple[str, ...]
    names: tuple[str, ...]
    selected: tuple[str, ...] = field(default=(), compare=False)


class MeasuredParts:
    """Collects what a statement measures."""

    def __init__(self) -> None:
        self._parts: list[Query] = []

    @property
    def parts(self) -> tuple[Query, ...]:
        """The questions so far."""
        return tuple(self._parts)

    def add(self, query: Query) -> tuple[int, Mapping[str, str]]:
        """Measure a question, without what it does afterwards.

        Returns
        -------
        int, mapping
            Its place, and the name that each of its keys and outputs has there.
        """
        expressions = [key.expression for key in query.keys]
        for place, part in enumerate(self._parts):
            if part.relation == query.relation and [key.expression for key in part.keys] == expressions:
                return place, self._widened(place, query)
        if len(self._parts) == MOST_PARTS:
            raise UnsupportedQuery(
                f"the statement measures more than {MOST_PARTS} different questions; ask in parts"
            )
        apart = {aggregate: name for name, aggregate in reversed(query.outputs)}
        outputs = tuple((name, aggregate) for name, aggregate in query.outputs if apart[aggregate] == name)
        self._parts.append(Query(relation=query.relation, keys=query.keys, outputs=outputs))
        return len(self._parts) - 1, self._widened(len(self._parts) - 1, query)

    def _widened(self, place: int, query: Query) -> dict[str, str]:
        part = self._parts[place]
        known: dict[Aggregate, str] = {aggregate: name for name, aggregate in part.outputs}
        names = _renamed(query.keys, part.keys)
        taken = {name.lower() for name in (*(key.name for key in part.keys), *part.names)}
        for name, aggregate in query.outputs:
            if aggregate not in known:
                known[aggregate] = take_name(name, taken)
            names[name] = known[aggregate]
        outputs = tuple((name, aggregate) for aggregate, name in known.items())
        self._parts[place] = replace(part, outputs=outputs)
        return names


def _renamed(keys: tuple[Named, ...], others: tuple[Named, ...]) -> dict[str, str]:
    """Return the names of the same keys in another question."""
    return {key.name: other.name for key, other in zip(keys, others, strict=True)}
