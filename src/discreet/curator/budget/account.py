"""The account: what the entries of a ledger add up to, and whether one more fits.

Everything here is pure. The state is folded from the entries when the ledger is opened, so two processes
that read the same entries have the same account.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from discreet.accounting.filters import Odometer, UnionFilter, ZeroConcentratedFilter
from discreet.accounting.filters.base import WHOLE
from discreet.curator.budget.budget import Budget, Cap
from discreet.curator.budget.reservation import Reservation
from discreet.curator.budget.wording import refusal
from discreet.errors import BudgetExceeded, LedgerError, ParameterError
from discreet.privacy.events import Event
from discreet.privacy.rational import float_above, float_written
from discreet.records import dataclass

__all__ = ["Account", "ChargeHistory"]


class ChargeHistory(NamedTuple):
    """A charge, and those before it.

    Of a permit that was closed, `used` is what was run, one after another, as filters count it, `within` what
    had been reserved, and `event` all that was run; or, if it was abandoned, all that was reserved.
    """

    analyst: str
    event: Event
    time: str
    before: ChargeHistory | None
    used: tuple[Event, ...] = ()
    within: Event | None = None

    def counted_in(self, cap: Cap) -> Cap:
        """Return a filter after this charge, which was admitted before."""
        if self.within is None:
            return cap.spend_recorded(self.event)
        if self.event == self.within:
            return cap.reserve(self.event, self.used)
        return cap.spend_recorded(*self.used, within=self.within)


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
        The first day of the period that charges are counted in; empty if nothing renews.
    whole, analysts : Filter, mapping
        What this period has spent, of the cap for all and of each analyst's.
    reserved : mapping
        Open reservations, by the sequence of their entry. They count as spent, in every period.
    current, lifetime : Odometer
        Everything that was charged in this period, and ever; without open reservations.
    charges : int
        How many charges there were.
    two_owners : bool
        Whether two owners must agree to every amendment.
    history : Spent or None
        All charges, the latest first: when caps change, they are counted again.
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
    two_owners: bool = False
    history: ChargeHistory | None = field(default=None, repr=False, compare=False)  # long, and nested

    @property
    def caps(self) -> Budget:
        """The budget of an account that was opened."""
        if self.budget is None:
            raise LedgerError("the ledger has no declaration yet")
        return self.budget

    def due(self, time: str) -> str | None:
        """Return the period that has begun by a time, if charges are still counted in an earlier one."""
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
                current = current.reserve(reservation.event, reservation.counted)
        return current

    def filters(self, analyst: str) -> list[tuple[str, Cap]]:
        """Return every filter that a charge of an analyst must fit, with its description."""
        found = [("the budget", self.filter_of())]
        if self.caps.per_analyst is not None:
            found.append(("this analyst's share of the budget", self.filter_of(analyst)))
        return found

    def largest_epsilon(self, analyst: str) -> Fraction:
        """Return the largest pure epsilon that the next charge of an analyst may have, by every cap."""
        return min(current.largest_epsilon for _, current in self.filters(analyst))

    def largest_rho(self, analyst: str) -> Fraction | None:
        """Return the largest rho that an analyst's next charge may have; None if a cap counts none."""
        left = [
            current.left["rho"] if isinstance(current, ZeroConcentratedFilter) else None
            for _, current in self.filters(analyst)
        ]
        known = [rho for rho in left if rho is not None]
        return min(known) if len(known) == len(left) else None

    def check(self, analyst: str, *events: Event) -> None:
        """Refuse events that do not fit, charged one after another.

        Raises
        ------
        BudgetExceeded
            Naming the cap, what is left of it and what would fit.
        """
        for words, current in self.filters(analyst):
            if not current.fits(*events):
                most = self.largest_epsilon(analyst)
                raise BudgetExceeded(refusal(words, current, *events, most=most))

    def check_recorded(self, analyst: str, event: Event) -> None:
        """Refuse an event that cannot have been admitted, by bounds of today or of another version."""
        for words, current in self.filters(analyst):
            try:
                current.spend_recorded(event)
            except BudgetExceeded:
                most = self.largest_epsilon(analyst)
                raise BudgetExceeded(refusal(words, current, event, most=most)) from None

    def check_held(self) -> None:
        """Refuse an account that has spent, or reserved, more than its caps allow."""
        analysts = {*self.analysts, *(one.analyst for one in self.reserved.values())}
        for words, current in (pair for name in ["", *sorted(analysts)] for pair in self.filters(name)):
            if not current.fits():
                raise BudgetExceeded(f"{words} is below what was already spent or reserved")
        for reservation in self.reserved.values():
            self.check_covered(reservation)

    def check_covered(self, reservation: Reservation, *, recorded: bool = False) -> None:
        """Refuse a reservation of which more is used than was reserved.

        By every limited measure; if a cap counts in several ways, by one that holds everything.
        What is `recorded` was admitted by bounds of today or of another version.
        """
        for _, current in self.filters(reservation.analyst):
            if not current.covers(reservation.event, reservation.counted, recorded=recorded):
                raise BudgetExceeded("the permit does not cover it; reserve more, or run less")

    def counted_as(self, reservation: Reservation, event: Event) -> Event:
        """Return what a use of a reservation counts as: itself, unless some way of counting has more for it.

        Of what is reserved in numbers, every use has numbers of that kind (`Reservation.price`), which add up
        to what was reserved in every way of counting. Where one counts more for the event than for these
        numbers, the use counts as they do, so that the rest stays usable (docs/proofs/filters.md, lemma 14).
        """
        price = reservation.price(event)
        if price == event:
            return event
        caps = [self.caps] if self.caps.per_analyst is None else [self.caps, self.caps.per_analyst]
        made = [one.filter() for one in caps]
        ways = [way for one in made for way in (one.alive if isinstance(one, UnionFilter) else [one])]
        counting = [way for way in ways if None not in way.cost(reservation.event)]
        return event if all(way.covered(price, (event,), WHOLE) for way in counting) else price

    def counted(self, odometer: Odometer) -> Odometer:
        """Return what an odometer of this account shows once all open reservations are used."""
        for reservation in self.reserved.values():
            odometer = odometer.add(reservation.event)
        return odometer

    def spent_now(self) -> tuple[float, Fraction]:
        """Return the epsilon and the delta spent in this period, including reservations: a reading."""
        epsilon, delta = self._read(self.counted(self.current))
        whole = self.filter_of()
        if isinstance(whole, UnionFilter):
            known = whole.readings(delta)  # pure sums need none
            epsilon, delta = min([(epsilon, delta), *known], key=lambda pair: pair[0])
        return epsilon, delta

    def ever_spent(self) -> tuple[float, Fraction]:
        """Return the epsilon and the delta of everything ever spent, including reservations: a reading."""
        if self.current == self.lifetime:  # nothing was renewed since
            return self.spent_now()
        return self._read(self.counted(self.lifetime))

    def _read(self, odometer: Odometer) -> tuple[float, Fraction]:
        """Return the sum of pure epsilons while the cap holds it; else the least epsilon at its delta."""
        cap, pure, delta = self.caps.epsilon, odometer.epsilon, max(self.caps.delta, odometer.delta)
        if pure is not None and cap is not None and pure <= cap:
            return float_written(pure), odometer.delta
        found = odometer.read(delta).epsilon if delta < 1 else 0.0
        if pure is not None and cap is None and float_above(pure) <= found:
            return float_written(pure), odometer.delta
        return found, delta

    def names(self) -> list[str]:
        """Return the analysts who have spent or reserved anything in this period."""
        return sorted(
            {one.analyst for one in self._charges() if period_of(self.caps, one.time) == self.period}
            | {one.analyst for one in self.reserved.values()}
        )

    def spent_by(self, analyst: str) -> tuple[float, Fraction]:
        """Return an analyst's epsilon and delta in this period, including reservations: a reading."""
        return self._read(self.odometer_of(analyst))

    def odometer_of(self, analyst: str) -> Odometer:
        """Return everything that an analyst charged in this period, and has reserved."""
        odometer = Odometer(neighbors=self.caps.neighbors)
        for charge in reversed(list(self._charges())):
            if charge.analyst == analyst and period_of(self.caps, charge.time) == self.period:
                odometer = odometer.add(charge.event)
        for reservation in self.reserved.values():
            if reservation.analyst == analyst:
                odometer = odometer.add(reservation.event)
        return odometer

    def spend(self, analyst: str, event: Event, time: str) -> Account:
        """Return the account after an event that is known to fit."""
        return self._spend(ChargeHistory(analyst, event, time, self.history))

    def close(self, reservation: Reservation, time: str, *, abandoned: bool) -> Account:
        """Return the account after a reservation that is no longer open, with what it used.

        Its parts were chosen one after another, so they are not charged as one event. Of one that was
        abandoned, all is counted that was reserved.
        """
        event = reservation.event if abandoned else reservation.spent
        return self._spend(
            ChargeHistory(
                reservation.analyst, event, time, self.history, reservation.counted, reservation.event
            )
        )

    def _spend(self, charge: ChargeHistory) -> Account:
        return replace(
            self._count(charge),
            lifetime=self.lifetime.add(charge.event),
            charges=self.charges + 1,
            history=charge,
        )

    def _count(self, charge: ChargeHistory) -> Account:
        """Count a charge in this period."""
        assert self.whole is not None  # noqa: S101
        analysts, each = dict(self.analysts), self.caps.per_analyst
        if each is not None:
            analysts[charge.analyst] = charge.counted_in(analysts.get(charge.analyst) or each.filter())
        return replace(
            self,
            whole=charge.counted_in(self.whole),
            analysts=MappingProxyType(analysts),
            current=self.current.add(charge.event),
        )

    def renewed(self, period: str) -> Account:
        """Return the account at the start of a period."""
        return replace(
            self,
            period=period,
            whole=self.caps.filter(),
            analysts=MappingProxyType({}),
            current=Odometer(neighbors=self.caps.neighbors),
        )

    def amended(self, tables: Mapping[str, object], budget: Budget, time: str) -> Account:
        """Return the account under other declarations.

        All charges of the period that the new caps are in count against them; if they never renew, all
        earlier charges.

        Raises
        ------
        BudgetExceeded
            If more was spent, or is reserved, than the new caps allow.
        ParameterError
            If the new caps are about another neighbor relation.
        """
        if budget.neighbors != self.caps.neighbors:
            raise ParameterError("budget", "has another neighbor relation", "the one of the ledger")
        period = period_of(budget, time)
        changed = replace(self, tables=tables, budget=budget).renewed(period)
        try:
            for charge in reversed(list(self._charges())):
                if period_of(budget, charge.time) == period:
                    changed = changed._count(charge)
            changed.filter_of()
            for reservation in self.reserved.values():
                changed.check_covered(reservation, recorded=True)
        except BudgetExceeded as refusal:
            raise BudgetExceeded(f"the new caps are below what was already spent: {refusal}") from None
        return changed

    def _charges(self) -> Iterator[ChargeHistory]:
        node = self.history
        while node is not None:
            yield node
            node = node.before


def period_of(budget: Budget, time: str) -> str:
    """Return the first day of the period of a budget that a time lies in; empty if it never renews."""
    return "" if budget.renews is None else budget.renews.of(time)
