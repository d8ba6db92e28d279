"""SQL as a query.

The language::

    [WITH name AS (subquery), ...]
    SELECT key [AS name], ..., COUNT(*) [AS name], COUNT(x), SUM(x), AVG(x) / COUNT(*), ...
    FROM table or (subquery) [[AS] alias]
    [, | [LEFT | RIGHT | SEMI | ANTI] JOIN ... ON condition | USING (column, ...) | CROSS JOIN | NATURAL JOIN]
    [WHERE condition]
    [GROUP BY key, ...]
    [HAVING condition] [ORDER BY column [DESC], ...] [LIMIT n] [OFFSET n]

`parser` turns text into a syntax tree, `from_clause` says which rows are meant, `join_steps`, `join_order`
and `joins` how tables meet, `public_subquery` what public tables alone give, `subqueries`, `per_person` and
`windows` what happens to rows below, `expressions` and `literals` what an expression means,
`post_processing` what is done with the answer, `scope` and `names` which column a name means, and `refusals`
what to write instead of everything else. The tree is walked by a closed list of nodes; the text itself is
not used further.

- Names without quotes ignore upper and lower case; names in double quotes are exact.
- Of a table's name with a schema, as in clinic.visits, the last part counts.
- Keys may be anywhere in SELECT, or not at all: the answer has the columns of SELECT in their order. Keys
  that only GROUP BY names come before them where rows could not be told apart otherwise.
- An aggregate without AS is called count, count_x, sum_x or avg_x, a calculated key upper_x or floor_x; a
  calculation is called by its outermost function, or calculated; with a number, as in sum_2, if that is
  taken.
- COUNT of a constant is COUNT(*).
- HAVING, ORDER BY and LIMIT act on released values, and cost nothing.
"""

from __future__ import annotations

import datetime

from sqlglot import exp

from discreet.data import Aggregate
from discreet.data.facts.persons import Tables
from discreet.data.language.expressions import Column, Expression, columns_of
from discreet.data.language.relations import Named
from discreet.errors import UnsupportedQuery
from discreet.queries.question.post_processing import PostProcessing
from discreet.queries.question.query import Query
from discreet.queries.sql.columns.answer_columns import AnswerColumns
from discreet.queries.sql.columns.answer_windows import named_windows
from discreet.queries.sql.columns.grouping_sets import grouped_nodes
from discreet.queries.sql.columns.keys_alone import check_distinct, listed_keys, with_distinct_groups
from discreet.queries.sql.columns.post_processing import after_of, position_of
from discreet.queries.sql.formulas.aggregates import is_aggregate
from discreet.queries.sql.formulas.expressions import expression_of, unwrapped
from discreet.queries.sql.formulas.key_names import calculated_key_name
from discreet.queries.sql.rows.from_clause import FromClause
from discreet.queries.sql.rows.lifted_subqueries import lifted_select
from discreet.queries.sql.rows.subqueries import subquery
from discreet.queries.sql.syntax.names import check_schemas, same
from discreet.queries.sql.syntax.parser import read_select
from discreet.queries.sql.syntax.prune_person_keys import prune_person_keys
from discreet.queries.sql.syntax.refusals import check_parts, no_aggregate_here, refused, refused_node
from discreet.queries.sql.tables.scope import ColumnsInSight, NamesInSight, OfAnswer, is_quoted
from discreet.records import dataclass

__all__ = ["ReadSelect", "aggregates_in", "parse", "query_of"]

_PARTS = (
    "expressions",
    "from",
    "joins",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
    "with",
    "hint",
    "qualify",
    "windows",
    "distinct",
)


def parse(text: str, tables: Tables, day: datetime.date | None = None) -> Query:
    """Return the query that SQL text means, or refuse it.

    Parameters
    ----------
    text : str
        One SELECT of the language above.
    tables : mapping of names to Table or PublicTable
        The declared tables; only their public names and columns are used.
    day : date, optional
        What CURRENT_DATE means.

    Raises
    ------
    UnsupportedQuery
        For everything outside the language: it names the construct and what to write instead.
    UndeclaredColumn
        For a table or a column that does not exist: it names those that do.
    """
    select = read_select(text, day)
    return query_of(select, tables)[0]


