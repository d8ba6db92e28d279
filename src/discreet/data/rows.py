"""Relations in Ibis: private rows, each beside its person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import ibis
from ibis.expr.types import BooleanValue, Column
from ibis.expr.types import Table as Expression

from discreet.data.compile import compiled
from discreet.data.declarations import EACH_ROW
from discreet.data.relation import Filter, Project, Relation, Source
from discreet.data.table import Table

__all__ = ["PERSON", "Rows", "rows_of"]

PERSON = "person"
_PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows in an engine.

    Attributes
    ----------
    table : Ibis table
        With the column `PERSON`, which is never NULL, unless each row is a person of its own.
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

    def filtered(self, condition: BooleanValue) -> Rows:
        """Return the rows for which a condition over `columns` is TRUE."""
        return Rows(table=self.table.filter(condition), names=self.names)


def rows_of(relation: Relation, tables: Mapping[str, Table]) -> Rows:
    """Return the rows of a relation that `facts` admits."""
    if isinstance(relation, Source):
        return _source_rows(tables[relation.table])
    if isinstance(relation, Filter):
        rows = rows_of(relation.source, tables)
        return rows.filtered(compiled(relation.condition, rows.columns))
    if isinstance(relation, Project):
        rows = rows_of(relation.source, tables)
        columns = rows.columns
        values = {column.name: compiled(column.expression, columns) for column in relation.columns}
        return _selected(rows, values)
    raise TypeError("not a relation")


def _source_rows(table: Table) -> Rows:
    relation = table._relation
    if table.person is not EACH_ROW:
        relation = relation.filter(relation[table.person].notnull())
    names = _inner_names(table.schema)
    columns = {} if table.person is EACH_ROW else {PERSON: relation[table.person]}
    columns |= {inner: relation[name] for name, inner in names.items()}
    return Rows(table=relation.select(**columns), names=names)


def _selected(rows: Rows, values: Mapping[str, ibis.Value]) -> Rows:
    names = _inner_names(values)
    columns = {PERSON: rows.table[PERSON]} if rows.has_person else {}
    columns |= {names[name]: value for name, value in values.items()}
    return Rows(table=rows.table.select(**columns), names=names)


def _inner_names(names: Mapping[str, object]) -> dict[str, str]:
    return {
        name: name if _PLAIN.fullmatch(name) and name != PERSON else f"column_{place}_"
        for place, name in enumerate(names)
    }
