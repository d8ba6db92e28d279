"""The ways in which a unit may sit in parallel parts: each is a sequence of steps of its own."""

from __future__ import annotations

from itertools import combinations, product

from discreet.privacy.events import Composed, Event, Parallel
from discreet.privacy.neighbors import Change

__all__ = ["Leaves", "scenarios"]

_MOST_SCENARIOS = 64

Leaves = tuple[tuple[Event, int], ...]


def scenarios(event: Event) -> list[Leaves] | None:
    """Expand parallel parts: one sequence of steps for each choice of parts that a unit may sit in.

    A unit that is added or removed sits in one part; one that is replaced touches two. Returns None where
    there are too many ways to look at each.
    """
    parts: Leaves = event.parts if isinstance(event, Composed) else ((event, 1),)
    fixed: list[tuple[Event, int]] = []
    choices: list[list[Leaves]] = []
    for part, times in parts:
        if not isinstance(part, Parallel):
            fixed.append((part, times))
            continue
        relation = part.neighbors
        touched = relation.size * (1 if relation.change is Change.ADD_REMOVE else 2)
        members = [inner for inner, count in part.parts for _ in range(min(count, touched))]
        if len(members) > _MOST_SCENARIOS:
            return None
        options = []
        for chosen in combinations(members, min(touched, len(members))):
            inner_options = [scenarios(inner) for inner in chosen]
            if any(option is None for option in inner_options):
                return None
            for picked in product(*(option for option in inner_options if option is not None)):
                options.append(tuple((leaf, n * times) for leaves in picked for leaf, n in leaves))
        choices.append(options)
    found = [tuple(fixed) + sum(picked, ()) for picked in product(*choices)]
    return found if len(found) <= _MOST_SCENARIOS else None
