"""What an owner learns about a table and its declaration: exact counts, for the owner alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import field

from discreet.records import dataclass
from discreet.visible import visible, visible_json

__all__ = ["Check", "CheckFinding", "ColumnCheck"]

_WARNING = "EXACT COUNTS, FOR THE OWNER ALONE: they are not protected; show them to no analyst"
_LONGEST = 50
_HEADER = ("column", "declared", "values", "NULL", "unreadable", "clipped", "outside")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """One thing that is not as declared, or looks wrong.

    Attributes
    ----------
    fault : str
        Its kind, in a word that programs can compare.
    column : str or None
        The column; None if it is about rows or persons.
    count : int
        How many values, rows, persons or keys it concerns.
    words : str
        What they are, and what could be declared instead. It holds no value of the data.
    """

    fault: str
    column: str | None
    count: int = field(repr=False)
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCheck:
    """What became of the values of a column.

    Attributes
    ----------
    name, declared : str
        The column, and what is declared about it.
    values, missing : int
        How many values can be read, and how many are NULL as they are stored.
    unreadable : int
        How many are stored but read as NULL: they do not convert, or no engine could calculate with them.
    clipped : int or None
        How many lie beyond the bounds; None without bounds.
    outside : int or None
        How many are not among the keys or days; None without keys or days.
    """

    name: str
    declared: str
    values: int = field(repr=False)
    missing: int = field(repr=False)
    unreadable: int = field(repr=False)
    clipped: int | None = field(default=None, repr=False)
    outside: int | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How the rows of a table compare with its declaration. ``print(check)`` shows it; it is private.

    Attributes
    ----------
    rows : int
        How many rows are stored.
    persons : int or None
        How many persons have rows; None if each row is a person.
    columns : tuple of ColumnCheck
        What became of the values of each column.
    findings : tuple of CheckFinding
        What is not as declared, or looks wrong.
    """

    rows: int = field(repr=False)
    persons: int | None = field(repr=False)
    columns: tuple[ColumnCheck, ...] = field(repr=False)
    findings: tuple[CheckFinding, ...] = field(repr=False)

    def faults(self, column: str | None = None) -> dict[str, int]:
        """Return the count of each fault of a column, or of those that are about rows and persons."""
        return {one.fault: one.count for one in self.findings if one.column == column}

    def _repr_html_(self) -> str:
        """Say how to see it: a notebook keeps what it shows, and these counts are for the owner alone."""
        return "<p>Exact counts, for the owner alone: <code>print(check)</code> shows them.</p>"

    def to_object(self) -> dict[str, object]:
        """Return the counts as plain values of JSON."""
        return {
            "for_the_owner_alone": _WARNING,
            "rows": self.rows,
            "persons": self.persons,
            "columns": [
                {
                    "name": one.name,
                    "declared": one.declared,
                    "values": one.values,
                    "missing": one.missing,
                    "unreadable": one.unreadable,
                    "clipped": one.clipped,
                    "outside": one.outside,
                }
                for one in self.columns
            ],
            "findings": [
                {"fault": one.fault, "column": one.column, "count": one.count, "words": one.words}
                for one in self.findings
            ],
        }

    def to_json(self) -> str:
        """Return the counts as JSON."""
        return visible_json(json.dumps(self.to_object(), indent=2, ensure_ascii=False))

    def __str__(self) -> str:
        persons = "each row is a person" if self.persons is None else f"{self.persons:,} persons"
        columns = _grid([_HEADER, *(_cells(one) for one in self.columns)], right=range(2, len(_HEADER)))
        found = _grid(
            [(_name(one.column or ""), f"{one.count:,}", visible(one.words)) for one in self.findings],
            right=[1],
        )
        return "\n".join(
            [_WARNING, f"{self.rows:,} rows, {persons}", "", *columns, "", *(found or ["nothing to report"])]
        )


def _grid(lines: Sequence[Sequence[str]], *, right: Collection[int]) -> list[str]:
    """Write cells in columns, some of them to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _name(text: str) -> str:
    """Return the name of a column, or its declaration, in a part of one line."""
    return visible(text, longest=_LONGEST)


def _cells(one: ColumnCheck) -> tuple[str, ...]:
    counts = (one.values, one.missing, one.unreadable, one.clipped, one.outside)
    return (
        _name(one.name),
        _name(one.declared),
        *("" if number is None else f"{number:,}" for number in counts),
    )
