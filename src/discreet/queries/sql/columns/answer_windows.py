"""Windows of SQL over the answer: SUM(COUNT(*)) OVER (), LAG(SUM(x)) OVER (ORDER BY month), RANK() OVER ...

Operands, partitions and orders are expressions over aggregates and keys. RANGE takes whole peers, ROWS
counts rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from discreet.data import literal
from discreet.data.language.expressions import Case, Expression, When
from discreet.queries.question.answer_windows import AnswerFunction, AnswerWindow, Frame, WindowOrder
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.syntax.refusals import check_parts, refused, refused_clause, refused_node
from discreet.records import dataclass

__all__ = ["answer_window", "named_windows"]

ReadExpression = Callable[[exp.Expression], Expression]

_OF_ONE: dict[type[exp.Expression], AnswerFunction] = {
    exp.Sum: AnswerFunction.SUM,
    exp.Avg: AnswerFunction.MEAN,
    exp.Min: AnswerFunction.MINIMUM,
    exp.Max: AnswerFunction.MAXIMUM,
    exp.Count: AnswerFunction.COUNT,
    exp.FirstValue: AnswerFunction.FIRST_VALUE,
    exp.LastValue: AnswerFunction.LAST_VALUE,
}
_SHIFTED = {exp.Lag: AnswerFunction.LAG, exp.Lead: AnswerFunction.LEAD}
_RANKS: dict[type[exp.Expression], AnswerFunction] = {
    exp.RowNumber: AnswerFunction.ROW_NUMBER,
    exp.Rank: AnswerFunction.RANK,
    exp.DenseRank: AnswerFunction.DENSE_RANK,
    exp.PercentRank: AnswerFunction.PERCENT_RANK,
    exp.CumeDist: AnswerFunction.CUME_DIST,
}
_FRAMED = {
    AnswerFunction.SUM,
    AnswerFunction.MEAN,
    AnswerFunction.COUNT,
    AnswerFunction.MINIMUM,
    AnswerFunction.MAXIMUM,
    AnswerFunction.FIRST_VALUE,
    AnswerFunction.LAST_VALUE,
    AnswerFunction.NTH_VALUE,
}
_SUPPORTED = (
    "over the answer, SUM, AVG, COUNT, MIN, MAX, LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE, ROW_NUMBER, "
    "RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST and NTILE can be taken, as in SUM(COUNT(*)) OVER ()"
)
_FRAMES = "write ROWS with whole numbers, as in ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A window function, what it is taken of, and its number."""

    function: AnswerFunction
    operand: Expression | None = None
    parameter: int = 1
    default: Expression | None = None


def named_windows(select: exp.Select) -> dict[str, exp.Window]:
    """Return the windows that a SELECT defines with WINDOW, by name in lower case."""
    return {str(one.this.name).lower(): one for one in select.args.get("windows") or ()}


def answer_window(
    node: exp.Window, name: str, named: Mapping[str, exp.Window], expression: ReadExpression
) -> AnswerWindow:
    """Return a window over the answer, or refuse it.

    Parameters
    ----------
    node : sqlglot Window
        The function and its OVER.
    name : str
        What it will be called.
    named : mapping of names to windows
        Those of WINDOW.
    expression : callable
        Reads an expression over aggregates and keys.
    """
    if any(isinstance(one, exp.Window) for child in node.iter_expressions() for one in child.walk()):
        raise refused("a window inside a window", "take one of aggregates, and calculate with the answer")
    taken = _function(unwrapped(node.this), expression)
    partition, order, spec = _over(node, named)
    frame = Frame(end=None) if not order else Frame(end=0, peers=True)
    if spec is not None:
        if taken.function not in _FRAMED:
            raise refused("ROWS or RANGE here", "leave it out: this function is about the whole partition")
        frame = _frame(spec)
        if not order and frame != Frame():
            raise refused("ROWS without an order", "write ORDER BY in the window")
    if taken.function in {AnswerFunction.LAG, AnswerFunction.LEAD} and not order:
        raise refused("LAG and LEAD without an order", "write ORDER BY in the window")
    return AnswerWindow(
        name=name,
        function=taken.function,
        operand=taken.operand,
        parameter=taken.parameter,
        default=taken.default,
        partition=tuple(expression(unwrapped(one)) for one in partition),
        order=tuple(_ordered(one, expression) for one in order),
        frame=frame,
    )


