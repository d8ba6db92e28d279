"""Asking PostgreSQL, without ever quoting what it says when it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from psycopg import Connection, Error

from discreet.curator.ledger import messages
from discreet.errors import LedgerUnavailable

__all__ = ["Values", "ask", "commit"]

Values = Sequence[str | int | bytes | None]

_FAULTS = {
    "55P03": messages.LOCKED,  # lock_not_available
    "40P01": messages.LOCKED,  # deadlock_detected
    "53100": messages.FULL,  # disk_full
    "25006": messages.READ_ONLY,  # read_only_sql_transaction
    "42501": messages.READ_ONLY,  # insufficient_privilege
    "XX001": messages.DAMAGED,  # data_corrupted
    "XX002": messages.DAMAGED,  # index_corrupted
}


def ask(connection: Connection, statement: str, values: Values | None = None) -> list[tuple[object, ...]]:
    """Run a statement and return its rows.

    Raises
    ------
    LedgerUnavailable
        If PostgreSQL fails, in the words of `curator.ledger.messages`.
    """
    with _translated():
        cursor = connection.execute(statement.encode(), values)
        return [] if cursor.description is None else cursor.fetchall()


def commit(connection: Connection) -> None:
    """Commit, and check that it did: COMMIT silently rolls back a transaction that failed."""
    with _translated():
        if connection.execute("COMMIT").statusmessage != "COMMIT":
            raise LedgerUnavailable(messages.FAILED)


@contextmanager
def _translated() -> Iterator[None]:
    """Raise what PostgreSQL says as one of the fixed faults."""
    try:
        yield
    except Error as error:
        raise LedgerUnavailable(_FAULTS.get(error.sqlstate or "", messages.FAILED)) from None
