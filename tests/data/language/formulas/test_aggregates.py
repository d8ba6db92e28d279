from __future__ import annotations

from fractions import Fraction

import pytest

import discreet
from discreet.data import Aggregate, AggregateFunction, col, correlation, count_persons, covariance
from discreet.data.language.expressions import Column
from discreet.errors import ParameterError, UnsupportedQuery

AGE = Column(name="age")


def test_methods():
    assert col("age").quantile(0.9) == Aggregate(function="quantile", operands=(AGE,), parameter="9/10")
    assert col("age").median().parameter == Fraction(1, 2)
    assert col("age").quantiles([0.1, 0.9]) == (col("age").quantile(0.1), col("age").quantile(0.9))
    assert col("age").std() == col("age").standard_deviation()
    assert col("age").std(sample=True).function is AggregateFunction.SAMPLE_STANDARD_DEVIATION
    assert col("age").top(3).parameter == 3
    assert covariance(col("a"), col("b")).operands == (Column(name="a"), Column(name="b"))
    assert covariance(col("a"), col("b")).of(AGE, Column(name="b")).operand == AGE
    assert count_persons().operand is None
    for name in ("count_persons", "covariance", "correlation"):
        assert callable(getattr(discreet, name))


def test_words():
    assert repr(col("age").quantile(0.9)) == "Aggregate(quantile 0.9 of age)"
    assert repr(correlation(col("a"), col("b") + 3)) == "Aggregate(correlation of a and b + ?)"
    assert repr(count_persons()) == "Aggregate(count of persons)"


@pytest.mark.parametrize("q", [-0.1, 1.1, "1/20001", float("nan"), True, "x"])
def test_shares(q):
    with pytest.raises(ParameterError):
        col("age").quantile(q)


@pytest.mark.parametrize("k", [0, -1, 1.5, 10**6, True])
def test_tops(k):
    with pytest.raises(ParameterError):
        col("age").top(k)


def test_slips():
    for wrong in (
        lambda: Aggregate(function="covariance", operand=AGE),
        lambda: Aggregate(function="median"),
        lambda: Aggregate(function="quantile", operand=AGE),
        lambda: Aggregate(function="sum", operand=AGE, parameter=1),
        lambda: Aggregate(function="count of persons", operand=AGE),
        lambda: covariance("a", col("b")),
    ):
        with pytest.raises((ParameterError, ValueError)):
            wrong()
    with pytest.raises(UnsupportedQuery, match="with itself"):
        correlation(col("a"), col("a"))
