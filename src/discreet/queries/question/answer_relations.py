"""What a statement does with the answers of its measured questions: relations over released tables.

A released table is public, and so is everything that is calculated from it. The nodes below are the algebra
of SQL over such tables. Names of columns are unique within a statement; which column a name in SQL means is
settled before (`queries.sql.answers.over_answers`), and what the nodes give is defined in `queries.answers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias

from discreet.data import Aggregate, Expression
from discreet.data.language.public_rows import PublicRows
from discreet.data.language.relations import Named, Order
from discreet.records import dataclass

__all__ = [
    "AnswerRelation",
    "Combination",
    "Combined",
    "Cut",
    "Extended",
    "Joined",
    "Kept",
    "Measured",
    "OneRow",
    "Paired",
    "Picked",
    "Regrouped",
    "Rows",
    "sources_of_answer",
    "walk_answer",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The released table of a measured question.

    Attributes
    ----------
    part : int
        Which of the statement's questions.
    columns : tuple of (name, source)
        Its keys and outputs, and what they are called here.
    """

    part: int
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of public tables, with the names that their columns have here."""

    rows: PublicRows
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRow:
    """One row without columns: what SELECT without FROM reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extended:
    """The same rows with more columns."""

    source: AnswerRelation
    columns: tuple[Named, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The rows for which a condition is TRUE."""

    source: AnswerRelation
    condition: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Columns that a join equates; no noise enters either."""

    left: str
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Pairs of rows that agree in all of `on`; without any, all pairs.

    With `left` also the rows of the left that match none, with NULL in place of the right; with `right`
    those of the right.
    """

    one: AnswerRelation
    other: AnswerRelation
    on: tuple[Paired, ...] = ()
    left: bool = False
    right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrouped:
    """One row for each combination of keys, with aggregates of columns; without keys, one row.

    Attributes
    ----------
    keys : tuple of str
        Columns of the source.
    columns : tuple of (name, Aggregate)
        Aggregates of columns of the source.
    """

    source: AnswerRelation
    keys: tuple[str, ...] = ()
    columns: tuple[tuple[str, Aggregate], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Rows sorted by released values, missing ones last, and cut."""

    source: AnswerRelation
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0


class Combination(StrEnum):
    """How two tables of equal width become one."""

    ALL = "union all"
    UNION = "union"
    INTERSECT = "intersect"
    EXCEPT = "except"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """Rows of two tables, column by column; the columns are called as in the first."""

    kind: Combination
    one: AnswerRelation
    other: AnswerRelation


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """Some columns, in order and under new names."""

    source: AnswerRelation
    columns: tuple[tuple[str, str], ...]


AnswerRelation: TypeAlias = (
    Measured | Rows | OneRow | Extended | Kept | Joined | Regrouped | Cut | Combined | Picked
)


def sources_of_answer(relation: AnswerRelation) -> tuple[AnswerRelation, ...]:
    """Return the relations that a relation is made of."""
    if isinstance(relation, Joined | Combined):
        return relation.one, relation.other
    return () if isinstance(relation, Measured | Rows | OneRow) else (relation.source,)


def walk_answer(relation: AnswerRelation) -> Iterator[AnswerRelation]:
    """Iterate over a relation and all that it is made of, from the first calculated to the last."""
    for source in sources_of_answer(relation):
        yield from walk_answer(source)
    yield relation
