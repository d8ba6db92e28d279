"""Relations in Ibis: private rows, each with its person.

Rows are combined only within one person: joins of private tables equate the person, groups
and partitions begin with it, and DISTINCT compares it along. `per_person` holds what is computed of a
person's rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import ibis
from ibis.expr.types import BooleanValue, Column, Value
from ibis.expr.types import Table as Expression

from discreet.data.compile.expressions import compile_expression
from discreet.data.compile.join_limits import thin_rows
from discreet.data.compile.per_person import add_window, aggregate_per_person
from discreet.data.engines.column_types import alike, common
from discreet.data.facts.colocation import colocated
from discreet.data.facts.fanout import is_crowded
from discreet.data.facts.joins import public_table
from discreet.data.facts.persons import Tables, person_columns, private_table
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.declarations import EACH_ROW
from discreet.data.language.relations import (
    Derive,
    Distinct,
    Equality,
    Filter,
    JoinPersons,
    JoinPublic,
    PerPerson,
    Project,
    Relation,
    Source,
    Union,
    Window,
    leftmost,
)
from discreet.data.lots import PERSON
from discreet.data.salt import Salt
from discreet.records import dataclass

__all__ = ["PERSON", "CompiledRows", "rows_of"]

_PLAIN = re.compile(r"[a-z_]([a-z0-9_]{0,40}[a-z0-9])?")
"""Names that go to the engine as they are. They do not end in an underscore: those made here do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRows:
    """Rows in an engine.

    Attributes
    ----------
    table : Ibis table
        With the column `PERSON`, which is never NULL, unless each row is a separate person.
    names : mapping of public names to names in `table`
        Names in the engine are plain, so that no name can clash, be cut off or mean another by its case.
    """

    table: Expression
    names: Mapping[str, str]

    @property
    def columns(self) -> dict[str, Column]:
        """The visible columns, by their public names."""
        return {name: self.table[inner] for name, inner in self.names.items()}

    @property
    def has_person(self) -> bool:
        """Whether rows carry their person."""
        return PERSON in self.table.columns

    def filtered(self, condition: BooleanValue) -> CompiledRows:
        """Return the rows for which a condition over `columns` is TRUE."""
        return CompiledRows(table=self.table.filter(condition), names=self.names)


def rows_of(relation: Relation, tables: Tables, salt: Salt) -> CompiledRows:
    """Return the rows of a relation that `facts` admits.

    The salt decides which rows of a person enter a join that would multiply them too far.
    """
    home = private_table(leftmost(relation).table, tables)._backend
    return _RelationCompiler(tables, home, salt).rows(relation)


class _RelationCompiler:
    """Writes relations for one connection."""

    def __init__(self, tables: Tables, home: ibis.BaseBackend, salt: Salt) -> None:
        self._tables = tables
        self._home = home
        self._salt = salt

    def rows(self, relation: Relation) -> CompiledRows:
        if isinstance(relation, Source):
            return self._source(relation)
        if isinstance(relation, JoinPersons):
            return self._joined_persons(relation)
        if isinstance(relation, Union):
            return _united([self.rows(source) for source in relation.sources])
        rows = self.rows(relation.source)
        columns = rows.columns
        if isinstance(relation, Filter):
            return rows.filtered(compile_expression(relation.condition, columns))
        if isinstance(relation, Project | Derive):
            values = {
                column.name: compile_expression(column.expression, columns) for column in relation.columns
            }
            return _selected(rows.table, values if isinstance(relation, Project) else {**columns, **values})
        if isinstance(relation, JoinPublic):
            return self._joined_public(relation, rows)
        if isinstance(relation, PerPerson):
            facts = columns_of_relation(relation.source, self._tables)
            return _selected(*aggregate_per_person(relation, rows.table, columns, facts))
        if isinstance(relation, Distinct):
            return CompiledRows(table=rows.table.distinct(), names=rows.names)
        if isinstance(relation, Window):
            facts = columns_of_relation(relation.source, self._tables)
            return _selected(*add_window(relation, rows.table, columns, facts))
        raise TypeError("not a relation")

    def _source(self, relation: Source) -> CompiledRows:
        table = private_table(relation.table, self._tables)
        found = colocated(table, self._home)
        if table.person is EACH_ROW:
            return _selected(found, {name: found[name] for name in table.schema})
        owned = found.filter(found[table.person].notnull())
        return _selected(owned, {name: owned[name] for name in table.schema}, person=owned[table.person])

    def _joined_public(self, relation: JoinPublic, rows: CompiledRows) -> CompiledRows:
        public = public_table(relation.table, self._tables)
        right = public._as_memtable()
        added = relation.columns
        if added is None:
            equated = {part.right for part in relation.on}
            added = tuple(Equality(left=name, right=name) for name in public.schema if name not in equated)
        pairs = _public_pairs(rows, right, relation.on)
        others = {name: right[name] for name in public.schema}
        if is_crowded(relation, self._tables):
            met = [alike(one, other) for one, other in pairs]
            rows = replace(rows, table=thin_rows(rows.table, right, met, self._salt))
            pairs = _public_pairs(rows, right, relation.on)
        return _joined(rows, right, pairs, [(one.left, others[one.right]) for one in added], relation.outer)

    def _joined_persons(self, relation: JoinPersons) -> CompiledRows:
        left, right = self.rows(relation.left), self.rows(relation.right)
        added = relation.columns
        if added is None:
            hidden = {part.right for part in relation.on} | person_columns(relation.right, self._tables)
            added = tuple(Equality(left=name, right=name) for name in right.names if name not in hidden)
        pairs = _personal_pairs(left, right, relation.on)
        if is_crowded(relation, self._tables):
            met = [alike(one, other) for one, other in pairs]
            left = replace(left, table=thin_rows(left.table, right.table, met, self._salt))
            pairs = _personal_pairs(left, right, relation.on)
        others = right.columns
        return _joined(
            left, right.table, pairs, [(one.left, others[one.right]) for one in added], relation.outer
        )


