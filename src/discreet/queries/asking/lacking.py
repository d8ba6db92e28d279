"""What a question brings along, and what it lacks: limits and bounds that are stated, or must be bought."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.data import AUTO, Limits, Table
from discreet.data.facts.limits import declared_limits
from discreet.data.language.first_table import with_bounds, with_limits
from discreet.data.language.relations import leftmost
from discreet.queries.asking.fitted import Fittable, asking_about
from discreet.queries.fitting.buying import Wanted, wanted_by
from discreet.queries.fitting.row_limits import largest_limit
from discreet.queries.question.query import Query
from discreet.queries.question.terms import Terms

__all__ = ["stated", "wanted_of"]


def stated(question: Fittable, terms: Terms) -> Fittable:
    """Return the question with the limits and the bounds that its terms state as numbers."""
    relation = question.relation
    if isinstance(terms.limits, Limits):
        relation = with_limits(relation, terms.limits)
    if isinstance(terms.bounds, Mapping):
        for column, bounds in terms.bounds.items():
            relation = with_bounds(relation, column, bounds)
    return question if relation is question.relation else asking_about(question, relation)


def wanted_of(question: Fittable, tables: Mapping[str, Table], terms: Terms) -> Wanted:
    """Return what has to be bought for a question, from public facts alone."""
    first = leftmost(question.relation)
    by_itself = first.limits is None and declared_limits(question.relation, tables).is_bought
    most = largest_limit(question.relation, tables) if terms.limits is AUTO or by_itself else None
    if most is None and terms.bounds is not AUTO:
        return Wanted()
    if isinstance(question, Query):
        return wanted_by(question, tables, most, bounds=terms.bounds is AUTO)
    return Wanted(most=most)
