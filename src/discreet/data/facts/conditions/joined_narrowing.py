"""What conditions on one side of a join leave of a key on the other: public rows, and columns that are equal.

A row of an inner join is made of rows of both sides that met. If a condition on columns of a public table is
TRUE of it, it met one of the public rows of which the condition is TRUE: what the others hold it cannot have.
And where columns are equal, what is known about one holds for the other. Only the request, declarations and
the content of public tables are looked at. (Proof: joined_narrowing.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.data.facts.conditions.key_narrowing import EXACT, Narrowing, Test, column_test, replaced
from discreet.data.facts.joins import public_table
from discreet.data.facts.persons import Tables
from discreet.data.language.column_facts import Columns
from discreet.data.language.declarations import KeyValue
from discreet.data.language.expressions import Column, Expression, columns_of
from discreet.data.language.relations import JoinPersons, JoinPublic
from discreet.data.language.types import Type
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery
from discreet.records import dataclass

__all__ = ["PublicSide", "equated_columns", "rewritten"]

_MOST_ROWS = 1 << 17
"""How many public rows are looked at for one key: a tenth of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicSide:
    """The public rows that rows of an inner join met.

    Attributes
    ----------
    public : PublicTable
        The public table.
    places : mapping of names to names
        The columns of the join that hold values of public columns as these are.
    equated : frozenset of names
        Those of them that are equal to a public column, and so never NULL.
    """

    public: PublicTable
    places: Mapping[str, str]
    equated: frozenset[str]

    @classmethod
    def of(cls, relation: JoinPublic, known: Columns, tables: Tables) -> PublicSide:
        """Return the public side of a join, of whose left side something is known."""
        public = public_table(relation.table, tables)
        rights = {part.right for part in relation.on}
        if relation.columns is None:
            places = {name: name for name in public.schema if name not in rights and name not in known}
        else:
            places = {one.left: one.right for one in relation.columns}
        for part in relation.on:
            if known[part.left].type is public.schema[part.right]:
                places[part.left] = part.right
        exact = {name: column for name, column in places.items() if public.schema[column] in EXACT}
        return cls(public=public, places=exact, equated=frozenset(part.left for part in relation.on))

    def teach(self, narrowing: Narrowing, expression: Expression, conditions: Sequence[Expression]) -> None:
        """Learn what a key can be in rows that met a public row of which all conditions are TRUE."""
        read, rows = columns_of(expression), self.public._rows()
        tests = self._tests(conditions)
        if not tests or not read <= self.places.keys() or rows.num_rows > _MOST_ROWS:
            return
        met = list(range(rows.num_rows))
        for name, tests_of in tests.items():
            values = rows.column(name).to_pylist()
            met = [row for row in met if all(test(values[row]) for test in tests_of)]
        narrowing.on(expression, {name: self._values(name, met) for name in read})

    def _tests(self, conditions: Sequence[Expression]) -> dict[str, list[Test]]:
        """Return what conditions on one column say about the public column that it holds."""
        found: dict[str, list[Test]] = {}
        for condition in conditions:
            read = columns_of(condition)
            if len(read) == 1 and read <= self.places.keys():
                (name,) = read
                column = self.places[name]
                test = column_test(condition, Column(name=name), self.public.schema[column])
                if test is not None:
                    found.setdefault(column, []).append(test)
        return found

    def _values(self, name: str, met: Sequence[int]) -> tuple[Type, list[KeyValue]]:
        column = self.places[name]
        values = self.public._rows().column(column).to_pylist()
        found = dict.fromkeys(values[row] for row in met)
        kept = [value for value in found if value is not None or name not in self.equated]
        return self.public.schema[column], kept


def equated_columns(
    relation: JoinPublic | JoinPersons, left: Columns, right: Columns
) -> list[tuple[str, str, str | None]]:
    """Return the columns that an inner join equates and that hold the same values: left, right, and as what.

    The last is the name under which the right one is a column of the join; None if it is not.
    """
    added = relation.columns
    names = {} if added is None else {one.right: one.left for one in added}
    return [
        (part.left, part.right, names.get(part.right))
        for part in relation.on
        if part.right in right
        and left[part.left].type is right[part.right].type
        and left[part.left].type in EXACT
    ]


def rewritten(
    conditions: Sequence[Expression], meanings: Mapping[Expression, Expression], allowed: Columns
) -> list[Expression]:
    """Return conditions with columns replaced, those that are then about allowed columns alone."""
    found = []
    for condition in conditions:
        try:
            one = replaced(condition, meanings)
        except UnsupportedQuery:  # written out it would be too long
            continue
        if columns_of(one) <= allowed.keys():
            found.append(one)
    return found
