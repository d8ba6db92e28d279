"""How the entries of a ledger change an account.

Entries are accepted only if they follow the rules under which they were written: a charge that does
not fit, a renewal whose period has not begun, or an entry of an unknown kind is not an entry of this ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias, cast

from discreet.accounting.filters import Odometer
from discreet.curator.budget.account import Account, period_of
from discreet.curator.budget.budget import Budget
from discreet.curator.budget.reservation import Reservation
from discreet.curator.ledger import Body, Entry
from discreet.errors import LedgerMismatch, LedgerTampered, ParameterError
from discreet.privacy.events import Event

__all__ = [
    "ABANDON",
    "AMEND",
    "CHARGE",
    "ENTRY_FORMAT",
    "OPEN",
    "RENEW",
    "RESERVE",
    "SETTLE",
    "TWO",
    "USE",
    "fold",
    "last_use",
]

OPEN, CHARGE, AMEND, RENEW = "open", "charge", "amend", "renew"
RESERVE, USE, SETTLE, ABANDON = "reserve", "use", "settle", "abandon"

TWO = 2
"""How many owners agree, where one is not enough."""

ENTRY_FORMAT = 1
"""The form of the entries that are read and written here."""

_ANSWER = "answer"

FoldStep: TypeAlias = Callable[[Account, Entry, Body], Account]


def fold(account: Account, entry: Entry) -> Account:
    """Return the account after an entry.

    Raises
    ------
    LedgerError
        For an entry that this version does not know, or that breaks the rules.
    """
    if entry.kind == _ANSWER:
        return account
    step = _STEPS.get(entry.kind)
    if step is None:
        raise LedgerMismatch("the ledger holds entries of a later version of discreet; open it with that")
    try:
        return step(account, entry, entry.body)
    except (KeyError, TypeError, ParameterError):
        raise LedgerTampered("it could not have been recorded", entry.sequence) from None


def _opened(account: Account, entry: Entry, body: Body) -> Account:
    if body["format"] != ENTRY_FORMAT:
        raise LedgerMismatch("the ledger was written by another version of discreet; open it with that")
    if account.budget is not None:
        raise LedgerTampered("the ledger was opened before", entry.sequence)
    budget = _budget(body)
    return replace(
        account,
        tables=_tables(body),
        budget=budget,
        period=period_of(budget, entry.time),
        whole=budget.filter(),
        current=Odometer(neighbors=budget.neighbors),
        lifetime=Odometer(neighbors=budget.neighbors),
    )


def _amended(account: Account, entry: Entry, body: Body) -> Account:
    agreed = cast("list[str]", body.get("agreed", []))
    if account.two_owners and len(set(agreed)) < TWO:
        raise LedgerTampered("two owners had to agree to it, and did not", entry.sequence)
    changed = account.amended(_tables(body), _budget(body), entry.time)
    return replace(changed, two_owners=body.get("two_owners", account.two_owners) is True)


def _renewed(account: Account, entry: Entry, body: Body) -> Account:
    if account.due(entry.time) != body["period"]:
        raise LedgerTampered("it renews a period that has not begun, or has begun before", entry.sequence)
    return account.renewed(str(body["period"]))


def _charged(account: Account, entry: Entry, body: Body) -> Account:
    analyst, event = str(body["analyst"]), _event(body)
    account.check_recorded(analyst, event)
    return account.spend(analyst, event, entry.time)


def _reserved(account: Account, entry: Entry, body: Body) -> Account:
    analyst, event = str(body["analyst"]), _event(body)
    account.check_recorded(analyst, event)
    reservation = Reservation(analyst=analyst, event=event, purpose=str(body["purpose"]))
    return _with(account, entry.sequence, reservation)


def _used(account: Account, entry: Entry, body: Body) -> Account:
    place = cast("int", body["reservation"])
    after = _after_use(account.reserved[place], body)
    account.check_covered(after, recorded=True)
    return _with(account, place, after)


def _after_use(before: Reservation, body: Body) -> Reservation:
    """Return a reservation after a use, which counts as its entry says."""
    event, counted, run = _event(body), body.get("counted"), body.get("run")
    if isinstance(run, int):
        begun = before.runs[run].event
        return before.with_step(event, run=begun, counted=begun, first=run)
    if counted is None:
        return before.with_use(event)
    price = Event.from_object(counted)
    if run is None:
        after = before.with_use(event, price)
    else:
        after = before.with_step(event, run=Event.from_object(run), counted=price)
    after.check_numbers(recorded=True)
    return after


def last_use(after: Reservation) -> Body:
    """Return what the entry of the last use of a reservation says: what was run, and what it counts as."""
    place = len(after.used) - 1
    body = {"event": after.used[place].to_object()}
    for first, run in after.runs.items():
        if first < place == run.last:
            return cast("Body", {**body, "run": first})
        if first == place:
            body["run"] = run.event.to_object()
    if place in after.priced:
        body["counted"] = after.priced[place].to_object()
    return cast("Body", body)


def _settled(account: Account, entry: Entry, body: Body) -> Account:
    reservation, freed = _without(account, body)
    if not reservation.used:
        return freed
    return freed.close(reservation, entry.time, abandoned=False)


def _abandoned(account: Account, entry: Entry, body: Body) -> Account:
    """Count all that was reserved: code that read rows and never reported its end may have used it."""
    reservation, freed = _without(account, body)
    return freed.close(reservation, entry.time, abandoned=True)


def _without(account: Account, body: Body) -> tuple[Reservation, Account]:
    """Return the reservation that an entry closes, and the account without it."""
    place = cast("int", body["reservation"])
    rest = {key: value for key, value in account.reserved.items() if key != place}
    return account.reserved[place], replace(account, reserved=MappingProxyType(rest))


def _with(account: Account, place: int, reservation: Reservation) -> Account:
    return replace(account, reserved=MappingProxyType({**account.reserved, place: reservation}))


def _event(body: Body) -> Event:
    return Event.from_object(body["event"])


def _budget(body: Body) -> Budget:
    return Budget.from_body(cast("Body", body["budget"]))


def _tables(body: Body) -> Mapping[str, object]:
    return MappingProxyType(dict(cast("Mapping[str, object]", body["tables"])))


_STEPS: dict[str, FoldStep] = {
    OPEN: _opened,
    AMEND: _amended,
    RENEW: _renewed,
    CHARGE: _charged,
    RESERVE: _reserved,
    USE: _used,
    SETTLE: _settled,
    ABANDON: _abandoned,
}
