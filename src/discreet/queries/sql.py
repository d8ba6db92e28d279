"""SQL as a query.

The language::

    SELECT key, ..., COUNT(*) [AS name], COUNT(x), SUM(x), AVG(x), ...
    FROM table [[AS] alias]
    [WHERE condition]
    [GROUP BY key, ...]

`sql_reading` turns text into a syntax tree, `sql_conditions` and `sql_literals` say what a condition means,
`names` which column a name means, and `sql_refusals` what to write instead of everything else. The tree is
walked by a closed list of nodes; the text goes nowhere.

- Names without quotes ignore upper and lower case; names in double quotes are exact.
- Keys may stand anywhere in SELECT, or not at all: the answer shows all of them first, in the order of
  GROUP BY, then the aggregates in order.
- An aggregate without AS is called count, count_x, sum_x or avg_x.
- COUNT of a constant is COUNT(*).
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.data import Aggregate, Relation, Source, Table
from discreet.data.expressions import Column, Expression
from discreet.errors import UnsupportedQuery
from discreet.queries.names import column_named, same, table_named
from discreet.queries.query import Query, filtered, key_of
from discreet.queries.sql_aggregates import aggregate_of, default_name
from discreet.queries.sql_conditions import condition_of, unwrapped
from discreet.queries.sql_reading import read_select
from discreet.queries.sql_refusals import (
    check_parts,
    no_aggregate_here,
    refused,
    refused_node,
)

__all__ = ["parse"]


def parse(text: str, tables: Mapping[str, Table]) -> Query:
    """Return the query that a text of SQL means, or refuse it.

    Parameters
    ----------
    text : str
        One SELECT of the language above.
    tables : mapping of names to Table
        The declared tables; only their public names and columns are looked at.

    Raises
    ------
    UnsupportedQuery
        For everything outside the language: it names the construct and what to write instead.
    UndeclaredColumn
        For a table or a column that is not there: it names those that are.
    """
    select = read_select(text)
    check_parts(select, "expressions", "from", "where", "group", "hint")
    reader = _Reader(select, tables)
    keys = reader.keys(select.args.get("group"))
    outputs = tuple(reader.outputs(select.expressions, keys))
    relation = reader.relation(select.args.get("where"))
    return Query(relation=relation, keys=tuple(key_of(key) for key in keys), outputs=outputs)


class _Reader:
    """Reads the clauses of one SELECT, given the table of its FROM."""

    def __init__(self, select: exp.Select, tables: Mapping[str, Table]) -> None:
        table = _from(select)
        self._table = table_named(table.this.name, quoted=bool(table.this.args.get("quoted")), tables=tables)
        self._schema = tables[self._table].schema
        alias = table.args.get("alias")
        self._alias = self._table if alias is None else _alias(alias)

    def column(self, node: exp.Column) -> Column:
        """Return the column that a node names."""
        check_parts(node, "this", "table")
        qualifier, name = node.args.get("table"), node.this
        if isinstance(name, exp.Star):
            raise refused_node(name)
        if not isinstance(name, exp.Identifier):
            raise refused("a column by number", "write its name")
        if qualifier is not None and not same(
            qualifier.name, quoted=bool(qualifier.args.get("quoted")), other=self._alias
        ):
            raise UnsupportedQuery(
                "a column is taken from a table that FROM does not name; write the name of the column alone"
            )
        found = column_named(name.name, quoted=bool(name.args.get("quoted")), schema=self._schema)
        return Column(name=found)

    def keys(self, group: exp.Group | None) -> tuple[str, ...]:
        """Return the columns of GROUP BY."""
        if group is None:
            return ()
        check_parts(group, "expressions")
        if not group.expressions:
            raise UnsupportedQuery("GROUP BY names no column; leave it out, or name one with declared keys")
        return tuple(self._key(node) for node in group.expressions)

    def _key(self, node: exp.Expression) -> str:
        node = unwrapped(node)
        if type(node) is exp.Column:
            return self.column(node).name
        if isinstance(node, exp.AggFunc):
            raise no_aggregate_here("GROUP BY")
        if isinstance(node, exp.Literal):
            raise refused("GROUP BY with a number or text", "write the name of the column")
        if isinstance(node, exp.Tuple):
            raise refused("GROUP BY with a row of columns", "leave the parentheses out")
        raise refused("GROUP BY with an expression", "group by columns with declared keys")

    def outputs(self, nodes: list[exp.Expression], keys: tuple[str, ...]) -> list[tuple[str, Aggregate]]:
        """Return the aggregates of SELECT by name, having checked that its other columns are keys."""
        outputs = []
        for node in nodes:
            name = None
            if isinstance(node, exp.Alias):
                check_parts(node, "this", "alias")
                name, node = node.alias, node.this  # noqa: PLW2901
            inner = unwrapped(node)
            if type(inner) is exp.Column:
                self._check_key(self.column(inner).name, name, keys)
            else:
                aggregate = aggregate_of(inner, self.column)
                outputs.append((default_name(aggregate) if name is None else name, aggregate))
        return outputs

    def relation(self, where: exp.Where | None) -> Relation:
        """Return the rows of FROM that WHERE lets pass."""
        source = Source(table=self._table)
        if where is None:
            return source
        check_parts(where, "this")
        return filtered(source, condition_of(where.this, self._expression))

    def _expression(self, node: exp.Column) -> Expression:
        return self.column(node)

    def _check_key(self, column: str, name: str | None, keys: tuple[str, ...]) -> None:
        if column not in keys:
            raise UnsupportedQuery(
                f"{column!r} is neither grouped by nor aggregated; add it to GROUP BY, or take "
                "COUNT, SUM or AVG of it"
            )
        if name is not None and name != column:
            raise refused("AS on a key", "leave it out: keys keep their names, and answers can be renamed")


def _from(select: exp.Select) -> exp.Table:
    clause = select.args.get("from_") or select.args.get("from")
    if clause is None:
        raise UnsupportedQuery("the query has no FROM; write FROM and the name of a table")
    check_parts(clause, "this")
    table = clause.this
    if type(table) is not exp.Table:
        raise refused_node(table)
    if not isinstance(table.this, exp.Identifier):
        raise refused("a function as a table", "write the name of a declared table")
    check_parts(table, "this", "alias")
    return table


def _alias(alias: exp.TableAlias) -> str:
    check_parts(alias, "this")
    return str(alias.name)