def _public_pairs(rows: CompiledRows, right: Expression, on: Iterable[Equality]) -> list[tuple[Value, Value]]:
    """Return what a join with a public table equates; without any columns, what is equal in every row."""
    pairs: list[tuple[Value, Value]] = [(rows.columns[part.left], right[part.right]) for part in on]
    return pairs or [(ibis.literal(1), ibis.literal(1))]


def _personal_pairs(
    left: CompiledRows, right: CompiledRows, on: Iterable[Equality]
) -> list[tuple[Value, Value]]:
    """Return what a join of private rows equates: the persons, then further columns."""
    pairs: list[tuple[Value, Value]] = [(left.table[PERSON], right.table[PERSON])]
    return pairs + [(left.columns[part.left], right.columns[part.right]) for part in on]


def _joined(
    left: CompiledRows,
    right: Expression,
    pairs: Sequence[tuple[Value, Value]],
    added: Sequence[tuple[str, Value]],
    outer: bool,
) -> CompiledRows:
    """Return the rows of the left joined with those of the right that are equal in every pair.

    What is equated is brought to one type first, under names of its own on either side.
    """
    equated = [alike(one, other) for one, other in pairs]
    lefts = {f"left_{place}_": one for place, (one, _) in enumerate(equated)}
    rights = {f"right_{place}_": other for place, (_, other) in enumerate(equated)}
    kept = {f"kept_{place}_": left.table[name] for place, name in enumerate(left.table.columns)}
    brought = {f"added_{place}_": value for place, (_, value) in enumerate(added)}
    joined = left.table.select(**kept, **lefts).join(
        right.select(**rights, **brought),
        list(zip(lefts, rights, strict=True)),
        how="left" if outer else "inner",
    )
    inner = dict(zip(left.table.columns, kept, strict=True))
    values = {name: joined[inner[own]] for name, own in left.names.items()}
    values |= {name: joined[own] for own, (name, _) in zip(brought, added, strict=True)}
    return _selected(joined, values, person=joined[inner[PERSON]] if left.has_person else None)


def _united(parts: Sequence[CompiledRows]) -> CompiledRows:
    """Return the union of rows, by the names of the first, in types that hold them all."""
    names = list(parts[0].names)
    listed = [[part.columns[name] for name in names] for part in parts]
    kinds = [common([column.type() for column in columns]) for columns in zip(*listed, strict=True)]
    people = [part.table[PERSON].type() for part in parts if part.has_person]
    united = []
    for part, columns in zip(parts, listed, strict=True):
        person = {PERSON: part.table[PERSON].cast(common(people))} if people else {}
        cast = {f"part_{place}_": column.cast(kinds[place]) for place, column in enumerate(columns)}
        united.append(part.table.select(**person, **cast))
    table = united[0] if len(united) == 1 else ibis.union(*united, distinct=False)
    values = {name: table[f"part_{place}_"] for place, name in enumerate(names)}
    return _selected(table, values)


def _selected(table: Expression, values: Mapping[str, Value], person: Value | None = None) -> CompiledRows:
    names = _inner_names(values)
    if person is None and PERSON in table.columns:
        person = table[PERSON]
    columns = {} if person is None else {PERSON: person}
    columns |= {names[name]: value for name, value in values.items()}
    return CompiledRows(table=table.select(**columns), names=names)


def _inner_names(names: Iterable[str]) -> dict[str, str]:
    return {
        name: name if _PLAIN.fullmatch(name) and name != PERSON else f"column_{place}_"
        for place, name in enumerate(names)
    }
