"""The type of an expression under a public schema, or a refusal that says what to write instead.

The refusal depends on the request and the schema alone. It names columns and types; it never
names a literal's value, which may be sensitive.
"""

from __future__ import annotations

from difflib import get_close_matches
from fractions import Fraction

from discreet.data.expressions import (
    COLUMN_BITS,
    And,
    Arithmetic,
    ArithmeticOperator,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.data.schema import Schema, Type, comparable
from discreet.errors import UndeclaredColumn, UnsupportedQuery

__all__ = ["check_condition", "column_type", "suggestion", "type_of"]


_LARGEST_EXPONENT = 1000
_NUMBERS = (Type.INTEGER, Type.DECIMAL, Type.FLOAT)
_DECLARE_NUMBERS = (
    "; if the column holds numbers, have its owner declare its bounds or its type: "
    "a column of a CSV file is text unless it is declared"
)


def check_condition(expression: Expression, schema: Schema) -> None:
    """Refuse what is no condition: an expression that is neither TRUE, FALSE nor NULL."""
    found = type_of(expression, schema)
    if found is not Type.BOOLEAN:
        raise UnsupportedQuery(
            f"a condition must be true or false, and this one is of type {found.value}; "
            "compare it with something, such as age < 40"
        )


def column_type(name: str, schema: Schema) -> Type:
    """Return the type of a column, or say which columns there are."""
    if name in schema:
        return schema[name]
    raise UndeclaredColumn(f"there is no column {name!r}; there is {suggestion(name, schema)}")


def type_of(expression: Expression, schema: Schema) -> Type:
    """Return the type of an expression, or refuse it.

    Parameters
    ----------
    expression : Expression
        Any expression; its depth is limited, so the recursion is.
    schema : mapping of names to types
        The public columns of the table.
    """
    if isinstance(expression, Column):
        return column_type(expression.name, schema)
    if isinstance(expression, Literal):
        return expression.type
    if isinstance(expression, Compare):
        _check_comparison(expression, schema)
    elif isinstance(expression, IsIn):
        _check_membership(expression, schema)
    elif isinstance(expression, Arithmetic):
        _check_arithmetic(expression, schema)
        return Type.FLOAT
    elif isinstance(expression, And | Or):
        for operand in expression.operands:
            _check_logic(operand, schema)
    elif isinstance(expression, Not):
        _check_logic(expression.operand, schema)
    elif isinstance(expression, IsNull):
        if type_of(expression.operand, schema) is Type.NULL or isinstance(expression.operand, Literal):
            raise UnsupportedQuery("IS NULL asks about a constant; ask about a column, such as age IS NULL")
    else:
        raise UnsupportedQuery("the request holds something that is no expression; build it with col()")
    return Type.BOOLEAN


def _check_comparison(expression: Compare, schema: Schema) -> None:
    left, right = type_of(expression.left, schema), type_of(expression.right, schema)
    if Type.NULL in (left, right):
        raise UnsupportedQuery("a comparison with NULL is never true; write x IS NULL or x IS NOT NULL")
    if isinstance(expression.left, Literal):
        raise UnsupportedQuery("a comparison of two constants says nothing about a row; leave it out")
    if not isinstance(expression.right, Literal) and {left, right} == {Type.DATE, Type.TIMESTAMP}:
        raise UnsupportedQuery("a date is compared with a timestamp column; compare each with a constant")
    _check_pair(left, right, expression.operator.value)


def _check_membership(expression: IsIn, schema: Schema) -> None:
    operand = type_of(expression.operand, schema)
    if isinstance(expression.operand, Literal):
        raise UnsupportedQuery("IN asks about a constant; ask about a column, such as city IN (...)")
    for value in expression.values:
        _check_pair(operand, value.type, "IN")


def _check_pair(left: Type, right: Type, operator: str) -> None:
    if comparable(left, right):
        return
    if Type.OTHER in (left, right):
        raise UnsupportedQuery(
            f"{operator} is not defined on a column of this type; it can only be tested with IS NULL"
        )
    # To quote a number would compare its digits as text: what is wanted is a column of numbers.
    is_number_wanted = left is Type.TEXT and right in _NUMBERS
    rewrite = _DECLARE_NUMBERS if is_number_wanted else _rewrite(left)
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


def _check_arithmetic(expression: Arithmetic, schema: Schema) -> None:
    least, largest = _magnitude(expression)
    if least < -_LARGEST_EXPONENT or largest > _LARGEST_EXPONENT:
        raise UnsupportedQuery(
            "the arithmetic multiplies or divides so often that it could overflow; use fewer factors"
        )
    for operand in (expression.left, expression.right):
        found = type_of(operand, schema)
        if not found.is_number:
            raise UnsupportedQuery(
                f"{expression.operator.value} takes numbers, not {found.value}; use a column of numbers"
            )


def _magnitude(expression: Expression) -> tuple[int, int]:
    """Return exponents a, b such that the value is NULL, 0, or in [2^a, 2^b] in magnitude.

    Doubles that are multiples of 2^(a - 53) have sums that are so, too.
    """
    if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
        number = Fraction(expression.value)
        exponent = number.numerator.bit_length() - number.denominator.bit_length()
        return (exponent - 1, exponent + 1) if number else (0, 0)
    if not isinstance(expression, Arithmetic):
        return -COLUMN_BITS, COLUMN_BITS
    (least, largest), (other_least, other_largest) = _magnitude(expression.left), _magnitude(expression.right)
    if expression.operator is ArithmeticOperator.MULTIPLY:
        return least + other_least - 1, largest + other_largest + 1
    if expression.operator is ArithmeticOperator.DIVIDE:
        return least - other_largest - 1, largest - other_least + 1
    return min(least, other_least) - 53, max(largest, other_largest) + 1


def _check_logic(operand: Expression, schema: Schema) -> None:
    found = type_of(operand, schema)
    if found is not Type.BOOLEAN:
        raise UnsupportedQuery(
            f"AND, OR and NOT take conditions, not {found.value}; compare it with something, such as age < 40"
        )


def suggestion(name: str, schema: Schema) -> str:
    """Name the columns that a mistyped name may have meant."""
    names = get_close_matches(name, schema, n=3, cutoff=0.6) or list(schema)
    shown = ", ".join(repr(name) for name in names[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown
