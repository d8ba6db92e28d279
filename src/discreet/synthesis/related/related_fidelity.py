"""How far two related synthetic tables are from real ones, exactly. It is for the owner, and not private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np

from discreet.array_types import Integers
from discreet.synthesis.related.related_data import RelatedData
from discreet.synthesis.release.fidelity import Fidelity, fidelity_of_codes, variation

__all__ = ["RelatedFidelity", "related_fidelity"]

_MOST_TABLE = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelatedFidelity:
    """How far synthetic persons and events are from real ones. Not private.

    Attributes
    ----------
    persons, events : Fidelity
        Of each table by itself: tables of one column and of two. How many events a person has is a column of
        persons.
    across : mapping of pairs to floats
        The total variation of tables of events, by a column of their person and one of their own.
    numbers : float
        The total variation of how many events persons have, up to the limit.
    """

    persons: Fidelity
    events: Fidelity
    across: Mapping[tuple[str, str], float] = field(repr=False)
    numbers: float

    @property
    def private(self) -> bool:
        """Whether it may be shown to those who may not see the data: it may not."""
        return False

    def __str__(self) -> str:
        pair, most = max(self.across.items(), key=lambda one: one[1])
        lines = ["NOT PRIVATE: computed from the real rows, for their owner alone"]
        for name, found in (("persons", self.persons), ("events", self.events)):
            said = [f"{ways}-way {found.mean(ways):.4f}" for ways, held in found.distances.items() if held]
            lines.append(f"{name}: mean total variation, {', '.join(said)}")
        mean = float(np.mean(list(self.across.values())))
        lines.append(
            f"across: mean {mean:.4f}, largest {most:.4f} ({', '.join(pair)}), {len(self.across):,} tables"
        )
        lines.append(f"events per person: {self.numbers:.4f}")
        return "\n".join(lines)

    __repr__ = __str__


def related_fidelity(
    persons: Any, events: Any, data: RelatedData, *, rows: int | None = None, seed: int = 0
) -> RelatedFidelity:
    """Compare two related synthetic tables with real ones, exactly. The result is not private.

    Persons without a row and their events are left out, as they are when tables are synthesized. Events
    beyond the limit are not: what the limit cuts off counts as distance, but for numbers of events, which
    are compared up to the limit.

    Parameters
    ----------
    persons, events : frame or mapping of columns
        The real rows, each with its key.
    data : RelatedData
        What was released.
    rows, seed
        As for `RelatedData.to_pandas`: which synthetic rows.
    """
    names = data.names
    first: dict[object, int] = {}
    for place, key in enumerate(np.asarray(persons[names.person_key]).tolist()):
        first.setdefault(key, place)
    numbers = {key: number for number, key in enumerate(first)}
    owners = np.asarray(events[names.event_key]).tolist()
    found = np.fromiter((numbers.get(key, -1) for key in owners), np.int64, len(owners))
    known = found >= 0
    places, chosen = found[known], list(first.values())
    counted = np.bincount(places, minlength=len(first))
    domain = data.persons.domain
    listed: dict[str, Any] = {
        inner: np.asarray(persons[name])[chosen]
        for inner, name in zip(domain.names, names.columns, strict=False)
    }
    listed[domain.names[-1]] = counted
    people = domain.codes_of_all(listed)
    own = data.events.codes_of_all({name: np.asarray(events[name])[known] for name in data.events.names})
    held = np.hstack([people[places], own])
    made = data.codes(rows, seed=seed)
    joined = np.hstack([made.persons[made.owners], made.events])
    shape = (*domain.shape, *data.events.shape)
    every = (*domain.names, *data.events.names)
    return RelatedFidelity(
        persons=fidelity_of_codes(domain.names, domain.shape, people, made.persons, 2),
        events=fidelity_of_codes(data.events.names, data.events.shape, own, made.events, 2),
        across=_across(held, joined, len(domain.shape), shape, every),
        numbers=variation(people, made.persons, [len(domain.shape) - 1], domain.shape),
    )


def _across(
    held: Integers, made: Integers, first: int, shape: Sequence[int], names: Sequence[str]
) -> dict[tuple[str, str], float]:
    pairs = product(range(first), range(first, len(shape)))
    return {
        (names[one], names[other]): variation(held, made, (one, other), shape)
        for one, other in pairs
        if prod((shape[one], shape[other])) <= _MOST_TABLE
    }
