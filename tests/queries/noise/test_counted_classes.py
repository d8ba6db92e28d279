"""Which aggregates count rows, under which conditions, and in which classes."""

from __future__ import annotations

import pytest

from discreet.data import Type, col, count
from discreet.data.language.expressions import Column, Compare, IsNull, Literal, Not, literal
from discreet.queries.binding.bind import bind
from discreet.queries.noise.counted_classes import classes_of, counted_condition
from discreet.queries.sql.select import parse
from queries.counts.surveys import survey, table

TABLES = {"visits": table(survey(10))}
OLD = Compare(operator=">", left=Column(name="age"), right=literal(64))


def condition(sql):
    query = parse(f"SELECT {sql} AS n FROM visits", TABLES)  # noqa: S608
    ((_, aggregate),) = query.outputs
    return counted_condition(aggregate, bind(query, TABLES).outputs[0])


@pytest.mark.parametrize(
    "sql",
    [
        "COUNT(*) FILTER (WHERE age > 64)",
        "COUNT_IF(age > 64)",
        "COUNT(CASE WHEN age > 64 THEN 1 END)",
        "COUNT(CASE WHEN age > 64 THEN 0 END)",
        "COUNT(CASE WHEN age > 64 THEN 'yes' END)",
        "SUM(CASE WHEN age > 64 THEN 1 ELSE 0 END)",
        "SUM(CASE WHEN age > 64 THEN 1 END)",
        "SUM(CASE WHEN 64 < age THEN 1.0 ELSE 0.0 END)",
        "SUM(IF(age > 64, 1, 0))",
    ],
)
def test_all_spellings_of_a_count_under_a_condition(sql):
    assert condition(sql) == OLD


def test_counts_of_rows_and_of_values():
    assert condition("COUNT(*)") == Literal(value=True)
    assert condition("COUNT(age)") == Not(operand=IsNull(operand=Column(name="age")))
    assert condition("COUNT(ward)") == Not(operand=IsNull(operand=Column(name="ward")))


@pytest.mark.parametrize(
    "sql",
    [
        "SUM(age)",
        "AVG(age)",
        "COUNT(DISTINCT person)",
        "COUNT(cost)",  # NaN is absent, too
        "SUM(CASE WHEN age > 64 THEN 2 ELSE 0 END)",
        "SUM(CASE WHEN age > 64 THEN 1 ELSE 1 END)",
        "SUM(CASE WHEN age > 64 THEN 1 WHEN age < 3 THEN 1 ELSE 0 END)",
        "SUM(CASE WHEN age > 64 THEN age ELSE 0 END)",
    ],
)
def test_what_counts_no_rows_under_one_condition(sql):
    assert condition(sql) is None


def test_classes_are_numbered_by_the_conditions_that_are_met():
    young = Compare(operator="<", left=Column(name="age"), right=literal(80))
    found = classes_of([OLD, young], {"age": Type.INTEGER})
    assert found.truths == ((False, True), (True, False), (True, True))
    assert found.histogram("class").values.values == (2, 1, 3)
    assert found.workload.row(0).tolist() == [0, 1, 1]
    assert found.workload.row(1).tolist() == [1, 0, 1]


def test_why_there_are_no_classes():
    assert classes_of([OLD, OLD], {"age": Type.INTEGER}) == "all of them count the same rows"
    assert classes_of([OLD] * 51, {"age": Type.INTEGER}) == "there are more than 50 conditions"


def test_dataframes_count_alike():
    query = parse("SELECT COUNT(*) AS n FROM visits", TABLES)
    output = bind(query, TABLES).outputs[0]
    assert counted_condition(count(), output) == Literal(value=True)
    assert counted_condition((col("age") > 64).sum(), output) == OLD
