"""FROM, JOIN, WHERE and WITH: which rows a SELECT is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from discreet.data.facts.persons import Tables, private_table
from discreet.data.language.expressions import Expression, Literal
from discreet.data.language.relations import Source
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery
from discreet.queries.question.query import filtered
from discreet.queries.sql.expressions import condition_of, is_folded
from discreet.queries.sql.in_public_subquery import listed_values, membership_condition
from discreet.queries.sql.joins import PublicItem, join_rows
from discreet.queries.sql.names import same, table_named
from discreet.queries.sql.refusals import check_parts, refused, refused_clause, refused_node
from discreet.queries.sql.scope import Field, Scope, is_quoted

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
        self, tables: Tables, subquery: Subquery, queries: Mapping[str, tuple[bool, Scope]] | None = None
    ) -> None:
        self.tables = tables
        self._subquery = subquery
        self._queries = dict(queries or {})

    def of(self, select: exp.Select) -> Scope:
        """Return the rows of FROM and JOIN that WHERE lets pass."""
        scope = self._first(select)
        names = [field.table for field in scope.fields[:1]]
        for join in select.args.get("joins") or ():
            right = self._item(join.this)
            if isinstance(right, PublicItem):
                names.append(right.alias)
            else:
                names += [field.table for field in right.fields[:1]]
            self._check_apart([name for name in names if name])
            scope = join_rows(scope, join, right, select, self.tables)
        where = select.args.get("where")
        if where is None:
            return scope
        check_parts(where, "this")
        condition = condition_of(where.this, scope.over(self.tables), self._members)
        if isinstance(condition, Literal) and condition.value is True and is_folded(where.this):
            return scope
        return Scope(relation=filtered(scope.relation, condition), fields=scope.fields)

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
            check_parts(alias, "this")
            scope = self._subquery(query_.this, inner)
            inner._queries[alias.name] = (is_quoted(alias.this), scope)
        return inner

    def _first(self, select: exp.Select) -> Scope:
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            raise UnsupportedQuery("the query has no FROM; write FROM and the name of a table")
        check_parts(clause, "this")
        first = self._item(clause.this)
        if isinstance(first, PublicItem):
            if select.args.get("joins"):
                raise refused(
                    "FROM that begins with a public table",
                    "begin with the private one, and JOIN the public one",
                )
            private_table(first.table, self.tables)
            raise AssertionError
        return first

    def _item(self, node: exp.Expression) -> Scope | PublicItem:
        if type(node) is exp.Table:
            return self._table(node)
        if type(node) is not exp.Subquery:
            raise refused_node(node)
        check_parts(node, "this", "alias")
        inside = node.this
        if type(inside) is exp.Table:
            check_parts(inside, "this", "alias")
            raise refused("a table in parentheses", "leave the parentheses out")
        alias = node.args.get("alias")
        return self._subquery(inside, self).called("" if alias is None else _alias(alias))

    def _table(self, node: exp.Table) -> Scope | PublicItem:
        if not isinstance(node.this, exp.Identifier):
            raise refused("a function as a table", "write the name of a declared table")
        check_parts(node, "this", "alias")
        name, quoted = node.this.name, is_quoted(node.this)
        alias = node.args.get("alias")
        for known, (exactly, scope) in reversed(self._queries.items()):
            if known == name or (not quoted and not exactly and known.lower() == name.lower()):
                return scope.called(known if alias is None else _alias(alias))
        found = table_named(name, quoted=quoted, tables=self.tables)
        called = found if alias is None else _alias(alias)
        table = self.tables[found]
        if isinstance(table, PublicTable):
            return PublicItem(table=found, alias=called, public=table)
        fields = tuple(Field(table=called, name=column, column=column) for column in table.schema)
        return Scope(relation=Source(table=found), fields=fields)

    def _members(self, operand: Expression, node: exp.Expression) -> Expression:
        """Return the condition that an operand is among what a subquery on a public table lists."""
        inside = node.this if isinstance(node, exp.Subquery) else node
        clause = inside.args.get("from_") or inside.args.get("from")
        plain = clause is not None and type(clause.this) is exp.Table and not inside.args.get("joins")
        if type(inside) is exp.Select and clause is not None and plain:
            item = self._item(clause.this)
            if isinstance(item, PublicItem):
                return membership_condition(operand, listed_values(inside, item))
        raise refused_clause("query", exp.In())

    def _check_apart(self, names: list[str]) -> None:
        last = names[-1] if names else ""
        if any(same(last, quoted=False, other=name) for name in names[:-1]):
            raise UnsupportedQuery(
                "two tables in FROM have the same name; give them aliases, as in FROM visits a JOIN visits b "
                "ON ..."
            )


def _alias(alias: exp.TableAlias) -> str:
    check_parts(alias, "this")
    return str(alias.name)
