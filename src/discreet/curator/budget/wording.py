"""What is left of a cap, what is asked and what is refused, in words and numbers."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.filters import UnionFilter
from discreet.curator.budget.budget import Cap
from discreet.privacy.decimals import percent_above, percent_below, show_above, show_below
from discreet.privacy.events import Event
from discreet.privacy.rational import float_above

__all__ = ["Amount", "amounts", "largest", "refusal"]

_ZERO = Fraction(0)

Amount = tuple[str, Fraction | None, Fraction, Fraction]
"""The name of a limit, what is asked of it (None without a bound), what is left of it, and the limit."""


def amounts(cap: Cap, *events: Event) -> tuple[Amount, ...]:
    """Return what events cost of each limit, by the way of counting that fits the most of them."""
    nearest = cap.nearest(*events)
    return tuple(
        zip(nearest.names, nearest.cost(*events), nearest.left.values(), nearest.limits.values(), strict=True)
    )


def largest(found: tuple[Amount, ...]) -> tuple[str, Fraction, Fraction, Fraction] | None:
    """Return the amount that asks for the most of what is left; None if one is not known."""
    known = [(name, cost, left, limit) for name, cost, left, limit in found if cost is not None]
    return max(known, key=lambda one: _share(*one[1:])) if len(known) == len(found) else None


def refusal(words: str, cap: Cap, *events: Event, most: Fraction) -> str:
    """Say what was asked, what is left and what would fit, by the way of counting that comes closest.

    Parameters
    ----------
    words : str
        What the cap is called.
    cap : Cap
        With all counted that was spent or is reserved.
    *events : Event
        What does not fit.
    most : Fraction
        The largest pure epsilon that would fit, by all caps that must hold it.
    """
    fit = f"a request with a pure epsilon of at most {show_below(most)} would fit"
    asked = largest(amounts(cap, *events))
    if asked is None:
        measure = type(cap.nearest(*events)).measure
        return f"{words} counts {measure}, which this noise does not have; {fit}"
    name, cost, left, limit = asked
    if limit == 0 and name == "delta":
        return (
            f"{words} counts pure epsilon and has no delta to spend, and this noise needs delta "
            f"{show_above(cost)}: offer epsilon alone, or have the budget amended to one with a delta; {fit}"
        )
    way = f" by the {cap.nearest(*events).title} count" if isinstance(cap, UnionFilter) else ""
    if isinstance(cap, UnionFilter) and name == "delta":
        part, rest = show_below(limit), show_below(left)
        return (
            f"it costs delta {show_above(cost)}{way}, which leaves at most {part} of the delta "
            f"{float_above(cap.delta):g} of {words} to requests; the rest pays for turning sums into "
            f"epsilon, and for other ways to count. Of these {part}, delta {rest} is left: ask for no more "
            f"of it; {fit}"
        )
    takes = f"{name} {show_above(cost)}{way}, {percent_above(cost, limit)}"
    rest = f"{name} {show_below(left)}, {percent_below(left, limit)}"
    return f"it costs {takes} of {words}, of which {rest} is left; {fit}"


def _share(cost: Fraction, left: Fraction, limit: Fraction) -> Fraction:
    """Return the share of what is left that a cost takes; infinite if nothing is left."""
    del limit
    return cost / left if left > 0 else (10**30 * (1 + cost) if cost else _ZERO)
