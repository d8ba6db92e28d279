"""Neighbor relations: which two tables a guarantee compares.

A guarantee bounds how much the law of a release may differ between two neighboring
tables. *What* may differ is part of the guarantee: an epsilon without its relation
means nothing, and numbers that belong to different relations never mix.
"""

from __future__ import annotations

import re
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from discreet.errors import ParameterError
from discreet.privacy.rational import show, whole
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "ADD_REMOVE_PERSON",
    "ADD_REMOVE_ROW",
    "REPLACE_PERSON",
    "REPLACE_ROW",
    "Change",
    "Neighbors",
    "Related",
    "Unit",
    "check_relation",
    "named_relation",
]


class Change(Enum):
    """How neighboring tables differ."""

    ADD_REMOVE = "add-remove"
    """One table has a unit that the other lacks; the number of units is private."""
    REPLACE = "replace"
    """One unit has other values; the number of units is the same, and public."""


class Unit(Enum):
    """What is added, removed or replaced."""

    ROW = "row"
    """One row."""
    PERSON = "person"
    """Every row of one person, in every table."""


_TEXT = re.compile(r"(add-remove|replace) (?:(row|person)|([1-9][0-9]{0,17}) (row|person)s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbors(Record):
    """A neighbor relation: a change, of a unit, at up to `size` units at once.

    Replacing one unit is one removal followed by one addition. A guarantee under add/remove
    therefore implies, under replace, the guarantee of a group of two; in the other
    direction nothing follows, since a replacement never changes the number of units.

    Parameters
    ----------
    change : Change
        Whether a unit is added or removed, or gets other values.
    unit : Unit
        A row, or a person with all rows.
    size : int
        How many units may change; 1 except for group privacy.
    """

    change: Change
    unit: Unit
    size: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.change, Change):
            raise ParameterError("change", "is not a kind of change", "Change.ADD_REMOVE or Change.REPLACE")
        if not isinstance(self.unit, Unit):
            raise ParameterError("unit", "is not a kind of unit", "Unit.ROW or Unit.PERSON")
        self._amend(size=whole(self.size, "size", least=1, most=10**18 - 1))

    def group(self, size: int) -> Neighbors:
        """Return the relation in which `size` such changes happen at once."""
        size = whole(size, "size", least=1)
        return Neighbors(change=self.change, unit=self.unit, size=self.size * size)

    @property
    def phrase(self) -> str:
        """The change in words, such as "adding or removing one person"."""
        verb = "adding or removing" if self.change is Change.ADD_REMOVE else "replacing"
        noun = f"one {self.unit.value}" if self.size == 1 else f"up to {self.size} {self.unit.value}s"
        return f"{verb} {noun}"

    @classmethod
    def from_text(cls, text: str) -> Neighbors:
        """Read what `str` wrote, such as "add-remove person" or "replace 3 rows"."""
        match = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if match is None or match[3] == "1":
            raise ParameterError(
                "neighbors", "is not a neighbor relation", "text such as 'add-remove person'"
            )
        return cls(change=Change(match[1]), unit=Unit(match[2] or match[4]), size=int(match[3] or 1))

    def __str__(self) -> str:
        unit = self.unit.value if self.size == 1 else f"{self.size} {self.unit.value}s"
        return f"{self.change.value} {unit}"

    def __repr__(self) -> str:
        if self.size == 1:
            return f"{self.change.name}_{self.unit.name}"
        return f"Neighbors(change={self.change}, unit={self.unit}, size={self.size})"


ADD_REMOVE_PERSON = Neighbors(change=Change.ADD_REMOVE, unit=Unit.PERSON)
"""One person, with all rows, is there or is not. The default everywhere."""
ADD_REMOVE_ROW = Neighbors(change=Change.ADD_REMOVE, unit=Unit.ROW)
"""One row is there or is not."""
REPLACE_PERSON = Neighbors(change=Change.REPLACE, unit=Unit.PERSON)
"""One person has other rows. The relation of local privacy, where who answers is public."""
REPLACE_ROW = Neighbors(change=Change.REPLACE, unit=Unit.ROW)
"""One row has other values; the number of rows is public."""


def check_relation(neighbors: object) -> Neighbors:
    """Return a neighbor relation, or refuse what is not one."""
    if not isinstance(neighbors, Neighbors):
        raise ParameterError(
            "neighbors",
            "is not a neighbor relation",
            "ADD_REMOVE_PERSON, ADD_REMOVE_ROW, REPLACE_PERSON or REPLACE_ROW of discreet.neighbors",
        )
    return neighbors


_NAMED = {"edges": ADD_REMOVE_ROW, "replace-one": REPLACE_ROW}


def named_relation(neighbors: Neighbors | str) -> Neighbors:
    """Return a neighbor relation that is given as such or by its name.

    Names are what `str` writes, such as "add-remove person"; "edges", for a graph of which one edge comes or
    goes: one row of the table of edges; and "replace-one", for a table of a public number of rows of which
    one gets other values.
    """
    if not isinstance(neighbors, str):
        return check_relation(neighbors)
    return _NAMED.get(neighbors) or Neighbors.from_text(neighbors)


class Related(Record):
    """A record that holds for a neighbor relation; it prints its fields that are not by default."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = []
        for field in fields(cast("DataclassInstance", self)):
            value = getattr(self, field.name)
            if value != field.default:
                text = show(value) if isinstance(value, Fraction) else repr(value)
                shown.append(f"{field.name}={text}")
        return f"{type(self).__name__}({', '.join(shown)})"
