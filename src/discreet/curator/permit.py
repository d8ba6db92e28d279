"""Permits: budget reserved for trusted code, which reads rows and reports what it ran."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from discreet.curator.budget.account import Account
from discreet.curator.budget.budget import Budget, offered
from discreet.curator.budget.checks import check_analyst
from discreet.curator.budget.entries import ABANDON, RESERVE, SETTLE, USE, last_use
from discreet.curator.budget.reservation import Reservation
from discreet.curator.door import Door
from discreet.curator.ledger import Body
from discreet.curator.permitted_run import PermittedRun
from discreet.curator.table_records import check_current, check_reason, declare
from discreet.data.tables.public_table import PublicTable
from discreet.errors import ParameterError
from discreet.privacy.events import Approximate, Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors

if TYPE_CHECKING:
    import pyarrow

    from discreet.data import Table
    from discreet.privacy.rational import Number

__all__ = ["Permit", "abandon_permit", "largest_use", "reopen_permit"]


class Permit:
    """A reservation, for the curator's own code; never for analysts.

    Guarantee
    ---------
    The reservation is durable before any row is returned. What the code reports by `charge` is recorded
    before it runs, and stays within the reservation: of epsilon, delta or rho, what all charges keep
    adds up to no more, and whatever adds up to no more may be charged, whatever others spend meanwhile; of a
    run, its steps may be charged, in any order (docs/proofs/filters.md, lemma 14). That the code runs what it
    reports, and releases nothing else, is the responsibility of its author. On `close`, what was never
    charged is freed: of a run that was begun, no more than its steps that are left, where the budget counts
    steps. After a crash the whole reservation stays, in later periods too, until its owner opens it again and
    closes it (`reopen_permit`), or abandons it (`abandon_permit`), which counts it in full once more and for
    the last time.

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
        tables = dict(door.tables)
        self._hold(door, door._decide(RESERVE, rule, declared=declare(tables), key=None).entry.sequence)

    def _hold(self, door: Door, place: int) -> None:
        self._door, self._tables, self._place = door, dict(door.tables), place
        self._open = True
        self._resumed: frozenset[int] | None = None
        """Of a permit that was opened again, which of the runs that it had begun go on."""

    def charge(self, event: Event) -> None:
        """Record what is about to run.

        Of a permit for epsilon and delta, each charge has a point of its own curve, and these add up: charge
        a whole run at once, or `begin` it and charge its steps.

        Raises
        ------
        BudgetExceeded
            If the reservation does not cover it together with what was charged before.
        """
        self._check_open()
        if not isinstance(event, Event):
            raise ParameterError("event", "is not an event", "an Event")
        self._use(lambda account, before: before.with_use(event, account.counted_as(before, event)))

    def begin(
        self, run: Event, *, epsilon: Number | None = None, delta: Number | None = None
    ) -> PermittedRun:
        """Begin a run that is fixed in advance, whose steps are charged one by one. Nothing is charged yet.

        Of a permit for epsilon and delta, the whole run counts from its first step on. What it counts as may
        be stated: if the run does not keep that, it counts as a point of its own curve. If the permit was
        opened again, a run that it had begun goes on; of a permit for rho, or for epsilon alone, it does not,
        and the steps that are left are a run of their own.

        Parameters
        ----------
        run : Event
            All steps together.
        epsilon, delta : number, optional
            What it shall count as, of a permit for epsilon and delta; by default the point of its curve that
            takes the same share of both.

        Raises
        ------
        BudgetExceeded
            If the permit does not cover the whole run.
        """
        self._check_open()
        if not isinstance(run, Event):
            raise ParameterError("run", "is not an event", "an Event")
        before = _reservation(self._door.ledger.state(), self._place)
        if not isinstance(before.event, Approximate):
            taken = len(before.used) if self._resumed is not None and before.event == run else 0
            if not taken:
                _check(self._door.ledger.state(), before.with_use(run))
            return PermittedRun(run, taken, self.charge)
        first = self._goes_on(before, run)
        if first is not None:
            return PermittedRun(run, before.runs[first].charges, self._steps_of(run, run, first))
        counted = _stated(run, epsilon, delta, before.event) or before.price(run)
        _check(self._door.ledger.state(), before.with_use(run, counted))
        return PermittedRun(run, 0, self._steps_of(run, counted, None))

    def _goes_on(self, before: Reservation, run: Event) -> int | None:
        """Return the first use of a run that a crash ended, if this is the same one."""
        ended = [
            first
            for first, one in before.runs.items()
            if first in (self._resumed or ()) and one.event == run and not before.is_ended(one)
        ]
        if not ended:
            return None
        self._resumed = (self._resumed or frozenset()) - {ended[-1]}
        return ended[-1]

    def _steps_of(self, run: Event, counted: Event, first: int | None) -> Callable[[Event], None]:
        """Return what charges a step of a run, and remembers which was the first."""
        begun = first

        def charge(event: Event) -> None:
            nonlocal begun
            self._check_open()
            if not isinstance(event, Event):
                raise ParameterError("event", "is not an event", "an Event")
            after = self._use(
                lambda _, before: before.with_step(event, run=run, counted=counted, first=begun)
            )
            begun = max(after.runs) if begun is None else begun

        return charge

    def _use(self, used: Callable[[Account, Reservation], Reservation]) -> Reservation:
        """Record one more use, and return the reservation after it."""
        found: list[Reservation] = []

        def check(account: Account) -> Reservation:
            after = used(account, _reservation(account, self._place))
            _check(account, after)
            return after

        def rule(account: Account, time: str) -> Body:
            del time
            found.append(check(account))
            return {"reservation": self._place, **last_use(found[-1])}

        self._door._rehearse(check)
        self._door.ledger.decide(USE, rule)
        return found[-1]

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
                self._door._decide(SETTLE, rule, declared=None, key=str(self._place))
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


