"""What is public about a column of a relation: its type and, where known, its range or its values."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from discreet.data.language.declarations import Bounds, Dates, Keys
from discreet.data.language.types import Schema, Type
from discreet.records import dataclass

__all__ = ["ColumnFacts", "Columns", "types_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """What is known about every value of a column, from declarations and from how it is calculated.

    Attributes
    ----------
    type : Type
        The type.
    bounds : Bounds or None
        A range and grid for sums and means: declared, or implied by a calculation. Values beyond
        them are clipped.
    keys : Keys or None
        The values to group by; rows with others are in no group.
    least, most : Fraction or None
        What a number cannot be below or above, for calculated columns with only one known end.
    dates : Dates or None
        The days that a date or time lies in; rows of other days are in no group.
    digits : (int, int) or None
        How many digits a decimal has, and how many of them are its fraction.
    usual : Bounds or None
        Where there are no bounds: those of a person within the limits of every table.
    """

    type: Type
    bounds: Bounds | None = None
    keys: Keys | None = None
    least: Fraction | None = None
    most: Fraction | None = None
    dates: Dates | None = None
    digits: tuple[int, int] | None = None
    usual: Bounds | None = None

    @property
    def bounds_of_sums(self) -> Bounds | None:
        """The bounds within which values are added up; truth values are 1 and 0, whatever was declared."""
        if self.bounds is None and self.type is Type.BOOLEAN:
            return Bounds(0, 1)
        return self.bounds


Columns: TypeAlias = Mapping[str, ColumnFacts]
"""The columns of a relation, by name, in order."""


def types_of(columns: Columns) -> Schema:
    """Return the types alone."""
    return {name: facts.type for name, facts in columns.items()}
