"""Databases whose tables refer to each other by keys, and whose rows are whose, in plain Python.

Rows are chosen to make trouble: keys that nobody has, that are NULL, that several parent rows have, of one
person or of several; parents without a person; rows that are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow
from hypothesis import strategies as st

from data.three_engines import Engine, embedded
from discreet.data import Bounds, Limits, Table
from discreet.data.language.ownership import Through
from discreet.data.tables.ownership import owned_tables

Row = Mapping[str, Any]
World = Mapping[str, list[Row]]

PEOPLE, TRIPS, LEGS, SEALS = "people", "trips", "legs", "seals"

OWNERS: dict[str, str | Through] = {
    PEOPLE: "who",
    TRIPS: Through(table=PEOPLE, on=("badge",), to=("badge",)),
    LEGS: Through(table=TRIPS, on=("trip",), to=("id",)),
    SEALS: Through(table=LEGS, on=("trip", "leg"), to=("trip", "leg")),
}
"""A person has badges, a badge has trips, a trip has legs; a leg has seals, by a key of two columns."""

SCHEMAS = {
    PEOPLE: {"who": pyarrow.string(), "badge": pyarrow.int64()},
    TRIPS: {"badge": pyarrow.int64(), "id": pyarrow.string(), "n": pyarrow.int64()},
    LEGS: {"trip": pyarrow.string(), "leg": pyarrow.int64(), "n": pyarrow.int64()},
    SEALS: {"trip": pyarrow.string(), "leg": pyarrow.int64(), "n": pyarrow.int64()},
}

N = Bounds(0, 2)

_WHO = st.sampled_from(["ann", "Ann", "ä", "a\u0308", None])
_BADGE = st.sampled_from([1, 2, 3, 2**62, 2**62 + 1, None])
_TRIP = st.sampled_from(["t", "T", "u", "", " ", None])
_LEG = st.sampled_from([1, 2, None])
_N = st.integers(0, 2)

WORLDS: st.SearchStrategy[World] = st.fixed_dictionaries(
    {
        PEOPLE: st.lists(st.fixed_dictionaries({"who": _WHO, "badge": _BADGE}), min_size=5, max_size=9),
        TRIPS: st.lists(
            st.fixed_dictionaries({"badge": _BADGE, "id": _TRIP, "n": _N}), min_size=5, max_size=9
        ),
        LEGS: st.lists(st.fixed_dictionaries({"trip": _TRIP, "leg": _LEG, "n": _N}), min_size=6, max_size=10),
        SEALS: st.lists(
            st.fixed_dictionaries({"trip": _TRIP, "leg": _LEG, "n": _N}), min_size=6, max_size=10
        ),
    }
)


def arrow(rows: Iterable[Row], table: str) -> pyarrow.Table:
    """Return rows as an Arrow table."""
    listed = list(rows)
    return pyarrow.table(
        {name: pyarrow.array([row[name] for row in listed], kind) for name, kind in SCHEMAS[table].items()}
    )


def persons_of(table: str, world: World) -> list[set[str]]:
    """Return the persons of every row of a table, by following all its parent rows."""
    owner = OWNERS[table]
    if isinstance(owner, str):
        return [set() if row[owner] is None else {row[owner]} for row in world[table]]
    parents = list(zip(world[owner.table], persons_of(owner.table, world), strict=True))
    return [
        set().union(*(who for parent, who in parents if _refers(row, parent, owner))) for row in world[table]
    ]


def _refers(row: Row, parent: Row, owner: Through) -> bool:
    return all(
        row[here] is not None and row[here] == parent[there]
        for here, there in zip(owner.on, owner.to, strict=True)
    )


def owned(table: str, world: World) -> list[tuple[object, ...]]:
    """Return the rows that belong to one person, each with that person, sorted."""
    return sorted(
        (
            (*who, *(row[name] for name in SCHEMAS[table]))
            for row, who in zip(world[table], persons_of(table, world), strict=True)
            if len(who) == 1
        ),
        key=repr,
    )


def without(person: str, world: World) -> dict[str, list[Row]]:
    """Return the neighbor without a person: without all rows that have them among their persons."""
    return {
        table: [row for row, who in zip(rows, persons_of(table, world), strict=True) if person not in who]
        for table, rows in world.items()
    }


def tables_of(
    world: World, engine: Engine | None = None, limits: Limits | None = None, *, prepare: bool = False
) -> dict[str, Table]:
    """Declare the tables of a world, and give their rows persons."""
    engine = engine or embedded()
    return owned_tables(
        {
            name: engine.table(
                arrow(rows, name),
                person=OWNERS[name],
                limits=limits or Limits(rows=100),
                columns={} if name == PEOPLE else {"n": N},
                prepare=prepare,
            )
            for name, rows in world.items()
        }
    )
