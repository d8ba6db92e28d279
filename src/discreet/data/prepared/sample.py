"""Tables that are bounded in advance: the sample is drawn once, and every query is a plain GROUP BY.

Of a table with ``Limits(rows=k)`` at most k rows of each person are drawn, by lots over the whole content of
a row, before any condition is asked.

The rows of a person in the sample are a function of that person's own rows and the sample's salt, and there
are at most k. Anything that maps each of them to at most one row (conditions, calculated columns)
leaves at most k, so it needs no bounding again; everything else is bounded as on any table.
(Proof: contribution_bounding.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import ibis.expr.datatypes as dt
from ibis.expr.types import Table as Rows

from discreet.data.engines.base import public_type
from discreet.data.language.relations import Derive, Filter, Project, Relation, Source
from discreet.data.language.types import Type
from discreet.data.lots import PERSON, measure_name, sample_rows, told_apart
from discreet.data.prepared.base import Prepared
from discreet.data.salt import Salt, fresh_salt

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = ["PreparedSample", "is_bounded_ahead", "needs_no_bounding"]


class PreparedSample(Prepared):
    """At most as many rows of each person as the limit says."""

    def carried(self) -> Mapping[str, str]:
        """Return nothing: there is no bounding left to do."""
        return {}

    def bounded(self, rows: Rows, cells: int, salt: Salt) -> Rows:
        """Return all rows."""
        return rows

    def _added_kinds(self) -> Mapping[str, dt.DataType]:
        return {}

    def _made(self) -> Rows:
        rows = self._rows.filter(self._rows[self._person].notnull())
        inner, selected = {self._person: PERSON}, {PERSON: rows[self._person]}
        for place, name in enumerate(rows.columns):
            if name == self._person:
                continue
            inner[name] = measure_name(place)
            selected[measure_name(place)] = told_apart(rows[name])
            if public_type(rows[name].type()) is Type.OTHER:
                inner[name] = f"other_{place}"
                selected[inner[name]] = rows[name]
        assert self._limits.rows is not None  # noqa: S101
        drawn = self._with_integers(
            sample_rows(rows.select(**selected), self._limits.rows, fresh_salt()), inner
        )
        columns = {name: drawn[inner[name]] for name in rows.columns}
        integers = {name: drawn[name] for name in map(self.integer_name, self._declared)}
        return drawn.select(**columns, **integers)


def is_bounded_ahead(table: Table) -> bool:
    """Return whether a table holds at most as many rows of a person as its limits say."""
    return isinstance(table._prepared, PreparedSample)


def needs_no_bounding(relation: Relation, tables: Mapping[str, Table]) -> bool:
    """Return whether a relation maps each row of a table that is bounded in advance to at most one row.

    Not if the question has narrower limits than those that the table was bounded by.
    """
    while isinstance(relation, Filter | Derive | Project):
        relation = relation.source
    if not isinstance(relation, Source) or relation.limits is not None:
        return False
    return is_bounded_ahead(tables[relation.table])
