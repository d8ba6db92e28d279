"""The columns of an answer: aggregates that are measured, and what is calculated with them.

Every aggregate is measured once, under the name that SELECT gives it or, hidden, under one of its own. What
is left of an item of SELECT, HAVING or ORDER BY is an expression over the names of aggregates and keys.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.curator.request.request import column_names
from discreet.data import Aggregate
from discreet.data.facts.key_narrowing import replaced
from discreet.data.language.expressions import Call, Case, Column, Expression
from discreet.data.language.relations import Named
from discreet.errors import RequestRefused
from discreet.queries.sql.aggregates import aggregate_of, default_name, is_aggregate
from discreet.queries.sql.expressions import ColumnLookup, expression_of
from discreet.queries.sql.scope import ColumnsInSight, OfAnswer

__all__ = ["AnswerColumns"]


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
    """

    def __init__(self, keys: tuple[Named, ...], columns: ColumnsInSight, aliases: Sequence[str]) -> None:
        self._keys, self._columns = keys, columns
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

    def calculate(self, expression: Expression, alias: str | None = None) -> str:
        """Add a calculation, and return its name."""
        inlined: dict[Expression, Expression] = {
            Column(name=one.name): one.expression for one in self._calculated
        }
        if alias is None:
            called = expression.function.name if isinstance(expression, Call) else "calculated"
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
            if is_aggregate(one):
                return _of_answer(self._measured(one))
            key = self._key(one)
            return one if key is None else _of_answer(key)

        def column(one: exp.Column) -> Expression:
            return Column(name=one.name) if isinstance(one, OfAnswer) else columns(one)

        return expression_of(node.transform(placed), column)

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


def _of_answer(name: str) -> OfAnswer:
    return OfAnswer(this=exp.Identifier(this=name, quoted=True))
