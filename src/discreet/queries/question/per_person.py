"""Aggregates of each person's own rows, as requests name them."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.data import Aggregate, AggregateFunction, Relation
from discreet.data.language.description import describe_expression
from discreet.data.language.expressions import Column, Expression
from discreet.data.language.relations import Named, PerPerson, Personal, PersonalFunction
from discreet.errors import UnsupportedQuery
from discreet.queries.question.query import derived

__all__ = ["free_name", "per_person_of"]

_FUNCTIONS = {
    AggregateFunction.COUNT: PersonalFunction.COUNT,
    AggregateFunction.COUNT_DISTINCT: PersonalFunction.COUNT_DISTINCT,
    AggregateFunction.SUM: PersonalFunction.SUM,
    AggregateFunction.MEAN: PersonalFunction.MEAN,
    AggregateFunction.MINIMUM: PersonalFunction.MINIMUM,
    AggregateFunction.MAXIMUM: PersonalFunction.MAXIMUM,
}


def per_person_of(relation: Relation, keys: tuple[str, ...], aggregates: Mapping[str, object]) -> Relation:
    """Return one row for each person and combination of keys.

    What an aggregate calculates becomes a column first, under a name that no key and no operand has.
    """
    taken = {key.lower() for key in keys}
    listed = []
    for name, aggregate in aggregates.items():
        if not isinstance(aggregate, Aggregate) or aggregate.function not in _FUNCTIONS:
            raise UnsupportedQuery(
                "this cannot be computed of each person's rows; write count(), col('x').count(), "
                "count_distinct(), "
                "sum(), mean(), min() or max()"
            )
        operand = aggregate.operand
        listed.append((name, _FUNCTIONS[aggregate.function], operand))
        if isinstance(operand, Column):
            taken.add(operand.name.lower())
    below: dict[Expression, str] = {}
    personals = []
    for name, function, operand in listed:
        column = operand.name if isinstance(operand, Column) else None
        if operand is not None and column is None:
            if operand not in below:
                below[operand] = free_name(describe_expression(operand), taken)
            column = below[operand]
        personals.append(Personal(name=name, function=function, column=column))
    columns = tuple(Named(name=name, expression=expression) for expression, name in below.items())
    return PerPerson(source=derived(relation, columns), keys=keys, columns=tuple(personals))


def free_name(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, ignoring case, and take it."""
    free, number = name, 1
    while free.lower() in taken:
        number += 1
        free = f"{name} {number}"
    taken.add(free.lower())
    return free
