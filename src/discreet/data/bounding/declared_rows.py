"""The rows of a table as declared, for trusted code: limited rows of each person, values within bounds.

What is declared about a table bounds what one person can change in every answer. Code that reads rows itself
gets the same bounds by default: at most as many rows of each person as the limits say, drawn by lots over
their content; numbers clipped to their bounds and taken to their grid; NULL for keys and days that were not
declared; and no undeclared columns. (Proof: contribution_bounding.)
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

import ibis
import pyarrow
from ibis.expr.types import Column, Value

from discreet.data.compile.casts import cast_to
from discreet.data.compile.keys import is_listed
from discreet.data.engines.base import double, fetch
from discreet.data.grid import steps
from discreet.data.language.declarations import EACH_ROW, Bounds, Dates, Declared, Keys
from discreet.data.language.types import Type
from discreet.data.lots import PERSON, measure_name, sample_rows, told_apart
from discreet.data.prepared.sample import is_bounded_ahead
from discreet.data.salt import fresh_salt
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = ["declared_rows"]


def declared_rows(table: Table) -> pyarrow.Table:
    """Return the person and the declared columns, with at most as many rows of a person as the limits say.

    Limits on groups bound the rows of a person by the number of groups times the rows in each. A table that
    is bounded in advance gives the rows that its queries see; any other draws again at each call.

    Raises
    ------
    ParameterError
        If nothing was declared that could be returned.
    EngineFailed
        If the engine does not finish; the message says nothing about why.
    """
    rows = table._relation if is_bounded_ahead(table) else table._all_rows
    names = [name for name in table.columns if name != table.person]
    if not names and table.person is EACH_ROW:
        raise ParameterError("table", "has no declared column", "a declaration; or raw_rows, for all columns")
    values = {
        measure_name(place): _declared(rows[name], table.columns[name]) for place, name in enumerate(names)
    }
    if table.person is EACH_ROW:
        chosen = rows.select(**values)
    else:
        chosen = rows.select(**{PERSON: rows[table.person]}, **values)
        chosen = chosen.filter(chosen[PERSON].notnull())
        if not is_bounded_ahead(table):
            chosen = sample_rows(chosen, _most_rows(table), fresh_salt())
    inner = {} if table.person is EACH_ROW else {table.person: chosen[PERSON]}
    inner |= {name: chosen[measure_name(place)] for place, name in enumerate(names)}
    return fetch(chosen.select(**inner), table._backend)


def _most_rows(table: Table) -> int:
    limits = table.limits
    if limits.rows is not None:
        return limits.rows
    assert limits.groups is not None  # noqa: S101
    assert limits.rows_per_group is not None  # noqa: S101
    return limits.groups * limits.rows_per_group


def _declared(column: Column, declared: Declared) -> Value:
    """Return a value within what was declared about its column."""
    if isinstance(declared, Bounds):
        index = steps(column, declared)
        if declared.step == 1 and (column.type().is_integer() or column.type().is_boolean()):
            return index
        # Both factors are exact doubles, so that the quotient is the double nearest to the grid point.
        return index.cast("float64") * double(declared.step.numerator) / double(declared.step.denominator)
    if isinstance(declared, Keys):
        return ibis.ifelse(is_listed(column, declared), column, ibis.null(column.type()))
    if isinstance(declared, Dates):
        day = cast_to(column, Type.DATE)
        inside = (day >= _date(declared.first)) & (day <= _date(declared.last))
        return ibis.ifelse(inside, column, ibis.null(column.type()))
    return told_apart(column)


def _date(day: datetime.date) -> Value:
    return ibis.literal(day.isoformat()).cast("date")
