"""The odometer: what was spent so far, as a reading.

A budget that is fixed in advance (a filter) gives a guarantee. A running total does not: whoever chooses
when to look, or what to ask next, by the answers so far, makes the total itself depend on
the data. Rogers, Roth, Ullman & Vadhan (2016) show that for (epsilon, delta) the two differ
in substance, not only in words.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from discreet.accounting.filters.base import short_total
from discreet.accounting.filters.conversion import epsilon_above
from discreet.accounting.filters.cost import concentrated_rate, cost_of, pure_rate
from discreet.accounting.filters.scalar import small
from discreet.errors import ParameterError
from discreet.privacy.decimals import show_above
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import float_above
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["Odometer", "Reading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an odometer shows: no guarantee, unless everything that was run had been fixed in advance.

    Attributes
    ----------
    epsilon : float
        Rounded up; infinity if no bound is known at this delta.
    delta : Fraction
        The delta at which it was read.
    neighbors : Neighbors
        The relation.
    label : str
        What it is.
    """

    epsilon: float
    delta: Fraction
    neighbors: Neighbors
    label: str = "a reading, not a guarantee: only the cap of a filter is one"

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:.6g} at delta {show_above(self.delta)} ({self.label})"


@dataclass(frozen=True, slots=True, init=False)
class Odometer(Record):
    """A running total of events, as pure and as zero-concentrated loss.

    The pure total has one property that a filter does not need: without deltas, the realized loss
    log P(answers) / Q(answers) is never above it, whenever one looks (docs/proofs/filters.md, lemma 6).

    Parameters
    ----------
    neighbors : Neighbors
        The relation, the same for every event.
    """

    neighbors: Neighbors
    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction

    def __init__(self, *, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        none = Fraction(0)
        self._set(neighbors=check_relation(neighbors), epsilon=none, rho=none, delta=none)

    def add(self, event: Event) -> Odometer:
        """Return the odometer after an event. Nothing is ever refused but another relation."""
        if not isinstance(event, Event):
            raise ParameterError("event", "is not an event", "an Event")
        relation = event.neighbors
        if relation is not None and relation != self.neighbors:
            raise ParameterError(
                "event", f"holds under '{relation}': relations do not mix", f"under '{self.neighbors}'"
            )
        epsilon, delta = cost_of(event, pure_rate, 2)
        rho, _ = cost_of(event, concentrated_rate, 2)
        return self._with(
            epsilon=None if self.epsilon is None or epsilon is None else short_total(self.epsilon + epsilon),
            rho=None if self.rho is None or rho is None else short_total(self.rho + rho),
            delta=short_total(self.delta + (delta or 0)),
        )

    def read(self, delta: Number) -> Reading:
        """Return the least epsilon at a delta that the totals imply: the pure sum, or rho converted.

        Parameters
        ----------
        delta : number
            At least 0 and below 1; what the events' own deltas leave of it pays for the conversion.
        """
        whole = small(delta, "delta")
        found = inf
        if whole >= self.delta:
            if self.epsilon is not None:
                found = float_above(self.epsilon)
            if self.rho is not None:
                found = min(found, epsilon_above(self.rho, whole - self.delta))
        return Reading(epsilon=found, delta=whole, neighbors=self.neighbors)
