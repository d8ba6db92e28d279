"""Budget that is reserved for trusted code: what may be used of it, and what that counts as.

A reservation in numbers is a promise in both directions. To the owner: all that is used of it keeps these
numbers. To its holder: what keeps them may be used, whatever anybody else spends meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from fractions import Fraction
from types import MappingProxyType

from discreet.accounting.filters.base import Filter
from discreet.accounting.filters.cost import FilterCost, concentrated_rate, cost_of
from discreet.accounting.filters.scalar import ZeroConcentratedFilter
from discreet.accounting.filters.tight import TightFilter, are_steps, tight_cost
from discreet.errors import BudgetExceeded, ParameterError
from discreet.privacy.decimals import show_above
from discreet.privacy.events import Approximate, Composed, Event, Pure, ZeroConcentrated, compose
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import show
from discreet.records import dataclass

__all__ = ["BegunRun", "Reservation"]

_NOTHING = compose(())
"""What the later steps of a run count as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunRun:
    """A run that was fixed in advance and is charged step by step: all of it counts from its first step.

    Attributes
    ----------
    event : Event
        All of it.
    taken : Event
        The steps that were charged, together.
    charges : int
        How many charges that were.
    last : int
        Which use of the reservation the last of them was.
    """

    event: Event
    taken: Event
    charges: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Budget reserved for trusted code, and what that code has used of it.

    Attributes
    ----------
    analyst : str
        Whose share pays.
    event : Event
        What is reserved.
    purpose : str
        For the record.
    used : tuple of Event
        What was run, one after another.
    priced : mapping
        What some of these count as instead, by their place in `used`: one event each, or nothing where a step
        is counted with its run.
    runs : mapping
        Runs that were begun, by the place in `used` of their first step.
    together : Event
        All that was used, as one event.
    """

    analyst: str
    event: Event
    purpose: str = ""
    used: tuple[Event, ...] = ()
    priced: Mapping[int, Event] = field(default_factory=dict)
    runs: Mapping[int, BegunRun] = field(default_factory=dict)
    together: Event = _NOTHING

    @property
    def spent(self) -> Event:
        """What was used, as one event."""
        return self.together

    @property
    def counted(self) -> tuple[Event, ...]:
        """What was used, as filters count it: steps of a run together, which cost as much as one by one."""
        if isinstance(self.event, Composed) and self.used:
            return (self.together,)
        found = (self.priced.get(place, event) for place, event in enumerate(self.used))
        return tuple(one for one in found if one is not _NOTHING)

    @property
    def in_numbers(self) -> bool:
        """Whether epsilon, delta or rho was reserved, and not a certain run."""
        return isinstance(self.event, Pure | Approximate | ZeroConcentrated)

    def with_use(self, event: Event, counted: Event | None = None) -> Reservation:
        """Return the reservation after one more use, which counts as itself if nothing else is given."""
        self._check_relation(event)
        priced = self.priced if counted is None or counted == event else self._priced(counted)
        return replace(self, used=(*self.used, event), priced=priced, together=self.together + event)

    def with_step(self, event: Event, *, run: Event, counted: Event, first: int | None = None) -> Reservation:
        """Return the reservation after a step of a run.

        Parameters
        ----------
        event, run : Event
            The step, and the run.
        counted : Event
            What the run counts as, from its first step on.
        first : int, optional
            Which use was the first step of the run. By default this is the first one.

        Raises
        ------
        BudgetExceeded
            If the run does not have this step, or not once more.
        """
        self._check_relation(event)
        self._check_relation(run)
        place = len(self.used)
        before = None if first is None else self.runs[first]
        taken = event if before is None else before.taken + event
        if not are_steps([taken], run):
            raise BudgetExceeded("the run does not have this step, or not once more")
        charges = 1 if before is None else before.charges + 1
        begun = BegunRun(event=run, taken=taken, charges=charges, last=place)
        runs = MappingProxyType({**self.runs, place if first is None else first: begun})
        priced = self._priced(counted if before is None else _NOTHING)
        after = replace(self, used=(*self.used, event), priced=priced, runs=runs)
        return replace(after, together=self.together + event)

    def _check_relation(self, event: Event) -> None:
        """Refuse an event of another relation, which does not keep the numbers that it would count as."""
        relations = event.neighbors, self.event.neighbors
        if None not in relations and relations[0] != relations[1]:
            raise ParameterError(
                "event", f"holds under '{relations[0]}': relations do not mix", f"under '{relations[1]}'"
            )

    @staticmethod
    def is_ended(run: BegunRun) -> bool:
        """Return whether all steps of a run were charged."""
        return are_steps([run.event], run.taken)

    def _priced(self, counted: Event) -> Mapping[int, Event]:
        return MappingProxyType({**self.priced, len(self.used): counted})

    def price(self, event: Event) -> Event:
        """Return numbers of the kind that is reserved which a use keeps; the event itself if none are known.

        Of (epsilon, delta), the point of its curve that takes the same share of both; if that is more than is
        left, the point that takes the same share of what is left. The choice depends on the event, the
        reservation and what was used before (docs/proofs/filters.md, lemma 14).
        """
        if isinstance(self.event, ZeroConcentrated):
            rho, own = cost_of(event, concentrated_rate, 2)
            return event if rho is None or own else self.event._with(rho=rho)
        if not isinstance(self.event, Pure | Approximate):
            return event
        own_filter = self._own_filter()
        assert own_filter is not None  # noqa: S101
        limits = tuple(own_filter.limits.values())
        spent = own_filter.cost(*self.counted, within=self.event)
        left = tuple(max(most - (one or 0), Fraction(0)) for most, one in zip(limits, spent, strict=True))
        tries = [tight_cost(event, *limits), tight_cost(event, *left)]
        price = next((one for one in tries if _is_within(one, left)), tries[0])
        epsilon, delta = price
        return _numbers(epsilon, delta, self.event.neighbors) or event

    def check_numbers(self, *, recorded: bool = False) -> None:
        """Refuse a reservation in numbers of which more is used than these numbers.

        Raises
        ------
        BudgetExceeded
            Naming what it would cost in all.
        """
        own = self._own_filter()
        if own is None or own.covers(self.event, self.counted, recorded=recorded):
            return
        total = own.cost(*self.counted, within=self.event)
        asked = [
            f"{name} {'without a bound' if cost is None else show_above(cost)} of {show(limit)}"
            for (name, limit), cost in zip(own.limits.items(), total, strict=True)
            if limit or cost != Fraction(0)
        ]
        raise BudgetExceeded(
            f"the permit does not cover it: with this it would have spent {' and '.join(asked)}; "
            "reserve more, or run less"
        )

    def _own_filter(self) -> Filter | None:
        """Return a filter of what is reserved alone; None for a certain run."""
        one = self.event
        if isinstance(one, ZeroConcentrated):
            return ZeroConcentratedFilter(one.rho, neighbors=one.neighbors)
        if isinstance(one, Pure | Approximate):
            delta = one.delta if isinstance(one, Approximate) else 0
            return TightFilter(one.epsilon, delta=delta, neighbors=one.neighbors)
        return None


def _numbers(epsilon: Fraction | None, delta: Fraction | None, neighbors: Neighbors) -> Event | None:
    """Return the event of an epsilon and a delta; None without a bound."""
    if epsilon is None or delta is None:
        return None
    if not delta:
        return Pure(epsilon=epsilon, neighbors=neighbors)
    return Approximate(epsilon=epsilon, delta=delta, neighbors=neighbors)


def _is_within(cost: FilterCost, limits: tuple[Fraction, ...]) -> bool:
    return all(one is not None and one <= most for one, most in zip(cost, limits, strict=True))
