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
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.neighbors import Change, Neighbors, Unit, check_relation
from discreet.privacy.rational import non_negative, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.figures import Axes
    from discreet.privacy.rational import Number

__all__ = ["Profile", "check_step", "last_distance"]

_PADDING = 1 + Fraction(1, 2**41)
_BITS = 256
_LOG_TWO = 0xB17217F7D1CF79ABC9E3B39803F2F6AF40F343267298B62D8A0D175B8BAAFA2B
"""floor(2^256 log 2)."""
_LEAST = (-200, 0.5)

_Size: TypeAlias = tuple[int, float]
"""(e, m) is the number m 2^e, with 1/2 <= m < 1, so that pairs compare as the numbers do."""


def check_step(relation: Neighbors, rows: int) -> int:
    """Check a neighbor relation together with how many values a person has, and return the latter.

    Under replace, and where the unit is a row, one step touches one value. Groups of
    persons have no separate profile: k persons are distance k.
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
    exact_to : int or None
        Up to which distance the local sensitivities are exact, where they are upper bounds beyond it: -1
        where all are. None where all are exact.

    Finite precision
    ----------------
    `smooth` evaluates each term with a relative error below 2^-48, for any magnitude, and adds 2^-41, so
    that its result is at least the maximum and at most 1 + 2^-40 times it. Neighbors' results
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
    exact_to: int | None = None

    @classmethod
    def of(cls, *, value: Fraction | int, local: ArrayLike, relation: Neighbors, rows: int = 1) -> Profile:
        """Make a profile of the local sensitivities at the distances 0, 1, …, K; beyond K the last holds."""
        rows = check_step(relation, rows)
        held = np.array(local, dtype=np.float64)
        if held.ndim != 1 or not held.size:
            raise ParameterError(
                "local", "is not a list of numbers", "one number for each distance from 0 on"
            )
        if not np.isfinite(held).all() or held[0] < 0 or (np.diff(held) < 0).any():
            raise ParameterError(
                "local", "falls, or holds what is not a size", "numbers from 0 on that never fall"
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

        Cost
        ----
        Distances from where e^{-decay k} A_reach is below the best term on are never asked for: at most
        (200 + log2 A_reach) log 2 / decay are. Usually a few dozen are; where A_k grows as fast as
        e^{decay k} over a long way, nearly all, which no upper bound by coarser steps would avoid, since
        it would not be smooth. How long it takes depends on the data.
        """
        rate = non_negative(decay, "decay")
        rate_in_units = (rate.numerator << _BITS) // rate.denominator
        sizes: dict[int, _Size | None] = {}

        def term(distance: int, of: int) -> _Size:
            if of not in sizes:
                sizes[of] = _mantissa(self.sensitivity(of))
            size = sizes[of]
            return _LEAST if size is None else _shrunk(size, rate_in_units * distance)

        if not self.sensitivity(self.reach):
            return Fraction(0)
        best = max(term(0, 0), term(self.reach, self.reach), _LEAST)
        blocks: list[tuple[int, float, int, int]] = []

        def push(first: int, last: int) -> None:
            exponent, mantissa = term(first, last)
            heappush(blocks, (-exponent, -mantissa, first, last))

        if self.reach:
            push(1, self.reach)
        while blocks and (-blocks[0][0], -blocks[0][1]) > best:
            _, _, first, last = heappop(blocks)
            if first < last:
                middle = min(2 * first, (first + last) // 2)
                best = max(best, term(middle, middle))
                push(first, middle)
                push(middle + 1, last)
        return max(Fraction(best[1]) * Fraction(2) ** best[0] * _PADDING, self.FLOOR)

    def smooth_is_exact(self, decay: Number) -> bool:
        """Return whether `smooth` is the smooth sensitivity itself: no bound beyond `exact_to` matters.

        That is so if the largest e^{-decay k} A_k is one of those that are exact (proof:
        docs/proofs/profiles.md, lemma 9). Private: it depends on the data.
        """
        if self.exact_to is None or self.exact_to >= self.reach:
            return True
        if self.exact_to < 0:
            return False
        return replace(self, reach=self.exact_to).smooth(decay) == self.smooth(decay)

    def plot(
        self,
        decay: Number | None = None,
        *,
        distances: int | None = None,
        ax: Axes | None = None,
        label: str | None = None,
    ) -> Axes:
        """Draw the profile, and the smooth envelope of a decay; see `stability.plot.profile`. Private."""
        from discreet.stability.plot import profile

        return profile(self, decay, distances=distances, ax=ax, label=label)

    def __repr__(self) -> str:
        return f"Profile(private, {self.relation})"


def last_distance(rule: Callable[[int], bool], reach: int) -> int:
    """Return the largest distance up to `reach` for which a rule holds, and then fails for good; else -1."""
    first, last = -1, reach
    while first < last:
        middle = (first + last + 1) // 2
        first, last = (middle, last) if rule(middle) else (first, middle - 1)
    return first


def _mantissa(size: Fraction) -> _Size | None:
    """Return a number rounded to 53 bits, however large or small it is; None for 0."""
    if not size:
        return None
    top, bottom = size.numerator, size.denominator
    exponent = top.bit_length() - bottom.bit_length()
    near = top / (bottom << exponent) if exponent >= 0 else (top << -exponent) / bottom
    mantissa, more = math.frexp(near)
    return exponent + more, mantissa


def _shrunk(size: _Size, by: int) -> _Size:
    """Return a size times exp(-x), x = by / 2^256. Powers of two are split off: nothing underflows."""
    halvings, rest = divmod(by, _LOG_TWO)
    mantissa, less = math.frexp(size[1] * math.exp(-rest / (1 << _BITS)))
    return size[0] - halvings + less, mantissa
