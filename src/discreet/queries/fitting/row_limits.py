"""A limit on rows that fits: how many rows of a person to keep, from noisy counts of persons by their rows.

A count of rows with at most k of each person is short by the sum of (r - k)+ over the persons' rows r, and
its noise is k times what it would be for one row. One more row in the limit restores a row of every person
who has more than k, and adds the noise of one row. So the best k is where as many persons have more as the
noise of one row is large: `spare_persons`. (Proof: fitted_limits.)
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt

from discreet.data import Relation, Table, col, count
from discreet.data.facts.limits import declared_limits
from discreet.data.facts.relation_facts import is_single
from discreet.data.language.relations import leftmost
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.queries.fitting.size_counts import SizeCounts, counted_by_size
from discreet.queries.outputs.base import of_several
from discreet.queries.question.dataframe import TableRequest
from discreet.queries.question.query import Query

__all__ = [
    "fitting_limit",
    "largest_limit",
    "limit_in_words",
    "most_above",
    "row_edges",
    "rows_query",
    "spare_persons",
]

_DEVIATIONS = 2
"""How many standard deviations of noise count as no person: with fewer, noise alone often asks for the
largest limit, with more, small groups of people with many rows are cut (`python -m benchmarks.limits`)."""
_MEAN_OF_NORMAL = 0.8
"""E abs(N) of a standard normal N."""
_ROWS = "rows"


def row_edges(most: int) -> tuple[int, ...]:
    """Return the limits that may be chosen: powers of two below the largest, and the largest."""
    edges = [1 << power for power in range(most.bit_length()) if 1 << power < most]
    return (*edges, most)


def rows_query(relation: Relation, most: int) -> Query:
    """Return the query for the number of persons by how many rows of the relation they have."""
    rows = TableRequest(table=leftmost(relation).table, relation=relation).per_person(**{_ROWS: count()})
    assert rows.relation is not None  # noqa: S101
    return counted_by_size(rows.relation, col(_ROWS), row_edges(most))


def largest_limit(relation: Relation, tables: Mapping[str, Table]) -> int | None:
    """Return the largest number of rows that a question may choose; None if no person can have several."""
    if is_single(relation, tables):
        return None
    declared = declared_limits(relation, tables)
    if declared.rows is None:
        raise ParameterError(
            "limits", "are on groups, which AUTO cannot choose", "a table with Limits(rows=…)"
        )
    return None if declared.rows == 1 else declared.rows


def spare_persons(offer: Offer, cells: int, measures: int) -> float:
    """Return how many persons may have more rows than the limit: the noise of one row, over all groups.

    Of a pure epsilon and m measures, each noise is about m / epsilon large for a limit of one row, and an
    answer has one in each group.
    """
    if offer.rho is not None:
        return _MEAN_OF_NORMAL * cells * sqrt(measures / (2 * offer.rho))
    assert offer.epsilon is not None  # noqa: S101
    return float(cells * measures / offer.epsilon)


def fitting_limit(persons: SizeCounts, spare: float) -> int:
    """Return the least limit that no more than the spare persons seem to exceed, apart from noise."""
    last = len(persons.edges) - 1
    for place in range(last):
        noise = _DEVIATIONS * persons.deviation(len(persons.counts) - place - 1)
        if persons.above(place) <= spare + noise:
            return int(persons.edges[place])
    return int(persons.edges[last])


def most_above(persons: SizeCounts, limit: int, confidence: Fraction) -> int:
    """Return a number that the persons with more rows than the limit do not exceed, at the confidence.

    It holds for all limits at once, and so for one that was chosen by the same noise.
    """
    place = persons.edges.index(limit)
    level = of_several(confidence, len(persons.edges))
    return max(0, persons.above(place) + persons.margin(len(persons.counts) - place - 1, level))


def limit_in_words(persons: SizeCounts, limit: int, confidence: Fraction) -> str:
    """Say which limit was bought, and how many persons have more rows."""
    place = persons.edges.index(limit)
    over, total, most = (
        max(0, persons.above(place)),
        max(1, persons.total),
        most_above(persons, limit, confidence),
    )
    rows = "1 row" if limit == 1 else f"{limit} rows"
    return (
        f"at most {rows} of each person, a limit that was bought: about {over:,} of "
        f"{total:,} persons have more, at most {most:,} at {float(confidence):.0%}"
    )
