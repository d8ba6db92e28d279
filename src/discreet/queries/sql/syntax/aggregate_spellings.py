"""Other spellings of aggregates, in the words that the rest of the language reads.

=========================================================  ===================================================
written                                                    means
=========================================================  ===================================================
``APPROX_COUNT_DISTINCT(x)``, ``APPROX_DISTINCT``, ``HLL``  ``COUNT(DISTINCT x)``
``APPROX_QUANTILES(x, 4)[OFFSET(1)]``                      ``QUANTILE(x, 1/4)``
``PERCENTILE_CONT(x, q)``, ``PERCENTILE``, …               ``QUANTILE(x, q)``
``PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x DESC)``      ``QUANTILE(x, 1 - q)``
``VAR``, ``VARP``, ``STDEVP``, ``COUNT_BIG``               ``VARIANCE``, ``VAR_POP``, ``STDDEV_POP``, …
``SUMIF(x, c)``, ``AVGIF(x, c)``                           ``SUM(CASE WHEN c THEN x END)``, …
``MIN(DISTINCT x)``                                        ``MIN(x)``
``SUM(1)``                                                 ``COUNT(*)``
``AVG(DISTINCT x)``                                        ``SUM(DISTINCT x)`` divided by how many it adds up
``ANY_VALUE(k)`` of a key                                  the key
``ANY_VALUE(x)``                                           ``MODE(x)``; of each person, ``MIN(x)``
``REGR_SLOPE(y, x)``                                       ``COVAR_POP(y, x) / VAR_POP(x)``
``REGR_INTERCEPT(y, x)``                                   ``AVG(y) - REGR_SLOPE(y, x) * AVG(x)``
``REGR_R2(y, x)``                                          ``CORR(y, x) * CORR(y, x)``
``REGR_COUNT``, ``REGR_AVGX``, ``REGR_AVGY``               ``COUNT``, ``AVG``
=========================================================  ===================================================

Those of REGR_ are over the rows in which both values are present, as CORR is. In a subquery, which
aggregates each person's rows, ``COUNT_IF``, FILTER, ``BOOL_OR`` and ``BOOL_AND`` are spelled out with CASE.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

__all__ = [
    "AGGREGATE_SPELLINGS",
    "NAMED_SPELLINGS",
    "NumberOfDistinct",
    "Rewrite",
    "SquaresOfDistinct",
    "is_known_aggregate",
]

KNOWN = frozenset(
    {
        "MEAN",
        "STD",
        "QUANTILE_CONT",
        "QUANTILE_DISC",
        "APPROX_PERCENTILE",
        "SMOOTH_MEDIAN",
        "SMOOTH_QUANTILE",
        "TRIMMED_MEAN",
    }
)
"""Aggregates that the parser has no node for; `aggregates` reads them."""
_OFFSETS = {"OFFSET": 0, "SAFE_OFFSET": 0, "ORDINAL": 1, "SAFE_ORDINAL": 1}

Rewrite = Callable[[exp.Expression], exp.Expression | None]
"""Returns what to write instead of a node; None if it stays."""


def is_known_aggregate(node: exp.Expression) -> bool:
    """Return whether a node is an aggregate that the parser has no node for."""
    return isinstance(node, exp.Anonymous) and str(node.this).upper() in KNOWN


def _is_nested(node: exp.Expression) -> bool:
    """Return whether a node is in a subquery, where aggregates are of each person's rows."""
    select = node.find_ancestor(exp.Select)
    return select is not None and select.find_ancestor(exp.Select) is not None


def _when(condition: exp.Expression, value: exp.Expression) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])


def _present(node: exp.Expression) -> exp.Expression:
    return exp.Not(this=exp.Is(this=exp.Paren(this=node.copy()), expression=exp.Null()))


def _distinct(node: exp.Expression) -> exp.Expression:
    return exp.Count(this=exp.Distinct(expressions=[node.this.copy()]), big_int=True)


def _sum(node: exp.Expression) -> exp.Expression | None:
    """Read SUM(1)."""
    is_one = isinstance(node.this, exp.Literal) and not node.this.is_string and str(node.this.this) == "1"
    return exp.Count(this=exp.Star(), big_int=True) if is_one else None


def _quantile(operand: exp.Expression, share: exp.Expression) -> exp.Expression:
    return exp.Quantile(this=operand.copy(), quantile=share.copy())


def _indexed(node: exp.Expression) -> exp.Expression | None:
    """Read APPROX_QUANTILES(x, 4)[OFFSET(1)]."""
    inner, (index, *others) = node.this, node.expressions
    if not isinstance(inner, exp.ApproxQuantiles) or others or not isinstance(index, exp.Anonymous):
        return None
    first = _OFFSETS.get(str(index.this).upper())
    parts = inner.args.get("expression")
    if first is None or len(index.expressions) != 1 or not isinstance(parts, exp.Literal):
        return None
    place = exp.Sub(this=index.expressions[0].copy(), expression=exp.Literal.number(first))
    return _quantile(inner.this, exp.Div(this=exp.Paren(this=place), expression=parts.copy()))


