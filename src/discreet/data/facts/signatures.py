"""What functions, conversions and branches take and give: the types of `Call`, `Cast` and `Case`.

A refusal names the function and shows how it is written; it never contains a literal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.data.language.expressions import Call, Cast, Expression, Function, Literal
from discreet.data.language.functions import EXAMPLES
from discreet.data.language.schema import Type
from discreet.errors import UnsupportedQuery

__all__ = ["CASTS", "UNITS", "call_type", "cast_type", "common_type", "is_long"]

LARGEST_PLACE = 1_000_000
LARGEST_PARTS = 1000
MOST_ROUNDING_DIGITS = 15
LARGEST_BUCKET_TREE = 20_000

UNITS = ("year", "quarter", "month", "week", "day", "hour")
"""What dates and times can be truncated to."""

_MOMENTS = frozenset({Type.DATE, Type.TIMESTAMP, Type.INSTANT})
_TIMES = frozenset({Type.TIMESTAMP, Type.INSTANT})
_ORDERED = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.TEXT, Type.BOOLEAN, *_MOMENTS})
_NUMBER = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
_INTEGER, _TEXT = frozenset({Type.INTEGER}), frozenset({Type.TEXT})

_TAKES: dict[Function, frozenset[Type]] = {
    **dict.fromkeys(
        (Function.ABS, Function.FLOOR, Function.CEILING, Function.ROUND, Function.SIGN, Function.SQRT),
        _NUMBER,
    ),
    Function.WIDTH_BUCKET: _NUMBER,
    Function.MODULO: _INTEGER,
    **dict.fromkeys(
        (Function.LOWER, Function.UPPER, Function.TRIM, Function.LENGTH, Function.SUBSTRING, Function.CONCAT),
        _TEXT,
    ),
    **dict.fromkeys((Function.STARTS_WITH, Function.ENDS_WITH, Function.CONTAINS), _TEXT),
    **dict.fromkeys((Function.LIKE, Function.REPLACE), _TEXT),
    **dict.fromkeys((Function.YEAR, Function.QUARTER, Function.MONTH, Function.DAY), _MOMENTS),
    **dict.fromkeys((Function.DAY_OF_WEEK, Function.DAY_OF_YEAR), _MOMENTS),
    **dict.fromkeys((Function.DATE_TRUNC, Function.DATE_DIFFERENCE), _MOMENTS),
    **dict.fromkeys((Function.HOUR, Function.MINUTE), _TIMES),
}
_WRITTEN = {Type.INTEGER: "integers", Type.TEXT: "text", Type.TIMESTAMP: "timestamps"}
_OF_ONE_TYPE = frozenset({Function.COALESCE, Function.NULLIF, Function.LEAST, Function.GREATEST})
_GIVES: dict[Function, Type] = {
    **dict.fromkeys((Function.LOWER, Function.UPPER, Function.TRIM, Function.SUBSTRING), Type.TEXT),
    **dict.fromkeys((Function.CONCAT, Function.REPLACE), Type.TEXT),
    **dict.fromkeys(
        (Function.STARTS_WITH, Function.ENDS_WITH, Function.CONTAINS, Function.LIKE), Type.BOOLEAN
    ),
    Function.SQRT: Type.FLOAT,
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


def is_long(expression: Expression) -> bool:
    """Return whether an expression is an integer literal that 64 bits do not hold."""
    return (
        isinstance(expression, Literal)
        and expression.type is Type.INTEGER
        and not -(1 << 63) <= int(expression.value) < 1 << 63  # type: ignore[arg-type]
    )


def common_type(operands: Sequence[Expression], types: Sequence[Type], name: str) -> Type:
    """Return the type that takes all operands, except NULL: integers give integers, other numbers floats."""
    pairs = [(one, kind) for one, kind in zip(operands, types, strict=True) if kind is not Type.NULL]
    kinds = {kind for _, kind in pairs}
    if not pairs:
        raise UnsupportedQuery(f"{name} has no value but NULL; write at least one other value")
    if kinds <= _NUMBER:
        whole = kinds == {Type.INTEGER} and not any(is_long(one) for one, _ in pairs)
        return Type.INTEGER if whole else Type.FLOAT
    if len(kinds) == 1 and kinds <= _ORDERED:
        return kinds.pop()
    if kinds == {Type.DATE, Type.TIMESTAMP}:
        if all(isinstance(one, Literal) for one, kind in pairs if kind is Type.DATE):
            return Type.TIMESTAMP
        raise UnsupportedQuery(
            f"{name} mixes dates and timestamps; write CAST(day AS TIMESTAMP), or CAST(seen AS DATE)"
        )
    if Type.OTHER in kinds:
        raise UnsupportedQuery(
            f"{name} is not defined on a column of this type; it can only be tested with IS NULL"
        )
    found = " and ".join(sorted(kind.value for kind in kinds))
    raise UnsupportedQuery(f"{name} mixes {found}; give all values one type, for instance with CAST")


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
    function, name = call.function, call.function.name
    if Type.NULL in types:
        raise UnsupportedQuery(f"{name} is given NULL as a constant; write {EXAMPLES[function]}")
    if function in _OF_ONE_TYPE:
        if function is Function.NULLIF:
            common_type(call.operands, types, name)
            return common_type(call.operands[:1], types[:1], name)
        return common_type(call.operands, types, name)
    constants = _CONSTANTS.get(function)
    if constants is not None and not constants(call):
        raise UnsupportedQuery(f"{name} is given operands that it does not take; write {EXAMPLES[function]}")
    for operand, kind in zip(call.operands, types, strict=True):
        taken = _TAKES[function]
        constant = isinstance(operand, Literal) and constants is not None
        if (kind not in taken and not constant) or (function is Function.MODULO and is_long(operand)):
            expected = next((word for one, word in _WRITTEN.items() if one in taken), "dates or timestamps")
            expected = (
                "numbers" if taken == _NUMBER else "dates or timestamps" if taken == _MOMENTS else expected
            )
            raise UnsupportedQuery(f"{name} takes {expected}, not {kind.value}; write {EXAMPLES[function]}")
    if function is Function.DATE_TRUNC:
        return _truncated(call, types[1])
    if function is Function.ABS:
        return common_type(call.operands, types, name)
    if function is Function.ROUND and _digits(call) > 0:
        return common_type(call.operands[:1], types[:1], name)
    return _GIVES.get(function, Type.INTEGER)


def _truncated(call: Call, found: Type) -> Type:
    if call.operands[0].value != "hour":  # type: ignore[union-attr]
        return Type.DATE
    if found is Type.DATE:
        raise UnsupportedQuery(
            "DATE_TRUNC takes the hour of a date, which has none; write 'day', or take a timestamp"
        )
    return found


def _digits(call: Call) -> int:
    return int(call.operands[1].value) if len(call.operands) == 2 else 0  # type: ignore[union-attr, arg-type]


def _whole(operand: Expression, least: int, most: int) -> bool:
    return isinstance(operand, Literal) and type(operand.value) is int and least <= operand.value <= most


def _text(operand: Expression) -> bool:
    return isinstance(operand, Literal) and operand.type is Type.TEXT


def _is_round(call: Call) -> bool:
    return all(_whole(digits, -MOST_ROUNDING_DIGITS, MOST_ROUNDING_DIGITS) for digits in call.operands[1:])


def _is_substring(call: Call) -> bool:
    _, start, *length = call.operands
    return _whole(start, 1, LARGEST_PLACE) and all(_whole(one, 0, LARGEST_PLACE) for one in length)


def _is_like(call: Call) -> bool:
    pattern = call.operands[1]
    return _text(pattern) and "\\" not in str(pattern.value)  # type: ignore[union-attr]


def _is_replace(call: Call) -> bool:
    _, old, new = call.operands
    return _text(old) and _text(new) and old.value != ""  # type: ignore[union-attr]


def _is_truncated(call: Call) -> bool:
    unit = call.operands[0]
    return isinstance(unit, Literal) and unit.value in UNITS


def _is_bucket(call: Call) -> bool:
    value, low, high, parts = call.operands
    if not all(isinstance(end, Literal) and end.type.is_number for end in (low, high)):
        return False
    ends = [Fraction(end.value) for end in (low, high)]  # type: ignore[union-attr, arg-type]
    if ends[0] >= ends[1] or not _whole(parts, 1, LARGEST_PARTS):
        return False
    return int(parts.value) * value.size <= LARGEST_BUCKET_TREE  # type: ignore[union-attr, arg-type]


_CONSTANTS: dict[Function, Callable[[Call], bool]] = {
    Function.ROUND: _is_round,
    Function.SUBSTRING: _is_substring,
    Function.LIKE: _is_like,
    Function.REPLACE: _is_replace,
    Function.DATE_TRUNC: _is_truncated,
    Function.WIDTH_BUCKET: _is_bucket,
}
