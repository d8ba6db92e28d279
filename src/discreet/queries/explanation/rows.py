"""Relations in words, from the tables up: which rows a query is about, and how much one person adds to them.

It uses public facts only and shows no literal of the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.data import Limits, Table
from discreet.data.facts.persons import has_person, private_table
from discreet.data.facts.relation_facts import is_single
from discreet.data.language.description import describe_expression, describe_relation
from discreet.data.language.relations import (
    Derive,
    Filter,
    JoinPersons,
    JoinPublic,
    Project,
    Relation,
    Source,
    Union,
    sources,
)

__all__ = ["bounding", "rows_in_words"]


def rows_in_words(relation: Relation, tables: Mapping[str, Table]) -> Iterator[str]:
    """Write a relation, one step to a line; what is joined or put below is indented."""
    if isinstance(relation, Source):
        yield _source(relation.table, private_table(relation.table, tables))
        return
    if isinstance(relation, Union):
        yield f"the rows of {len(relation.sources)} parts, one below the other:"
        for source in relation.sources:
            yield from _indented(rows_in_words(source, tables), "- ")
        return
    yield from rows_in_words(sources(relation)[0], tables)
    if isinstance(relation, Filter):
        yield f"where {describe_expression(relation.condition)}"
    elif isinstance(relation, Project | Derive):
        shown = [
            (column.name, describe_expression(column.expression))
            for column in relation.columns
            if isinstance(relation, Derive) or describe_expression(column.expression) != column.name
        ]
        if shown:
            yield f"with {', '.join(f'{name!r} = {text}' for name, text in shown)}"
    elif isinstance(relation, JoinPublic):
        on = " and ".join(f"{part.left!r} = its {part.right!r}" for part in relation.on)
        where = f", where {on}" if on else ", all of them"
        known = isinstance(relation.table, str)
        table = f"the public table {relation.table!r}" if known else "a subquery on public tables"
        yield f"{_beside(relation.outer)} rows of {table}{where}"
    elif isinstance(relation, JoinPersons):
        on = "".join(f" and {part.left!r} = {part.right!r}" for part in relation.on)
        yield f"{_beside(relation.outer)} rows of the same person, where the persons are equal{on}:"
        yield from _indented(rows_in_words(relation.right, tables), "  ")
    else:
        yield describe_relation(relation)


def bounding(relation: Relation, tables: Mapping[str, Table], limits: Limits) -> Iterator[str]:
    """Say how much one person adds at most, and when their other rows are left out."""
    from discreet.data.prepared.sample import needs_no_bounding

    if not has_person(relation, tables):
        return
    if is_single(relation, tables):
        yield "at most 1 row of each person: no one can have more"
        return
    if needs_no_bounding(relation, tables):
        yield f"at most {_limits(limits)}, drawn in advance: before any condition, the same for all queries"
        return
    yield f"at most {_limits(limits)}, sampled by a keyed hash"


def _source(name: str, table: Table) -> str:
    from discreet.data.prepared.sample import is_bounded_ahead

    person = f"each person is one value of {table.person!r}" if isinstance(table.person, str) else None
    if table._through is not None:
        person = f"{person}, found in {table._through.table!r} by {', '.join(map(repr, table._through.on))}"
    ahead = f"; bounded before any condition, to {_limits(table.limits)}" if is_bounded_ahead(table) else ""
    return f"rows of {name!r}, version {table.version!r}; {person or 'each row is a person'}{ahead}"


def _beside(outer: bool) -> str:
    return "each joined with the" if not outer else "each, even if there is none, joined with the"


def _limits(limits: Limits) -> str:
    if limits.rows is not None:
        return f"{_rows(limits.rows)} of each person"
    return f"{_rows(limits.rows_per_group)} of each person in each of {limits.groups} groups"


def _rows(number: int | None) -> str:
    return "1 row" if number == 1 else f"{number} rows"


def _indented(lines: Iterator[str], mark: str) -> Iterator[str]:
    for place, line in enumerate(lines):
        yield f"  {mark if place == 0 else ' ' * len(mark)}{line}"
