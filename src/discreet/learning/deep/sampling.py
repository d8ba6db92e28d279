"""Who takes part in a step, each independently of all others, and in which secret places they stand."""

from __future__ import annotations

from collections.abc import Mapping, Set
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.design.person_ids import person_of
from discreet.noise import bernoulli, current, uniform_below

__all__ = ["PeopleSampler", "SecretPlaces", "SlotSampler"]


class PeopleSampler:
    """Draws the examples of one step, with their weights.

    Parameters
    ----------
    length : int
        How many examples there are.
    people : array or None
        Whose each example is; None where each is someone else's. Each value is read by itself: two examples
        are one person's if their values are equal in Python; tensors and arrays without axes are the numbers
        that they hold. An example without an owner (None, a value that is not equal to itself such as NaN, or
        an object that is no key by its value) is never drawn.
    examples : int
        How many examples of one person a step uses at most.

    Guarantee
    ---------
    Coins are exact and come from secure entropy. Which examples of a person take part, and with which
    weights, depends on this person alone; the weights of a person add up to 1.
    """

    def __init__(self, length: int, people: ArrayLike | None, examples: int) -> None:
        self._examples = examples
        self._order: Integers | None = None
        self.people = length
        if people is not None:
            owned: dict[Any, list[int]] = {}
            for place, owner in enumerate(map(person_of, _listed(people, length))):
                if owner is not None:
                    owned.setdefault(owner, []).append(place)
            self._order = np.array([place for own in owned.values() for place in own], np.int64)
            self._ends = np.cumsum([len(own) for own in owned.values()], dtype=np.int64)
            self.people = len(owned)

    def draw(self, rate: Fraction) -> tuple[Integers, Floats]:
        """Return the places of the examples of one step, in order, and their weights.

        Each person takes part with probability `rate`.
        """
        return self.examples_of(np.flatnonzero(bernoulli(rate, self.people, current())))

    def examples_of(self, chosen: Integers) -> tuple[Integers, Floats]:
        """Return the places of the examples of these people, in order, and their weights."""
        if self._order is None:
            return chosen, np.ones(len(chosen))
        places, weights = [], []
        for person in chosen:
            own = self._order[self._ends[person - 1] if person else 0 : self._ends[person]]
            if len(own) > self._examples:
                own = own[_some(len(own), self._examples)]
            places.append(own)
            weights.append(np.full(len(own), 1 / len(own)))
        if not places:
            return np.zeros(0, np.int64), np.zeros(0)
        found, weight = np.concatenate(places), np.concatenate(weights)
        order = np.argsort(found, kind="stable")
        return found[order], weight[order]


class SlotSampler:
    """Gives everybody one step of every epoch, always the same one.

    Parameters
    ----------
    sampler : PeopleSampler
    slots : int
        How many steps an epoch has.

    Guarantee
    ---------
    Everybody's step is uniform and independent of all others': who else is there changes nobody's.
    """

    def __init__(self, sampler: PeopleSampler, slots: int) -> None:
        self._sampler, self._count = sampler, slots
        self._slots = uniform_below(slots, sampler.people, current())

    def draw(self, step: int) -> tuple[Integers, Floats]:
        """Return the places of the examples of one step, in order, and their weights."""
        return self._sampler.examples_of(np.flatnonzero(self._slots == step % self._count))


class SecretPlaces:
    """Puts the examples of a step into places of its batches: every way of doing so is equally likely.

    Parameters
    ----------
    places : int
        How many examples a step is to have room for.
    size : int
        How many places a batch has.

    Guarantee
    ---------
    A step has the least number of batches that has room for as many, whoever was drawn. The places of any of
    its examples have the same law whether or not there are others: a uniform injection, of which every
    restriction is one. If more examples are drawn than there are places, more batches are taken, and nobody
    is left out.
    """

    def __init__(self, places: int, size: int) -> None:
        self._batches, self._size = max(1, -(-places // size)), size

    def put(self, examples: Integers, weights: Floats) -> tuple[Integers, Floats]:
        """Return which example is in each place, -1 for nobody, and the weight in each place."""
        count = max(self._batches, -(-len(examples) // self._size)) * self._size
        chosen = _order(count)[: len(examples)]
        found, weight = np.full(count, -1, np.int64), np.zeros(count)
        found[chosen], weight[chosen] = examples, weights
        return found, weight


def _order(count: int) -> Integers:
    """Draw a uniform order of so many things: that of uniform words, drawn anew if two of them are equal."""
    while True:
        words = current().words(count)
        order = np.argsort(words)
        ranked = words[order]
        if (ranked[1:] != ranked[:-1]).all():
            return order


def _listed(people: Any, length: int) -> list[Any]:
    """Return the values one by one, never as an array of one type, which one value would choose for all."""
    if isinstance(people, Mapping | Set):
        raise ParameterError("people", "are a mapping or a set", "an array as long as the data, in its order")
    has_times = getattr(getattr(people, "dtype", None), "kind", "") in ("m", "M")
    if has_times and np.asarray(people).dtype.kind in ("m", "M"):  # those with a zone are objects
        people = np.asarray(people)
        people = np.where(np.isnat(people), None, people.astype(np.int64).astype(object))
    to_list = next(
        (getattr(people, name) for name in ("to_pylist", "tolist", "to_list") if hasattr(people, name)), None
    )
    listed = to_list() if to_list else list(people) if hasattr(people, "__len__") else None
    if getattr(people, "ndim", 1) != 1 or not isinstance(listed, list) or len(listed) != length:
        raise ParameterError("people", "are not one for each example", "an array as long as the data")
    return listed


def _some(many: int, few: int) -> Integers:
    """Draw a uniform subset, by the first places of a shuffled deck."""
    deck = np.arange(many)
    for place in range(few):
        other = place + int(uniform_below(many - place, 1, current())[0])
        deck[place], deck[other] = deck[other], deck[place]
    return deck[:few]
