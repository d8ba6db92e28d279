"""Windows over the rows of an answer: frames by released values, and what exact statistics give in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data import Expression
from discreet.data.language.expressions import Column, columns_of
from discreet.queries.outputs.answer_rows import AnswerRows
from discreet.queries.outputs.base import QueryOutput, of_several
from discreet.queries.outputs.calculation import Evaluated, Evaluation, PossibleWords, words_of
from discreet.queries.outputs.frame_noises import FrameCells
from discreet.queries.outputs.possible_numbers import PossibleNumbers, chosen
from discreet.queries.outputs.windows.window_frames import Frames, Partition, SortedBy, framed, partitioned
from discreet.queries.outputs.windows.window_ranks import RankedBy, possible_ranks, ranks
from discreet.queries.outputs.windows.window_values import (
    counted_in_frames,
    extreme,
    mean_of,
    picked,
    place_in_frame,
    sums_over,
    whole_numbers,
)
from discreet.queries.question.answer_windows import AnswerFunction, AnswerWindow, WindowOrder
from discreet.records import dataclass

__all__ = ["SumOfGroups", "WindowEvaluation", "row_taken", "rows_summed"]

_SINGLE = {
    AnswerFunction.LAG,
    AnswerFunction.LEAD,
    AnswerFunction.FIRST_VALUE,
    AnswerFunction.LAST_VALUE,
    AnswerFunction.NTH_VALUE,
}
_Places = NDArray[np.int64]


class SumOfGroups(ABC):
    """An output of which sums over many groups have a law of their own."""

    __slots__ = ()

    @abstractmethod
    def over(self, rows: _Places, start: _Places, end: _Places, confidence: Fraction) -> PossibleNumbers:
        """Return the sums over frames of rows, each at the confidence; NULL where a frame is empty."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowEvaluation:
    """Evaluates windows.

    Attributes
    ----------
    rows : AnswerRows
        The rows of the answer.
    outputs : sequence of QueryOutput
        What windows may read.
    numbers : callable
        Returns what an output can be in every row, each at a confidence.
    added : callable
        Returns the sums of an output over many groups, if these have a law of their own.
    kept : Expression or None
        Of which rows there are windows.
    """

    rows: AnswerRows
    outputs: Sequence[QueryOutput]
    numbers: Callable[[QueryOutput, Fraction], PossibleNumbers]
    added: Callable[[QueryOutput], SumOfGroups | None]
    kept: Expression | None

    def of(self, window: AnswerWindow, confidence: Fraction) -> Evaluated:
        """Return what a window gives in every row, each at the confidence; 0 in rows that are not left."""
        partitions = list(self._partitions(window, confidence))
        if window.function.ranks:
            return self._ranks(window, partitions, confidence)
        frames, adding = framed(partitions, window.frame), self._adding(window)
        if adding is not None:
            total = adding.over(frames.rows, frames.start, frames.end, confidence)
            return self._placed(
                frames, total if window.function is AnswerFunction.SUM else _mean(total, frames)
            )
        if window.operand is None:
            return self._placed(frames, whole_numbers(frames.end - frames.start))
        operand, default = self._operands(window, frames, confidence)
        if isinstance(operand, PossibleNumbers) and isinstance(default, PossibleNumbers | None):
            other = None if default is None else _at(default, frames.rows)
            return self._placed(frames, _taken(window, _at(operand, frames.rows), other, frames))
        return self._words(window, frames, operand, default)

    def _is_certain(self, names: frozenset[str]) -> bool:
        return not names & {output.name for output in self.outputs}

    def _settled(self, window: AnswerWindow) -> bool:
        """Return whether keys alone decide which groups are taken together, and in which order."""
        kept = frozenset[str]() if self.kept is None else columns_of(self.kept)
        return self._is_certain(window.placing | kept)

    def _evaluation(self, expressions: Sequence[Expression], confidence: Fraction) -> Evaluation:
        read = frozenset[str]().union(*map(columns_of, expressions))
        numbers: dict[str, Evaluated] = {
            output.name: self.numbers(output, confidence) for output in self.outputs if output.name in read
        }
        return self.rows.evaluation(numbers, expressions)

    def _partitions(self, window: AnswerWindow, confidence: Fraction) -> Iterator[Partition]:
        expressions = [*window.partition, *(one.expression for one in window.order)]
        expressions += [] if self.kept is None else [self.kept]
        evaluation = self._evaluation(expressions, confidence)
        left = np.arange(self.rows.size)
        if self.kept is not None:
            left = left[evaluation.truth(self.kept).value == 1]
        together = [words_of(evaluation.of(one)).values.tolist() for one in window.partition]
        order = [_sorted_by(evaluation, one) for one in window.order]
        yield from partitioned(left.tolist(), together, order)

    def _adding(self, window: AnswerWindow) -> SumOfGroups | None:
        """Return the sums of an output whose noises are independent, if that is what the window takes."""
        if window.function not in {AnswerFunction.SUM, AnswerFunction.MEAN} or not self._settled(window):
            return None
        operand = window.operand
        found = [one for one in self.outputs if isinstance(operand, Column) and one.name == operand.name]
        return self.added(found[0]) if found and not self.rows.levels else None

    def _operands(
        self, window: AnswerWindow, frames: Frames, confidence: Fraction
    ) -> tuple[Evaluated, Evaluated | None]:
        """Return what a window is taken of, in every row, such that all that enters holds at once."""
        operand, default = window.operand, window.default
        assert operand is not None  # noqa: S101
        expressions = [operand] if default is None else [operand, default]
        if not self._settled(window):
            entering = self.rows.size
        elif window.function in _SINGLE:
            entering = 1
        else:
            entering = int((frames.end - frames.start).max(initial=1))
        level = of_several(confidence, max(self._outputs_in(*expressions) * entering, 1))
        evaluation = self._evaluation(expressions, level)
        return evaluation.of(operand), None if default is None else evaluation.of(default)

    def _outputs_in(self, *expressions: Expression) -> int:
        read = frozenset[str]().union(*map(columns_of, expressions))
        return sum(output.name in read for output in self.outputs)

    def _ranks(
        self, window: AnswerWindow, partitions: Sequence[Partition], confidence: Fraction
    ) -> PossibleNumbers:
        noisy = [
            place
            for place, one in enumerate(window.order)
            if not self._is_certain(columns_of(one.expression))
        ]
        ends: _RankEnds | None = None
        if noisy:
            settled = self._settled(replace(window, order=()))
            entering = max(map(len, (one.rows for one in partitions)), default=1)
            expressions = [one.expression for one in window.order]
            count = self._outputs_in(expressions[noisy[0]]) * (entering if settled else self.rows.size)
            evaluation = self._evaluation(expressions, of_several(confidence, max(count, 1)))
            ends = _rank_ends(window, evaluation, noisy[0], self.rows.size)
        found = []
        for one in partitions:
            by = None if ends is None else ends.of(one)
            low, value, high = ranks(window.function, window.parameter, one, by)
            found.append((one.rows, possible_ranks(low, value, high, whole=window.function.whole)))
        return self._joined(found)

    def _placed(self, frames: Frames, one: PossibleNumbers) -> PossibleNumbers:
        """Return the numbers of places as those of all rows."""
        return self._joined([(frames.rows, one)])

    def _joined(self, parts: Sequence[tuple[_Places, PossibleNumbers]]) -> PossibleNumbers:
        """Return the numbers of some rows as those of all rows."""
        size = self.rows.size
        low, value, high = (np.zeros(size) for _ in range(3))
        null, whole = np.zeros(size, np.bool_), True
        for rows, one in parts:
            low[rows], value[rows], high[rows], null[rows] = one.low, one.value, one.high, one.null
            whole = whole and one.whole
        return PossibleNumbers(low=low, value=value, high=high, null=null, whole=whole)

    def _words(
        self, window: AnswerWindow, frames: Frames, operand: Evaluated, default: Evaluated | None
    ) -> PossibleWords:
        words = words_of(operand)
        others = None if default is None else words_of(default)
        found: NDArray[Any] = np.full(self.rows.size, None, np.object_)
        places = place_in_frame(window.function, window.parameter, frames)
        for row, place in zip(frames.rows.tolist(), places.tolist(), strict=True):
            if place >= 0:
                found[row] = words.values[frames.rows[place]]
            elif others is not None:
                found[row] = others.values[row]
        certain = words.certain and (others is None or others.certain) and self._settled(window)
        return PossibleWords(values=found, certain=certain)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _RankEnds:
    """What ranks are decided by, in every row: certain orders, and then what a noisy number can be."""

    before: Sequence[SortedBy]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    ties: bool

    def of(self, partition: Partition) -> RankedBy:
        """Return the same of the rows of a partition."""
        (sorted_again,) = partitioned(partition.rows.tolist(), [], self.before)
        place = {
            row: int(first) for row, first in zip(sorted_again.rows, sorted_again.first_peer, strict=True)
        }
        classes = np.array([place[row] for row in partition.rows], np.int64)
        rows = partition.rows
        return RankedBy(classes=classes, low=self.low[rows], high=self.high[rows], ties=self.ties)


