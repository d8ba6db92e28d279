"""A column that is calculated from other outputs of the same request: public arithmetic, with an interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np

from discreet.curator.release.release import as_drawn
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Output, Part
from discreet.data import Expression, GroupKey, Measure
from discreet.data.language.description import describe_expression
from discreet.queries.outputs.answer_rows import AnswerRows, possible_numbers
from discreet.queries.outputs.base import QueryOutput, of_several
from discreet.queries.outputs.calculation import Evaluated, Evaluation, words_of
from discreet.queries.outputs.linear import Combinations, Term, independent, linear_parts
from discreet.queries.outputs.moment_parts import moment_parts
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.records import dataclass

__all__ = ["BY_NOISE", "NO_INTERVAL", "CalculatedOutput"]

NO_INTERVAL = "no interval, because a value that it is calculated from has none"
BY_NOISE = "decided by released values; of the exact ones it may be another"
_EXACT = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatedOutput(Output):
    """An expression over other outputs, keys and constants.

    Error
    -----
    The interval holds all that the expression gives for numbers within the intervals of the k outputs that it
    reads, each of which is made at the confidence 1 - (1 - c) / k: with at least the confidence c all of
    them hold their statistics (union bound), and then the result's holds that of the exact statistics (proof:
    aggregates, lemma 15). A linear combination of counts and sums, such as a difference, counts as one of
    the k, and has the error of the combination of their noises (proof: windows, lemma 7). So does what is
    calculated from moments, such as the slope of a regression (proof: delta_method, lemma 4).

    Attributes
    ----------
    name : str
        The name of the column.
    expression : Expression
        Over the names of outputs and keys; checked by `check_calculation`.
    reads : tuple of QueryOutput
        The outputs that it reads, each once.
    keys : tuple of GroupKey
        The keys of the groups.
    levels : tuple of tuples of bool
        By which of the keys each part of the answer is grouped, if it has totals.
    chosen : mapping of names to columns, optional
        Where groups were chosen: their keys.
    """

    name: str
    expression: Expression
    reads: tuple[QueryOutput, ...]
    keys: tuple[GroupKey, ...]
    levels: tuple[tuple[bool, ...], ...] = ()
    chosen: Mapping[str, Sequence[object]] | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the outputs measure that it reads."""
        return tuple(dict.fromkeys(measure for output in self.reads for measure in output.measures))

    @property
    def formula(self) -> str:
        """In words, without literals."""
        return describe_expression(self.expression)

    @property
    def identity(self) -> dict[str, object]:
        """None of its own: it is made of the outputs that it reads, which are part of the request."""
        return {}

    def for_groups(self, keys: Mapping[str, Sequence[object]]) -> CalculatedOutput:
        """Return the calculation for groups that were chosen."""
        return replace(self, chosen=keys)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return what the expression gives for released values, with its interval."""
        by_measure = {draw.part.measure: draw for draw in draws}
        noises = {measure: draw.part for measure, draw in by_measure.items()}
        moments = moment_parts(self.expression, self.reads, noises, self._entering, confidence)
        linear = linear_parts(moments.expression, self._terms(noises), moments.entering)
        share = of_several(confidence, max(linear.entering, 1))
        columns = [
            output.finish([by_measure[measure] for measure in output.measures], share)
            for output in self.reads
        ]
        numbers: dict[str, Evaluated] = {
            output.name: possible_numbers(output, column)
            for output, column in zip(self.reads, columns, strict=True)
        }
        size = self._rows.size if self.chosen is None else len(next(iter(self.chosen.values())))
        numbers |= {**self._further(by_measure, share), **moments.numbers(by_measure, share)}
        found = self._evaluated(
            {**numbers, **linear.numbers(numbers, noises, share)}, size, linear.expression
        )
        if isinstance(found, PossibleNumbers) and self._is_noisy:
            return self._column(found, columns, draws)
        return self._without_interval(found)

    @property
    def _entering(self) -> int:
        """How many columns with noise it reads."""
        return len(self.reads)

    def _terms(self, noises: Mapping[Measure, Part]) -> dict[str, Term]:
        """Return which of the columns that it reads have noises of their own."""
        found = {
            output.name: independent(output, [noises[measure] for measure in output.measures])
            for output in self.reads
        }
        return {name: one for name, one in found.items() if one is not None}

    def _linear(self, noises: Mapping[Measure, Part]) -> Combinations:
        return linear_parts(self.expression, self._terms(noises), self._entering)

    def _further(self, draws: Mapping[Measure, Draw], confidence: Fraction) -> Mapping[str, Evaluated]:
        """Return what else the expression reads, at a confidence for each."""
        del draws, confidence
        return {}

    @property
    def _rows(self) -> AnswerRows:
        return AnswerRows(keys=self.keys, levels=self.levels)

    @property
    def _is_noisy(self) -> bool:
        """Whether noise has a part in it."""
        return bool(self.reads)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return how wrong the column will be for plausible statistics of a number of rows.

        The margin is that of the interval around the values that `QueryOutput.supposed` names. The deviation
        is of first order: each output is moved by its own.
        """
        by_measure = {part.measure: part for part in parts}
        linear, deviations = self._linear(by_measure), dict[str, float]()
        supposed: dict[str, PossibleNumbers] = {}
        share = of_several(confidence, max(linear.entering, 1))
        for output in self.reads:
            one = output.expect([by_measure[measure] for measure in output.measures], share, rows)
            value = np.array([output.supposed(rows)])
            supposed[output.name] = PossibleNumbers(
                low=value - one.margin, value=value, high=value + one.margin, null=np.array([False])
            )
            deviations[output.name] = one.standard_deviation
        further = linear.numbers(supposed, by_measure, share)
        found = self._evaluated({**supposed, **further}, 1, linear.expression)
        if not isinstance(found, PossibleNumbers) or not self._is_noisy:
            means = BY_NOISE if self._is_noisy else "exact"
            return Expectation(name=self.name, margin=0.0, standard_deviation=0.0, means=means)
        middle, squares = found.value[0], 0.0  # the same as without combinations
        for name, one_supposed in supposed.items():
            moved = {**supposed, name: replace(one_supposed, value=one_supposed.value + deviations[name])}
            other = self._evaluated(moved, 1)
            assert isinstance(other, PossibleNumbers)  # noqa: S101
            squares += float(other.value[0] - middle) ** 2
        margin = float(max(found.high[0] - middle, middle - found.low[0]))
        known = bool(np.isfinite(margin) and np.isfinite(squares))
        return Expectation(
            name=self.name,
            margin=margin if known else float("inf"),
            standard_deviation=sqrt(squares) if known else float("inf"),
            assumes=f"{rows} rows in every group, and sums as large as bounds allow" if known else "",
            means="" if known else "depends on the values",
        )

    def _evaluated(
        self, numbers: Mapping[str, Evaluated], groups: int, expression: Expression | None = None
    ) -> Evaluated:
        """Return what the calculation gives, or one in the place of it."""
        node = self.expression if expression is None else expression
        if self.chosen is not None:
            keys = {name: list(one)[:groups] for name, one in self.chosen.items()}
            return Evaluation(numbers, keys, groups).of(node)
        return self._rows.evaluation(numbers, [node], groups).of(node)

    def _column(
        self, found: PossibleNumbers, columns: Sequence[AnswerColumn], draws: Sequence[Draw]
    ) -> AnswerColumn:
        value, none = found.value, found.low > found.high
        lower = np.where(none, np.nan, np.fmin(found.low, value))
        upper = np.where(none, np.nan, np.fmax(found.high, value))
        unknown = np.isinf(lower) | np.isinf(upper) | np.isnan(value)
        for column in columns:
            if column.unknown is not None:
                unknown = unknown | np.asarray(column.unknown)
        arrays = [value, lower, upper]
        if found.whole and all(bool((np.abs(array) < _EXACT).all()) for array in arrays):
            arrays = [array.astype(np.int64) for array in arrays]
        value, lower, upper = (as_drawn(array, draws) for array in arrays)
        if any(column.lower is None for column in columns):
            return AnswerColumn(name=self.name, values=value, offers=NO_INTERVAL, unknown=unknown)
        return AnswerColumn(name=self.name, values=value, lower=lower, upper=upper, unknown=unknown)

    def _without_interval(self, found: Evaluated) -> AnswerColumn:
        """Return text and truth values, and what is calculated from keys and constants alone."""
        words = words_of(found)
        offers = BY_NOISE if self._is_noisy and not words.certain else ""
        kinds, values = {type(value) for value in words.values}, words.values
        if kinds == {int}:
            return AnswerColumn(name=self.name, values=values.astype(np.int64), offers=offers)
        if kinds and kinds <= {int, float}:
            return AnswerColumn(name=self.name, values=values.astype(np.float64), offers=offers)
        return AnswerColumn(name=self.name, values=values, offers=offers)
