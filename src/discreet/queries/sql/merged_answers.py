"""A window around a subquery of groups, read as the one SELECT that it stands for.

``SELECT month, SUM(n) OVER (ORDER BY month) FROM (SELECT …) AS t``, where the subquery groups rows, means
what the window in the subquery itself means: every column of the subquery is replaced by what it stands for,
and WHERE around it becomes HAVING, which windows see, or QUALIFY, where the subquery has windows of its own
and is filtered after these. One question remains, with the checks, the identity and the cost that it has by
itself.

Only what has the same meaning is merged: a single subquery or query of WITH in FROM, with GROUP BY and
without DISTINCT and LIMIT, and around it no joins, aggregates, DISTINCT or further subqueries. Where a name
could mean two things, nothing is. (Proof: merged_answers.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from sqlglot import exp

from discreet.queries.sql.formulas.aggregates import is_aggregate
from discreet.queries.sql.syntax.names import same
from discreet.queries.sql.tables.scope import is_quoted
from discreet.records import dataclass

__all__ = ["merged_windows"]

_AROUND = {"kind", "expressions", "from_", "from", "where", "order", "limit", "offset", "with_", "with"}
_AROUND |= {"qualify", "windows"}
_INSIDE = {"kind", "expressions", "from_", "from", "joins", "where", "group", "having", "order"}
_INSIDE |= {"qualify"}


_LARGEST = 100_000
"""How many parts a merged SELECT may have at most: nested subqueries could multiply theirs at each level."""


class _Unclear(Exception):
    """It cannot be merged, or means two things."""


def merged_windows(tree: exp.Expression) -> exp.Select | None:
    """Return the one SELECT that a window around groups, or a filter of windows over groups, stands for.

    None if the statement has another form.
    """
    if type(tree) is not exp.Select:
        return None
    try:
        found = _merged(tree)
    except _Unclear:
        return None
    return found if found is not tree and _has_windows(found) else None


def _merged(select: exp.Select) -> exp.Select:
    """Return a SELECT over a subquery of groups as one over rows; any other as it is."""
    if select.args.get("group") or any(map(_aggregates, select.expressions)):
        return select
    inner, name, queries = _subquery(select)
    inner = _merged(inner)
    _check_size(select, inner)
    if not inner.args.get("group") or not _has_only(select, _AROUND) or not _has_only(inner, _INSIDE):
        raise _Unclear
    if _has_windows(inner) and _has_windows(select):
        raise _Unclear
    found = _Around(select, _Groups.of(inner), name).merged()
    if queries:
        found.set("with_", exp.With(expressions=[query.copy() for query in queries]))
    return found


def _check_size(select: exp.Select, inner: exp.Select) -> None:
    """Give up where columns, and names of columns, could stand for too much."""
    size = max((sum(1 for _ in item.walk()) for item in inner.expressions), default=0)
    names = sum(isinstance(node, exp.Column | exp.Star) for node in select.walk())
    if size * names**2 > _LARGEST:
        raise _Unclear


def _subquery(select: exp.Select) -> tuple[exp.Select, str, list[exp.CTE]]:
    """Return the only table of FROM, if it is a query, its name, and the queries of WITH that remain."""
    clause = select.args.get("from_") or select.args.get("from")
    source = None if clause is None else clause.this
    ctes = select.args.get("with_") or select.args.get("with")
    if source is None or select.args.get("joins") or (ctes is not None and ctes.args.get("recursive")):
        raise _Unclear
    queries = [] if ctes is None else list(ctes.expressions)
    alias = source.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise _Unclear
    name = source.alias_or_name
    if type(source) is exp.Subquery and _has_only(source, {"this", "alias"}):
        found = source.this
    elif type(source) is exp.Table and _has_only(source, {"this", "alias"}):
        meant = [query for query in queries if query.alias.lower() == source.name.lower()]
        if len(meant) != 1 or meant[0].args["alias"].args.get("columns"):
            raise _Unclear
        queries = queries[: queries.index(meant[0])]
        found = meant[0].this
    else:
        raise _Unclear
    if type(found) is not exp.Select:
        raise _Unclear
    return found, name, queries


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """A SELECT with GROUP BY: what its columns stand for, and its clauses without positions and names."""

    select: exp.Select
    columns: Mapping[str, exp.Expression]
    group: list[exp.Expression]
    having: exp.Expression | None
    qualify: exp.Expression | None

    @staticmethod
    def of(select: exp.Select) -> _Groups:
        columns: dict[str, exp.Expression] = {}
        for item in select.expressions:
            bare = _bare(item.this if isinstance(item, exp.Alias) else item)
            name = item.alias_or_name if isinstance(item, exp.Alias | exp.Column) else ""
            if not name or isinstance(bare, exp.Star) or name.lower() in {one.lower() for one in columns}:
                raise _Unclear  # its name is not written
            columns[name] = bare
        clause = select.args["group"]
        if not _has_only(clause, {"expressions"}) or not clause.expressions:
            raise _Unclear
        plain = _names(clause.expressions)
        group = [_grouped_by(_bare(node), columns, plain) for node in clause.expressions]
        plain |= _names(group)
        known = {name: one for name, one in columns.items() if not one.find(exp.Window)}
        for name, one in known.items():
            others = {other: meant for other, meant in known.items() if other != name}
            if _of_groups(one, others, plain) != one:
                raise _Unclear  # a name of SELECT in SELECT, or a column of that name
        windowed = {name: _of_groups(one, known, plain) for name, one in columns.items() if name not in known}
        columns |= windowed
        having, qualify = (select.args.get(part) for part in ("having", "qualify"))
        return _Groups(
            select=select,
            columns=columns,
            group=group,
            having=None if having is None else _of_groups(having.this, known, plain),
            qualify=None if qualify is None else _of_groups(qualify.this, columns, plain),
        )

    def meaning(self, node: exp.Column) -> exp.Expression | None:
        """Return what a column stands for."""
        for name, expression in self.columns.items():
            if same(node.name, quoted=is_quoted(node.this), other=name):
                return expression
        return None


class _Around:
    """A SELECT around groups."""

    def __init__(self, select: exp.Select, groups: _Groups, name: str) -> None:
        self._select, self._groups, self._name = select, groups, name

    def merged(self) -> exp.Select:
        """Return both as one."""
        inner, outer = self._groups.select, self._select
        found = exp.Select(expressions=self._items())
        self._check_names(found)
        for part in ("from_", "from", "joins", "where"):
            if inner.args.get(part):
                value = inner.args[part]
                copied = [one.copy() for one in value] if isinstance(value, list) else value.copy()
                found.set(part, copied)
        found.set("group", exp.Group(expressions=[node.copy() for node in self._groups.group]))
        where = outer.args.get("where")
        above = None if where is None else self._replaced(where.this)
        having, qualify = self._groups.having, self._qualify()
        if _has_windows(inner):
            qualify = _both(qualify, above)
        else:
            having = _both(having, above)
        if having is not None:
            found.set("having", exp.Having(this=having))
        if qualify is not None:
            found.set("qualify", exp.Qualify(this=qualify))
        if outer.args.get("windows"):
            found.set("windows", [self._replaced(window) for window in outer.args["windows"]])
        for part in ("limit", "offset"):
            if outer.args.get(part):
                found.set(part, outer.args[part].copy())
        if outer.args.get("order"):
            found.set("order", self._order())
        return found

    def _items(self) -> list[exp.Expression]:
        items: list[exp.Expression] = []
        for item in self._select.expressions:
            if isinstance(item, exp.Star):
                if not _has_only(item, set()):
                    raise _Unclear
                items += [_called(node.copy(), name) for name, node in self._groups.columns.items()]
            elif isinstance(item, exp.Column):
                items.append(_called(self._replaced(item), item.name))
            else:
                items.append(self._replaced(item))
        return items

    def _check_names(self, found: exp.Select) -> None:
        """Refuse names around the groups that columns of the rows below have as well."""
        below = {
            column.name.lower(): column
            for node in (*self._groups.group, *self._groups.columns.values())
            for column in node.find_all(exp.Column)
            if not column.args.get("table")
        }
        for item in found.expressions:
            column = below.get(item.alias.lower()) if isinstance(item, exp.Alias) else None
            if column is not None and _bare(item.this) != column:
                raise _Unclear

    def _qualify(self) -> exp.Expression | None:
        if self._groups.qualify is not None:
            return self._groups.qualify
        own = self._select.args.get("qualify")
        return None if own is None else self._replaced(own.this, shown=True)

    def _order(self) -> exp.Expression:
        """Return ORDER BY, with positions in place of names that SELECT gives."""
        order = self._select.args["order"].copy()
        names = [item.alias_or_name for item in self._items()]
        for part in order.expressions:
            by = part.this
            if isinstance(by, exp.Column) and not by.args.get("table"):
                places = [
                    place
                    for place, name in enumerate(names, start=1)
                    if same(by.name, quoted=is_quoted(by.this), other=name)
                ]
                if places:
                    by.replace(exp.Literal.number(places[0]))
                    continue
            if not isinstance(by, exp.Literal):
                by.replace(self._replaced(by, shown=True))
        return cast("exp.Expression", order)

    def _replaced(self, node: exp.Expression, *, shown: bool = False) -> exp.Expression:
        """Return an expression with what its columns stand for; with `shown`, also names of SELECT."""
        if node.find(exp.Select, exp.Subquery):
            raise _Unclear

        def meaning(one: exp.Expression) -> exp.Expression:
            if not isinstance(one, exp.Column):
                return one
            table = one.args.get("table")
            if not isinstance(one.this, exp.Identifier) or one.args.get("db"):
                raise _Unclear
            if table is not None and not same(table.name, quoted=is_quoted(table), other=self._name):
                raise _Unclear
            found, named = self._groups.meaning(one), self._shown(one) if shown and table is None else None
            if (found is None) == (named is None) and found != named:
                raise _Unclear
            meant = found if named is None else named
            if meant is None:
                raise _Unclear
            return meant.copy()

        return cast("exp.Expression", node.copy().transform(meaning, copy=False))

    def _shown(self, node: exp.Column) -> exp.Expression | None:
        """Return what SELECT calls by a name."""
        for item in self._select.expressions:
            if isinstance(item, exp.Alias) and same(
                node.name, quoted=is_quoted(node.this), other=str(item.alias)
            ):
                return _bare(self._replaced(item.this))
        return None


def _grouped_by(
    node: exp.Expression, columns: Mapping[str, exp.Expression], plain: set[str]
) -> exp.Expression:
    """Return what GROUP BY names by a position or a name of SELECT."""
    if isinstance(node, exp.Literal):
        place = int(node.this) if str(node.this).isdecimal() and not node.is_string else 0
        if not 1 <= place <= len(columns):
            raise _Unclear
        return list(columns.values())[place - 1]
    if type(node) is exp.Column and not node.args.get("table"):
        return _named(node, columns, plain)
    return node


def _named(node: exp.Column, columns: Mapping[str, exp.Expression], plain: set[str]) -> exp.Expression:
    for name, expression in columns.items():
        if not same(node.name, quoted=is_quoted(node.this), other=name) or _is_column(expression, name):
            continue
        if (
            _aggregates(expression)
            or {str(one.name).lower() for one in expression.find_all(exp.Column)} <= plain
        ):
            raise _Unclear  # a column, or the calculation
        return expression
    return node


def _of_groups(
    node: exp.Expression, columns: Mapping[str, exp.Expression], plain: set[str]
) -> exp.Expression:
    """Return HAVING with what the names of SELECT stand for in it."""

    def meaning(one: exp.Expression) -> exp.Expression:
        if type(one) is not exp.Column or one.args.get("table") or _is_in_aggregate(one):
            return one
        for name, expression in columns.items():
            if not same(one.name, quoted=is_quoted(one.this), other=name) or _is_column(expression, name):
                continue
            if one.name.lower() in plain:
                raise _Unclear
            return expression.copy()
        return one

    return cast("exp.Expression", node.copy().transform(meaning, copy=False))


def _names(nodes: Sequence[exp.Expression]) -> set[str]:
    return {str(node.name).lower() for node in nodes if type(node) is exp.Column}


def _is_in_aggregate(node: exp.Expression) -> bool:
    parent = node.parent
    while parent is not None:
        if is_aggregate(parent) and not _is_window_function(parent):
            return True
        parent = parent.parent
    return False


def _is_column(node: exp.Expression, name: str) -> bool:
    return type(node) is exp.Column and node.name.lower() == name.lower()


def _aggregates(node: exp.Expression) -> bool:
    """Return whether an expression aggregates rows, rather than taking a window of them."""
    return any(is_aggregate(one) and not _is_window_function(one) for one in node.walk())


def _is_window_function(node: exp.Expression) -> bool:
    parent = node.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Window)


def _has_windows(select: exp.Select) -> bool:
    clauses = [*select.expressions, *(select.args.get(part) for part in ("order", "qualify"))]
    return select.args.get("qualify") is not None or any(
        clause is not None and clause.find(exp.Window) is not None for clause in clauses
    )


def _has_only(node: exp.Expression, parts: set[str]) -> bool:
    return all(key in parts for key, value in node.args.items() if value)


def _bare(node: exp.Expression) -> exp.Expression:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _called(node: exp.Expression, name: str) -> exp.Expression:
    return cast("exp.Expression", exp.alias_(node, name, quoted=True))


def _both(one: exp.Expression | None, other: exp.Expression | None) -> exp.Expression | None:
    if one is None or other is None:
        return other if one is None else one
    return exp.And(this=exp.Paren(this=one), expression=exp.Paren(this=other))
