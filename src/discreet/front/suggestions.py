"""Suggested bounds and limits, paid for: what to declare if the data are unknown.

Both are ordinary requests, a count of persons by the size of a value and by their number of rows, and public
arithmetic on their answers. What they cost is charged like any other answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.curator import Release
from discreet.data import Bounds, Limits, PublicTable, Source, Table, Type, col, count
from discreet.data.tables.redeclared import redeclared
from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational
from discreet.queries import TableRequest
from discreet.queries.fitting.row_limits import fitting_limit, limit_in_words
from discreet.queries.fitting.size_counts import SizeCounts, counted_by_size
from discreet.queries.fitting.value_bounds import (
    COVERAGE,
    VALUE_EDGES,
    bounds_in_words,
    fitting_bounds,
    values_query,
)
from discreet.queries.question.query import Query
from discreet.queries.question.terms import CONFIDENCE
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.front.curator import Curator

__all__ = [
    "Suggestion",
    "apply_suggestions",
    "suggest_bounds",
    "suggest_limits",
    "suggested_by",
    "suggesting_question",
]

_LEAST = 4
"""How many standard deviations of all cells there must be persons, for anything to be said."""
_ROWS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_EACH = 1 - Fraction(1, 20 * (len(_ROWS) + 2))
"""The confidence of each count: part of what makes two questions the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What to declare, and the answer that it was derived from.

    Attributes
    ----------
    declared : Bounds or Limits
        State it in a question, as ``limits=`` or ``bounds=``, or declare it with `Curator.apply`.
    release : Release
        The noisy counts, with their cost.
    table : str
        The table that it is about.
    column : str or None
        The column, of bounds.
    cuts : str
        What it is, and what it cuts, in words.
    """

    declared: Bounds | Limits
    release: Release
    table: str
    column: str | None
    cuts: str

    @property
    def limits(self) -> Limits:
        """The limits, for a question."""
        if not isinstance(self.declared, Limits):
            raise ParameterError("limits", "are bounds", "what suggest_limits found")
        return self.declared

    @property
    def bounds(self) -> dict[str, Bounds]:
        """The bounds by column, for a question."""
        if not isinstance(self.declared, Bounds) or self.column is None:
            raise ParameterError("bounds", "are limits", "what suggest_bounds found")
        return {self.column: self.declared}

    def __repr__(self) -> str:
        return f"Suggestion({self.declared!r})"

    def __str__(self) -> str:
        return self.cuts


def suggest_bounds(
    curator: Curator, table: str, column: str, *, coverage: Number = COVERAGE, **offer: Any
) -> Suggestion:
    """Spend on bounds for a column of numbers: a range of round numbers that contains most of its values.

    The values are counted by size, between 1, 2 and 5 times the powers of ten from 0.001 to 5 billion, above
    and below zero; every person counts with one of their rows. On either side the bound is where no more than
    half of what the coverage leaves lies beyond, as far as the noise can tell.

    Parameters
    ----------
    curator : Curator
        Where to ask.
    table, column : str
        Of what.
    coverage : number
        The approximate share of values that the bounds should contain.
    **offer
        What `ask` takes, such as ``epsilon=0.1``.
    """
    _share(coverage)
    query, terms = suggesting_question(curator.tables, table, column)
    release = curator.ask(query, **terms, **offer)
    return suggested_by(release, curator.tables, table, column, coverage=coverage)


def suggest_limits(
    curator: Curator, table: str, *, coverage: Number = Fraction(95, 100), **offer: Any
) -> Suggestion:
    """Spend on limits for a table: a number of rows that most persons do not exceed.

    Parameters
    ----------
    curator : Curator
        Where to ask.
    table : str
        Of what.
    coverage : number
        The approximate share of persons who should lose nothing.
    **offer
        What `ask` takes, such as ``epsilon=0.1``.
    """
    _share(coverage)
    query, terms = suggesting_question(curator.tables, table, None)
    release = curator.ask(query, **terms, **offer)
    return suggested_by(release, curator.tables, table, None, coverage=coverage)


def suggesting_question(
    tables: Mapping[str, Table], table: str, column: str | None
) -> tuple[Query, dict[str, Any]]:
    """Return what is asked to suggest bounds of a column, or limits if there is none, and its terms."""
    if table not in tables or isinstance(tables[table], PublicTable):
        raise ParameterError("table", "is not a declared table", f"one of {sorted(tables)}")
    if column is not None:
        _kind(tables[table], column)
        return values_query(Source(table=table), tables, column), {}
    persons = TableRequest(table=table).per_person(rows=count())
    assert persons.relation is not None  # noqa: S101
    return counted_by_size(persons.relation, col("rows"), _ROWS), {"confidence": _EACH}


def suggested_by(
    release: Release,
    tables: Mapping[str, Table],
    table: str,
    column: str | None,
    *,
    coverage: Number | None = None,
) -> Suggestion:
    """Return what the answer to such a question suggests: arithmetic on noisy counts.

    Raises
    ------
    ParameterError
        If all of its counts may be noise. They were paid for all the same.
    """
    if column is None:
        counts = SizeCounts.read(release, _ROWS)
        limit = _limit(counts, _share(Fraction(95, 100) if coverage is None else coverage))
        words = limit_in_words(counts, limit, CONFIDENCE)
        return Suggestion(declared=Limits(rows=limit), release=release, table=table, column=None, cuts=words)
    values = SizeCounts.read(release, VALUE_EDGES)
    found = fitting_bounds(
        values, _kind(tables[table], column), _share(COVERAGE if coverage is None else coverage)
    )
    words = bounds_in_words(values, column, found, release.request.confidence)
    return Suggestion(declared=found, release=release, table=table, column=column, cuts=words)


def apply_suggestions(tables: dict[str, Table], suggestions: tuple[Suggestion, ...]) -> dict[str, Table]:
    """Return the tables with what was suggested declared."""
    for one in suggestions:
        if not isinstance(one, Suggestion) or one.table not in tables:
            raise ParameterError("suggestion", "is none of these tables", "what suggest_bounds found")
        table = tables[one.table]
        tables = {**tables, one.table: _declaring(table, one)}
    return tables


def _declaring(table: Table, one: Suggestion) -> Table:
    if isinstance(one.declared, Limits):
        return redeclared(table, limits=one.declared, columns=table.columns)
    assert one.column is not None  # noqa: S101
    return redeclared(table, limits=table.limits, columns={**table.columns, one.column: one.declared})


def _limit(persons: SizeCounts, coverage: Fraction) -> int:
    """Return the least limit that no more persons seem to exceed than the coverage leaves."""
    if persons.total <= _LEAST * persons.deviation(len(persons.counts)):
        raise ParameterError("the offer", "is too small: all counts may be noise", "a larger one")
    return fitting_limit(persons, float(1 - coverage) * persons.total)


def _share(coverage: Number) -> Fraction:
    share = rational(coverage, "coverage", positive=True)
    if not share < 1:
        raise ParameterError("coverage", "is out of range", "above 0 and below 1, such as 0.99")
    return share


def _kind(table: Table, column: str) -> Type:
    found = table.schema.get(column)
    if found is None or not found.is_number:
        raise ParameterError(
            "column", "is not a column of numbers", "a column of integers, decimals or floats"
        )
    return found
