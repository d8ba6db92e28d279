"""Types of windows over an answer, and which aggregates have totals."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.data.language.types import Schema, Type
from discreet.errors import UnsupportedQuery
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.key_functions import check_over_answer
from discreet.queries.outputs.summed import has_totals
from discreet.queries.question.answer_levels import AnswerLevels
from discreet.queries.question.answer_windows import AnswerFunction, AnswerWindow

__all__ = ["check_additive", "window_type"]

_OF_NUMBERS = {AnswerFunction.SUM, AnswerFunction.MEAN, AnswerFunction.MINIMUM, AnswerFunction.MAXIMUM}


def window_type(window: AnswerWindow, schema: Schema, keys: Schema) -> Type:
    """Return the type of a window over columns of an answer, of which some are public keys, or refuse it."""
    kinds = {one: check_over_answer(one, schema, keys) for one in window.expressions()}
    function = window.function
    if function.whole:
        return Type.INTEGER
    if function.ranks or window.operand is None:
        return Type.FLOAT
    kind = kinds[window.operand]
    if function in _OF_NUMBERS and not kind.is_number:
        raise UnsupportedQuery(
            "SUM, AVG, MIN and MAX over the answer take numbers; write an aggregate, as in "
            "SUM(COUNT(*)) OVER ()"
        )
    if window.default is not None and kinds[window.default].is_number != kind.is_number:
        raise UnsupportedQuery(
            "LAG or LEAD has a default of another type; write one of the same type, or leave it out"
        )
    return Type.FLOAT if function is AnswerFunction.MEAN else kind


def check_additive(levels: AnswerLevels, outputs: Sequence[QueryOutput]) -> None:
    """Refuse totals of what does not add up."""
    if levels and not all(map(has_totals, outputs)):
        raise UnsupportedQuery(
            "ROLLUP, CUBE or GROUPING SETS of counts of persons or of distinct values, quantiles, extremes "
            "or modes is not in the language of private queries; they do not add up: ask one query for each "
            "set of columns, or take COUNT(*), COUNT(x), SUM, AVG, VARIANCE, STDDEV, COVAR or CORR"
        )
