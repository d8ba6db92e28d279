"""Bounds of what is counted or added up of each person, from the limits of the tables.

Nothing limits how many rows a person has in a table; `Limits` says how many are meant to count. Where a
number of a person's rows, or a sum over them, is aggregated and nothing else bounds it, it is clipped to what
a person within the limits of every table can have. It is a choice of bounds like any other: the noise is
sized for them, whatever the rows are (lemma 2 of own_rows).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from discreet.data.facts.joins import most_matches
from discreet.data.facts.persons import Tables, person_columns, private_table
from discreet.data.language.column_facts import ColumnFacts, Columns
from discreet.data.language.declarations import LARGEST_BOUND_STEPS, Bounds
from discreet.data.language.relations import (
    JoinPersons,
    JoinPublic,
    PerPerson,
    Relation,
    Source,
    Union,
)

__all__ = ["MOST_USUAL_ROWS", "usual_count", "usual_rows", "usual_sum", "with_usual"]

MOST_USUAL_ROWS = 1_000_000
"""Counts beyond it have no usual bounds: noise for a million rows says nothing."""

ColumnsOf = Callable[[Relation, Tables], Columns]


def usual_rows(relation: Relation, tables: Tables, columns_of: ColumnsOf) -> int | None:
    """Return how many rows a person has who is within the limits of every table; None if too many."""
    found = _rows(relation, tables, columns_of)
    return found if found <= MOST_USUAL_ROWS else None


def _rows(relation: Relation, tables: Tables, columns_of: ColumnsOf) -> int:
    if isinstance(relation, Source):
        limits = private_table(relation.table, tables).limits
        return limits.rows or (limits.groups or 1) * (limits.rows_per_group or 1)
    if isinstance(relation, Union):
        return sum(_rows(source, tables, columns_of) for source in relation.sources)
    if isinstance(relation, JoinPersons):
        sides = (_rows(side, tables, columns_of) for side in (relation.left, relation.right))
        left, right = sides
        return left * right
    below = _rows(relation.source, tables, columns_of)
    if isinstance(relation, JoinPublic):
        return below * max(1, most_matches(relation, columns_of(relation.source, tables), tables))
    if isinstance(relation, PerPerson) and not set(relation.keys) - person_columns(relation.source, tables):
        return 1
    return below


def usual_count(rows: int | None) -> Bounds | None:
    """Return the bounds of a number of rows, values or places among so many."""
    return None if rows is None else Bounds(0, rows)


def usual_sum(bounds: Bounds, rows: int | None) -> Bounds | None:
    """Return the bounds of a sum of so many values within bounds, on their grid."""
    if rows is None:
        return None
    lower, upper = rows * min(bounds.lower, Fraction(0)), rows * max(bounds.upper, Fraction(0))
    if max(-lower, upper) / bounds.step > LARGEST_BOUND_STEPS:
        return None
    return Bounds(lower, upper, step=bounds.step)


def with_usual(columns: Columns) -> Columns | None:
    """Return columns of which those without bounds have their usual ones; None if there are no such."""
    if not any(_lacks(facts) for facts in columns.values()):
        return None
    return {
        name: replace(facts, bounds=facts.usual) if _lacks(facts) else facts
        for name, facts in columns.items()
    }


def _lacks(facts: ColumnFacts) -> bool:
    return facts.bounds is None and facts.usual is not None
