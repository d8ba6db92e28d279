"""Permits: budget reserved for trusted code, which reads rows and reports what it ran."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from discreet.curator.budget.account import Account, Reservation
from discreet.curator.budget.budget import Budget, offered
from discreet.curator.budget.checks import check_analyst
from discreet.curator.budget.entries import ABANDON, RESERVE, SETTLE, USE
from discreet.curator.door import Door
from discreet.curator.ledger import Body
from discreet.curator.table_records import check_reason, declare
from discreet.data.tables.public_table import PublicTable
from discreet.errors import ParameterError
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors

if TYPE_CHECKING:
    import pyarrow

    from discreet.data import Table
    from discreet.privacy.rational import Number

__all__ = ["Permit", "abandon", "largest_use"]


class Permit:
    """A reservation, for the curator's own code; never for analysts.

    Guarantee
    ---------
    The reservation is durable before any row is returned. What the code reports by `charge` is
    recorded before it runs and stays within the reservation. That the code runs what it reports, and releases
    nothing else, is the responsibility of its author. On `close`, what was never charged is freed; after a
    crash the whole reservation stays spent. An open one counts in full, also in later periods,
    until its owner abandons it (`abandon`), which counts it in full once more and for the last time.

    Parameters
    ----------
    door : Door
        Whose data and budget.
    purpose : str
        For the record.
    event : Event
        The most that may be used.
    analyst : str
        Whose share of the budget pays.
    """

    def __init__(self, door: Door, purpose: str, event: Event, analyst: str = "") -> None:
        if not isinstance(purpose, str) or not purpose.strip():
            raise ParameterError("purpose", "is missing", "a purpose in words, for the record")
        check_analyst(analyst)
        if not isinstance(event, Event):
            raise ParameterError("event", "is not an event", "an Event")

        def rule(account: Account, time: str) -> Body:
            del time
            account.check(analyst, event)
            return {"analyst": analyst, "event": event.to_object(), "purpose": purpose}

        door._rehearse(lambda account: account.check(analyst, event))
        self._door = door
        self._tables = dict(door.tables)
        self._place = door._decide(RESERVE, rule, declared=declare(self._tables), key=None).entry.sequence
        self._open = True

    def charge(self, event: Event) -> None:
        """Record what is about to run.

        Raises
        ------
        BudgetExceeded
            If the reservation does not cover it together with what was charged before.
        """
        self._check_open()
        if not isinstance(event, Event):
            raise ParameterError("event", "is not an event", "an Event")

        def check(account: Account) -> None:
            reservation = _reservation(account, self._place)
            account.check_covered(replace(reservation, used=(*reservation.used, event)))

        def rule(account: Account, time: str) -> Body:
            del time
            check(account)
            return {"reservation": self._place, "event": event.to_object()}

        self._door._rehearse(check)
        self._door.ledger.decide(USE, rule)

    def rows(self, table: str) -> pyarrow.Table:
        """Return the rows of a table within its declaration; private.

        At most as many rows of each person as the limits say, drawn at random; numbers clipped to
        their bounds and rounded to their step; keys and days that were not declared are NULL. The columns are
        the person and those that something was declared about.
        """
        from discreet.data.bounding.declared_rows import declared_rows  # loads Ibis

        found = self._table(table)
        return found._rows() if isinstance(found, PublicTable) else declared_rows(found)

    def raw_rows(self, table: str) -> pyarrow.Table:
        """Return the rows of a table in normal form: unbounded, unclipped, with all columns; private.

        Nothing limits what one person can change in them: the code has to bound it. Of values that
        requests do not know (bytes, lists) only whether they are present is returned.
        """
        return self._table(table)._rows()

    def close(self) -> None:
        """Free what was never charged; of a permit that was abandoned, nothing."""

        def rule(account: Account, time: str) -> Body:
            del time
            _reservation(account, self._place)
            return {"reservation": self._place}

        if self._open:
            with suppress(_Closed):
                self._door.ledger.decide(SETTLE, rule, key=str(self._place))
            self._open = False

    def __enter__(self) -> Permit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _table(self, name: str) -> Table:
        """Return a table that may be read, after checking again that the reservation is open."""
        self._check_open()
        _reservation(self._door.ledger.state(), self._place)
        if name not in self._tables:
            raise ParameterError("table", "is not declared", f"one of {sorted(self._tables)}")
        return self._tables[name]

    def _check_open(self) -> None:
        if not self._open:
            raise _Closed


class _Closed(ParameterError):
    """There is no such open reservation."""

    def __init__(self) -> None:
        super().__init__("permit", "is closed", "a new permit")


def largest_use(
    most: Event | Budget | None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    neighbors: Neighbors = ADD_REMOVE_PERSON,
) -> Event:
    """Return the event to reserve: one that is given, or what a budget or an offer in numbers allows.

    Numbers are offered under the relation that is named.
    """
    if most is None:
        return offered(epsilon=epsilon, delta=delta, rho=rho, neighbors=neighbors)
    if any(part is not None for part in (epsilon, delta, rho)):
        raise ParameterError("most", "is given together with an offer in numbers", "one of the two")
    if isinstance(most, Event):
        return most
    if most.per_analyst is not None or most.renews is not None or (most.rho is not None and most.delta):
        raise ParameterError(
            "most", "has caps or renewals of its own, or both rho and delta", "such as Budget(epsilon=1)"
        )
    return offered(epsilon=most.epsilon, delta=most.delta or None, rho=most.rho, neighbors=most.neighbors)


def abandon(door: Door, permit: str | int, *, reason: str) -> None:
    """Close a permit whose code never ended, and record this. All that it reserved is spent.

    Its code may have read rows and used the whole reservation, so that nothing is freed: what was reserved is
    charged, in the current period. It no longer counts in later periods, and code that still runs
    gets neither rows nor charges any more.

    Parameters
    ----------
    door : Door
        Whose permit.
    permit : str or int
        Its purpose; or the number of its entry, if several open permits have the same purpose.
    reason : str
        Why, for the record.
    """
    check_reason(reason)

    def rule(account: Account, time: str) -> Body:
        del time
        return {"reservation": _open_permit(account, permit), "reason": reason}

    door._decide(ABANDON, rule, declared=declare(door.tables), key=None)


def _open_permit(account: Account, permit: str | int) -> int:
    """Return the entry of the open reservation with this purpose or number."""
    found = [place for place, one in account.reserved.items() if permit in (place, one.purpose)]
    if len(found) == 1 and not isinstance(permit, bool):
        return found[0]
    open_ones = ", ".join(f"{one.purpose!r} (entry {place})" for place, one in account.reserved.items())
    problem = "names several open permits" if len(found) > 1 else "names no open permit"
    raise ParameterError("permit", problem, f"one of {open_ones}" if open_ones else "none is open")


def _reservation(account: Account, place: int) -> Reservation:
    """Return the open reservation of an entry.

    Raises
    ------
    ParameterError
        If it is closed or abandoned.
    """
    reservation = account.reserved.get(place)
    if reservation is None:
        raise _Closed
    return reservation
