"""SQL as a query.

The language::

    [WITH name AS (subquery), ...]
    SELECT key [AS name], ..., COUNT(*) [AS name], COUNT(x), SUM(x), AVG(x), ...
    FROM table or (subquery) [[AS] alias]
    [[LEFT] JOIN public table or private rows ON column = column AND ... | USING (column, ...)]
    [WHERE condition]
    [GROUP BY key, ...]
    [HAVING condition] [ORDER BY column [DESC], ...] [LIMIT n] [OFFSET n]

`parser` turns text into a syntax tree, `from_clause` says which rows are meant, `joins` how tables
meet, `subqueries`, `per_person` and `windows` what happens to rows below, `expressions` and
`literals` what an expression means, `post_processing` what is done with the answer, `scope` and `names`
which column a name means, and `refusals` what to write instead of everything else. The tree is walked
by a closed list of nodes; the text itself is not used further.

- Names without quotes ignore upper and lower case; names in double quotes are exact.
- Keys may be anywhere in SELECT, or not at all: the answer shows all of them first, in the order of
  GROUP BY, then the aggregates in order.
- An aggregate without AS is called count, count_x, sum_x or avg_x, a calculated key upper_x or floor_x.
- COUNT of a constant is COUNT(*).
- HAVING, ORDER BY and LIMIT act on released values, and cost nothing.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.data import Aggregate
from discreet.data.facts.persons import Tables
from discreet.data.language.expressions import Column, Expression, columns_of
from discreet.data.language.relations import Named
from discreet.errors import UnsupportedQuery
from discreet.queries.question.query import Query
from discreet.queries.sql.aggregates import aggregate_of, default_name
from discreet.queries.sql.expressions import expression_of, unwrapped
from discreet.queries.sql.from_clause import FromClause
from discreet.queries.sql.key_names import calculated_key_name
from discreet.queries.sql.names import same
from discreet.queries.sql.parser import read_select
from discreet.queries.sql.post_processing import after_of, position_of
from discreet.queries.sql.prune_person_keys import prune_person_keys
from discreet.queries.sql.refusals import check_parts, no_aggregate_here, refused, refused_node
from discreet.queries.sql.scope import Scope, is_quoted
from discreet.queries.sql.subqueries import subquery

__all__ = ["parse"]

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
)


def parse(text: str, tables: Tables) -> Query:
    """Return the query that SQL text means, or refuse it.

    Parameters
    ----------
    text : str
        One SELECT of the language above.
    tables : mapping of names to Table or PublicTable
        The declared tables; only their public names and columns are used.

    Raises
    ------
    UnsupportedQuery
        For everything outside the language: it names the construct and what to write instead.
    UndeclaredColumn
        For a table or a column that does not exist: it names those that do.
    """
    select = read_select(text)
    check_parts(select, *_PARTS)
    scope = FromClause(tables, subquery).within(select).of(select)
    reader = _Reader(select, scope, tables)
    keys = reader.keys()
    outputs = reader.outputs(keys)
    after = after_of(select, keys, outputs, scope, reader.aggregate)
    query = Query(relation=scope.relation, keys=keys, outputs=outputs, after=after)
    return prune_person_keys(query, tables)


class _Reader:
    """Reads SELECT and GROUP BY of the outermost query."""

    def __init__(self, select: exp.Select, scope: Scope, tables: Tables) -> None:
        self._scope, self._columns = scope, scope.over(tables)
        self._group: exp.Group | None = select.args.get("group")
        self._items = [_item(node) for node in select.expressions]

    def aggregate(self, node: exp.Expression) -> Aggregate:
        """Return the aggregate that a node means, or refuse it."""
        return aggregate_of(node, self._columns)

    def keys(self) -> tuple[Named, ...]:
        """Return what GROUP BY names, each under the name that SELECT gives it."""
        if self._group is None:
            return ()
        check_parts(self._group, "expressions")
        if not self._group.expressions:
            raise UnsupportedQuery("GROUP BY names no column; leave it out, or name one with declared keys")
        return tuple(self._key(unwrapped(node)) for node in self._group.expressions)

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
            if alias is None or item.find(exp.AggFunc, exp.Window, exp.Star):
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
        for item, name in self._items:
            if name is not None and type(item) is exp.Column and self._scope.field(item) == field:
                return Named(name=name, expression=Column(name=field.column))
        return Named(name=field.name, expression=Column(name=field.column))

    def _grouped_columns(self) -> set[str]:
        """Return the columns that GROUP BY names."""
        nodes = [] if self._group is None else [unwrapped(node) for node in self._group.expressions]
        return {
            self._scope.field(node).column
            for node in nodes
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

    def outputs(self, keys: tuple[Named, ...]) -> tuple[tuple[str, Aggregate], ...]:
        """Return the aggregates of SELECT by name, having checked that its other columns are keys."""
        outputs = []
        for node, alias in self._items:
            if self._is_key(node, alias, keys):
                continue
            aggregate = self.aggregate(node)
            outputs.append((default_name(aggregate) if alias is None else alias, aggregate))
        return tuple(outputs)

    def _is_key(self, node: exp.Expression, alias: str | None, keys: tuple[Named, ...]) -> bool:
        if type(node) is exp.Column:
            expression: Expression = self._scope.column(node)
        elif isinstance(node, exp.Star):
            raise refused_node(node)
        elif node.find(exp.AggFunc, exp.Window) or not any(
            not isinstance(key.expression, Column) for key in keys
        ):
            return False
        else:
            expression = expression_of(node, self._columns)
        for key in keys:
            if key.expression == expression:
                if alias not in {None, key.name}:
                    raise UnsupportedQuery("SELECT gives one key two names; choose one")
                return True
        if type(node) is not exp.Column:
            return False
        raise UnsupportedQuery(
            f"{self._scope.field(node).name!r} is neither grouped by nor aggregated; add it to GROUP BY, "
            f"or take "
            "COUNT, SUM or AVG of it"
        )


def _item(node: exp.Expression) -> tuple[exp.Expression, str | None]:
    if isinstance(node, exp.Alias):
        check_parts(node, "this", "alias")
        return unwrapped(node.this), str(node.alias)
    return unwrapped(node), None