def _rank_ends(window: AnswerWindow, evaluation: Evaluation, noisy: int, size: int) -> _RankEnds:
    """Return what the first noisy order of a window can be, and the certain ones before it.

    It is worked out once for all partitions: an answer may have as many of them as rows.
    """
    order = window.order[noisy]
    found = evaluation.of(order.expression)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    if isinstance(found, PossibleNumbers):
        ends = found.outward()
        null = found.null | (ends[0] > ends[1])
        low, high = np.where(null, low, ends[0]), np.where(null, high, ends[1])
    if order.descending:
        low, high = -high, -low
    before = [_sorted_by(evaluation, one) for one in window.order[:noisy]]
    return _RankEnds(before=before, low=low, high=high, ties=len(window.order) > noisy + 1)


def _sorted_by(evaluation: Evaluation, one: WindowOrder) -> SortedBy:
    return SortedBy(
        values=words_of(evaluation.of(one.expression)).values.tolist(),
        descending=one.descending,
        missing_first=one.missing_first,
    )


def row_taken(
    window: AnswerWindow, rows: AnswerRows, outputs: Sequence[QueryOutput], kept: Expression | None
) -> _Places | None:
    """Return from which row a window takes its value, or -1; None unless keys alone decide, and it is one."""
    frames = _public_frames(window, rows, outputs, kept)
    if window.function not in _SINGLE or window.default is not None or frames is None:
        return None
    places = place_in_frame(window.function, window.parameter, frames)
    found = np.full(rows.size, -1, np.int64)
    found[frames.rows] = np.where(places >= 0, frames.rows[places], -1)
    return found


