"""The sensitivity profile: local sensitivity at every distance from the data, and its smooth bound.

For a statistic f and data x, the local sensitivity at distance k is

    A_k(x) = max { |f(y) - f(y')| : d(x, y) <= k, y and y' neighbors },

where d counts persons. A_0 is the local sensitivity, and A_k grows with k up to the global
sensitivity. The smooth sensitivity S_t(x) = max_k e^{-t k} A_k(x) is the least function with
S >= A_0 and S(x) <= e^t S(x') for neighbors (Nissim, Raskhodnikova & Smith 2007; proof:
docs/proofs/profiles.md). All of it is private.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.neighbors import Change, Neighbors, Unit, check_relation
from discreet.privacy.rational import non_negative, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.privacy.rational import Number

__all__ = ["Profile", "check_step"]

_PADDING = 1 + Fraction(1, 2**41)
_FASTEST = 10**4  # so fast that every term but the first is below the floor, whatever finite float it holds
_LEAST = 2.0**-201


def check_step(relation: Neighbors, rows: int) -> int:
    """Check a neighbor relation together with how many values a person has, and return the latter.

    Under replace, and where the unit is a row, one step touches one value. Groups of
    persons have no profile of their own: k persons are distance k.
    """
    check_relation(relation)
    if relation.size != 1:
        raise ParameterError("relation", "is of a group", "a relation of one person or one row")
    rows = whole(rows, "rows", least=1, most=2**32)
    if rows > 1 and (relation.change is Change.REPLACE or relation.unit is Unit.ROW):
        raise ParameterError("rows", "is above 1 where one step touches one value", "1")
    return rows


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Profile:
    """A statistic of private data with its local sensitivity at every distance.

    Attributes
    ----------
    value : Fraction
        The statistic.
    reach : int
        A distance from which on the local sensitivity stays the same.
    sensitivity : callable
        The local sensitivity at a distance from 0 to `reach`: exact, or an upper bound for which the
        statistic's function says that it is smooth. It never falls as the distance grows.
    relation : Neighbors
        What one step changes. Public.
    rows : int
        How many values one person has at most. Public.

    Finite precision
    ----------------
    `smooth` evaluates each term as a float with a relative error below 2^-42 and adds 2^-41, so that
    its result is at least the maximum and at most 1 + 2^-40 times it. Neighbors' results
    therefore differ by a factor of at most e^{decay + SLACK}: charge decay + SLACK.
    """

    SLACK: ClassVar[Fraction] = Fraction(1, 2**39)
    """What rounding adds to the decay between neighbors, at most."""
    FLOOR: ClassVar[Fraction] = Fraction(1, 2**200)
    """What `smooth` returns at least, unless the statistic is constant. A larger constant is smooth too."""

    value: Fraction
    reach: int
    sensitivity: Callable[[int], Fraction]
    relation: Neighbors
    rows: int

    @classmethod
    def of(cls, *, value: Fraction | int, local: ArrayLike, relation: Neighbors, rows: int = 1) -> Profile:
        """Make a profile of the local sensitivities at the distances 0, 1, …, K; beyond K the last holds."""
        rows = check_step(relation, rows)
        held = np.array(local, dtype=np.float64)
        if held.ndim != 1 or not held.size:
            raise ParameterError("local", "is no list of numbers", "one number for each distance from 0 on")
        if not np.isfinite(held).all() or held[0] < 0 or (np.diff(held) < 0).any():
            raise ParameterError(
                "local", "falls, or holds what is no size", "numbers from 0 on that never fall"
            )
        held.setflags(write=False)
        return cls(
            value=Fraction(value),
            reach=len(held) - 1,
            sensitivity=lambda distance: Fraction(float(held[distance])),
            relation=relation,
            rows=rows,
        )

    def local_at(self, distance: int) -> Fraction:
        """Return the local sensitivity at a distance: A_k."""
        return Fraction(self.sensitivity(min(whole(distance, "distance", least=0), self.reach)))

    def smooth(self, decay: Number) -> Fraction:
        """Return the smooth sensitivity: the largest e^{-decay k} A_k over all distances k.

        Distances are searched in blocks. Since A_k never falls, no term of the block i..j exceeds
        e^{-decay i} A_j: the block with the largest such bound is divided until no bound exceeds the
        best term. Blocks are divided near their beginning, since A_k is cheap where k is small.
        """
        exact = non_negative(decay, "decay")
        rate = float(min(exact, Fraction(_FASTEST)))
        sizes: dict[int, float] = {}

        def term(distance: int, of: int) -> float:
            if of not in sizes:
                sizes[of] = float(self.sensitivity(of))
            return math.exp(-rate * distance) * sizes[of]

        if not self.sensitivity(self.reach):
            return Fraction(0)
        best = max(term(0, 0), term(self.reach, self.reach), _LEAST)
        blocks = [(-term(1, self.reach), 1, self.reach)] if self.reach else []
        while blocks and -blocks[0][0] > best:
            _, first, last = heappop(blocks)
            if first < last:
                middle = min(2 * first, (first + last) // 2)
                best = max(best, term(middle, middle))
                heappush(blocks, (-term(first, middle), first, middle))
                heappush(blocks, (-term(middle + 1, last), middle + 1, last))
        return max(Fraction(best) * _PADDING, self.FLOOR)

    def __repr__(self) -> str:
        return f"Profile(private, {self.relation})"
