"""What every row adds to a plan's measures: whose row it is, its keys, its integers.

From here on no column of the user's own is left, only fixed names, so no name can clash or mislead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis
import pyarrow
from ibis.expr.types import BooleanColumn, Column
from ibis.expr.types import Table as Rows

from discreet.data.bounding import PERSON, bounded, combined, key_name, measure_name
from discreet.data.compile import compiled
from discreet.data.declarations import EACH_ROW, Keys
from discreet.data.grid import steps
from discreet.data.plan import CountNonNull, CountRows, Filter, GroupKey, Plan, Relation, Source, Sum
from discreet.data.salt import Salt
from discreet.data.schema import Type
from discreet.data.table import Table

__all__ = ["contributions", "totals"]

_LISTED_INLINE = 256


def totals(plan: Plan, tables: Mapping[str, Table], salt: Salt) -> Rows:
    """Return the bounded totals of a plan, for the groups that have rows: keys, rows, measures."""
    table = source_table(plan.source, tables)
    limits = None if table.person is EACH_ROW else table.limits
    return combined(bounded(contributions(plan, tables), limits, plan.cells, salt))


def contributions(plan: Plan, tables: Mapping[str, Table]) -> Rows:
    """Return one row for each row that passes the plan's filters and has declared keys.

    Rows whose person is NULL are nobody's and are left out. A measure that a row does not have adds 0.
    """
    table = source_table(plan.source, tables)
    rows = _filtered(plan.source, tables)
    for key in plan.keys:
        rows = rows.filter(_is_declared(rows[key.column], key))
    columns: dict[str, Column] = {} if table.person is EACH_ROW else {PERSON: rows[table.person]}
    columns |= {key_name(index): rows[key.column] for index, key in enumerate(plan.keys)}
    columns |= {
        measure_name(index): _contribution(rows, measure)
        for index, measure in enumerate(plan.measures)
        if not isinstance(measure, CountRows)
    }
    return rows.select(**columns) if columns else rows.select(row=ibis.literal(1))


def source_table(relation: Relation, tables: Mapping[str, Table]) -> Table:
    """Return the table that the rows of a relation come from."""
    while not isinstance(relation, Source):
        relation = relation.source
    return tables[relation.table]


def _filtered(relation: Relation, tables: Mapping[str, Table]) -> Rows:
    if isinstance(relation, Filter):
        rows = _filtered(relation.source, tables)
        return rows.filter(compiled(relation.condition, rows))
    table = tables[relation.table]
    rows = table._relation
    return rows if table.person is EACH_ROW else rows.filter(rows[table.person].notnull())


def _is_declared(column: Column, key: GroupKey) -> BooleanColumn:
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


def _contribution(rows: Rows, measure: CountNonNull | Sum) -> Column:
    column = rows[measure.column]
    if isinstance(measure, CountNonNull):
        present = column if measure.bounds is None else steps(column, measure.bounds)
        return present.notnull().cast("int64")
    center = ibis.literal(measure.center_steps, type="int64")
    return ibis.coalesce(steps(column, measure.bounds) - center, 0)
