"""How an offer is divided between what is bought first and the question itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from discreet.data import Bounds, Relation, Table
from discreet.data.language.first_table import with_bounds
from discreet.data.language.relations import leftmost
from discreet.privacy.offer import Offer
from discreet.queries.binding.bind import BoundQuery, bind
from discreet.queries.binding.missing_declarations import NotDeclared
from discreet.queries.fitting.fits import BoundsFit, Fitted, RowLimitFit
from discreet.queries.fitting.row_limits import rows_query, spare_persons
from discreet.queries.fitting.value_bounds import values_query
from discreet.queries.noise.build_request import build_request
from discreet.queries.noise.unknown_keys import hypothetical_keys, unknown_keys
from discreet.queries.question.query import Query
from discreet.records import dataclass

__all__ = ["Purchase", "Wanted", "first_and_rest", "purchase", "wanted_by"]

_ANY_BOUNDS = Bounds(0, 1)
_ENOUGH = Fraction(20)
"""No count by size is wrong by a person at this epsilon or rho, so that more would be wasted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a question needs that has to be bought.

    Attributes
    ----------
    most : int or None
        The largest limit on rows that may be chosen; None if there is nothing to choose.
    columns : tuple of str
        The columns of the first table that need bounds.
    cells, measures : int
        How many groups the answer has, and how many exact numbers in each get noise.
    """

    most: int | None = None
    columns: tuple[str, ...] = ()
    cells: int = 1
    measures: int = 1

    def __bool__(self) -> bool:
        return self.most is not None or bool(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """What is bought first, and what is left for the question."""

    fits: tuple[Fitted, ...]
    rest: Offer


def wanted_by(query: Query, tables: Mapping[str, Table], most: int | None, *, bounds: bool) -> Wanted:
    """Return what a query needs, with the largest limit it may choose; bounds only if they may be bought.

    Columns without bounds are found by binding the query with any bounds in their place, until nothing is
    missing; a query that lacks something else is refused.
    """
    columns: list[str] = []
    settled, table = query, leftmost(query.relation).table
    while True:
        try:
            bound = _bound(settled, tables)
        except NotDeclared as missing:
            if not bounds or missing.needs is not Bounds or missing.table != table:
                raise
            columns.append(missing.column)
            settled = replace(settled, relation=with_bounds(settled.relation, missing.column, _ANY_BOUNDS))
            continue
        # Keys that are still to be chosen are supposed to be few, which leaves larger limits.
        cells = 1 if unknown_keys(query, tables) else bound.plan.cells
        return Wanted(most=most, columns=tuple(columns), cells=cells, measures=len(bound.plan.measures))


def first_and_rest(offer: Offer, share: Fraction) -> tuple[Offer, Offer]:
    """Return a share of an offer, or as much as is enough, without its delta; and the rest with it."""
    if offer.rho is not None:
        first = min(offer.rho * share, _ENOUGH)
        return Offer.concentrated(first), Offer.concentrated(offer.rho - first, offer.delta)
    assert offer.epsilon is not None  # noqa: S101
    first = min(offer.epsilon * share, _ENOUGH)
    return Offer.pure(first), Offer(epsilon=offer.epsilon - first, delta=offer.delta)


def purchase(
    relation: Relation, tables: Mapping[str, Table], wanted: Wanted, offer: Offer, share: Fraction
) -> Purchase:
    """Return the requests for what is wanted, which divide a share of the offer evenly."""
    parts = len(wanted.columns) + (wanted.most is not None)
    rest = offer
    for place in range(parts):  # shares of what is left, so that all of them are the same
        each, rest = first_and_rest(rest, share / (parts - place * share))
    fits: list[Fitted] = []
    if wanted.most is not None:
        counted = build_request(rows_query(relation, wanted.most), tables, each)
        spare = spare_persons(rest, wanted.cells, wanted.measures)
        fits.append(RowLimitFit(request=counted, most=wanted.most, spare=spare))
    for column in wanted.columns:
        counted = build_request(values_query(relation, tables, column), tables, each)
        kind = tables[leftmost(relation).table].schema[column]
        fits.append(BoundsFit(request=counted, column=column, kind=kind))
    return Purchase(fits=tuple(fits), rest=rest)


def _bound(query: Query, tables: Mapping[str, Table]) -> BoundQuery:
    settled = hypothetical_keys(query, tables) if unknown_keys(query, tables) else query
    return bind(settled, tables)
