"""What is known about a column whose values come from one of several columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from discreet.data.language.column_facts import ColumnFacts, Columns
from discreet.data.language.declarations import Bounds, Dates, Keys
from discreet.data.language.types import MOST_DECIMAL_DIGITS, Type, united_digits
from discreet.errors import ParameterError, UnsupportedQuery

__all__ = ["check_together", "merge_facts"]


def merge_facts(relations: Sequence[Columns]) -> Columns:
    """Return the columns of a union, in the order of the first, or refuse relations that differ."""
    first, *others = relations
    for other in others:
        if set(other) != set(first):
            raise UnsupportedQuery(
                "a union joins rows that have different columns; select the same columns, by the same names"
            )
    return {name: reduce(_either, (columns[name] for columns in relations)) for name in first}


def _either(one: ColumnFacts, other: ColumnFacts) -> ColumnFacts:
    if one.type is not other.type or one.type in {Type.OTHER, Type.NULL}:
        raise UnsupportedQuery(
            f"a union joins a column of type {one.type.value} with one of type {other.type.value}; "
            "select columns of one type that can be compared"
        )
    check_together((one, other), "a union joins")
    least = None if one.least is None or other.least is None else min(one.least, other.least)
    most = None if one.most is None or other.most is None else max(one.most, other.most)
    return ColumnFacts(
        type=one.type,
        bounds=_hull(one.bounds, other.bounds),
        keys=_all_keys(one.keys, other.keys),
        dates=_all_days(one.dates, other.dates),
        least=least,
        most=most,
        digits=united_digits((one.digits, other.digits)) if one.type is Type.DECIMAL else None,
    )


def check_together(columns: Sequence[ColumnFacts], what: str) -> None:
    """Refuse exact numbers that no engine holds in one type: as doubles, different ones would be equal."""
    exact = all(column.type in {Type.INTEGER, Type.DECIMAL} for column in columns)
    if exact and united_digits(column.digits for column in columns) is None:
        raise UnsupportedQuery(
            f"{what} decimals that have more than {MOST_DECIMAL_DIGITS} digits together; "
            "use columns of fewer digits, or round them first"
        )


def _hull(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    """Return the bounds that contain both, if their grids and rules are the same."""
    if one is None or other is None or one.step != other.step:
        return None
    if (one.nan, one.infinity, one.null) != (other.nan, other.infinity, other.null):
        return None
    lower, upper = min(one.lower, other.lower), max(one.upper, other.upper)
    return Bounds(lower, upper, step=one.step, nan=one.nan, infinity=one.infinity, null=one.null)


def _all_days(one: Dates | None, other: Dates | None) -> Dates | None:
    if one is None or other is None:
        return None
    return Dates(min(one.first, other.first), max(one.last, other.last))


def _all_keys(one: Keys | None, other: Keys | None) -> Keys | None:
    if one is None or other is None or one.type is not other.type:
        return None
    try:
        return Keys(dict.fromkeys((*one.values, *other.values)))
    except ParameterError:  # more keys than there may be
        return None
