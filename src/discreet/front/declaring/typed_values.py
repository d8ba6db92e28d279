"""Values of columns that were typed as text: in a mapping's file, as a key in TOML, or in a shell."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Mapping
from pathlib import Path

from discreet.data import Bounds, Dates, Keys, Type
from discreet.data.language.declarations import Declared, KeyValue
from discreet.errors import ParameterError
from discreet.privacy.rational import rational

__all__ = ["mapping_in_file", "typed_value"]

_MOST_LINES = 1_000_000


def typed_value(text: str, declared: Declared | None) -> object:
    """Return a typed value as the type of its column; nothing typed is what is missing."""
    if not text:
        return None
    kind = declared.type if isinstance(declared, Keys) else declared
    if isinstance(kind, Bounds):
        return rational(text, "facts")
    if isinstance(kind, Dates) or kind is Type.DATE:
        try:
            return datetime.date.fromisoformat(text)
        except ValueError:
            raise ParameterError(
                "facts", "hold a value that is not a day", "a day such as 2020-12-31"
            ) from None
    if kind is Type.INTEGER:
        exact = rational(text, "facts")
        if exact.denominator != 1:
            raise ParameterError("facts", "hold a value that is not a whole number", "a whole number")
        return int(exact)
    if kind is Type.BOOLEAN:
        if text.lower() not in {"true", "false"}:
            raise ParameterError("facts", "hold a value that is not a truth value", "true or false")
        return text.lower() == "true"
    return text


def mapping_in_file(
    file: Path, column: str, by: str, columns: Mapping[str, Declared]
) -> dict[object, KeyValue | float]:
    """Read a public mapping from a CSV file: a line for each value of `by`, with its value of `column`.

    The first line names the columns; others than these two are not read.
    """
    if file.suffix.lower() != ".csv":
        raise ParameterError("mapping", "is in a file with another ending", "a file that ends in .csv")
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            lines = csv.DictReader(stream)
            if not {column, by} <= set(lines.fieldnames or ()):
                raise ParameterError(
                    "mapping", "is in a file without these columns", f"columns {by}, {column}"
                )
            found: dict[object, KeyValue | float] = {}
            for number, line in enumerate(lines):
                key = typed_value(line[by] or "", columns.get(by))
                if key in found or number >= _MOST_LINES:
                    raise ParameterError("mapping", "has a value twice, or too many lines", "each value once")
                found[key] = _result(typed_value(line[column] or "", columns.get(column)))
    except (OSError, UnicodeDecodeError, csv.Error):
        raise ParameterError("mapping", "is in a file that cannot be read", "a CSV file in UTF-8") from None
    return found


def _result(value: object) -> KeyValue | float:
    """Return a value as it is shown in rows: a number without a fraction as an integer."""
    if isinstance(value, bool | int | str | datetime.date) or value is None:
        return value
    number = float(value)  # type: ignore[arg-type]
    return int(number) if number.is_integer() else number
