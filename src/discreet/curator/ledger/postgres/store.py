"""A ledger in PostgreSQL, for many machines.

Decisions
---------
- The one writer is the one that holds the lock on the row of the ledger (``SELECT … FOR UPDATE``), under READ
  COMMITTED: each statement after the lock sees all that was committed before it.
- ``synchronous_commit`` is at least ``on`` in every transaction, for any default of the server; a server with
  ``fsync = off`` is refused.
- Connections are kept and reused by one thread at a time; those inherited through a fork are not used.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import cast

from discreet.curator.ledger import messages
from discreet.curator.ledger.entry import Entry, check_key
from discreet.curator.ledger.store import Row, read_row, row_of
from discreet.errors import LedgerUnavailable, MissingExtra

try:
    import psycopg
except ImportError:
    raise MissingExtra("psycopg", "postgres") from None

from discreet.curator.ledger.postgres.schema import check_schema, create_schema
from discreet.curator.ledger.postgres.statements import Values, ask, commit

__all__ = ["PostgreSQLStore"]

_ENTRIES = (
    "SELECT sequence, kind, key, time, body, previous, hash FROM discreet_entries"
    " WHERE ledger = %s AND sequence > %s ORDER BY sequence LIMIT %s"
)
_FIND = (
    "SELECT sequence, kind, key, time, body, previous, hash FROM discreet_entries"
    " WHERE ledger = %s AND kind = %s AND key = %s"
)
_APPEND = (
    "INSERT INTO discreet_entries (ledger, sequence, kind, key, time, body, previous, hash)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
)
_ANSWER = "SELECT content FROM discreet_answers WHERE ledger = %s AND charge = %s"
_ANSWERS = "SELECT count(*) FROM discreet_answers WHERE ledger = %s"
_KEEP_ANSWER = "INSERT INTO discreet_answers (ledger, charge, content) VALUES (%s, %s, %s)"
_LOCK = "SELECT 1 FROM discreet_ledgers WHERE name = %s FOR UPDATE"
_SETTINGS = (
    "SELECT set_config('lock_timeout', %s, true),"
    " CASE WHEN current_setting('synchronous_commit') <> 'remote_apply'"
    " THEN set_config('synchronous_commit', 'on', true) END"
)


class PostgreSQLStore:
    """A ledger in a PostgreSQL database.

    Parameters
    ----------
    location : str
        ``postgresql://user@host/database``, or any other connection string of libpq.
    name : str
        The name of the ledger among those of the database.
    create : bool
        Whether to create a new ledger if there is none of this name, and the tables if they are missing.
    timeout : float
        For how many seconds to wait for others, before `LedgerUnavailable`.
    """

    def __init__(self, location: str, *, name: str, create: bool = True, timeout: float = 30) -> None:
        check_key("" if name is None else name, "name")
        self._location = location
        self._name = name
        self._timeout = timeout
        self._start_afresh()
        with self._connected() as connection:
            if ask(connection, "SHOW fsync") != [("on",)]:
                raise LedgerUnavailable(messages.NOT_DURABLE)
            if not check_schema(connection, name):
                if not create:
                    raise LedgerUnavailable(messages.MISSING)
                create_schema(connection, name)
                check_schema(connection, name)

    def __repr__(self) -> str:
        return f"PostgreSQLStore(name={self._name!r})"

    @contextmanager
    def transaction(self) -> Iterator[_View]:
        """Enter the only transaction that may write. See `Store`."""
        with self._connected() as connection:
            ask(connection, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            ask(connection, _SETTINGS, (f"{round(1000 * self._timeout)}ms",))
            if not ask(connection, _LOCK, (self._name,)):
                raise LedgerUnavailable(messages.MISSING)
            records = _View(connection, self._name)
            yield records
            records.commit()

    @contextmanager
    def snapshot(self) -> Iterator[_View]:
        """Enter a view for reading. See `Store`."""
        with self._connected() as connection:
            ask(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _View(connection, self._name)

    def check(self) -> None:
        """Check that triggers and indexes are active. See `Store`."""
        with self._connected() as connection:
            if not check_schema(connection, self._name):
                raise LedgerUnavailable(messages.MISSING)

    def close(self) -> None:
        """Close the connections that are idle."""
        _end(self._idle, self._process)

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection]:
        """Take an idle connection that answers, or open one; end what was not committed."""
        connection = self._awake() or self._connect()
        process = os.getpid()
        try:
            yield connection
        finally:
            if os.getpid() == process:
                self._put_back(connection)
            else:
                _inherited.append(connection)

    def _start_afresh(self) -> None:
        """Begin without connections, and make sure that later ones are closed with this object."""
        self._process = os.getpid()
        self._idle: list[psycopg.Connection] = []
        weakref.finalize(self, _end, self._idle, self._process)

    def _put_back(self, connection: psycopg.Connection) -> None:
        """Keep a connection if it still works."""
        with suppress(psycopg.Error):
            if connection.info.transaction_status != _IDLE:
                connection.execute("ROLLBACK")
        if connection.info.transaction_status == _IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _awake(self) -> psycopg.Connection | None:
        if self._process != os.getpid():
            _end(self._idle, self._process)
            self._start_afresh()
        with suppress(IndexError):
            while connection := self._idle.pop():
                try:
                    connection.execute("SELECT 1")
                except psycopg.Error:
                    connection.close()
                else:
                    return connection
        return None

    def _connect(self) -> psycopg.Connection:
        try:
            return psycopg.connect(
                self._location,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=max(2, round(self._timeout)),
                client_encoding="UTF8",
                application_name="discreet",
            )
        except psycopg.Error:
            raise LedgerUnavailable(messages.UNREACHABLE) from None


_IDLE = psycopg.pq.TransactionStatus.IDLE

_inherited: list[psycopg.Connection] = []
"""Connections of a parent process. They are never closed, as that would close the parent's."""


