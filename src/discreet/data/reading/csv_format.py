"""How CSV files are written: what separates fields, how numbers and days are spelled, what bytes mean.

Everything is stated by the owner, and nothing is guessed from the data: what was guessed from rows would
depend on them. A value that is not written as stated is NULL, and `Table.lost` counts it.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, cast

from discreet.data.language.types import Type
from discreet.errors import ParameterError
from discreet.records import Record, dataclass

__all__ = ["DELIMITERS", "Csv", "is_records"]

ENDINGS = (".csv", ".tsv", ".txt")
"""What the name of a file of records ends in, before a possible .gz."""

DELIMITERS = (",", ";", "\t", "|")
_DIRECTIVES = frozenset("dmYyHMSfIpbBj%")
"""What a format of days may hold: nothing that depends on a language setting or a time zone."""
_SQL_NUMBERS = {Type.INTEGER, Type.FLOAT}
_MARKS = (".", ",")


@dataclass(frozen=True, slots=True, init=False)
class Csv(Record):
    """CSV files as they come, and how they are written.

    ``Csv("visits.csv", delimiter=";", decimal=",", encoding="cp1252", dates="%d.%m.%Y")``

    Parameters
    ----------
    *paths : path
        One file or several with the same columns, whose rows are read one after another. Names that end in
        .gz are decompressed.
    delimiter : str, optional
        What is between fields: a comma, semicolon, tab or vertical bar. By default a tab in files that
        end in .tsv, and a comma in others.
    decimal : str
        The decimal mark, ``"."`` or ``","``.
    decimals : mapping of str to str, optional
        The decimal marks of columns that have another one: ``decimal=",", decimals={"latitude": "."}``.
    thousands : str, optional
        What groups digits, such as ``"."`` in 1.234,50; it is left out of numbers. In a column where it
        is the decimal mark, nothing groups digits.
    encoding : str
        UTF-8, or an encoding in which each byte is one letter, such as cp1252 or latin-1.
    dates, times : str, optional
        How days and times are written, such as ``"%d.%m.%Y"`` and ``"%d.%m.%Y %H:%M"``. By default as in
        2026-01-31 and 2026-01-31 12:30:00.
    names : sequence of str, optional
        The columns, if the first line is not their names.
    """

    paths: tuple[Path, ...]
    delimiter: str
    decimal: str
    decimals: tuple[tuple[str, str], ...]
    thousands: str | None
    encoding: str
    dates: str | None
    times: str | None
    names: tuple[str, ...] | None

    def __init__(
        self,
        *paths: str | os.PathLike[str],
        delimiter: str | None = None,
        decimal: str = ".",
        decimals: Mapping[str, str] | None = None,
        thousands: str | None = None,
        encoding: str = "utf-8",
        dates: str | None = None,
        times: str | None = None,
        names: Iterable[str] | None = None,
    ) -> None:
        if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
            raise ParameterError("paths", "names no files", "one or more paths of CSV files")
        files = tuple(Path(path) for path in paths)
        for file in files:
            _check_ending(file)
        if delimiter is None:
            delimiter = "\t" if all(_plain_ending(file) == ".tsv" for file in files) else ","
        if delimiter not in DELIMITERS:
            raise ParameterError("delimiter", "is not one that is read", "',', ';', '\\t' or '|'")
        if decimal not in _MARKS:
            raise ParameterError("decimal", "is not a decimal mark", "'.' or ','")
        marks = _marks(decimals)
        is_mark = thousands == decimal and all(mark == thousands for _, mark in marks)
        if thousands is not None and (is_mark or thousands not in {".", ",", " ", "'", "\u00a0"}):
            raise ParameterError(
                "thousands", "does not group digits", "'.', ',', ' ' or \"'\", not the decimal mark"
            )
        self._set(
            paths=files,
            delimiter=delimiter,
            decimal=decimal,
            decimals=marks,
            thousands=thousands,
            encoding=_encoding(encoding),
            dates=_pattern("dates", dates),
            times=_pattern("times", times),
            names=None if names is None else tuple(names),
        )

    def open(self, path: Path) -> IO[bytes]:
        """Open one of the files for reading, decompressed."""
        return cast("IO[bytes]", gzip.open(path, "rb") if path.suffix.lower() == ".gz" else open(path, "rb"))

    def utf8(self, content: bytes) -> bytes:
        """Return bytes of the encoding as UTF-8.

        Bytes that are no letter there become what is not UTF-8 either, so that the field that holds them
        is NULL.
        """
        if self.encoding == "utf-8":
            return content
        return content.decode(self.encoding, "surrogateescape").encode("utf-8", "surrogatepass")

    def decimal_of(self, column: str) -> str:
        """Return the decimal mark of a column."""
        return dict(self.decimals).get(column, self.decimal)

    def thousands_of(self, column: str) -> str | None:
        """Return what groups the digits of a column."""
        return None if self.thousands == self.decimal_of(column) else self.thousands

    def check_columns(self, names: Iterable[str]) -> None:
        """Refuse decimal marks of columns that the files do not have."""
        if not {name for name, _ in self.decimals} <= set(names):
            raise ParameterError(
                "decimals", "names a column that the files do not have", "columns of the files"
            )

    def converted(self, column: str, text: str, kind: Type, sql_type: str) -> str:
        """Return the SQL of DuckDB that reads a column of text as a type; what does not convert is NULL."""
        if kind is Type.DATE and self.dates is not None:
            return f"CAST(TRY_STRPTIME({text}, {_quoted(self.dates)}) AS DATE)"
        if kind is Type.TIMESTAMP and self.times is not None:
            return f"TRY_STRPTIME({text}, {_quoted(self.times)})"
        if kind in _SQL_NUMBERS:
            text = _plain_number(text, self.decimal_of(column), self.thousands_of(column))
        return f"TRY_CAST({text} AS {sql_type})"


def _plain_number(text: str, decimal: str, thousands: str | None) -> str:
    """Return the SQL of a number with a point; a point where a comma is stated is not one."""
    if thousands is not None:
        mark, group = re.escape(decimal), re.escape(thousands)
        grouped = _quoted(rf"\s*[+-]?(\d+|\d{{1,3}}({group}\d{{3}})+)({mark}\d*)?\s*")
        plain = f"REPLACE(REPLACE({text}, {_quoted(thousands)}, ''), {_quoted(decimal)}, '.')"
        return f"CASE WHEN REGEXP_FULL_MATCH({text}, {grouped}) THEN {plain} END"
    if decimal == ".":
        return text
    return f"CASE WHEN NOT CONTAINS({text}, '.') THEN REPLACE({text}, ',', '.') END"


def _marks(given: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Return the decimal marks of columns, in the order of their names."""
    found = given if isinstance(given, Mapping) else None if given else {}
    if found is None or not all(isinstance(one, str) and mark in _MARKS for one, mark in found.items()):
        raise ParameterError("decimals", "are not decimal marks of columns", "such as {'latitude': '.'}")
    return tuple(sorted(found.items()))


