"""Private tables in FROM that meet by declared foreign keys instead of the person.

``FROM orders, lineitem WHERE l_orderkey = o_orderkey`` names no person, and needs none: the owner declared
that rows of ``lineitem`` belong to the person of their order. A row of the parent meets many of the child, so
that the child comes first: its limits say how many rows of a person such a join has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.data.facts.foreign_keys import ForeignKey, are_of_one_person, foreign_keys, parents_of
from discreet.data.facts.persons import Tables
from discreet.data.language.relations import sources_of
from discreet.queries.sql.tables.join_steps import FromItem
from discreet.queries.sql.tables.scope import Field, Scope

__all__ = ["children_first", "meet_by_keys"]


def meet_by_keys(item: FromItem, pairs: Iterable[tuple[Field, FromItem, Field]], tables: Tables) -> bool:
    """Return whether the rows of an item meet those of another in the key of one parent row.

    Parameters
    ----------
    item : FromItem
        What is joined.
    pairs : iterable of (column, other item, column of the other)
        What is equal.
    tables : mapping of names to tables
        The declared tables.
    """
    equal: dict[int, tuple[FromItem, list[tuple[str, str]]]] = {}
    for one, other, its in pairs:
        equal.setdefault(id(other), (other, []))[1].append((one.column, its.column))
    own = _keys(item, tables)
    return any(are_of_one_person(columns, own, _keys(other, tables)) for other, columns in equal.values())


def children_first(items: Sequence[FromItem], tables: Tables) -> FromItem:
    """Return the first of some private items that belongs to another and to which no other belongs.

    Without such an item it is the first.
    """
    read = [set(sources_of(item.rows.relation)) if isinstance(item.rows, Scope) else set() for item in items]
    above = [{parent for name in names for parent in parents_of(name, tables)} for names in read]
    named, parents = set().union(*read), set().union(*above)
    for item, names, own in zip(items, read, above, strict=True):
        if own & (named - names) and not names & parents:
            return item
    return items[0]


def _keys(item: FromItem, tables: Tables) -> frozenset[ForeignKey]:
    return foreign_keys(item.rows.relation, tables) if isinstance(item.rows, Scope) else frozenset()
