"""From a location to a store: a file, or a PostgreSQL database."""

from __future__ import annotations

import re
from pathlib import Path

from discreet.curator.ledger.store import Store
from discreet.errors import ParameterError

__all__ = ["open_store"]

_POSTGRES = re.compile(r"postgres(ql)?://")


def open_store(
    location: str | Path, *, name: str | None = None, create: bool = True, timeout: float = 30
) -> Store:
    """Open the store of a ledger.

    Parameters
    ----------
    location : str or Path
        A file, or ``postgresql://…``.
    name : str or None
        The name of the ledger in a database; a file has none.
    create : bool
        Whether to create a new ledger if there is none. A new ledger over old data voids the guarantee.
    timeout : float
        For how many seconds to wait for others.

    Raises
    ------
    LedgerUnavailable
        If it cannot be opened.
    LedgerMismatch, LedgerTampered
        If what is there is not a ledger, or not as it was created.
    """
    if isinstance(location, str) and _POSTGRES.match(location):
        if name is None:
            raise ParameterError("name", "is missing", "the name of the ledger in the database")
        from discreet.curator.ledger.postgres.store import PostgreSQLStore

        return PostgreSQLStore(location, name=name, create=create, timeout=timeout)
    if name is not None:
        raise ParameterError("name", "is given for a file", "a name only with postgresql://…")
    from discreet.curator.ledger.sqlite.store import SQLiteStore

    return SQLiteStore(location, create=create, timeout=timeout)
