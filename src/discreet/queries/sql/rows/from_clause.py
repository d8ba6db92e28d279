"""FROM, JOIN, WHERE and WITH: which rows a SELECT is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.data.facts.persons import Tables, public_alone
from discreet.data.language.expressions import Column, Expression, IsNull, Literal
from discreet.data.language.relations import Source
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery
from discreet.queries.question.query import filtered
from discreet.queries.sql.formulas.expressions import condition_of, is_folded
from discreet.queries.sql.rows.lifted_subqueries import Lifting
from discreet.queries.sql.syntax.names import table_named
from discreet.queries.sql.syntax.refusals import check_parts, refused, refused_clause, refused_node
from discreet.queries.sql.tables.full_joins import full_join, join_under_conditions
from discreet.queries.sql.tables.in_public_subquery import listed_values, membership_condition, single_column
from discreet.queries.sql.tables.join_order import Placed, arrange
from discreet.queries.sql.tables.join_steps import FromItem, JoinKind, JoinStep, StepReader
from discreet.queries.sql.tables.joins import PublicItem, conjuncts, join_rows
from discreet.queries.sql.tables.literal_rows import literal_item, renamed, table_alias
from discreet.queries.sql.tables.public_subquery import calculated_item, public_items
from discreet.queries.sql.tables.scope import Field, Scope, is_quoted

__all__ = ["FromClause", "Subquery"]

Subquery = Callable[[exp.Expression, "FromClause"], Scope]
"""What reads a subquery, given the tables and the WITH queries that it can name."""


class FromClause:
    """Reads what follows FROM, given declared tables and the queries of WITH.

    Parameters
    ----------
    tables : mapping of names to tables
        The declared tables.
    subquery : callable
        Reads a subquery.
    """

    def __init__(
        self,
        tables: Tables,
        subquery: Subquery,
        queries: Mapping[str, tuple[bool, Scope | PublicItem]] | None = None,
    ) -> None:
        self.tables = tables
        self._subquery = subquery
        self._queries = dict(queries or {})

    def of(self, select: exp.Select) -> Scope:
        """Return the rows of FROM and JOIN that WHERE lets pass."""
        steps = self.steps(select)
        if all(isinstance(step.item.rows, PublicItem) for step in steps):
            raise public_alone()
        return self.joined(steps, select)

    def steps(self, select: exp.Select) -> list[JoinStep]:
        """Return FROM as it was written."""
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            raise UnsupportedQuery("the query has no FROM; write FROM and the name of a table")
        check_parts(clause, "this")
        reader = StepReader(
            self._item,
            lambda steps: self.joined(steps, select, whole=False),
            lambda left, right, join: full_join(left, right, join, self.tables),
        )
        return reader.steps(clause.this, select.args.get("joins") or ())

    def joined(self, steps: Sequence[JoinStep], select: exp.Select, *, whole: bool = True) -> Scope:
        """Return the rows of some steps and, if they are all of a SELECT, those that its WHERE lets pass."""
        self._check_apart([name for step in steps for name in _tables_in(step.item)])
        arranged = arrange(steps, select, self.tables, self.condition, whole=whole)
        scope = arranged.first
        for placed in arranged.joins:
            if placed.rest:
                scope = join_under_conditions(scope, placed, arranged.select, self.tables, self.condition)
            else:
                scope = join_rows(scope, placed.join, placed.rows, arranged.select, self.tables)
            if placed.kind in {JoinKind.SEMI, JoinKind.ANTI}:
                scope = _without(scope, placed)
        scope = _as_written(scope, steps)
        if arranged.where is None:
            return scope
        scope, where = self._lifted(arranged.where, scope)
        if where is None:
            return scope
        condition = self.condition(where, scope)
        if isinstance(condition, Literal) and condition.value is True and is_folded(where):
            return scope
        return Scope(relation=filtered(scope.relation, condition), fields=scope.fields)

    def _lifted(self, where: exp.Expression, scope: Scope) -> tuple[Scope, exp.Expression | None]:
        """Return rows and a condition without the subqueries that are about the same person."""
        if not any(isinstance(node, exp.Query) for node in where.walk()):
            return scope, where
        lifting = Lifting(scope, self)
        kept = [lifting.kept(node) for node in conjuncts(where)]
        if lifting.scope is scope:
            return scope, where
        left = [node.copy() for node in kept if node is not None]
        return lifting.scope, exp.and_(*left, copy=False) if left else None

    def condition(self, node: exp.Expression, scope: Scope) -> Expression:
        """Return what a condition means over some rows."""
        return condition_of(node, scope.over(self.tables), self._members)

    def within(self, query: exp.Expression) -> FromClause:
        """Return a reader that also knows the queries of WITH."""
        clause = query.args.get("with_") or query.args.get("with")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            raise refused("WITH RECURSIVE", "write WITH without RECURSIVE")
        check_parts(clause, "expressions")
        inner = FromClause(self.tables, self._subquery, self._queries)
        for query_ in clause.expressions:
            check_parts(query_, "this", "alias", "materialized")
            alias = query_.args["alias"]
            _, columns = table_alias(alias)
            rows = renamed(inner._rows_of(query_.this), columns)
            inner._queries[alias.name] = (is_quoted(alias.this), rows)
        return inner

    def item(self, node: exp.Expression) -> Scope | PublicItem:
        """Return what a table or a subquery in FROM is."""
        return self._item(node)

    def _item(self, node: exp.Expression) -> Scope | PublicItem:
        written = literal_item(node)
        if written is not None:
            return written
        if type(node) is exp.Table:
            return self.table(node)
        if type(node) is not exp.Subquery:
            raise refused_node(node)
        check_parts(node, "this", "alias")
        name, columns = table_alias(node.args.get("alias"))
        return _called(renamed(self._rows_of(node.this), columns), name)

    def _rows_of(self, node: exp.Expression) -> Scope | PublicItem:
        """Return the rows of a subquery, calculated at once if it is about public tables alone."""
        written = literal_item(node)
        if written is not None:
            return written
        items = public_items(node, self.table)
        return self._subquery(node, self) if items is None else calculated_item(node, items, "")

    def table(self, node: exp.Table) -> Scope | PublicItem:
        """Return what a table in FROM is."""
        if not isinstance(node.this, exp.Identifier):
            raise refused("a function as a table", "write the name of a declared table")
        check_parts(node, "this", "alias", "db", "catalog")
        name, quoted = node.this.name, is_quoted(node.this)
        alias, columns = table_alias(node.args.get("alias"))
        queries = {} if node.args.get("db") else self._queries
        for known, (exactly, scope) in reversed(queries.items()):
            if known == name or (not quoted and not exactly and known.lower() == name.lower()):
                return _called(renamed(scope, columns), alias or known)
        found = table_named(name, quoted=quoted, tables=self.tables)
        called = alias or found
        table = self.tables[found]
        if isinstance(table, PublicTable):
            return renamed(PublicItem(table=found, alias=called, public=table), columns)
        fields = tuple(
            Field(table=called, name=column, column=column, hidden=column not in table._stored.columns)
            for column in table.schema
        )
        return renamed(Scope(relation=Source(table=found), fields=fields), columns)

    def _members(self, operand: Expression, node: exp.Expression) -> Expression:
        """Return the condition that an operand is among what a subquery on a public table lists."""
        inside = node.this if isinstance(node, exp.Subquery) else node
        clause = inside.args.get("from_") or inside.args.get("from")
        plain = clause is not None and type(clause.this) is exp.Table and not inside.args.get("joins")
        if type(inside) is exp.Select and clause is not None and plain:
            item = self._item(clause.this)
            if isinstance(item, PublicItem):
                values = listed_values(inside, item)
                if values is not None:
                    return membership_condition(operand, values)
        items = public_items(inside, self.table)
        if items is not None:
            rows = calculated_item(inside, items, "")
            return membership_condition(operand, single_column(rows))
        raise refused_clause("query", exp.In())

    def _check_apart(self, names: list[str]) -> None:
        if len({name.lower() for name in names}) != len(names):
            raise UnsupportedQuery(
                "two tables in FROM have the same name; give them aliases, as in FROM visits a JOIN visits b "
                "ON ..."
            )


def _called(rows: Scope | PublicItem, name: str) -> Scope | PublicItem:
    return rows.called(name) if isinstance(rows, Scope) else replace(rows, alias=name)


def _tables_in(item: FromItem) -> list[str]:
    return [name for name in dict.fromkeys(field.table for field in item.fields) if name]


def _without(scope: Scope, placed: Placed) -> Scope:
    """Return the rows that a SEMI or ANTI JOIN keeps, without the columns of its right side."""
    relation = scope.relation
    inside = {(field.table, field.name) for field in placed.item.fields}
    if placed.missing is not None:
        wanted = placed.missing.table, placed.missing.name
        (column,) = {field.column for field in scope.fields if (field.table, field.name) == wanted}
        relation = filtered(relation, IsNull(operand=Column(name=column)))
    fields = tuple(field for field in scope.fields if (field.table, field.name) not in inside)
    return Scope(relation=relation, fields=fields)


def _as_written(scope: Scope, steps: Sequence[JoinStep]) -> Scope:
    """Return rows with their columns in the order of FROM, which * lists.

    Of columns that USING made one, that of the item written first is called by its name alone.
    """
    places = {name: step.item.place for step in steps for name in _tables_in(step.item)}
    fields = sorted(scope.fields, key=lambda field: places.get(field.table, 0))
    if tuple(fields) == scope.fields:
        return scope
    seen: set[str] = set()
    merged = {field.column for field in fields if field.qualified}
    for place, field in enumerate(fields):
        if field.column in merged:
            fields[place] = replace(field, qualified=field.column in seen)
            seen.add(field.column)
    return Scope(relation=scope.relation, fields=tuple(fields))
