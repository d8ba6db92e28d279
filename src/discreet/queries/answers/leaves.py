"""The tables that a statement begins with: the answers of its measured questions, released or supposed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from discreet.curator.request.request import AnswerColumn, Draw, Part, Request
from discreet.data import GroupKey, Sum
from discreet.mechanisms import Gaussian, Laplace
from discreet.queries.answers.table import AnswerCells, AnswerTable, NoiseLaw
from discreet.queries.outputs.answer_rows import possible_numbers
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.calculation import PossibleWords
from discreet.queries.outputs.counts_sums_means import CountOutput, SumOutput
from discreet.queries.outputs.frequent import FrequentOutput
from discreet.queries.outputs.possible_numbers import PossibleNumbers

__all__ = ["open_table", "released_table", "supposed_table"]


def released_table(request: Request, draws: Sequence[Draw], share: Fraction) -> AnswerTable:
    """Return the table that was released for a request, with intervals at a confidence."""
    by_measure = {draw.part.measure: draw for draw in draws}
    columns: dict[str, AnswerCells] = {}
    for output in request.outputs:
        assert isinstance(output, QueryOutput)  # noqa: S101
        read = [by_measure[measure] for measure in output.measures]
        column = output.finish(read, share)
        law = _law([draw.part for draw in read], output, len(column.values))
        columns[output.name] = _cells(output, column, law)
    return _table(request.plan.keys, columns)


def supposed_table(
    request: Request, share: Fraction, rows: int, *, moved: tuple[str, int] | None = None
) -> AnswerTable:
    """Return a table as it might be released, if every group has a hypothetical number of rows.

    Parameters
    ----------
    request : Request
        What would be asked.
    share : Fraction
        The confidence of its intervals.
    rows : int
        The number of rows.
    moved : (output, row), optional
        Which value is off by its standard deviation.
    """
    cells = request.plan.cells
    columns: dict[str, AnswerCells] = {}
    for output in request.outputs:
        assert isinstance(output, QueryOutput)  # noqa: S101
        parts = [request.part_of(measure) for measure in output.measures]
        expected = output.expect(parts, share, rows)
        if isinstance(output, FrequentOutput):
            columns[output.name] = _open_cells(output, cells)
            continue
        value = np.full(cells, output.supposed(rows))
        low, high = value - expected.margin, value + expected.margin
        if moved is not None and moved[0] == output.name:
            value = value.copy()
            value[moved[1]] += expected.standard_deviation
        numbers = PossibleNumbers(low=low, value=value, high=high, null=np.zeros(cells, np.bool_))
        columns[output.name] = AnswerCells(values=numbers, noises=1, law=_law(parts, output, cells))
    return _table(request.plan.keys, columns)


def open_table(request: Request) -> AnswerTable:
    """Return a table of which nothing is known but its keys: every number is possible in every group."""
    columns = {}
    for output in request.outputs:
        assert isinstance(output, QueryOutput)  # noqa: S101
        parts = [request.part_of(measure) for measure in output.measures]
        columns[output.name] = _open_cells(
            output, request.plan.cells, _law(parts, output, request.plan.cells)
        )
    return _table(request.plan.keys, columns)


def _table(keys: Sequence[GroupKey], outputs: dict[str, AnswerCells]) -> AnswerTable:
    groups = list(product(*(key.values.values for key in keys)))
    named = {
        key.column: AnswerCells.public([group[place] for group in groups]) for place, key in enumerate(keys)
    }
    everything = np.ones(len(groups), np.bool_)
    return AnswerTable(columns={**named, **outputs}, released=everything, certain=everything)


def _cells(output: QueryOutput, column: AnswerColumn, law: NoiseLaw | None) -> AnswerCells:
    if isinstance(output, FrequentOutput):
        values = np.empty(len(column.values), np.object_)
        values[:] = list(column.values)
        return AnswerCells(values=PossibleWords(values=values, certain=False), noises=1, bare=True)
    return AnswerCells(
        values=possible_numbers(output, column),
        noises=1,
        law=law,
        bare=column.lower is None,
        unknown=None if column.unknown is None else np.asarray(column.unknown),
    )


def _open_cells(output: QueryOutput, cells: int, law: NoiseLaw | None = None) -> AnswerCells:
    if isinstance(output, FrequentOutput):
        values = np.empty(cells, np.object_)
        return AnswerCells(values=PossibleWords(values=values, certain=False), noises=1, bare=True)
    numbers = PossibleNumbers(
        low=np.full(cells, -np.inf),
        value=np.zeros(cells),
        high=np.full(cells, np.inf),
        null=np.full(cells, output.empty_is_null),
    )
    return AnswerCells(values=numbers, noises=1, law=law)


def _law(parts: Sequence[Part], output: QueryOutput, cells: int) -> NoiseLaw | None:
    """Return the law of a count or a sum whose groups have independent noises of their own."""
    noises = [part.mechanism for part in parts]
    own = [noise for noise in noises if isinstance(noise, Laplace | Gaussian)]
    if len(own) < len(noises) or not isinstance(output, CountOutput | SumOutput):
        return None
    if isinstance(output, CountOutput):
        return NoiseLaw(terms=((own[0], Fraction(1)),), places=np.arange(cells), counts=True)
    factors = [output.total.bounds.step]
    if output.count is not None and isinstance(output.total, Sum):
        factors.append(factors[0] * output.total.center_steps)
    return NoiseLaw(terms=tuple(zip(own, factors, strict=True)), places=np.arange(cells))
