"""HAVING, ORDER BY and LIMIT of the outermost SELECT: what is done with the answer."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.data import Aggregate
from discreet.data.language.expressions import Column, Expression
from discreet.data.language.relations import Named, Order
from discreet.errors import UnsupportedQuery
from discreet.queries.question.post_processing import PostProcessing
from discreet.queries.sql.expressions import condition_of, expression_of, unwrapped
from discreet.queries.sql.names import same
from discreet.queries.sql.refusals import check_parts, refused
from discreet.queries.sql.scope import Scope, is_quoted
from discreet.queries.sql.windows import order_of

__all__ = ["after_of", "position_of"]

_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup)
_DIGITS = 18
_IN_SELECT = "put it in SELECT under a name with AS, and use the name"


def after_of(
    select: exp.Select,
    keys: tuple[Named, ...],
    outputs: tuple[tuple[str, Aggregate], ...],
    scope: Scope,
    aggregate: Callable[[exp.Expression], Aggregate],
) -> PostProcessing:
    """Return what HAVING, ORDER BY, LIMIT and OFFSET do with an answer, or refuse them.

    Parameters
    ----------
    select : sqlglot Select
        The outermost one.
    keys, outputs
        The columns of the answer.
    scope : Scope
        The columns of FROM.
    aggregate : callable
        Returns the aggregate that a node means, or refuses it.
    """
    return _Answer(keys, outputs, scope, aggregate).after(select)


class _Answer:
    """Finds columns of the answer."""

    def __init__(
        self,
        keys: tuple[Named, ...],
        outputs: tuple[tuple[str, Aggregate], ...],
        scope: Scope,
        aggregate: Callable[[exp.Expression], Aggregate],
    ) -> None:
        self._keys, self._outputs, self._scope, self._aggregate = keys, outputs, scope, aggregate
        self._items: list[exp.Expression] = []

    def after(self, select: exp.Select) -> PostProcessing:
        self._items = select.expressions
        having, order = select.args.get("having"), select.args.get("order")
        if having is not None:
            check_parts(having, "this")
        if order is not None:
            check_parts(order, "expressions")
        return PostProcessing(
            having=None if having is None else self._condition(having.this),
            order=() if order is None else tuple(self._order(part) for part in order.expressions),
            limit=_number(select.args.get("limit")),
            offset=_number(select.args.get("offset")) or 0,
        )

    def _condition(self, node: exp.Expression) -> Expression:
        places: list[str] = []

        def replaced(one: exp.Expression) -> exp.Expression:
            if not isinstance(one, _AGGREGATES):
                return one
            places.append(self._output(one))
            return exp.Column(this=exp.Identifier(this=f"aggregate {len(places) - 1}", quoted=True))

        def column(one: exp.Column) -> Expression:
            for place, name in enumerate(places):
                if one.name == f"aggregate {place}":
                    return Column(name=name)
            return Column(name=self._column(one))

        return condition_of(node.copy().transform(replaced), column)

    def _order(self, part: exp.Ordered) -> Order:
        descending, node = order_of(part), unwrapped(part.this)
        if isinstance(node, exp.Literal):
            item = self._items[position_of(node, len(self._items), "ORDER BY")]
            if isinstance(item, exp.Alias):
                return Order(column=str(item.alias), descending=descending)
            node = unwrapped(item)
        if isinstance(node, _AGGREGATES):
            return Order(column=self._output(node), descending=descending)
        if type(node) is exp.Column:
            return Order(column=self._column(node), descending=descending)
        expression = expression_of(node, self._scope.column)
        for key in self._keys:
            if key.expression == expression:
                return Order(column=key.name, descending=descending)
        raise refused("ORDER BY with a calculation", _IN_SELECT)

    def _output(self, node: exp.Expression) -> str:
        wanted = self._aggregate(node)
        for name, aggregate in self._outputs:
            if aggregate == wanted:
                return name
        raise refused("an aggregate in HAVING or ORDER BY that SELECT does not have", _IN_SELECT)

    def _column(self, node: exp.Column) -> str:
        """Return the column of the answer that a name means: one of its own, or the key that a column is."""
        if node.args.get("table") is None and isinstance(node.this, exp.Identifier):
            names = [*(key.name for key in self._keys), *(name for name, _ in self._outputs)]
            quoted = is_quoted(node.this)
            for name in names:
                if same(node.name, quoted=quoted, other=name):
                    return name
        column = self._scope.column(node)
        for key in self._keys:
            if key.expression == column:
                return key.name
        raise UnsupportedQuery(
            f"HAVING or ORDER BY uses {column.name!r}, which is neither grouped by nor aggregated; "
            f"add it to GROUP BY, or {_IN_SELECT}"
        )


def position_of(node: exp.Literal, items: int, clause: str) -> int:
    """Return the place in SELECT, from 0, that a number in GROUP BY or ORDER BY means, or refuse it."""
    digits = "" if node.is_string else str(node.this)
    if not digits.isdecimal() or len(digits) > _DIGITS:
        raise refused(
            f"{clause} with a constant", "write the name of the column, or its position among the items"
        )
    if not 1 <= int(digits) <= items:
        raise UnsupportedQuery(f"{clause} names a position that does not exist; items are counted from 1")
    return int(digits) - 1


def _number(clause: exp.Expression | None) -> int | None:
    if clause is None:
        return None
    if type(clause) is exp.Fetch:
        check_parts(clause, "count", "direction", "limit_options")
        options, node = clause.args.get("limit_options"), clause.args.get("count")
        if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
            raise refused("FETCH with PERCENT or TIES", "write LIMIT and a number")
    else:
        check_parts(clause, "expression")
        node = clause.args.get("expression")
    if (
        not isinstance(node, exp.Literal)
        or node.is_string
        or not str(node.this).isdecimal()
        or len(node.this) > _DIGITS
    ):
        raise UnsupportedQuery("LIMIT and OFFSET take whole numbers; write one such as LIMIT 10")
    return int(node.this)
