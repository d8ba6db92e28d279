"""A ledger in one file, by SQLite.

Decisions
---------
- A connection lives for one transaction. So no connection crosses a fork or a thread, and a file that
  was replaced while the process runs is noticed instead of written to after its name is gone.
- Rollback journal with ``synchronous=EXTRA``, never a write-ahead log: a commit survives loss of power, at
  rest the ledger is one file, and the corruption by a reset of the write-ahead log in SQLite up
  to 3.51.2 cannot happen (https://www.sqlite.org/wal.html#walresetbug).
- The file is created under another name and linked when complete: an empty file is not a new ledger.

A network file system must offer working POSIX locks and a faithful fsync, which many do not: use
PostgreSQL instead.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import cast

from discreet.curator.ledger import messages
from discreet.curator.ledger.anchor_file import synchronize
from discreet.curator.ledger.entry import Entry
from discreet.curator.ledger.fork_gate import gate
from discreet.curator.ledger.sqlite.schema import check_schema, create_schema
from discreet.curator.ledger.sqlite.statements import Values, ask, translate_faults
from discreet.curator.ledger.store import Row, read_row, row_of
from discreet.errors import LedgerTampered, LedgerUnavailable

__all__ = ["SQLiteStore"]

_ENTRIES = (
    "SELECT sequence, kind, key, time, body, previous, hash FROM entries"
    " WHERE sequence > ? ORDER BY sequence LIMIT ?"
)
_FIND = "SELECT sequence, kind, key, time, body, previous, hash FROM entries WHERE kind = ? AND key = ?"
_APPEND = "INSERT INTO entries (sequence, kind, key, time, body, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ANSWER = "SELECT content FROM answers WHERE charge = ?"
_ANSWERS = "SELECT count(*) FROM answers"
_KEEP_ANSWER = "INSERT INTO answers (charge, content) VALUES (?, ?)"

_FAULTS_OF_FILES = {
    errno.ENOSPC: messages.FULL,
    errno.EDQUOT: messages.FULL,
    errno.EROFS: messages.READ_ONLY,
    errno.EACCES: messages.READ_ONLY,
}

_PRAGMAS = ("PRAGMA synchronous = EXTRA", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")


class SQLiteStore:
    """A ledger in one file.

    Parameters
    ----------
    path : str or Path
        The file.
    create : bool
        Whether to create a new ledger if there is none.
    timeout : float
        For how many seconds to wait for others, before `LedgerUnavailable`.
    """

    def __init__(self, path: str | Path, *, create: bool = True, timeout: float = 30) -> None:
        self._path = Path(path).expanduser().absolute()
        self._timeout = timeout
        with _translated_files():
            if not self._path.exists():
                if not create:
                    raise LedgerUnavailable(messages.MISSING)
                self._create()
        with self._connected() as connection:
            check_schema(connection)

    def __repr__(self) -> str:
        return f"SQLiteStore({str(self._path)!r})"

    @contextmanager
    def transaction(self) -> Iterator[_View]:
        """Enter the only transaction that may write. See `Store`."""
        with self._connected() as connection:
            ask(connection, "BEGIN IMMEDIATE")
            records = _View(connection)
            yield records
            records.commit()

    @contextmanager
    def snapshot(self) -> Iterator[_View]:
        """Enter a view for reading. See `Store`."""
        with self._connected() as connection:
            ask(connection, "PRAGMA query_only = ON")
            ask(connection, "BEGIN")
            yield _View(connection)

    def check(self) -> None:
        """Check pages, indexes, tables and triggers. See `Store`."""
        with self._connected() as connection:
            check_schema(connection)
            if ask(connection, "PRAGMA integrity_check(1)") != [("ok",)]:
                raise LedgerTampered("the pages or indexes of its file do not fit together")

    def close(self) -> None:
        """Do nothing: no connection outlives its transaction."""

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open a connection, and close it; a transaction that was not committed ends with it."""
        with gate.closed():
            connection = self._connect(self._path)
            process = os.getpid()
            try:
                for statement in _PRAGMAS:
                    ask(connection, statement)
                if ask(connection, "PRAGMA journal_mode = DELETE") != [("delete",)]:
                    raise LedgerUnavailable(messages.LOCKED)
                yield connection
            finally:
                if os.getpid() == process:
                    connection.close()
                else:
                    _never_close(connection)

    def _connect(self, path: Path) -> sqlite3.Connection:
        with translate_faults():
            return sqlite3.connect(
                f"{path.as_uri()}?mode=rw", uri=True, timeout=self._timeout, isolation_level=None
            )

    def _create(self) -> None:
        """Create a whole ledger under another name, then rename it, unless another process was first."""
        handle, name = tempfile.mkstemp(prefix=f".{self._path.name}.", dir=self._path.parent)
        os.close(handle)
        try:
            with gate.closed(), closing(self._connect(Path(name))) as connection:
                ask(connection, "PRAGMA synchronous = EXTRA")
                create_schema(connection)
            with suppress(FileExistsError):
                os.link(name, self._path)
        finally:
            Path(name).unlink(missing_ok=True)
        synchronize(self._path.parent)


class _View:
    """The rows, as SQLite returns them."""

    __slots__ = ("_connection", "_process")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._process = os.getpid()

    def entries(self, *, after: int = 0, limit: int | None = None) -> list[Entry]:
        found = self._ask(_ENTRIES, (after, -1 if limit is None else limit))
        return [read_row(cast("Row", row)) for row in found]

    def find(self, kind: str, key: str) -> Entry | None:
        found = self._ask(_FIND, (kind, key))
        return read_row(cast("Row", found[0])) if found else None

    def answer(self, charge: int) -> bytes | None:
        found = self._ask(_ANSWER, (charge,))
        if not found:
            return None
        ((content,),) = found
        if not isinstance(content, bytes):
            raise LedgerTampered("its answer is not a sequence of bytes", charge)
        return content

    def answers(self) -> int:
        ((count,),) = self._ask(_ANSWERS)
        return cast("int", count)

    def append(self, entry: Entry) -> None:
        self._ask(_APPEND, row_of(entry))

    def keep_answer(self, charge: int, content: bytes) -> None:
        self._ask(_KEEP_ANSWER, (charge, content))

    def commit(self) -> None:
        self._ask("COMMIT")

    def _ask(self, statement: str, values: Values = ()) -> list[tuple[object, ...]]:
        """Ask as the process that entered the transaction; a child forked inside may not."""
        if os.getpid() != self._process:
            raise LedgerUnavailable(messages.INSIDE_FORK)
        return ask(self._connection, statement, values)


@contextmanager
def _translated_files() -> Iterator[None]:
    """Raise what the file system says as one of the fixed faults."""
    try:
        yield
    except OSError as error:
        raise LedgerUnavailable(_FAULTS_OF_FILES.get(error.errno or 0, messages.UNREACHABLE)) from None
    except ValueError:  # a name that no file can have
        raise LedgerUnavailable(messages.UNREACHABLE) from None


def _never_close(connection: sqlite3.Connection) -> None:
    """Keep a connection inherited through a fork: closing it would roll back what the parent does."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
