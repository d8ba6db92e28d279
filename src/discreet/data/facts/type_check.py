"""The type of an expression under a public schema, or a refusal that says what to write instead.

The refusal depends only on the request and the schema. It names columns and types; it never
contains a literal's value, which may be sensitive.
"""

from __future__ import annotations

from discreet.data.facts.operands import Typed
from discreet.data.facts.signatures import call_type, cast_type, declared_otherwise
from discreet.data.facts.size_limits import LARGEST_LITERAL_EXPONENT, check_growth, magnitude
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.data.language.functions.rules import common_type
from discreet.data.language.types import Schema, Type, column_type, comparable
from discreet.errors import UnsupportedQuery

__all__ = ["check_condition", "type_of"]


_LARGEST_EXACT = 1 << 53
_NUMBERS = (Type.INTEGER, Type.DECIMAL, Type.FLOAT)
_DAYS = (Type.DATE, Type.TIMESTAMP)


def check_condition(expression: Expression, schema: Schema) -> None:
    """Refuse what is not a condition: an expression that is neither TRUE, FALSE nor NULL."""
    found = type_of(expression, schema)
    if found is not Type.BOOLEAN:
        raise UnsupportedQuery(
            f"a condition must be true or false, and this one is of type {found.value}; "
            "compare it with something, such as age < 40"
        )


def type_of(expression: Expression, schema: Schema) -> Type:
    """Return the type of an expression, or refuse it.

    Parameters
    ----------
    expression : Expression
        Any expression; its depth is limited, so the recursion is.
    schema : mapping of names to types
        The public columns of the table.
    """
    found = _type_of(expression, schema)
    check_growth(expression)
    return found


def _type_of(expression: Expression, schema: Schema) -> Type:
    if isinstance(expression, Column):
        return column_type(expression.name, schema)
    if isinstance(expression, Literal):
        return expression.type
    if isinstance(expression, Compare):
        _check_comparison(expression, schema)
    elif isinstance(expression, IsIn):
        _check_membership(expression, schema)
    elif isinstance(expression, Arithmetic):
        return _arithmetic_type(expression, schema)
    elif isinstance(expression, Case):
        return _case_type(expression, schema)
    elif isinstance(expression, Cast):
        return cast_type(expression, _type_of(expression.operand, schema))
    elif isinstance(expression, Call):
        return call_type(expression, [_type_of(operand, schema) for operand in expression.operands])
    elif isinstance(expression, And | Or):
        for operand in expression.operands:
            _check_logic(operand, schema)
    elif isinstance(expression, Not):
        _check_logic(expression.operand, schema)
    elif isinstance(expression, IsNull):
        if _type_of(expression.operand, schema) is Type.NULL or isinstance(expression.operand, Literal):
            raise UnsupportedQuery("IS NULL asks about a constant; ask about a column, such as age IS NULL")
    else:
        raise UnsupportedQuery("the request holds something that is not an expression; build it with col()")
    return Type.BOOLEAN


def _case_type(expression: Case, schema: Schema) -> Type:
    for branch in expression.branches:
        found = _type_of(branch.condition, schema)
        if found is not Type.BOOLEAN:
            raise UnsupportedQuery(
                f"CASE WHEN takes a condition, not {found.value}; write CASE WHEN age < 18 THEN 'child' END"
            )
    values = [*(branch.value for branch in expression.branches), expression.otherwise]
    return common_type([Typed(value, _type_of(value, schema)) for value in values], "CASE")


def _check_comparison(expression: Compare, schema: Schema) -> None:
    left, right = _type_of(expression.left, schema), _type_of(expression.right, schema)
    if Type.NULL in (left, right):
        raise UnsupportedQuery("a comparison with NULL is never true; write x IS NULL or x IS NOT NULL")
    if isinstance(expression.left, Literal):
        raise UnsupportedQuery("a comparison of two constants says nothing about a row; leave it out")
    if not isinstance(expression.right, Literal) and {left, right} == {Type.DATE, Type.TIMESTAMP}:
        moment = expression.left if left is Type.TIMESTAMP else expression.right
        name = moment.name if isinstance(moment, Column) else "x"
        raise UnsupportedQuery(
            f"a date is compared with a timestamp; write CAST({name} AS DATE) of the latter"
        )
    _check_pair(left, right, expression.operator.value, expression.left)


