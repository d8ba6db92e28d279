"""The columns of an answer: aggregates that are measured, and what is calculated with them.

Every aggregate is measured once, under the name that SELECT gives it or, hidden, under one of its own. What
is left of an item of SELECT, HAVING or ORDER BY is an expression over the names of aggregates and keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.curator.request.request import column_names
from discreet.data import Aggregate
from discreet.data.facts.conditions.key_narrowing import replaced
from discreet.data.language.expressions import Call, Case, Column, Expression
from discreet.data.language.relations import Named
from discreet.data.language.types import Type
from discreet.errors import RequestRefused
from discreet.queries.question.answer_levels import AnswerLevels, grouping_name
from discreet.queries.question.answer_windows import AnswerWindow
from discreet.queries.sql.columns.answer_windows import answer_window
from discreet.queries.sql.columns.grouping_sets import grouping_node
from discreet.queries.sql.formulas.aggregates import aggregate_of, default_name, is_aggregate
from discreet.queries.sql.formulas.expressions import ColumnLookup, expression_of, unwrapped
from discreet.queries.sql.syntax.refusals import refused, refused_node
from discreet.queries.sql.tables.scope import ColumnsInSight, OfAnswer
from discreet.records import dataclass

__all__ = ["AnswerColumns"]


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Finds columns of the answer, and knows the types of keys."""

    columns: ColumnLookup
    types: Callable[[Expression], Type | None]

    def __call__(self, node: exp.Column) -> Expression:
        return Column(name=node.name) if isinstance(node, OfAnswer) else self.columns(node)

    def type_of(self, expression: Expression) -> Type | None:
        """Return the type of an expression, if keys alone decide it."""
        return self.types(expression)


