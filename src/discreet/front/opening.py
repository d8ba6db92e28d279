"""Opening the curator that a file declares, and changing its declarations on the record."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.curator import Account
from discreet.curator.budget.charge_log import log_charge
from discreet.curator.budget.checks import check_analyst
from discreet.curator.budget.entries import ABANDON, AMEND, RENEW, RESERVE, fold
from discreet.curator.ledger import Anchor, Body, Ledger
from discreet.curator.ledger.anchor_file import AnchorFile
from discreet.curator.table_records import amendment, check_reason, declare
from discreet.errors import BudgetExceeded, LedgerTampered, ParameterError
from discreet.front.curator import Curator
from discreet.front.declaring.declaration import Declaration, read_declaration
from discreet.front.declaring.ledger_place import LedgerPlace
from discreet.privacy.events import Event, Pure

if TYPE_CHECKING:
    from discreet.data import Table

__all__ = ["amend_file", "open_declared", "open_file", "recover_ledger"]


def open_file(path: str | Path) -> Curator:
    """Open the curator that a file declares; the ledger is created if there is none.

    Parameters
    ----------
    path : str or Path
        A TOML file; its form is described in `discreet.front.declaring.declaration`, and ``discreet init``
        writes one.

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


def amend_file(
    path: str | Path, *, reason: str, agreed: Collection[str] = (), two_owners: bool | None = None
) -> Curator:
    """Record in the ledger that the declarations are now those of the file, and open it.

    What was spent stays spent, and counts against the new caps.

    Parameters
    ----------
    path : str or Path
        The file, as it is now.
    reason : str
        Why it changed, for the record.
    agreed : collection of str
        The names of the owners who agreed, for the record.
    two_owners : bool, optional
        Whether two of them must agree to all amendments after this one; by default as before.

    Raises
    ------
    BudgetExceeded
        If more was already spent than the new caps allow. Then nothing is recorded.
    RequestRefused
        If two owners must agree, and fewer did.
    """
    check_reason(reason)
    declared = read_declaration(path)
    tables = declared.open_tables()
    with closing(declared.ledger.open()) as ledger:
        rule = amendment(reason, declare(tables), declared.budget, agreed=agreed, two_owners=two_owners)
        ledger.decide(AMEND, rule)
    return open_declared(declared, tables=tables)


def recover_ledger(
    place: LedgerPlace, *, reason: str, event: Event | None = None, analyst: str = ""
) -> tuple[Anchor, Event]:
    """Count as spent, on the record, what an accident may have lost: the last entries of a restored ledger.

    What was lost had been admitted together with what is left of the ledger, so all that is lost fits what is
    left of the caps, unless they were amended since: where all of that is written off, they still hold for
    everything that was ever answered (proof: ledger). It is reserved and abandoned, and never freed. Then the
    anchor, which may name a lost entry, is set to the new head. The record has the old anchor as its key:
    after a crash in between, or where two do this at once, the rest is done, and nothing is written off
    twice.

    Parameters
    ----------
    place : LedgerPlace
        Where the ledger is; its chain is checked, its anchor is not.
    reason : str
        What happened, for the record.
    event : Event, optional
        The most that may have been lost, as its owner knows it; by default all that is left.
    analyst : str, optional
        Whose share pays.

    Raises
    ------
    BudgetExceeded
        If nothing is left, or less than the event: then leave it out.
    ParameterError
        If it is left out and the budget has a delta, a rho or shares, of which no event takes all.
    """
    check_reason(reason)
    check_analyst(analyst)
    file = None if place.anchor is None else AnchorFile(place.anchor)

    def reserve(account: Account, time: str) -> Body:
        lost = _all_that_is_left(account) if event is None else event
        account.check(analyst, lost)
        return {"analyst": analyst, "event": lost.to_object(), "purpose": f"written off: {reason}"}

    with closing(Ledger(place.open_store(create=False), fold, Account())) as ledger:
        _renew(ledger)
        key = None if file is None else _accident(file, ledger)
        entry = log_charge(ledger.decide(RESERVE, reserve, key=key))
        body: Body = {"reservation": entry.sequence, "reason": reason}

        def abandon(account: Account, time: str) -> Body:
            if body["reservation"] not in account.reserved:
                raise _AlreadyDone
            return body

        with suppress(_AlreadyDone):  # by a call that was cut off, or by the owner
            ledger.decide(ABANDON, abandon)
        head = ledger.anchor() if file is None else file.put(ledger.anchor)
    return head, Event.from_object(entry.body["event"])


class _AlreadyDone(Exception):
    """What would be recorded is on the record."""


def _accident(file: AnchorFile, ledger: Ledger[Account]) -> str | None:
    """Return a key that tells accidents apart: the anchor that is to be replaced, if there is one."""
    try:
        kept = file.read()
    except LedgerTampered:  # the accident took the anchor, too
        return None
    if kept is None:
        return None
    key = f"instead of {kept}"
    before = ledger.find(RESERVE, key)
    # Where others charged after a write-off it was no crash that kept the anchor as it was.
    return key if before is None or ledger.anchor().sequence <= before.sequence + 1 else None


def _renew(ledger: Ledger[Account]) -> None:
    """Renew the caps if a period began, unless someone else does."""
    due = ledger.state().due(ledger.time())
    if due is None:
        return

    def rule(account: Account, time: str) -> Body:
        if account.due(time) != due:
            raise _AlreadyDone
        return {"period": due}

    with suppress(_AlreadyDone):
        ledger.decide(RENEW, rule, key=due)


def _all_that_is_left(account: Account) -> Event:
    caps = account.caps
    if caps.delta or caps.rho is not None or caps.per_analyst is not None:
        raise ParameterError(
            "epsilon",
            "is missing, and of this budget no single amount is all that is left",
            "the most that may have been lost: epsilon, with a delta, or rho",
        )
    left = account.largest_epsilon("")
    if not left:
        raise BudgetExceeded("nothing is left of the budget that could be written off")
    return Pure(epsilon=left, neighbors=caps.neighbors)
