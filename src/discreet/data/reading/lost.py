"""What was left out when rows were copied in: only for the owner of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from discreet.data.reading.csv_format import Csv
from discreet.records import dataclass

__all__ = ["Lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Counts of what could not be read. They are exact and private: analysts must not see them.

    Attributes
    ----------
    lines : int
        How many lines of a CSV file are not records.
    open_lines : int
        How many of them end within quotes. If texts contain line breaks a record is not a line: write
        such a file as Parquet.
    values : mapping of names to int
        How many values of each column are NULL because they do not convert, where there are any.
    written : mapping of names to mappings
        In which forms such values are written, such as numbers with a comma (`written_forms`).
    form : Csv, optional
        How the owner stated that files are written, if rows were read from CSV files.
    """

    lines: int = field(default=0, repr=False)
    open_lines: int = field(default=0, repr=False)
    values: Mapping[str, int] = field(default_factory=dict, repr=False)
    written: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    form: Csv | None = field(default=None, repr=False, compare=False)
