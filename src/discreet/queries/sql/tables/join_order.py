"""In which order the items of FROM are joined: private rows first, each item when something connects it.

FROM with inner items I, LEFT JOINs and conditions means σ_Q(… (× I) ⟕ …), Q being what WHERE and the ON of
inner joins say. Row for row this does not depend on the order in which items come, as long as

- an item of a LEFT, SEMI or ANTI JOIN comes after those that its ON names: (A ⟕_p B) × C = (A × C) ⟕_p B
  if p says nothing about C;
- a condition comes after the items that it is about: σ_q(A ⟕_p B) = σ_q(A) ⟕_p B if q says nothing about B.

So any order will do in which the first item is private, a private item is joined on the person and a public
one by equal columns or, failing those, in all pairs. It is looked for in the order of writing: first by what
ON and USING say, then with what WHERE says. What is not used for joining remains a condition. A FROM
that needs none of this is left as it was written.

SEMI JOIN keeps a row of the left once if it has a match: it is a join with the matching columns of
each person, once. ANTI JOIN keeps it if it has none: a LEFT JOIN in which what was equated is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from discreet.data.facts.persons import Tables, person_columns
from discreet.data.language.expressions import Expression
from discreet.data.language.relations import PerPerson
from discreet.queries.question.query import filtered
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.syntax.names import same
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.join_steps import FromItem, JoinKind, JoinStep, Using, owners
from discreet.queries.sql.tables.joins import PublicItem, conjuncts
from discreet.queries.sql.tables.key_joins import children_first, meet_by_keys
from discreet.queries.sql.tables.public_subquery import narrowed_item
from discreet.queries.sql.tables.scope import Field, Scope, is_quoted
from discreet.records import dataclass

__all__ = ["JoinOrder", "Placed", "arrange"]

ReadCondition = Callable[[exp.Expression, Scope], Expression]

_MIXED = "equate columns of either side, and put other conditions beside them"
_LONE = (
    "rows of a public table that no private row matches belong to nobody; write JOIN: the keys of a public "
    "table are all in the answer, also those without rows"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A join as `joins` reads it, with what it joins.

    Of an ANTI JOIN, `missing` is a column that is NULL where nothing was found. `rest` are conditions of an
    outer join besides equal columns.
    """

    join: exp.Join
    item: FromItem
    rows: Scope | PublicItem
    kind: JoinKind
    missing: Field | None = None
    rest: tuple[exp.Expression, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinOrder:
    """A FROM clause in an order in which it can be joined.

    Attributes
    ----------
    first : Scope
        The private rows that come first.
    joins : tuple of Placed
        What is joined to them, in order.
    select : sqlglot Select
        The SELECT with its joins and its WHERE in this form; `joins` looks in it for the columns called.
    where : sqlglot expression, optional
        The condition that remains.
    """

    first: Scope
    joins: tuple[Placed, ...]
    select: exp.Select
    where: exp.Expression | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Link:
    """Two columns of two items that are equal."""

    ends: tuple[FromItem, FromItem]
    said: exp.Expression | Using
    in_where: bool = False

    def joins(self, item: FromItem, placed: Sequence[FromItem]) -> bool:
        """Return whether it connects an item with those before it."""
        one, other = self.ends
        return (one is item and other in placed) or (other is item and one in placed)


def arrange(
    steps: Sequence[JoinStep],
    select: exp.Select,
    tables: Tables,
    condition: ReadCondition,
    *,
    whole: bool = True,
) -> JoinOrder:
    """Return an order for steps as they were written, or refuse them.

    Parameters
    ----------
    steps : sequence of JoinStep
        What FROM says.
    select : sqlglot Select
        The SELECT around it.
    tables : mapping of names to tables
        The declared tables.
    condition : callable
        Reads a condition about some rows.
    whole : bool
        Whether these are all steps of the SELECT, so that its WHERE is about them.
    """
    return _Order(steps, select, tables, condition, whole).arrangement()


class _Order:
    """The search for an order, and what is found."""

    def __init__(
        self,
        steps: Sequence[JoinStep],
        select: exp.Select,
        tables: Tables,
        condition: ReadCondition,
        whole: bool,
    ) -> None:
        self._steps, self._select, self._tables, self._condition = steps, select, tables, condition
        clause = select.args.get("where") if whole else None
        if clause is not None:
            check_parts(clause, "this")
        self._where = None if clause is None else clause.this
        self._whole = whole
        inner = [step for step in steps if step.kind is JoinKind.INNER]
        self._said = [node for step in inner for node in step.on]
        self._asked = [] if self._where is None else list(conjuncts(self._where))
        self._links = [
            *(_Link(ends=(part.left, part.right), said=part) for step in inner for part in step.using),
            *self._equalities(self._said, in_where=False),
            *self._equalities(self._asked, in_where=True),
        ]
        self._used: set[int] = set()
        self._placed: list[FromItem] = []
        self._kept: list[FromItem] = []
        self._nulls: list[exp.Expression] = []

    def arrangement(self) -> JoinOrder:
        """Place every step."""
        first = self._first()
        remaining = [step for step in self._steps if step is not first]
        self._placed, self._kept, found = [first.item], [first.item], []
        while remaining:
            step = self._next(remaining)
            remaining.remove(step)
            found.append(self._place(step))
        assert isinstance(first.item.rows, Scope)  # noqa: S101
        if self._is_as_written(found):
            return JoinOrder(
                first=first.item.rows, joins=tuple(found), select=self._select, where=self._where
            )
        where = _conjunction(node.copy() for node in self._rest())
        select = self._rewritten(first, found, where)
        return JoinOrder(first=first.item.rows, joins=tuple(found), select=select, where=where)

    def _first(self) -> JoinStep:
        """Return the first private step to which no other belongs."""
        private = [
            step for step in self._steps if step.kind is JoinKind.INNER and isinstance(step.item.rows, Scope)
        ]
        if not private:
            raise refused("a public table whose rows all stay", _LONE)
        wanted = children_first([step.item for step in private], self._tables)
        return next(step for step in private if step.item is wanted)

    def _next(self, remaining: list[JoinStep]) -> JoinStep:
        """Return the first step that the items before it allow; if there is none, the first, to refuse it."""
        for in_where in (False, True):
            for step in remaining:
                if step.kind is not JoinKind.INNER:
                    if self._needs(step) <= {id(item) for item in self._placed}:
                        return step
                elif self._connects(step.item, self._linked(step.item, in_where=in_where)):
                    return step
        return next((step for step in remaining if isinstance(step.item.rows, PublicItem)), remaining[0])

    def _needs(self, step: JoinStep) -> set[int]:
        named = [item for node in step.on for column in _columns(node) for item in self._owners(column, step)]
        return {id(item) for item in (*named, *(part.left for part in step.using)) if item is not step.item}

    def _owners(self, column: exp.Column, asking: JoinStep | None = None) -> list[FromItem]:
        """Return the items that a column may be of; only its own ON names that of a SEMI or ANTI JOIN."""
        seen = [
            step for step in self._steps if step is asking or step.kind not in {JoinKind.SEMI, JoinKind.ANTI}
        ]
        return owners(column, seen)

    def _equalities(
        self, nodes: Sequence[exp.Expression], *, in_where: bool, asking: JoinStep | None = None
    ) -> Iterator[_Link]:
        """Yield what equates columns of two items."""
        for node in nodes:
            ends = [self._owners(side, asking) for side in _sides(node)]
            if len(ends) == 2 and len(ends[0]) == len(ends[1]) == 1 and ends[0][0] is not ends[1][0]:
                yield _Link(ends=(ends[0][0], ends[1][0]), said=node, in_where=in_where)

    def _linked(self, item: FromItem, *, in_where: bool) -> list[_Link]:
        return [
            link for link in self._links if (in_where or not link.in_where) and link.joins(item, self._placed)
        ]

    def _connects(self, item: FromItem, links: list[_Link]) -> bool:
        """Return whether links are enough to join an item: any to a public one, the person to a private."""
        if isinstance(item.rows, PublicItem):
            return bool(links)
        if any(all(self._is_person(end, link) for end in link.ends) for link in links):
            return True
        pairs = [
            (one, end, other)
            for link in links
            for end in link.ends
            if end is not item
            for one in _named(item, link.said)
            for other in _named(end, link.said)
        ]
        return meet_by_keys(item, pairs, self._tables)

    def _is_person(self, item: FromItem, link: _Link) -> bool:
        if not isinstance(item.rows, Scope) or not (item in self._kept or item not in self._placed):
            return False
        persons = person_columns(item.rows.relation, self._tables)
        return any(field.column in persons for field in _named(item, link.said))

    def _place(self, step: JoinStep) -> Placed:
        rows, side, missing = step.item.rows, None, None
        rest: tuple[exp.Expression, ...] = ()
        if step.kind is JoinKind.INNER:
            own = self._linked(step.item, in_where=False)
            enough = self._connects(step.item, own)
            links = own if enough else self._linked(step.item, in_where=True)
            self._used |= {id(link.said) for link in links}
            self._kept.append(step.item)
        else:
            links, rows, missing, rest = self._outer(step)
            side = None if step.kind is JoinKind.SEMI else "LEFT"
        self._placed.append(step.item)
        said = [link.said for link in links]
        join = exp.Join(
            this=None if step.item.node is None else step.item.node.copy(),
            on=_conjunction(one.copy() for one in said if isinstance(one, exp.Expression)),
            using=[part.name.copy() for part in said if isinstance(part, Using)] or None,
            side=side,
        )
        if step.join is not None and rows is step.item.rows and _says(step, said):
            join = step.join
        return Placed(join=join, item=step.item, rows=rows, kind=step.kind, missing=missing, rest=rest)

    def _outer(
        self, step: JoinStep
    ) -> tuple[list[_Link], Scope | PublicItem, Field | None, tuple[exp.Expression, ...]]:
        """Return what a LEFT, SEMI or ANTI JOIN equates, its rows of the right, and its other conditions."""
        links = [_Link(ends=(part.left, part.right), said=part) for part in step.using]
        equal = {id(link.said): link for link in self._equalities(step.on, in_where=False, asking=step)}
        rows, rest = step.item.rows, []
        for node in step.on:
            link = equal.get(id(node))
            homes = {id(item) for column in _columns(node) for item in self._owners(column, step)}
            if link is not None and step.item in link.ends:
                links.append(link)
            elif homes == {id(step.item)}:
                rows = self._narrowed(rows, node)
            elif step.kind is JoinKind.SEMI and id(step.item) not in homes:
                self._said.append(node)
            else:
                rest.append(node)
        if not links:
            raise refused(f"{step.kind.upper()} JOIN without columns that are equal", _MIXED)
        named = [field for link in links for field in _named(step.item, link.said)]
        if step.kind is JoinKind.SEMI and not rest:
            rows = _once(rows, named)
        if step.kind is not JoinKind.ANTI:
            return links, rows, None, tuple(rest)
        self._nulls.append(_is_null(named[0]))
        return links, rows, named[0], tuple(rest)

    def _narrowed(self, rows: Scope | PublicItem, node: exp.Expression) -> Scope | PublicItem:
        if isinstance(rows, PublicItem):
            return narrowed_item(rows, where=node)
        return Scope(relation=filtered(rows.relation, self._condition(node, rows)), fields=rows.fields)

    def _rest(self) -> list[exp.Expression]:
        return [node for node in (*self._said, *self._asked) if id(node) not in self._used]

    def _is_as_written(self, found: list[Placed]) -> bool:
        order = [self._steps[0].item, *(one.item for one in found)]
        return (
            [step.item for step in self._steps][: len(order)] == order
            and self._placed[0] is order[0]
            and all(one.join is step.join for one, step in zip(found, self._steps[1:], strict=True))
            and all(one.kind in {JoinKind.INNER, JoinKind.LEFT} for one in found)
            and all(id(node) in self._used for node in self._said)
            and not any(id(node) in self._used for node in self._asked)
        )

    def _rewritten(self, first: JoinStep, found: list[Placed], where: exp.Expression | None) -> exp.Select:
        if not self._whole:
            return self._select
        select = self._select.copy()
        for part in ("from", "from_", "joins", "where"):
            select.set(part, None)
        if first.item.node is not None:
            select.set("from_", exp.From(this=first.item.node.copy()))
        select.set("joins", [placed.join for placed in found])
        called = _conjunction(node.copy() for node in (*(() if where is None else (where,)), *self._nulls))
        if called is not None:
            select.set("where", exp.Where(this=called))
        return select


def _sides(node: exp.Expression) -> list[exp.Column]:
    """Return the columns that a condition equates; none if it is another one."""
    if type(node) is not exp.EQ:
        return []
    check_parts(node, "this", "expression")
    sides = [unwrapped(node.this), unwrapped(node.expression)]
    columns = [side for side in sides if isinstance(side, exp.Column)]
    return columns if len(columns) == 2 else []


def _columns(node: exp.Expression) -> Iterator[exp.Column]:
    """Yield the columns that a condition names outside subqueries."""
    for one in node.walk(prune=lambda part: isinstance(part, exp.Query)):
        if type(one) is exp.Column:
            yield one


def _named(item: FromItem, said: exp.Expression | Using) -> list[Field]:
    """Return the columns of an item that USING or an equality names."""
    if isinstance(said, Using):
        names = [(None, said.name)]
    else:
        names = [(side.args.get("table"), side.this) for side in _sides(said)]
    return [
        field
        for qualifier, name in names
        for field in item.fields
        if same(name.name, quoted=is_quoted(name), other=field.name)
        and (qualifier is None or same(qualifier.name, quoted=is_quoted(qualifier), other=field.table))
    ]


def _says(step: JoinStep, said: Sequence[exp.Expression | Using]) -> bool:
    """Return whether a join equates what its clause says, and nothing else."""
    return {id(one) for one in said} == {id(one) for one in (*step.on, *step.using)}


def _once(rows: Scope | PublicItem, named: Sequence[Field]) -> Scope | PublicItem:
    """Return the rows that a SEMI JOIN looks for: what it equates, once for each person."""
    if isinstance(rows, PublicItem):
        kinds = rows.public.schema
        if rows.public.is_unique((field.column, kinds[field.column].is_number) for field in named):
            return rows
        return narrowed_item(rows, columns=tuple(dict.fromkeys(field.column for field in named)))
    fields = tuple(dict.fromkeys(named))
    keys = tuple(dict.fromkeys(field.column for field in fields))
    return Scope(relation=PerPerson(source=rows.relation, keys=keys, columns=()), fields=fields)


def _is_null(field: Field) -> exp.Expression:
    if not field.table:
        raise refused("an ANTI JOIN with a subquery that has no name", "give it one, as in (SELECT ...) AS x")
    table = exp.to_identifier(field.table, quoted=True)
    return exp.Is(
        this=exp.Column(this=exp.to_identifier(field.name, quoted=True), table=table), expression=exp.Null()
    )


def _conjunction(nodes: Iterator[exp.Expression]) -> exp.Expression | None:
    found: exp.Expression | None = None
    for node in nodes:
        found = node if found is None else exp.And(this=found, expression=node)
    return found
