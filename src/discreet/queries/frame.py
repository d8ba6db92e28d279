"""Requests in the manner of dataframes.

>>> from discreet.data import col, count
>>> visits = TableRequest(table="visits")
>>> visits.filter(col("age") < 40).group_by("city").agg(n=count(), m=col("cost").mean())
Query(source visits; where age < ?; by city; n: count; m: mean of cost)

Building a request uses names alone: it opens no table and checks no column. The result is the same `Query`
that SQL gives.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.data import Aggregate, Formula, Relation, Source
from discreet.data.expressions import Column
from discreet.data.relation import Named
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.queries.query import Query, filtered, key_of

__all__ = ["GroupedRequest", "TableRequest"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupedRequest:
    """Rows of a table in groups: what is left to say is what to compute for each."""

    relation: Relation
    keys: tuple[Named, ...]

    def agg(self, **aggregates: Aggregate) -> Query:
        """Return the query for some aggregates, by the names they will have in the answer.

        Parameters
        ----------
        **aggregates : Aggregate
            Such as ``n=count()`` or ``mean_cost=col("cost").mean()``.
        """
        for aggregate in aggregates.values():
            if not isinstance(aggregate, Aggregate):
                raise UnsupportedQuery(
                    "agg takes aggregates; write count(), col('x').count(), col('x').sum() or col('x').mean()"
                )
        return Query(relation=self.relation, keys=self.keys, outputs=tuple(aggregates.items()))

    def __repr__(self) -> str:
        return f"GroupedRequest(by {', '.join(key.name for key in self.keys) or 'nothing'})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableRequest:
    """The rows of a table, by its name, perhaps filtered.

    Parameters
    ----------
    table : str
        The public name of the table.
    """

    table: str
    relation: Relation | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.table, str) or not self.table:
            raise ParameterError("table", "is no name of a table", "text such as 'visits'")

    def filter(self, *conditions: Formula) -> TableRequest:
        """Return the rows for which every condition is TRUE; FALSE and NULL leave a row out."""
        relation = self._rows()
        for condition in conditions:
            if not isinstance(condition, Formula):
                raise UnsupportedQuery("filter takes conditions; write one such as col('age') < 40")
            relation = filtered(relation, condition.expression)
        return TableRequest(table=self.table, relation=relation)

    def group_by(self, *keys: str | Formula) -> GroupedRequest:
        """Return the rows in groups, one for every combination of declared keys."""
        return GroupedRequest(relation=self._rows(), keys=tuple(_key(key) for key in keys))

    def agg(self, **aggregates: Aggregate) -> Query:
        """Return the query for some aggregates of all rows together."""
        return self.group_by().agg(**aggregates)

    def __repr__(self) -> str:
        return f"TableRequest({self.table}{'' if self.relation is None else ', filtered'})"

    def _rows(self) -> Relation:
        return Source(table=self.table) if self.relation is None else self.relation


def _key(key: str | Formula) -> Named:
    if isinstance(key, Formula) and isinstance(key.expression, Column):
        return key_of(key.expression.name)
    if isinstance(key, str) and key:
        return key_of(key)
    raise UnsupportedQuery("group_by takes names of columns; write one such as 'city'")
