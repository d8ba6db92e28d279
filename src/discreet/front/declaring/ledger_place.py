"""Where a ledger is: a file, or a database."""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path

from discreet.curator import Account
from discreet.curator.budget.entries import fold
from discreet.curator.ledger import Ledger, Store, open_store
from discreet.records import dataclass

__all__ = ["LedgerPlace", "is_database"]

_POSTGRES = re.compile(r"postgres(ql)?://")


def is_database(source: str) -> bool:
    """Return whether a source is the address of a database."""
    return _POSTGRES.match(source) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerPlace:
    """Where a ledger is. The address of a database may contain a password, so it is never shown.

    Attributes
    ----------
    location : str
        The path of a file, or ``postgresql://…``.
    name : str or None
        The name of a ledger in a database.
    anchor : Path or None
        The file that remembers its head.
    """

    location: str = field(repr=False)
    name: str | None = None
    anchor: Path | None = None

    @property
    def file(self) -> Path | None:
        """The file, if it is one."""
        return None if is_database(self.location) else Path(self.location)

    def open_store(self, *, create: bool) -> Store:
        """Open what keeps the ledger."""
        return open_store(self.location, name=self.name, create=create)

    def open(self) -> Ledger[Account]:
        """Open an existing ledger, without its tables."""
        return Ledger(self.open_store(create=False), fold, Account(), anchor=self.anchor)
