"""Marginals: tables of counts over some of the attributes of a product domain."""

from __future__ import annotations

from dataclasses import field
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.queries.base import Vector, Workload, about, checked_shape, flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["Marginals"]

MOST_SETS = 1_000_000


@dataclass(frozen=True, slots=True, init=False)
class Marginals(Workload):
    """Counts over sets of attributes; the domain itself may be far too large to hold.

    Parameters
    ----------
    shape : sequence of int
        The number of values of each attribute.
    ways : int, optional
        Ask for the marginals of all sets of this many attributes.
    sets : iterable of sequences of int, optional
        Or for those of these sets of attributes, given by their places; the empty set is the total.

    Examples
    --------
    >>> Marginals((2, 3, 4), ways=2).queries
    26
    """

    shape: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...] = field(repr=False)

    def __init__(
        self, shape: Sequence[int], ways: int | None = None, *, sets: Iterable[Sequence[int]] | None = None
    ) -> None:
        domain = checked_shape(shape)
        if (ways is None) == (sets is None):
            raise ParameterError(
                "ways", "and sets must not both be given, or both be missing", "one of the two"
            )
        if ways is not None:
            ways = whole(ways, "ways", least=0, most=len(domain))
            _check_count(comb(len(domain), ways))
            chosen = list(combinations(range(len(domain)), ways))
        else:
            chosen = sorted({_checked_set(attributes, len(domain)) for attributes in sets or ()})
            _check_count(len(chosen))
        self._set(shape=domain, sets=tuple(chosen))

    def cells(self, attributes: Sequence[int]) -> int:
        """Return the number of cells of the marginal over some attributes."""
        return prod(self.shape[place] for place in attributes)

    @property
    def queries(self) -> int:
        """Return the number of cells of all marginals."""
        return sum(self.cells(attributes) for attributes in self.sets)

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the marginals one after the other, each flattened in C order."""
        table = flat(x, self.size).reshape(self.shape)
        return np.concatenate([table.sum(axis=self._others(chosen)).reshape(-1) for chosen in self.sets])

    def gram_times(self, vectors: Vector) -> Vector:
        """Sum over the attributes that are not in a set, and spread the sums again."""
        table = np.asarray(vectors, dtype=np.float64)
        table = table.reshape(-1, *self.shape)
        result = np.zeros_like(table)
        for chosen in self.sets:
            result += table.sum(axis=tuple(1 + place for place in self._others(chosen)), keepdims=True)
        return result.reshape(np.shape(vectors))

    def gram_diagonal(self) -> Vector:
        """Each cell is counted once in each marginal."""
        return np.full(self.size, float(len(self.sets)))

    def row(self, index: int) -> Vector:
        """Return ones on the cells that one cell of one marginal sums."""
        index = self.check_index(index)
        for chosen in self.sets:
            if index < self.cells(chosen):
                break
            index -= self.cells(chosen)
        values = np.unravel_index(index, [self.shape[place] for place in chosen]) if chosen else ()
        table = np.zeros(self.shape)
        table[self._slices(chosen, values)] = 1.0
        return table.reshape(-1)

    def _others(self, chosen: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(place for place in range(len(self.shape)) if place not in chosen)

    def _slices(self, chosen: tuple[int, ...], values: Sequence[Any]) -> tuple[Any, ...]:
        fixed = dict(zip(chosen, values, strict=True))
        return tuple(fixed.get(place, slice(None)) for place in range(len(self.shape)))


def _checked_set(attributes: Sequence[int], count: int) -> tuple[int, ...]:
    places = tuple(sorted(whole(place, "sets", least=0, most=count - 1) for place in attributes))
    if len(set(places)) != len(places):
        raise ParameterError("sets", "names an attribute twice in one set", "each attribute at most once")
    return places


def _check_count(count: int) -> None:
    if not 0 < count <= MOST_SETS:
        raise ParameterError(
            "sets",
            f"would be {about(count)} sets",
            f"from 1 to {MOST_SETS} sets: ask for fewer ways, or list the sets that matter",
        )
