"""What every row adds to a plan's measures: its person, its keys, its integers and counted values.

From here on there are no columns of the user, only fixed names, so no name can clash or mislead.
"""

from __future__ import annotations

from collections.abc import Mapping

import ibis
from ibis.expr.types import BooleanValue, Column, Value
from ibis.expr.types import Table as Contributions

from discreet.data import contributions_prepared
from discreet.data.bounding.rows import limit_rows, totals_of_kept
from discreet.data.bounding.totals import add_partial_totals, limit_totals
from discreet.data.compile.keys import is_listed, place
from discreet.data.compile.relations import rows_of
from discreet.data.engines.base import double
from discreet.data.facts.limits import limits_of
from discreet.data.facts.relation_facts import is_single
from discreet.data.grid import steps
from discreet.data.language.declarations import Bounds, Keys
from discreet.data.language.measures import (
    Axis,
    ContingencyTable,
    CountDistinct,
    CountNonNull,
    CountPersons,
    CountRows,
    Factor,
    Histogram,
    Measure,
    Moment,
    Sum,
    SumDistinct,
    WholeAxis,
    adds_up,
)
from discreet.data.language.plan import Plan
from discreet.data.language.relations import Relation, leftmost
from discreet.data.lots import PERSON, axis_name, key_name, measure_name
from discreet.data.prepared.sample import needs_no_bounding
from discreet.data.salt import Salt
from discreet.data.tables.table import Table

__all__ = ["backend_of_plan", "bounded_totals", "contributions"]


def bounded_totals(plan: Plan, tables: Mapping[str, Table], salt: Salt) -> Contributions:
    """Return the bounded totals of a plan, for the groups that have rows: keys, rows, measures.

    Where all measures add up over rows, partial totals do, and no row is kept by itself; else see
    `totals_of_kept`. Either way it is one statement, and one sample for all measures. Rows that cannot be too
    many, or were bounded in advance, are taken unchanged.
    """
    ready = contributions_prepared.prepared_totals(plan, tables, salt)
    if ready is not None:
        return ready
    rows = contributions(plan, tables, salt)
    limits = None
    if PERSON in rows.columns and not _is_bounded(plan.source, tables):
        limits = limits_of(plan.source, tables)
    if all(adds_up(measure) for measure in plan.measures):
        return add_partial_totals(limit_totals(rows, limits, plan.cells, salt))
    return totals_of_kept(limit_rows(rows, limits, plan.cells, salt), plan)


def _is_bounded(relation: Relation, tables: Mapping[str, Table]) -> bool:
    return is_single(relation, tables) or needs_no_bounding(relation, tables)


def contributions(plan: Plan, tables: Mapping[str, Table], salt: Salt) -> Contributions:
    """Return one row for each row that passes the plan's filters and has one of the plan's keys and cells.

    Rows whose person is NULL belong to no person and are left out. A measure that a row does not have adds
    0. To contingency tables a row brings its cell on each axis, once however many tables have the axis.
    """
    rows = rows_of(plan.source, tables, salt)
    for key in plan.keys:
        rows = rows.filtered(is_listed(rows.columns[key.column], key.values))
    for axis in plan.present:
        rows = rows.filtered(_has_cell(rows.columns[axis.column], axis.values))
    found = rows.columns
    columns = {PERSON: rows.table[PERSON]} if rows.has_person else {}
    columns |= {key_name(index): found[key.column] for index, key in enumerate(plan.keys)}
    columns |= {
        measure_name(index): _contribution(found, measure)
        for index, measure in enumerate(plan.measures)
        if not isinstance(measure, CountRows | CountPersons | ContingencyTable)
    }
    columns |= {axis_name(index): _cell(found[axis.column], axis) for index, axis in enumerate(plan.axes)}
    return rows.table.select(**columns) if columns else rows.table.select(row=ibis.literal(1))


def backend_of_plan(plan: Plan, tables: Mapping[str, Table]) -> ibis.BaseBackend:
    """Return the connection on which a plan is computed: that of its first table."""
    return tables[leftmost(plan.source).table]._backend


def _contribution(columns: Mapping[str, Column], measure: Measure) -> Value:
    if isinstance(measure, CountRows | CountPersons | ContingencyTable):
        raise TypeError("not a measure of a column")
    if isinstance(measure, Moment):
        return _product(columns, measure)
    column = columns[measure.column]
    if isinstance(measure, CountDistinct):
        return _told_apart(column)
    if isinstance(measure, SumDistinct):
        return steps(column, measure.bounds)
    if isinstance(measure, Histogram):
        return column if isinstance(measure.values, Keys) else steps(column, measure.values)
    if isinstance(measure, CountNonNull):
        present = column if measure.bounds is None else steps(column, measure.bounds)
        return present.notnull().cast("int64")
    assert isinstance(measure, Sum)  # noqa: S101
    return ibis.coalesce(steps(column, measure.bounds) - _integer(measure.center_steps), 0)


def _product(columns: Mapping[str, Column], measure: Moment) -> Value:
    """Return the product of the factors less the shift; 0 where one of them is absent.

    `Moment` keeps every partial product within 2^54, so 64 bits hold it.
    """
    product = _power(columns, measure.factors[0])
    for factor in measure.factors[1:]:
        product = product * _power(columns, factor)
    return ibis.coalesce(product - _integer(measure.shift), 0)


def _power(columns: Mapping[str, Column], factor: Factor) -> Value:
    index = steps(columns[factor.column], factor.bounds)
    if factor.power == 0:
        return ibis.ifelse(index.notnull(), _integer(1), ibis.null("int64"))
    centered = index - _integer(factor.center_steps)
    return centered if factor.power == 1 else centered * centered


def _has_cell(column: Column, values: Keys | Bounds) -> BooleanValue:
    return is_listed(column, values) if isinstance(values, Keys) else steps(column, values).notnull()


def _cell(column: Column, axis: Axis) -> Value:
    """Return the number of the cell of an axis; NULL if there is none."""
    cell = _listed_cell(column, axis)
    return ibis.coalesce(cell, _integer(axis.listed)) if isinstance(axis, WholeAxis) else cell


def _listed_cell(column: Column, axis: Axis) -> Value:
    """Return the number of the cell of a key or of a range of numbers; NULL if there is none.

    Engines divide in doubles, which is exact here: for integers 0 <= a <= 2^53 and 0 < b <= 2^53 the double
    nearest to a / b is below every integer that a / b is below.
    """
    values = axis.values
    if isinstance(values, Keys):
        return place(column, values)
    above = steps(column, values) - _integer(values.lower_steps)
    if axis.listed == 1:
        return ibis.ifelse(above.notnull(), _integer(0), ibis.null("int64"))
    cell = above if axis.width == 1 else above // _integer(axis.width)
    for cut in axis.cuts:
        cell = cell + ibis.ifelse(above >= _integer(cut), _integer(1), _integer(0))
    return cell


def _told_apart(column: Column) -> Value:
    """Return a column in which equal values are also spelled the same, as a row's lot requires."""
    if not column.type().is_floating():
        return column
    value = column.cast("float64")
    return ibis.ifelse(value == double(0), double(0), value)


def _integer(value: int) -> Value:
    return ibis.literal(value, type="int64")
