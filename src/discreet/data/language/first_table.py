"""The first table of a relation, with the limits and the bounds that a question brings along.

Its limits bound what one person contributes to the whole question, whatever is joined to it.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.data.language.declarations import Bounds, Limits
from discreet.data.language.relations import JoinPersons, Relation, Source, Union, leftmost

__all__ = ["with_bounds", "with_limits"]


def with_limits(relation: Relation, limits: Limits) -> Relation:
    """Return a relation with limits of its own."""
    return _with_first(relation, replace(leftmost(relation), limits=limits))


def with_bounds(relation: Relation, column: str, bounds: Bounds) -> Relation:
    """Return a relation with bounds of its own for a column of its first table."""
    first = leftmost(relation)
    stated = dict(first.bounds) | {column: bounds}
    return _with_first(relation, replace(first, bounds=tuple(sorted(stated.items(), key=lambda one: one[0]))))


def _with_first(relation: Relation, source: Source) -> Relation:
    """Return a relation with another first table in the place of its own."""
    if isinstance(relation, Source):
        return source
    if isinstance(relation, Union):
        first, *others = relation.sources
        return replace(relation, sources=(_with_first(first, source), *others))
    if isinstance(relation, JoinPersons):
        return replace(relation, left=_with_first(relation.left, source))
    return replace(relation, source=_with_first(relation.source, source))
