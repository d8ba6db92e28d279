"""Rules by which a histogram's values are scored: near a rank, far enough around a position, frequent.

Every rule bounds what one row can do to its scores, its `slope`, which is what is charged (proof: aggregates,
lemma 6 and theorem 8).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from discreet.array_types import Integers
from discreet.errors import ParameterError
from discreet.mechanisms.selection.scores import LARGEST_SCORE
from discreet.privacy.rational import show, whole
from discreet.records import dataclass

__all__ = ["FrequencyRule", "HistogramRankRule", "HistogramReachRule", "Rule", "reaches"]

LARGEST_SHIFT = 1 << 60

_EVERYTHING = 1 << 62
"""The ranks by which an interval of all values exceeds any that is wanted."""
_FINENESS = 8
"""Reaches grow by an eighth: rounding one up to the next costs a sixteenth on average, and fewer candidates
make the choice better. With a fourth or a sixteenth they are about as wide (simulated for 601 points)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramRankRule:
    """Prefer values near a rank: that of the share a / b of n values, moved by some rows.

    With #{x < c} and #{x <= c} the values below and up to a candidate c, and the target T = a n + shift,
    the score of c is -max(0, b #{x < c} - T, T - b #{x <= c}): how far T lies outside the ranks that c
    holds, b times. The lowest candidate counts as never too high, the highest as never too low, so that one
    of score 0 exists for every shift.

    Attributes
    ----------
    share : Fraction
        a / b, from 0 to 1.
    shift : int
        In b-ths of a row.
    """

    share: Fraction
    shift: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.share, Fraction) or not 0 <= self.share <= 1:
            raise ParameterError("share", "is not a share", "a fraction from 0 to 1")
        whole(self.shift, "shift", least=-LARGEST_SHIFT, most=LARGEST_SHIFT)

    @property
    def slope(self) -> int:
        """The most by which one row moves a score: max(a, b - a)."""
        return max(self.share.numerator, self.share.denominator - self.share.numerator)

    @property
    def monotone(self) -> bool:
        """A row that comes may raise some scores and lower others."""
        return False

    @property
    def picks(self) -> int:
        """How many values it chooses."""
        return 1

    @property
    def identity(self) -> dict[str, object]:
        """What makes this rule differ from others."""
        return {"share": str(self.share), "shift": self.shift}

    def scores(self, counts: Integers) -> Integers:
        """Return the scores of each group, one row of counts for each."""
        above, below = self.share.numerator, self.share.denominator
        counts = np.minimum(counts, LARGEST_SHIFT // (below * counts.shape[1]))
        at_most = np.cumsum(counts, axis=1)
        target = above * at_most[:, -1:] + self.shift
        too_high = below * (at_most - counts) - target
        too_low = target - below * at_most
        too_high[:, 0] = 0
        too_low[:, -1] = 0
        return np.asarray(-np.maximum(np.maximum(too_high, too_low), 0))

    def __repr__(self) -> str:
        moved = f", shift={self.shift}" if self.shift else ""
        return f"RankRule(share={show(self.share)}{moved})"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramReachRule:
    """Prefer the least reach r for which the positions from v - r to v + r surely hold a quantile.

    v is what `center` chose before. With l and u the ends, cut off at those of the histogram, the interval
    goes beyond the rank a n of the share a / b by

        g(r) = min(a n - b #{x < l} - 1, b #{x <= u} - a n)

    b-ths of rows, where an end of the histogram's own counts as far enough; it misses the quantile if and
    only if g(r) < 0. The score of the i-th reach is -max(0, shift - g(r_i), g(r_(i-1)) - shift): 0 for the
    first that goes beyond by the shift. Reaches after the first that holds everything are no candidates.

    Attributes
    ----------
    share : Fraction
        a / b, from 0 to 1.
    shift : int
        In b-ths of a row.
    """

    share: Fraction
    shift: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.share, Fraction) or not 0 <= self.share <= 1:
            raise ParameterError("share", "is not a share", "a fraction from 0 to 1")
        whole(self.shift, "shift", least=0, most=LARGEST_SHIFT)

    @property
    def center(self) -> HistogramRankRule:
        """The rule by which the middle was chosen."""
        return HistogramRankRule(share=self.share)

    @property
    def slope(self) -> int:
        """The most by which one row moves a score: max(a, b - a)."""
        return self.center.slope

    @property
    def monotone(self) -> bool:
        """A row that comes may raise some scores and lower others."""
        return False

    @property
    def picks(self) -> int:
        """How many reaches it chooses."""
        return 1

    @property
    def identity(self) -> dict[str, object]:
        """What makes this rule differ from others."""
        return {"share": str(self.share), "reach": self.shift}

    def scores(self, counts: Integers, centers: Integers) -> list[Integers]:
        """Return the scores of each group's candidates, one row of counts and one position for each."""
        above, below = self.share.numerator, self.share.denominator
        last, number = counts.shape[1] - 1, np.arange(len(counts))[:, None]
        counts = np.minimum(counts, LARGEST_SHIFT // (below * counts.shape[1]))
        at_most = np.cumsum(counts, axis=1)
        target = above * at_most[:, -1:]
        lower, upper = (centers[:, None] + side * reaches(last + 1) for side in (-1, 1))
        left = target - below * at_most[number, np.maximum(lower - 1, 0)] - 1
        right = below * at_most[number, np.minimum(upper, last)] - target
        all_left, all_right = lower <= 0, upper >= last
        beyond = np.minimum(np.where(all_left, _EVERYTHING, left), np.where(all_right, _EVERYTHING, right))
        too_far = np.zeros_like(beyond)
        too_far[:, 1:] = beyond[:, :-1] - self.shift
        scores = -np.maximum(np.maximum(too_far, self.shift - beyond), 0)
        candidates = np.argmax(all_left & all_right, axis=1) + 1
        return [row[:count] for row, count in zip(scores, candidates, strict=True)]

    def __repr__(self) -> str:
        return f"ReachRule(share={show(self.share)}, shift={self.shift})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyRule:
    """Prefer the most frequent values: the score is the count."""

    picks: int = 1

    def __post_init__(self) -> None:
        whole(self.picks, "picks", least=1)

    @property
    def slope(self) -> int:
        """One row moves one count by 1."""
        return 1

    @property
    def monotone(self) -> bool:
        """Rows that come raise counts, rows that go lower them."""
        return True

    @property
    def identity(self) -> dict[str, object]:
        """What makes this rule differ from others."""
        return {"picks": self.picks}

    def scores(self, counts: Integers) -> Integers:
        """Return the counts."""
        return np.minimum(counts, LARGEST_SCORE)


Rule: TypeAlias = HistogramRankRule | HistogramReachRule | FrequencyRule
"""How counts become scores."""


@lru_cache(maxsize=64)
def reaches(width: int) -> Integers:
    """Return the reaches that are candidates among this many positions: 0, 1, …, each an eighth larger."""
    found = [0]
    while found[-1] < width - 1:
        found.append(min(found[-1] + max(1, found[-1] // _FINENESS), width - 1))
    made = np.array(found, np.int64)
    made.flags.writeable = False
    return made
