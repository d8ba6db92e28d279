"""Windows of SQL, within one person: ROW_NUMBER, COUNT, MIN and MAX OVER (PARTITION BY person, ...)."""

from __future__ import annotations

from sqlglot import exp

from discreet.data.facts.foreign_keys import tell_persons_apart
from discreet.data.facts.persons import Tables, has_person, no_person, person_columns
from discreet.data.language.relations import Order, Relation, Window, WindowFunction
from discreet.queries.sql.expressions import unwrapped
from discreet.queries.sql.refusals import check_parts, refused
from discreet.queries.sql.scope import Scope

__all__ = ["order_of", "window_of"]

_FUNCTIONS: dict[type[exp.Expression], WindowFunction] = {
    exp.RowNumber: WindowFunction.ROW_NUMBER,
    exp.Count: WindowFunction.COUNT,
    exp.Min: WindowFunction.MINIMUM,
    exp.Max: WindowFunction.MAXIMUM,
}
_SUPPORTED = "ROW_NUMBER(), COUNT, MIN and MAX can be taken OVER (PARTITION BY person, ...)"


def window_of(node: exp.Window, name: str, relation: Relation, scope: Scope, tables: Tables) -> Relation:
    """Return rows with one more column, that a window computes within each person, or refuse it."""
    if node.args.get("alias"):
        raise refused("a window by name", "write the partition itself, as in OVER (PARTITION BY person)")
    if node.args.get("spec"):
        raise refused("a window of some rows (ROWS, RANGE)", "take the whole partition of a person")
    check_parts(node, "this", "partition_by", "order", "over")
    function = _FUNCTIONS.get(type(node.this))
    if function is None:
        raise refused("this window function", _SUPPORTED)
    if not has_person(relation, tables):
        raise no_person("a window")
    partition = [_column(part, scope, "PARTITION BY") for part in node.args.get("partition_by") or ()]
    persons = person_columns(scope.relation, tables)
    if not tell_persons_apart(partition, scope.relation, tables):
        person = min(persons) if persons else "person"
        raise refused(
            "a window over rows of several persons",
            f"begin it with the person, as in OVER (PARTITION BY {person}, ...)",
        )
    order = node.args.get("order")
    numbered = function is WindowFunction.ROW_NUMBER
    if numbered and order is None:
        raise refused("ROW_NUMBER() without an order", "write OVER (PARTITION BY person ORDER BY day)")
    if not numbered and order is not None:
        raise refused("ORDER BY in a window of COUNT, MIN or MAX", "leave it out: the whole partition counts")
    return Window(
        source=relation,
        name=name,
        function=function,
        column=None if numbered else _operand(node.this, scope),
        partition=tuple(dict.fromkeys(part for part in partition if part not in persons)),
        order=() if order is None else _orders(order, scope),
    )


def _orders(order: exp.Order, scope: Scope) -> tuple[Order, ...]:
    check_parts(order, "expressions")
    return tuple(
        Order(column=_column(part.this, scope, "ORDER BY in a window"), descending=order_of(part))
        for part in order.expressions
    )


def order_of(part: exp.Ordered) -> bool:
    """Return whether an item of ORDER BY descends; missing values come last either way."""
    check_parts(part, "this", "desc", "nulls_first")
    if part.args.get("nulls_first"):
        raise refused("NULLS FIRST", "leave it out: missing values come last")
    return bool(part.args.get("desc"))


def _operand(node: exp.Expression, scope: Scope) -> str | None:
    check_parts(node, "this", "big_int")
    operand = node.args.get("this")
    if isinstance(node, exp.Count) and (operand is None or isinstance(operand, exp.Star | exp.Literal)):
        return None
    if operand is None:
        raise refused("an aggregate of nothing", "write MIN(x) of a column")
    return _column(operand, scope, "a window function")


def _column(node: exp.Expression, scope: Scope, place: str) -> str:
    node = unwrapped(node)
    if type(node) is not exp.Column:
        raise refused(f"{place} with an expression", "calculate it in a subquery, and write its name")
    return scope.field(node).column
