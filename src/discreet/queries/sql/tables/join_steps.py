"""FROM as it was written: a list of steps, each of which joins one more table or subquery.

Commas, CROSS JOIN, parentheses and RIGHT JOIN are ways of writing the same few things. With × for all pairs,
σ for rows that meet a condition and ⟕ for LEFT JOIN, row for row:

- A, B and A CROSS JOIN B are A × B; A JOIN B ON q is σ_q(A × B);
- A JOIN (B JOIN C ON p) ON q is σ_q(σ_p(A × B × C)), and LEFT JOINs inside the parentheses stay what they
  are, since what they equate is inside, too;
- A RIGHT JOIN B ON q is B LEFT JOIN A ON q;
- NATURAL is USING with the names that both sides have.

What remains are steps of four kinds: inner, left, semi and anti. `join_order` finds an order in which the
language can join them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from sqlglot import exp

from discreet.data.language.types import Type
from discreet.queries.sql.syntax.names import column_named, same
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.joins import PublicItem, conjuncts
from discreet.queries.sql.tables.scope import Field, Scope, ambiguous, is_quoted, preferred
from discreet.records import dataclass

__all__ = ["FromItem", "JoinKind", "JoinStep", "StepReader", "Using", "fields_of", "owners"]


class JoinKind(StrEnum):
    """What becomes of a row of the left and the rows of the right that it matches."""

    INNER = "inner"
    LEFT = "left"
    SEMI = "semi"
    ANTI = "anti"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FromItem:
    """What FROM names at one place: private rows, or a public table."""

    rows: Scope | PublicItem
    place: int
    node: exp.Expression | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its columns, by the names that they have in FROM."""
        return fields_of(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Using:
    """Columns of one name that USING makes one."""

    left: FromItem
    right: FromItem
    name: exp.Identifier


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JoinStep:
    """One more item.

    Attributes
    ----------
    item : FromItem
        What is joined.
    kind : JoinKind
        How; the first step of a FROM is an inner one without conditions.
    on : tuple of sqlglot expressions
        What ON says, cut at every AND.
    using : tuple of Using
        What USING equates.
    join : sqlglot Join, optional
        The clause, where it is one that `joins` reads as it is.
    """

    item: FromItem
    kind: JoinKind = JoinKind.INNER
    on: tuple[exp.Expression, ...] = ()
    using: tuple[Using, ...] = ()
    join: exp.Join | None = None


_KINDS = {"SEMI": JoinKind.SEMI, "ANTI": JoinKind.ANTI}
_KNOWN = "write JOIN or LEFT JOIN"

ReadItem = Callable[[exp.Expression], "Scope | PublicItem"]
ReadGroup = Callable[[Sequence[JoinStep]], Scope]
JoinFully = Callable[["Scope | PublicItem", "Scope | PublicItem", exp.Join], Scope]


class StepReader:
    """Reads FROM and JOIN.

    Parameters
    ----------
    item : callable
        Reads a table or a subquery.
    group : callable
        Joins several steps, which are the side of an outer join together.
    full : callable
        Joins two items so that the rows of both stay.
    """

    def __init__(self, item: ReadItem, group: ReadGroup, full: JoinFully) -> None:
        self._item, self._group, self._full, self._places = item, group, full, 0

    def steps(self, first: exp.Expression, joins: Sequence[exp.Join]) -> list[JoinStep]:
        """Return the steps of a FROM clause, in the order in which they were written."""
        steps = self._operand(first)
        for join in joins:
            steps = self._joined(steps, join)
        return steps

    def _operand(self, node: exp.Expression) -> list[JoinStep]:
        """Return the steps of one operand of a join, which may be a join in parentheses."""
        joins = node.args.get("joins") or ()
        if joins:
            bare = node.copy()
            bare.set("joins", None)
            return self.steps(bare, joins)
        if _holds_tables(node):
            check_parts(node, "this", "alias")
            return self._parenthesized(node)
        place = self._places
        self._places += 1
        return [JoinStep(item=FromItem(rows=self._item(node), place=place, node=node))]

    def _parenthesized(self, node: exp.Expression) -> list[JoinStep]:
        alias, steps = node.args.get("alias"), self._operand(node.this)
        if alias is None:
            return steps
        check_parts(alias, "this")
        one = self._as_item(steps)
        rows: Scope | PublicItem
        if isinstance(one.rows, PublicItem):
            rows = replace(one.rows, alias=str(alias.name))
        else:
            rows = one.rows.called(str(alias.name))
        return [JoinStep(item=FromItem(rows=rows, place=one.place, node=one.node))]

    def _joined(self, steps: list[JoinStep], join: exp.Join) -> list[JoinStep]:
        check_parts(join, "this", "on", "using", "side", "kind", "method")
        side, kind, method = (str(join.args.get(part) or "").upper() for part in ("side", "kind", "method"))
        if method not in {"", "NATURAL"}:
            raise refused(f"{method} JOIN", "write JOIN ... ON with the columns that are equal")
        if side == "FULL":
            if method or kind not in {"", "OUTER"}:
                raise refused("FULL JOIN of this kind", "write FULL JOIN ... ON or USING")
            return [self._full_join(steps, self._operand(join.this), join)]
        if kind not in {"", "INNER", "OUTER", "CROSS", *_KINDS} or side not in {"", "LEFT", "RIGHT"}:
            raise refused(f"{side} {kind} JOIN".strip(), _KNOWN)
        right = self._operand(join.this)
        said = tuple(_said(join))
        conditions = tuple(node for node in said if not (type(node) is exp.Boolean and node.this))
        clause = None if method or kind == "CROSS" or len(conditions) < len(said) else join
        using = tuple(self._using(join, steps, right, natural=method == "NATURAL"))
        if kind in _KINDS:
            if side == "RIGHT":
                raise refused(f"RIGHT {kind} JOIN", f"begin FROM with the table whose rows stay: {kind} JOIN")
            return [*steps, self._outer(right, _KINDS[kind], conditions, using)]
        if side == "RIGHT":
            one = self._outer(steps, JoinKind.LEFT, conditions, ())
            mirrored = tuple(Using(left=part.right, right=one.item, name=part.name) for part in using)
            return [*right, replace(one, using=mirrored)]
        if side == "LEFT":
            plain = clause if len(right) == 1 else None
            return [*steps, self._outer(right, JoinKind.LEFT, conditions, using, plain)]
        return [*steps, *_inner(right, conditions, using, clause)]

    def _full_join(self, left: list[JoinStep], right: list[JoinStep], join: exp.Join) -> JoinStep:
        items = self._as_item(left), self._as_item(right)
        rows = self._full(items[0].rows, items[1].rows, join)
        return JoinStep(item=FromItem(rows=rows, place=min(item.place for item in items)))

    def _outer(
        self,
        right: list[JoinStep],
        kind: JoinKind,
        conditions: tuple[exp.Expression, ...],
        using: tuple[Using, ...],
        join: exp.Join | None = None,
    ) -> JoinStep:
        return JoinStep(item=self._as_item(right), kind=kind, on=conditions, using=using, join=join)

    def _as_item(self, steps: list[JoinStep]) -> FromItem:
        """Return several steps as one item: the side of an outer join, or what parentheses name."""
        if len(steps) == 1:
            return steps[0].item
        if not any(isinstance(step.item.rows, Scope) for step in steps):
            raise refused(
                "a join of public tables in parentheses here", "join them to the private rows one by one"
            )
        return FromItem(rows=self._group(steps), place=min(step.item.place for step in steps))

    def _using(
        self, join: exp.Join, left: list[JoinStep], right: list[JoinStep], *, natural: bool
    ) -> Iterator[Using]:
        named = list(join.args.get("using") or ())
        if natural:
            named = [exp.to_identifier(name, quoted=False) for name in _common(left, right)]
        for name in named:
            if not isinstance(name, exp.Identifier):
                raise refused(
                    "USING with something other than names", "write ON with the columns that are equal"
                )
            yield Using(left=_home(left, name), right=_home(right, name), name=name)


def _holds_tables(node: exp.Expression) -> bool:
    """Return whether there are tables in some parentheses, rather than a SELECT."""
    while type(node) is exp.Subquery:
        node = node.this
        if type(node) is exp.Table or (type(node) is exp.Subquery and node.args.get("joins")):
            return True
    return False


def _inner(
    right: list[JoinStep],
    conditions: tuple[exp.Expression, ...],
    using: tuple[Using, ...],
    join: exp.Join | None,
) -> list[JoinStep]:
    """Return the steps of the right with what joins them to the left; the first carries it."""
    first = right[0]
    plain = join if len(right) == 1 else None
    return [
        replace(first, on=(*conditions, *first.on), using=(*using, *first.using), join=plain),
        *right[1:],
    ]


def _common(left: list[JoinStep], right: list[JoinStep]) -> Iterator[str]:
    """Yield the names that both sides have, in the order of the left."""
    others = {field.name.lower() for step in right for field in step.item.fields if not field.hidden}
    seen: set[str] = set()
    for step in left:
        for field in step.item.fields:
            if field.name.lower() in others - seen and not field.hidden:
                seen.add(field.name.lower())
                yield field.name


def _home(steps: Sequence[JoinStep], name: exp.Identifier) -> FromItem:
    """Return the item whose column a name of USING is, or refuse a name that fits none or several."""
    found = owners(exp.Column(this=name.copy()), steps)
    if not found:
        names = [field.name for step in steps for field in step.item.fields]
        column_named(name.name, quoted=is_quoted(name), schema=dict.fromkeys(names, Type.OTHER))
    if len(found) > 1:
        raise ambiguous()
    return found[0]


def owners(node: exp.Column, steps: Sequence[JoinStep]) -> list[FromItem]:
    """Return the items that a column may be of; one that USING made one with another is that other's."""
    qualifier, name = node.args.get("table"), node.this
    if not isinstance(name, exp.Identifier):
        return []
    found = [
        (field, step.item)
        for step in steps
        for field in step.item.fields
        if same(name.name, quoted=is_quoted(name), other=field.name)
        and (_is_of(field, qualifier) if qualifier else not _is_merged(field, step.item, steps))
    ]
    meant = preferred([field for field, _ in found])
    return list(dict.fromkeys(item for field, item in found if field in meant))


def _is_of(field: Field, table: exp.Identifier) -> bool:
    return bool(field.table) and same(table.name, quoted=is_quoted(table), other=field.table)


def _is_merged(field: Field, item: FromItem, steps: Sequence[JoinStep]) -> bool:
    return field.qualified or any(
        part.right is item and same(part.name.name, quoted=is_quoted(part.name), other=field.name)
        for step in steps
        for part in step.using
    )


def fields_of(rows: Scope | PublicItem) -> tuple[Field, ...]:
    """Return the columns of an item of FROM."""
    if isinstance(rows, Scope):
        return rows.fields
    return tuple(Field(table=rows.alias, name=name, column=name) for name in rows.public.schema)


def _said(join: exp.Join) -> Iterator[exp.Expression]:
    return iter(()) if join.args.get("on") is None else conjuncts(join.args["on"])
