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
from discreet.data.expressions import Column
from discreet.errors import UndeclaredColumn
from discreet.queries.outputs import CountOutput, MeanOutput, QueryOutput, SumOutput
from discreet.queries.query import Query

__all__ = ["BoundQuery", "NotDeclared", "bind"]


class NotDeclared(UndeclaredColumn):
    """A column needs keys or bounds that its owner never declared.

    Parameters
    ----------
    problem : str
        What is wrong, up to the words before what has to be declared.
    table, column : str
        Where it is needed.
    needs : Keys or Bounds
        The kind of declaration. The message spells it in Python; a shell spells it in TOML.
    """

    def __init__(self, problem: str, table: str, column: str, needs: type[Keys] | type[Bounds]) -> None:
        super().__init__(problem, table, column, needs)
        self.problem = problem
        self.table = table
        self.column = column
        self.needs = needs

    def __str__(self) -> str:
        inside = "[...]" if self.needs is Keys else "lower, upper, step=..."
        return f"{self.problem} columns={{{self.column!r}: {self.needs.__name__}({inside})}}"


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
    if query.table not in tables:
        known = suggestion(query.table, dict.fromkeys(tables, Type.OTHER)) if tables else "none"
        raise UndeclaredColumn(f"there is no such table; there is {known}")
    table = tables[query.table]
    keys = tuple(GroupKey(column=name, values=_keys(name, table, query.table)) for name in query.keys)
    averaged = {
        aggregate.operand for _, aggregate in query.outputs if aggregate.function is AggregateFunction.MEAN
    }
    outputs = tuple(
        _output(name, aggregate, table, query.table, beside_mean=aggregate.operand in averaged)
        for name, aggregate in query.outputs
    )
    measures = dict.fromkeys(measure for output in outputs for measure in output.measures)
    plan = Group(source=query.relation, keys=keys, measures=tuple(measures))
    return BoundQuery(
        plan=plan,
        outputs=outputs,
        statistics=sensitivity(plan, tables),
        versions=((query.table, table.version),),
    )


def _keys(name: str, table: Table, where: str) -> Keys:
    column_type(name, table.schema)
    declared = table.columns.get(name)
    if isinstance(declared, Keys):
        return declared
    others = _with(Keys, table)
    if name == table.person:
        raise UndeclaredColumn(
            f"{name!r} says whose row it is: each group would be one person, and groups of one person cannot "
            f"be private; {f'group by {others}, or ' if others else ''}ask without GROUP BY {name}"
        )
    raise NotDeclared(
        f"{name!r} is grouped by, but its keys were never declared; "
        f"{f'group by {others}, ' if others else ''}use it in a condition only, or have its owner declare",
        where,
        name,
        Keys,
    )


def _bounds(name: str, function: AggregateFunction, table: Table, where: str) -> Bounds:
    column_type(name, table.schema)
    declared = table.columns.get(name)
    if isinstance(declared, Bounds):
        return declared
    others = _with(Bounds, table)
    if name == table.person:
        raise UndeclaredColumn(
            f"the {function.value} of {name!r} needs bounds, which a column that says whose row it is cannot "
            f"have; {f'take that of {others}' if others else 'ask for COUNT(*)'}"
        )
    raise NotDeclared(
        f"the {function.value} of {name!r} needs bounds, which were never declared; "
        f"{f'take that of {others}, or ' if others else ''}have its owner declare",
        where,
        name,
        Bounds,
    )


def _with(kind: type[Keys] | type[Bounds], table: Table) -> str:
    """Name the columns that have a declaration of some kind; empty where none has."""
    names = [repr(name) for name, declared in table.columns.items() if isinstance(declared, kind)]
    return " or ".join(names[:10])


def _output(name: str, aggregate: Aggregate, table: Table, where: str, *, beside_mean: bool) -> QueryOutput:
    function, operand = aggregate.function, aggregate.operand
    if not isinstance(operand, Column):
        return CountOutput(name=name, measure=CountRows())
    column = operand.name
    if function is AggregateFunction.COUNT:
        return CountOutput(name=name, measure=_present(column, table))
    bounds = _bounds(column, function, table, where)
    centered = Sum(column=column, bounds=bounds, center=_middle(bounds) * bounds.step)
    if function is AggregateFunction.MEAN:
        return MeanOutput(name=name, total=centered, count=_present(column, table))
    if beside_mean and centered.center:
        return SumOutput(name=name, total=centered, count=_present(column, table))
    return SumOutput(name=name, total=Sum(column=column, bounds=bounds))


def _middle(bounds: Bounds) -> int:
    """Return the grid point nearest to the middle of the bounds, in steps."""
    return (bounds.lower_steps + bounds.upper_steps) // 2


def _present(column: str, table: Table) -> CountRows | CountNonNull:
    """Return the count of the values of a column, in its simplest spelling, so that equal counts are shared.

    If only NULL counts as absent it is the count of what is not NULL, and if nothing does, that of rows.
    Integers and booleans have no NaN and no infinity.
    """
    found = column_type(column, table.schema)
    bounds = table.columns.get(column)
    if not isinstance(bounds, Bounds):
        return CountNonNull(column=column)
    if found not in {Type.INTEGER, Type.BOOLEAN} and DROP in (bounds.nan, bounds.infinity):
        return CountNonNull(column=column, bounds=bounds)
    return CountNonNull(column=column) if bounds.null == DROP else CountRows()
