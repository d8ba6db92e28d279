"""The filter: a budget that is never exceeded, for any questions and anyone who chooses them.

A filter is a frozen value that holds its limits and what was spent, never the events, so that its
size does not grow with the number of requests. Each kind of filter says what an event costs and
proves that the sum of costs may be limited adaptively (docs/proofs/filters.md).
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Self, cast

from discreet.accounting.filters.cost import FilterCost, Rate, cost_of, larger, total_cost, unpriced
from discreet.errors import BudgetExceeded, ParameterError
from discreet.privacy.decimals import show_above, show_below
from discreet.privacy.events import Composed, Event, compose
from discreet.privacy.neighbors import Neighbors, check_relation
from discreet.privacy.rational import show
from discreet.records import Record, dataclass

__all__ = ["Filter"]

MOST_REMAINING = 10**18
WHOLE = Fraction(1)
_ZERO = Fraction(0)
RECORDED = 1 + Fraction(1, 64)
"""Certified bounds of another version may differ by a little from those of today, which must not make a
ledger unreadable: what was admitted then is counted now, up to this much above a limit."""
_MOST_BITS, _KEPT_BITS = 4096, 2048  # far apart, so that few sums are rounded
_MOST_SHOWN = 200
_FRACTION = re.compile(r"[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
_ALLOWED = "what Filter.to_json wrote"

_kinds: dict[str, type[Filter]] = {}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Filter(Record, ABC):
    """A budget under full adaptivity; see the kinds of filter for what is limited.

    Guarantee
    ---------
    Let every request be chosen by anyone who has seen all answers before it, and be run only if `spend`
    returned. Then all answers together, however many, keep the guarantee that the limits name.

    Finite precision
    ----------------
    Limits, costs and sums are exact fractions, and so are comparisons. Only when a sum has a denominator
    of more than 4096 bits, it is rounded up, by less than 2^-2048, and never above its limit.
    """

    neighbors: Neighbors
    _limits: tuple[Fraction, ...]
    _totals: tuple[Fraction, ...]

    measure: ClassVar[str]
    """What an event must have, to be charged, in words."""

    title: ClassVar[str]
    """The name of the way to count, in a word."""

    drift: ClassVar[Fraction] = WHOLE
    """How far above its limits recorded events may be: not at all where prices are exact."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        _kinds[cls.__name__] = cls  # a slotted dataclass is made twice; the second one stays

    def _fill(self, neighbors: Neighbors, limits: tuple[Fraction, ...], **others: object) -> None:
        totals = (Fraction(0),) * len(limits)
        self._set(neighbors=check_relation(neighbors), _limits=limits, _totals=totals, **others)

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What is limited, one name for each limit."""

    @property
    @abstractmethod
    def _rate(self) -> Rate:
        """What one simple event costs."""

    @abstractmethod
    def _would_fit(self) -> str:
        """What would still fit, in words."""

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """The budget, by name."""
        return dict(zip(self.names, self._limits, strict=True))

    @property
    def spent(self) -> Mapping[str, Fraction]:
        """What was spent, by name. A reading: only the limits are a guarantee."""
        return dict(zip(self.names, self._totals, strict=True))

    @property
    def left(self) -> Mapping[str, Fraction]:
        """What is left, by name."""
        return dict(zip(self.names, self._left, strict=True))

    @property
    def _left(self) -> tuple[Fraction, ...]:
        pairs = zip(self._limits, self._totals, strict=True)
        return tuple(max(limit - total, _ZERO) for limit, total in pairs)

    def cost(self, *events: Event, within: Event | None = None) -> FilterCost:
        """Return what events, run one after another, cost, in the order of `names`.

        Parameters
        ----------
        *events : Event
            Each chosen after the answers of those before it.
        within : Event, optional
            A run that was fixed in advance, of which these are steps; only `TightFilter` makes use of it.

        Returns
        -------
        Cost
            None if no finite bound is known.

        Raises
        ------
        ParameterError
            For an event under another neighbor relation: costs of different relations do not mix.
        """
        del within
        costs = [self._cost_of_one(self._checked(event)) for event in events]
        return costs[0] if len(costs) == 1 else total_cost(costs, len(self._limits))

    def _cost_of_one(self, event: Event) -> FilterCost:
        return cost_of(event, self._rate, len(self._limits))

    def _checked(self, event: Event) -> Event:
        if not isinstance(event, Event):
            raise ParameterError("event", "is not an event", "an Event")
        relation = event.neighbors
        if relation is not None and relation != self.neighbors:
            raise ParameterError(
                "event", f"holds under '{relation}': relations do not mix", f"under '{self.neighbors}'"
            )
        return event

    def spend(self, *events: Event, within: Event | None = None) -> Self:
        """Return the filter after events.

        Parameters
        ----------
        *events : Event
            What is about to be run. Chosen freely, after all answers so far; if several, they are admitted
            together and run one after another.
        within : Event, optional
            As for `cost`.

        Raises
        ------
        BudgetExceeded
            If they would cost more than is left; nothing is spent.
        """
        cost = self.cost(*events, within=within)
        after = self.charged(cost)
        if after is None:
            raise BudgetExceeded(self._refusal(compose(events), cost))
        return after

    def charged(self, cost: FilterCost, most: Fraction = WHOLE) -> Self | None:
        """Return the filter after a cost; None if that is more than `most` times the limits allow."""
        totals = []
        for limit, total, entry in zip(self._limits, self._totals, cost, strict=True):
            if entry is None or _exceeds(after := total + entry, limit if most is WHOLE else limit * most):
                return None
            totals.append(after if _is_short(after) else min(short_total(after), max(after, limit)))
        return self._with(_totals=tuple(totals))

    def fits(self, *events: Event) -> bool:
        """Return whether `spend` would accept events."""
        return self.holds(self.cost(*events))

    def holds(self, cost: FilterCost, most: Fraction = WHOLE) -> bool:
        """Return whether so much is left of `most` times the limits."""
        return all(
            entry is not None and total + entry <= limit * most
            for limit, total, entry in zip(self._limits, self._totals, cost, strict=True)
        )

    def spend_recorded(self, *events: Event, within: Event | None = None) -> Self:
        """Return the filter after events that were admitted earlier, perhaps by bounds below today's.

        Where that is more than the limits, by no more than bounds differ, nothing else fits.
        """
        return self._recorded(self.cost(*events, within=within), compose(events))

    def reserve(self, event: Event, used: tuple[Event, ...]) -> Self:
        """Return the filter with a reservation counted, or what was used of it, entry by entry."""
        return self._recorded(larger(self.cost(event), self.cost(*used, within=event)), event)

    def covers(self, event: Event, used: tuple[Event, ...], *, recorded: bool = False) -> bool:
        """Return whether all that was used costs no more than what was reserved, by every measure.

        What is `recorded` was admitted earlier, perhaps by bounds below today's.
        """
        return self.covered(event, used, self.drift if recorded else WHOLE)

    def covered(self, event: Event, used: tuple[Event, ...], most: Fraction) -> bool:
        """Return whether all that was used costs at most `most` times what was reserved, in every entry."""
        costs = zip(self.cost(*used, within=event), self.cost(event), strict=True)
        return all(one is not None and whole is not None and one <= whole * most for one, whole in costs)

    def _recorded(self, cost: FilterCost, event: Event) -> Self:
        after = self.charged(cost, self.drift)
        if after is None:
            raise BudgetExceeded(self._refusal(event, cost))
        return after

    def nearest(self, *events: Event) -> Filter:
        """Return this filter: it has no members to choose among."""
        del events
        return self

    def remaining(self, *events: Event) -> int:
        """Return the largest n, at most 10^18, for which n runs of events fit, in any order."""
        most = MOST_REMAINING if self.holds((_ZERO,) * len(self._limits)) else 0
        for left, entry in zip(self._left, self.cost(*events), strict=True):
            if entry is None:
                return 0
            if entry:
                most = min(most, max(math.floor(left / entry), 0))
        return most

    def to_json(self) -> str:
        """Write the filter, with what was spent, as canonical JSON: keys sorted, fractions as "p/q"."""
        return json.dumps(self.to_object(), sort_keys=True, separators=(",", ":"))

    def to_object(self) -> dict[str, object]:
        """Return what `to_json` writes, as plain values."""
        return {
            "neighbors": str(self.neighbors),
            "spent": [str(total) for total in self._totals],
            **self.description,
        }

    @staticmethod
    def from_json(text: str) -> Filter:
        """Read a filter of any kind that `to_json` wrote."""
        try:
            content = json.loads(text, object_pairs_hook=_without_duplicates, parse_float=_no_float)
        except (TypeError, ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or not isinstance(content.get("spent"), list):
            raise ParameterError("text", "is not a stored filter", _ALLOWED)
        relation, spent = (content.pop(name, None) for name in ("neighbors", "spent"))
        fresh = Filter.described(content, Neighbors.from_text(cast("str", relation)))
        totals = tuple(_read_fraction(total) for total in spent)
        if len(totals) != len(fresh._limits) or any(map(Fraction.__gt__, totals, fresh._limits)):
            raise ParameterError("spent", "does not lie within the limits", _ALLOWED)
        return fresh._with(_totals=totals)

    @property
    def description(self) -> dict[str, object]:
        """The kind of filter and its limits, in words of JSON; without what was spent, and the relation."""
        return {"filter": type(self).__name__, **self._parameters()}

    @staticmethod
    def described(description: Mapping[str, object], neighbors: Neighbors) -> Filter:
        """Return the filter of a description, with nothing spent."""
        content = dict(description)
        kind = content.pop("filter", None)
        if not isinstance(kind, str) or kind not in _kinds:
            raise ParameterError("filter", "has an unknown name", f"one of {sorted(_kinds)}")
        try:
            return _kinds[kind](neighbors=neighbors, **content)  # type: ignore[call-arg]
        except TypeError:
            raise ParameterError("text", "has other fields than its filter", _ALLOWED) from None

    def _parameters(self) -> dict[str, object]:
        """Return what the constructor takes, except for the relation, in words of JSON."""
        return {name: str(limit) for name, limit in self.limits.items()}

    def _refusal(self, event: Event, cost: FilterCost) -> str:
        """Say what was asked, what is left and what would fit. Events hold public facts only."""
        part = unpriced(event, self._rate)
        if part is not None:
            return (
                f"{_cut(part)} has no {self.measure}, which this budget counts; {self._would_fit()} would fit"
            )
        asked = [
            f"{name} {show_above(entry)} where {show_below(left)} of {show_below(limit)} is left"
            for name, entry, left, limit in zip(self.names, cost, self._left, self._limits, strict=True)
            if entry is not None and entry > left
        ]
        fit = self._would_fit()
        if isinstance(event, Composed) and len(event.parts) == 1:
            run, times = event.parts[0]
            fit = f"{self.remaining(run)} of the {times} runs, or {fit}"
        return f"{_cut(event)} asks for {' and '.join(asked)}; {fit} would fit"

    def __repr__(self) -> str:
        amounts = (
            f"{name}={show_above(total)} of {show(limit)}"
            for name, total, limit in zip(self.names, self._totals, self._limits, strict=True)
        )
        return f"<{type(self).__name__}: spent {', '.join(amounts)}; {self.neighbors}>"


def _exceeds(total: Fraction, limit: Fraction) -> bool:
    """Compare as the operator does, at a fraction of its cost."""
    return total.numerator * limit.denominator > limit.numerator * total.denominator


def short_total(total: Fraction) -> Fraction:
    """Round a sum of too many different denominators up, so that its size stays bounded."""
    if _is_short(total):
        return total
    return Fraction(-(-(total.numerator << _KEPT_BITS) // total.denominator), 1 << _KEPT_BITS)


def _is_short(total: Fraction) -> bool:
    return total.denominator.bit_length() <= _MOST_BITS


def _cut(event: Event) -> str:
    text = repr(event)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _read_fraction(text: object) -> Fraction:
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ParameterError("spent", "holds something that is not a fraction", _ALLOWED)
    return Fraction(text)


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise ParameterError("text", "names a field twice", _ALLOWED)
    return dict(pairs)


def _no_float(_: str) -> float:
    raise ParameterError("text", "holds a number that is not an integer", _ALLOWED)
