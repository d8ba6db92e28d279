"""Subqueries over public tables alone: their rows, calculated when the question is read.

What public tables hold is public, and so is what is calculated of them: it costs nothing, and no rule about
persons applies. DuckDB does it, in a database of its own that holds those tables and nothing else. The
syntax is a closed list of nodes whose results depend on the rows alone, not on their order or on the day.
Every name is written in quotes, so that it means a column or a table and never a function.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from sqlglot import exp

from discreet.data.engines.duckdb import query_frames
from discreet.data.tables.public_rows import rows_of_table, table_of_rows
from discreet.data.tables.public_table import PublicTable
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.queries.sql.syntax.refusals import refused, refused_node
from discreet.queries.sql.tables.joins import PublicItem

__all__ = ["calculated_item", "narrowed_item", "public_items"]

MOST_PAIRS = 10**8
"""How many combinations of rows the tables of a subquery may have."""

_NODES = (
    *(
        exp.Select,
        exp.From,
        exp.Join,
        exp.Where,
        exp.Group,
        exp.Having,
        exp.Distinct,
        exp.Union,
        exp.Subquery,
    ),
    *(exp.With, exp.CTE, exp.Table, exp.TableAlias, exp.Alias, exp.Column, exp.Identifier, exp.Star),
    *(exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.And, exp.Or, exp.Not, exp.In, exp.Between, exp.Is),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.Add, exp.Sub, exp.Mul, exp.Neg),
    *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Coalesce, exp.Upper, exp.Lower, exp.Case, exp.If),
    *(exp.Cast, exp.DataType, exp.DataTypeParam, exp.Values, exp.Tuple),
)
_REWRITE = "in a subquery on public tables, write conditions, + - *, COUNT, SUM, AVG, MIN, MAX and GROUP BY"

ReadTable = Callable[[exp.Table], object]
NamedItems = list[tuple[exp.Table, PublicItem]]


def public_items(node: exp.Expression, table: ReadTable) -> NamedItems | None:
    """Return the tables that a subquery names, if all of them are public, or None.

    Parameters
    ----------
    node : sqlglot expression
        The subquery.
    table : callable
        Returns what a table in FROM is: a `PublicItem`, if it is public.
    """
    found: NamedItems = []
    for one in node.find_all(exp.Table):
        if not one.args.get("db") and _is_own(one, node):
            continue
        try:
            item = table(one)
        except (UndeclaredColumn, UnsupportedQuery):
            return None
        if not isinstance(item, PublicItem):
            return None
        found.append((one, item))
    return found


def _is_own(table: exp.Table, whole: exp.Expression) -> bool:
    """Return whether a name is that of a query of WITH that is in sight where it stands.

    Elsewhere the name would be one of the engine's catalog, so that it has to be that of a public table.
    """
    below: exp.Expression = table
    while below is not whole and below.parent is not None:
        above = below.parent
        clause = above if isinstance(above, exp.With) else above.args.get("with_") or above.args.get("with")
        if clause is not None and clause is not below:
            known = clause.expressions
            if above is clause:  # in a query of WITH those before it are in sight
                known = known[: next(place for place, one in enumerate(known) if one is below)]
            if any(query.alias.lower() == table.name.lower() for query in known):
                return True
        below = above
    return False


def calculated_item(node: exp.Expression, items: NamedItems, alias: str) -> PublicItem:
    """Return the rows of a subquery over public tables as an item of FROM."""
    for one in node.walk():
        if type(one) not in _NODES:
            raise refused_node(one, _REWRITE)
    frames = {f"t{place}": item.public._rows() for place, (_, item) in enumerate(items)}
    if prod(frame.num_rows for frame in frames.values()) > MOST_PAIRS:
        raise refused("a subquery on public tables of this size", "join fewer, or smaller ones")
    names = {id(one): (f"t{place}", item.alias) for place, (one, item) in enumerate(items)}
    statement = _with_names(node, names)
    try:
        rows = rows_of_table(
            PublicTable(query_frames(statement.sql(dialect="duckdb", identify=True), frames))
        )
    except ParameterError:
        rows = None
    if rows is None:
        raise refused(
            "this subquery on public tables",
            "give every column a name of its own with AS, compare columns of one type, and select at most "
            "5,000 rows",
        )
    return PublicItem(table=rows, alias=alias, public=table_of_rows(rows))


def narrowed_item(
    item: PublicItem, *, where: exp.Expression | None = None, columns: tuple[str, ...] = ()
) -> PublicItem:
    """Return the rows of a public table that meet a condition, or what they have in some columns, once."""
    table = exp.Table(this=exp.to_identifier(item.alias, quoted=True))
    named = [exp.Column(this=exp.to_identifier(name, quoted=True)) for name in columns]
    select = exp.Select(expressions=named or [exp.Star()])
    select.set("from_", exp.From(this=table))
    if where is not None:
        select.set("where", exp.Where(this=where.copy()))
    if columns:
        select.set("distinct", exp.Distinct())
    return calculated_item(select, [(table, item)], item.alias)


def _with_names(node: exp.Expression, names: dict[int, tuple[str, str]]) -> exp.Expression:
    """Return a subquery with its tables under names that no request writes, and their own as aliases."""

    def renamed(one: exp.Expression) -> exp.Expression:
        if id(one) not in places:
            return one
        name, alias = places[id(one)]
        table = exp.Table(
            this=exp.to_identifier(name, quoted=True),
            alias=exp.TableAlias(this=exp.to_identifier(alias or name, quoted=True)),
        )
        if one.args.get("joins"):
            table.set("joins", one.args["joins"])
        return table

    copied = node.copy()
    places = {
        id(copy): names[id(one)]
        for one, copy in zip(node.find_all(exp.Table), copied.find_all(exp.Table), strict=True)
        if id(one) in names
    }
    statement: exp.Expression = copied.transform(renamed, copy=False)
    return statement
