"""What functions and conversions take and give: the types of `Call` and `Cast`.

A refusal names the function and shows how it is written; it never contains a literal.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.data.facts.operands import Typed
from discreet.data.language.expressions import Call, Cast, Column, Expression, Literal
from discreet.data.language.functions import ScalarFunction
from discreet.data.language.functions.rules import INTEGERS, MOMENTS, NUMBERS, TEXTS, TIMES, is_long
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery

__all__ = ["CASTS", "call_type", "cast_type", "declared_otherwise"]

_WRITTEN = {
    NUMBERS: "numbers",
    INTEGERS: "integers",
    TEXTS: "text",
    MOMENTS: "dates or timestamps",
    TIMES: "timestamps",
}

CASTS: dict[Type, frozenset[Type]] = {
    Type.BOOLEAN: frozenset({Type.BOOLEAN, Type.INTEGER, Type.FLOAT, Type.TEXT}),
    Type.INTEGER: frozenset({Type.INTEGER, Type.FLOAT, Type.TEXT}),
    Type.DECIMAL: frozenset({Type.INTEGER, Type.FLOAT}),
    Type.FLOAT: frozenset({Type.INTEGER, Type.FLOAT}),
    Type.TEXT: frozenset({Type.TEXT, Type.INTEGER, Type.FLOAT, Type.DATE}),
    Type.DATE: frozenset({Type.DATE, Type.TIMESTAMP, Type.TEXT}),
    Type.TIMESTAMP: frozenset({Type.TIMESTAMP, Type.DATE}),
    Type.INSTANT: frozenset({Type.INSTANT, Type.TIMESTAMP, Type.DATE}),
}
"""Which types convert to which."""


def cast_type(cast: Cast, found: Type) -> Type:
    """Return the type that a conversion gives."""
    if isinstance(cast.operand, Literal):
        raise UnsupportedQuery("CAST converts a constant; write the constant as the type it should have")
    if cast.type in CASTS.get(found, ()):
        return cast.type
    if cast.type is Type.DECIMAL:
        raise UnsupportedQuery(
            "CAST to a decimal rounds by rules that differ; write CAST(x AS DOUBLE) or ROUND(x, 2)"
        )
    if cast.type is Type.TEXT:
        raise UnsupportedQuery(
            f"CAST of {found.value} to text has a spelling that differs between engines; "
            "convert integers, dates or booleans, for instance ROUND(x)"
        )
    if cast.type is Type.BOOLEAN:
        raise UnsupportedQuery(
            f"CAST of {found.value} to boolean is not supported; write a condition, as in x <> 0"
        )
    raise UnsupportedQuery(
        f"CAST of {found.value} to {cast.type.value} is not supported; "
        "use a column of that type, or convert it first to INTEGER, DOUBLE, TEXT or DATE"
    )


def call_type(call: Call, types: Sequence[Type]) -> Type:
    """Return the type that a function gives, given those of its operands, or refuse what it does not take."""
    function = call.function
    operands = [Typed(operand, kind) for operand, kind in zip(call.operands, types, strict=True)]
    if Type.NULL in types:
        raise UnsupportedQuery(f"{function.title} is given NULL as a constant; write {function.example}")
    if function.constants is not None and not function.constants(operands):
        raise UnsupportedQuery(
            f"{function.title} is given operands that it does not take; write {function.example}"
        )
    if function.takes is not None:
        _check_types(function, function.takes, operands)
    return function.gives if isinstance(function.gives, Type) else function.gives(operands)


def _check_types(function: ScalarFunction, taken: frozenset[Type], operands: Sequence[Typed]) -> None:
    for operand in operands:
        # Constants were checked as the function demands; integers are of 64 bits.
        is_checked = function.constants is not None and isinstance(operand.expression, Literal)
        is_taken = is_checked or operand.type in taken
        if is_taken and taken == INTEGERS and is_long(operand):
            raise UnsupportedQuery(
                f"{function.title} takes integers of 64 bits, and a constant is longer; "
                "write one up to 9223372036854775807"
            )
        if not is_taken:
            # Of a column that is called as that of the example, the example is what was written.
            is_example = function.example.startswith(f"{function.title}({_name_of(operand)})")
            rewrite = "" if is_example else f"; write {function.example}"
            raise UnsupportedQuery(
                f"{function.title} takes {_WRITTEN[taken]}, not {operand.type.value}"
                f"{rewrite}{_of_text(operand, taken)}"
            )


def _name_of(operand: Typed) -> str:
    return operand.expression.name if isinstance(operand.expression, Column) else ""


def declared_otherwise(expression: Expression, *, days: bool) -> str:
    """Say what to write, and what its owner declares, where a column that is text holds days or numbers."""
    what, declaration = ("days", "Dates(first, last)") if days else ("numbers", "Bounds(lower, upper)")
    if not isinstance(expression, Column):
        return f"; if a column holds {what}, have its owner declare {declaration} or its type"
    name = expression.name
    return (
        f"; {name!r} is text, as columns of CSV files and of Python objects are unless declared: if it holds "
        f"{what}, write CAST({name} AS {'DATE' if days else 'DOUBLE'}), or have its owner declare "
        f"columns={{{name!r}: {declaration}}}"
    )


def _of_text(operand: Typed, taken: frozenset[Type]) -> str:
    if operand.type is not Type.TEXT or not isinstance(operand.expression, Column):
        return ""
    if Type.DATE in taken:
        return declared_otherwise(operand.expression, days=True)
    return declared_otherwise(operand.expression, days=False) if Type.INTEGER in taken else ""
