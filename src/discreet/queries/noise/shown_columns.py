"""The columns that an answer shows, if these are not its outputs: totals, and what is calculated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.curator.request.request import LARGEST_ANSWER, Output, Request
from discreet.data import Expression, GroupKey
from discreet.data.language.expressions import Column, columns_of
from discreet.errors import UnsupportedQuery
from discreet.queries.outputs.answer_rows import AnswerRows
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.key_functions import key_schema, public_column, separated
from discreet.queries.outputs.leveled import LeveledOutput
from discreet.queries.outputs.summed import summed_part
from discreet.queries.question.post_processing import PostProcessing
from discreet.queries.question.query import Query

if TYPE_CHECKING:
    from discreet.queries.outputs.calculated import CalculatedOutput

__all__ = ["showing"]


def showing(query: Query, request: Request) -> Request:
    """Return the request with the columns that the query shows, if these are not its outputs."""
    after = query.after
    if query.shown == query.names and not after.levels:
        return request
    keys, levels = request.plan.keys, after.levels
    if levels and AnswerRows(keys=keys, levels=levels).size > LARGEST_ANSWER:
        raise UnsupportedQuery(
            f"the answer would hold more than {LARGEST_ANSWER} groups; ask for fewer levels or keys"
        )
    if levels:
        _check_sums(request)
    outputs = {output.name: output for output in request.outputs if isinstance(output, QueryOutput)}
    if levels:
        outputs = {
            name: LeveledOutput(name=name, output=output, keys=keys, levels=levels)
            for name, output in outputs.items()
        }
    columns: dict[str, Output] = dict(outputs)
    for one in after.calculated:
        columns[one.name] = _calculated(one.name, one.expression, after, outputs, request)
    _work_out_functions(after, keys)
    return replace(request, shown=tuple(columns[name] for name in query.shown), levels=levels)


def _calculated(
    name: str,
    expression: Expression,
    after: PostProcessing,
    outputs: dict[str, QueryOutput],
    request: Request,
) -> CalculatedOutput:
    from discreet.queries.outputs.calculated import CalculatedOutput  # what few questions need loads then
    from discreet.queries.outputs.windows.windowed import WindowedOutput

    read, keys = columns_of(expression), request.plan.keys
    reads = tuple(output for other, output in outputs.items() if other in read)
    windows = tuple(window for window in after.windows if window.name in read)
    if not windows:
        return CalculatedOutput(name=name, expression=expression, reads=reads, keys=keys, levels=after.levels)
    kept = _written_out(after)
    seen = frozenset[str]().union(*(window.reads for window in windows))
    seen |= frozenset() if kept is None else columns_of(kept)
    return WindowedOutput(
        name=name,
        expression=expression,
        reads=reads,
        keys=keys,
        levels=after.levels,
        windows=windows,
        sources=tuple(output for other, output in outputs.items() if other in seen),
        kept=kept,
    )


def _work_out_functions(after: PostProcessing, keys: tuple[GroupKey, ...]) -> None:
    """Work out functions of keys now, so that nothing that an engine can do happens after the charge."""
    schema = key_schema(keys)
    expressions = [one.expression for one in after.calculated]
    expressions += [one for window in after.windows for one in window.expressions()]
    for expression in expressions:
        for part in separated(expression, schema)[1].values():
            public_column(part, keys, after.levels)


def _written_out(after: PostProcessing) -> Expression | None:
    """Return what HAVING states, in place of the name of the calculation that states it."""
    having = after.having
    if isinstance(having, Column):
        return next((one.expression for one in after.calculated if one.name == having.name), having)
    return having


def _check_sums(request: Request) -> None:
    """Refuse noise that is too large to be added up over all groups, before anything is charged."""
    if request.plan.cells > 1:
        for part in request.parts:
            summed_part(part, request.plan.cells)
