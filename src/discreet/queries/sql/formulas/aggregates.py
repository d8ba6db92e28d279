"""Aggregates of SQL.

Which there are, and what they mean where engines differ:

- COUNT(*), COUNT(x), COUNT(DISTINCT x), SUM, AVG (or MEAN). COUNT of a constant is COUNT(*); COUNT(DISTINCT
  x) of the person column counts persons.
- SUM(DISTINCT x) adds up every value of the group once, after clipping; AVG, VARIANCE and STDDEV of DISTINCT
  are calculated from it.
- VARIANCE, VAR_SAMP, STDDEV and STDDEV_SAMP have the correction n / (n - 1), as on all engines; VAR_POP and
  STDDEV_POP have none. COVAR_POP, COVAR_SAMP and CORR are over the rows in which both values are present.
- TRIMMED_MEAN(x, t), SMOOTH_MEDIAN(x) and SMOOTH_QUANTILE(x, q), by smooth sensitivity;
- MEDIAN(x), QUANTILE(x, q), APPROX_QUANTILE(x, q), and PERCENTILE_CONT(q) or PERCENTILE_DISC(q) WITHIN
  GROUP (ORDER BY x) are all the least value that at least the share q of the values do not exceed: there is
  no interpolation.
- MIN and MAX are values a few ranks inside the extremes. MODE(x), MODE() WITHIN GROUP (ORDER BY x) and
  APPROX_TOP_K(x, k) are chosen from declared keys.
- FILTER (WHERE c) is CASE WHEN c THEN x END inside the aggregate, and COUNT_IF(c) is COUNT(CASE WHEN c
  THEN 1 END).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from discreet.data import Aggregate, AggregateFunction, Expression, literal
from discreet.data.language.expressions import Case, Column, Literal, When, columns_of
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.queries.sql.formulas.expressions import ColumnLookup, condition_of, unwrapped
from discreet.queries.sql.formulas.literals import is_literal
from discreet.queries.sql.syntax.aggregate_spellings import NumberOfDistinct, SquaresOfDistinct
from discreet.queries.sql.syntax.refusals import (
    AGGREGATES,
    check_parts,
    function_name,
    refused,
    refused_node,
)

__all__ = ["aggregate_of", "default_name", "is_aggregate"]

_OF_ONE: dict[type[exp.Expression], AggregateFunction] = {
    exp.Count: AggregateFunction.COUNT,
    exp.Sum: AggregateFunction.SUM,
    exp.Avg: AggregateFunction.MEAN,
    exp.Variance: AggregateFunction.SAMPLE_VARIANCE,
    exp.VariancePop: AggregateFunction.VARIANCE,
    exp.Stddev: AggregateFunction.SAMPLE_STANDARD_DEVIATION,
    exp.StddevSamp: AggregateFunction.SAMPLE_STANDARD_DEVIATION,
    exp.StddevPop: AggregateFunction.STANDARD_DEVIATION,
    exp.Median: AggregateFunction.QUANTILE,
    exp.Min: AggregateFunction.MINIMUM,
    exp.Max: AggregateFunction.MAXIMUM,
    exp.Mode: AggregateFunction.MODE,
    NumberOfDistinct: AggregateFunction.NUMBER_DISTINCT,
    SquaresOfDistinct: AggregateFunction.SQUARES_DISTINCT,
}
_OF_TWO: dict[type[exp.Expression], AggregateFunction] = {
    exp.CovarPop: AggregateFunction.COVARIANCE,
    exp.CovarSamp: AggregateFunction.SAMPLE_COVARIANCE,
    exp.Corr: AggregateFunction.CORRELATION,
}
_QUANTILES = (exp.Quantile, exp.ApproxQuantile)
_WITHIN = (exp.PercentileCont, exp.PercentileDisc, exp.Mode)
_WITHIN_GROUP = "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), or QUANTILE(x, 0.5)"
_PAIRS = "count the distinct values of one column or text, as in COUNT(DISTINCT city || '-' || ward)"
_NAMED = {
    "MEAN": AggregateFunction.MEAN,
    "STD": AggregateFunction.SAMPLE_STANDARD_DEVIATION,
    "QUANTILE_CONT": AggregateFunction.QUANTILE,
    "QUANTILE_DISC": AggregateFunction.QUANTILE,
    "APPROX_PERCENTILE": AggregateFunction.QUANTILE,
    "SMOOTH_MEDIAN": AggregateFunction.SMOOTH_QUANTILE,
    "SMOOTH_QUANTILE": AggregateFunction.SMOOTH_QUANTILE,
    "TRIMMED_MEAN": AggregateFunction.TRIMMED_MEAN,
}
"""Functions that the parser does not know by themselves."""
_SHARES = {AggregateFunction.QUANTILE, AggregateFunction.SMOOTH_QUANTILE, AggregateFunction.TRIMMED_MEAN}

_SHORT = {
    AggregateFunction.MEAN: "avg",
    AggregateFunction.COUNT_DISTINCT: "count_distinct",
    AggregateFunction.SUM_DISTINCT: "sum_distinct",
    AggregateFunction.NUMBER_DISTINCT: "number_distinct",
    AggregateFunction.SQUARES_DISTINCT: "squares_distinct",
    AggregateFunction.VARIANCE: "var_pop",
    AggregateFunction.SAMPLE_VARIANCE: "var_samp",
    AggregateFunction.STANDARD_DEVIATION: "stddev_pop",
    AggregateFunction.SAMPLE_STANDARD_DEVIATION: "stddev_samp",
    AggregateFunction.COVARIANCE: "covar_pop",
    AggregateFunction.SAMPLE_COVARIANCE: "covar_samp",
    AggregateFunction.CORRELATION: "corr",
    AggregateFunction.MINIMUM: "min",
    AggregateFunction.MAXIMUM: "max",
}


def aggregate_of(node: exp.Expression, columns: ColumnLookup) -> Aggregate:
    """Return the aggregate that a node of SELECT means, or refuse it.

    Parameters
    ----------
    node : sqlglot expression
        An item of SELECT that is not a plain column.
    columns : callable
        Returns the column that a node names, or refuses it.
    """
    kind = type(node)
    if kind is exp.Filter:
        check_parts(node, "this", "expression")
        check_parts(node.expression, "this")
        condition = condition_of(node.expression.this, columns)
        return _where(aggregate_of(unwrapped(node.this), columns), condition)
    if kind is exp.WithinGroup:
        return _within_group(node, columns)
    if kind is exp.CountIf:
        check_parts(node, "this", "big_int")
        return _where(Aggregate(function=AggregateFunction.COUNT), condition_of(node.this, columns))
    if kind in _OF_TWO:
        check_parts(node, "this", "expression")
        operands = tuple(_operand(node, node.args.get(part), columns) for part in ("this", "expression"))
        return Aggregate(function=_OF_TWO[kind], operands=operands)
    if kind in _QUANTILES:
        check_parts(node, "this", "quantile")
        return _with_parameter(
            AggregateFunction.QUANTILE, node, node.this, node.args.get("quantile"), columns
        )
    if kind is exp.ApproxTopK:
        check_parts(node, "this", "expression")
        return _with_parameter(AggregateFunction.TOP, node, node.this, node.args.get("expression"), columns)
    if kind is exp.Anonymous and str(node.this).upper() in _NAMED:
        return _named(node, columns)
    if kind in _WITHIN and kind is not exp.Mode:
        raise refused(f"{function_name(node)} without WITHIN GROUP", _WITHIN_GROUP)
    if kind not in _OF_ONE:
        raise _refused(node, columns)
    return _of_one(node, _OF_ONE[kind], columns)


def is_aggregate(node: exp.Expression) -> bool:
    """Return whether a node is an aggregate by itself, though perhaps one that is refused."""
    if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
        return True
    return type(node) is exp.Anonymous and str(node.this).upper() in _NAMED


def default_name(aggregate: Aggregate, shown: Callable[[str], str] = str) -> str:
    """Return the name of an aggregate that has none, given by which name a column is known."""
    function = aggregate.function
    word = _SHORT.get(function, function.value)
    if function is AggregateFunction.COUNT_PERSONS:
        return "count_persons"
    if function is AggregateFunction.QUANTILE and aggregate.parameter == Fraction(1, 2):
        word = "median"
    if function is AggregateFunction.SMOOTH_QUANTILE:
        word = "smooth_median" if aggregate.parameter == Fraction(1, 2) else "smooth_quantile"
    if function is AggregateFunction.TRIMMED_MEAN:
        word = "trimmed_mean"
    return "_".join([word, *(shown(one.name) for one in aggregate.operands if isinstance(one, Column))])


def _of_one(node: exp.Expression, function: AggregateFunction, columns: ColumnLookup) -> Aggregate:
    check_parts(node, "this", "big_int")
    operand = node.args.get("this")
    operand = None if operand is None else unwrapped(operand)
    if function is AggregateFunction.COUNT and operand is not None:
        if _counts_rows(operand):
            return Aggregate(function=function)
        if isinstance(operand, exp.Distinct):
            return _distinct(operand, columns)
    if function is AggregateFunction.SUM and isinstance(operand, exp.Distinct):
        function, operand = AggregateFunction.SUM_DISTINCT, _only(operand)
    parameter = Fraction(1, 2) if function is AggregateFunction.QUANTILE else None
    return Aggregate(function=function, operands=(_operand(node, operand, columns),), parameter=parameter)


def _only(node: exp.Distinct) -> exp.Expression:
    check_parts(node, "expressions")
    if len(node.expressions) != 1:
        raise refused("DISTINCT of several columns", "take one column")
    return unwrapped(node.expressions[0])


def _distinct(node: exp.Distinct, columns: ColumnLookup) -> Aggregate:
    check_parts(node, "expressions")
    if len(node.expressions) != 1:
        raise refused("COUNT(DISTINCT x, y)", _PAIRS)
    if isinstance(unwrapped(node.expressions[0]), exp.Tuple):
        raise refused("COUNT(DISTINCT (x, y))", _PAIRS)
    operand = _operand(node, unwrapped(node.expressions[0]), columns)
    return Aggregate(function=AggregateFunction.COUNT_DISTINCT, operands=(operand,))


def _within_group(node: exp.Expression, columns: ColumnLookup) -> Aggregate:
    check_parts(node, "this", "expression")
    inner, order = node.this, node.expression
    if type(inner) not in _WITHIN or not isinstance(order, exp.Order):
        raise _refused(inner, columns)
    check_parts(order, "expressions")
    if len(order.expressions) != 1:
        raise refused("WITHIN GROUP by several columns", "order by one column")
    (ordered,) = order.expressions
    check_parts(ordered, "this", "desc", "nulls_first")
    if ordered.args.get("desc"):
        raise refused("WITHIN GROUP with DESC", "leave it out")
    if isinstance(inner, exp.Mode):
        check_parts(inner)
        operand = _operand(inner, ordered.this, columns)
        return Aggregate(function=AggregateFunction.MODE, operands=(operand,))
    check_parts(inner, "this")
    return _with_parameter(AggregateFunction.QUANTILE, inner, ordered.this, inner.this, columns)


def _named(node: exp.Expression, columns: ColumnLookup) -> Aggregate:
    name = str(node.this).upper()
    check_parts(node, "this", "expressions")
    function, given = _NAMED[name], node.expressions
    has_share = function in _SHARES and name != "SMOOTH_MEDIAN"
    if len(given) != (2 if has_share else 1):
        raise refused(f"{name} of this form", "write AVG(x), QUANTILE(x, 0.5) or TRIMMED_MEAN(x, 0.1)")
    if has_share:
        return _with_parameter(function, node, given[0], given[1], columns)
    parameter = Fraction(1, 2) if function in _SHARES else None
    return Aggregate(function=function, operands=(_operand(node, given[0], columns),), parameter=parameter)


def _with_parameter(
    function: AggregateFunction,
    node: exp.Expression,
    operand: exp.Expression | None,
    parameter: exp.Expression | None,
    columns: ColumnLookup,
) -> Aggregate:
    number = None if parameter is None else condition_of(parameter, columns)
    if isinstance(number, Literal) and number.type.is_number:
        operands = (_operand(node, operand, columns),)
        try:
            return Aggregate(function=function, operands=operands, parameter=number.value)  # type: ignore[arg-type]
        except ParameterError:
            pass
    if function is AggregateFunction.TOP:
        raise refused("a top k without a k", "write a whole number from 1, as in APPROX_TOP_K(city, 3)")
    if function is AggregateFunction.TRIMMED_MEAN:
        raise refused(
            "a trimmed mean without a part below 0.5",
            "write a number from 0 to below 0.5 of at most three decimals, as in TRIMMED_MEAN(x, 0.1)",
        )
    raise refused(
        "a quantile without a share from 0 to 1",
        "write a number from 0 to 1 of at most four decimals, as in QUANTILE(x, 0.5)",
    )


def _where(aggregate: Aggregate, condition: Expression) -> Aggregate:
    """Return the aggregate over the rows for which a condition is TRUE."""
    if aggregate.function is AggregateFunction.COUNT_PERSONS:
        raise refused("FILTER of a count of persons", "move the condition to WHERE, in a separate query")
    operand, *others = aggregate.operands or (literal(1),)
    case = Case(branches=(When(condition=condition, value=operand),), otherwise=literal(None))
    return aggregate.of(case, *others)


def _operand(node: exp.Expression, operand: exp.Expression | None, columns: ColumnLookup) -> Expression:
    if operand is None:
        raise refused("an aggregate of nothing", "write COUNT(*), or SUM(x) of a column")
    operand = unwrapped(operand)
    if isinstance(operand, exp.Distinct):
        raise refused("DISTINCT in this aggregate", "leave it out, or write COUNT(DISTINCT x)")
    if isinstance(operand, exp.Order | exp.Star):
        raise refused_node(operand)
    if operand.find(exp.AggFunc):
        raise refused("an aggregate of an aggregate", "ask for one, and calculate with the answer")
    found = condition_of(operand, columns)
    if not columns_of(found):
        raise refused(
            f"{_function(node)} of a constant", "take it of a column, such as SUM(cost), or write COUNT(*)"
        )
    return found


def _function(node: exp.Expression) -> str:
    return "COUNT DISTINCT" if isinstance(node, exp.Distinct) else function_name(node)


def _counts_rows(operand: exp.Expression) -> bool:
    if isinstance(operand, exp.Star):
        check_parts(operand)
        return True
    return is_literal(operand) and not isinstance(operand, exp.Null)


def _refused(node: exp.Expression, columns: ColumnLookup) -> UnsupportedQuery:
    if isinstance(node, exp.AggFunc):
        return refused_node(node)
    if isinstance(node, exp.Window | exp.Anonymous):
        return refused_node(node, AGGREGATES)
    condition_of(node, columns)  # what is wrong with it comes first
    return UnsupportedQuery(
        "a calculation in SELECT is neither grouped by nor aggregated; add it to GROUP BY, or take an "
        "aggregate of it, such as SUM(x)"
    )
