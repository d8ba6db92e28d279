"""Opening the curator that a file declares, and changing its declarations on the record."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.curator.budget.entries import AMEND
from discreet.curator.table_records import amendment, check_reason, declare
from discreet.front.curator import Curator
from discreet.front.declaration import Declaration, read_declaration

if TYPE_CHECKING:
    from discreet.data import Table

__all__ = ["amend_file", "open_declared", "open_file"]


def open_file(path: str | Path) -> Curator:
    """Open the curator that a file declares; the ledger is created if there is none.

    Parameters
    ----------
    path : str or Path
        A TOML file; its form is described in `discreet.front.declaration`, and ``discreet init`` writes one.

    Raises
    ------
    ParameterError
        Naming the section and the key where something is wrong, missing, unknown or still blank.
    LedgerMismatch
        If the ledger records other declarations; see `amend_file`.
    """
    return open_declared(read_declaration(path))


def open_declared(declared: Declaration, *, tables: Mapping[str, Table] | None = None) -> Curator:
    """Open what was declared.

    Parameters
    ----------
    declared : Declaration
        From `read_declaration`.
    tables : mapping of names to Table, optional
        Its tables, if they are already open.
    """
    if tables is None:
        tables = declared.open_tables()
    place = declared.ledger
    return Curator(
        tables,
        budget=declared.budget,
        ledger=place.location,
        name=place.name,
        anchor=place.anchor,
        today=declared.today,
    )


def amend_file(path: str | Path, *, reason: str) -> Curator:
    """Record in the ledger that the declarations are now those of the file, and open it.

    What was spent stays spent, and counts against the new caps.

    Parameters
    ----------
    path : str or Path
        The file, as it is now.
    reason : str
        Why it changed, for the record.

    Raises
    ------
    BudgetExceeded
        If more was already spent than the new caps allow. Then nothing is recorded.
    """
    check_reason(reason)
    declared = read_declaration(path)
    tables = declared.open_tables()
    with closing(declared.ledger.open()) as ledger:
        ledger.decide(AMEND, amendment(reason, declare(tables), declared.budget))
    return open_declared(declared, tables=tables)
