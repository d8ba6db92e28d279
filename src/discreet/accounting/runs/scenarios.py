"""The ways in which a unit may sit in parallel parts: each is a sequence of steps of its own.

A unit that is added or removed sits in one part, one that is replaced touches two. Which part that is may
differ from one parallel release to the next, also between equal ones, and rules may be made in view of
earlier answers. Fixed choices, `scenarios`, therefore bound a run from below; what bounds it from above is
the largest profile over all `ways` of each release (docs/proofs/parallel_parts.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain, combinations_with_replacement, islice, pairwise, product
from math import comb, inf

from discreet.accounting.runs.domination import dominates_all, leaves_of
from discreet.privacy.events import Event, Parallel, compose
from discreet.privacy.neighbors import Change
from discreet.privacy.rational import float_above

__all__ = ["MOST_WAYS", "Leaves", "scenarios", "touched_parts", "ways"]

MOST_WAYS = 64
_MOST_SCENARIOS = 16
_SPREAD = 12

Leaves = tuple[tuple[Event, int], ...]


def touched_parts(event: Parallel) -> int:
    """Return how many parts the relation may touch at once."""
    return event.neighbors.size * (1 if event.neighbors.change is Change.ADD_REMOVE else 2)


def ways(event: Parallel) -> list[Counter[Event]] | None:
    """Return the steps that a unit may meet in a parallel release, without those that others dominate.

    None if there are too many ways to look at each. Steps may be parallel releases themselves.
    """
    touched = touched_parts(event)
    members = _undominated([(leaves_of(part), times) for part, times in event.parts], touched)
    slots = sum(times for _, times in members)
    if comb(slots, min(touched, slots)) > MOST_WAYS**2:
        return None
    found: list[Counter[Event]] = []
    for chosen in _chosen([times for _, times in members], min(touched, slots)):
        way: Counter[Event] = Counter()
        for place in chosen:
            way.update(members[place][0])
        if way not in found:
            found.append(way)
    kept = [way for way, _ in _undominated([(way, 1) for way in found], 1)]
    return kept if len(kept) <= MOST_WAYS else None


def scenarios(event: Event) -> list[Leaves]:
    """Return sequences of steps that a unit may meet, its parts fixed in advance; some if there are many.

    Of equal parallel releases every multiset of ways counts, n + 1 of them for n releases of two parts.
    """
    fixed: Counter[Event] = Counter()
    choices: list[list[Counter[Event]]] = []
    for step, times in leaves_of(event).items():
        if not isinstance(step, Parallel):
            fixed[step] += times
            continue
        options = [inner for way in ways(step) or () for inner in _expanded(way)]
        choices.append(_multisets(options, times))
    found = []
    for picked in islice(product(*choices), _MOST_SCENARIOS):
        total = fixed.copy()
        for way in picked:
            total.update(way)
        found.append(tuple(total.items()))
    return found


def _expanded(way: Counter[Event]) -> list[Counter[Event]]:
    if not any(isinstance(step, Parallel) for step in way):
        return [way]
    return [Counter(dict(leaves)) for leaves in scenarios(compose(step * n for step, n in way.items()))]


def _multisets(options: list[Counter[Event]], times: int) -> list[Counter[Event]]:
    """Return all sums of `times` options; where they are many, all alike and an even spread of two kinds."""
    if not options:
        return []
    if comb(times + len(options) - 1, len(options) - 1) <= _MOST_SCENARIOS:
        return [_sum((way, 1) for way in picked) for picked in combinations_with_replacement(options, times)]
    alike = [_sum([(way, times)]) for way in options]
    mixed = (
        _sum([(one, times - share), (other, share)])
        for part in range(1, _SPREAD)
        for one, other in pairwise(options)
        if 0 < (share := times * part // _SPREAD) < times
    )
    return list(islice(chain(alike, mixed), _MOST_SCENARIOS))


def _sum(parts: Iterable[tuple[Counter[Event], int]]) -> Counter[Event]:
    total: Counter[Event] = Counter()
    for way, times in parts:
        for step, count in way.items():
            total[step] += count * times
    return total


def _undominated(members: list[tuple[Counter[Event], int]], touched: int) -> list[tuple[Counter[Event], int]]:
    """Leave out what at least `touched` others dominate: those may be touched in its place."""
    kept: list[tuple[Counter[Event], int]] = []
    members = sorted(members, key=lambda member: _size(member[0]), reverse=True)  # dominators are met first
    for place, (steps, times) in enumerate(members):
        above = 0
        for other, (rival, count) in enumerate(members):
            if other != place and dominates_all(rival, steps):
                # Of two that dominate each other, the first one counts.
                above += 0 if other > place and dominates_all(steps, rival) else count
            if above >= touched:
                break
        else:
            kept.append((steps, min(times, touched - above)))
    return kept


def _size(steps: Counter[Event]) -> float:
    rhos = [(step.concentrated_rho, times) for step, times in steps.items()]
    return sum(inf if rho is None else float_above(rho) * times for rho, times in rhos)


def _chosen(counts: list[int], size: int) -> Iterable[tuple[int, ...]]:
    """Return the multisets of `size` places in which no place occurs more often than its count."""
    return (
        picked
        for picked in combinations_with_replacement(range(len(counts)), size)
        if all(picked.count(place) <= counts[place] for place in set(picked))
    )
