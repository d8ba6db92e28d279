"""Choices among a histogram's values, one for each group: quantiles, and the most frequent.

A rule turns the counts of a group into a score for each value; a selection mechanism chooses by the scores.
Only positions in the histogram and distances between them leave, never counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TypeAlias

import numpy as np

from discreet.array_types import Integers
from discreet.curator.request.histogram import HistogramMechanism
from discreet.curator.request.histogram_estimates import HistogramEstimate, SmoothRule
from discreet.curator.request.histogram_rules import HistogramReachRule, Rule, reaches
from discreet.data import Histogram, Statistic
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential, PermuteAndFlip, TopK
from discreet.noise.entropy import current
from discreet.privacy.events import Event, compose
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import whole
from discreet.records import dataclass

__all__ = ["Choices", "HistogramChoice", "Selector"]

LARGEST_CHOICES = 300_000
"""How many choices one part may make, over all groups: each takes a fraction of a millisecond."""

_AT_ONCE = 1 << 20

Selector: TypeAlias = Exponential | PermuteAndFlip | TopK
"""What chooses."""


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

    def release(self, table: Integers, centers: Integers | None = None) -> Integers:
        """Return the positions chosen in each group, by the counts in its row.

        A rule of reaches gets the positions around which they lie, which were chosen before.
        """
        chosen = np.empty((len(table), self.picks), np.int64)
        block = ceil(_AT_ONCE / table.shape[1])
        for first in range(0, len(table), block):
            here = slice(first, first + block)
            for number, row in enumerate(self._scores(table[here], centers, here), first):
                chosen[number] = self.mechanism.release(row)
        return reaches(table.shape[1])[chosen] if isinstance(self.rule, HistogramReachRule) else chosen

    def _scores(self, table: Integers, centers: Integers | None, here: slice) -> Iterable[Integers]:
        if not isinstance(self.rule, HistogramReachRule):
            return self.rule.scores(table)
        assert centers is not None  # noqa: S101
        return self.rule.scores(table, centers[here])

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
        for place, one in enumerate(self.choices):
            before = [other.rule for other in self.choices[:place]]
            if isinstance(one.rule, HistogramReachRule) and one.rule.center not in before:
                raise ParameterError("choices", "have a reach around what was not chosen before", "it first")

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
        rules, drawn = [one.rule for one in self.choices], list[Integers]()
        for one in self.choices:
            if isinstance(one, HistogramChoice) and isinstance(one.rule, HistogramReachRule):
                drawn.append(one.release(table, drawn[rules.index(one.rule.center)][:, 0]))
            else:
                drawn.append(one.release(table))
        return current().mark(np.hstack(drawn).reshape(-1))

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
