"""Persons who moved answers about as much, charged alike: few losses to work out, and each one a bound.

A loss grows with every entry of a shift. So persons may be put together and charged, entry by entry, with the
most that any of them moved: an upper bound for each of them, that of the full event if even this is less
(docs/proofs/per_instance.md, proposition 8). Groups are halved where they are widest, until there are as many
as may be worked out; if no more than that many contributions are different, each is charged exactly.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from discreet.data.person_shifts import Shift
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, Event, RoundedGaussian, compose

if TYPE_CHECKING:
    from discreet.accounting.instances import AddedNoise
    from discreet.array_types import Floats

__all__ = ["MOST_GROUPS", "OwnShifts", "charged_alike", "moved_event"]

OwnShifts: TypeAlias = tuple[tuple[int, Shift | None], ...]
"""By how much a person moved each measure in which they have rows, by its place; None if that is unknown."""

MOST_GROUPS = 64
"""How many different contributions are worked out; further ones share the bound of a group."""


class _AlikeGroup(NamedTuple):
    """Contributions that are charged alike; the widest group is halved first."""

    narrowness: float
    order: int
    places: np.ndarray[tuple[int, ...], np.dtype[np.intp]]


def moved_event(moves: OwnShifts, noises: Sequence[Event]) -> Event:
    """Return what measures revealed about a person who moves them by known shifts."""
    from discreet.accounting.instances import AddedNoise, instance_event

    events = []
    for place, shift in moves:
        noise = noises[place]
        if shift is None or not isinstance(noise, AddedNoise) or _is_beyond(shift, noise):
            events.append(noise)
        else:
            events.append(instance_event(noise, shift))
    return compose(events)


def charged_alike(
    people: Mapping[Hashable, OwnShifts], noises: Sequence[Event], *, most: int = MOST_GROUPS
) -> dict[Hashable, Event]:
    """Return an event for each person that reveals no less about them than their own; few different ones.

    Parameters
    ----------
    people : mapping of persons to moves
        What each person moved, entries of a shift in any order.
    noises : sequence of events
        The noise of each measure.
    most : int
        How many different events there may be. If no more contributions are different, all are exact.
    """
    different = list(dict.fromkeys(people.values()))
    groups = [[place] for place in range(len(different))]
    if len(different) > most:
        groups = _halved(_coordinates(different, noises), most)
    events: dict[OwnShifts, Event] = {}
    for group in groups:
        members = [different[place] for place in group]
        event = moved_event(_largest(members) if len(members) > 1 else members[0], noises)
        events.update(dict.fromkeys(members, event))
    return {person: events[moves] for person, moves in people.items()}


def _is_beyond(shift: Shift, noise: AddedNoise) -> bool:
    """Return whether a shift is longer than any that the noise was made for: its full event is then less."""
    if isinstance(noise, DiscreteLaplace):
        return sum(shift) > noise.sensitivity
    return sum(step**2 for step in shift) > noise.squared_sensitivity


def _largest(members: Iterable[OwnShifts]) -> OwnShifts:
    """Return moves that are, entry by entry from the largest on, at least those of every member."""
    most: dict[int, Shift | None] = {}
    for moves in members:
        for place, shift in moves:
            held = most.get(place, ())
            if shift is None or held is None:
                most[place] = None
            else:
                pairs = zip_longest(held, sorted(shift, reverse=True), fillvalue=0)
                most[place] = tuple(max(pair) for pair in pairs)
    return tuple(sorted(most.items()))


def _coordinates(different: Sequence[OwnShifts], noises: Sequence[Event]) -> Floats:
    """Return one row for each contribution: its entries from the largest on, in scales of their noise."""
    lengths = [0] * len(noises)
    for moves in different:
        for place, shift in moves:
            lengths[place] = max(lengths[place], 1 + len(shift or ()))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.zeros((len(different), int(starts[-1])))
    for row, moves in zip(rows, different, strict=True):
        for place, shift in moves:
            start = int(starts[place])
            if shift is None:
                row[start] = 1.0
            elif shift:
                entries = sorted(shift, reverse=True)
                row[start + 1 : start + 1 + len(entries)] = entries
    for place, noise in enumerate(noises):
        if lengths[place] > 1:
            rows[:, starts[place] + 1 : starts[place + 1]] /= _scale(noise)
    return rows


def _scale(noise: Event) -> float:
    """Return how far a measure moves for a loss of about 1; groups alone depend on it."""
    if isinstance(noise, DiscreteLaplace):
        return float(noise.scale)
    return noise.sigma if isinstance(noise, DiscreteGaussian | RoundedGaussian) else 1.0


def _halved(rows: Floats, most: int) -> list[list[int]]:
    """Return at most so many groups of rows: always the widest is cut, in the middle of its widest column."""
    whole = np.arange(len(rows))
    groups = [_AlikeGroup(-float(np.ptp(rows, axis=0).max(initial=0)), 0, whole)]
    heapify(groups)
    order = 0
    while len(groups) < most and groups[0].narrowness < 0:
        places = heappop(groups).places
        held = rows[places]
        lows, highs = held.min(axis=0), held.max(axis=0)
        column = int(np.argmax(highs - lows))
        above = held[:, column] > (lows[column] + highs[column]) / 2
        for part in (places[above], places[~above]):
            order += 1
            heappush(groups, _AlikeGroup(-float(np.ptp(rows[part], axis=0).max(initial=0)), order, part))
    return [group.places.tolist() for group in groups]