def _percentile(node: exp.Expression) -> exp.Expression | None:
    share = node.args.get("expression")
    return None if share is None else _quantile(node.this, share)


def _named_percentile(node: exp.Expression) -> exp.Expression | None:
    return _quantile(node.expressions[0], node.expressions[1]) if len(node.expressions) in {2, 3} else None


def _descending(node: exp.Expression) -> exp.Expression | None:
    """Read PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x DESC)."""
    inner, order = node.this, node.expression
    if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or not isinstance(order, exp.Order):
        return None
    if len(order.expressions) != 1 or not order.expressions[0].args.get("desc"):
        return None
    share = exp.Sub(this=exp.Literal.number(1), expression=exp.Paren(this=inner.this.copy()))
    return _quantile(order.expressions[0].this, share)


def _one(kind: type[exp.Expression]) -> Rewrite:
    def made(node: exp.Expression) -> exp.Expression | None:
        return kind(this=node.expressions[0].copy()) if len(node.expressions) == 1 else None

    return made


def _conditional(kind: type[exp.Expression]) -> Rewrite:
    def made(node: exp.Expression) -> exp.Expression | None:
        if len(node.expressions) != 2:
            return None
        value, condition = node.expressions
        return kind(this=_when(condition, value))

    return made


def _top(node: exp.Expression) -> exp.Expression | None:
    if len(node.expressions) != 2:
        return None
    return exp.ApproxTopK(this=node.expressions[0].copy(), expression=node.expressions[1].copy())


def _extreme(node: exp.Expression) -> exp.Expression | None:
    inner = node.this
    if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1 and not inner.args.get("on"):
        return type(node)(this=inner.expressions[0].copy())
    return None


class NumberOfDistinct(exp.AggFunc):
    """How many values SUM(DISTINCT x) adds up: those that clipping and the grid leave apart."""


class SquaresOfDistinct(exp.AggFunc):
    """The sum of the squares of distinct values, which SQL has no name for."""


def _of_distinct(node: exp.Expression) -> exp.Expression | None:
    """Read AVG, VARIANCE and STDDEV of DISTINCT, from the number, the sum and the sum of squares.

    All three are of the same values. COUNT(DISTINCT x) tells apart more of them than the grid does.
    """
    inner = node.this
    if not isinstance(inner, exp.Distinct) or len(inner.expressions) != 1 or _is_nested(node):
        return None
    number = NumberOfDistinct(this=inner.expressions[0].copy())
    total = exp.Sum(this=inner.copy())
    mean = exp.Paren(this=exp.Div(this=total, expression=number))
    if isinstance(node, exp.Avg):
        return mean
    squares = SquaresOfDistinct(this=inner.expressions[0].copy())
    around = exp.Sub(this=squares, expression=exp.Mul(this=mean.copy(), expression=total.copy()))
    population = isinstance(node, exp.VariancePop | exp.StddevPop)
    less = number.copy() if population else exp.Sub(this=number.copy(), expression=exp.Literal.number(1))
    found = exp.Paren(this=exp.Div(this=exp.Paren(this=around), expression=exp.Paren(this=less)))
    return exp.Sqrt(this=found) if isinstance(node, exp.Stddev | exp.StddevPop | exp.StddevSamp) else found


def _any_value(node: exp.Expression) -> exp.Expression | None:
    select = node.find_ancestor(exp.Select)
    operand = node.this
    if select is None or isinstance(operand, exp.HavingMax | exp.Order):
        return None
    group = select.args.get("group")
    if group is not None and any(operand == key for key in group.expressions):
        return exp.Paren(this=operand.copy())
    return exp.Min(this=operand.copy()) if _is_nested(node) else exp.Mode(this=operand.copy())


def _any_value_by_name(node: exp.Expression) -> exp.Expression | None:
    if len(node.expressions) != 1:
        return None
    made = exp.AnyValue(this=node.expressions[0].copy())
    node.replace(made)
    found = _any_value(made)
    if found is not None:
        made.replace(found)
    return None


def _count_if(node: exp.Expression) -> exp.Expression | None:
    if not _is_nested(node):
        return None
    return exp.Count(this=_when(node.this, exp.Literal.number(1)), big_int=True)


def _filter(node: exp.Expression) -> exp.Expression | None:
    """Read FILTER in a subquery; elsewhere it is read where aggregates are."""
    inner = node.this
    if not _is_nested(node) or not isinstance(inner, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max):
        return None
    operand, condition = inner.this, node.expression.this
    if isinstance(operand, exp.Distinct):
        return None
    counted = isinstance(inner, exp.Count) and isinstance(operand, exp.Star | exp.Literal)
    return type(inner)(this=_when(condition, exp.Literal.number(1) if counted else operand))


