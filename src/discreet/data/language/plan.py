"""The plan: what a request asks about private tables, as a closed tree, independent of any engine.

A plan is a `Group` over a `Relation`. It states everything that decides the shape and the
sensitivity of its answer: the relation, the keys with their values, the bounds of every
sum. With the limits of the tables these give the sensitivity; no data is needed.

>>> from discreet.data.language.expressions import Column, Compare, literal
>>> from discreet.data.language.declarations import Bounds, Keys
>>> from discreet.data.language.description import describe
>>> from discreet.data.language.measures import CountRows, Sum
>>> from discreet.data.language.relations import Filter, Source
>>> adults = Compare(operator=">=", left=Column(name="age"), right=literal(18))
>>> plan = Group(source=Filter(source=Source(table="visits"), condition=adults),
...              keys=(GroupKey(column="city", values=Keys(["Taipei", "Hamilton"])),),
...              measures=(CountRows(), Sum(column="cost", bounds=Bounds(0, 5000), center=2500)))
>>> print(describe(plan))
group by city (2 keys)
  count of rows
  sum of cost - 2500 in [0, 5000], step 1
  filter age >= ?
    source visits
"""

from __future__ import annotations

from dataclasses import field
from math import prod
from typing import TypeAlias

from discreet.data.language.declarations import Keys
from discreet.data.language.measures import Axis, ContingencyTable, Measure, width
from discreet.data.language.relations import LATER, Relation
from discreet.errors import UnsupportedQuery
from discreet.records import dataclass

__all__ = ["LARGEST_CELLS", "Group", "GroupKey", "KeyCountPlan", "KeyPlan", "Plan", "RowPlan"]

LARGEST_CELLS = 10_000_000
"""How many groups one plan may have, and how many integers one of its measures."""
LARGEST_MEASURES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKey:
    """A column to group by and the values it may take, in order."""

    column: str
    values: Keys

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.values, Keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Measures for every combination of keys; without keys, for all rows together.

    The order of `keys` orders the groups: all combinations, the last key fastest. Measures are
    distinct; an answer names them, the plan does not. Rows that have no cell on one of the axes of
    `present` are left out, as rows with other keys are.
    """

    source: Relation
    keys: tuple[GroupKey, ...] = ()
    present: tuple[Axis, ...] = ()
    measures: tuple[Measure, ...]

    def __post_init__(self) -> None:
        _check(isinstance(self.source, Relation))
        _check(isinstance(self.keys, tuple) and all(isinstance(key, GroupKey) for key in self.keys))
        _check(isinstance(self.present, tuple) and all(isinstance(axis, Axis) for axis in self.present))
        _check(isinstance(self.measures, tuple) and all(isinstance(one, Measure) for one in self.measures))
        if not self.measures:
            raise UnsupportedQuery("the request has no aggregate; ask for COUNT, SUM or AVG")
        if len(self.measures) > LARGEST_MEASURES:
            raise UnsupportedQuery(f"the request has more than {LARGEST_MEASURES} aggregates; ask in parts")
        if len(set(self.measures)) != len(self.measures):
            raise UnsupportedQuery("the plan lists a measure twice; list it once and use it twice")
        names = [key.column for key in self.keys]
        if len(set(names)) != len(names):
            raise UnsupportedQuery("a column is grouped by twice; list it once")
        if self.cells * max(width(measure) for measure in self.measures) > LARGEST_CELLS:
            raise UnsupportedQuery(
                f"the request has more than {LARGEST_CELLS} groups; group by fewer columns or fewer keys"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each key."""
        return tuple(len(key.values) for key in self.keys)

    @property
    def cells(self) -> int:
        """The number of groups."""
        return prod(self.shape)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of all contingency tables, each once."""
        tables = (measure for measure in self.measures if isinstance(measure, ContingencyTable))
        return tuple(dict.fromkeys(axis for table in tables for axis in table.axes))

    def size(self, measure: Measure) -> int:
        """Return how many integers a measure has, over all groups."""
        return self.cells * width(measure)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPlan:
    """The keys of a column of a relation that occur, NULL aside, each with its number of persons.

    A person counts for at most `keys` of their keys, chosen by the salt.
    """

    source: Relation
    column: str
    keys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCountPlan:
    """The combinations of keys of some columns that occur, each with its number of rows.

    Rows without a value in one of the columns are left out, and so are those with another value than the
    listed ones. A person counts in at most `keys` combinations, with at most `rows` rows in each and at
    most `total` in all, chosen by the salt. With one row for each, it is their number of persons.

    Attributes
    ----------
    columns : tuple of str
        What combinations are made of.
    listed : tuple of GroupKey
        The values of those columns whose values are known.
    """

    source: Relation
    columns: tuple[str, ...]
    listed: tuple[GroupKey, ...] = ()
    keys: int
    rows: int
    total: int

    def __post_init__(self) -> None:
        _check(isinstance(self.source, Relation) and bool(self.columns))
        _check(all(isinstance(name, str) for name in self.columns))
        _check(all(isinstance(key, GroupKey) and key.column in self.columns for key in self.listed))
        _check(all(type(number) is int for number in (self.keys, self.rows, self.total)))

    @property
    def column(self) -> str:
        """The columns, in words."""
        return ", ".join(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlan:
    """Some columns of the rows of a relation, for a mechanism that reads rows and releases nothing else.

    A column is an axis: a number becomes the index of its grid point, a key its place among those listed.
    What is absent, or is not listed, stays as such. At most `rows` rows of a person are taken, by the salt.

    Attributes
    ----------
    columns : tuple of Axis
        What is read, in order.
    target : str or None
        The column without which a row is left out.
    rows : int
        How many rows of a person are taken.
    reader : str
        The name of what reads them.
    shards : int or None
        Into how many shards rows are divided, all rows of a person into one, by the salt.
    """

    source: Relation
    columns: tuple[Axis, ...]
    target: str | None = None
    rows: int
    reader: str
    shards: int | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        _check(isinstance(self.source, Relation) and isinstance(self.columns, tuple) and bool(self.columns))
        _check(all(isinstance(axis, Axis) and axis.width == 1 for axis in self.columns))
        names = [axis.column for axis in self.columns]
        if len(set(names)) != len(names):
            raise UnsupportedQuery("a column is read twice; list it once, as a feature or as the target")
        if len(names) > LARGEST_MEASURES:
            raise UnsupportedQuery(f"more than {LARGEST_MEASURES} columns are read; choose fewer features")
        _check(self.target is None or self.target in names)
        _check(type(self.rows) is int and self.rows >= 1 and isinstance(self.reader, str))
        _check(self.shards is None or (type(self.shards) is int and self.shards >= 2))


Plan: TypeAlias = Group
"""A whole plan. Its root aggregates; nothing else leaves."""


def _check(good: bool) -> None:
    if not good:
        raise UnsupportedQuery("a part of the plan has the wrong type; build it from its parts")
