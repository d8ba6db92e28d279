"""JOIN in SQL: of public tables by any columns, of private ones by the person.

Rows of two private tables may meet only if they belong to one person, so ON must equate the person
columns of both sides, or the keys of one parent row by declared foreign keys. A public table may be joined by
any columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from discreet.data.facts.foreign_keys import are_of_one_person, foreign_keys, shared_key
from discreet.data.facts.persons import Tables, has_person, no_person, person_columns
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.public_rows import PublicRows
from discreet.data.language.relations import Equality, JoinPersons, JoinPublic, Relation
from discreet.data.language.types import Type
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery
from discreet.queries.question.per_person import take_name
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.syntax.names import same
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.scope import Field, Scope, is_quoted
from discreet.records import dataclass

__all__ = ["PublicItem", "conjuncts", "equated_fields", "join_rows", "without_person"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicItem:
    """A public table in FROM: its declared name or calculated rows, and its name in FROM."""

    table: str | PublicRows
    alias: str
    public: PublicTable


def join_rows(
    left: Scope, join: exp.Join, right: Scope | PublicItem, select: exp.Select, tables: Tables
) -> Scope:
    """Return the rows of a join, or refuse it.

    Parameters
    ----------
    left : Scope
        What is before JOIN.
    join : sqlglot Join
        JOIN or LEFT JOIN, by columns that are equal; of a public table without any, all pairs.
    right : Scope or PublicItem
        The table or subquery that it names.
    select : sqlglot Select
        The SELECT around it, which may call columns of the right.
    tables : mapping of names to tables
        The declared tables.
    """
    check_parts(join, "this", "on", "using", "side", "kind", "method")
    outer = str(join.args.get("side") or "").upper() == "LEFT"
    kinds = _right_types(right, tables)
    fields = _right_fields(right, kinds)
    pairs = equated_fields(join, left, Scope(relation=left.relation, fields=fields))
    persons = person_columns(right.relation, tables) if isinstance(right, Scope) else frozenset()
    further = without_person(pairs, left, right, tables) if isinstance(right, Scope) else pairs
    known = columns_of_relation(left.relation, tables)
    merged = (
        {}
        if outer
        else {
            other.column: one.column for one, other in pairs if known[one.column].type is kinds[other.column]
        }
    )
    apart = {other.column for _, other in pairs} | persons
    called = _Mentions(select, join, left, apart)
    lower = {name.lower() for name in known}
    sight, brought = list(left.fields), []
    for field in fields:
        column = merged.get(field.column)
        if column is None:
            if (field.column in apart or field.name.lower() in lower) and not called.mentions(field):
                continue
            column = take_name(field.name, lower)
            brought.append(Equality(left=column, right=field.column))
        sight.append(replace(field, column=column, qualified=called.uses(field)))
    on = tuple(Equality(left=one.column, right=other.column) for one, other in further)
    usual = tuple(
        Equality(left=name, right=name)
        for name in kinds
        if name not in persons and name not in {part.right for part in on}
    )
    columns = None if tuple(brought) == usual else tuple(brought)
    relation: Relation
    if isinstance(right, Scope):
        relation = JoinPersons(left=left.relation, right=right.relation, on=on, columns=columns, outer=outer)
    else:
        relation = JoinPublic(source=left.relation, table=right.table, on=on, columns=columns, outer=outer)
    return Scope(relation=relation, fields=tuple(sight))


def _right_types(right: Scope | PublicItem, tables: Tables) -> dict[str, Type]:
    if isinstance(right, PublicItem):
        return dict(right.public.schema)
    return {name: facts.type for name, facts in columns_of_relation(right.relation, tables).items()}


def _right_fields(right: Scope | PublicItem, kinds: Mapping[str, Type]) -> tuple[Field, ...]:
    if isinstance(right, Scope):
        return right.fields
    return tuple(Field(table=right.alias, name=name, column=name) for name in kinds)


def equated_fields(join: exp.Join, left: Scope, right: Scope) -> list[tuple[Field, Field]]:
    """Return the columns that a join equates, of the left and of the right."""
    listed = []
    for identifier in join.args.get("using") or ():
        if not isinstance(identifier, exp.Identifier):
            raise refused("USING with something other than names", "write ON with the columns that are equal")
        node = exp.Column(this=identifier)
        listed.append((left.field(node), right.field(node)))
    if join.args.get("on") is not None:
        listed += [_pair(node, left, right) for node in conjuncts(join.args["on"])]
    return list(dict.fromkeys(listed))


def conjuncts(node: exp.Expression) -> Iterator[exp.Expression]:
    """Yield what a condition says, cut at every AND."""
    pending = [node]
    while pending:
        one = unwrapped(pending.pop())
        if type(one) is exp.And:
            check_parts(one, "this", "expression")
            pending += [one.expression, one.this]
        else:
            yield one


def _pair(node: exp.Expression, left: Scope, right: Scope) -> tuple[Field, Field]:
    sides: list[Any] = [unwrapped(node.this), unwrapped(node.expression)] if type(node) is exp.EQ else []
    if not sides or not all(type(side) is exp.Column for side in sides):
        raise refused(
            "ON with something other than equal columns",
            "put other conditions into WHERE or, for LEFT JOIN, into a subquery on the right",
        )
    check_parts(node, "this", "expression")
    both = Scope(relation=left.relation, fields=(*left.fields, *right.fields))
    found = [both.field(side) for side in sides]
    for one, other in (found, reversed(found)):
        if one in left.fields and other in right.fields:
            return one, other
    raise refused(
        "ON that equates two columns of one side",
        "equate a column of either side, and put the rest into WHERE",
    )


def without_person(
    pairs: list[tuple[Field, Field]], left: Scope, right: Scope, tables: Tables
) -> list[tuple[Field, Field]]:
    """Return the further pairs of a join of private rows, if they equate persons or keys of parent rows."""
    if not (has_person(left.relation, tables) and has_person(right.relation, tables)):
        raise no_person("a join of private tables")
    owners = person_columns(left.relation, tables), person_columns(right.relation, tables)
    further = [
        (one, other) for one, other in pairs if not (one.column in owners[0] and other.column in owners[1])
    ]
    equal = [(one.column, other.column) for one, other in pairs]
    held = foreign_keys(left.relation, tables), foreign_keys(right.relation, tables)
    if len(further) == len(pairs) and not are_of_one_person(equal, *held):
        names = [min(columns) if columns else "person" for columns in owners]
        equated = shared_key(*held) or (tuple(names),)
        written = " AND ".join(f"a.{one} = b.{other}" for one, other in equated)
        lost = not (all(owners) or shared_key(*held))
        selected = ", and select the person's own column in subqueries, as it is" if lost else ""
        raise UnsupportedQuery(
            "a JOIN of private tables lets rows of different persons meet; equate the persons of both sides, "
            f"as in ON {written}{selected}"
        )
    return further


class _Mentions:
    """Which columns the SELECT around a join calls, outside the join itself."""

    def __init__(self, select: exp.Select, join: exp.Join, left: Scope, equated: set[str]) -> None:
        inside = {id(node) for node in join.walk()}
        self._nodes = [node for node in select.find_all(exp.Column) if id(node) not in inside]
        self._starred = any(isinstance(item, exp.Star) for item in select.expressions)
        self._using = [one for one in join.args.get("using") or () if isinstance(one, exp.Identifier)]
        self._left = left
        self._equated = equated

    def uses(self, field: Field) -> bool:
        """Return whether USING makes a column one with that of the left."""
        return any(same(one.name, quoted=is_quoted(one), other=field.name) for one in self._using)

    def mentions(self, field: Field) -> bool:
        """Return whether a column of the right is called."""
        if self._starred and not self.uses(field):
            return True
        return any(self._means(node, field) for node in self._nodes)

    def _means(self, node: exp.Column, field: Field) -> bool:
        qualifier = node.args.get("table")
        if qualifier is None:  # a name that fits both sides is refused, unless both are equal
            called = field.column not in self._equated or not self._left.has(node)
        else:
            called = same(qualifier.name, quoted=is_quoted(qualifier), other=field.table)
        if isinstance(node.this, exp.Star):
            return called and qualifier is not None
        return called and same(node.name, quoted=is_quoted(node.this), other=field.name)
