"""What names mean inside one SELECT: the columns that its FROM makes visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from sqlglot import exp

from discreet.data.facts.persons import Tables
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.facts.type_check import type_of
from discreet.data.language.column_facts import types_of
from discreet.data.language.expressions import Column, Expression
from discreet.data.language.relations import Named, Project, Relation
from discreet.data.language.types import Schema, Type
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries.sql.syntax.names import column_named, same
from discreet.queries.sql.syntax.refusals import check_parts, refused, refused_node
from discreet.records import dataclass

__all__ = [
    "ColumnsInSight",
    "Field",
    "FoundColumn",
    "NamesInSight",
    "OfAnswer",
    "Scope",
    "ambiguous",
    "is_quoted",
    "preferred",
]


class FoundColumn(exp.Column):
    """A column of the relation itself, in place of what was written; no text can name it."""

    @staticmethod
    def of(name: str) -> FoundColumn:
        """Return the node of a column."""
        return FoundColumn(this=exp.Identifier(this=name, quoted=True))


class OfAnswer(exp.Column):
    """A column of an answer, in place of what was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column in sight: the name of its table in FROM, its own name, and the column of the relation it is.

    One that USING made one with another is called by its own name alone only as that other. A hidden one is
    not stored in its table, so that * and NATURAL leave it out, and it gives way to another of its name.
    """

    table: str
    name: str
    column: str
    qualified: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesInSight:
    """The names by which columns can be called."""

    fields: tuple[Field, ...]

    def column(self, node: exp.Column) -> Column:
        """Return the column that a node names."""
        return Column(name=self.field(node).column)

    def field(self, node: exp.Column) -> Field:
        """Return the column in sight that a node names, or refuse a name that fits none or several."""
        if isinstance(node, FoundColumn):
            return Field(table="", name=str(node.name), column=str(node.name))
        check_parts(node, "this", "table", "db", "catalog")
        qualifier, name = node.args.get("table"), node.this
        if isinstance(name, exp.Star):
            raise refused_node(name)
        if not isinstance(name, exp.Identifier):
            raise refused("a column by number", "write its name")
        plain = tuple(field for field in self.fields if not field.qualified)
        fields = plain if qualifier is None else self.of_table(qualifier)
        names = dict.fromkeys((field.name for field in fields), Type.OTHER)
        found = column_named(name.name, quoted=is_quoted(name), schema=names)
        fitting = preferred([field for field in fields if field.name == found])
        if len({field.column for field in fitting}) > 1:
            raise ambiguous()
        return fitting[0]

    def of_table(self, qualifier: exp.Identifier) -> tuple[Field, ...]:
        """Return the columns of one table of FROM."""
        fields = tuple(
            field
            for field in self.fields
            if field.table and same(qualifier.name, quoted=is_quoted(qualifier), other=field.table)
        )
        if not fields:
            raise UnsupportedQuery(
                "a column is taken from a table that FROM does not name; write the name of the column alone"
            )
        return fields

    def has(self, node: exp.Column) -> bool:
        """Return whether a node names a column in sight, and one only."""
        try:
            self.field(node)
        except (UndeclaredColumn, UnsupportedQuery):
            return False
        return True

    def starred(self) -> tuple[Field, ...]:
        """Return what * means: all columns in sight, those that USING made one only once."""
        return tuple(field for field in self.fields if not (field.qualified or field.hidden))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope(NamesInSight):
    """Rows, and the names by which their columns can be called.

    The relation may have more columns than are in sight.
    """

    relation: Relation

    def over(self, tables: Tables) -> ColumnsInSight:
        """Return what finds columns in sight, and knows their types under declared tables."""
        return ColumnsInSight(
            scope=self, schema=cache(lambda: types_of(columns_of_relation(self.relation, tables)))
        )

    def called(self, table: str) -> Scope:
        """Return the same rows as a table of FROM with a name of its own."""
        fields = tuple(replace(field, table=table, qualified=False) for field in self.fields)
        return Scope(relation=self.relation, fields=fields)

    def exact(self, names: tuple[str, ...] | None = None, *, columns: Iterator[str]) -> Scope:
        """Return rows that have the columns in sight and no others, by these names or their own.

        Parameters
        ----------
        names : tuple of str, optional
            New names, in order.
        columns : iterator of str
            The columns that the relation has now.
        """
        chosen = tuple(field.name for field in self.fields) if names is None else names
        if list(columns) == list(chosen) == [field.column for field in self.fields]:
            return self
        listed = tuple(
            Named(name=name, expression=Column(name=field.column))
            for name, field in zip(chosen, self.fields, strict=True)
        )
        fields = tuple(Field(table="", name=name, column=name) for name in chosen)
        return Scope(relation=Project(source=self.relation, columns=listed), fields=fields)


def preferred(fields: list[Field]) -> list[Field]:
    """Return what a name means among the columns that have it: hidden ones only if there is no other."""
    return [field for field in fields if not field.hidden] or fields


def ambiguous() -> UnsupportedQuery:
    """Return the refusal of a name that fits columns of several tables."""
    return UnsupportedQuery("a name fits columns of several tables; write which one is meant, as in v.city")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnsInSight:
    """What finds the column that a node names, and the type of an expression over such columns.

    The schema is asked for only where a type matters: most queries are read without it.
    """

    scope: NamesInSight
    schema: Callable[[], Schema]

    def __call__(self, node: exp.Column) -> Column:
        """Return the column that a node names."""
        return Column(name=node.name) if isinstance(node, OfAnswer) else self.scope.column(node)

    def shown(self, column: str) -> str:
        """Return by which name a column is known, in the names of what is calculated from it."""
        return column

    def type_of(self, expression: Expression) -> Type | None:
        """Return the type of an expression; None where there is none, which the type checker refuses."""
        try:
            return type_of(expression, self.schema())
        except (UndeclaredColumn, UnsupportedQuery):
            return None


def is_quoted(identifier: exp.Expression) -> bool:
    """Return whether a name is in double quotes."""
    return bool(identifier.args.get("quoted"))
