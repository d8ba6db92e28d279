"""Windows of SQL, within one person: OVER (PARTITION BY person, ... ORDER BY ...).

=============================================  ======================================================
function                                       sees
=============================================  ======================================================
``ROW_NUMBER()``, ``LAG(x, k)``, ``LEAD``      rows in the stated order; of one place, by all columns
``RANK()``, ``DENSE_RANK()``                   the stated order alone
``COUNT``, ``SUM``, ``AVG``, ``MIN``, ``MAX``  the partition; with ORDER BY, up to the row and its equals
the same with ROWS UNBOUNDED PRECEDING         rows up to this one, in the order of ROW_NUMBER()
``FIRST_VALUE``, ``LAST_VALUE``                the row of the first, or of the last number
=============================================  ======================================================

SUM and AVG are taken on the grid of the column's bounds, to which every value is clipped, as they are of each
person's rows. Missing values come last in every order.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from discreet.data import literal
from discreet.data.facts.foreign_keys import tell_persons_apart
from discreet.data.facts.persons import Tables, has_person, no_person, person_columns
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.expressions import Case, Column, Compare, Comparison, Expression, Literal, When
from discreet.data.language.relations import (
    LARGEST_OFFSET,
    NUMBERED,
    PLACED,
    Named,
    Order,
    Relation,
    Window,
    WindowFunction,
)
from discreet.queries.question.per_person import take_name
from discreet.queries.question.query import derived
from discreet.queries.sql.formulas.expressions import expression_of, unwrapped
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.scope import FoundColumn, Scope

__all__ = ["lifted_windows", "order_of", "window_of"]

_FUNCTIONS: dict[type[exp.Expression], WindowFunction] = {
    exp.RowNumber: WindowFunction.ROW_NUMBER,
    exp.Rank: WindowFunction.RANK,
    exp.DenseRank: WindowFunction.DENSE_RANK,
    exp.Lag: WindowFunction.LAG,
    exp.Lead: WindowFunction.LEAD,
    exp.Count: WindowFunction.COUNT,
    exp.Min: WindowFunction.MINIMUM,
    exp.Max: WindowFunction.MAXIMUM,
    exp.Sum: WindowFunction.SUM,
    exp.Avg: WindowFunction.MEAN,
}
_ENDS = (exp.FirstValue, exp.LastValue)
_SUPPORTED = (
    "ROW_NUMBER(), RANK(), DENSE_RANK(), LAG, LEAD, FIRST_VALUE, LAST_VALUE, COUNT, SUM, AVG, MIN and MAX "
    "can be taken OVER (PARTITION BY person, ...)"
)
_FRAMES = "take the whole partition of a person, or ROWS UNBOUNDED PRECEDING"
_WHOLE = "write ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


def window_of(node: exp.Window, name: str, relation: Relation, scope: Scope, tables: Tables) -> Relation:
    """Return rows with one more column, that a window computes within each person, or refuse it."""
    if node.args.get("alias"):
        raise refused("a window by name", "write the partition itself, as in OVER (PARTITION BY person)")
    check_parts(node, "this", "partition_by", "order", "over", "spec")
    if not has_person(relation, tables):
        raise no_person("a window")
    return _Reading(node, relation, scope, tables).rows(name)


def lifted_windows(
    node: exp.Expression, relation: Relation, scope: Scope, tables: Tables
) -> tuple[exp.Expression, Relation]:
    """Return an expression with columns in place of its windows, and the rows that have these columns."""

    def column(one: exp.Expression) -> exp.Expression:
        nonlocal relation
        if type(one) is not exp.Window:
            return one
        taken = {name.lower() for name in columns_of_relation(relation, tables)}
        name = take_name("window", taken)
        relation = window_of(one, name, relation, scope, tables)
        return FoundColumn.of(name)

    found: exp.Expression = node.copy().transform(column, copy=False)
    return found, relation


@dataclass(slots=True)
class _Reading:
    """One window, and the rows that it needs."""

    node: exp.Window
    relation: Relation
    scope: Scope
    tables: Tables

    def rows(self, name: str) -> Relation:
        function = _FUNCTIONS.get(type(self.node.this))
        if function is None and not isinstance(self.node.this, _ENDS):
            raise refused("this window function", _SUPPORTED)
        partition = self._partition()
        order = self._order()
        kind, whole = _frame(self.node.args.get("spec"))
        if function is None:
            return self._end(name, partition, order, whole=whole)
        if function in PLACED:
            if not order:
                words = "write OVER (PARTITION BY person ORDER BY day)"
                raise refused(f"{_called(self.node.this)} without an order", words)
            column = None if function in NUMBERED else self._operand()
            offset = _offset(self.node.this) if function in PLACED - NUMBERED else 1
            return Window(
                source=self.relation,
                name=name,
                function=function,
                column=column,
                partition=partition,
                order=order,
                offset=offset,
            )
        column = self._operand()
        if whole:
            order = ()
        elif kind == "ROWS" and order:
            order = (Order(column=self._number(partition, order)),)
        return Window(
            source=self.relation,
            name=name,
            function=function,
            column=column,
            partition=partition,
            order=order,
        )

    def _partition(self) -> tuple[str, ...]:
        listed = [self._column(part, "PARTITION BY") for part in self.node.args.get("partition_by") or ()]
        persons = person_columns(self.scope.relation, self.tables)
        if not tell_persons_apart(listed, self.scope.relation, self.tables):
            person = min(persons) if persons else "person"
            raise refused(
                "a window over rows of several persons",
                f"begin it with the person, as in OVER (PARTITION BY {person}, ...)",
            )
        return tuple(dict.fromkeys(part for part in listed if part not in persons))

    def _order(self) -> tuple[Order, ...]:
        order = self.node.args.get("order")
        if order is None:
            return ()
        check_parts(order, "expressions")
        return tuple(
            Order(column=self._column(part.this, "ORDER BY in a window"), descending=order_of(part))
            for part in order.expressions
        )

    def _operand(self) -> str | None:
        node = self.node.this
        check_parts(node, "this", "big_int", "offset", "default")
        operand = node.args.get("this")
        if isinstance(node, exp.Count) and (operand is None or isinstance(operand, exp.Star | exp.Literal)):
            return None
        if operand is None:
            raise refused("an aggregate of nothing", "write MIN(x) of a column")
        return self._column(operand, "a window function")

    def _column(self, node: exp.Expression, place: str) -> str:
        node = unwrapped(node)
        if isinstance(node, exp.Column):
            return self.scope.field(node).column
        if isinstance(node, exp.Distinct | exp.Literal | exp.Window) or node.find(exp.AggFunc, exp.Window):
            raise refused(f"{place} with this expression", "calculate it in a subquery, and write its name")
        expression = expression_of(node, self.scope.over(self.tables))
        return self._calculated(expression)

    def _calculated(self, expression: Expression) -> str:
        name = self._free("calculated")
        self.relation = derived(self.relation, (Named(name=name, expression=expression),))
        return name

    def _number(self, partition: tuple[str, ...], order: tuple[Order, ...]) -> str:
        """Add the number of every row in an order, and return its name."""
        name = self._free("number")
        self.relation = Window(
            source=self.relation,
            name=name,
            function=WindowFunction.ROW_NUMBER,
            partition=partition,
            order=order,
        )
        return name

    def _end(
        self, name: str, partition: tuple[str, ...], order: tuple[Order, ...], *, whole: bool
    ) -> Relation:
        """Return what the first or the last row holds: the only value beside the number of that row."""
        last = isinstance(self.node.this, exp.LastValue)
        if not order:
            raise refused(
                f"{_called(self.node.this)} without an order", "write OVER (PARTITION BY person ORDER BY day)"
            )
        if last and not whole:
            raise refused("LAST_VALUE up to the row itself", _WHOLE)
        column = self._operand()
        assert column is not None  # noqa: S101
        number = Column(name=self._number(partition, order))
        wanted: Expression = literal(1)
        if last:
            rows = self._free("rows")
            self.relation = Window(
                source=self.relation, name=rows, function=WindowFunction.COUNT, partition=partition
            )
            wanted = Column(name=rows)
        at_end = Compare(operator=Comparison.EQUAL, left=number, right=wanted)
        case = Case(branches=(When(condition=at_end, value=Column(name=column)),), otherwise=literal(None))
        found = self._calculated(case)
        return Window(
            source=self.relation,
            name=name,
            function=WindowFunction.MAXIMUM,
            column=found,
            partition=partition,
        )

    def _free(self, name: str) -> str:
        return take_name(name, {one.lower() for one in columns_of_relation(self.relation, self.tables)})


def _frame(spec: exp.Expression | None) -> tuple[str, bool]:
    """Return whether a frame counts rows or places, and whether it is the whole partition."""
    if spec is None:
        return "RANGE", False
    check_parts(spec, "kind", "start", "start_side", "end", "end_side")
    kind = str(spec.args.get("kind") or "").upper()
    start, end = (
        f"{spec.args.get(part) or ''} {spec.args.get(f'{part}_side') or ''}".upper().strip()
        for part in ("start", "end")
    )
    if start != "UNBOUNDED PRECEDING" or kind not in {"ROWS", "RANGE"}:
        raise refused("a window of some rows (ROWS, RANGE)", _FRAMES)
    if end == "UNBOUNDED FOLLOWING":
        return kind, True
    if end not in {"", "CURRENT ROW"}:
        raise refused("a window of some rows (ROWS, RANGE)", _FRAMES)
    return kind, False


def _offset(node: exp.Expression) -> int:
    if node.args.get("default") is not None:
        raise refused("LAG or LEAD with a default", "write COALESCE(x, 0) around it, in a query around it")
    written = node.args.get("offset")
    if written is None:
        return 1
    found = expression_of(written, _no_column)
    offset = found.value if isinstance(found, Literal) else None
    if not isinstance(offset, int) or not 1 <= offset <= LARGEST_OFFSET:
        raise refused("LAG or LEAD by this many rows", f"write a number from 1 to {LARGEST_OFFSET}")
    return offset


def _no_column(node: exp.Column) -> Expression:
    raise refused("LAG or LEAD by a column", "write a number, as in LAG(x, 2)")


def _called(node: exp.Expression) -> str:
    return "ROW_NUMBER()" if isinstance(node, exp.RowNumber) else str(node.key).upper()


def order_of(part: exp.Ordered) -> bool:
    """Return whether an item of ORDER BY descends; missing values come last either way."""
    check_parts(part, "this", "desc", "nulls_first")
    if part.args.get("nulls_first"):
        raise refused("NULLS FIRST", "leave it out: missing values come last")
    return bool(part.args.get("desc"))
