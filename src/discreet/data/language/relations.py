"""Relations: what yields rows, each belonging to one person.

Every relation maps rows to rows such that a person's rows, their values *and their presence*, follow from
that person's own rows and public facts. Nothing here can let one person's rows affect those of
another: there is no LIMIT, no DISTINCT, no window, no aggregate except within one person. Contributions
are bounded afterwards, once, by the plan's `Group`; what a join may multiply is bounded before it.

The person is carried along with the visible columns. A relation's columns have distinct names, even when
upper and lower case are ignored.

>>> from discreet.data.language.expressions import Column, Compare, literal
>>> adults = Compare(operator=">=", left=Column(name="age"), right=literal(18))
>>> relation = Filter(source=Source(table="visits"), condition=adults)
>>> [type(node).__name__ for node in walk_relation(relation)]
['Filter', 'Source']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from discreet.data.language.declarations import Bounds, Limits
from discreet.data.language.expressions import Expression
from discreet.data.language.public_rows import PublicRows
from discreet.data.language.window_functions import (
    LARGEST_OFFSET,
    LATER,
    NUMBERED,
    PLACED,
    Order,
    WindowFunction,
)
from discreet.errors import UnsupportedQuery
from discreet.records import Record, dataclass

__all__ = [
    "LARGEST_OFFSET",
    "LARGEST_RELATION_DEPTH",
    "LATER",
    "NUMBERED",
    "PLACED",
    "Derive",
    "Distinct",
    "Equality",
    "Filter",
    "JoinPersons",
    "JoinPublic",
    "Named",
    "Order",
    "PerPerson",
    "Personal",
    "PersonalFunction",
    "Project",
    "Relation",
    "Source",
    "Union",
    "Window",
    "WindowFunction",
    "leftmost",
    "public_tables",
    "sources",
    "sources_of",
    "walk_relation",
]

LARGEST_RELATION_DEPTH = 100
LARGEST_RELATIONS = 200
"""How many relations one plan may have in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The rows of a declared private table, by its public name.

    Attributes
    ----------
    table : str
        The name.
    limits : Limits or None
        How much one person contributes to this question, no more than was declared, if this is its first
        table. None: as declared.
    bounds : tuple of (column, Bounds)
        The ranges of numbers for this question, where none or wider ones are declared; in the order of names.
    """

    table: str
    limits: Limits | None = field(default=None, metadata=LATER)
    bounds: tuple[tuple[str, Bounds], ...] = field(default=(), metadata=LATER)

    def __post_init__(self) -> None:
        _check(isinstance(self.table, str) and bool(self.table))
        _check(isinstance(self.limits, Limits | None))
        _check(self.limits is None or not self.limits.is_bought)
        _check(isinstance(self.bounds, tuple))
        _check(all(isinstance(name, str) and isinstance(one, Bounds) for name, one in self.bounds))
        names = [name for name, _ in self.bounds]
        _check(names == sorted(set(names)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The rows for which a condition is TRUE; FALSE and NULL leave a row out."""

    source: Relation
    condition: Expression

    def __post_init__(self) -> None:
        _check(isinstance(self.condition, Expression))
        _check_below(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An expression under a name."""

    name: str
    expression: Expression

    def __post_init__(self) -> None:
        _check(isinstance(self.name, str) and bool(self.name) and isinstance(self.expression, Expression))


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Every row with these columns instead of its own, computed row by row: SELECT without aggregates."""

    source: Relation
    columns: tuple[Named, ...]

    def __post_init__(self) -> None:
        _check(bool(self.columns) and all(isinstance(column, Named) for column in self.columns))
        _check_names(column.name for column in self.columns)
        _check_below(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derive:
    """Every row with these columns added, computed row by row; one of the same name is replaced."""

    source: Relation
    columns: tuple[Named, ...]

    def __post_init__(self) -> None:
        _check(bool(self.columns) and all(isinstance(column, Named) for column in self.columns))
        _check_names(column.name for column in self.columns)
        _check_below(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Equality:
    """A column of the left side that equals one of the right side; NULL equals nothing."""

    left: str
    right: str

    def __post_init__(self) -> None:
        _check(isinstance(self.left, str) and isinstance(self.right, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinPublic:
    """Every row joined with the rows of a public table that match it.

    Attributes
    ----------
    table : str or PublicRows
        The public table, or public rows that were calculated.
    on : tuple of Equality
        Columns of the source and columns of the public table; without any, every row of the public table
        matches.
    columns : tuple of Equality, optional
        Which columns of the public table are added: `left` is the new name, `right` the column. By
        default all that `on` does not name.
    outer : bool
        Whether a row without a match stays, with NULL in the other columns.
    """

    source: Relation
    table: str | PublicRows
    on: tuple[Equality, ...]
    columns: tuple[Equality, ...] | None = None
    outer: bool = False

    def __post_init__(self) -> None:
        _check(isinstance(self.table, str | PublicRows) and isinstance(self.outer, bool))
        _check_joined(self.on, self.columns)
        _check_below(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinPersons:
    """Every row of the left joined with the rows of the same person on the right, if other columns are equal.

    Attributes
    ----------
    on : tuple of Equality
        Columns of the left and of the right that are equal besides the person.
    columns : tuple of Equality, optional
        Which columns of the right are added: `left` is the new name, `right` the column. By default all
        but the person and those that `on` names.
    outer : bool
        Whether a row on the left without one on the right stays, with NULL in the other columns.
    """

    left: Relation
    right: Relation
    on: tuple[Equality, ...] = ()
    columns: tuple[Equality, ...] | None = None
    outer: bool = False

    def __post_init__(self) -> None:
        _check(isinstance(self.outer, bool))
        _check_joined(self.on, self.columns)
        _check_below(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    """The rows of several relations whose columns have the same names and types: UNION ALL."""

    sources: tuple[Relation, ...]

    def __post_init__(self) -> None:
        _check(isinstance(self.sources, tuple) and bool(self.sources))
        _check_below(self)


class PersonalFunction(StrEnum):
    """What is computed of a person's own rows."""

    COUNT = "count"
    """Of rows, or of the rows in which a column is not NULL."""
    COUNT_DISTINCT = "count distinct"
    SUM = "sum"
    MEAN = "mean"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Personal(Record):
    """An aggregate of a person's own rows, under a name.

    A sum and a mean are taken on the grid of the column's bounds, to which every value is clipped, so that
    they do not depend on the order of rows; `bounds` narrows them.
    """

    name: str
    function: PersonalFunction
    column: str | None = None
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        self._amend(function=PersonalFunction(self.function))
        _check(isinstance(self.name, str) and bool(self.name) and isinstance(self.column, str | None))
        _check(self.column is not None or self.function is PersonalFunction.COUNT)
        on_grid = self.function in {PersonalFunction.SUM, PersonalFunction.MEAN}
        _check(isinstance(self.bounds, Bounds) if on_grid and self.bounds else self.bounds is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PerPerson:
    """One row for each person and combination of some of their own columns: GROUP BY person, key, ….

    A person without rows below has none here. The columns are the keys, then the aggregates.
    """

    source: Relation
    keys: tuple[str, ...] = ()
    columns: tuple[Personal, ...]

    def __post_init__(self) -> None:
        _check(all(isinstance(key, str) for key in self.keys))
        _check(all(isinstance(column, Personal) for column in self.columns))
        _check_names((*self.keys, *(column.name for column in self.columns)))
        _check_below(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct:
    """A person's rows that are equal in every column, once."""

    source: Relation

    def __post_init__(self) -> None:
        _check_below(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Record):
    """Every row with one more column, computed over its person's rows that agree in `partition`.

    With `order`, COUNT, MIN, MAX, SUM and MEAN see the rows up to this one and those of the same place;
    without it the whole partition. `offset` is for LAG and LEAD: how many rows before or after.
    """

    source: Relation
    name: str
    function: WindowFunction
    column: str | None = None
    partition: tuple[str, ...] = ()
    order: tuple[Order, ...] = ()
    offset: int = field(default=1, metadata=LATER)

    def __post_init__(self) -> None:
        self._amend(function=WindowFunction(self.function))
        _check(isinstance(self.name, str) and bool(self.name) and isinstance(self.column, str | None))
        _check(all(isinstance(part, str) for part in self.partition))
        _check(all(isinstance(part, Order) for part in self.order))
        _check(bool(self.order) or self.function not in PLACED)
        _check(self.column is None or self.function not in NUMBERED)
        _check(self.column is not None or self.function in {*NUMBERED, WindowFunction.COUNT})
        shifted = self.function in PLACED - NUMBERED
        _check(type(self.offset) is int and 1 <= self.offset <= (LARGEST_OFFSET if shifted else 1))
        _check_below(self)


Relation: TypeAlias = (
    Source | Filter | Project | Derive | JoinPublic | JoinPersons | Union | PerPerson | Distinct | Window
)
"""Any relation. To add one: a class here, its columns in `facts`, its meaning in `compile.relations`."""


def sources(relation: Relation) -> tuple[Relation, ...]:
    """Return the relations directly below one, left to right."""
    if isinstance(relation, Source):
        return ()
    if isinstance(relation, JoinPersons):
        return (relation.left, relation.right)
    return relation.sources if isinstance(relation, Union) else (relation.source,)


def walk_relation(relation: Relation) -> Iterator[Relation]:
    """Yield a relation and everything below it, parents first, left to right."""
    yield relation
    for below in sources(relation):
        yield from walk_relation(below)


def sources_of(relation: Relation) -> tuple[str, ...]:
    """Return the private tables that a relation reads, each once, left to right."""
    return tuple(dict.fromkeys(node.table for node in walk_relation(relation) if isinstance(node, Source)))


def public_tables(relation: Relation) -> tuple[str, ...]:
    """Return the public tables that a relation reads, each once, in order."""
    joined = (node.table for node in walk_relation(relation) if isinstance(node, JoinPublic))
    return tuple(dict.fromkeys(table for table in joined if isinstance(table, str)))


def leftmost(relation: Relation) -> Source:
    """Return the first private table of a relation: its limits bound what one person contributes."""
    while not isinstance(relation, Source):
        relation = sources(relation)[0]
    return relation


def _depth(relation: Relation) -> int:
    depth, level = 0, [relation]
    while level and depth <= LARGEST_RELATION_DEPTH:
        level = [below for node in level for below in sources(node)]
        depth += 1
        _check(all(isinstance(node, Relation) for node in level))
        if len(level) > LARGEST_RELATIONS:
            return LARGEST_RELATION_DEPTH + 1
    return depth


def _check_below(relation: Relation) -> None:
    if _depth(relation) > LARGEST_RELATION_DEPTH:
        raise UnsupportedQuery(
            "the request stacks too many tables and conditions; join the conditions with AND, ask in parts"
        )


def _check_joined(on: tuple[Equality, ...], columns: tuple[Equality, ...] | None) -> None:
    _check(isinstance(on, tuple) and isinstance(columns, tuple | None))
    _check(all(isinstance(part, Equality) for part in (*on, *(columns or ()))))
    _check_names(tuple(column.left for column in columns or ()))


def _check_names(names: Iterator[str] | tuple[str, ...]) -> None:
    listed = [name.lower() for name in names]
    if len(set(listed)) != len(listed):
        raise UnsupportedQuery(
            "two columns of a subquery have the same name, apart from case; give them different names with AS"
        )


def _check(good: bool) -> None:
    if not good:
        raise UnsupportedQuery("a part of the plan has the wrong type; build it from its parts")
