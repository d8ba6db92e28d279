"""How much one person may contribute to a relation: the limits of its tables, added up or the widest of them.

Whatever these limits are, rows are bounded by them and noise is sized for them. So they are chosen for
what a person within the limits of every table has: of joined tables as many rows as in the one of which
more count, of a union as many as in all its parts together. (Proof: contribution_bounding, lemma 14.)
"""

from __future__ import annotations

from discreet.data.facts.joins import most_matches
from discreet.data.facts.persons import Tables, private_table
from discreet.data.facts.question_tables import found_once
from discreet.data.facts.relation_facts import columns_of_relation, is_single
from discreet.data.language.declarations import AUTO, LARGEST_LIMIT, Limits
from discreet.data.language.expressions import Literal
from discreet.data.language.relations import (
    Filter,
    JoinPersons,
    JoinPublic,
    Project,
    Relation,
    Source,
    Union,
    leftmost,
    sources,
)
from discreet.errors import UnsupportedQuery

__all__ = ["counted_rows", "declared_limits", "limits_of", "rows_within_limits"]


def limits_of(relation: Relation, tables: Tables) -> Limits:
    """Return how much one person contributes at most.

    One row if there cannot be more; else the declared limits, or narrower ones that the question brings
    along.
    """
    if is_single(relation, tables):
        return Limits(rows=1)
    first, declared = leftmost(relation), declared_limits(relation, tables)
    if first.limits is None:
        return declared
    if not declared.contains(first.limits):
        raise UnsupportedQuery(
            f"the limits of a question must be of the kind that was declared, and no wider: {declared!r}; "
            "state such limits, or none"
        )
    return first.limits


@found_once
def declared_limits(relation: Relation, tables: Tables) -> Limits:
    """Return the limits of a table, the wider ones of joined tables, or the sum of those of a union's parts.

    Who has one row in one table and many in another has as many in the join, and one more in the union,
    whichever is named first.
    """
    if isinstance(relation, Source):
        return private_table(relation.table, tables).limits
    if isinstance(relation, Union):
        return _sum([_of_part(part, tables) for part in _own_parts(relation)])
    first = declared_limits(sources(relation)[0], tables)
    if not isinstance(relation, JoinPersons) or is_single(relation.right, tables):
        return first
    other = declared_limits(relation.right, tables)
    return other if other.contains(first) else first


def counted_rows(limits: Limits) -> int:
    """Return how many rows of a person are counted at most, in all groups together."""
    return limits.rows or (limits.groups or 1) * (limits.rows_per_group or 1)


@found_once
def rows_within_limits(relation: Relation, tables: Tables) -> int:
    """Return how many rows a person has who is within the limits of every table, if persons match by keys.

    It is what `declared_limits` counts, times the rows of public tables that one row finds. Joins of
    private tables count as there, as if each row of one side matched one row of the other.
    """
    if is_single(relation, tables):
        return 1
    if isinstance(relation, Source):
        return counted_rows(private_table(relation.table, tables).limits)
    if isinstance(relation, Union):
        return sum(rows_within_limits(part, tables) for part in _own_parts(relation))
    below = [rows_within_limits(one, tables) for one in sources(relation)]
    if isinstance(relation, JoinPublic):
        return below[0] * max(1, most_matches(relation, columns_of_relation(relation.source, tables), tables))
    return max(below)


def _of_part(part: Relation, tables: Tables) -> Limits:
    return Limits(rows=1) if is_single(part, tables) else declared_limits(part, tables)


def _sum(limits: list[Limits]) -> Limits:
    """Return limits under which everything stays of who is within one of several in each part of a union.

    Groups add up, and rows in a group, of limits on groups alone. Otherwise rows add up: g groups of r rows
    each are g r rows.
    """
    if all(one.rows is None for one in limits):
        return Limits(
            groups=_at_most(sum(one.groups or 0 for one in limits)),
            rows_per_group=_at_most(sum(one.rows_per_group or 0 for one in limits)),
        )
    rows = _at_most(sum(map(counted_rows, limits)))
    return Limits(rows=AUTO, at_most=rows) if any(one.is_bought for one in limits) else Limits(rows=rows)


def _at_most(number: int) -> int:
    return min(number, LARGEST_LIMIT)


def _own_parts(union: Union) -> list[Relation]:
    """Return the parts of a union, without the rows of a FULL JOIN that match none: these are joined rows."""
    return [part for part in union.sources if part is union.sources[0] or not _joins_nothing(part)]


def _joins_nothing(part: Relation) -> bool:
    joined = part.source if isinstance(part, Project) else part
    return (
        isinstance(joined, JoinPersons)
        and isinstance(joined.right, Filter)
        and joined.right.condition == Literal(value=False)
    )
