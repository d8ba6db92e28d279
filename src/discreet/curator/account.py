"""The account: what the entries of a ledger add up to, and whether one more fits.

Everything here is pure. The state is folded from the entries by whoever opens the ledger, so two processes
that read the same entries hold the same account.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from types import MappingProxyType
from typing import NamedTuple

from discreet.accounting.filters import Odometer
from discreet.accounting.filters.filter import show_below
from discreet.curator.budget import Budget, Cap
from discreet.errors import BudgetExceeded, LedgerError
from discreet.privacy.events import Event, compose

__all__ = ["Account", "Reservation", "Spent", "percent_above", "percent_below"]

_MOST_PERCENT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Budget that is set aside for trusted code, and what that code has used of it."""

    analyst: str
    event: Event
    purpose: str = ""
    used: tuple[Event, ...] = ()

    @property
    def spent(self) -> Event:
        """What was used, as one event."""
        return compose(self.used)


class Spent(NamedTuple):
    """A charge, and those before it."""

    analyst: str
    event: Event
    time: str
    before: Spent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What was declared, spent and reserved, as of the last entry.

    Attributes
    ----------
    tables : mapping
        The declaration of every table.
    budget : Budget or None
        The caps; None before the ledger is opened.
    period : str
        The first day of the period that charges are counted in; empty where nothing renews.
    whole, analysts : Filter, mapping
        What this period has spent, of the cap for all and of each analyst's.
    reserved : mapping
        Open reservations, by the sequence of their entry. They count as spent, in every period.
    current, lifetime : Odometer
        Everything that was charged in this period, and ever; without open reservations.
    charges : int
        How many charges there were.
    history : Spent or None
        All charges, the latest first: when caps change, they are counted anew.
    """

    tables: Mapping[str, object] = field(default_factory=dict)
    budget: Budget | None = None
    period: str = ""
    whole: Cap | None = None
    analysts: Mapping[str, Cap] = field(default_factory=dict)
    reserved: Mapping[int, Reservation] = field(default_factory=dict)
    current: Odometer = field(default_factory=Odometer)
    lifetime: Odometer = field(default_factory=Odometer)
    charges: int = 0
    history: Spent | None = field(default=None, repr=False, compare=False)  # long, and nested

    @property
    def caps(self) -> Budget:
        """The budget of an account that was opened."""
        if self.budget is None:
            raise LedgerError("the ledger has no declaration yet")
        return self.budget

    def due(self, time: str) -> str | None:
        """Return the period that has begun by a time, where charges are still counted in an earlier one."""
        period = period_of(self.caps, time)
        return period if period > self.period else None

    def filter_of(self, analyst: str | None = None) -> Cap:
        """Return the filter of all, or of one analyst, with open reservations spent."""
        if analyst is None:
            current = self.whole
        else:
            cap = self.caps.per_analyst
            current = self.analysts.get(analyst) or (None if cap is None else cap.filter())
        if current is None:
            raise LedgerError("there is no such cap")
        for reservation in self.reserved.values():
            if analyst in (None, reservation.analyst):
                current = current.spend(reservation.event)
        return current

    def filters(self, analyst: str) -> list[tuple[str, Cap]]:
        """Return every filter that a charge of an analyst must fit, with the words for it."""
        found = [("the budget", self.filter_of())]
        if self.caps.per_analyst is not None:
            found.append(("this analyst's share of the budget", self.filter_of(analyst)))
        return found

    def check(self, analyst: str, event: Event) -> None:
        """Refuse an event that does not fit.

        Raises
        ------
        BudgetExceeded
            Naming the cap, what is left of it and what would fit.
        """
        for words, current in self.filters(analyst):
            if not current.fits(event):
                raise BudgetExceeded(_refusal(words, current, event))

    def check_covered(self, reservation: Reservation) -> None:
        """Refuse a reservation of which more is used than was reserved, by any measure that is limited."""
        for _, current in self.filters(reservation.analyst):
            costs = zip(current.cost(reservation.spent), current.cost(reservation.event), strict=True)
            for used, most in costs:
                if used is None or most is None or used > most:
                    raise BudgetExceeded("the permit does not cover it; reserve more, or run less")

    def counted(self, odometer: Odometer) -> Odometer:
        """Return what an odometer of this account shows once all open reservations are used."""
        for reservation in self.reserved.values():
            odometer = odometer.add(reservation.event)
        return odometer

    def spend(self, analyst: str, event: Event, time: str) -> Account:
        """Return the account after an event that is known to fit."""
        after = self._count(analyst, event)
        return replace(
            after,
            lifetime=self.lifetime.add(event),
            charges=self.charges + 1,
            history=Spent(analyst, event, time, self.history),
        )

    def _count(self, analyst: str, event: Event) -> Account:
        """Count an event in this period."""
        assert self.whole is not None  # noqa: S101
        analysts = dict(self.analysts)
        if self.caps.per_analyst is not None:
            analysts[analyst] = (analysts.get(analyst) or self.caps.per_analyst.filter()).spend(event)
        return replace(
            self,
            whole=self.whole.spend(event),
            analysts=MappingProxyType(analysts),
            current=self.current.add(event),
        )

    def renewed(self, period: str) -> Account:
        """Return the account at the start of a period."""
        return replace(
            self,
            period=period,
            whole=self.caps.filter(),
            analysts=MappingProxyType({}),
            current=Odometer(),
        )

    def amended(self, tables: Mapping[str, object], budget: Budget, time: str) -> Account:
        """Return the account under other declarations.

        All charges of the period that the new caps are in count against them; if they never renew, all
        charges there ever were.

        Raises
        ------
        BudgetExceeded
            If more was spent, or is reserved, than the new caps allow.
        """
        period = period_of(budget, time)
        changed = replace(self, tables=tables, budget=budget).renewed(period)
        try:
            for charge in reversed(list(self._charges())):
                if period_of(budget, charge.time) == period:
                    changed = changed._count(charge.analyst, charge.event)
            changed.filter_of()
            for reservation in self.reserved.values():
                changed.check_covered(reservation)
        except BudgetExceeded as refusal:
            raise BudgetExceeded(f"the new caps do not hold what was spent already: {refusal}") from None
        return changed

    def _charges(self) -> Iterator[Spent]:
        node = self.history
        while node is not None:
            yield node
            node = node.before


def period_of(budget: Budget, time: str) -> str:
    """Return the first day of the period of a budget that a time lies in; empty where it never renews."""
    return "" if budget.renews is None else budget.renews.of(time)


def percent_above(part: Fraction, whole: Fraction) -> str:
    """Write a share in percent, rounded up."""
    if part > _MOST_PERCENT // 100 * whole:
        return f"over {_MOST_PERCENT}%"
    return f"{ceil(10_000 * part / whole) / 100 if whole else 0:.2f}%"


def percent_below(part: Fraction, whole: Fraction) -> str:
    """Write a share in percent, rounded down."""
    return f"{floor(10_000 * part / whole) / 100 if whole else 0:.2f}%"


def _refusal(words: str, current: Cap, event: Event) -> str:
    """Say what was asked, what is left and what would fit, in shares of the cap."""
    largest = f"a request with a pure epsilon of at most {show_below(current.largest_epsilon)} would fit"
    for cost, left, limit in zip(
        current.cost(event), current.left.values(), current.limits.values(), strict=True
    ):
        if cost is None:
            return f"{words} counts {type(current).measure}, which this noise does not have; {largest}"
        if cost > left:
            asked, rest = percent_above(cost, limit), percent_below(left, limit)
            return f"it would take {asked} of {words}, of which {rest} is left; {largest}"
    return largest
