"""What every row adds to a plan's measures: whose row it is, its keys, its integers.

From here on no column of the user's own is left, only fixed names, so no name can clash or mislead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis
import pyarrow
from ibis.expr.types import BooleanColumn, Column
from ibis.expr.types import Table as Contributions

from discreet.data.bounding import PERSON, bounded, combined, key_name, measure_name
from discreet.data.declarations import Keys
from discreet.data.facts import limits_of
from discreet.data.grid import steps
from discreet.data.measures import CountNonNull, CountRows, Measure, Sum
from discreet.data.plan import GroupKey, Plan
from discreet.data.relation import leftmost
from discreet.data.rows import rows_of
from discreet.data.salt import Salt
from discreet.data.schema import Type
from discreet.data.table import Table

__all__ = ["backend_of_plan", "contributions", "totals"]

_LISTED_INLINE = 256


def totals(plan: Plan, tables: Mapping[str, Table], salt: Salt) -> Contributions:
    """Return the bounded totals of a plan, for the groups that have rows: keys, rows, measures."""
    rows = contributions(plan, tables)
    limits = limits_of(plan.source, tables) if PERSON in rows.columns else None
    return combined(bounded(rows, limits, plan.cells, salt))


def contributions(plan: Plan, tables: Mapping[str, Table]) -> Contributions:
    """Return one row for each row that passes the plan's filters and has one of the plan's keys.

    Rows whose person is NULL are nobody's and are left out. A measure that a row does not have adds 0.
    """
    rows = rows_of(plan.source, tables)
    for key in plan.keys:
        rows = rows.filtered(_is_listed(rows.columns[key.column], key))
    found = rows.columns
    columns = {PERSON: rows.table[PERSON]} if rows.has_person else {}
    columns |= {key_name(index): found[key.column] for index, key in enumerate(plan.keys)}
    columns |= {
        measure_name(index): _contribution(found, measure)
        for index, measure in enumerate(plan.measures)
        if not isinstance(measure, CountRows)
    }
    return rows.table.select(**columns) if columns else rows.table.select(row=ibis.literal(1))


def backend_of_plan(plan: Plan, tables: Mapping[str, Table]) -> ibis.BaseBackend:
    """Return the connection on which a plan is computed: that of its first table."""
    return tables[leftmost(plan.source).table]._backend


def _is_listed(column: Column, key: GroupKey) -> BooleanColumn:
    present = [value for value in key.values.values if value is not None]
    if len(present) <= _LISTED_INLINE:
        declared = column.isin([_key_literal(value, column) for value in present])
    else:
        declared = column.isin(ibis.memtable(_key_table(key.values, present))["value"])
    return declared | column.isnull() if key.values.has_null else declared


def _key_literal(value: object, column: Column) -> ibis.Value:
    if column.type().is_date():
        return ibis.literal(str(value)).cast("date")
    return ibis.literal(value)


def _key_table(keys: Keys, present: Sequence[object]) -> pyarrow.Table:
    kinds = {Type.INTEGER: pyarrow.int64(), Type.TEXT: pyarrow.string(), Type.DATE: pyarrow.date32()}
    return pyarrow.table({"value": pyarrow.array(present, kinds[keys.type])})


def _contribution(columns: Mapping[str, Column], measure: Measure) -> Column:
    if not isinstance(measure, CountNonNull | Sum):
        raise TypeError("not a measure of rows")
    column = columns[measure.column]
    if isinstance(measure, CountNonNull):
        present = column if measure.bounds is None else steps(column, measure.bounds)
        return present.notnull().cast("int64")
    center = ibis.literal(measure.center_steps, type="int64")
    return ibis.coalesce(steps(column, measure.bounds) - center, 0)
