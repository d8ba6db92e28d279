"""Functions of keys in an answer: public values, worked out as an engine does for rows.

A part of a calculation that reads keys alone, and is not one of the few things that are calculated with
released numbers, stands for a column of public values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import lru_cache
from math import isfinite, prod
from typing import Any

from discreet.curator.request.answer_keys import keys_of_levels
from discreet.data import Expression, GroupKey
from discreet.data.compile.public_values import public_values
from discreet.data.facts.type_check import type_of
from discreet.data.language.expressions import Column, Literal, When, columns_of
from discreet.data.language.types import Schema, Type
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries.outputs.calculation import check_calculation
from discreet.queries.question.answer_levels import AnswerLevels, grouping_name

__all__ = [
    "check_over_answer",
    "key_schema",
    "level_sizes",
    "public_column",
    "public_columns",
    "separated",
]


def key_schema(keys: Sequence[GroupKey]) -> dict[str, Type]:
    """Return the types of keys, and of whether they are left out of a level."""
    schema = {key.column: key.values.type for key in keys}
    return schema | {grouping_name(key.column): Type.INTEGER for key in keys}


def level_sizes(keys: Sequence[GroupKey], levels: AnswerLevels) -> list[int]:
    """Return how many rows an answer has in each level."""
    return [
        prod(len(key.values) for key, grouped in zip(keys, level, strict=True) if grouped)
        for level in levels or [[True] * len(keys)]
    ]


def public_columns(
    keys: Sequence[GroupKey], levels: AnswerLevels, read: Iterable[str]
) -> dict[str, Sequence[Any]]:
    """Return the keys of every row of an answer, and whether they are left out, of those that are read."""
    wanted, names = set(read), [key.column for key in keys]
    found: dict[str, Sequence[Any]] = {}
    if wanted & set(names):
        found |= keys_of_levels(keys, levels)
    for place, name in enumerate(names):
        if grouping_name(name) in wanted:
            parts = zip(levels or [[True] * len(names)], level_sizes(keys, levels), strict=True)
            found[grouping_name(name)] = [int(not level[place]) for level, size in parts for _ in range(size)]
    return found


def check_over_answer(expression: Expression, schema: Schema, keys: Schema) -> Type:
    """Return the type of a calculation with columns of an answer, or refuse it.

    Parameters
    ----------
    expression : Expression
        The calculation.
    schema : mapping of names to types
        The columns of the answer.
    keys : mapping of names to types
        Those of them that are public.
    """
    rest, parts = separated(expression, keys)
    known = {name: type_of(part, keys) for name, part in parts.items()}
    return check_calculation(rest, {**schema, **known})


def separated(expression: Expression, keys: Schema) -> tuple[Expression, dict[str, Expression]]:
    """Return a calculation with its functions of keys as columns, and what these are."""
    parts: dict[str, Expression] = {}

    def of(node: Expression) -> Expression:
        read = columns_of(node)
        if isinstance(node, Column | Literal):
            return node
        if read and read <= keys.keys() and not _is_plain(node, keys):
            name = next((name for name, part in parts.items() if part == node), f"function {len(parts) + 1}")
            parts[name] = node
            return Column(name=name)
        changes: dict[str, object] = {}
        for place in fields(node):
            part = getattr(node, place.name) if place.init else None
            if isinstance(part, Expression):
                changes[place.name] = of(part)
            elif isinstance(part, tuple) and place.name != "values":
                changes[place.name] = tuple(
                    When(condition=of(one.condition), value=of(one.value))
                    if isinstance(one, When)
                    else of(one)
                    for one in part
                )
        return replace(node, **changes) if changes else node  # type: ignore[arg-type]

    return of(expression), parts


def _is_plain(node: Expression, keys: Schema) -> bool:
    """Return whether an expression of keys is calculated like one of released numbers."""
    try:
        check_calculation(node, keys)
    except (UndeclaredColumn, UnsupportedQuery):
        return False
    return True


@lru_cache(maxsize=64)
def public_column(
    expression: Expression, keys: tuple[GroupKey, ...], levels: AnswerLevels
) -> tuple[Any, ...]:
    """Return a function of keys for every row of an answer.

    It is worked out once for each combination of the keys that it reads.
    """
    schema, read = key_schema(keys), sorted(columns_of(expression))
    columns = public_columns(keys, levels, read)
    rows = list(zip(*(columns[name] for name in read), strict=True))
    distinct = list(dict.fromkeys(rows))
    listed = {name: (schema[name], [row[place] for row in distinct]) for place, name in enumerate(read)}
    found = dict(zip(distinct, map(_plain, public_values(expression, listed)), strict=True))
    return tuple(found[row] for row in rows)


def _plain(value: Any) -> Any:
    """Return a number as an exact one; what is not finite is missing."""
    if isinstance(value, float):
        return Fraction(value) if isfinite(value) else None
    return value
