"""What is computed from each person's own rows, in Ibis: aggregates and windows.

Groups and partitions begin with the person, so that other persons have no effect. Results do not
depend on the order of rows: sums are sums of integers on the grid, and rows are numbered by the stated
order and then by all their columns, so that rows of equal number are equal.
"""

from __future__ import annotations

from collections.abc import Mapping

import ibis
from ibis.expr.types import Column, Table, Value

from discreet.data.engines.base import bounded_total, double, public_type
from discreet.data.facts.relation_facts import personal_bounds, window_total
from discreet.data.grid import steps
from discreet.data.language.column_facts import Columns
from discreet.data.language.declarations import Bounds
from discreet.data.language.relations import (
    PLACED,
    Order,
    PerPerson,
    Personal,
    PersonalFunction,
    Window,
    WindowFunction,
)
from discreet.data.language.types import Type
from discreet.data.lots import PERSON

__all__ = ["add_window", "aggregate_per_person"]

_ON_GRID = frozenset({PersonalFunction.SUM, PersonalFunction.MEAN})


def aggregate_per_person(
    relation: PerPerson, table: Table, columns: Mapping[str, Column], facts: Columns
) -> tuple[Table, dict[str, Value]]:
    """Return one row for each person and combination of keys, and its visible columns."""
    grids = {
        place: personal_bounds(one, facts)
        for place, one in enumerate(relation.columns)
        if one.function in _ON_GRID
    }
    keys = {f"by_{place}_": columns[key] for place, key in enumerate(relation.keys)}
    values = {
        f"value_{place}_": columns[one.column]
        if place not in grids
        else steps(columns[one.column], grids[place])
        for place, one in enumerate(relation.columns)
        if one.column is not None
    }
    rows = table.select(**{PERSON: table[PERSON]}, **keys, **values)
    totals: dict[str, Value] = {"rows_": rows.count()}
    for place, one in enumerate(relation.columns):
        totals |= _totals(one, place, rows)
    grouped = rows.group_by([PERSON, *keys]).agg(**totals)
    found = {key: grouped[inner] for key, inner in zip(relation.keys, keys, strict=True)}
    for place, one in enumerate(relation.columns):
        found[one.name] = _result(one, place, grouped, grids.get(place))
    return grouped, found


def _totals(personal: Personal, place: int, rows: Table) -> dict[str, Value]:
    if personal.column is None:
        return {}
    value = rows[f"value_{place}_"]
    if personal.function in _ON_GRID:
        return {f"total_{place}_": bounded_total(value), f"present_{place}_": value.count()}
    reduce = {
        PersonalFunction.COUNT: value.count,
        PersonalFunction.COUNT_DISTINCT: value.nunique,
        PersonalFunction.MINIMUM: value.min,
        PersonalFunction.MAXIMUM: value.max,
    }[personal.function]
    return {f"total_{place}_": reduce()}


def _result(personal: Personal, place: int, grouped: Table, bounds: Bounds | None) -> Value:
    if personal.column is None:
        return grouped["rows_"]
    total = grouped[f"total_{place}_"]
    if bounds is None:
        return total
    return _graded(personal.function, total, grouped[f"present_{place}_"], bounds)


def _graded(function: PersonalFunction, total: Value, present: Value, bounds: Bounds) -> Value:
    """Return the sum or the mean of values on a grid, from the sum of their indexes and their number."""
    if function is PersonalFunction.SUM:
        value = total if bounds.step == 1 else _scaled(total.cast("float64"), bounds)
    else:
        mean = _scaled(total.cast("float64") / present.nullif(0).cast("float64"), bounds)
        value = ibis.greatest(ibis.least(mean, double(float(bounds.upper))), double(float(bounds.lower)))
    return ibis.ifelse(present > 0, value, ibis.null(value.type()))


def _scaled(index: Value, bounds: Bounds) -> Value:
    """Return the value of an index on the grid."""
    return index * double(float(bounds.step.numerator)) / double(float(bounds.step.denominator))


def add_window(
    relation: Window, table: Table, columns: Mapping[str, Column], facts: Columns
) -> tuple[Table, dict[str, Value]]:
    """Return every row with one more column, computed over the rows of its person and partition."""
    partition = [table[PERSON], *(columns[name] for name in relation.partition)]
    if relation.function in PLACED:
        value = _placed(relation, partition, columns)
    else:
        value = _over(relation, table, columns, facts, _frame(relation, partition, columns))
    return table, {**columns, relation.name: value}


def _placed(relation: Window, partition: list[Value], columns: Mapping[str, Column]) -> Value:
    """Return the place of a row, or what a row some places before or after holds.

    Ranks follow from the stated order; the rest from one in which rows of one place are equal.
    """
    stated = _stated(relation.order, columns)
    if relation.function is WindowFunction.RANK:
        return ibis.rank().over(group_by=partition, order_by=stated) + 1
    if relation.function is WindowFunction.DENSE_RANK:
        return ibis.dense_rank().over(group_by=partition, order_by=stated) + 1
    order = _order(relation.order, columns)
    if relation.function is WindowFunction.ROW_NUMBER:
        return ibis.row_number().over(group_by=partition, order_by=order) + 1
    assert relation.column is not None  # noqa: S101
    column = columns[relation.column]
    lags = relation.function is WindowFunction.LAG
    shifted = column.lag(relation.offset) if lags else column.lead(relation.offset)
    return shifted.over(group_by=partition, order_by=order)


def _frame(relation: Window, partition: list[Value], columns: Mapping[str, Column]) -> object:
    """Return the whole partition or, with an order, what comes before and the rows of the same place."""
    if not relation.order:
        return ibis.window(group_by=partition)
    return ibis.window(group_by=partition, order_by=_stated(relation.order, columns), range=(None, 0))


def _over(
    relation: Window, table: Table, columns: Mapping[str, Column], facts: Columns, frame: object
) -> Value:
    function, column = relation.function, None if relation.column is None else columns[relation.column]
    if function is WindowFunction.COUNT or column is None:
        return (table.count() if column is None else column.count()).over(frame)
    if function in {WindowFunction.MINIMUM, WindowFunction.MAXIMUM}:
        return (column.min() if function is WindowFunction.MINIMUM else column.max()).over(frame)
    personal = window_total(relation)
    bounds = personal_bounds(personal, facts)
    index = steps(column, bounds)
    return _graded(personal.function, bounded_total(index, frame), index.count().over(frame), bounds)


def _order(order: tuple[Order, ...], columns: Mapping[str, Column]) -> list[Value]:
    """Return the stated order, then every column that it does not name; NULL comes last.

    For values that requests cannot compare, only whether they are present is used.
    """
    stated, listed = {part.column for part in order}, _stated(order, columns)
    for name, column in columns.items():
        if name not in stated:
            known = column.isnull() if public_type(column.type()) is Type.OTHER else column
            listed.append(ibis.asc(known, nulls_first=False))
    return listed


def _stated(order: tuple[Order, ...], columns: Mapping[str, Column]) -> list[Value]:
    """Return the stated order, each column where it is named first: Ibis would keep the last mention."""
    first = {part.column: part for part in reversed(order)}
    return [
        ibis.desc(columns[part.column], nulls_first=False)
        if part.descending
        else ibis.asc(columns[part.column], nulls_first=False)
        for part in order
        if part is first[part.column]
    ]
