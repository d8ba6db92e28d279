"""The normal form of every stored value: what is left of it when a table is read, on any engine.

Engines store what they, or Python, cannot calculate with: days before the year 1 or without end, texts of a
gigabyte, NaN as a number. If such a value made a statement fail, the failure would reveal that
someone has it. So each column is read through an expression that is defined for all values of its type and
reads one value only. Every reader uses it, and nothing above sees a value outside these forms:

==================  ================================================================================
type                normal form; everything else is NULL
==================  ================================================================================
text                well-formed UTF-8 of at most `LONGEST_TEXT` bytes, compared by code point
date                a day of the years 1 to 9999 of the proleptic Gregorian calendar
timestamp, instant  the same, in whole microseconds; instants in UTC
decimal             at most 38 digits, no NaN; with more digits, or none stated, a double
float               a double with one NaN, above all numbers
boolean, integer    as they are
other               empty bytes in place of every value: only whether it is there can be asked
==================  ================================================================================

`duckdb` writes the forms for DuckDB in Ibis, `sql_form` for engines whose columns are read by SQL. What comes
in as Arrow is converted by `arrow_forms`, lines of CSV files by `csv_records`.
"""

from __future__ import annotations

import datetime

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import Column, StringValue, Value

from discreet.data.language.types import MOST_DECIMAL_DIGITS

__all__ = ["LONGEST_RESULT", "LONGEST_TEXT", "PRESENT", "duckdb", "of_text", "sql_form"]

LONGEST_TEXT = 1 << 14
"""A stored text of more bytes in UTF-8 is NULL. Engines know the number of bytes without reading them."""
LONGEST_RESULT = LONGEST_TEXT
"""A text that is put together ends after this many code points; a stored one is never longer."""
PRESENT = b""
"""What stands for a value that requests can only test for NULL."""

_FIRST, _LAST = datetime.datetime.min, datetime.datetime.max


@ibis.udf.scalar.builtin(name="strlen")  # type: ignore[untyped-decorator]
def _bytes(text: str) -> int:  # type: ignore[empty-body]
    """Return the number of bytes of a text."""


@ibis.udf.scalar.builtin(name="isnan")  # type: ignore[untyped-decorator]
def _is_nan(value: float) -> bool:  # type: ignore[empty-body]
    """Return whether a number is NaN."""


def duckdb(column: Column) -> Value:
    """Return the normal form of a column of DuckDB, itself if it has no other values."""
    kind = column.type()
    if kind.is_string():
        return of_text(column)
    if kind.is_uuid():
        return column.cast("string")
    if kind.is_date():
        return _within(column, "date", _FIRST.date(), _LAST.date())
    if kind.is_timestamp():
        micro = dt.Timestamp(timezone=kind.timezone, scale=6)
        exact = column if kind.scale in {None, 6} else column.try_cast(micro)
        zone = None if kind.timezone is None else datetime.UTC
        return _within(exact, micro, *(end.replace(tzinfo=zone) for end in (_FIRST, _LAST)))
    if kind.is_floating():
        # Files state the least and largest of their numbers without regard to NaN, and the engine leaves
        # out rows by that: whether a NaN is found would depend on other people's numbers.
        nan = ibis.literal("nan").cast(kind)
        return ibis.ifelse(_is_nan(column), nan, column)
    if kind.is_decimal() and (kind.precision, kind.scale) == (MOST_DECIMAL_DIGITS, 0):
        # Through text, because Ibis takes an integer of 128 bits for such a decimal already.
        return column.cast("string").try_cast(kind)
    if kind.is_boolean() or kind.is_numeric():
        return column
    return ibis.ifelse(column.notnull(), ibis.literal(PRESENT, type="binary"), ibis.null("binary"))


def of_text(text: StringValue) -> Value:
    """Return a text of DuckDB, NULL if it is too long."""
    return ibis.ifelse(_bytes(text) <= LONGEST_TEXT, text, ibis.null("string"))


def _within(value: Value, kind: dt.DataType | str, first: object, last: object) -> Value:
    ends = (ibis.literal(str(end)).cast(kind) for end in (first, last))
    return ibis.ifelse(value.between(*ends), value, ibis.null(kind))


def sql_form(column: str, kind: dt.DataType, *, moment: str = "", empty: str = "''") -> str:
    """Return the normal form of a column that SQL reads, itself if it has no other values.

    Parameters
    ----------
    column : str
        The column as SQL names it, or an expression that cannot fail.
    kind : Ibis type
        What it is read as.
    moment : str
        The word before a literal of a date or time; instants are written with their zone.
    empty : str
        Empty bytes, as the engine writes them.
    """
    if kind.is_string():
        return f"CASE WHEN octet_length({column}) <= {LONGEST_TEXT} THEN {column} END"
    if kind.is_date() or kind.is_timestamp():
        first, last = (_FIRST.date(), _LAST.date()) if kind.is_date() else (_FIRST, _LAST)
        zone = "+00:00" if kind.is_timestamp() and kind.timezone is not None else ""
        ends = " AND ".join(f"{moment} '{end}{zone}'" for end in (first, last))
        return f"CASE WHEN {column} BETWEEN {ends} THEN {column} END"
    if kind.is_binary():
        return f"CASE WHEN {column} IS NOT NULL THEN {empty} END"
    return column