def query_of(
    select: exp.Select, tables: Tables, given: tuple[str, ...] = ()
) -> tuple[Query, tuple[str, ...]]:
    """Return the query that a SELECT means, and the name that each of its items has in the answer.

    With `given`, it calculates with columns of other answers, by these names.
    """
    select = with_distinct_groups(select)
    check_parts(select, *_PARTS)
    check_schemas(select)
    rows = FromClause(tables, subquery).within(select)
    select, scope = lifted_select(select, rows.of(select), rows)
    read = aggregates_in(select, scope, scope.over(tables))
    query = Query(
        relation=scope.relation,
        keys=read.keys,
        outputs=read.outputs,
        after=read.after,
        given=given,
        selected=read.names,
    )
    return prune_person_keys(query, tables), read.names


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSelect:
    """What a SELECT with aggregates asks of the rows of its FROM.

    Attributes
    ----------
    keys : tuple of Named
        What it groups by.
    outputs : tuple of (name, Aggregate)
        What it aggregates.
    after : PostProcessing
        What it does with the result.
    names : tuple of str
        The name of each item.
    """

    keys: tuple[Named, ...]
    outputs: tuple[tuple[str, Aggregate], ...]
    after: PostProcessing
    names: tuple[str, ...]


def aggregates_in(select: exp.Select, scope: NamesInSight, columns: ColumnsInSight) -> ReadSelect:
    """Read SELECT, GROUP BY, HAVING, ORDER BY and LIMIT over the columns in sight."""
    reader = _Reader(select, scope, columns)
    keys = reader.keys()
    answer = AnswerColumns(keys, columns, reader.aliases, named=named_windows(select), levels=reader.levels)
    named = reader.columns(keys, answer)
    check_distinct(select, named, len(keys))
    after = listed_keys(after_of(select, named, answer, scope), named, answer, len(keys))
    names = tuple(reader.key_name(place, keys) if name is None else name for place, name in enumerate(named))
    return ReadSelect(keys=keys, outputs=answer.outputs, after=after, names=names)


