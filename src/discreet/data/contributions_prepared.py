"""The totals of a plan over a prepared table, as one GROUP BY over integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import ibis
import numpy as np
import pyarrow
from ibis.expr.types import Column, Value
from ibis.expr.types import Table as Rows

from discreet.data.compile.expressions import compile_expression
from discreet.data.engines.base import bounded_total
from discreet.data.engines.listed import listed_table
from discreet.data.grid import clipped
from discreet.data.language.declarations import Bounds, Keys
from discreet.data.language.measures import (
    ContingencyTable,
    CountNonNull,
    CountPersons,
    CountRows,
    Measure,
    Moment,
    Sum,
)
from discreet.data.language.relations import Filter, Source
from discreet.data.lots import ROWS, key_name, measure_name
from discreet.data.prepared.base import LISTED_NUMBER, LISTED_VALUE, Prepared
from discreet.data.reading.arrow_numbers import integers
from discreet.data.salt import Salt

if TYPE_CHECKING:
    from discreet.data.language.plan import GroupKey, Plan
    from discreet.data.tables.table import Table

__all__ = ["prepared_totals"]


def prepared_totals(plan: Plan, tables: Mapping[str, Table], salt: Salt) -> Rows | None:
    """Return the totals of a plan over a prepared table.

    They have the columns of `contributions.totals`. None if the plan asks for more than conditions on the
    rows, keys, counts and sums of columns: then the general method is used.
    """
    relation, conditions = plan.source, []
    while isinstance(relation, Filter):
        conditions.append(relation.condition)
        relation = relation.source
    if not isinstance(relation, Source) or relation.limits is not None:
        return None
    table = tables[relation.table]
    if table._prepared is None or not _is_ready(plan, table):
        return None
    rows = table._prepared.relation
    for condition in conditions:
        rows = rows.filter(compile_expression(condition, {name: rows[name] for name in table.schema}))
    rows = table._prepared.bounded(_integers(rows, plan, table, table._prepared), plan.cells, salt)
    added = {ROWS: rows.count().cast("int64")}
    for place, measure in enumerate(plan.measures):
        if not isinstance(measure, CountRows):
            added[measure_name(place)] = bounded_total(rows[measure_name(place)])
    if not plan.keys:
        return rows.agg(**added)
    keys = [key_name(place) for place in range(len(plan.keys))]
    return _with_values(rows.group_by(keys).agg(**added), plan, table._prepared)


def _integers(rows: Rows, plan: Plan, table: Table, prepared: Prepared) -> Rows:
    """Return the numbers of asked keys, and the integers of measures."""
    keys = {}
    for place, key in enumerate(plan.keys):
        number = rows[prepared.integer_name(key.column)]
        rows = rows.filter(_is_asked(number, key, cast("Keys", table.columns[key.column])))
        keys[key_name(place)] = number
    measures = {
        measure_name(place): _summand(rows, table, prepared, measure)
        for place, measure in enumerate(plan.measures)
        if not isinstance(measure, CountRows)
    }
    carried = {name: rows[column] for name, column in prepared.carried().items()}
    columns = carried | keys | measures
    return rows.select(**columns) if columns else rows


def _with_values(grouped: Rows, plan: Plan, prepared: Prepared) -> Rows:
    """Put the keys themselves in place of their numbers."""
    for place, key in enumerate(plan.keys):
        listed = prepared.listed_keys(key.column)
        joined = grouped.join(listed, grouped[key_name(place)] == listed[LISTED_NUMBER])
        others = (name for name in grouped.columns if name != key_name(place))
        grouped = joined.select(*others, **{key_name(place): joined[LISTED_VALUE]})
    return grouped


def _is_ready(plan: Plan, table: Table) -> bool:
    """Return whether the integers stored with the columns are those that keys and measures need."""
    return (
        not plan.present
        and all(isinstance(measure, CountRows | CountNonNull | Sum) for measure in plan.measures)
        and all(_has_integer(table, part) for part in (*plan.keys, *plan.measures))
    )


def _has_integer(table: Table, part: GroupKey | Measure) -> bool:
    if isinstance(part, CountRows) or (isinstance(part, CountNonNull) and part.bounds is None):
        return True
    assert not isinstance(part, CountPersons | Moment | ContingencyTable)  # noqa: S101
    declared = table.columns.get(part.column)
    if isinstance(part, CountNonNull | Sum):
        return isinstance(declared, Bounds) and part.bounds is not None and declared.contains(part.bounds)
    return isinstance(declared, Keys) and part.column != table.person


def _summand(rows: Rows, table: Table, prepared: Prepared, measure: Measure) -> Value:
    """Return what a row adds to a measure; NULL, which no sum counts, where it has nothing to add."""
    assert isinstance(measure, CountNonNull | Sum)  # noqa: S101
    if measure.bounds is None:
        return rows[measure.column].notnull().cast("int64")
    index = rows[prepared.integer_name(measure.column)]
    if isinstance(measure, CountNonNull):
        return index.notnull().cast("int64")
    if measure.bounds != table.columns[measure.column]:
        inside = clipped(index.cast("int64"), measure.bounds)
        index = ibis.ifelse(index.isnull(), ibis.null("int64"), inside)
    return index - ibis.literal(measure.center_steps, type="int64") if measure.center_steps else index


def _is_asked(number: Column, key: GroupKey, declared: Keys) -> Value:
    if key.values == declared:
        return number.notnull()
    place = {value: number for number, value in enumerate(declared.values)}
    asked = [place[value] for value in key.values.values]
    if len(asked) <= 256:
        return number.isin(asked)
    listed = listed_table(pyarrow.table({"asked": integers(np.array(asked, np.int64))}))
    return number.cast("int64").isin(listed["asked"])