def _end(connections: list[psycopg.Connection], process: int) -> None:
    """Close connections, if this is the process that opened them."""
    if process != os.getpid():
        _inherited.extend(connections)
        connections.clear()
    while connections:
        connections.pop().close()


class _View:
    """The rows, as PostgreSQL returns them."""

    __slots__ = ("_connection", "_name", "_process")

    def __init__(self, connection: psycopg.Connection, name: str) -> None:
        self._connection = connection
        self._process = os.getpid()
        self._name = name

    def entries(self, *, after: int = 0, limit: int | None = None) -> list[Entry]:
        found = self._ask(_ENTRIES, (self._name, after, limit))
        return [read_row(cast("Row", row)) for row in found]

    def find(self, kind: str, key: str) -> Entry | None:
        found = self._ask(_FIND, (self._name, kind, key))
        return read_row(cast("Row", found[0])) if found else None

    def answer(self, charge: int) -> bytes | None:
        found = self._ask(_ANSWER, (self._name, charge))
        return cast("bytes", found[0][0]) if found else None

    def answers(self) -> int:
        ((count,),) = self._ask(_ANSWERS, (self._name,))
        return cast("int", count)

    def append(self, entry: Entry) -> None:
        self._ask(_APPEND, (self._name, *row_of(entry)))

    def keep_answer(self, charge: int, content: bytes) -> None:
        self._ask(_KEEP_ANSWER, (self._name, charge, content))

    def commit(self) -> None:
        self._refuse_a_child()
        commit(self._connection)

    def _ask(self, statement: str, values: Values) -> list[tuple[object, ...]]:
        self._refuse_a_child()
        return ask(self._connection, statement, values)

    def _refuse_a_child(self) -> None:
        """Let only the process that entered the transaction use it; a child forked inside may not."""
        if os.getpid() != self._process:
            raise LedgerUnavailable(messages.INSIDE_FORK)
