"""Asking SQLite, without ever quoting what it says when it fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from discreet.curator.ledger import messages
from discreet.errors import LedgerUnavailable

__all__ = ["Values", "ask", "translate_faults"]

Values = Sequence[str | int | bytes | None]

_FAULTS = {
    sqlite3.SQLITE_BUSY: messages.LOCKED,
    sqlite3.SQLITE_LOCKED: messages.LOCKED,
    sqlite3.SQLITE_FULL: messages.FULL,
    sqlite3.SQLITE_READONLY: messages.READ_ONLY,
    sqlite3.SQLITE_PERM: messages.READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: messages.UNREACHABLE,
    sqlite3.SQLITE_CORRUPT: messages.DAMAGED,
    sqlite3.SQLITE_NOTADB: messages.DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: messages.DAMAGED,  # the ledger asks for nothing that a sound file refuses
}


def ask(connection: sqlite3.Connection, statement: str, values: Values = ()) -> list[tuple[object, ...]]:
    """Run one statement and return its rows.

    Raises
    ------
    LedgerUnavailable
        If SQLite fails, in the words of `curator.ledger.messages`.
    """
    with translate_faults():
        return connection.execute(statement, values).fetchall()


@contextmanager
def translate_faults() -> Iterator[None]:
    """Raise what SQLite says as one of the fixed faults."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)  # none: text that is not UTF-8
        raise LedgerUnavailable(_FAULTS.get(code & 0xFF, messages.FAILED)) from None
    except UnicodeError:  # the same, in a message of SQLite that quotes the text
        raise LedgerUnavailable(messages.DAMAGED) from None
