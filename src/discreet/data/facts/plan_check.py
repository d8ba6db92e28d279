"""Whether the declarations allow a plan: decided from public facts, before anything is charged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.data.facts.fanout import fan_out
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.coarsening import is_coarsened
from discreet.data.language.column_facts import Columns, types_of
from discreet.data.language.declarations import Bounds, Keys
from discreet.data.language.measures import (
    ContingencyTable,
    CountDistinct,
    CountNonNull,
    Histogram,
    Measure,
    Moment,
    Sum,
    SumDistinct,
)
from discreet.data.language.plan import GroupKey, Plan
from discreet.data.language.types import Type, column_type
from discreet.errors import UndeclaredColumn, UnsupportedQuery

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = ["check_plan", "check_values"]


def check_plan(plan: Plan, tables: Mapping[str, Table]) -> Columns:
    """Refuse a plan that the declarations do not allow; return the columns of its relation.

    Conditions may use every column. Where `Keys` are declared or implied, the plan may take fewer; where
    they are not, it lists its own, which must not come from the data unless a mechanism chose them. Sums
    need declared or implied `Bounds`, which the plan may narrow or coarsen.
    """
    columns = columns_of_relation(plan.source, tables)
    fan_out(plan.source, tables)  # refuses what multiplies rows too far
    for key in plan.keys:
        _check_key(key, columns)
    for axis in plan.present:
        check_values(axis.column, axis.values, columns)
    for measure in plan.measures:
        _check_measure(measure, columns)
    return columns


def _check_key(key: GroupKey, columns: Columns) -> None:
    found = column_type(key.column, types_of(columns))
    known = columns[key.column].keys
    if known is None and key.values.type is not found:
        raise UnsupportedQuery(
            f"{key.column!r} is of type {found.value}, but its keys are of type {key.values.type.value}; "
            "list keys of its own type"
        )
    if known is not None and not known.contains(key.values):
        raise UndeclaredColumn(
            f"{key.column!r} is grouped by, but these values were never declared as its keys; "
            f"declare columns={{{key.column!r}: Keys([...])}}, or use it in a condition only"
        )


def _check_measure(measure: Measure, columns: Columns) -> None:
    if isinstance(measure, CountNonNull | CountDistinct):
        found = column_type(measure.column, types_of(columns))
        if isinstance(measure, CountDistinct) and found is Type.OTHER:
            raise UnsupportedQuery(
                f"distinct values of {measure.column!r}, whose type is unknown here, cannot be counted; "
                "count those of another column, or the rows"
            )
    if isinstance(measure, CountNonNull | Sum | SumDistinct) and measure.bounds is not None:
        _check_bounds(measure.column, measure.bounds, columns)
    if isinstance(measure, Moment):
        for factor in measure.factors:
            _check_bounds(factor.column, factor.bounds, columns)
    if isinstance(measure, Histogram):
        check_values(measure.column, measure.values, columns)
    if isinstance(measure, ContingencyTable):
        for axis in measure.axes:
            check_values(axis.column, axis.values, columns)


def check_values(column: str, values: Keys | Bounds, columns: Columns) -> None:
    """Refuse keys or bounds that the facts of a column do not admit."""
    if isinstance(values, Bounds):
        _check_bounds(column, values, columns)
    else:
        _check_key(GroupKey(column=column, values=values), columns)


def _check_bounds(column: str, bounds: Bounds, columns: Columns) -> None:
    column_type(column, types_of(columns))
    known = columns[column].bounds_of_sums or columns[column].usual
    if known is None or not (known.contains(bounds) or is_coarsened(bounds, known)):
        raise UndeclaredColumn(
            f"{column!r} is summed, but no bounds that contain these were declared for it; "
            f"declare columns={{{column!r}: Bounds(lower, upper, step=...)}}"
        )
