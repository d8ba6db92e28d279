"""Aggregates in SQL are those of dataframes, byte for byte; what is not there is refused by name."""

from __future__ import annotations

import pytest

from discreet.data import Aggregate, col, correlation, count, covariance, literal
from discreet.data.language.expressions import Case, When
from discreet.errors import UnsupportedQuery
from discreet.queries import Offer, TableRequest, bind, build_request, parse
from queries.clinic import TABLES

VISITS = TableRequest(table="visits")


def selected(item):
    return parse(" ".join(["SELECT", item, "FROM visits"]), TABLES)


def where(condition, value):
    return Case(
        branches=(When(condition=condition.expression, value=value.expression),), otherwise=literal(None)
    )


ALIKE = {
    "COUNT(*)": count(),
    "COUNT(age)": col("age").count(),
    "COUNT(DISTINCT note)": col("note").count_distinct(),
    "COUNT(DISTINCT (note))": col("note").count_distinct(),
    "COUNT(DISTINCT patient)": col("patient").count_distinct(),
    "SUM(age)": col("age").sum(),
    "AVG(age)": col("age").mean(),
    "MEAN(age)": col("age").mean(),
    "VARIANCE(age)": col("age").variance(sample=True),
    "VAR_SAMP(age)": col("age").variance(sample=True),
    "VAR_POP(age)": col("age").variance(),
    "STDDEV(age)": col("age").std(sample=True),
    "STD(age)": col("age").std(sample=True),
    "STDDEV_SAMP(age)": col("age").std(sample=True),
    "STDDEV_POP(age)": col("age").standard_deviation(),
    "COVAR_POP(age, balance)": covariance(col("age"), col("balance")),
    "COVAR_SAMP(age, balance)": covariance(col("age"), col("balance"), sample=True),
    "CORR(age, balance)": correlation(col("age"), col("balance")),
    "MEDIAN(age)": col("age").median(),
    "QUANTILE(age, 0.9)": col("age").quantile(0.9),
    "QUANTILE(age, 1 - 0.1)": col("age").quantile("9/10"),
    "APPROX_QUANTILE(age, 0.5)": col("age").median(),
    "QUANTILE_CONT(age, 0.25)": col("age").quantile("1/4"),
    "APPROX_PERCENTILE(age, 0.25)": col("age").quantile("1/4"),
    "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age)": col("age").quantile("1/4"),
    "PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY age ASC NULLS LAST)": col("age").quantile("1/4"),
    "MIN(age)": col("age").min(),
    "MAX(age)": col("age").max(),
    "MODE(city)": col("city").mode(),
    "MODE() WITHIN GROUP (ORDER BY city)": col("city").mode(),
    "APPROX_TOP_K(city, 2)": col("city").top(2),
}


@pytest.mark.parametrize("sql", ALIKE)
def test_sql_and_dataframes_make_the_same_request(sql):
    written = selected(f"{sql} AS x")
    framed = VISITS.agg(x=ALIKE[sql])
    assert written.outputs == framed.outputs
    one, other = (build_request(query, TABLES, Offer(epsilon=1)) for query in (written, framed))
    assert one.identity == other.identity


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("COUNT(DISTINCT note)", "count_distinct_note"),
        ("VARIANCE(age)", "var_samp_age"),
        ("STDDEV_POP(age)", "stddev_pop_age"),
        ("CORR(age, balance)", "corr_age_balance"),
        ("MEDIAN(age)", "median_age"),
        ("QUANTILE(age, 0.9)", "quantile_age"),
        ("MIN(age)", "min_age"),
        ("MODE(city)", "mode_city"),
        ("APPROX_TOP_K(city, 2)", "top_city"),
    ],
)
def test_names_of_their_own(sql, name):
    assert selected(sql).names == (name,)


def test_a_filter_is_a_case_inside():
    (found,) = parse("SELECT COUNT(*) FILTER (WHERE age > 40) AS n FROM visits", TABLES).outputs
    case = Case(
        branches=(When(condition=(col("age") > 40).expression, value=literal(1)),), otherwise=literal(None)
    )
    assert found == ("n", Aggregate(function="count", operand=case))
    assert parse("SELECT COUNT_IF(age > 40) AS n FROM visits", TABLES).outputs == (found,)
    (total,) = parse("SELECT SUM(age) FILTER (WHERE ward = 1) AS s FROM visits", TABLES).outputs
    assert total == ("s", Aggregate(function="sum", operand=where(col("ward") == 1, col("age"))))
    bind(parse("SELECT COUNT(*) FILTER (WHERE age > 40) AS n FROM visits", TABLES), TABLES)


@pytest.mark.parametrize(
    ("sql", "construct", "rewrite"),
    [
        ("MEDIAN(DISTINCT age)", "DISTINCT in this aggregate", "COUNT(DISTINCT x)"),
        ("MEDIAN(DISTINCT age)", "DISTINCT in this aggregate", "leave it out"),
        ("COUNT(DISTINCT age, ward)", "COUNT(DISTINCT x, y)", "one column"),
        ("COUNT(DISTINCT COUNT(age))", "an aggregate of an aggregate", "ask for one"),
        ("PERCENTILE_CONT(0.5908273141)", "without WITHIN GROUP", "WITHIN GROUP (ORDER BY x)"),
        ("PERCENTILE_CONT(age, 0.5908273141)", "a quantile without a share", "four decimals"),
        ("PERCENTILE_CONT(0.5908273141) WITHIN GROUP (ORDER BY age, ward)", "several columns", "one column"),
        ("PERCENTILE_CONT(age) WITHIN GROUP (ORDER BY age)", "a quantile without a share", "0 to 1"),
        ("QUANTILE(age, 5908273141)", "a quantile without a share", "0 to 1"),
        ("QUANTILE_CONT(age)", "QUANTILE_CONT of this form", "QUANTILE(x, 0.5)"),
        ("APPROX_TOP_K(city, 0)", "a top k without a k", "a whole number"),
        ("APPROX_TOP_K(city, 1.5)", "a top k without a k", "a whole number"),
        ("APPROX_TOP_K(city)", "a top k without a k", "a whole number"),
        ("MIN(age, ward)", "several columns", "one column"),
        ("SUM(5908273141)", "SUM of a constant", "of a column"),
        ("MEDIAN(5908273141)", "MEDIAN of a constant", "of a column"),
        ("SUM(SUM(age))", "an aggregate of an aggregate", "ask for one"),
        ("ARG_MAX(age, cost)", "ARG_MAX()", "MODE and APPROX_TOP_K can be asked"),
        ("ARRAY_AGG(note)", "ARRAY_AGG()", "single rows"),
        ("CORR(age, age)", "with itself", "another column"),
        ("SUM(*)", "*", "COUNT(*)"),
        ("COUNT(NULL)", "COUNT of a constant", "COUNT(*)"),
    ],
)
def test_what_is_not_there_is_refused_by_name(sql, construct, rewrite):
    with pytest.raises(UnsupportedQuery) as caught:
        selected(f"{sql} AS x")
    asked, _, instead = str(caught.value).partition("; ")
    assert construct in asked
    assert rewrite in instead
    assert "5908273141" not in str(caught.value)
