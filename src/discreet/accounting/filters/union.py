"""The union of filters: one may go on as long as everything so far fits one of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.accounting.filters.base import RECORDED, WHOLE, Filter
from discreet.accounting.filters.conversion import renyi_epsilon_above
from discreet.accounting.filters.cost import FilterCost, larger
from discreet.accounting.filters.renyi import RenyiFilter
from discreet.accounting.filters.scalar import small
from discreet.accounting.filters.shares import members_for
from discreet.accounting.filters.tight import TightFilter
from discreet.errors import BudgetExceeded, ParameterError
from discreet.privacy.decimals import show_below
from discreet.privacy.events import Event
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import float_above, non_negative, show
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["UnionFilter"]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class UnionFilter(Record):
    """Several filters, of which some one must hold everything that was run.

    Which one may depend on the answers. A member whose limits were passed is dead and stays so, because what
    was run cannot be undone. What is merely reserved is counted on top, each time again.

    Guarantee
    ---------
    Let each member keep (epsilon, delta_j) by itself. Then all answers together are (epsilon, sum of
    delta_j)-private: the transcripts are divided by the first member that holds them, and on each
    part the interaction is the one that this member would have stopped (docs/proofs/filters.md, theorem 11).

    Parameters
    ----------
    epsilon, delta : number
        What the members keep together.
    members : iterable of Filter
        With nothing spent, each valid for its share of delta; by default those of `members_for`.
    neighbors : Neighbors
        The relation, the same for every event.
    """

    neighbors: Neighbors
    epsilon: Fraction
    delta: Fraction
    members: tuple[Filter | None, ...]

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        *,
        members: Iterable[Filter] | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        whole, share = non_negative(epsilon, "epsilon"), small(delta, "delta")
        if members is None and share == 0:
            raise ParameterError("delta", "is 0: epsilons alone can be counted", "above 0; or a PureFilter")
        made = members_for(whole, share, neighbors) if members is None else tuple(members)
        if not made or not all(isinstance(one, Filter) and one.neighbors == neighbors for one in made):
            raise ParameterError("members", "are not filters of this relation", "one Filter or more")
        self._set(neighbors=neighbors, epsilon=whole, delta=share, members=made)

    @property
    def guarantee(self) -> ApproximateDP:
        """What the members promise together about all answers."""
        return ApproximateDP(epsilon=self.epsilon, delta=self.delta, neighbors=self.neighbors)

    @property
    def alive(self) -> tuple[Filter, ...]:
        """The members that hold everything so far, or miss it by no more than bounds of versions differ."""
        return tuple(one for one in self.members if one is not None)

    @property
    def largest_epsilon(self) -> Fraction:
        """A pure epsilon that the next event may have: the most that some member says."""
        held = (one for one in self.alive if one.holds(_nothing(one)))
        lefts = (getattr(one, "largest_epsilon", Fraction(0)) for one in held)
        return max(lefts, default=Fraction(0))

    def costs(self, *events: Event, within: Event | None = None) -> Iterator[tuple[Filter, FilterCost]]:
        """Return each living member with what events, run one after another, cost by it."""
        return ((one, one.cost(*events, within=within)) for one in self.alive)

    def readings(self, most: Fraction) -> Iterator[tuple[float, Fraction]]:
        """Return pairs of epsilon and delta that what was counted so far keeps, by one member or another.

        They are readings, not guarantees; but while some member holds everything, none is needed above the
        epsilon of the whole.

        Parameters
        ----------
        most : Fraction
            The largest delta of interest: pairs of a larger one are not computed.
        """
        for one in self.alive:
            if isinstance(one, TightFilter):
                epsilon, delta = one.spent.values()
                if delta <= most:
                    yield float_above(epsilon), delta
            elif isinstance(one, RenyiFilter) and self.delta <= most:
                *totals, own = one.spent.values()
                rest = max(self.delta - own, Fraction(0))
                yield min(map(renyi_epsilon_above, one.orders, totals, [rest] * len(totals))), self.delta
        if self.delta <= most and self.fits():
            yield float_above(self.epsilon), self.delta

    def fits(self, *events: Event) -> bool:
        """Return whether `spend` would accept events."""
        return any(one.holds(cost) for one, cost in self.costs(*events))

    def remaining(self, *events: Event) -> int:
        """Return how many runs of events fit by the member that holds the most of them."""
        return max((one.remaining(*events) for one in self.alive), default=0)

    def spend(self, *events: Event, within: Event | None = None) -> UnionFilter:
        """Return the filter after events that were chosen freely, after all answers so far.

        Raises
        ------
        BudgetExceeded
            If no member holds them with all that was run before; nothing is spent.
        """
        return self._after([one.cost(*events, within=within) for one in self.alive], WHOLE)

    def spend_recorded(self, *events: Event, within: Event | None = None) -> UnionFilter:
        """Return the filter after events that were admitted earlier, perhaps by bounds below today's.

        A member stays that misses it by no more than such bounds differ, even where another holds it: it may
        be the one that admitted what comes next. Nothing new fits a member that is above its limits.
        """
        return self._after([one.cost(*events, within=within) for one in self.alive], RECORDED)

    def reserve(self, event: Event, used: tuple[Event, ...]) -> UnionFilter:
        """Return the filter with a reservation counted, of which a part may have been used.

        Each member counts what was reserved or what was used, whichever is more, entry by entry.
        """
        kept = [one.cost(event) for one in self.alive]
        done = [one.cost(*used, within=event) for one in self.alive]
        return self._after([larger(a, b) for a, b in zip(kept, done, strict=True)], RECORDED)

    def covers(self, event: Event, used: tuple[Event, ...], *, recorded: bool = False) -> bool:
        """Return whether some member that holds a reservation counts no more for what was used of it."""
        most = RECORDED if recorded else WHOLE
        held = (one for one in self.alive if one.holds(_nothing(one), most))
        return any(one.covered(event, used, most) for one in held)

    def nearest(self, *events: Event) -> Filter:
        """Return the member that comes closest to holding events, or holds the most of them."""
        return max(self.alive, key=lambda one: _ease(one, one.cost(*events)), default=self._first)

    @property
    def _first(self) -> Filter:
        return members_for(self.epsilon, self.delta, self.neighbors)[0]

    def _after(self, costs: list[FilterCost], most: Fraction) -> UnionFilter:
        found = [one.charged(cost, most) for one, cost in zip(self.alive, costs, strict=True)]
        if not any(found):
            raise BudgetExceeded(
                "it fits none of the ways in which the budget counts; a pure epsilon of at most "
                f"{show_below(self.largest_epsilon)} would fit"
            )
        left = iter(found)
        return self._with(members=tuple(None if one is None else next(left) for one in self.members))

    def to_json(self) -> str:
        """Write the members, with what was spent; null for those that are dead."""
        return json.dumps(self.to_object(), sort_keys=True, separators=(",", ":"))

    def to_object(self) -> dict[str, object]:
        """Return what `to_json` writes, as plain values."""
        return {
            "filter": "UnionFilter",
            "neighbors": str(self.neighbors),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "members": [None if one is None else one.to_object() for one in self.members],
        }

    def __repr__(self) -> str:
        delta = f", delta {show(self.delta)}"
        return f"<UnionFilter: epsilon {show(self.epsilon)}{delta}; {', '.join(map(repr, self.alive))}>"


def _nothing(one: Filter) -> FilterCost:
    return (Fraction(0),) * len(one.limits)


def _ease(one: Filter, cost: FilterCost) -> tuple[bool, Fraction]:
    """Return how many times a cost fits what is left, not rounded; those that cannot price it come last."""
    lefts = zip(cost, one.left.values(), strict=True)
    known = [(entry, left) for entry, left in lefts if entry is not None]
    if len(known) < len(cost):
        return False, Fraction(0)
    ratios = [left / entry for entry, left in known if entry]
    return True, min(ratios, default=Fraction(10**18))
