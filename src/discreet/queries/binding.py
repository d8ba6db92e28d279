"""From names to a plan: what a query means over the declared tables, still without a budget.

Which measures are taken, and how outputs share them:

- COUNT(x), SUM(x) and AVG(x) see the same values: those that the rules of the column's bounds call
  present. COUNT(x) of a column without bounds counts what is not NULL.
- AVG(x) is the sum of x less the middle of the bounds, over the number of values. Every AVG, COUNT and
  SUM of the same column reads the same count.
- SUM(x) beside AVG(x) is read off the parts of AVG(x): two measures for both instead of three. With H half
  the width of the bounds, c their middle and R = H + abs(c), the error of the sum comes from noise
  for H and noise for abs(c), and no budget goes to a third measure; with the division of `splitting` all
  errors are smaller. SUM(x) alone is a single sum, since one noise for R is smaller than the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.data import (
    DROP,
    Aggregate,
    AggregateFunction,
    Bounds,
    CountNonNull,
    CountRows,
    Group,
    GroupKey,
    Keys,
    Plan,
    Statistics,
    Sum,
    Table,
    Type,
    sensitivity,
)
from discreet.data.checking import column_type, suggestion
from discreet.data.columns import Columns, types_of
from discreet.data.description import describe_expression
from discreet.data.expressions import Column, Expression
from discreet.data.facts import columns_of_relation
from discreet.data.relation import Named, Project, Relation, public_tables, sources_of
from discreet.errors import UndeclaredColumn
from discreet.queries.outputs import CountOutput, MeanOutput, QueryOutput, SumOutput
from discreet.queries.query import Query, key_of

__all__ = ["BoundQuery", "bind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundQuery:
    """A query over declared tables: all that is public about it, but for a budget.

    Attributes
    ----------
    plan : Plan
        What is computed.
    outputs : tuple of QueryOutput
        How the answer is made of it.
    statistics : Statistics
        How far one person moves each measure.
    versions : tuple of (table, version)
        Which data are read.
    """

    plan: Plan
    outputs: tuple[QueryOutput, ...]
    statistics: Statistics
    versions: tuple[tuple[str, str], ...]


def bind(query: Query, tables: Mapping[str, Table]) -> BoundQuery:
    """Return what a query means over the declared tables, or refuse it; no data is touched.

    Raises
    ------
    UndeclaredColumn
        For a table or a column that is not there, a key without declared keys, a sum or mean without bounds.
    UnsupportedQuery
        For a condition that compares what cannot be compared.
    """
    read = (*sources_of(query.relation), *public_tables(query.relation))
    for name in read:
        if name not in tables:
            known = suggestion(name, dict.fromkeys(tables, Type.OTHER)) if tables else "none"
            raise UndeclaredColumn(f"there is no such table; there is {known}")
    relation, aggregates = _calculated(query)
    columns = columns_of_relation(relation, tables)
    keys = tuple(GroupKey(column=key.name, values=_keys(key.name, columns)) for key in query.keys)
    averaged = {
        aggregate.operand for _, aggregate in aggregates if aggregate.function is AggregateFunction.MEAN
    }
    outputs = tuple(
        _output(name, aggregate, columns, beside_mean=aggregate.operand in averaged)
        for name, aggregate in aggregates
    )
    measures = dict.fromkeys(measure for output in outputs for measure in output.measures)
    plan = Group(source=relation, keys=keys, measures=tuple(measures))
    return BoundQuery(
        plan=plan,
        outputs=outputs,
        statistics=sensitivity(plan, tables),
        versions=tuple((name, tables[name].version) for name in read),
    )


def _calculated(query: Query) -> tuple[Relation, tuple[tuple[str, Aggregate], ...]]:
    """Return the relation with every calculation as a column of its own, and the aggregates of columns.

    A query of plain columns keeps its relation as it is.
    """
    operands = [aggregate.operand for _, aggregate in query.outputs if aggregate.operand is not None]
    plain = all(isinstance(operand, Column) for operand in operands)
    if plain and all(key == key_of(key.name) for key in query.keys):
        return query.relation, query.outputs
    taken = {key.name.lower() for key in query.keys}
    names: dict[Expression, str] = {key.expression: key.name for key in query.keys}
    for operand in operands:
        if operand not in names:
            names[operand] = _free(describe_expression(operand), taken)
            taken.add(names[operand].lower())
    columns = tuple(Named(name=name, expression=expression) for expression, name in names.items())
    aggregates = tuple(
        (
            name,
            aggregate if aggregate.operand is None else aggregate.of(Column(name=names[aggregate.operand])),
        )
        for name, aggregate in query.outputs
    )
    return Project(source=query.relation, columns=columns), aggregates


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken."""
    free, number = name, 1
    while free.lower() in taken:
        number += 1
        free = f"{name} {number}"
    return free


def _keys(name: str, columns: Columns) -> Keys:
    column_type(name, types_of(columns))
    known = columns[name].keys
    if known is not None:
        return known
    raise UndeclaredColumn(
        f"{name!r} is grouped by, but its keys were never declared; group by {_with('keys', columns)}, "
        f"use it in a condition only, or have its owner declare columns={{{name!r}: Keys([...])}}"
    )


def _bounds(name: str, function: AggregateFunction, columns: Columns) -> Bounds:
    column_type(name, types_of(columns))
    known = columns[name].bounds
    if known is not None:
        return known
    raise UndeclaredColumn(
        f"the {function.value} of {name!r} needs bounds, which were never declared; take that of "
        f"{_with('bounds', columns)}, or have its owner declare "
        f"columns={{{name!r}: Bounds(lower, upper, step=...)}}"
    )


def _with(kind: str, columns: Columns) -> str:
    """Name the columns of which something is known."""
    names = [repr(name) for name, facts in columns.items() if getattr(facts, kind) is not None]
    return " or ".join(names[:10]) or "none so far"


def _output(name: str, aggregate: Aggregate, columns: Columns, *, beside_mean: bool) -> QueryOutput:
    function, operand = aggregate.function, aggregate.operand
    if not isinstance(operand, Column):
        return CountOutput(name=name, measure=CountRows())
    column = operand.name
    if function is AggregateFunction.COUNT:
        return CountOutput(name=name, measure=_present(column, columns))
    bounds = _bounds(column, function, columns)
    centered = Sum(column=column, bounds=bounds, center=_middle(bounds) * bounds.step)
    if function is AggregateFunction.MEAN:
        return MeanOutput(name=name, total=centered, count=_present(column, columns))
    if beside_mean and centered.center:
        return SumOutput(name=name, total=centered, count=_present(column, columns))
    return SumOutput(name=name, total=Sum(column=column, bounds=bounds))


def _middle(bounds: Bounds) -> int:
    """Return the grid point nearest to the middle of the bounds, in steps."""
    return (bounds.lower_steps + bounds.upper_steps) // 2


def _present(column: str, columns: Columns) -> CountRows | CountNonNull:
    """Return the count of the values of a column, in its simplest spelling, so that equal counts are shared.

    If only NULL counts as absent it is the count of what is not NULL, and if nothing does, that of rows.
    Integers and booleans have no NaN and no infinity.
    """
    found, bounds = column_type(column, types_of(columns)), columns[column].bounds
    if bounds is None:
        return CountNonNull(column=column)
    if found not in {Type.INTEGER, Type.BOOLEAN} and DROP in (bounds.nan, bounds.infinity):
        return CountNonNull(column=column, bounds=bounds)
    return CountNonNull(column=column) if bounds.null == DROP else CountRows()
