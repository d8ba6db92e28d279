"""IN, EXISTS and scalar subqueries about rows of the same person, or about public rows, as columns.

A subquery inside an expression becomes a column of the rows around it:

- rows inside that are connected by equal columns, the persons among them, are joined once for each
  combination (`PerPerson`), so that no row around is doubled;
- if there are other conditions about both, the rows around are numbered within their person, joined,
  filtered, and the numbers that are left are joined back.

EXISTS is whether something was found. ``x IN (SELECT e ...)`` is EXISTS with ``e = x``; where it is not a
condition that every row must meet, it is NULL if nothing equals x, and x or some e is NULL: as SQL says. A
scalar subquery is an aggregate per person, NULL (COUNT: 0) where there are no rows.

Rows of different persons never meet: a subquery on private rows must equate the persons. (Proof: own_rows.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.data.facts.foreign_keys import are_of_one_person, foreign_keys
from discreet.data.facts.persons import has_person, no_person, person_columns
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.relations import (
    Equality,
    JoinPersons,
    JoinPublic,
    PerPerson,
    Relation,
)
from discreet.queries.question.per_person import take_name
from discreet.queries.question.query import filtered
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.rows.inside_subquery import (
    EqualPair,
    Inside,
    RowReader,
    aggregates,
    columns_in,
    is_about_row,
    read_inside,
    select_of,
)
from discreet.queries.sql.rows.per_person import per_person
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.full_joins import numbered_rows
from discreet.queries.sql.tables.joins import PublicItem
from discreet.queries.sql.tables.public_subquery import narrowed_item, public_items
from discreet.queries.sql.tables.scope import Field, FoundColumn, Scope

__all__ = ["Lifting", "lifted_select"]

_PERSONS = (
    "equate the persons of both, as in WHERE d.patient = v.patient, or list the values, as in x IN ('a', 'b')"
)
_SIMPLE = (
    "write EXISTS (SELECT 1 FROM ... WHERE ...), or person IN (SELECT person FROM ... GROUP BY person "
    "HAVING ...)"
)
_NOT_EXISTS = "write NOT EXISTS (SELECT 1 FROM ... WHERE ...)"
_NULL = exp.Null()


def lifted_select(select: exp.Select, scope: Scope, rows: RowReader) -> tuple[exp.Select, Scope]:
    """Return a SELECT whose items and keys hold no subqueries about the same person, and its rows.

    A SELECT that holds none is returned as it is.
    """
    group = select.args.get("group")
    nodes = [*select.expressions, *([] if group is None else group.expressions)]
    if not any(isinstance(part, exp.Query) for node in nodes for part in node.walk()):
        return select, scope
    lifting, found = Lifting(scope, rows), select.copy()
    for owner in (found, *([] if group is None else [found.args["group"]])):
        owner.set("expressions", [lifting.replaced(node) for node in owner.expressions])
    return (found, lifting.scope) if lifting.scope is not scope else (select, scope)


class Lifting:
    """Replaces subqueries by columns, and collects the rows that have these columns.

    Parameters
    ----------
    scope : Scope
        The rows around the subqueries.
    rows : RowReader
        What reads the rows inside.

    Attributes
    ----------
    scope : Scope
        The rows with the columns so far, which are not in sight.
    """

    def __init__(self, scope: Scope, rows: RowReader) -> None:
        self.scope = scope
        self._rows = rows
        self._found: dict[exp.Expression, exp.Expression] = {}

    def kept(self, node: exp.Expression) -> exp.Expression | None:
        """Read a condition that every row must meet; None if the rows themselves now meet it."""
        wanted = unwrapped(node)
        members = _membership(wanted)
        inside = None
        if isinstance(wanted, exp.Exists):
            inside = self._exists(wanted)
        elif members is not None and not isinstance(wanted, exp.NEQ):
            inside = self._members(*members)
        if inside is None:
            return self.replaced(node)
        self._join(inside, "")
        return None

    def replaced(self, node: exp.Expression) -> exp.Expression:
        """Return an expression with columns in place of the subqueries that are read here."""

        def column(one: exp.Expression) -> exp.Expression:
            if not isinstance(one, exp.Exists | exp.Subquery | exp.In | exp.EQ | exp.NEQ):
                return one
            if one not in self._found:
                self._found[one] = self._column(one)
            found = self._found[one]
            return one if found is one else found.copy()

        if not any(isinstance(part, exp.Query) for part in node.walk()):
            return node
        replaced: exp.Expression = node.copy().transform(column, copy=False)
        return replaced

    def _column(self, node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Exists):
            return self._flag(self._exists(node))
        members = _membership(node)
        if members is not None:
            return self._is_member(node, *members)
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
            return self._value(node)
        return node

    def _exists(self, node: exp.Exists) -> Inside:
        check_parts(node, "this")
        query = select_of(node.this)
        if query is None:
            raise refused("EXISTS with this subquery", _SIMPLE)
        return read_inside(query, (), self.scope, self._rows)

    def _members(self, operands: Sequence[exp.Expression], query: exp.Expression) -> Inside | None:
        """Return what IN is about; None if it lists values of public tables, which is read elsewhere."""
        if len(operands) == 1 and public_items(query, self._rows.table) is not None:
            plain = select_of(query)
            if plain is None or not is_about_row(plain, self.scope, self._rows):
                return None
        select = select_of(query)
        if select is None:
            inner = query if isinstance(query, exp.Subquery) else exp.Subquery(this=query)
            select = exp.Select(expressions=[exp.Star()])
            select.set("from_", exp.From(this=inner.copy()))
        return read_inside(select, operands, self.scope, self._rows)

    def _is_member(
        self, node: exp.Expression, operands: Sequence[exp.Expression], query: exp.Expression
    ) -> exp.Expression:
        """Return IN as SQL means it: NULL if nothing is equal and something is NULL."""
        inside = self._members(operands, query)
        if inside is None:
            return node
        found = self._flag(inside)
        persons = self._persons(inside)
        open_ = [pair for pair in zip(operands, inside.compared, strict=True) if pair[1] not in persons]
        if open_:
            found = self._with_null(found, open_, inside)
        return exp.Not(this=exp.Paren(this=found)) if isinstance(node, exp.NEQ) else exp.Paren(this=found)

    def _with_null(
        self,
        found: exp.Expression,
        compared: Sequence[tuple[exp.Expression, EqualPair | exp.Expression]],
        inside: Inside,
    ) -> exp.Expression:
        if len(compared) > 1 or isinstance(inside.rows, PublicItem):
            raise refused("IN with this subquery here", _NOT_EXISTS)
        ((operand, said),) = compared
        others = replace(
            inside,
            pairs=tuple(pair for pair in inside.pairs if pair != said),
            rest=tuple(node for node in inside.rest if node is not said),
        )
        listed = _named(said.within) if isinstance(said, EqualPair) else said.this
        some = self._flag(others)
        missing = self._rows.condition(_is_null(listed), inside.rows)
        rows = replace(inside.rows, relation=filtered(inside.rows.relation, missing))
        lost = self._flag(replace(others, rows=rows))
        either = exp.Or(
            this=exp.Paren(this=exp.And(this=_is_null(operand), expression=some)), expression=lost
        )
        branches = [
            exp.If(this=found, true=exp.Boolean(this=True)),
            exp.If(this=either, true=_NULL.copy()),
        ]
        return exp.Case(ifs=branches, default=exp.Boolean(this=False))

    def _value(self, node: exp.Subquery) -> exp.Expression:
        """Return the column of a scalar subquery; the node itself if it is not about the row around it."""
        query = node.this
        if any(query.args.get(part) for part in ("group", "having")):
            return node
        if not is_about_row(query, self.scope, self._rows):
            return node
        items = [unwrapped(one.this if isinstance(one, exp.Alias) else one) for one in query.expressions]
        if len(items) != 1 or not aggregates(query):
            raise refused("a subquery that may give several rows", "take an aggregate, such as MAX(x)")
        counts = isinstance(items[0], exp.Count)
        if not counts and items[0].find(exp.Count):
            raise refused(
                "a calculation with COUNT in a subquery", "select COUNT alone, and calculate with it outside"
            )
        inside = read_inside(query, (), self.scope, self._rows)
        if inside.rest or isinstance(inside.rows, PublicItem):
            raise refused("an aggregate in a subquery with other conditions than equal columns", _PERSONS)
        persons = self._persons(inside)
        name = take_name("value", self._taken())
        keys = [(_named(pair.within), f"key {place}") for place, pair in enumerate(inside.pairs)]
        bare = exp.Select(group=exp.Group(expressions=[key.copy() for key, _ in keys]))
        right = per_person(bare, [*keys, (items[0].copy(), name)], inside.rows, self._rows.tables)
        columns = {field.name: field.column for field in right.fields}
        on = tuple(
            Equality(left=pair.around, right=columns[f"key {place}"])
            for place, pair in enumerate(inside.pairs)
            if pair not in persons
        )
        added = (Equality(left=name, right=columns[name]),)
        self._set(
            JoinPersons(left=self.scope.relation, right=right.relation, on=on, columns=added, outer=True)
        )
        found = FoundColumn.of(name)
        return (
            exp.Coalesce(this=found, expressions=[exp.Literal.number(0)]) if counts else exp.Paren(this=found)
        )

    def _flag(self, inside: Inside) -> exp.Expression:
        """Add a column that is NULL where nothing is found; return the condition that something is."""
        name = take_name("found", self._taken())
        self._join(inside, name)
        return exp.Not(this=exp.Paren(this=_is_null(FoundColumn.of(name))))

    def _join(self, inside: Inside, name: str) -> None:
        """Join what is found inside, once for each row: if there is no name, only rows that find."""
        left, outer = self.scope.relation, bool(name)
        persons = self._persons(inside)
        columns: tuple[Equality, ...] | None = None
        if inside.rest:
            numbered, right = self._numbered(inside, persons)
            (number,) = right.keys
            columns = (Equality(left=name, right=number),) if outer else None
            on: tuple[Equality, ...] = (Equality(left=number, right=number),)
            self._set(JoinPersons(left=numbered, right=right, on=on, columns=columns, outer=outer))
        elif isinstance(inside.rows, PublicItem):
            on = _equalities(inside.pairs)
            item = _once(inside.rows, [part.right for part in on])
            columns = (Equality(left=name, right=on[0].right),) if outer else ()
            self._set(JoinPublic(source=left, table=item.table, on=on, columns=columns, outer=outer))
        else:
            keys = tuple(dict.fromkeys(pair.within.column for pair in inside.pairs))
            found = PerPerson(source=inside.rows.relation, keys=keys, columns=())
            columns = (Equality(left=name, right=keys[0]),) if outer else None
            on = _equalities(pair for pair in inside.pairs if pair not in persons)
            self._set(JoinPersons(left=left, right=found, on=on, columns=columns, outer=outer))

    def _numbered(self, inside: Inside, persons: Sequence[EqualPair]) -> tuple[Relation, PerPerson]:
        """Return the rows around with their numbers, and the numbers for which something is found."""
        left, number = numbered_rows(self.scope.relation, self._rows.tables)
        taken = {name.lower() for name in columns_of_relation(left, self._rows.tables)}
        within = Scope(relation=left, fields=inside.fields)
        called = dict.fromkeys(
            within.field(node)
            for condition in inside.rest
            for node in columns_in(condition)
            if not isinstance(node, FoundColumn)
        )
        fields = tuple(replace(field, column=take_name(field.name, taken)) for field in called)
        brought = tuple(
            Equality(left=one.column, right=field.column) for one, field in zip(fields, called, strict=True)
        )
        on = _equalities(pair for pair in inside.pairs if pair not in persons)
        joined: Relation
        if isinstance(inside.rows, PublicItem):
            joined = JoinPublic(source=left, table=inside.rows.table, on=on, columns=brought)
        else:
            joined = JoinPersons(left=left, right=inside.rows.relation, on=on, columns=brought)
        sight = Scope(relation=joined, fields=fields)
        for node in inside.rest:
            joined = filtered(joined, self._rows.condition(node, sight))
        return left, PerPerson(source=joined, keys=(number,), columns=())

    def _persons(self, inside: Inside) -> list[EqualPair]:
        """Return the pairs that equate the persons, or refuse private rows that may be another person's.

        Rows in which the key of a parent row is equal are one person's, too.
        """
        if isinstance(inside.rows, PublicItem):
            return []
        relations = self.scope.relation, inside.rows.relation
        if not all(has_person(relation, self._rows.tables) for relation in relations):
            raise no_person("a subquery about private rows")
        around, within = (person_columns(relation, self._rows.tables) for relation in relations)
        found = [pair for pair in inside.pairs if pair.around in around and pair.within.column in within]
        equal = [(pair.around, pair.within.column) for pair in inside.pairs]
        held = (foreign_keys(relation, self._rows.tables) for relation in relations)
        if not found and not are_of_one_person(equal, *held):
            raise refused("a subquery that lets rows of other persons decide about a row", _PERSONS)
        return found

    def _set(self, relation: Relation) -> None:
        self.scope = Scope(relation=relation, fields=self.scope.fields)

    def _taken(self) -> set[str]:
        return {name.lower() for name in columns_of_relation(self.scope.relation, self._rows.tables)}


def _membership(node: exp.Expression) -> tuple[list[exp.Expression], exp.Expression] | None:
    """Return the operands and the subquery of IN, = ANY and <> ALL."""
    query: exp.Expression | None = None
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        check_parts(node, "this", "query")
        query = node.args["query"]
    elif (type(node), type(node.args.get("expression"))) in {(exp.EQ, exp.Any), (exp.NEQ, exp.All)}:
        query = node.expression.this
    if not isinstance(query, exp.Query):
        return None
    operand = unwrapped(node.this)
    return (list(operand.expressions) if isinstance(operand, exp.Tuple) else [operand]), query


def _equalities(pairs: Iterable[EqualPair]) -> tuple[Equality, ...]:
    return tuple(Equality(left=pair.around, right=pair.within.column) for pair in pairs)


def _once(item: PublicItem, columns: Sequence[str]) -> PublicItem:
    """Return public rows of which at most one is equal in some columns."""
    kinds = item.public.schema
    if item.public.is_unique((column, kinds[column].is_number) for column in columns):
        return item
    return narrowed_item(item, columns=tuple(dict.fromkeys(columns)))


def _named(field: Field) -> exp.Column:
    table = exp.to_identifier(field.table, quoted=True) if field.table else None
    return exp.Column(this=exp.to_identifier(field.name, quoted=True), table=table)


def _is_null(node: exp.Expression) -> exp.Expression:
    return exp.Is(this=exp.Paren(this=node.copy()), expression=_NULL.copy())
