"""The rows of an answer: their keys, and what is evaluated over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.curator.request.request import AnswerColumn
from discreet.data import Expression, GroupKey
from discreet.data.language.expressions import columns_of
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.calculation import Evaluated, Evaluation
from discreet.queries.outputs.key_functions import (
    key_schema,
    level_sizes,
    public_column,
    public_columns,
    separated,
)
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.queries.question.answer_levels import AnswerLevels
from discreet.records import dataclass

__all__ = ["AnswerRows", "possible_numbers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRows:
    """The groups of an answer.

    Attributes
    ----------
    keys : tuple of GroupKey
        The keys of the finest groups.
    levels : tuple of tuples of bool
        By which of them each level is grouped; by default one level of all.
    """

    keys: tuple[GroupKey, ...]
    levels: AnswerLevels = ()

    @property
    def size(self) -> int:
        """How many there are."""
        return sum(self.sizes)

    @property
    def sizes(self) -> list[int]:
        """How many there are in each level."""
        return level_sizes(self.keys, self.levels)

    def evaluation(
        self, numbers: Mapping[str, Evaluated], expressions: Sequence[Expression], rows: int | None = None
    ) -> Evaluation:
        """Return what evaluates some expressions over all rows, or over the first of them."""
        schema, size = key_schema(self.keys), self.size if rows is None else rows
        functions = {
            part: public_column(part, self.keys, self.levels)[:size]
            for one in expressions
            for part in separated(one, schema)[1].values()
        }
        read = frozenset[str]().union(*map(columns_of, expressions))
        keys = {name: values[:size] for name, values in public_columns(self.keys, self.levels, read).items()}
        return Evaluation(numbers, keys, size, functions)


def possible_numbers(output: QueryOutput, column: AnswerColumn) -> PossibleNumbers:
    """Return what a statistic can be: within its interval, or NULL where its group may have no value."""
    value = np.asarray(column.values).astype(np.float64)
    nothing = np.zeros(value.shape, np.bool_)
    low = np.full(value.shape, -np.inf) if column.lower is None else np.asarray(column.lower, np.float64)
    high = np.full(value.shape, np.inf) if column.upper is None else np.asarray(column.upper, np.float64)
    null = ~nothing if column.unknown is None else np.asarray(column.unknown)
    return PossibleNumbers(
        low=np.where(np.isnan(low), -np.inf, low),
        value=value,
        high=np.where(np.isnan(high), np.inf, high),
        null=null | np.isnan(value) if output.empty_is_null else nothing,
        whole=column.values.dtype.kind == "i",
    )
