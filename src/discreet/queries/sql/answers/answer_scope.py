"""Tables of answers while a statement is read: their columns, by name, and what is known about each.

Columns have names of their own, unique within a statement, so that joins and repeated references cannot mix
them up; what SQL calls them is kept beside, as for rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.data import AggregateFunction
from discreet.data.facts.persons import Tables
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.facts.type_check import type_of
from discreet.data.language.column_facts import types_of
from discreet.data.language.expressions import Column, Expression, columns_of
from discreet.data.language.relations import Named
from discreet.data.language.types import Type
from discreet.data.tables.public_rows import rows_of_table
from discreet.queries.question.answer_relations import (
    AnswerRelation,
    Extended,
    Joined,
    Measured,
    Picked,
    Rows,
)
from discreet.queries.question.per_person import take_name
from discreet.queries.question.query import Query, key_facts
from discreet.queries.question.statement import MeasuredParts
from discreet.queries.sql.answers.answer_types import schema_of_answer
from discreet.queries.sql.tables.joins import PublicItem
from discreet.queries.sql.tables.scope import ColumnsInSight, Field, NamesInSight, OfAnswer
from discreet.records import dataclass

__all__ = ["AnswerScope", "StatementTables", "placeholder"]

_COUNTS = {AggregateFunction.COUNT, AggregateFunction.COUNT_PERSONS, AggregateFunction.COUNT_DISTINCT}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerScope(NamesInSight):
    """A table of answers, and the names by which its columns can be called.

    Attributes
    ----------
    relation : AnswerRelation
        What it is calculated from.
    single : bool
        Whether it has one row, whatever was released.
    """

    relation: AnswerRelation
    single: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in sight, as the relation calls them."""
        return tuple(field.column for field in self.fields)


class _OfAnswers(ColumnsInSight):
    """What finds the columns of a table of answers, which go by the names that SQL gives them."""

    def shown(self, column: str) -> str:
        """Return what SQL calls a column."""
        return next((field.name for field in self.scope.fields if field.column == column), column)


class StatementTables:
    """What a statement measures and which columns it has, while it is read."""

    def __init__(self, tables: Tables) -> None:
        self.tables, self.parts = tables, MeasuredParts()
        self._taken: set[str] = set()
        self._public: set[str] = set()
        self._keys: set[str] = set()

    def fresh(self, name: str, *, public: bool = False, key: bool = False) -> str:
        """Return a name for a column that no other has."""
        found = take_name(name or "column", self._taken)
        if public:
            self._public.add(found)
        if key:
            self._keys.add(found)
        return found

    def is_public(self, column: str) -> bool:
        """Return whether no noise enters a column."""
        return column in self._public

    def is_key(self, column: str) -> bool:
        """Return whether a column is a key of a question, or a column of public rows, as it is."""
        return column in self._keys

    def like(self, name: str, *columns: str) -> str:
        """Return a new name for a column that others become: public, or a key, if all of them are."""
        return self.fresh(name, public=all(map(self.is_public, columns)), key=all(map(self.is_key, columns)))

    def measured(self, query: Query) -> tuple[Measured, dict[str, str]]:
        """Measure a question; return its table, and the column that each of its keys and outputs is."""
        place, sources = self.parts.add(query)
        keys = {key.name for key in query.keys}
        columns = {
            name: self.fresh(name, public=name in keys, key=name in keys) for name in (*keys, *query.names)
        }
        listed = tuple((column, sources[name]) for name, column in columns.items())
        return Measured(part=place, columns=listed), columns

    def public_rows(self, item: PublicItem) -> AnswerScope:
        """Return public rows as a table of FROM."""
        rows = rows_of_table(item.public)
        columns = tuple(self.fresh(one.name, public=True, key=True) for one in rows.columns)
        fields = tuple(
            Field(table=item.alias, name=one.name, column=column)
            for one, column in zip(rows.columns, columns, strict=True)
        )
        return AnswerScope(relation=Rows(rows=rows, columns=columns), fields=fields)

    def called(self, scope: AnswerScope, table: str) -> AnswerScope:
        """Return a table under a name in FROM, with columns of its own: it may be named twice."""
        renamed = {column: self.like(column, column) for column in dict.fromkeys(scope.columns)}
        picked = Picked(source=scope.relation, columns=tuple((new, old) for old, new in renamed.items()))
        fields = tuple(
            Field(table=table, name=field.name, column=renamed[field.column]) for field in scope.fields
        )
        return AnswerScope(relation=picked, fields=fields, single=scope.single)

    def calculated(
        self, relation: AnswerRelation, expression: Expression, name: str
    ) -> tuple[AnswerRelation, str]:
        """Return a relation with one more column, unless it is one already, and that column."""
        if isinstance(expression, Column):
            return relation, expression.name
        read = columns_of(expression)
        column = self.fresh(name, public=all(map(self.is_public, read)))
        return Extended(source=relation, columns=(Named(name=column, expression=expression),)), column

    def with_scalars(self, relation: AnswerRelation, scalars: Mapping[str, AnswerScope]) -> AnswerRelation:
        """Return a relation with the one row of each scalar subquery beside every row."""
        for column, scope in scalars.items():
            one = Picked(source=scope.relation, columns=((column, scope.columns[0]),))
            relation = Joined(one=relation, other=one, left=True)  # NULL, if there is no row
        return relation

    def schema(self, relation: AnswerRelation) -> dict[str, Type]:
        """Return the types of a relation's columns, or refuse what does not fit."""
        return schema_of_answer(relation, [self._types(part) for part in self.parts.parts])

    def over(self, scope: AnswerScope) -> ColumnsInSight:
        """Return what finds columns in sight and knows their types."""
        return _OfAnswers(scope=scope, schema=lambda: self.schema(scope.relation))

    def _types(self, query: Query) -> dict[str, Type]:
        """Return the types of the keys and outputs of a measured question."""
        found = types_of(key_facts(query, self.tables))
        types = {key.name: found[key.name] for key in query.keys}
        rows = types_of(columns_of_relation(query.relation, self.tables))
        for name, aggregate in query.outputs:
            types[name] = Type.INTEGER if aggregate.function in _COUNTS else Type.FLOAT
            if aggregate.function is AggregateFunction.TOP:
                types[name] = Type.OTHER
            if aggregate.function is AggregateFunction.MODE and aggregate.operand is not None:
                types[name] = type_of(aggregate.operand, rows)
        return types


def placeholder(column: str) -> OfAnswer:
    """Return a node that stands for a column."""
    return OfAnswer(this=exp.Identifier(this=column, quoted=True))
