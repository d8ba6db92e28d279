"""Expressions in Ibis: their meaning, the same on every engine.

Values have the types that all engines share: integers have 64 bits, other numbers are doubles. A function
that would fail on some value never gets it: the value is replaced by NULL before, not after, because engines
may evaluate it before a condition.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import BooleanValue, NumericValue, Value
from ibis.expr.types import Column as IbisColumn

from discreet.data.compile import conditional, exponential, numeric, strings, temporal
from discreet.data.compile.calls import CallLine, Operands
from discreet.data.compile.casts import as_type, cast_to
from discreet.data.compile.comparisons import compare, compare_literal, is_in, moment, nearest
from discreet.data.engines.base import double, public_type
from discreet.data.facts.type_check import type_of
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.data.language.types import Type

__all__ = ["compile_expression"]

IbisColumns: TypeAlias = Mapping[str, IbisColumn]


def compile_expression(node: Expression, columns: IbisColumns) -> Value:
    """Return an expression over columns of an Ibis table, by their public names.

    The expression was checked by `data.facts.type_check` under the columns' types.
    """
    return _Meaning(columns).of(node)


class _Meaning:
    """What nodes mean over the columns of one Ibis table."""

    def __init__(self, columns: IbisColumns) -> None:
        self._columns = columns
        names = columns.columns if isinstance(columns, ibis.Table) else columns
        self._schema = {name: public_type(columns[name].type()) for name in names}

    def of(self, node: Expression) -> Value:
        """Return the value of a node, in the type it has by itself."""
        if isinstance(node, Column):
            return self._columns[node.name]
        if isinstance(node, Compare):
            return self._compared(node.operator, node.left, node.right)
        if isinstance(node, IsIn):
            return is_in(self.of(node.operand), node.values)
        if isinstance(node, And | Or):
            return _joined([self.of(operand) for operand in node.operands], isinstance(node, And))
        if isinstance(node, Not):
            # Written so because Ibis prints NOT without parentheses below a comparison or IS NULL.
            return self.of(node.operand) == ibis.literal(False)
        if isinstance(node, IsNull):
            return self.of(node.operand).isnull()
        if isinstance(node, Arithmetic):
            return self._arithmetic(node)
        if isinstance(node, Cast):
            return cast_to(self.of(node.operand), node.type)
        if isinstance(node, Case):
            kind = type_of(node, self._schema)
            branches = [(self.of(part.condition), self._outcome(part.value, kind)) for part in node.branches]
            return ibis.cases(*branches, else_=self._outcome(node.otherwise, kind))
        if isinstance(node, Call):
            return self._called(node)
        return self.typed(node, Type.FLOAT if node.type is Type.DECIMAL else node.type)

    def typed(self, node: Expression, kind: Type) -> Value:
        """Return the value of a node as a type that it was found to share with others."""
        if not isinstance(node, Literal):
            return as_type(self.of(node), kind)
        if node.value is None:
            return ibis.null(IBIS_TYPES[kind])
        return _literal(node, kind)

    def _outcome(self, node: Expression, kind: Type) -> Value:
        if kind is Type.TEXT and isinstance(node, Literal) and node.value is not None:
            # A conversion to text brings the order of code points with it; a bare literal has none.
            return ibis.literal(node.value, type=dt.String(nullable=False)).cast(dt.string)
        return self.typed(node, kind)

    def _compared(self, comparison: Comparison, left: Expression, right: Expression) -> BooleanValue:
        if isinstance(right, Literal):
            return compare_literal(comparison, self.of(left), right)
        return compare(comparison, self.of(left), self.of(right))

    def _arithmetic(self, node: Arithmetic) -> Value:
        kind = type_of(node, self._schema)
        if type_of(node.left, self._schema) is Type.DATE:
            return temporal.count_days(self.typed(node.left, Type.DATE), self.typed(node.right, Type.DATE))
        result = self._double(node)
        return numeric.as_integer(result) if kind is Type.INTEGER else result

    def _double(self, node: Arithmetic) -> NumericValue:
        left, right = self._operand(node.left), self._operand(node.right)
        if node.operator is ArithmeticOperator.ADD:
            return left + right
        if node.operator is ArithmeticOperator.SUBTRACT:
            return left - right
        if node.operator is ArithmeticOperator.MULTIPLY:
            return left * right
        return left / right.nullif(double(0))

    def _operand(self, node: Expression) -> NumericValue:
        """Return a double that is NULL, zero, or within the magnitudes that `size_limits` counts on."""
        if isinstance(node, Literal):
            return double(nearest(Fraction(node.value)))  # type: ignore[arg-type]
        if isinstance(node, Arithmetic) and type_of(node.left, self._schema) is not Type.DATE:
            return self._double(node)
        value = self.of(node)
        return value.cast("float64") if value.type().is_integer() else numeric.tame(value.cast("float64"))

    def _called(self, call: Call) -> Value:
        kind = type_of(call, self._schema)
        operands = Operands(
            nodes=call.operands, kind=kind, value=self.of, typed=self.typed, type_of=self._type_of
        )
        return FUNCTIONS[call.function.name](operands)

    def _type_of(self, node: Expression) -> Type:
        return type_of(node, self._schema)


FUNCTIONS: dict[str, CallLine] = {
    **conditional.FUNCTIONS,
    **numeric.FUNCTIONS,
    **exponential.FUNCTIONS,
    **strings.FUNCTIONS,
    **temporal.FUNCTIONS,
}
"""What every function of the language is on an engine, by name."""

IBIS_TYPES = {
    Type.BOOLEAN: "boolean",
    Type.INTEGER: "int64",
    Type.FLOAT: "float64",
    Type.TEXT: "string",
    Type.DATE: "date",
    Type.TIMESTAMP: temporal.TIMESTAMP,
    Type.INSTANT: temporal.INSTANT,
}


def _joined(conditions: Sequence[BooleanValue], conjunction: bool) -> BooleanValue:
    """Join conditions as a balanced tree, since engines and compilers recurse."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    left, right = _joined(conditions[:half], conjunction), _joined(conditions[half:], conjunction)
    return left & right if conjunction else left | right


def _literal(node: Literal, kind: Type) -> Value:
    value = node.value
    if kind is Type.FLOAT:
        return double(nearest(Fraction(value)))  # type: ignore[arg-type]
    if kind in {Type.TIMESTAMP, Type.INSTANT}:
        if not isinstance(value, datetime.datetime):
            assert isinstance(value, datetime.date)  # noqa: S101
            value = datetime.datetime.combine(value, datetime.time())
        return moment(value, IBIS_TYPES[kind])
    if kind is Type.DATE:
        return moment(value, "date")
    if kind is Type.INTEGER and isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return ibis.null(IBIS_TYPES[kind])  # as for the result of a calculation beyond 64 bits
    return ibis.literal(value, type=IBIS_TYPES[kind])