def rows_summed(
    window: AnswerWindow, rows: AnswerRows, outputs: Sequence[QueryOutput], kept: Expression | None
) -> FrameCells | None:
    """Return which rows a window adds up or averages; None unless keys alone decide, and it does."""
    frames = _public_frames(window, rows, outputs, kept)
    if window.function not in {AnswerFunction.SUM, AnswerFunction.MEAN} or frames is None:
        return None
    start, end = np.zeros(rows.size, np.int64), np.zeros(rows.size, np.int64)
    start[frames.rows], end[frames.rows] = frames.start, frames.end
    divided = window.function is AnswerFunction.MEAN
    return FrameCells(order=frames.rows, start=start, end=end, divided=divided)


def _public_frames(
    window: AnswerWindow, rows: AnswerRows, outputs: Sequence[QueryOutput], kept: Expression | None
) -> Frames | None:
    """Return the frames of a window, if keys alone decide them."""

    def unread(*_: object) -> Any:
        raise AssertionError("what keys alone decide reads no output")

    evaluation = WindowEvaluation(rows=rows, outputs=outputs, numbers=unread, added=unread, kept=kept)
    if not evaluation._settled(window):
        return None
    return framed(list(evaluation._partitions(window, Fraction(1, 2))), window.frame)


def _taken(
    window: AnswerWindow, one: PossibleNumbers, default: PossibleNumbers | None, frames: Frames
) -> PossibleNumbers:
    """Return what a window takes of numbers, in the order of its partitions."""
    function, start, end = window.function, frames.start, frames.end
    if function is AnswerFunction.SUM:
        return sums_over(one, start, end)
    if function is AnswerFunction.MEAN:
        return mean_of(one, sums_over(one, start, end), start, end)
    if function is AnswerFunction.COUNT:
        return counted_in_frames(one, start, end)
    if function in {AnswerFunction.MINIMUM, AnswerFunction.MAXIMUM}:
        return extreme(one, start, end, largest=function is AnswerFunction.MAXIMUM)
    places = place_in_frame(function, window.parameter, frames)
    found = picked(one, places)
    if default is None:
        return found
    missing = places < 0
    return chosen(missing, missing, ~missing, default, found)


def _mean(total: PossibleNumbers, frames: Frames) -> PossibleNumbers:
    """Return sums divided by the public number of what was added up."""
    return mean_of(whole_numbers(np.zeros(len(frames.rows))), total, frames.start, frames.end)


def _at(one: PossibleNumbers, rows: _Places) -> PossibleNumbers:
    return replace(one, low=one.low[rows], value=one.value[rows], high=one.high[rows], null=one.null[rows])
