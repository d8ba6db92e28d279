"""Functions of keys in an answer: what DuckDB gives for rows, and nothing after the charge."""

# ruff: noqa: E501

from __future__ import annotations

import pytest

from discreet.data import GroupKey, Keys
from discreet.data.language.formulas.formula import col
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery
from discreet.queries import Offer, build_request
from discreet.queries.outputs import key_functions
from discreet.queries.outputs.key_functions import check_over_answer, public_column, separated
from discreet.queries.sql.select import parse
from queries.exact_answers import check_same, curator, table

FUNCTIONS = [
    "SELECT UPPER(city) AS u, COUNT(*) AS n FROM visits WHERE city <> 'Rome' GROUP BY city ORDER BY LENGTH(city) DESC, city",
    "SELECT CONCAT(city, '-', CAST(ward AS VARCHAR)) AS k, city || 'x' AS x, COUNT(*) AS n FROM visits WHERE ward < 4 AND city <> 'Rome' GROUP BY city, ward ORDER BY k",
    "SELECT day, EXTRACT(YEAR FROM day) AS y, EXTRACT(DOW FROM day) AS d, COUNT(*) AS n FROM visits WHERE day < DATE '2024-01-10' GROUP BY day ORDER BY day",
    "SELECT city, CASE WHEN city LIKE '%l%' THEN 'with l' ELSE 'without' END AS l, COUNT(*) AS n FROM visits WHERE city <> 'Rome' GROUP BY city ORDER BY CASE city WHEN 'Oslo' THEN 0 ELSE 1 END, city",
    "SELECT day, CASE WHEN day >= '2024-01-05' THEN 'late' ELSE 'early' END AS half, COUNT(*) AS n FROM visits WHERE day < '2024-01-10' GROUP BY day ORDER BY day",
    "SELECT city, SUBSTRING(city, 1, 2) AS s, LENGTH(city) * COUNT(*) AS weighted FROM visits WHERE city <> 'Rome' GROUP BY city HAVING UPPER(city) <> 'OSLO' ORDER BY s",
    "SELECT ward, ward + 1 AS next, ward * ward AS square, COUNT(*) AS n FROM visits WHERE ward < 4 GROUP BY ward ORDER BY ward",
    "SELECT city, COUNT(*) AS n FROM visits WHERE city <> 'Rome' GROUP BY city ORDER BY POSITION('i' IN city), city",
    "SELECT city, SUM(COUNT(*)) OVER (PARTITION BY LENGTH(city) ORDER BY UPPER(city)) AS t FROM visits WHERE city <> 'Rome' GROUP BY city ORDER BY city",
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("functions"))


@pytest.mark.parametrize("sql", FUNCTIONS)
def test_functions_of_keys_are_what_an_engine_gives(clinic, sql):
    check_same(sql, clinic.ask(sql, epsilon=90))


def test_functions_of_chosen_keys(clinic):
    sql = "SELECT UPPER(clinic) AS u, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY u"
    check_same(sql, clinic.ask(sql, epsilon=90, delta=1e-4))


def test_what_an_engine_has_to_work_out_is_separated():
    keys = {"city": Type.TEXT, "ward": Type.INTEGER}
    expression = (col("city").length() * col("n") + col("ward") * 2).expression
    rest, parts = separated(expression, keys)
    assert list(parts.values()) == [col("city").length().expression]
    assert rest == (col("function 1") * col("n") + col("ward") * 2).expression
    assert check_over_answer(expression, {**keys, "n": Type.INTEGER}, keys) is Type.INTEGER


def test_functions_of_released_values_are_still_refused():
    with pytest.raises(UnsupportedQuery, match="of an answer"):
        check_over_answer(col("n").exp().expression, {"n": Type.FLOAT}, {"city": Type.TEXT})


def test_functions_of_keys_are_worked_out_before_the_charge(monkeypatch):
    """Building a request asks the engine; finishing an answer finds what it said."""
    tables = {"visits": table()}
    public_column.cache_clear()
    sql = "SELECT LOWER(city) AS l, COUNT(*) AS n FROM visits GROUP BY city"
    request = build_request(parse(sql, tables), tables, Offer(epsilon=1))
    monkeypatch.setattr(key_functions, "public_values", None)
    assert [column.name for column in request.columns] == ["l", "n"]
    assert request.columns[0].finish([], request.confidence).values.tolist() == [
        "taipei",
        "hamilton",
        "oslo",
        "rome",
    ]


def test_keys_that_are_missing_or_left_out_are_null():
    keys = (GroupKey(column="city", values=Keys(["a", None])),)
    found = public_column(col("city").upper().expression, keys, ((True,), (False,)))
    assert found == ("A", None, None)
