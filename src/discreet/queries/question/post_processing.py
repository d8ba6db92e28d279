"""What is done with a finished answer: columns are calculated, groups dropped, sorted and cut.

All of it is by released values, which are public, so this costs nothing and loses no privacy. Calculations
with aggregates, HAVING, ORDER BY and LIMIT of a query mean this; they do nothing before noise is added.

>>> from discreet.data.language.formulas.formula import col
>>> order = (Order(column="n", descending=True),)
>>> after = PostProcessing(having=(col("n") > 2).expression, order=order, limit=1)
>>> post_processed(after, {"city": ["Taipei", "Oslo", "Rome"], "n": [5, 2, 7]})
{'city': ['Rome'], 'n': [7]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cmp_to_key
from math import isnan
from typing import Any

import numpy as np

from discreet.data.facts.type_check import check_condition
from discreet.data.language.evaluation import value_of
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    columns_of,
    walk,
)
from discreet.data.language.relations import Named, Order
from discreet.data.language.types import Schema, Type
from discreet.errors import UnsupportedQuery
from discreet.queries.question.answer_levels import AnswerLevels, grouping_name
from discreet.queries.question.answer_windows import AnswerWindow
from discreet.records import dataclass

__all__ = [
    "NO_POST_PROCESSING",
    "AnswerOrder",
    "PostProcessing",
    "check_after",
    "check_types",
    "is_plain",
    "post_processed",
    "shown_groups",
]

_KNOWN = (Column, Literal, Compare, And, Or, Not, IsNull, IsIn, Arithmetic)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOrder(Order):
    """A column of an answer to sort by, whose missing values may come first."""

    missing_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PostProcessing:
    """What is done with the columns and groups of an answer, in this order.

    Attributes
    ----------
    calculated : tuple of Named
        Columns that are calculated from outputs and keys.
    having : Expression or None
        A condition over columns of the answer; groups for which it is not TRUE are dropped.
    order : tuple of Order
        Columns of the answer to sort by. Missing values come last, unless `AnswerOrder` says otherwise; ties
        stay in order.
    limit : int or None
        At most this many groups are shown.
    offset : int
        How many are left out before that.
    windows : tuple of AnswerWindow
        What calculations read besides: windows over the groups that `having` leaves.
    qualify : str or None
        A calculated column; groups for which it is not TRUE are dropped after windows were taken.
    levels : tuple of tuples of bool
        By which of the keys each level of the answer is grouped, if it has totals.
    present : str or None
        A count; groups that it does not show to have rows, at the confidence of the request, are dropped.
    shown : tuple of str, optional
        The outputs and calculated columns that are shown, in order; by default all. The keys always are.
        Without any, the answer is the keys of the groups that are left.
    """

    calculated: tuple[Named, ...] = ()
    having: Expression | None = field(default=None)
    order: tuple[Order, ...] = ()
    limit: int | None = field(default=None, repr=False)
    offset: int = field(default=0, repr=False)
    shown: tuple[str, ...] | None = None
    windows: tuple[AnswerWindow, ...] = ()
    qualify: str | None = None
    levels: AnswerLevels = ()
    present: str | None = None

    def __post_init__(self) -> None:
        if self.having is not None and not is_plain(self.having):
            raise UnsupportedQuery(
                "HAVING calls a function; calculate with it in derive(…), and use the name"
            )
        if not all(isinstance(part, Order) for part in self.order):
            raise UnsupportedQuery("the answer is sorted by something else; sort by names of its columns")
        for number in (self.limit, self.offset):
            if number is not None and (type(number) is not int or number < 0):
                raise UnsupportedQuery("LIMIT and OFFSET take whole numbers; write one such as LIMIT 10")

    def __bool__(self) -> bool:
        return self != NO_POST_PROCESSING

    @property
    def chooses_groups(self) -> bool:
        """Whether groups are dropped, sorted or cut."""
        drops = self.having is not None or self.qualify is not None or self.present is not None
        return drops or bool(self.order) or self.limit is not None or self.offset > 0


NO_POST_PROCESSING = PostProcessing()


def is_plain(condition: Expression) -> bool:
    """Return whether HAVING may be a condition: one without functions, CASE and CAST."""
    return all(isinstance(node, _KNOWN) for node in walk(condition))


def check_after(after: PostProcessing, names: Sequence[str]) -> None:
    """Refuse names that are not columns of the answer.

    Parameters
    ----------
    after : PostProcessing
        What is done.
    names : sequence of str
        Keys, outputs and calculated columns.
    """
    calculated = {column.name for column in after.calculated}
    read = frozenset[str]().union(*(columns_of(column.expression) for column in after.calculated))
    plain = set(names) - calculated
    if after.levels:
        plain |= {grouping_name(name) for name in names}
    seen = frozenset[str]().union(*(window.reads for window in after.windows))
    if not (read <= plain | {window.name for window in after.windows} and seen <= plain):
        raise UnsupportedQuery(
            "a calculation reads something that is not in the answer, or another calculation; "
            "read names of keys and aggregates"
        )
    if after.shown is not None and (
        len(set(after.shown)) < len(after.shown) or not set(after.shown) <= set(names)
    ):
        raise UnsupportedQuery("what is shown is not in the answer, or named twice; name its columns")
    used = [part.column for part in after.order]
    used += [] if after.having is None else columns_of(after.having)
    used += [name for name in (after.qualify, after.present) if name is not None]
    if not set(used) <= set(names):
        raise UnsupportedQuery(
            "the answer is sorted or cut by something that is not in it; put it in SELECT, under a name"
        )


def check_types(after: PostProcessing, schema: Schema) -> None:
    """Refuse a condition whose types do not fit, and an order of values that have none.

    Parameters
    ----------
    after : After
        What is done.
    schema : mapping of names to types
        The columns of the answer. Lists, such as the most frequent keys, are of type `OTHER`.
    """
    if after.having is not None:
        check_condition(after.having, schema)
    if any(schema[part.column] is Type.OTHER for part in after.order):
        raise UnsupportedQuery("the answer is sorted by lists, which have no order; sort by another column")


def shown_groups(
    after: PostProcessing,
    columns: Mapping[str, Sequence[Any]],
    unknown: Mapping[str, Iterable[Any]] | None = None,
    absent: Iterable[bool] | None = None,
) -> list[int]:
    """Return the positions of the groups that are shown, in the order in which they are shown.

    Parameters
    ----------
    after : After
        What is done.
    columns : mapping of names to lists or arrays
        The released columns of an answer.
    unknown : mapping of names to lists or arrays, optional
        Where nothing is known about a value: sorted by it, the group comes last, as if it were missing.
    absent : iterable of booleans, optional
        Groups that are dropped because they may have no rows.
    """
    lists = {name: [_plain(value) for value in values] for name, values in columns.items()}
    places = list(range(len(next(iter(lists.values()), []))))
    if after.having is not None:
        having = after.having
        rows = ({name: values[place] for name, values in lists.items()} for place in places)
        places = [place for place, row in enumerate(rows) if value_of(having, row) is True]
    if after.qualify is not None:
        places = [place for place in places if lists[after.qualify][place] is True]
    if absent is not None:
        dropped = list(absent)
        places = [place for place in places if not dropped[place]]
    for part in reversed(after.order):
        missing = (unknown or {}).get(part.column)
        values = lists[part.column]
        if missing is not None:
            values = [None if lost else value for value, lost in zip(values, missing, strict=True)]
        sign = -1 if part.descending else 1
        last = -1 if isinstance(part, AnswerOrder) and part.missing_first else 1

        def compared(
            one: int, other: int, values: list[Any] = values, sign: int = sign, last: int = last
        ) -> int:
            return _ordered(values[one], values[other], sign, last)

        places.sort(key=cmp_to_key(compared))
    return places[after.offset :][: after.limit]


def post_processed(after: PostProcessing, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the columns of an answer with the groups that are shown: lists as lists, arrays as arrays."""
    places = shown_groups(after, columns)
    return {
        name: values[places] if isinstance(values, np.ndarray) else [values[place] for place in places]
        for name, values in columns.items()
    }


def _plain(value: Any) -> Any:
    """Return a value with one spelling of what is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and isnan(value) else value


def _ordered(one: Any, other: Any, sign: int, last: int) -> int:
    if one is None or other is None:
        return last * (int(one is None) - int(other is None))
    return sign * (int(one > other) - int(one < other))
