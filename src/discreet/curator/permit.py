"""Permits: budget that is set aside for trusted code, which reads rows and says what it ran."""

from __future__ import annotations

import json
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from discreet.curator.account import Account
from discreet.curator.declaration import declare
from discreet.curator.door import Door, check_analyst
from discreet.curator.fold import RESERVE, SETTLE, USE
from discreet.curator.ledger import Body
from discreet.errors import ParameterError
from discreet.privacy.events import Event

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Permit"]


class Permit:
    """A reservation, for code of the curator's own; never for analysts.

    Guarantee
    ---------
    The reservation is durable before any row is handed out. What the code says it runs, by `charge`, is
    recorded before it runs and stays within the reservation. That the code runs what it says, and lets out
    nothing else, is its author's duty. On `close`, what was never charged is freed; after a crash
    the whole reservation stays spent. An open one counts in full, also in periods that begin meanwhile.

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
            raise ParameterError("purpose", "is missing", "words that say what for, for the record")
        check_analyst(analyst)
        if not isinstance(event, Event):
            raise ParameterError("event", "is no event", "an Event")

        def rule(account: Account, time: str) -> Body:
            del time
            account.check(analyst, event)
            return {"analyst": analyst, "event": json.loads(event.to_json()), "purpose": purpose}

        self._door = door
        self._tables = dict(door.tables)
        self._place = door._decide(RESERVE, rule, declared=declare(self._tables)).sequence
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
            raise ParameterError("event", "is no event", "an Event")

        def rule(account: Account, time: str) -> Body:
            del time
            reservation = account.reserved.get(self._place)
            if reservation is None:
                raise _closed()
            account.check_covered(replace(reservation, used=(*reservation.used, event)))
            return {"reservation": self._place, "event": json.loads(event.to_json())}

        self._door.ledger.decide(USE, rule)

    def rows(self, table: str) -> pyarrow.Table:
        """Return the rows of a table, as they are: unbounded, and private."""
        self._check_open()
        if table not in self._tables:
            raise ParameterError("table", "is not declared", f"one of {sorted(self._tables)}")
        return self._tables[table]._rows()

    def close(self) -> None:
        """Free what was never charged."""
        if self._open:
            body: Body = {"reservation": self._place}
            self._door.ledger.decide(SETTLE, lambda account, time: body, key=str(self._place))
            self._open = False

    def __enter__(self) -> Permit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if not self._open:
            raise _closed()


def _closed() -> ParameterError:
    return ParameterError("permit", "is closed", "a new permit")
