"""Rows of one embedded database in another, so that one statement can read both.

Tables opened from files or frames live in an embedded database each. What a statement reads beside the tables
of its own database is copied into it, once, as a temporary table. Tables of servers stay where they are.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING
from uuid import uuid4
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types

__all__ = ["copied_into", "engine_place", "is_copied"]

_copies: WeakKeyDictionary[object, WeakKeyDictionary[object, dict[str, _Copy]]] = WeakKeyDictionary()
"""By database and by the database copied from: the copies, by the statements that read their originals."""
_lock = threading.Lock()

_EMBEDDED = "duckdb"


def is_copied(source: ibis.BaseBackend, home: ibis.BaseBackend) -> bool:
    """Return whether what one connection reads must be copied before the other can read it."""
    return source is not home and home.name == _EMBEDDED


def copied_into(
    rows: ibis.expr.types.Table, source: ibis.BaseBackend, home: ibis.BaseBackend
) -> ibis.expr.types.Table:
    """Return rows of one database as a table that `home` can read. This reads and copies nothing yet.

    Parameters
    ----------
    rows : Ibis table
        What is read.
    source : Ibis connection
        Where it is; it must live as long as the copy may still have to be made.
    home : Ibis connection
        Where it is wanted.
    """
    from discreet.data.engines.base import sql_of

    if not is_copied(source, home):
        return rows
    # The same stored rows are read in other types under other declarations: a statement is their only name.
    original = sql_of(rows, source)
    with _lock:
        copies = _copies.setdefault(home, WeakKeyDictionary()).setdefault(source, {})
        if original not in copies:
            copies[original] = _Copy(rows, source, home)
        return copies[original].within(home)


class _Copy:
    """A copy of rows in another database, made by the first statement that reads it.

    It must not keep a reference to its database, which would then never be closed.
    """

    def __init__(self, rows: ibis.expr.types.Table, source: ibis.BaseBackend, home: ibis.BaseBackend) -> None:
        import ibis.expr.schema as sch

        from discreet.data.engines.base import await_table

        self._rows: ibis.expr.types.Table | None = rows
        self._source = weakref.ref(source)
        self._home = weakref.ref(home)
        self._schema = sch.Schema(dict(rows.schema()))
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


def engine_place(backend: ibis.BaseBackend) -> object:
    """Return what two connections have in common if they read the same tables."""
    if backend.name == "postgres":
        about = backend.con.info
        return (about.host, about.hostaddr, about.port, about.dbname, about.user)
    if backend.name == "pyspark":
        from discreet.data.engines.spark import own_session

        return id(own_session(backend._session))
    return backend.name
