"""Rows of several tables in one place, so that one statement can read them all.

Tables opened from files or frames live in an embedded database each. What is joined with the first
table of a request is copied into its database, once, as a temporary table. Tables of database
servers stay where they are: a request reads one server.
"""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from discreet.data.relation import Relation, leftmost, sources_of
from discreet.data.schema import Type
from discreet.errors import UnsupportedQuery

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types

    from discreet.data.persons import Tables
    from discreet.data.table import Table

__all__ = ["check_colocated", "colocated"]

_copies: WeakKeyDictionary[object, WeakKeyDictionary[object, dict[str, str]]] = WeakKeyDictionary()
"""By database and by the database copied from: the names of copies, by those of their originals."""
_lock = threading.Lock()
_numbers = itertools.count()

_EMBEDDED = "duckdb"


def check_colocated(relation: Relation, tables: Tables) -> None:
    """Refuse a relation over tables that no one engine can read, naming them."""
    from discreet.data.persons import private_table

    first, *others = (private_table(name, tables) for name in sources_of(relation))
    home = _place(first._backend)
    apart = [
        name
        for name, table in zip(sources_of(relation)[1:], others, strict=True)
        if _place(table._backend) != home
    ]
    if apart:
        raise UnsupportedQuery(
            f"{leftmost(relation).table!r} and {', '.join(map(repr, apart))} are in different databases, "
            "which cannot be read together; ask of each by itself, or have their owner put them into one"
        )


def colocated(table: Table, home: ibis.BaseBackend) -> ibis.expr.types.Table:
    """Return the rows of a table as one that `home` can read."""
    if table._backend is home or home.name != _EMBEDDED:
        return table._relation
    from discreet.data.engine import guarded
    from discreet.errors import EngineFailed

    with _lock:
        copies = _copies.setdefault(home, WeakKeyDictionary()).setdefault(table._backend, {})
        original = _original(table._relation)
        if original not in copies:
            copies[original] = _copied(table, home)
        with _exclusive(home):
            return guarded(lambda: home.table(copies[original]), EngineFailed)


def _original(rows: ibis.expr.types.Table) -> str:
    """Return what tells a table from the others of its database."""
    import ibis.expr.operations as ops

    return "; ".join(f"{one.namespace!r} {one.name!r}" for one in rows.op().find(ops.DatabaseTable))


def _copied(table: Table, home: ibis.BaseBackend) -> str:
    import ibis

    from discreet.data.engine import fetch, guarded
    from discreet.errors import EngineFailed

    rows = table._relation
    # Of values that requests know nothing about, only whether they are there is copied.
    unknown = {
        name: ibis.ifelse(rows[name].isnull(), ibis.null("int8"), ibis.literal(1, "int8"))
        for name, kind in table.schema.items()
        if kind is Type.OTHER
    }
    arrow = fetch(rows.mutate(**unknown) if unknown else rows, table._backend)
    name = f"copy_{next(_numbers)}"
    with _exclusive(home):
        guarded(lambda: home.create_table(name, arrow, temp=True), EngineFailed)
    return name


def _exclusive(backend: ibis.BaseBackend) -> threading.Lock:
    """Return the lock under which `fetch` uses a connection."""
    from discreet.data import engine

    with engine._locks_lock:
        return engine._locks.setdefault(backend, threading.Lock())


def _place(backend: ibis.BaseBackend) -> object:
    """Return what two connections have in common if they read the same tables."""
    if backend.name == "postgres":
        about = backend.con.info
        return (about.host, about.hostaddr, about.port, about.dbname, about.user)
    if backend.name == "pyspark":
        return id(backend._session)
    return backend.name