class AnswerColumns:
    """Collects the columns of an answer.

    Parameters
    ----------
    keys : tuple of Named
        What is grouped by.
    columns : ColumnsInSight
        The columns of FROM.
    aliases : sequence of str
        The names that SELECT gives.
    named : mapping of names to windows
        Those that WINDOW defines.
    levels : tuple of tuples of bool
        By which of the keys each level of the answer is grouped, if it has totals.
    """

    def __init__(
        self,
        keys: tuple[Named, ...],
        columns: ColumnsInSight,
        aliases: Sequence[str],
        named: Mapping[str, exp.Window] | None = None,
        levels: AnswerLevels = (),
    ) -> None:
        self._keys, self._columns = keys, columns
        self._named, self.levels = named or {}, levels
        self._windows: list[AnswerWindow] = []
        self._calculated_keys = any(not isinstance(key.expression, Column) for key in keys)
        self._taken = {key.name.lower() for key in keys}
        for alias in aliases:
            self._taken |= {name.lower() for name in column_names(alias)}
        self._outputs: list[tuple[str, Aggregate]] = []
        self._calculated: list[Named] = []

    @property
    def outputs(self) -> tuple[tuple[str, Aggregate], ...]:
        """What is measured."""
        return tuple(self._outputs)

    @property
    def calculated(self) -> tuple[Named, ...]:
        """What is calculated."""
        return tuple(self._calculated)

    @property
    def windows(self) -> tuple[AnswerWindow, ...]:
        """The windows that calculations read."""
        return tuple(self._windows)

    @property
    def names(self) -> list[str]:
        """The names of all keys, aggregates and calculations."""
        return (
            [one.name for one in self._keys]
            + [name for name, _ in self._outputs]
            + [one.name for one in self._calculated]
        )

    def measure(self, node: exp.Expression, alias: str | None) -> str:
        """Add an aggregate that SELECT shows, and return its name."""
        aggregate = aggregate_of(node, self._columns)
        name = self._free(default_name(aggregate, self._columns.shown)) if alias is None else alias
        self._outputs.append((name, aggregate))
        return name

    def count_rows(self) -> str:
        """Add a count of rows that is not shown, and return its name."""
        return self._measured(exp.Count(this=exp.Star()))

    def calculate(self, expression: Expression, alias: str | None = None) -> str:
        """Add a calculation, and return its name."""
        inlined: dict[Expression, Expression] = {
            Column(name=one.name): one.expression for one in self._calculated
        }
        if alias is None:
            called = expression.function.name if isinstance(expression, Call) else "calculated"
            called = next((one.function.value for one in self._windows if expression == _read(one)), called)
            if isinstance(expression, Column) and expression.name in map(grouping_name, self.names):
                called = "grouping"
            alias = self._free("case" if isinstance(expression, Case) else called)
        self._calculated.append(Named(name=alias, expression=replaced(expression, inlined)))
        return alias

    def expression(self, node: exp.Expression, columns: ColumnLookup) -> Expression:
        """Return what an item means, over the names of aggregates and keys, or refuse it.

        Parameters
        ----------
        node : sqlglot expression
            The item.
        columns : callable
            Returns the column of the answer that a name means, or refuses it.
        """

        def placed(one: exp.Expression) -> exp.Expression:
            if isinstance(one, exp.Window):
                return _of_answer(self._window(one, columns))
            if isinstance(one, exp.Grouping | exp.GroupingId):
                return grouping_node(one, self._grouping)
            if is_aggregate(one):
                return _of_answer(self._measured(one))
            key = self._key(one)
            return one if key is None else _of_answer(key)

        return expression_of(node.transform(placed), _Lookup(columns, self._type_of))

    def _type_of(self, expression: Expression) -> Type | None:
        """Return the type of an expression of keys."""
        meanings: dict[Expression, Expression] = {Column(name=key.name): key.expression for key in self._keys}
        return self._columns.type_of(replaced(expression, meanings))

    def _window(self, node: exp.Window, columns: ColumnLookup) -> str:
        """Return the name of a window over the answer, which is added if it was not there before."""
        inside = (one for child in node.this.iter_expressions() for one in child.walk())
        if not self._keys and not any(map(is_aggregate, inside)):
            raise refused_node(node)  # it is about rows, not about groups
        found = answer_window(node, "", self._named, lambda one: self.expression(one, columns))
        for one in self._windows:
            if replace(one, name="") == found:
                return one.name
        self._windows.append(replace(found, name=f"window {len(self._windows) + 1}"))
        return self._windows[-1].name

    def _grouping(self, node: exp.Expression) -> exp.Expression:
        """Return whether a key is left out of a level of the answer: 1 or 0."""
        node = unwrapped(node)
        key = self.key_of(node) if type(node) is exp.Column else None
        name = self._key(node) if key is None else key.name
        if name is None:
            raise refused(
                "GROUPING of what is not grouped by", "write a key of GROUP BY, as in GROUPING(city)"
            )
        return _of_answer(grouping_name(name)) if self.levels else exp.Literal.number(0)

    def key_of(self, node: exp.Column) -> Column | None:
        """Return the key that a column of FROM is, if it is one."""
        column = self._columns(node)
        return next((Column(name=key.name) for key in self._keys if key.expression == column), None)

    def _measured(self, node: exp.Expression) -> str:
        """Return the name of an aggregate, which is measured, but not shown, if it was not there before."""
        wanted = aggregate_of(node, self._columns)
        for name, aggregate in self._outputs:
            if aggregate == wanted:
                return name
        self._outputs.append((self._free(default_name(wanted, self._columns.shown)), wanted))
        return self._outputs[-1][0]

    def _key(self, node: exp.Expression) -> str | None:
        """Return the name of the calculated key that a node is."""
        if not self._calculated_keys or isinstance(node, exp.Column | exp.Literal | exp.Identifier):
            return None
        try:
            expression = expression_of(node, self._columns)
        except RequestRefused:
            return None
        return next((key.name for key in self._keys if key.expression == expression), None)

    def _free(self, name: str) -> str:
        """Return a name that is not taken, ignoring case, nor by an interval, and take it."""
        free, number = name, 1
        while not self._taken.isdisjoint(one.lower() for one in column_names(free)):
            number += 1
            free = f"{name}_{number}"
        self._taken |= {one.lower() for one in column_names(free)}
        return free


def _read(window: AnswerWindow) -> Expression:
    return Column(name=window.name)


def _of_answer(name: str) -> OfAnswer:
    return OfAnswer(this=exp.Identifier(this=name, quoted=True))
