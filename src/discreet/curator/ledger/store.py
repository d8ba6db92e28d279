"""The interface between the ledger and its storage: reading, and one exclusive transaction at a time.

A store keeps rows in order and returns them unchanged. It knows neither costs nor hashes.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from discreet.curator.ledger.entry import Entry

__all__ = ["Reader", "Row", "Store", "Writer", "read_row", "row_of"]

Row = tuple[int, str, str | None, str, str, str, str]
"""The columns of an entry: sequence, kind, key, time, body, previous, hash."""


class Reader(Protocol):
    """A consistent view of what was committed."""

    def entries(self, *, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries whose sequence is greater than `after`, in order, at most `limit`, unchecked."""
        ...

    def find(self, kind: str, key: str) -> Entry | None:
        """Return the entry of a kind with a key, unchecked."""
        ...

    def answer(self, charge: int) -> bytes | None:
        """Return the answer kept for the charge with this sequence."""
        ...

    def answers(self) -> int:
        """Return how many answers are kept."""
        ...


class Writer(Reader, Protocol):
    """The view of the only writer."""

    def append(self, entry: Entry) -> None:
        """Add an entry at the end."""
        ...

    def keep_answer(self, charge: int, content: bytes) -> None:
        """Keep the answer of a charge that has none."""
        ...


class Store(Protocol):
    """The storage of a ledger.

    All faults of the engine are raised as `LedgerUnavailable`, in the words of
    `discreet.curator.ledger.messages`.
    """

    def transaction(self) -> AbstractContextManager[Writer]:
        """Enter the only transaction that may write, among all threads, processes and machines.

        What was written is durable when the block is left, all of it; leaving raises if it may not be.
        Nothing was written if the block raises.
        """
        ...

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Enter a view for reading, which works even if writing does not."""
        ...

    def check(self) -> None:
        """Check what the engine itself can check: pages, indexes, and that triggers still forbid changes.

        Raises
        ------
        LedgerTampered
            If something is not as the store created it.
        """
        ...

    def close(self) -> None:
        """Close connections. The store opens new ones when it is used again."""
        ...


def row_of(entry: Entry) -> Row:
    """Return the columns of an entry."""
    return (entry.sequence, entry.kind, entry.key, entry.time, entry.text, entry.previous, entry.hash)


def read_row(row: Row) -> Entry:
    """Return the entry of a row, unchecked: an attacker may have written anything there."""
    sequence, kind, key, time, text, previous, own = row
    return Entry(sequence=sequence, kind=kind, key=key, time=time, text=text, previous=previous, hash=own)