class _Reader:
    """Reads SELECT and GROUP BY."""

    def __init__(self, select: exp.Select, scope: NamesInSight, columns: ColumnsInSight) -> None:
        self._scope, self._columns = scope, columns
        self._group: exp.Group | None = select.args.get("group")
        self._grouped_by, self.levels = grouped_nodes(self._group)
        self._items = [_item(node) for node in select.expressions]

    @property
    def aliases(self) -> list[str]:
        """The names that SELECT gives."""
        return [alias for _, alias in self._items if alias is not None]

    def keys(self) -> tuple[Named, ...]:
        """Return what GROUP BY names, each under the name that SELECT gives it."""
        if self._group is None:
            return ()
        if not self._grouped_by:
            raise UnsupportedQuery("GROUP BY names no column; leave it out, or name one with declared keys")
        return tuple(map(self._key, self._grouped_by))

    def _key(self, node: exp.Expression) -> Named:
        if isinstance(node, exp.AggFunc):
            raise no_aggregate_here("GROUP BY")
        if isinstance(node, exp.Literal):
            return self._key_at(position_of(node, len(self._items), "GROUP BY"))
        if isinstance(node, exp.Tuple):
            raise refused("GROUP BY with a row of columns", "leave the parentheses out")
        if type(node) is exp.Column:
            return self._named_key(node)
        expression = expression_of(node, self._columns)
        if not columns_of(expression):
            raise refused("GROUP BY with a constant", "leave it out, or group by a column")
        for item, alias in self._items:
            if alias is None or item.find(exp.AggFunc, exp.Window, exp.Star, OfAnswer):
                continue
            if item == node or expression_of(item, self._columns) == expression:
                return Named(name=alias, expression=expression)
        return Named(name=calculated_key_name(expression), expression=expression)

    def _key_at(self, place: int) -> Named:
        """Return the key at a position of SELECT."""
        item, alias = self._items[place]
        if item.find(exp.AggFunc, exp.Star):
            raise no_aggregate_here("GROUP BY")
        if type(item) is exp.Column:
            field = self._scope.field(item)
            return Named(name=alias or field.name, expression=Column(name=field.column))
        expression = expression_of(item, self._columns)
        if not columns_of(expression):
            raise refused("GROUP BY with a constant", "leave it out, or group by a column")
        return Named(name=alias or calculated_key_name(expression), expression=expression)

    def _named_key(self, node: exp.Column) -> Named:
        """Return the key that a name means: a column in sight or, failing that, a name of SELECT.

        Where it is both, the calculation is meant if it reads other columns that GROUP BY does not name:
        grouped by the column, it would have no value.
        """
        alias = self._calculated(node)
        if node.args.get("table") is None and alias is not None:
            if self._scope.has(node) and columns_of(alias.expression) <= self._grouped_columns():
                raise UnsupportedQuery(
                    "a name in GROUP BY means both a column and a calculation in SELECT; write the position "
                    "of the calculation, as in GROUP BY 1, or give it another name with AS"
                )
            return alias
        field = self._scope.field(node)
        named = [
            name
            for item, name in self._items
            if type(item) is exp.Column and self._scope.field(item) == field
        ]
        # Where SELECT lists it both as it is and under another name, the other is one more column.
        name = field.name if None in named or not named else named[0]
        return Named(name=name or field.name, expression=Column(name=field.column))

    def _grouped_columns(self) -> set[str]:
        """Return the columns that GROUP BY names."""
        return {
            self._scope.field(node).column
            for node in self._grouped_by
            if type(node) is exp.Column and self._scope.has(node)
        }

    def _calculated(self, node: exp.Column) -> Named | None:
        """Return what SELECT calls by a name, if it is not a plain column of the same name."""
        for item, alias in self._items:
            if alias is None or not isinstance(node.this, exp.Identifier):
                continue
            if not same(node.name, quoted=is_quoted(node.this), other=alias):
                continue
            if item.find(exp.AggFunc):
                if self._scope.has(node):
                    continue
                raise no_aggregate_here("GROUP BY")
            expression = expression_of(item, self._columns)
            if not self._scope.has(node) or self._scope.column(node) != expression:
                return Named(name=alias, expression=expression)
        return None

    def columns(self, keys: tuple[Named, ...], answer: AnswerColumns) -> list[str | None]:
        """Add the aggregates and calculations of SELECT, and return the name of each item; None for keys.

        Aggregates come first, so that calculations read those that are shown.
        """
        named: list[str | None] = [None] * len(self._items)
        calculations = []
        for place, (node, alias) in enumerate(self._items):
            if self._is_key(node, alias, keys):
                continue
            unknown = isinstance(node, exp.Anonymous) and not any(map(is_aggregate, node.walk()))
            over_answer = isinstance(node, exp.Window | exp.Grouping | exp.GroupingId)
            if (is_aggregate(node) or unknown) and not over_answer:
                named[place] = answer.measure(node, alias)
            else:
                calculations.append((place, node, alias))
        found = [
            (place, answer.expression(node, lambda one: self._grouped(one, answer)), alias)
            for place, node, alias in calculations
        ]
        for place, expression, alias in found:
            named[place] = answer.calculate(expression, alias)
        return named

    def key_name(self, place: int, keys: tuple[Named, ...]) -> str:
        """Return the name of the key that an item is."""
        expression = expression_of(self._items[place][0], self._columns)
        return next(key.name for key in keys if key.expression == expression)

    def _grouped(self, node: exp.Column, answer: AnswerColumns) -> Expression:
        key = answer.key_of(node)
        if key is None:
            raise self._not_grouped(node)
        return key

    def _not_grouped(self, node: exp.Column) -> UnsupportedQuery:
        return UnsupportedQuery(
            f"{self._scope.field(node).name!r} is neither grouped by nor aggregated; add it to GROUP BY, "
            f"or take "
            "COUNT, SUM or AVG of it"
        )

    def _is_key(self, node: exp.Expression, alias: str | None, keys: tuple[Named, ...]) -> bool:
        if type(node) is exp.Column:
            expression: Expression = self._scope.column(node)
        elif isinstance(node, exp.Star):
            raise refused_node(node)
        elif node.find(exp.AggFunc, exp.Window, OfAnswer) or not any(
            not isinstance(key.expression, Column) for key in keys
        ):
            return False
        else:
            expression = expression_of(node, self._columns)
        for key in keys:
            if key.expression == expression:
                return alias in {None, key.name}
        if type(node) is not exp.Column:
            return False
        raise self._not_grouped(node)


def _item(node: exp.Expression) -> tuple[exp.Expression, str | None]:
    if isinstance(node, exp.Alias):
        check_parts(node, "this", "alias")
        return unwrapped(node.this), str(node.alias)
    return unwrapped(node), None
