from __future__ import annotations

import pytest

from discreet.data import Aggregate, AggregateFunction, col, count, literal
from discreet.data.language.expressions import And, Arithmetic, Column, Compare, IsIn, IsNull, Not, Or
from discreet.errors import ParameterError

AGE = Column(name="age")


@pytest.mark.parametrize(
    ("formula", "operator"),
    [
        (col("age") < 3, "<"),
        (col("age") <= 3, "<="),
        (col("age") > 3, ">"),
        (col("age") >= 3, ">="),
        (col("age") == 3, "="),
        (col("age") != 3, "<>"),
        (col("age").__gt__(3), ">"),
    ],
)
def test_comparisons(formula, operator):
    assert formula.expression == Compare(operator=operator, left=AGE, right=literal(3))


@pytest.mark.parametrize(
    ("formula", "operator", "left", "right"),
    [
        (col("age") + 1, "+", AGE, literal(1)),
        (1 + col("age"), "+", literal(1), AGE),
        (col("age") - 1, "-", AGE, literal(1)),
        (1 - col("age"), "-", literal(1), AGE),
        (col("age") * 2, "*", AGE, literal(2)),
        (2 * col("age"), "*", literal(2), AGE),
        (col("age") / 2, "/", AGE, literal(2)),
        (2 / col("age"), "/", literal(2), AGE),
        (-col("age"), "-", literal(0), AGE),
    ],
)
def test_arithmetic(formula, operator, left, right):
    assert formula.expression == Arithmetic(operator=operator, left=left, right=right)


def test_logic():
    a, b = col("a") == 1, col("b") == 2
    both = (a.expression, b.expression)
    assert (a & b).expression == And(operands=both)
    assert (a | b).expression == Or(operands=both)
    assert (~a).expression == Not(operand=a.expression)
    assert (True & a).expression == And(operands=(literal(True), a.expression))
    assert (True | a).expression == Or(operands=(literal(True), a.expression))
    assert col("a").is_null().expression == IsNull(operand=Column(name="a"))
    assert col("age").isin([1, 2]).expression == IsIn(operand=AGE, values=(literal(1), literal(2)))
    assert col("age").between(1, 2).expression == ((col("age") >= 1) & (col("age") <= 2)).expression


def test_a_formula_is_neither_true_nor_false():
    with pytest.raises(TypeError, match="between"):
        bool(1 < col("age") < 3)
    with pytest.raises(TypeError, match="&"):
        (col("a") == 1) and (col("b") == 1)
    with pytest.raises(TypeError):
        hash(col("a"))


def test_aggregates():
    assert count() == Aggregate(function=AggregateFunction.COUNT)
    assert col("age").sum() == Aggregate(function="sum", operand=AGE)
    assert col("age").mean() == Aggregate(function="mean", operand=AGE)
    assert col("age").count() == Aggregate(function="count", operand=AGE)
    assert repr(col("age").mean()) == "Aggregate(mean of age)"
    assert repr(count()) == "Aggregate(count)"
    with pytest.raises(ParameterError):
        Aggregate(function="sum")


@pytest.mark.parametrize("build", [lambda: col(""), lambda: col(3), lambda: col("a").isin("abc")])
def test_slips_are_refused(build):
    with pytest.raises(ParameterError):
        build()
