"""How texts are written: numbers with a point or a comma, days in one order or another.

The forms explain to an owner why values did not convert, or that a column of text holds something else.
They decide nothing: no value is read otherwise because it looks like something.

The patterns mean the same to DuckDB, PostgreSQL and Spark: no classes beyond ASCII, and no backslashes,
which each reads in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "ALL_FORMS",
    "COMMA",
    "DAY",
    "DAY_FIRST",
    "FORMS",
    "FORMS_OF_NUMBERS",
    "GROUPED",
    "NUMBER",
    "POINT",
    "count_forms",
]

NUMBER, COMMA, DAY, DAY_FIRST = "number", "comma", "day", "day_first"
POINT, GROUPED = "point", "grouped"
"""Some of the numbers: those that have a point, and those of which points group the digits before a comma."""

FORMS = {
    NUMBER: "^ *[+-]?[0-9]+([.][0-9]+)? *$",
    COMMA: "^ *[+-]?[0-9][0-9.' ]*,[0-9]+ *$",
    DAY: "^ *[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?$",
    DAY_FIRST: "^ *[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}( .*)?$",
}
"""12.5; 1.234,50; 2026-01-31; 31.01.2026, or 01/31/2026."""
FORMS_OF_NUMBERS = {
    POINT: "^ *[+-]?[0-9]+[.][0-9]+ *$",
    GROUPED: "^ *[+-]?[0-9]{1,3}([.][0-9]{3})+,[0-9]+ *$",
}
"""Of NUMBER and of COMMA: 12.5; 1.234,50."""
ALL_FORMS = {**FORMS, **FORMS_OF_NUMBERS}


def count_forms(
    count: Callable[[str], Sequence[int]], lost: Mapping[str, tuple[str, str]]
) -> dict[str, dict[str, int]]:
    """Return in which forms the values are written that did not convert, for each column.

    Parameters
    ----------
    count : callable
        Runs a list of aggregates of DuckDB over the texts, and returns its one row.
    lost : mapping of str to pairs of str
        For each column its text in SQL, and the expression that is NULL where that does not convert.
    """
    if not lost:
        return {}
    aggregates = [
        f"count(*) FILTER (WHERE ({converted}) IS NULL AND regexp_matches({text}, {_quoted(pattern)}))"
        for text, converted in lost.values()
        for pattern in ALL_FORMS.values()
    ]
    numbers = iter(count(", ".join(aggregates)))
    return {column: {form: next(numbers) for form in ALL_FORMS} for column in lost}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
