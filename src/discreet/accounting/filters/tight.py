"""A filter of epsilon and delta in which a run fixed in advance costs what the tight accountant says."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, ClassVar

from discreet.accounting.filters.base import RECORDED, Filter
from discreet.accounting.filters.conversion import epsilon_above
from discreet.accounting.filters.cost import (
    FilterCost,
    Rate,
    concentrated_rate,
    cost_of,
    pure_rate,
    total_cost,
)
from discreet.accounting.filters.scalar import small
from discreet.errors import ParameterError
from discreet.privacy.decimals import show_above, show_below
from discreet.privacy.events import Composed, Event, Parallel, ZeroConcentrated
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import non_negative
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["TightFilter", "are_steps", "tight_cost"]

_SMALL = Fraction(1, 64)
"""Requests below this share are priced by quick bounds, so that the slow curve is asked for at most some
seventy times before the filter is used up."""
_LEAST = 20  # shares go down to 2^-20
_SHARES = tuple(Fraction(round(2 ** (20 - k / 4)), 2**20) for k in range(4 * _LEAST, -1, -1))
_WORTH = Fraction(3, 2)
"""A bounded loss is counted without delta unless the curve asks for less than two thirds of it."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TightFilter(Filter):
    """A limit on the sum of epsilons and one on the sum of deltas, each event with its tight pair.

    An event is everything that is admitted at once, with all its parameters: a whole training run, or all
    noise of one request. Of its curve of (epsilon, delta), the point is charged that takes about the same
    share of both limits: `tight_cost`. The choice depends on the event and the limits alone.

    Guarantee
    ---------
    All answers together are (epsilon, delta)-differentially private (docs/proofs/filters.md, theorem 1, with
    lemma 10 for steps of a run).

    Parameters
    ----------
    epsilon : number
        The budget, 0 or greater.
    delta : number
        The budget of delta, below 1: for the curves, and for events that carry their own delta.
    neighbors : Neighbors
        The relation, the same for every event.
    """

    measure: ClassVar[str] = "finite epsilon at this delta"
    title: ClassVar[str] = "tight"
    drift: ClassVar[Fraction] = RECORDED

    def __init__(self, epsilon: Number, *, delta: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._fill(neighbors, (non_negative(epsilon, "epsilon"), small(delta, "delta")))

    @property
    def names(self) -> tuple[str, ...]:
        """Epsilon and delta."""
        return "epsilon", "delta"

    @property
    def _rate(self) -> Rate:
        return pure_rate

    def cost(self, *events: Event, within: Event | None = None) -> FilterCost:
        """Return the sum of the events' own pairs; or, where they are steps of a run, that of the run.

        What is run of a reservation is counted in one of two ways, and which one depends on the reservation
        alone: were it chosen by what was run, each way would need a share of delta. Of a composed one, only
        its steps may be run, in any order, ended at any time; all of that costs as much as the whole
        (docs/proofs/filters.md, lemma 10). Of a rho, all parts of it cost as much as the whole (lemma 14).
        Of any other, pairs are added up that are chosen to suit it.
        """
        if within is None or not events:
            return Filter.cost(self, *events)
        whole = self._cost_of_one(self._checked(within))
        if isinstance(within, Composed):
            return whole if are_steps(events, within) else (None, None)
        if isinstance(within, ZeroConcentrated):
            rho, own = total_cost([cost_of(self._checked(one), concentrated_rate, 2) for one in events], 2)
            if rho is None or own != 0:
                return None, None
            return whole if rho <= within.rho else self._cost_of_one(within._with(rho=rho))
        epsilon, delta = whole
        if epsilon is None or delta is None:
            return None, None
        return total_cost([tight_cost(self._checked(one), epsilon, delta) for one in events], 2)

    def _cost_of_one(self, event: Event) -> FilterCost:
        return tight_cost(event, *self._limits)

    @property
    def guarantee(self) -> ApproximateDP:
        """What the limits promise about all answers together."""
        epsilon, delta = self._limits
        return ApproximateDP(epsilon=epsilon, delta=delta, neighbors=self.neighbors)

    @property
    def largest_epsilon(self) -> Fraction:
        """The largest pure epsilon that the next event may have."""
        return self._left[0]

    def _would_fit(self) -> str:
        epsilon, delta = map(show_below, self._left)
        return f"epsilon {epsilon} at a delta of at most {delta}"

    def _refusal(self, event: Event, cost: FilterCost) -> str:
        names = zip(self.names, cost, self._left, strict=True)
        asked = [f"{name} {show_above(one)}" for name, one, left in names if one is not None and one > left]
        what = " and ".join(asked) or f"more than any {self.measure}"
        return f"it asks for {what}; {self._would_fit()} would fit"


@lru_cache(maxsize=4096)
def tight_cost(event: Event, epsilon: Fraction, delta: Fraction) -> FilterCost:
    """Return an (epsilon, delta) that an event keeps, chosen to suit limits on both.

    A share s on a grid is sought, nearly the least, for which the event is (s epsilon, s delta)-private, and
    what it costs is its epsilon at s delta. A bounded loss is charged without a delta, unless the curve is
    far below.

    Parameters
    ----------
    event : Event
        Simple, composed or parallel, with all parameters fixed in advance.
    epsilon, delta : Fraction
        The limits.

    Returns
    -------
    Cost
        (epsilon, delta); more than the limits where no point of the curve lies within, None if none is
        known.
    """
    simple = cost_of(event, pure_rate, 2)
    pure = simple[0]
    if pure is not None and (not isinstance(event, Composed | Parallel) or pure <= _SMALL * epsilon):
        return simple
    if delta == 0:
        return simple
    curve = _curve_of(event, epsilon, delta)
    most = curve(_SHARES[-1])
    if most is None or most > epsilon:
        return simple if pure is not None else (most, delta)
    # Epsilon grows slowly as delta falls: the share lies a little above that which `most` would need.
    place, stride, found = bisect_left(_SHARES, most / epsilon if epsilon else 1), 1, most
    while place < len(_SHARES) - 1:
        here = curve(_SHARES[place])
        if here is not None and here <= _SHARES[place] * epsilon:
            found = here
            break
        place, stride = min(place + stride, len(_SHARES) - 1), 2 * stride
    if pure is not None and pure <= _WORTH * found:
        return simple
    return found, _SHARES[place] * delta


def are_steps(events: Iterable[Event], run: Event) -> bool:
    """Return whether events are steps of a run, none of them more often than the run has it."""
    asked: Counter[Event] = Counter()
    for event in events:
        asked.update(_parts(event))
    return asked <= _parts(run)


def _parts(event: Event) -> Counter[Event]:
    return Counter(dict(event.parts) if isinstance(event, Composed) else {event: 1})


def _curve_of(event: Event, epsilon: Fraction, delta: Fraction) -> Callable[[Fraction], Fraction | None]:
    """Return the epsilon at a share of delta: tight; or by rho, for an event that is small or has no pair."""
    rho, own = cost_of(event, concentrated_rate, 2)

    def by_rho(share: Fraction) -> Fraction | None:
        if rho is None or own is None or own >= share * delta:
            return None
        return Fraction(epsilon_above(rho, share * delta - own))

    def tight(share: Fraction) -> Fraction | None:
        from discreet.accounting import epsilon_and_delta as tight

        try:
            upper = tight.epsilon(event, delta=share * delta).upper
        except ParameterError:  # an event that it does not know
            return None
        return Fraction(upper) if isfinite(upper) else None

    quick = by_rho(_SMALL)
    if quick is not None and quick <= _SMALL * epsilon:
        return by_rho
    return by_rho if rho is not None and not _has_pairs(event) else tight


def _has_pairs(event: Event) -> bool:
    """Return whether the tight accountant knows more of an event than its Rényi divergences."""
    from discreet.accounting.loss import pair_of
    from discreet.accounting.runs.scenarios import scenarios

    ways = scenarios(event)
    return ways is not None and all(pair_of(leaf) is not None for leaves in ways for leaf, _ in leaves)
