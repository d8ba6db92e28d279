"""Asking SQLite, without ever quoting what it says when it fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from discreet.curator.ledger import faults
from discreet.errors import LedgerUnavailable

__all__ = ["Values", "ask", "translated"]

Values = Sequence[str | int | bytes | None]

_FAULTS = {
    sqlite3.SQLITE_BUSY: faults.LOCKED,
    sqlite3.SQLITE_LOCKED: faults.LOCKED,
    sqlite3.SQLITE_FULL: faults.FULL,
    sqlite3.SQLITE_READONLY: faults.READ_ONLY,
    sqlite3.SQLITE_PERM: faults.READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: faults.UNREACHABLE,
    sqlite3.SQLITE_CORRUPT: faults.DAMAGED,
    sqlite3.SQLITE_NOTADB: faults.DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: faults.DAMAGED,  # the ledger asks for nothing that a sound file refuses
}


def ask(connection: sqlite3.Connection, statement: str, values: Values = ()) -> list[tuple[object, ...]]:
    """Run one statement and return its rows.

    Raises
    ------
    LedgerUnavailable
        Where SQLite fails, in the words of `faults`.
    """
    with translated():
        return connection.execute(statement, values).fetchall()


@contextmanager
def translated() -> Iterator[None]:
    """Raise what SQLite says as one of the fixed faults."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)  # none: text that is not UTF-8
        raise LedgerUnavailable(_FAULTS.get(code & 0xFF, faults.FAILED)) from None
    except UnicodeError:  # the same, in a message of SQLite that quotes the text
        raise LedgerUnavailable(faults.DAMAGED) from None
