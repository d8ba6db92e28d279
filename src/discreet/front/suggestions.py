"""Suggested bounds and limits, paid for: what to declare if the data are unknown.

Both are ordinary requests, a count of rows by size of the value and a count of persons by number of rows, and
public arithmetic on their answers. What they cost is charged like any other answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.curator import Release
from discreet.data import Bounds, Formula, Limits, Type, col, count
from discreet.data.language.cases import when
from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational
from discreet.queries import TableRequest

if TYPE_CHECKING:
    from discreet.front.curator import Curator

__all__ = ["Suggestion", "suggest_bounds", "suggest_limits"]

_SIZES = tuple(digit * Fraction(10) ** power for power in range(-3, 13) for digit in (1, 2, 5))
_EDGES = (*(-size for size in reversed(_SIZES)), Fraction(0), *_SIZES)
_ROWS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_FINEST = 10_000
"""A grid has this many steps, or up to ten times as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What to declare, and the answer that it was derived from.

    Attributes
    ----------
    declared : Bounds or Limits
        Declare it with `amend`, or in another ledger.
    release : Release
        The noisy counts, with their cost.
    """

    declared: Bounds | Limits
    release: Release

    def __repr__(self) -> str:
        return f"Suggestion({self.declared!r})"


def suggest_bounds(
    curator: Curator, table: str, column: str, *, coverage: Number = Fraction(99, 100), **offer: Any
) -> Suggestion:
    """Spend on bounds for a column of numbers: a range of round numbers that contains most of its values.

    The values are counted by size, between 1, 2 and 5 times the powers of ten from 0.001 to 5 billion, above
    and below zero. Sizes whose noisy count could be only noise are left out, and so is what lies beyond the
    coverage on either side.

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
    kind, share = _kind(curator, table, column), _share(coverage)
    query = TableRequest(table=table).group_by(size=_place(col(column), _EDGES)).agg(n=count())
    release = curator.ask(query, confidence=_each(_EDGES), **offer)
    first, last = _middle(release, share, both=True)
    lower = _EDGES[max(first - 1, 0)]
    upper = _EDGES[min(last, len(_EDGES) - 1)]
    step = Fraction(1) if kind is Type.INTEGER else _step(upper - lower)
    lower, upper = step * floor(lower / step), step * ceil(upper / step)
    return Suggestion(declared=Bounds(lower, max(upper, lower + step), step=step), release=release)


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
    share = _share(coverage)
    persons = TableRequest(table=table).per_person(rows=count())
    query = persons.group_by(size=_place(col("rows"), _ROWS)).agg(n=count())
    release = curator.ask(query, confidence=_each(_ROWS), **offer)
    _, last = _middle(release, share, both=False)
    return Suggestion(declared=Limits(rows=_ROWS[min(last, len(_ROWS) - 1)]), release=release)


def _each(edges: Sequence[object]) -> Fraction:
    """Return the confidence for each interval at which all of them together have 95 %."""
    return 1 - Fraction(1, 20 * (len(edges) + 2))


def _place(value: Formula, edges: Sequence[Fraction | int]) -> Formula:
    """Return the number of the interval (edge before, edge] that contains a value; the last is open."""
    first, *others = edges
    cases = when(value <= first).then(0)
    for place, edge in enumerate(others, start=1):
        cases = cases.when(value <= edge).then(place)
    return cases.when(value > edges[-1]).then(len(edges))


def _middle(release: Release, coverage: Fraction, *, both: bool) -> tuple[int, int]:
    """Return the first and the last interval that remain without the tails."""
    column = release.outputs[0]
    assert column.lower is not None  # noqa: S101
    places = np.array([-1 if size is None else size for size in release.keys["size"]])
    certain = (column.lower > 0) & (places >= 0)
    if not certain.any():
        raise ParameterError("the offer", "is too small: all counts may be noise", "a larger one")
    places, counts = places[certain], np.asarray(column.values[certain], np.float64)
    order = np.argsort(places)
    places, counts = places[order], counts[order].clip(0)
    shares = counts.cumsum() / counts.sum()
    tail = float(1 - coverage) / (2 if both else 1)
    first = int(np.searchsorted(shares, tail, side="right")) if both else 0
    last = min(int(np.searchsorted(shares, 1 - tail)), len(places) - 1)
    return int(places[first]), int(places[last])


def _share(coverage: Number) -> Fraction:
    share = rational(coverage, "coverage", positive=True)
    if not share < 1:
        raise ParameterError("coverage", "is out of range", "above 0 and below 1, such as 0.99")
    return share


def _step(width: Fraction) -> Fraction:
    """Return the largest power of ten that divides a width into at least this many steps."""
    step = Fraction(10) ** 12
    while width / step < _FINEST:
        step /= 10
    return step


def _kind(curator: Curator, table: str, column: str) -> Type:
    tables = curator.tables
    if table not in tables:
        raise ParameterError("table", "is not a declared table", f"one of {sorted(tables)}")
    found = tables[table].schema.get(column)
    if found is None or not found.is_number:
        raise ParameterError(
            "column", "is not a column of numbers", "a column of integers, decimals or floats"
        )
    return found
