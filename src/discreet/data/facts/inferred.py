"""What a calculation implies about its result: type, range, keys and days, from those of its columns.

All of it is public. Ranges and keys hold for rows that follow the declarations of their columns; other
values are clipped to the range, and are in no group. Conditions and cases are NULL if they may be.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, TypeGuard

from discreet.data.facts.inferred_dates import Dated, days_of
from discreet.data.facts.inferred_ranges import is_never_null, range_of
from discreet.data.facts.type_check import type_of
from discreet.data.facts.usual_bounds import with_usual
from discreet.data.language.column_facts import ColumnFacts, Columns, types_of
from discreet.data.language.declarations import LARGEST_KEYS, Bounds, Keys, KeyValue
from discreet.data.language.evaluation import evaluate_cast, nearest_integer
from discreet.data.language.expressions import Call, Case, Cast, Column, Expression, Literal
from discreet.data.language.functions.temporal import first_days
from discreet.data.language.grid_interval import bounds_of
from discreet.data.language.types import Schema, Type
from discreet.errors import ParameterError
from discreet.records import dataclass

__all__ = ["completed", "infer"]

LARGEST_RANGE = 10_000
"""How many integers of a range may serve as keys."""
LARGEST_IMAGE = 100_000
"""How many combinations of keys a function is worked out for."""


@dataclass(frozen=True, slots=True)
class _Keyed(Dated):
    """An operand with the values that it can have."""

    @property
    def values(self) -> tuple[KeyValue, ...] | None:
        """Its possible values, if they are few and known."""
        return _values(self.expression, self.columns)


def infer(expression: Expression, columns: Columns) -> ColumnFacts:
    """Return what is known about an expression's values, or refuse it under the columns' types."""
    types = types_of(columns)
    found = type_of(expression, types)
    if isinstance(expression, Column):
        return completed(columns[expression.name])
    if found is Type.BOOLEAN:
        return ColumnFacts(type=found, bounds=Bounds(0, 1), keys=_keys(expression, columns))
    facts = ColumnFacts(type=found)
    if found.is_number:
        known = range_of(expression, columns)
        bounds = bounds_of(known, found)
        facts = replace(facts, bounds=bounds)
        if bounds is None:
            facts = replace(facts, least=known.low, most=known.high, usual=_usual(expression, found, columns))
    elif found in {Type.DATE, Type.TIMESTAMP, Type.INSTANT}:
        facts = replace(facts, dates=days_of(expression, columns))
    keys = _keys(expression, columns)
    return completed(facts) if keys is None else replace(facts, keys=keys)


def _usual(expression: Expression, found: Type, columns: Columns) -> Bounds | None:
    usual = with_usual(columns)
    return None if usual is None else bounds_of(range_of(expression, usual), found)


def completed(facts: ColumnFacts) -> ColumnFacts:
    """Add the keys that follow from the rest: booleans, integers in a small range, dates between two days."""
    if facts.keys is not None:
        return facts
    if facts.type is Type.BOOLEAN:
        return replace(facts, keys=Keys([False, True, None]))
    if facts.type is Type.INTEGER and facts.bounds is not None and facts.bounds.step.denominator == 1:
        lower, upper, step = (
            int(part) for part in (facts.bounds.lower, facts.bounds.upper, facts.bounds.step)
        )
        is_short = upper - lower < LARGEST_RANGE * step and lower >= -(1 << 63) and upper < 1 << 63
        return replace(facts, keys=Keys(range(lower, upper + 1, step))) if is_short else facts
    if facts.type is Type.DATE and facts.dates is not None:
        return replace(facts, keys=_listed(first_days("day", facts.dates)))
    return facts


def _keys(expression: Expression, columns: Columns) -> Keys | None:
    values = _values(expression, columns)
    return None if values is None else _listed(values)


def _listed(values: tuple[KeyValue, ...] | None) -> Keys | None:
    """Return keys in order, NULL last; None if they cannot be keys."""
    if values is None or len(values) > LARGEST_KEYS:
        return None
    distinct = dict.fromkeys(values)
    if None in distinct:
        del distinct[None]
        distinct[None] = None
    try:
        return Keys(distinct)
    except ParameterError:  # all NULL, or numbers that are not integers
        return None


def _values(expression: Expression, columns: Columns) -> tuple[KeyValue, ...] | None:
    """Return the values that an expression can have, if they are few and follow from declarations."""
    if isinstance(expression, Literal):
        value = expression.value
        return None if isinstance(value, Fraction | datetime.datetime) else (value,)
    if isinstance(expression, Column):
        known = completed(columns[expression.name]).keys
        return None if known is None else known.values
    types = types_of(columns)
    if type_of(expression, types) is Type.BOOLEAN:
        return (False, True) if is_never_null(expression) else (False, True, None)
    if isinstance(expression, Case):
        parts = [*(branch.value for branch in expression.branches), expression.otherwise]
        return _union([_values(part, columns) for part in parts])
    if isinstance(expression, Cast):
        if expression.type is Type.INTEGER and _is_float_of_text(expression.operand, types):
            written = _values(expression.operand.operand, columns)
            return None if written is None else tuple(map(nearest_integer, written))
        below = _values(expression.operand, columns)
        if below is not None and expression.type is not Type.FLOAT:
            return tuple(evaluate_cast(value, expression.type) for value in below)
    if isinstance(expression, Call):
        found = _called(expression, columns)
        if found is not None:
            return found
    return _of_range(expression, columns)


def _is_float_of_text(expression: Expression, types: Schema) -> TypeGuard[Cast]:
    """Return whether a text is converted to a float: alone it has no keys, rounded it has."""
    return (
        isinstance(expression, Cast)
        and expression.type is Type.FLOAT
        and type_of(expression.operand, types) is Type.TEXT
    )


def _of_range(expression: Expression, columns: Columns) -> tuple[KeyValue, ...] | None:
    """Return the integers of a small range, or the days between two."""
    found = type_of(expression, types_of(columns))
    if found is Type.INTEGER:
        known = range_of(expression, columns)
        if known.low is not None and known.low == known.high:
            return (int(known.low),)
        facts = completed(ColumnFacts(type=found, bounds=bounds_of(known, found)))
        return None if facts.keys is None else facts.keys.values
    days = days_of(expression, columns) if found is Type.DATE else None
    return None if days is None else first_days("day", days)


def _called(call: Call, columns: Columns) -> tuple[KeyValue, ...] | None:
    operands = [_Keyed(operand, columns) for operand in call.operands]
    if call.function.keys is not None:
        return call.function.keys(operands)
    known = [values for operand in operands if (values := operand.values) is not None]
    if call.function.value is None or len(known) < len(operands):
        return None
    return _image(call.function.value, known)


def _image(value: Callable[..., KeyValue], known: list[tuple[KeyValue, ...]]) -> tuple[KeyValue, ...] | None:
    """Return the values of a function on all combinations of its operands; NULL where one of these is."""
    if prod(len(values) for values in known) > LARGEST_IMAGE:
        return None
    found = dict.fromkeys(None if None in values else value(*values) for values in product(*known))
    if all(
        isinstance(value, int | datetime.date | None) for value in found
    ):  # texts keep the order of their keys
        present: list[Any] = [value for value in found if value is not None]
        return (*sorted(present), *([None] if None in found else []))
    return tuple(found)


def _union(parts: list[tuple[KeyValue, ...] | None]) -> tuple[KeyValue, ...] | None:
    known = [values for values in parts if values is not None]
    return (
        None if len(known) < len(parts) else tuple(dict.fromkeys(value for part in known for value in part))
    )
