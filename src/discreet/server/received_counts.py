"""Ranges and marginals that a server answered: any count within them is read there, at no cost.

The strategy that was measured stays on the server, and with it the error of every count; so a count is asked
for, and what comes back was computed from the stored answer. No row is read for it and nothing is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.curator import Release
from discreet.data.language.relations import Source
from discreet.errors import ParameterError
from discreet.privacy.decimals import number
from discreet.privacy.rational import Number
from discreet.queries.counts import CumulativeQuestion, LinearQuestion, MarginalsQuestion, RangesQuestion
from discreet.records import dataclass
from discreet.server.wire_form import ReceivedRelease, received, received_release
from discreet.visible import visible

__all__ = ["ReceivedCount", "ReceivedCounts", "received_counts", "sent_question"]

ReadCounts = Callable[[list[dict[str, object]]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReceivedCount:
    """One count, with its interval.

    Attributes
    ----------
    value : float
        Unbiased.
    standard_error : float
        The root of its variance, exactly known.
    lower, upper : float
        Its interval, at the confidence of the question.
    about : str
        What was asked, in words.
    """

    value: float
    standard_error: float
    lower: float
    upper: float
    about: str = ""

    def interval(self) -> tuple[float, float]:
        """Return the interval, at the confidence of the question."""
        return self.lower, self.upper

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        margin = self.upper - self.value
        asked = f"{visible(self.about)}: " if self.about else ""
        return f"{asked}{number(self.value, margin)} ± {number(margin, margin, side=1)}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReceivedCounts(ReceivedRelease):
    """The cells of ranges or marginals, as a table; `count` reads any range, box or marginal count.

    Attributes
    ----------
    column : str
        The one whose ranges are meant where none is named; empty if there are several.
    read : callable
        Asks the server for counts.
    """

    column: str = ""
    read: ReadCounts = field(repr=False)

    def count(
        self, low: Number | None = None, high: Number | None = None, /, **conditions: object
    ) -> ReceivedCount:
        """Return how many rows lie in a range or have keys; as `count` of a curator's answer."""
        return self._counted([self._conditions(low, high, conditions)])[0]

    def counts(self, edges: Sequence[Number | None], /, **conditions: object) -> list[ReceivedCount]:
        """Return the counts between neighboring edges, such as ``counts([0, 18, 40, 65, None])``."""
        return self._counted([self._conditions(low, high, conditions) for low, high in pairwise(edges)])

    def _conditions(
        self, low: Number | None, high: Number | None, conditions: Mapping[str, object]
    ) -> dict[str, object]:
        sent = {name: _condition(name, value) for name, value in conditions.items()}
        if low is None and high is None:
            return sent
        if not self.column or self.column in sent:
            allowed = "ranges by name, such as age=(20, 40)"
            raise ParameterError("range", "does not say which column it is for", allowed)
        return {self.column: _condition(self.column, (low, high)), **sent}

    def _counted(self, asked: list[dict[str, object]]) -> list[ReceivedCount]:
        content = self.read(asked)
        with received():
            found = [
                ReceivedCount(
                    value=float(one["value"]),
                    standard_error=float(one["standard_error"]),
                    lower=float(one["interval"][0]),
                    upper=float(one["interval"][1]),
                    about=visible(one["about"]),
                )
                for one in content["counts"]
            ]
            if len(found) != len(asked):
                raise ParameterError("counts", "are not as many as were asked", "as many")
        return found


def sent_question(question: LinearQuestion) -> dict[str, object]:
    """Return what is sent for many counts: names and numbers. Rows are those of a whole table."""
    if not isinstance(question.relation, Source):
        raise ParameterError("question", "is about chosen rows, which cannot be sent", "a whole table")
    content: dict[str, object] = {"table": question.table}
    if isinstance(question, MarginalsQuestion):
        width: object = dict(question.widths) or question.width
        content |= {"kind": "marginals", "sets": [list(one) for one in question.sets]}
    elif isinstance(question, RangesQuestion):
        is_curve = isinstance(question, CumulativeQuestion)
        width = dict(question.widths) or None
        if is_curve and question.widths:
            width = question.widths[0][1]
        listed = {name: list(keys.values) for name, keys in question.listed}
        content |= {"kind": "cdf" if is_curve else "ranges", "by": listed or list(question.by)}
        if listed and set(listed) != set(question.by):
            raise ParameterError("by", "lists keys of some columns only", "of all, or of none")
    else:
        raise ParameterError("question", "cannot be sent", "SQL, dp.ranges, dp.cdf or dp.marginals")
    sent = {name: _number(one) for name, one in width.items()} if isinstance(width, dict) else _number(width)
    return {**content, "columns": list(question.columns), "width": sent}


def received_counts(content: Mapping[str, Any], question: LinearQuestion, read: ReadCounts) -> Release:
    """Return the answer to many counts that a server sent."""
    release = received_release(content)
    columns = question.columns if isinstance(question, RangesQuestion) else ()
    own = {one.name: getattr(release, one.name) for one in fields(ReceivedRelease)}
    return ReceivedCounts(**own, column=columns[0] if len(columns) == 1 else "", read=read)


def _condition(name: str, value: object) -> object:
    if isinstance(value, list | tuple | set | frozenset):
        return [_condition(name, one) for one in value]
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float | Fraction):
        return str(value)
    raise ParameterError(name, "cannot be sent to a server", "numbers, texts, and lists of them")


def _number(value: object) -> object:
    return value if value is None or isinstance(value, int | str) else str(value)