def abandon_permit(door: Door, permit: str | int, *, reason: str) -> None:
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


def reopen_permit(door: Door, permit: str | int, *, analyst: str = "") -> Permit:
    """Return an open permit again, to go on with it after its program was killed, or to close it.

    All that was charged before stays charged. That the program ran nothing that it had not charged is its
    author's responsibility, as ever. A program that still runs shares what is left.

    Parameters
    ----------
    door : Door
        Whose permit.
    permit : str or int
        Its purpose; or the number of its entry, if several open permits have the same purpose.
    analyst : str
        Whose share pays for it: the one that it was opened with.
    """
    check_analyst(analyst)
    account = door.ledger.state()
    check_current(account, declare(door.tables))
    place = _open_permit(account, permit)
    if account.reserved[place].analyst != analyst:
        raise ParameterError("analyst", "is not the one who pays for this permit", "the same one")
    again = Permit.__new__(Permit)
    again._hold(door, place)
    again._resumed = frozenset(account.reserved[place].runs)
    return again


def _open_permit(account: Account, permit: str | int) -> int:
    """Return the entry of the open reservation with this purpose or number."""
    found = [place for place, one in account.reserved.items() if permit in (place, one.purpose)]
    if len(found) == 1 and not isinstance(permit, bool):
        return found[0]
    open_ones = ", ".join(f"{one.purpose!r} (entry {place})" for place, one in account.reserved.items())
    problem = "names several open permits" if len(found) > 1 else "names no open permit"
    raise ParameterError("permit", problem, f"one of {open_ones}" if open_ones else "none is open")


def _check(account: Account, after: Reservation) -> None:
    """Refuse what does not keep the numbers that were reserved, or is not covered where they are counted."""
    after.check_numbers()
    account.check_covered(after)


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


def _stated(
    run: Event, epsilon: Number | None, delta: Number | None, reserved: Approximate
) -> Approximate | None:
    """Return what a run is stated to count as, if it keeps that."""
    if epsilon is None or delta is None:
        return None
    from discreet.accounting import epsilon_and_delta

    stated = Approximate(epsilon=epsilon, delta=delta, neighbors=reserved.neighbors)
    upper = epsilon_and_delta.epsilon(run, delta=stated.delta).upper
    return stated if upper <= stated.epsilon else None
