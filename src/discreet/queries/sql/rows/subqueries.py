"""Subqueries: rows calculated, filtered, numbered, united, or aggregated per person.

A subquery may do what keeps every row the work of one person: DISTINCT with the person, GROUP BY
with the person, windows partitioned by the person. The rest is refused, because whether a row is present
would depend on other people.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.data.facts.foreign_keys import tell_persons_apart
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.expressions import Column
from discreet.data.language.relations import Distinct, Named, Project
from discreet.errors import UnsupportedQuery
from discreet.queries.question.query import derived, filtered, united
from discreet.queries.sql.formulas.expressions import expression_of, unwrapped
from discreet.queries.sql.rows.from_clause import FromClause
from discreet.queries.sql.rows.lifted_subqueries import lifted_select
from discreet.queries.sql.rows.per_person import Item, per_person
from discreet.queries.sql.rows.windows import lifted_windows, window_of
from discreet.queries.sql.syntax.refusals import AcrossPersons, check_parts, refused, refused_node
from discreet.queries.sql.tables.scope import Field, FoundColumn, Scope

__all__ = ["subquery"]

_FIRST = (
    "which rows come first would depend on other people; number each person's own rows with "
    "ROW_NUMBER() OVER (PARTITION BY person ORDER BY ...) and keep number 1 in a query around it"
)
_CUTS = {
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
}
_PARTS = ("expressions", "from", "joins", "where", "group", "having", "distinct", "with", "hint", "qualify")


def subquery(node: exp.Expression, rows: FromClause) -> Scope:
    """Return the rows of a subquery and the names of its columns, or refuse it."""
    for part, words in _CUTS.items():
        if node.args.get(part):
            raise refused(f"{words} in a subquery", _FIRST)
    if type(node) is exp.Subquery:
        check_parts(node, "this")
        return subquery(node.this, rows)
    if type(node) is exp.Union:
        return _union(node, rows)
    if type(node) is not exp.Select:
        raise refused_node(node)
    check_parts(node, *_PARTS)
    inner = rows.within(node)
    node, scope = lifted_select(node, inner.of(node), inner)
    items = [_item(item) for item in node.expressions]
    aggregated = node.args.get("group") or node.args.get("having")
    aggregated = aggregated or any(_aggregates(one, node) for one, _ in items)
    if not aggregated:
        items, scope = _with_windows(node, items, scope, rows)
    found = per_person(node, items, scope, rows.tables) if aggregated else _selected(items, scope, rows)
    return _distinct(node, found, rows)


def _item(node: exp.Expression) -> tuple[exp.Expression, str | None]:
    if isinstance(node, exp.Alias):
        check_parts(node, "this", "alias")
        return unwrapped(node.this), str(node.alias)
    return unwrapped(node), None


def _aggregates(item: exp.Expression, select: exp.Select) -> bool:
    """Return whether an item of SELECT aggregates rows, rather than looking at them through a window."""
    return any(one.find_ancestor(exp.Select, exp.Window) is select for one in item.find_all(exp.AggFunc))


def _with_windows(
    select: exp.Select, items: list[Item], scope: Scope, rows: FromClause
) -> tuple[list[Item], Scope]:
    """Return items in which windows inside calculations are columns, and the rows that QUALIFY lets pass."""
    qualify, relation, found = select.args.get("qualify"), scope.relation, []
    for node, alias in items:
        lifted = node
        if node.find(exp.Window) and (type(node) is not exp.Window or qualify is not None):
            lifted, relation = lifted_windows(node, relation, scope, rows.tables)
        found.append((lifted, alias))
    if qualify is not None:
        check_parts(qualify, "this")
        named = {alias.lower(): node for node, alias in found if alias is not None}

        def meant(one: exp.Expression) -> exp.Expression:
            if not isinstance(one, exp.Column) or one.args.get("table") is not None or scope.has(one):
                return one
            known = named.get(one.name.lower())
            return one if known is None else exp.Paren(this=known.copy())

        condition, relation = lifted_windows(qualify.this, relation, scope, rows.tables)
        sight = Scope(relation=relation, fields=scope.fields)
        relation = filtered(relation, rows.condition(condition.transform(meant), sight))
    return found, Scope(relation=relation, fields=scope.fields)


def _selected(items: list[tuple[exp.Expression, str | None]], scope: Scope, rows: FromClause) -> Scope:
    """Return the columns of a SELECT without aggregates."""
    fields: list[Field] = []
    calculated: list[Named] = []
    starred = False
    relation = scope.relation
    for node, alias in items:
        if isinstance(node, exp.Star):
            check_parts(node)
            fields += scope.starred()
            starred = True
        elif type(node) is exp.Column and isinstance(node.this, exp.Star):
            fields += [field for field in scope.of_table(node.args["table"]) if not field.hidden]
        elif isinstance(node, exp.Column):
            field = scope.field(node)
            name = _named(alias) if isinstance(node, FoundColumn) else alias or field.name
            fields.append(Field(table="", name=name, column=field.column))
        elif type(node) is exp.Window:
            relation = window_of(node, _named(alias), relation, scope, rows.tables)
            fields.append(Field(table="", name=_named(alias), column=_named(alias)))
        else:
            expression = expression_of(node, scope.over(rows.tables))
            calculated.append(Named(name=_named(alias), expression=expression))
            fields.append(Field(table="", name=_named(alias), column=_named(alias)))
    plain = tuple(Field(table="", name=field.name, column=field.column) for field in fields)
    _check_apart(plain)
    if starred and all(field.name == field.column for field in plain):
        return Scope(relation=derived(relation, tuple(calculated)), fields=plain)
    known = {column.name: column.expression for column in calculated}
    columns = tuple(
        Named(name=field.name, expression=known.get(field.column, Column(name=field.column)))
        for field in plain
    )
    fresh = tuple(Field(table="", name=field.name, column=field.name) for field in plain)
    return Scope(relation=Project(source=relation, columns=columns), fields=fresh)


def _named(alias: str | None) -> str:
    if not alias:
        raise UnsupportedQuery("a calculated column of a subquery has no name; give it one with AS")
    return alias


def _check_apart(fields: tuple[Field, ...]) -> None:
    if len({field.name.lower() for field in fields}) != len(fields):
        raise UnsupportedQuery(
            "two columns of a subquery have the same name, apart from case; give them different names with AS"
        )


def _distinct(select: exp.Select, scope: Scope, rows: FromClause) -> Scope:
    clause = select.args.get("distinct")
    if clause is None:
        return scope
    if clause.args.get("on"):
        raise refused("DISTINCT ON", _FIRST)
    if not tell_persons_apart((field.column for field in scope.fields), scope.relation, rows.tables):
        raise AcrossPersons(
            *refused(
                "DISTINCT without the person",
                "whether a row is present would depend on other people; select the person column, too: "
                "SELECT DISTINCT person, x",
            ).args
        )
    exact = scope.exact(columns=iter(columns_of_relation(scope.relation, rows.tables)))
    return Scope(relation=Distinct(source=exact.relation), fields=exact.fields)


def _union(node: exp.Union, rows: FromClause) -> Scope:
    """Return rows under each other, in the order of SELECT, by the names of the first."""
    rows = rows.within(node)
    parts: list[exp.Expression] = []
    one: exp.Expression = node
    while type(one) is exp.Union:
        check_parts(one, "this", "expression", "distinct", *(("with",) if one is node else ()))
        if one.args.get("distinct"):
            raise refused(
                "UNION without ALL",
                "whether a row is present would depend on other people; write UNION ALL, and SELECT DISTINCT "
                "with the person around it",
            )
        parts.append(one.expression)
        one = one.this
    scopes = [subquery(part, rows) for part in (one, *reversed(parts))]
    names = tuple(field.name for field in scopes[0].fields)
    if any(len(scope.fields) != len(names) for scope in scopes):
        raise UnsupportedQuery("UNION ALL joins rows of different width; select as many columns in each part")
    exact = [
        scope.exact(names, columns=iter(columns_of_relation(scope.relation, rows.tables))) for scope in scopes
    ]
    fields = tuple(Field(table="", name=name, column=name) for name in names)
    return Scope(relation=united(scope.relation for scope in exact), fields=fields)
