"""Rows of several tables in one place, so that one statement can read them all.

Tables opened from files or frames live in an embedded database each. What is joined with the first
table of a request is copied into its database, once, as a temporary table. Tables of database
servers stay where they are: a request reads one server.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING
from uuid import uuid4
from weakref import WeakKeyDictionary

from discreet.data.language.relations import Relation, leftmost, sources_of
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types

    from discreet.data.facts.persons import Tables
    from discreet.data.tables.table import Table

__all__ = ["check_colocated", "colocated"]

_copies: WeakKeyDictionary[object, WeakKeyDictionary[object, dict[str, _Copy]]] = WeakKeyDictionary()
"""By database and by the database copied from: the copies, by the statements that read their originals."""
_lock = threading.Lock()

_EMBEDDED = "duckdb"


def check_colocated(relation: Relation, tables: Tables) -> None:
    """Refuse a relation over tables that no one engine can read, naming them."""
    from discreet.data.facts.persons import private_table

    first, *others = (private_table(name, tables) for name in sources_of(relation))
    if not others:
        return
    home = _place(first._backend)
    apart = [
        name
        for name, table in zip(sources_of(relation)[1:], others, strict=True)
        if _place(table._backend) != home
    ]
    if apart:
        raise UnsupportedQuery(
            f"{leftmost(relation).table!r} and {', '.join(map(repr, apart))} are in different databases, "
            "which cannot be read together; ask about each separately, or have their owner put them into one"
        )


def colocated(table: Table, home: ibis.BaseBackend) -> ibis.expr.types.Table:
    """Return the rows of a table as one that `home` can read. This reads and copies nothing yet."""
    if table._backend is home or home.name != _EMBEDDED:
        return table._relation
    original = _original(table)
    with _lock:
        copies = _copies.setdefault(home, WeakKeyDictionary()).setdefault(table._backend, {})
        if original not in copies:
            copies[original] = _Copy(table, home)
        return copies[original].within(home)


class _Copy:
    """A copy of the rows of a table in another database, made by the first statement that reads it.

    It must not keep a reference to its database, which would then never be closed.
    """

    def __init__(self, table: Table, home: ibis.BaseBackend) -> None:
        import ibis.expr.schema as sch

        from discreet.data.engines.base import await_table

        self._rows: ibis.expr.types.Table | None = _copied(table)
        self._source = weakref.ref(table._backend)
        self._home = weakref.ref(home)
        self._schema = sch.Schema(dict(self._rows.schema()))
        self._name = f"discreet_{uuid4().hex}"
        self._drawing = threading.Lock()
        await_table(self._name, self)

    def within(self, home: ibis.BaseBackend) -> ibis.expr.types.Table:
        """Return the copy by its name, whether or not it was made."""
        import ibis.expr.operations as ops

        return ops.DatabaseTable(self._name, self._schema, home, ops.Namespace()).to_expr()

    def draw(self) -> None:
        """Copy the rows, unless they were copied."""
        from discreet.data.engines.base import exclusive, fetch, run_guarded
        from discreet.errors import EngineFailed

        with self._drawing:
            source, home = self._source(), self._home()
            if self._rows is None or source is None or home is None:
                return
            arrow = fetch(self._rows, source)
            with exclusive(home):
                run_guarded(lambda: home.create_table(self._name, arrow, temp=True), EngineFailed)
            self._rows = None


def _original(table: Table) -> str:
    """Return what identifies a table among those of its database: the statement that reads it.

    The same stored rows are read in other types under other declarations.
    """
    from discreet.data.engines.base import sql_of

    return sql_of(_copied(table), table._backend)


def _copied(table: Table) -> ibis.expr.types.Table:
    """Return what is copied: of values of unsupported types, only whether they are present."""
    import ibis

    rows = table._relation
    unknown = {
        name: ibis.ifelse(rows[name].isnull(), ibis.null("int8"), ibis.literal(1, "int8"))
        for name, kind in table.schema.items()
        if kind is Type.OTHER
    }
    return rows.mutate(**unknown) if unknown else rows


def _place(backend: ibis.BaseBackend) -> object:
    """Return what two connections have in common if they read the same tables."""
    if backend.name == "postgres":
        about = backend.con.info
        return (about.host, about.hostaddr, about.port, about.dbname, about.user)
    if backend.name == "pyspark":
        from discreet.data.engines.spark import own_session

        return id(own_session(backend._session))
    return backend.name
