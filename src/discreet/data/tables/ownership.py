"""The persons of rows that name none: found through the keys of their parent rows, in the engine.

The persons of a row are a set. Where a table has a person column, it is the value of that column; in a table
declared with `through` it is the union over all parent rows with the same key. A row belongs to a person if
its set holds that one alone; the others belong to nobody. Without the rows that have one person in their
sets, a database gives every other row the set that it had: the rows of a child that belong to someone are an
ordinary table with a person column, and neighboring databases have neighboring ones. (Proof: ownership.)

A set is known by its least and its greatest element, which are what an engine calculates: it has one element
if they are equal, and the least of a union is the least of the least.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from discreet.data.language.declarations import EACH_ROW, Person
from discreet.data.language.ownership import Through
from discreet.data.language.types import Type, suggestion
from discreet.data.tables.copies import copied_into, engine_place
from discreet.data.tables.public_table import PublicTable
from discreet.data.tables.table import Table
from discreet.errors import ParameterError
from discreet.records import dataclass

if TYPE_CHECKING:
    import ibis.expr.types
    from ibis.expr.types import Table as Rows

__all__ = ["Ownership", "count_unowned", "owned_tables"]

_KEYS = frozenset({Type.INTEGER, Type.TEXT, Type.DECIMAL, Type.DATE, Type.BOOLEAN})
"""Types of which equal values are one value on every engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Rows with the least and the greatest of their persons, in two columns; NULL if there are none."""

    rows: Rows
    least: str
    greatest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """What a table was given its persons by.

    Attributes
    ----------
    declared : Table
        The table as its owner declared it, without persons.
    parent : Table
        The table of its parent rows.
    reached : Reached
        All rows that have a parent row, also those of several persons.
    """

    declared: Table
    parent: Table
    reached: Reached


def owned_tables(tables: Mapping[str, Table | PublicTable]) -> dict[str, Table | PublicTable]:
    """Return tables in which every private row has its person.

    Those declared with `through` are replaced by tables with a person column; others stay as they are.
    Nothing is read.

    Raises
    ------
    ParameterError
        If a parent is missing, public, without persons, in another database, or below its own child; or if
        its key is of another type.
    """
    found: dict[str, Table | PublicTable] = {}
    for name in tables:
        _own(name, tables, found, ())
    return {name: found[name] for name in tables}


def count_unowned(table: Table) -> int:
    """Return how many stored rows belong to nobody: an exact number, for the owner alone."""
    from discreet.data.engines.base import fetch

    if table.person is EACH_ROW:
        return 0
    if table._through is not None and table._ownership is None:
        raise ParameterError("person", "is not known without the other table", "curator.tables[…].unowned()")
    stored, rows = table._stored, table._all_rows
    counts = [
        int(fetch(one.aggregate(n=one.count()), table._backend)["n"][0].as_py())
        for one in (stored, rows.filter(rows[table.person].notnull()))
    ]
    return counts[0] - counts[1]


def _declared_beside(name: str, parent: str, tables: Mapping[str, Table | PublicTable]) -> str:
    """Say which tables a person can come through, or that the other one has to be declared, too."""
    others = ", ".join(repr(one) for one in tables if one != name)
    declare = f"{{{parent!r}: Table(…), {name!r}: …}}, both tables of one curator"
    return f"one of {others}, or {declare}" if others else declare


def _own(
    name: str,
    tables: Mapping[str, Table | PublicTable],
    found: dict[str, Table | PublicTable],
    above: tuple[str, ...],
) -> Table | PublicTable:
    """Give the rows of one table their persons, those of its parents first."""
    if name in found:
        return found[name]
    table = tables[name]
    if isinstance(table, PublicTable) or table._through is None:
        found[name] = table
        return table
    through = table._through
    if name in above:
        raise ParameterError("person", f"of {name!r} comes through the table itself", "a table of persons")
    if through.table not in tables:
        raise ParameterError(
            "person",
            f"of {name!r} comes through {through.table!r}, which is not declared",
            _declared_beside(name, through.table, tables),
        )
    parent = _own(through.table, tables, found, (*above, name))
    if isinstance(parent, PublicTable):
        raise ParameterError(
            "person", f"of {name!r} comes through a public table, whose rows are nobody's", "a private table"
        )
    if table._ownership is None:
        found[name] = _owned(name, table, through, parent)
    elif table._ownership.parent is parent:
        found[name] = table
    else:
        found[name] = _owned(name, table._ownership.declared, through, parent)
    return found[name]


def _owned(known_as: str, table: Table, through: Through, parent: Table) -> Table:
    """Return a table with the persons of its parent rows."""
    _check_parent(known_as, table, through, parent)
    person = str(parent.person)
    holders = [here for here, there in zip(through.on, through.to, strict=True) if there == person]
    kinds = table._stored.schema(), parent._all_rows.schema()
    own = next((one for one in holders if kinds[0][one].copy(nullable=True) == kinds[1][person]), None)
    if through.name is not None:
        own = None
    name = own or _person_name(known_as, table, through, person)
    reached = _reached(table, through, parent)
    alone = reached.rows.filter(reached.rows[reached.least] == reached.rows[reached.greatest])
    columns = {one: alone[one] for one in table._stored.columns}
    rows = alone.select(**columns) if own else alone.select(**columns, **{name: alone[reached.least]})
    owned = object.__new__(Table)
    for slot in (
        "_backend", "_opened", "_stored", "_through", "_is_prepared", "_origins", "columns", "facts",
        "limits",
    ):  # fmt: skip
        setattr(owned, slot, getattr(table, slot))
    owned._ownership = Ownership(declared=table, parent=parent, reached=reached)
    owned._prepared = None
    owned.person = cast("Person", name)
    owned.schema = MappingProxyType({**table.schema, name: parent.schema[person]})
    # Other parent rows give other persons, so that a stored answer is one for this version of both.
    owned.version = f"{table.version}; {through.table}: {parent.version}"
    owned._check(rows)
    owned._own(rows)
    return owned


def _check_parent(known_as: str, table: Table, through: Through, parent: Table) -> None:
    from discreet.data.engines.column_types import common

    if parent.person is EACH_ROW:
        raise ParameterError(
            "person",
            f"of {known_as!r} comes through a table of which each row is a person",
            "a table with a person column",
        )
    if engine_place(table._backend) != engine_place(parent._backend):
        raise ParameterError(
            "person",
            f"of {known_as!r} comes through {through.table!r}, in another database",
            "tables of one database",
        )
    for here, there in zip(through.on, through.to, strict=True):
        if there not in parent._stored.columns:
            raise ParameterError(
                "to",
                f"of {known_as!r} names {there!r}, which {through.table!r} does not have",
                suggestion(there, {name: parent.schema[name] for name in parent._stored.columns}),
            )
        kinds = {table.schema[here], parent.schema[there]}
        try:
            common([table._stored.schema()[here], parent._all_rows.schema()[there]])
        except TypeError:
            kinds.add(Type.OTHER)
        if not kinds <= _KEYS:
            types = table.schema[here].value, parent.schema[there].value
            raise ParameterError(
                "on",
                f"of {known_as!r} equates {here!r}, {types[0]}, with {there!r}, {types[1]}",
                "keys of one type: integers, text, decimals, dates or booleans",
            )


def _person_name(known_as: str, table: Table, through: Through, person: str) -> str:
    """Return what the person column is called: by public names of columns alone."""
    taken = {name.lower() for name in table._stored.columns}
    wanted = [through.name] if through.name is not None else [person, f"{through.table}_{person}"]
    for name in wanted:
        if name.lower() not in taken:
            return name
    raise ParameterError(
        "name", f"of the person column of {known_as!r} is that of another column", "through(…, name=…)"
    )


def _reached(table: Table, through: Through, parent: Table) -> Reached:
    """Return the rows that have a parent row with persons, each with the least and greatest of them."""
    from discreet.data.engines.column_types import alike

    above = _persons(parent)
    keys = [f"key_{place}_" for place in range(len(through.to))]
    listed = above.rows.select(
        **{key: above.rows[there] for key, there in zip(keys, through.to, strict=True)},
        least_=above.rows[above.least],
        greatest_=above.rows[above.greatest],
    )
    owners = (
        listed.filter(listed.least_.notnull())
        .group_by(keys)
        .agg(least_=listed.least_.min(), greatest_=listed.greatest_.max())
    )
    owners = copied_into(owners, parent._backend, table._backend)
    stored = table._stored
    pairs = [alike(stored[here], owners[key]) for here, key in zip(through.on, keys, strict=True)]
    lefts = {f"left_{place}_": one for place, (one, _) in enumerate(pairs)}
    rights = {f"right_{place}_": other for place, (_, other) in enumerate(pairs)}
    kept = {f"kept_{place}_": stored[name] for place, name in enumerate(stored.columns)}
    joined = stored.select(**kept, **lefts).join(
        owners.select(**rights, least_=owners.least_, greatest_=owners.greatest_),
        list(zip(lefts, rights, strict=True)),
    )
    least, greatest = _free("least", stored), _free("greatest", stored)
    columns = {name: joined[inner] for name, inner in zip(stored.columns, kept, strict=True)}
    rows = joined.select(**columns, **{least: joined.least_, greatest: joined.greatest_})
    return Reached(rows=rows, least=least, greatest=greatest)


def _persons(table: Table) -> Reached:
    """Return all rows of a table with their persons."""
    if table._ownership is None:
        return Reached(rows=table._all_rows, least=str(table.person), greatest=str(table.person))
    return table._ownership.reached


def _free(name: str, rows: ibis.expr.types.Table) -> str:
    taken = {one.lower() for one in rows.columns}
    while name in taken:
        name += "_"
    return name
