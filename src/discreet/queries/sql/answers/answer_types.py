"""The types of columns of relations over answers; what does not fit is refused before any charge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.data import Aggregate, AggregateFunction
from discreet.data.facts.type_check import check_condition
from discreet.data.language.expressions import Column
from discreet.data.language.types import Schema, Type, comparable
from discreet.errors import UnsupportedQuery
from discreet.queries.outputs.calculation import check_calculation
from discreet.queries.question.answer_relations import (
    AnswerRelation,
    Combined,
    Cut,
    Extended,
    Joined,
    Kept,
    Measured,
    OneRow,
    Regrouped,
    Rows,
)

__all__ = ["check_aggregate_of_answer", "schema_of_answer"]

_NUMBERS = (Type.INTEGER, Type.DECIMAL, Type.FLOAT)
_ANY_TYPE = {
    AggregateFunction.COUNT,
    AggregateFunction.COUNT_DISTINCT,
    AggregateFunction.MINIMUM,
    AggregateFunction.MAXIMUM,
}
_OF_NUMBERS = {
    AggregateFunction.SUM,
    AggregateFunction.MEAN,
    AggregateFunction.QUANTILE,
    AggregateFunction.VARIANCE,
    AggregateFunction.SAMPLE_VARIANCE,
    AggregateFunction.STANDARD_DEVIATION,
    AggregateFunction.SAMPLE_STANDARD_DEVIATION,
}
_KNOWN = "COUNT, SUM, AVG, MIN, MAX, MEDIAN, QUANTILE, VARIANCE and STDDEV can be taken of answers"


def schema_of_answer(relation: AnswerRelation, parts: Sequence[Mapping[str, Type]]) -> dict[str, Type]:
    """Return the types of the columns of a relation, or refuse it.

    Parameters
    ----------
    relation : AnswerRelation
        What is calculated.
    parts : sequence of mappings
        The types of the keys and outputs of every measured question.
    """
    if isinstance(relation, Measured):
        return {name: parts[relation.part][source] for name, source in relation.columns}
    if isinstance(relation, Rows):
        return {
            name: column.type for name, column in zip(relation.columns, relation.rows.columns, strict=True)
        }
    if isinstance(relation, OneRow):
        return {}
    if isinstance(relation, Joined):
        one, other = (schema_of_answer(side, parts) for side in (relation.one, relation.other))
        for pair in relation.on:
            if not comparable(one[pair.left], other[pair.right]):
                raise UnsupportedQuery(
                    "a join of answers equates columns of different types; equate keys of one type"
                )
        return {**one, **other}
    if isinstance(relation, Combined):
        return _combined(relation, parts)
    schema = schema_of_answer(relation.source, parts)
    if isinstance(relation, Extended):
        return {**schema, **{one.name: check_calculation(one.expression, schema) for one in relation.columns}}
    if isinstance(relation, Kept):
        check_condition(relation.condition, schema)
        check_calculation(relation.condition, schema)
        return schema
    if isinstance(relation, Regrouped):
        aggregates = {name: _aggregated(aggregate, schema) for name, aggregate in relation.columns}
        return {**{key: schema[key] for key in relation.keys}, **aggregates}
    if isinstance(relation, Cut):
        if any(schema[part.column] is Type.OTHER for part in relation.order):
            raise UnsupportedQuery(
                "an answer is sorted by lists, which have no order; sort by another column"
            )
        return schema
    return {name: schema[column] for name, column in relation.columns}


def check_aggregate_of_answer(function: AggregateFunction) -> None:
    """Refuse an aggregate that cannot be taken of answers."""
    if function not in _ANY_TYPE | _OF_NUMBERS:
        raise UnsupportedQuery(
            f"the {function.value} of an answer is not in the language of private queries; {_KNOWN}"
        )


def _aggregated(aggregate: Aggregate, schema: Schema) -> Type:
    function, operand = aggregate.function, aggregate.operand
    check_aggregate_of_answer(function)
    if operand is None:
        return Type.INTEGER
    assert isinstance(operand, Column)  # noqa: S101
    kind = schema[operand.name]
    if kind is Type.OTHER or (function in _OF_NUMBERS and kind not in _NUMBERS):
        raise UnsupportedQuery(
            f"the {function.value} of {kind.value} is taken, in an answer; take it of a number"
        )
    if function in {AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT}:
        return Type.INTEGER
    if function in {AggregateFunction.SUM, AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM}:
        return kind
    return Type.FLOAT


def _combined(relation: Combined, parts: Sequence[Mapping[str, Type]]) -> dict[str, Type]:
    one, other = (schema_of_answer(side, parts) for side in (relation.one, relation.other))
    if len(one) != len(other):
        raise UnsupportedQuery(
            "UNION, INTERSECT or EXCEPT joins answers of different width; select as many columns in each part"
        )
    found = {}
    for (name, kind), right in zip(one.items(), other.values(), strict=True):
        if Type.OTHER in {kind, right} or (kind != right and not {kind, right} <= set(_NUMBERS)):
            raise UnsupportedQuery(
                "UNION, INTERSECT or EXCEPT puts columns of different types under each other; select columns "
                "of one type, or CAST them"
            )
        found[name] = kind if kind == right else Type.FLOAT
    return found