def _plain_ending(path: Path) -> str:
    """Return what a name ends in, before a possible .gz."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def is_records(path: Path) -> bool:
    """Return whether a name is that of a file of records."""
    return _plain_ending(path) in ENDINGS


def _check_ending(path: Path) -> None:
    if not is_records(path):
        raise ParameterError(
            "paths",
            "has a name with another ending",
            "names that end in .csv, .tsv or .txt, or these with .gz",
        )


def _encoding(name: str) -> str:
    """Return the name of an encoding whose first 128 bytes are ASCII and whose others are one letter each."""
    allowed = "'utf-8', or one byte for each letter, such as 'cp1252', 'latin-1' or 'iso-8859-15'"
    try:
        known = codecs.lookup(name).name
        ascii_bytes = bytes(range(128))
        plain = known == "utf-8" or (
            ascii_bytes.decode(known) == ascii_bytes.decode("ascii")
            and all(len(bytes([one]).decode(known, "replace")) == 1 for one in range(128, 256))
            and len(bytes(range(128, 256)).decode(known, "replace")) == 128
        )
    except (LookupError, TypeError, UnicodeDecodeError):
        raise ParameterError("encoding", "is not known", allowed) from None
    if not plain:
        raise ParameterError("encoding", "uses several bytes for a letter", allowed)
    return known


def _pattern(name: str, pattern: str | None) -> str | None:
    """Return a format of days or times, and refuse what engines or languages read differently."""
    if pattern is None:
        return None
    found = re.findall("%(.?)", pattern) if isinstance(pattern, str) else []
    if not found or not set(found) <= _DIRECTIVES or "\0" in pattern:
        raise ParameterError(
            name,
            "is not a format of days",
            "such as '%d.%m.%Y' or '%m/%d/%y %H:%M'; allowed are "
            + " ".join(f"%{one}" for one in "dmYyHMSfIpbBj"),
        )
    return pattern


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