def _logical(node: exp.Expression) -> exp.Expression | None:
    """Read BOOL_OR and BOOL_AND of each person's rows."""
    if not _is_nested(node):
        return None
    kind = exp.Max if isinstance(node, exp.LogicalOr) else exp.Min
    truth = exp.Case(
        ifs=[
            exp.If(this=node.this.copy(), true=exp.Literal.number(1)),
            exp.If(this=exp.Not(this=exp.Paren(this=node.this.copy())), true=exp.Literal.number(0)),
        ]
    )
    return exp.Paren(this=exp.EQ(this=kind(this=truth), expression=exp.Literal.number(1)))


def _pair(node: exp.Expression) -> tuple[exp.Expression, exp.Expression]:
    return node.this, node.expression


def _both(node: exp.Expression) -> exp.Expression:
    y, x = _pair(node)
    present = exp.And(this=_present(y), expression=_present(x))
    return exp.Count(this=_when(present, exp.Literal.number(1)), big_int=True)


def _of_x(node: exp.Expression) -> exp.Expression:
    y, x = _pair(node)
    return _when(_present(y), x)


def _of_y(node: exp.Expression) -> exp.Expression:
    y, x = _pair(node)
    return _when(_present(x), y)


def _covariance(node: exp.Expression) -> exp.Expression:
    y, x = _pair(node)
    return exp.CovarPop(this=y.copy(), expression=x.copy())


def _slope(node: exp.Expression) -> exp.Expression:
    return exp.Paren(this=exp.Div(this=_covariance(node), expression=exp.VariancePop(this=_of_x(node))))


def _intercept(node: exp.Expression) -> exp.Expression:
    product = exp.Mul(this=_slope(node), expression=exp.Avg(this=_of_x(node)))
    return exp.Paren(this=exp.Sub(this=exp.Avg(this=_of_y(node)), expression=product))


def _r2(node: exp.Expression) -> exp.Expression:
    y, x = _pair(node)
    sides = [exp.Corr(this=y.copy(), expression=x.copy()) for _ in range(2)]
    return exp.Paren(this=exp.Mul(this=sides[0], expression=sides[1]))


def _times_count(made: Callable[[exp.Expression], exp.Expression]) -> Rewrite:
    return lambda node: exp.Paren(this=exp.Mul(this=_both(node), expression=made(node)))


AGGREGATE_SPELLINGS: dict[type[exp.Expression], Rewrite] = {
    exp.ApproxDistinct: _distinct,
    exp.Hll: _distinct,
    exp.Bracket: _indexed,
    exp.PercentileCont: _percentile,
    exp.PercentileDisc: _percentile,
    exp.WithinGroup: _descending,
    exp.Sum: _sum,
    exp.Min: _extreme,
    exp.Max: _extreme,
    exp.Avg: _of_distinct,
    exp.Variance: _of_distinct,
    exp.VariancePop: _of_distinct,
    exp.Stddev: _of_distinct,
    exp.StddevSamp: _of_distinct,
    exp.StddevPop: _of_distinct,
    exp.AnyValue: _any_value,
    exp.CountIf: _count_if,
    exp.Filter: _filter,
    exp.LogicalOr: _logical,
    exp.LogicalAnd: _logical,
    exp.RegrCount: _both,
    exp.RegrAvgx: lambda node: exp.Avg(this=_of_x(node)),
    exp.RegrAvgy: lambda node: exp.Avg(this=_of_y(node)),
    exp.RegrSlope: _slope,
    exp.RegrIntercept: _intercept,
    exp.RegrR2: _r2,
    exp.RegrSxx: _times_count(lambda node: exp.VariancePop(this=_of_x(node))),
    exp.RegrSyy: _times_count(lambda node: exp.VariancePop(this=_of_y(node))),
    exp.RegrSxy: _times_count(_covariance),
}
"""What to write instead of a node; None where it stays."""
NAMED_SPELLINGS: dict[str, Rewrite] = {
    "PERCENTILE": _named_percentile,
    "PERCENTILE_APPROX": _named_percentile,
    "APPROX_MEDIAN": _one(exp.Median),
    "VAR": _one(exp.Variance),
    "VARP": _one(exp.VariancePop),
    "STDEVP": _one(exp.StddevPop),
    "COUNT_BIG": _one(exp.Count),
    "SUMIF": _conditional(exp.Sum),
    "AVGIF": _conditional(exp.Avg),
    "APPROX_TOP_COUNT": _top,
    "ARBITRARY": _any_value_by_name,
}
"""What to write instead of a function that the parser has no node for."""