def _check_membership(expression: IsIn, schema: Schema) -> None:
    operand = _type_of(expression.operand, schema)
    if isinstance(expression.operand, Literal):
        raise UnsupportedQuery("IN asks about a constant; ask about a column, such as city IN (...)")
    for value in expression.values:
        _check_pair(operand, value.type, "IN", expression.operand)


def _check_pair(left: Type, right: Type, operator: str, compared: Expression) -> None:
    if comparable(left, right):
        return
    if Type.OTHER in (left, right):
        raise UnsupportedQuery(
            f"{operator} is not defined on a column of this type; it can only be tested with IS NULL"
        )
    # To quote a number would compare its digits as text: what is wanted is a column of numbers.
    rewrite = _rewrite(left)
    if left is Type.TEXT and right in (*_NUMBERS, *_DAYS):
        rewrite = declared_otherwise(compared, days=right in _DAYS)
    raise UnsupportedQuery(
        f"{operator} compares {left.value} with {right.value}; write both sides as one type{rewrite}"
    )


def _rewrite(column: Type) -> str:
    examples = {
        Type.TEXT: ", as in name = 'x'",
        Type.INTEGER: ", as in age = 40",
        Type.DATE: ", as in DATE '2026-01-31'",
        Type.TIMESTAMP: ", as in TIMESTAMP '2026-01-31 12:00:00'",
        Type.INSTANT: ", with a datetime that has a time zone",
        Type.BOOLEAN: ", as in flag = TRUE",
    }
    return examples.get(column, "")


def _arithmetic_type(expression: Arithmetic, schema: Schema) -> Type:
    least, largest = magnitude(expression)
    if least < -LARGEST_LITERAL_EXPONENT or largest > LARGEST_LITERAL_EXPONENT:
        raise UnsupportedQuery(
            "the arithmetic multiplies or divides so often that it could overflow; use fewer factors"
        )
    sides = (expression.left, expression.right)
    types = [_type_of(operand, schema) for operand in sides]
    if types == [Type.DATE, Type.DATE] and expression.operator is ArithmeticOperator.SUBTRACT:
        return Type.INTEGER
    for found in types:
        if found in {Type.DATE, Type.TIMESTAMP, Type.INSTANT}:
            raise UnsupportedQuery(
                f"{expression.operator.value} takes numbers, not {found.value}; write "
                f"{'' if found is Type.DATE else 'EPOCH(last) - EPOCH(first) for seconds, '}"
                "DATEDIFF('day', first, last), or compare with a date"
            )
        if not found.is_number:
            raise UnsupportedQuery(
                f"{expression.operator.value} takes numbers, not {found.value}; use a column of numbers"
            )
    whole = all(_is_whole(one, found) for one, found in zip(sides, types, strict=True))
    return Type.INTEGER if whole and expression.operator is not ArithmeticOperator.DIVIDE else Type.FLOAT


def _is_whole(operand: Expression, found: Type) -> bool:
    """Return whether an operand is an integer, and if it is a literal one that doubles hold exactly."""
    if isinstance(operand, Literal):
        return type(operand.value) is int and abs(operand.value) <= _LARGEST_EXACT
    return found is Type.INTEGER


def _check_logic(operand: Expression, schema: Schema) -> None:
    found = _type_of(operand, schema)
    if found is not Type.BOOLEAN:
        raise UnsupportedQuery(
            f"AND, OR and NOT take conditions, not {found.value}; compare it with something, such as age < 40"
        )
