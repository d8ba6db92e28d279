"""What the conditions of a query leave of a key's values: public constants against public values.

A row is in the group of a key k only if it passed every filter below, so a key that no such row can have need
not be asked about. Four rules find such keys, and each is exact: no row that passes would be in a group that
is left out.

- A condition on the key itself is worked out for each of its values: ``year = 2015``, ``year IN (...)``; one
  that says what it equals lists them, as ``SUBSTRING(phone, 1, 2) IN ('13', '31')`` does.
- If conditions pin all columns of a calculation to constants, it has its values on these and no others.
- If it is monotone in its only column, as DATE_TRUNC or WIDTH_BUCKET are, a range of the column gives one.
- If its only column is a date and conditions state both ends of it, it is worked out for each day between.
  Declared ends do not count here: a later day than declared is in one of the twelve months all the same.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import TypeAlias

from discreet.data.facts.conditions.monotone import ends, monotone_in, within
from discreet.data.facts.inferred import infer
from discreet.data.language.column_facts import ColumnFacts, Columns
from discreet.data.language.declarations import Bounds, Keys, KeyValue
from discreet.data.language.evaluation import value_of
from discreet.data.language.expressions import (
    And,
    Call,
    Column,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    When,
    columns_of,
    walk,
)
from discreet.data.language.functions.conditional import COALESCE
from discreet.data.language.types import Type
from discreet.errors import ParameterError

__all__ = ["EXACT", "Narrowing", "Test", "column_test", "conjuncts_of", "is_exact", "replaced"]

EXACT = frozenset({Type.INTEGER, Type.TEXT, Type.BOOLEAN, Type.DATE})
"""Types in which a literal equals one value at most, and equal values are one group."""

Test: TypeAlias = Callable[[KeyValue], bool]

_THIS = "the key"
_MOST_DAYS = 400
"""Above a year all parts of a date occur."""
_DECIDABLE = (Column, Literal, Compare, And, Or, Not, IsNull, IsIn)
_LITERALS: dict[Type, frozenset[Type]] = {
    Type.INTEGER: frozenset({Type.INTEGER, Type.DECIMAL}),
    Type.TEXT: frozenset({Type.TEXT}),
    Type.BOOLEAN: frozenset({Type.BOOLEAN}),
    Type.DATE: frozenset({Type.DATE}),
}


@dataclass(slots=True, kw_only=True)
class Narrowing:
    """What is known about a key so far.

    Attributes
    ----------
    tests : list of callables
        Each is FALSE of values that no row in a group can have.
    listed : list of tuples
        Each holds all values that such a row can have.
    """

    tests: list[Test] = field(default_factory=list)
    listed: list[tuple[KeyValue, ...]] = field(default_factory=list)

    def under(self, condition: Expression, expression: Expression, columns: Columns) -> None:
        """Learn from a condition that is TRUE of all rows what a calculation can be in them.

        Parameters
        ----------
        condition : Expression
            The condition of a filter.
        expression : Expression
            The key, in the same columns.
        columns : Columns
            What is public about these.
        """
        conjuncts = list(conjuncts_of(condition))
        kind = infer(expression, columns).type
        self.tests += [
            test for one in conjuncts if (test := _test(replaced(one, {expression: _KEY}), kind)) is not None
        ]
        stated = [values for one in conjuncts if (values := _constants(one, expression, kind)) is not None]
        self.listed += [tuple(dict.fromkeys(values)) for values in stated]
        pinned = _pinned(expression, conjuncts, columns)
        if pinned is not None:
            self._list(expression, pinned)
        days = _each_day(expression, conjuncts, columns)
        if days is not None:
            self._list(expression, days)
        column = monotone_in(expression)
        if column is not None:
            self._list(expression, within(column, conjuncts, columns[column]))
            least, most = ends(expression, conjuncts, columns)
            self.tests.append(lambda value: not isinstance(value, int) or least <= value <= most)

    def present(self) -> None:
        """Learn that it is not NULL."""
        self.tests.append(lambda value: value is not None)

    def among(self, keys: Keys) -> None:
        """Learn that it is one of some keys, and not NULL."""
        self.present()
        self.listed.append(tuple(value for value in keys.values if value is not None))

    def on(self, expression: Expression, values: Mapping[str, tuple[Type, list[KeyValue]]]) -> None:
        """Learn that each column of a calculation has one of some values of a type, in rows in a group."""
        if isinstance(expression, Column):
            self.listed.append(tuple(values[expression.name][1]))
            return
        pinned = {}
        for name, (kind, listed) in values.items():
            try:
                keys = Keys(listed) if listed else None
            except ParameterError:  # NULL alone, or too many
                return
            if keys is not None:
                pinned[name] = ColumnFacts(type=kind, keys=keys, bounds=_hull(listed))
        self._list(expression, pinned)

    def of(self, keys: Keys | None) -> tuple[KeyValue, ...] | None:
        """Return those of some keys that remain, in their order; None if nothing is known about them."""
        if keys is None and not self.listed:
            return None
        first = self.listed[0] if keys is None else keys.values
        sets = [set(values) for values in self.listed]
        return tuple(
            value
            for value in first
            if all(value in one for one in sets) and all(test(value) for test in self.tests)
        )

    def _list(self, expression: Expression, columns: Columns) -> None:
        """Learn the values that a calculation has on columns of which more is known; none, if one is out."""
        if not columns_of(expression) <= columns.keys():
            self.listed.append(())
            return
        keys = infer(expression, columns).keys
        if keys is not None:
            self.listed.append(keys.values)


_KEY = Column(name=_THIS)


def conjuncts_of(condition: Expression) -> Iterator[Expression]:
    """Yield conditions that are all TRUE where one is: the parts of AND, and the operand of IS TRUE."""
    if isinstance(condition, And):
        for operand in condition.operands:
            yield from conjuncts_of(operand)
    elif isinstance(condition, Call) and condition.function is COALESCE:
        first, *others = condition.operands
        if all(isinstance(other, Literal) and other.value is False for other in others):
            yield from conjuncts_of(first)
    else:
        yield condition


def replaced(node: Expression, values: Mapping[Expression, Expression]) -> Expression:
    """Return an expression with some of its parts replaced."""
    if node in values:
        return values[node]
    changes: dict[str, object] = {}
    for place in fields(node):
        part = getattr(node, place.name) if place.init else None
        if isinstance(part, Expression):
            changes[place.name] = replaced(part, values)
        elif isinstance(part, tuple) and place.name != "values":
            changes[place.name] = tuple(_replaced_part(one, values) for one in part)
    return replace(node, **changes) if changes else node  # type: ignore[arg-type]


def _replaced_part(part: Expression | When, values: Mapping[Expression, Expression]) -> Expression | When:
    if not isinstance(part, When):
        return replaced(part, values)
    condition, value = replaced(part.condition, values), replaced(part.value, values)
    return When(condition=condition, value=value)


def _test(condition: Expression, kind: Type) -> Test | None:
    """Return whether a condition is TRUE of a value of the key, if it is about nothing else."""
    nodes = list(walk(condition))
    if columns_of(condition) != {_THIS} or kind not in EXACT:
        return None
    if not all(isinstance(node, _DECIDABLE) for node in nodes):
        return None
    if not all(is_exact(node, kind) for node in nodes if isinstance(node, Compare | IsIn)):
        return None
    return lambda value: value_of(condition, {_THIS: value}) is True


def column_test(condition: Expression, column: Column, kind: Type) -> Test | None:
    """Return whether a condition is TRUE of a value of a column, if it is about that alone and decidable."""
    return _test(replaced(condition, {column: _KEY}), kind)


def is_exact(node: Compare | IsIn, kind: Type) -> bool:
    """Return whether a value of a type is compared with constants that Python compares as engines do."""
    literals = [node.right] if isinstance(node, Compare) else list(node.values)
    fitting = _LITERALS.get(kind, frozenset())
    return all(isinstance(one, Literal) and one.type in fitting for one in literals)


def _pinned(expression: Expression, conjuncts: list[Expression], columns: Columns) -> Columns | None:
    """Return the columns of a calculation, each with the constants that it equals; None if one has none.

    A column that can equal nothing is left out.
    """
    pinned = {}
    for name in columns_of(expression):
        kind = columns[name].type
        found = [
            values for one in conjuncts if (values := _constants(one, Column(name=name), kind)) is not None
        ]
        if not found:
            return None
        values = [value for value in found[0] if all(value in others for others in found)]
        if values:
            pinned[name] = ColumnFacts(type=kind, keys=Keys(values), bounds=_hull(values))
    return pinned


def _each_day(expression: Expression, conjuncts: list[Expression], columns: Columns) -> Columns | None:
    """Return the only column of a calculation, with all dates between two ends that conditions state."""
    names = columns_of(expression)
    if len(names) != 1 or isinstance(expression, Column):
        return None
    (name,) = names
    if columns[name].type is not Type.DATE:
        return None
    found = within(name, conjuncts, ColumnFacts(type=Type.DATE))
    if not found:
        return {}
    dates = found[name].dates
    if dates is None or (dates.last - dates.first).days >= _MOST_DAYS:
        return None
    count = (dates.last - dates.first).days + 1
    keys = Keys([dates.first + datetime.timedelta(days=day) for day in range(count)])
    return {name: ColumnFacts(type=Type.DATE, keys=keys, dates=dates)}


def _constants(condition: Expression, column: Expression, kind: Type) -> list[KeyValue] | None:
    """Return the values that a calculation can have where a condition is TRUE that says what it equals."""
    if isinstance(condition, Compare) and condition.operator is Comparison.EQUAL:
        operand, literals = condition.left, [condition.right]
    elif isinstance(condition, IsIn):
        operand, literals = condition.operand, list(condition.values)
    else:
        return None
    if operand != column or kind not in EXACT:
        return None
    listed = [one for one in literals if isinstance(one, Literal) and one.type in _LITERALS[kind]]
    if len(listed) < len(literals):
        return None
    values = [one.value for one in listed if not isinstance(one.value, Fraction)]
    return [value for value in values if not isinstance(value, int) or -(1 << 63) <= value < 1 << 63]


def _hull(values: list[KeyValue]) -> Bounds | None:
    numbers = [value for value in values if type(value) is int]
    try:
        return Bounds(min(numbers), max(*numbers, min(numbers) + 1)) if numbers else None
    except ParameterError:
        return None
