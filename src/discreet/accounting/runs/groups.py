"""Groups of units that face a release whose law is known for one unit only.

Between tables that differ in k units lies a chain of tables, each the neighbor of the next. If one unit has
(e, d), the group has (k e, d (1 + e^e + … + e^((k - 1) e))); every e gives an answer, and the best is looked
for (docs/proofs/parallel_parts.md, lemma 6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import exp, expm1, inf, log

from discreet.accounting.interval import Interval
from discreet.privacy.events import Event, Grouped, compose
from discreet.privacy.grouping import group_delta
from discreet.privacy.rational import float_above

__all__ = ["chained_delta", "chained_epsilon", "parted"]

_ROUNDS = 40
_CLOSE = 1e-6
_LEAST_DELTA = 1e-290

Epsilon = Callable[[Event, Fraction], Interval]
Delta = Callable[[Event, Fraction], Interval]


def parted(steps: Counter[Event]) -> tuple[Counter[Event], dict[int, Event]]:
    """Part steps into those of known law, and what one unit faces in the rest, by the size of the group."""
    known: Counter[Event] = Counter()
    inner: dict[int, list[Event]] = {}
    for step, times in steps.items():
        if isinstance(step, Grouped):
            inner.setdefault(step.size, []).append(step.inner * times)
        else:
            known[step] += times
    return known, {size: compose(parts) for size, parts in inner.items()}


def chained_epsilon(event: Event, size: int, delta: Fraction, epsilon: Epsilon) -> float:
    """Return an epsilon of a group at a delta, from what one unit has; infinity if none is found."""
    target, loss = float(delta), 0.0
    if target <= 0:
        return inf
    for _ in range(_ROUNDS):
        # e^(k e) - 1 over e^e - 1 grows with e, so that a larger e leaves less delta to each link.
        log_share = _log_sum(loss, size)
        if log(target) - log_share < log(_LEAST_DELTA):
            return inf
        share = Fraction(target * exp(-log_share) * (1 - 1e-12))
        found = epsilon(event, share).upper
        if found == inf:
            return inf
        if found <= loss and group_delta(Fraction(loss), share, size) <= delta:
            return float_above(size * Fraction(loss))
        loss = max(found, loss) * (1 + _CLOSE) + 1e-300
    return inf


def chained_delta(event: Event, size: int, epsilon: Fraction, delta: Delta) -> float:
    """Return a delta of a group at an epsilon, from what one unit has at a `size`-th of it."""
    each = Fraction(epsilon, size)
    found = delta(event, each).upper
    return min(1.0, float_above(group_delta(each, Fraction(found), size)))


def _log_sum(loss: float, size: int) -> float:
    """Return log(1 + e^loss + … + e^((size - 1) loss))."""
    if loss * size < 1e-9:
        return log(size) + loss * size
    return (size - 1) * loss + log(-expm1(-size * loss) / -expm1(-loss))