def _over(
    node: exp.Window, named: Mapping[str, exp.Window]
) -> tuple[Sequence[exp.Expression], Sequence[exp.Expression], exp.Expression | None]:
    """Return the partition, the order and the frame of OVER, with those of a window that it names."""
    check_parts(node, "this", "partition_by", "order", "spec", "over", "alias")
    partition, order, spec = (node.args.get(part) for part in ("partition_by", "order", "spec"))
    alias = node.args.get("alias")
    if alias is not None:
        base = named.get(str(alias.name).lower())
        if base is None:
            raise refused("a window that WINDOW does not define", "write OVER (PARTITION BY … ORDER BY …)")
        below = _over(base, {one: window for one, window in named.items() if window is not base})
        if (partition and below[0]) or (order and below[1]) or (spec and below[2]):
            raise refused("a window that redefines another", "write OVER (PARTITION BY … ORDER BY …)")
        parts = ([] if order is None else order.expressions) or below[1]
        return partition or below[0], parts, spec or below[2]
    if order is not None:
        check_parts(order, "expressions")
    return partition or [], [] if order is None else order.expressions, spec


def _ordered(node: exp.Expression, expression: ReadExpression) -> WindowOrder:
    check_parts(node, "this", "desc", "nulls_first")
    return WindowOrder(
        expression=expression(unwrapped(node.this)),
        descending=bool(node.args.get("desc")),
        missing_first=bool(node.args.get("nulls_first")),
    )


def _function(node: exp.Expression, expression: ReadExpression) -> _Taken:
    kind = type(node)
    if kind is exp.Filter:
        check_parts(node, "this", "expression")
        taken = _function(unwrapped(node.this), expression)
        if taken.function not in _FRAMED:
            raise refused("FILTER of this window function", "filter SUM, AVG, COUNT, MIN or MAX")
        when = When(condition=expression(node.expression.this), value=taken.operand or literal(1))
        return _Taken(function=taken.function, operand=Case(branches=(when,), otherwise=literal(None)))
    if kind in _RANKS:
        check_parts(node)
        return _Taken(function=_RANKS[kind])
    if kind is exp.Ntile:
        check_parts(node, "this")
        return _Taken(function=AnswerFunction.NTILE, parameter=_number(node.args.get("this"), least=1))
    if kind in _SHIFTED:
        check_parts(node, "this", "offset", "default")
        offset, default = node.args.get("offset"), node.args.get("default")
        return _Taken(
            function=_SHIFTED[kind],
            operand=expression(unwrapped(node.this)),
            parameter=1 if offset is None else _number(offset),
            default=None if default is None else expression(unwrapped(default)),
        )
    if kind is exp.NthValue:
        check_parts(node, "this", "offset")
        number = _number(node.args.get("offset"), least=1)
        operand = expression(unwrapped(node.this))
        return _Taken(function=AnswerFunction.NTH_VALUE, operand=operand, parameter=number)
    if kind not in _OF_ONE:
        raise _refused_function(node)
    check_parts(node, "this", "big_int")
    of = node.args.get("this")
    if kind is exp.Count and (of is None or isinstance(of, exp.Star | exp.Literal)):
        return _Taken(function=AnswerFunction.COUNT)
    if isinstance(of, exp.Distinct):
        raise refused("DISTINCT in a window", "leave it out")
    if of is None:
        raise refused("a window function of nothing", "write SUM(COUNT(*)) OVER ()")
    return _Taken(function=_OF_ONE[kind], operand=expression(unwrapped(of)))


def _refused_function(node: exp.Expression) -> Exception:
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        return refused_node(node)
    return refused("this window function", _SUPPORTED)


def _frame(spec: exp.Expression) -> Frame:
    if spec.args.get("exclude"):
        raise refused_clause("exclude", spec)
    check_parts(spec, "kind", "start", "start_side", "end", "end_side")
    kind = str(spec.args.get("kind")).upper()
    if kind != "ROWS" and any(isinstance(spec.args.get(end), exp.Expression) for end in ("start", "end")):
        raise refused("a window by distances (RANGE, GROUPS)", _FRAMES)
    start = _edge(spec.args.get("start"), spec.args.get("start_side"), "PRECEDING")
    end = _edge(spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"), "FOLLOWING")
    if kind == "ROWS":
        return Frame(start=start, end=end)
    if kind != "RANGE":
        raise refused("a window by distances (RANGE, GROUPS)", _FRAMES)
    return Frame(start=start, end=end, peers=True)


def _edge(edge: object, side: object, unbounded: str) -> int | None:
    """Return an end of a frame, counted from the row at hand; None if it is that of the partition."""
    if edge == "CURRENT ROW":
        return 0
    if edge == "UNBOUNDED":
        if side != unbounded:
            raise refused("a window that begins at its end", _FRAMES)
        return None
    if not isinstance(edge, exp.Expression):
        raise refused("a window of this form", _FRAMES)
    return _number(edge) * (-1 if side == "PRECEDING" else 1)


def _number(node: object, least: int = 0) -> int:
    digits = str(node.this) if isinstance(node, exp.Literal) and not node.is_string else ""
    if not digits.isdecimal() or len(digits) > _DIGITS or int(digits) < least:
        raise refused("a window without a whole number", "write one, as in LAG(COUNT(*), 1) or NTILE(4)")
    return int(digits)
