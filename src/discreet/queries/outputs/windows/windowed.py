"""A column that is calculated from windows over the answer, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.curator.request.request import Draw, Expectation, Part
from discreet.data import Expression, Measure
from discreet.data.language.expressions import Column, columns_of
from discreet.queries.outputs.answer_rows import possible_numbers
from discreet.queries.outputs.base import QueryOutput, of_several
from discreet.queries.outputs.calculated import CalculatedOutput
from discreet.queries.outputs.calculation import Evaluated
from discreet.queries.outputs.counts_sums_means import CountOutput, SumOutput
from discreet.queries.outputs.frame_noises import few_enough
from discreet.queries.outputs.linear import Term, independent
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.queries.outputs.summed import exact_sums, noise_adds_up, summed_draw, summed_part
from discreet.queries.outputs.windows.window_evaluation import (
    SumOfGroups,
    WindowEvaluation,
    row_taken,
    rows_summed,
)
from discreet.queries.question.answer_windows import AnswerWindow
from discreet.records import dataclass

__all__ = ["WindowedOutput"]

_ONE_DEVIATION = Fraction(6827, 10000)
"""The confidence at which a margin of normal noise is its deviation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowedOutput(CalculatedOutput):
    """An expression over windows, outputs, keys and constants.

    Error
    -----
    As for `CalculatedOutput`, where each window counts as one of the k things that are read, and has an
    interval of the confidence 1 - (1 - c) / k. That of a window over m groups holds what the window gives
    for numbers within intervals of all m at once or, for sums of counts and sums that public keys take
    together, is that of a sum of m noises (proof: windows, lemmas 2 and 3).

    Attributes
    ----------
    windows : tuple of AnswerWindow
        The windows that it reads.
    sources : tuple of QueryOutput
        The outputs that the windows read, or that decide which groups are left.
    kept : Expression or None
        The condition that HAVING states; windows see groups for which it is TRUE of released values.
    """

    windows: tuple[AnswerWindow, ...]
    sources: tuple[QueryOutput, ...]
    kept: Expression | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the outputs measure that it or its windows read."""
        outputs = (*self.reads, *self.sources)
        return tuple(dict.fromkeys(measure for output in outputs for measure in output.measures))

    @property
    def _is_noisy(self) -> bool:
        names = {output.name for output in self.sources}
        decided = self.kept is not None and bool(columns_of(self.kept) & names)
        return bool(self.reads) or decided or any(one.reads & names for one in self.windows)

    @property
    def _entering(self) -> int:
        return len(self.reads) + len(self.windows)

    def _terms(self, noises: Mapping[Measure, Part]) -> dict[str, Term]:
        """Return also the windows that take another row, or sums of rows, of a column with its own noises."""
        found = CalculatedOutput._terms(self, noises)
        if self.levels or self.chosen is not None:
            return found
        by_name = {output.name: output for output in self.sources}
        for window in self.windows:
            output = by_name.get(window.operand.name) if isinstance(window.operand, Column) else None
            if output is None:
                continue
            term = independent(output, [noises[measure] for measure in output.measures])
            if term is None:
                continue
            places = row_taken(window, self._rows, self.sources, self.kept)
            if places is not None:
                found[window.name] = replace(term, places=places)
            elif output.measured_together is None and few_enough(self._rows.size):
                frames = rows_summed(window, self._rows, self.sources, self.kept)
                if frames is not None:
                    found[window.name] = replace(term, frames=frames)
        return found

    def _further(self, draws: Mapping[Measure, Draw], confidence: Fraction) -> Mapping[str, Evaluated]:
        def numbers(output: QueryOutput, level: Fraction) -> PossibleNumbers:
            read = [draws[measure] for measure in output.measures]
            return possible_numbers(output, output.finish(read, level))

        def added(output: QueryOutput) -> SumOfGroups | None:
            read = [draws[measure] for measure in output.measures]
            parts = [draw.part for draw in read]
            if not isinstance(output, CountOutput | SumOutput) or not noise_adds_up(parts, self._rows.size):
                return None
            return _DrawnSums(output=output, draws=read)

        return self._windows(numbers, added, confidence)

    def _windows(
        self,
        numbers: Callable[[QueryOutput, Fraction], PossibleNumbers],
        added: Callable[[QueryOutput], SumOfGroups | None],
        confidence: Fraction,
    ) -> dict[str, Evaluated]:
        evaluation = WindowEvaluation(
            rows=self._rows, outputs=self.sources, numbers=numbers, added=added, kept=self.kept
        )
        return {one.name: evaluation.of(one, confidence) for one in self.windows}

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return how wrong the column will be, at most, if each group has a hypothetical number of rows.

        The deviation is the margin at the confidence at which that of normal noise is its deviation.
        """
        if not self._is_noisy:
            return Expectation(name=self.name, margin=0.0, standard_deviation=0.0, means="exact")
        margin, deviation = (self._expected(parts, one, rows) for one in (confidence, _ONE_DEVIATION))
        if margin is None or deviation is None or not np.isfinite(margin):
            return Expectation(
                name=self.name,
                margin=float("inf"),
                standard_deviation=float("inf"),
                means="depends on the values",
            )
        return Expectation(
            name=self.name,
            margin=margin,
            standard_deviation=deviation,
            assumes=f"{rows} rows in every group, and sums as large as bounds allow",
        )

    def _expected(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> float | None:
        """Return the largest margin of any group, or None if it cannot be said."""
        by_measure = {part.measure: part for part in parts}
        size, linear = self._rows.size, self._linear(by_measure)
        share = of_several(confidence, max(linear.entering, 1))

        def numbers(output: QueryOutput, level: Fraction) -> PossibleNumbers:
            read = [by_measure[measure] for measure in output.measures]
            margin, value = output.expect(read, level, rows).margin, output.supposed(rows)
            return _around(np.full(size, value), np.full(size, margin))

        def added(output: QueryOutput) -> SumOfGroups | None:
            read = [by_measure[measure] for measure in output.measures]
            if not isinstance(output, CountOutput | SumOutput) or not noise_adds_up(read, size):
                return None
            return _SupposedSums(output=output, parts=read, rows=rows)

        names = {output.name for output in self.sources}
        if any(one.function.ranks and one.placing & names for one in self.windows):
            return None
        known: dict[str, Evaluated] = {output.name: numbers(output, share) for output in self.reads}
        known |= self._windows(numbers, added, share)
        found = self._evaluated(
            {**known, **linear.numbers(known, by_measure, share)}, size, linear.expression
        )
        if not isinstance(found, PossibleNumbers):
            return 0.0
        present = ~np.isnan(found.value)
        if not present.any():
            return None
        return float(np.maximum(found.high - found.value, found.value - found.low)[present].max())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _DrawnSums(SumOfGroups):
    """Sums of released integers over frames."""

    output: CountOutput | SumOutput
    draws: Sequence[Draw]

    def over(
        self, rows: np.ndarray, start: np.ndarray, end: np.ndarray, confidence: Fraction
    ) -> PossibleNumbers:
        sizes = end - start
        low, value, high = (np.full(len(start), np.nan) for _ in range(3))
        cumulated = []
        for draw in self.draws:
            steps = exact_sums(draw.steps, len(draw.steps))[rows]
            cumulated.append(np.concatenate([np.zeros(1, steps.dtype), np.cumsum(steps)]))
        whole = True
        for size in np.unique(sizes[sizes > 0]).tolist():
            at = sizes == size
            summed = [
                summed_draw(draw, sums[end[at]] - sums[start[at]], size)
                for draw, sums in zip(self.draws, cumulated, strict=True)
            ]
            found = possible_numbers(self.output, self.output.finish(summed, confidence))
            low[at], value[at], high[at] = found.low, found.value, found.high
            whole = whole and found.whole
        return _or_missing(low, value, high, sizes == 0, whole=whole)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _SupposedSums(SumOfGroups):
    """Sums of supposed numbers over frames."""

    output: CountOutput | SumOutput
    parts: Sequence[Part]
    rows: int

    def over(
        self, rows: np.ndarray, start: np.ndarray, end: np.ndarray, confidence: Fraction
    ) -> PossibleNumbers:
        del rows
        sizes = end - start
        margins = {
            size: self.output.expect(
                [summed_part(part, size) for part in self.parts], confidence, self.rows * size
            ).margin
            for size in np.unique(sizes[sizes > 0]).tolist()
        }
        value = sizes * self.output.supposed(self.rows)
        margin = np.array([margins.get(size, 0.0) for size in sizes.tolist()])
        return _or_missing(value - margin, value, value + margin, sizes == 0, whole=False)


def _around(value: np.ndarray, margin: np.ndarray) -> PossibleNumbers:
    return _or_missing(value - margin, value, value + margin, np.isnan(value), whole=False)


def _or_missing(
    low: np.ndarray, value: np.ndarray, high: np.ndarray, none: np.ndarray, *, whole: bool
) -> PossibleNumbers:
    return PossibleNumbers(
        low=np.where(none, np.inf, low),
        value=np.where(none, np.nan, value),
        high=np.where(none, -np.inf, high),
        null=none,
        whole=whole,
    )
