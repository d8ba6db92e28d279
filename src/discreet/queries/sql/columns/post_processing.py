"""What is done with the answer: calculations, and HAVING, ORDER BY and LIMIT of the outermost SELECT."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.data.language.expressions import Column, Expression
from discreet.data.language.relations import Order
from discreet.errors import UnsupportedQuery
from discreet.queries.question.post_processing import AnswerOrder, PostProcessing, is_plain
from discreet.queries.sql.columns.answer_columns import AnswerColumns
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.syntax.names import same
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.scope import NamesInSight, is_quoted

__all__ = ["after_of", "limits_of_answer", "position_of"]

_DIGITS = 18


def after_of(
    select: exp.Select, named: Sequence[str | None], answer: AnswerColumns, scope: NamesInSight
) -> PostProcessing:
    """Return what is calculated, and what HAVING, ORDER BY, LIMIT and OFFSET do with an answer, or refuse it.

    Parameters
    ----------
    select : sqlglot Select
        The outermost one.
    named : sequence of str or None
        The name of each item of SELECT; None for keys.
    answer : AnswerColumns
        The columns of the answer; those that only HAVING and ORDER BY need are added, and not shown.
    scope : NamesInSight
        The columns of FROM.
    """
    shown = tuple(name for name in named if name is not None)
    having, order = select.args.get("having"), select.args.get("order")
    reader = _Clauses(select.expressions, named, answer, scope)
    condition: Expression | None = None
    orders: tuple[Order, ...] = ()
    if having is not None:
        check_parts(having, "this")
        condition = reader.condition(having.this)
    if order is not None:
        check_parts(order, "expressions")
        orders = tuple(reader.order(part) for part in order.expressions)
    qualify = select.args.get("qualify")
    chosen = None if qualify is None else reader.qualified(qualify)
    if condition is not None and answer.windows and not isinstance(condition, Column):
        condition = Column(name=answer.calculate(condition))
    listed = (*(name for name, _ in answer.outputs), *(one.name for one in answer.calculated))
    return PostProcessing(
        calculated=answer.calculated,
        having=condition,
        order=orders,
        limit=_number(select.args.get("limit")),
        offset=_number(select.args.get("offset")) or 0,
        shown=None if shown == listed or not listed else shown,
        windows=answer.windows,
        qualify=chosen,
        levels=answer.levels,
    )


def limits_of_answer(node: exp.Expression) -> PostProcessing:
    """Return what LIMIT and OFFSET of a query without aggregates, or of a UNION, do."""
    return PostProcessing(limit=_number(node.args.get("limit")), offset=_number(node.args.get("offset")) or 0)


class _Clauses:
    """Reads HAVING and ORDER BY."""

    def __init__(
        self,
        items: list[exp.Expression],
        named: Sequence[str | None],
        answer: AnswerColumns,
        scope: NamesInSight,
    ) -> None:
        self._items, self._named, self._answer, self._scope = items, named, answer, scope

    def qualified(self, node: exp.Expression) -> str:
        """Return the name of the condition that QUALIFY states."""
        check_parts(node, "this")
        return self._answer.calculate(self._answer.expression(node.this, self._column))

    def condition(self, node: exp.Expression) -> Expression:
        if node.find(exp.Window):
            raise refused("a window in HAVING", "write QUALIFY, which is about windows")
        condition = self._answer.expression(node, self._column)
        if is_plain(condition):
            return condition
        return Column(name=self._answer.calculate(condition))

    def order(self, part: exp.Ordered) -> Order:
        descending, missing_first = answer_order(part)
        node = unwrapped(part.this)

        def by(column: str) -> Order:
            if missing_first:
                return AnswerOrder(column=column, descending=descending, missing_first=True)
            return Order(column=column, descending=descending)

        if isinstance(node, exp.Literal):
            place = position_of(node, len(self._items), "ORDER BY")
            name, item = self._named[place], self._items[place]
            if name is None and isinstance(item, exp.Alias):
                name = str(item.alias)
            if name is not None:
                return by(name)
            node = unwrapped(item)
        expression = self._answer.expression(node, self._column)
        if isinstance(expression, Column) and expression.name in self._answer.names:
            return by(expression.name)
        return by(self._answer.calculate(expression))

    def _column(self, node: exp.Column) -> Column:
        """Return the column of the answer that a name means: one of its own, or the key that a column is."""
        if node.args.get("table") is None and isinstance(node.this, exp.Identifier):
            quoted = is_quoted(node.this)
            for name in self._answer.names:
                if same(node.name, quoted=quoted, other=name):
                    return Column(name=name)
        key = self._answer.key_of(node)
        if key is not None:
            return key
        raise UnsupportedQuery(
            f"HAVING or ORDER BY uses {self._scope.column(node).name!r}, which is neither grouped by nor "
            "aggregated; add it to GROUP BY, or take an aggregate of it"
        )


def answer_order(part: exp.Ordered) -> tuple[bool, bool]:
    """Return whether an item of ORDER BY descends, and whether missing values come first."""
    check_parts(part, "this", "desc", "nulls_first")
    return bool(part.args.get("desc")), bool(part.args.get("nulls_first"))


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
        if node is None:  # FETCH FIRST ROW ONLY
            return 1
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
