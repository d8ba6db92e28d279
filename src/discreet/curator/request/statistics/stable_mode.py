"""The most frequent key of a column, exactly, where no few rows could have changed it; else no answer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import (
    AnswerKeys,
    DrawnNumbers,
    ReleasedStatistic,
    offer_object,
    offered_with_delta,
)
from discreet.curator.request.statistics.fixed_counts import KeyAxes
from discreet.data.tables.related_table import RelatedTable
from discreet.mechanisms.adaptive.no_answer import NoAnswer
from discreet.mechanisms.adaptive.stable_selection import StableArgmax
from discreet.privacy.events import Event
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.offer import Offer
from discreet.records import dataclass

__all__ = ["StableMode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StableMode(ReleasedStatistic):
    """Distance to instability: the key that most rows have. Among equally frequent ones the first counts.

    A row that is replaced moves each count by at most 1, so that a lead shrinks by at most 2.
    """

    kind: ClassVar[str] = "stable mode"

    rows: int
    axes: KeyAxes
    offer: Offer

    def __post_init__(self) -> None:
        self.mechanism  # noqa: B018

    @property
    def mechanism(self) -> StableArgmax:
        """The test, and the exact choice."""
        epsilon, delta = offered_with_delta(self.offer, "an exact mode")
        return StableArgmax(sensitivity=1, epsilon=epsilon, delta=delta, neighbors=REPLACE_ROW)

    @property
    def name(self) -> str:
        """The name of the output."""
        return f"mode_{self.axes.names[0]}"

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return f"the most frequent {self.axes.names[0]}, exactly, or no answer"

    @property
    def event(self) -> Event:
        """The test, which is charged whether or not there is an answer."""
        return self.mechanism.event

    @property
    def parameters(self) -> dict[str, object]:
        """The column with its keys, the number of rows, and the offer."""
        return {"axes": self.axes.to_object(), "rows": self.rows, "offer": offer_object(self.offer)}

    def fits(self, table: RelatedTable) -> bool:
        """Return whether the table declares the same."""
        return self.axes.fit(table, self.rows)

    def draw(self, table: RelatedTable, confidence: Fraction) -> DrawnNumbers:
        """Return the place of the mode among the keys, or no answer."""
        del confidence
        found = self.mechanism.release(self.axes.counts(table))
        return [None if isinstance(found, NoAnswer) else int(found)]

    def may_have_drawn(self, drawn: Sequence[object]) -> bool:
        """Return whether this is the place of a key, or no answer."""
        if len(drawn) != 1:
            return False
        return drawn[0] is None or (isinstance(drawn[0], int) and 0 <= drawn[0] < self.axes.cells)

    def finish(self, drawn: DrawnNumbers, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the key."""
        del confidence
        values = np.empty(1, np.object_)
        if drawn[0] is None:
            offers = "no answer, which costs the same: a few rows may decide which key is the most frequent"
        else:
            values[0] = self.axes.columns[0][1].values[int(drawn[0])]
            offers = "the most frequent key, exactly; among equally frequent ones the first that was declared"
        return {}, AnswerColumn(name=self.name, values=values, offers=offers)

    def expect(self, confidence: Fraction) -> Expectation:
        """Return that an answer is exact, and from which lead on there is one."""
        lead = self.mechanism.lead_for(confidence)
        return Expectation(
            name=self.name,
            margin=0.0,
            standard_deviation=0.0,
            means="an answer is exact",
            assumes=f"an answer: given with {float(confidence):.0%} if the mode leads by {lead:,.0f} rows",
        )
