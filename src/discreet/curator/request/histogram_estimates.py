"""Estimates from a histogram's values, one for each group, with noise for their smooth sensitivity.

A rule turns the counts of a group into a statistic and its sensitivity profile, and `SmoothSensitivity`
releases it. Neither the profile nor the size of the noise leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.data import Statistic
from discreet.errors import ParameterError
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import show, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
    from discreet.stability.order_statistics.ordered import OrderedValues
    from discreet.stability.profile import Profile

__all__ = [
    "FINENESS",
    "LARGEST_ESTIMATES",
    "HistogramEstimate",
    "SmoothQuantileRule",
    "SmoothRule",
    "TrimmedMeanRule",
]

FINENESS = 64
"""Estimates lie on a grid this many times as fine as the histogram."""

LARGEST_ESTIMATES = 2_000
"""How many groups one request may make estimates of: each takes some tens of milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothRule(ABC):
    """A statistic of the values of a group.

    Attributes
    ----------
    share : Fraction
        Which quantile, or which part is trimmed.
    rows : int
        How many values one person has in the group, at most.
    """

    share: Fraction
    rows: int

    def __post_init__(self) -> None:
        if not isinstance(self.share, Fraction) or not 0 <= self.share <= 1:
            raise ParameterError("share", "is not a share", "a fraction from 0 to 1")
        whole(self.rows, "rows", least=1)

    @property
    def picks(self) -> int:
        """How many integers it makes from a group."""
        return 1

    @property
    def identity(self) -> dict[str, object]:
        """What makes this rule differ from others."""
        return {"smooth": type(self).__name__, "share": str(self.share), "rows": self.rows}

    def profile(self, counts: NDArray[np.int64]) -> Profile:
        """Return the statistic of a group, and how far persons can move it."""
        from discreet.stability.order_statistics.tallied import tallied

        return self._profile(tallied(counts, spacing=FINENESS))

    @abstractmethod
    def _profile(self, data: OrderedValues) -> Profile: ...

    @abstractmethod
    def supposed(self, width: int, rows: int, decay: float) -> float:
        """Return the smooth sensitivity if there were this many values, spread evenly: for previews."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothQuantileRule(SmoothRule):
    """The least value that at least a share of the values do not exceed."""

    def _profile(self, data: OrderedValues) -> Profile:
        from discreet.stability.order_statistics.quantile import rank_profile
        from discreet.stability.order_statistics.ranks import rank_rule

        return rank_profile(data, rank_rule(self.share), relation=ADD_REMOVE_PERSON, rows=self.rows)

    def supposed(self, width: int, rows: int, decay: float) -> float:
        """At distance k, k + 1 persons move the quantile by as many gaps between values as they have rows."""
        gap = (width - 1) * FINENESS * self.rows / rows
        farthest = max(1 / decay - 1, 0) if decay else rows
        return min(exp(-decay * farthest) * (farthest + 1) * gap, (width - 1) * FINENESS)

    def __repr__(self) -> str:
        return f"SmoothQuantileRule(share={show(self.share)}, rows={self.rows})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmedMeanRule(SmoothRule):
    """The mean without a share of the values at either end."""

    def _profile(self, data: OrderedValues) -> Profile:
        from discreet.stability.order_statistics.trimmed_mean import trimmed_profile
        from discreet.stability.order_statistics.trimming import trimming

        return trimmed_profile(data, trimming(self.share), relation=ADD_REMOVE_PERSON, rows=self.rows)

    def supposed(self, width: int, rows: int, decay: float) -> float:
        """At distance k the mean of what stays moves by its width over its number, and the width grows."""
        whole_width, kept = (width - 1) * FINENESS, max(float(1 - 2 * self.share) * rows, 1.0)
        sizes = (
            exp(-decay * k) * min(whole_width, whole_width * (kept + 2 * k * self.rows) / rows)
            for k in range(min(rows, 10_000))
        )
        return min(max(sizes) * self.rows / kept, whole_width)

    def __repr__(self) -> str:
        return f"TrimmedMeanRule(share={show(self.share)}, rows={self.rows})"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramEstimate:
    """A rule, and the mechanism that adds noise to its statistic in each group.

    Guarantee
    ---------
    One person changes the values of at most `groups` groups, at most `rule.rows` in each, so that in each of
    them the mechanism's guarantee holds; groups are released independently. The whole costs no
    more than `groups` such releases, which is what `event` says.
    """

    rule: SmoothRule
    mechanism: SmoothSensitivity
    groups: int

    def __post_init__(self) -> None:
        if not isinstance(self.rule, SmoothRule) or self.mechanism.grid != 1 or self.mechanism.least != 0:
            raise ParameterError("mechanism", "does not fit the rule", "one of grid 1, from 0 on")
        if self.mechanism.neighbors != ADD_REMOVE_PERSON:
            raise ParameterError("mechanism", "is for another relation", "adding or removing a person")
        whole(self.groups, "groups", least=1)

    @property
    def picks(self) -> int:
        """How many integers are drawn for each group."""
        return 1

    def most(self, width: int) -> int:
        """Return the largest integer that an estimate among this many values may be."""
        return (width - 1) * FINENESS

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.mechanism.neighbors

    @property
    def event(self) -> Event:
        """The law in all groups together."""
        return self.mechanism.event * self.groups

    def covers(self, statistic: Statistic) -> bool:
        """Return whether it is made for persons with this many rows in a group, in this many groups."""
        bound = statistic.sensitivity
        return (
            self.neighbors == bound.neighbors
            and self.rule.rows >= bound.linf
            and self.groups >= statistic.groups
        )

    def release(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one integer for each group, of the counts in its row."""
        drawn = [self.mechanism.release(self.rule.profile(row)) for row in table]
        return np.array(drawn, np.int64).reshape(len(table), 1)

    def __repr__(self) -> str:
        return f"{self.rule!r} by {self.mechanism!r}"
