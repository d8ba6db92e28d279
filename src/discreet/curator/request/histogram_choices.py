"""Choices among a histogram's values, one for each group: quantiles, and the most frequent.

A rule turns the counts of a group into a score for each value; a selection mechanism chooses by the scores.
Only positions in the histogram leave, never counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.histogram import HistogramMechanism
from discreet.curator.request.histogram_estimates import HistogramEstimate, SmoothRule
from discreet.data import Histogram, Statistic
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential, PermuteAndFlip, TopK
from discreet.mechanisms.selection.scores import LARGEST_SCORE
from discreet.noise.entropy import current
from discreet.privacy.events import Event, compose
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import show, whole

__all__ = ["Choices", "FrequencyRule", "HistogramChoice", "HistogramRankRule", "Rule", "Selector"]

LARGEST_CHOICES = 300_000
"""How many choices one part may make, over all groups: each takes a fraction of a millisecond."""
LARGEST_SHIFT = 1 << 60

_AT_ONCE = 1 << 20

Integers: TypeAlias = NDArray[np.int64]
Selector: TypeAlias = Exponential | PermuteAndFlip | TopK
"""What chooses."""


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


Rule: TypeAlias = HistogramRankRule | FrequencyRule
"""How counts become scores."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HistogramChoice:
    """A rule, and the mechanism that chooses by its scores in each group.

    Guarantee
    ---------
    Let one person move the counts by n_i rows in group i. Scores of a rule of slope s then move by at most
    n_i s there (proof: aggregates, lemma 6), so a mechanism made for m s has there a loss of range epsilon
    n_i / m, and choices in different groups are independent. If the n_i add up to at most g m and their
    squares to at most g m^2, the whole costs no more than g such choices, which is what `event` says.

    Attributes
    ----------
    groups : int
        g: as many groups as a person can fill.
    """

    rule: Rule
    mechanism: Selector
    groups: int

    def __post_init__(self) -> None:
        picks = self.mechanism.k if isinstance(self.mechanism, TopK) else 1
        if not isinstance(self.rule, Rule) or picks != self.rule.picks:
            raise ParameterError("mechanism", "chooses another number of values", "as many as the rule")
        if self.mechanism.monotone and not self.rule.monotone:
            raise ParameterError("mechanism", "takes scores that move together", "monotone=False")

    @property
    def picks(self) -> int:
        """How many positions are drawn for each group."""
        return self.rule.picks

    def most(self, width: int) -> int:
        """Return the largest position among this many values."""
        return width - 1

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.mechanism.neighbors

    @property
    def event(self) -> Event:
        """The law in all groups together: that of as many groups as a person can fill."""
        return self.mechanism.event * self.groups

    def covers(self, statistic: Statistic) -> bool:
        """Return whether it is made for scores that move this far, in this many groups."""
        mechanism, bound = self.mechanism, statistic.sensitivity
        return (
            mechanism.scores.lattice.integers
            and mechanism.neighbors == bound.neighbors
            and mechanism.sensitivity >= bound.linf * self.rule.slope
            and self.groups * bound.linf >= bound.l1
            and self.groups * bound.linf**2 >= bound.squared_l2
        )

    def release(self, table: Integers) -> Integers:
        """Return the positions chosen in each group, by the counts in its row."""
        chosen = np.empty((len(table), self.picks), np.int64)
        block = ceil(_AT_ONCE / table.shape[1])
        for first in range(0, len(table), block):
            for number, row in enumerate(self.rule.scores(table[first : first + block]), first):
                chosen[number] = self.mechanism.release(row)
        return chosen

    def __repr__(self) -> str:
        return f"{self.rule!r} by {self.mechanism!r}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Choices(HistogramMechanism):
    """Several choices and estimates in every group, from one histogram.

    Attributes
    ----------
    choices : tuple of Choice and Estimate
        What is drawn in each group.
    cells, width : int
        How many groups there are, and how many values each has counts of.
    """

    choices: tuple[HistogramChoice | HistogramEstimate, ...]
    cells: int
    width: int

    def __post_init__(self) -> None:
        good = isinstance(self.choices, tuple) and all(
            isinstance(one, HistogramChoice | HistogramEstimate) for one in self.choices
        )
        if not good or not self.choices or len({one.neighbors for one in self.choices}) != 1:
            raise ParameterError("choices", "are empty, or not of one relation", "a tuple of Choice")
        for name in ("cells", "width"):
            whole(getattr(self, name), name, least=1)
        if any(one.picks > self.width for one in self.choices):
            raise ParameterError("choices", "choose more values than there are", "at most the width")

    @property
    def selections(self) -> tuple[HistogramChoice, ...]:
        """Those that are choices, not estimates."""
        return tuple(one for one in self.choices if isinstance(one, HistogramChoice))

    @property
    def picks(self) -> int:
        """How many integers are drawn for each group."""
        return sum(one.picks for one in self.choices)

    @property
    def size(self) -> int:
        """How many integers are drawn in all."""
        return self.cells * self.picks

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.choices[0].neighbors

    @property
    def event(self) -> Event:
        """The law of all of them, in all groups."""
        return compose(one.event for one in self.choices)

    @property
    def identity(self) -> list[dict[str, object]]:
        """The rules, as plain JSON values."""
        return [one.rule.identity for one in self.choices]

    def covers(self, statistic: Statistic) -> bool:
        """Return whether a histogram with this many values, that moves this far, is covered."""
        measure = statistic.measure
        return (
            isinstance(measure, Histogram)
            and measure.width == self.width
            and all(one.covers(statistic) for one in self.choices)
        )

    def release(self, counts: Integers) -> Integers:
        """Return the integers drawn, group by group, in the order of `choices`."""
        table = np.asarray(counts, np.int64).reshape(self.cells, self.width)
        drawn = np.hstack([one.release(table) for one in self.choices])
        return current().mark(drawn.reshape(-1))

    def may_draw(self, steps: Integers) -> bool:
        """Return whether integers are such as `release` returns."""
        table = np.asarray(steps).reshape(self.cells, self.picks)
        most = np.repeat([one.most(self.width) for one in self.choices], [one.picks for one in self.choices])
        return bool(((table >= 0) & (table <= most)).all())

    def drawn(self, steps: Integers, rule: Rule | SmoothRule) -> Integers:
        """Return what was drawn by a rule: a row for each group, a column for each pick."""
        place = 0
        for one in self.choices:
            if one.rule == rule:
                return np.asarray(steps).reshape(self.cells, self.picks)[:, place : place + one.picks]
            place += one.picks
        raise ParameterError("rule", "is not one of these choices", "one of them")

    def of(self, rule: Rule) -> Selector:
        """Return the mechanism of a rule."""
        for one in self.selections:
            if one.rule == rule:
                return one.mechanism
        raise ParameterError("rule", "is not one of these choices", "one of them")

    def __repr__(self) -> str:
        return f"Choices({', '.join(f'{one!r} in each of {one.groups} groups' for one in self.choices)})"
