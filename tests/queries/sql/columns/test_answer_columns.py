"""Which aggregates are measured, which columns are calculated, and which are shown."""

from __future__ import annotations

import pytest

from discreet.data import col
from discreet.data.language.relations import Order
from discreet.errors import UnsupportedQuery
from discreet.queries import parse
from queries.clinic import TABLES


def read(sql):
    return parse(sql, TABLES)


def calculated(query):
    return {one.name: one.expression for one in query.after.calculated}


def test_a_plain_query_is_what_it_was():
    query = read("SELECT city, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY city HAVING COUNT(*) > 3")
    assert query.names == query.shown == ("n", "m")
    assert query.after.calculated == ()
    assert query.after.shown is None
    assert query.after.having == (col("n") > 3).expression


def test_every_aggregate_is_measured_once():
    query = read(
        "SELECT SUM(age) / COUNT(*) AS r, COUNT(*) AS n, 100.0 * SUM(age) / COUNT(*) AS p FROM visits "
        "HAVING SUM(age) > 1 ORDER BY COUNT(*)"
    )
    assert query.names == ("n", "sum_age")
    assert query.shown == ("r", "n", "p")
    assert calculated(query) == {
        "r": (col("sum_age") / col("n")).expression,
        "p": (100 * col("sum_age") / col("n")).expression,
    }
    assert query.after.having == (col("sum_age") > 1).expression
    assert query.after.order == (Order(column="n"),)


def test_what_only_sorts_or_cuts_is_measured_and_not_shown():
    query = read(
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city "
        "HAVING ROUND(AVG(age)) > 40 ORDER BY MAX(age) - MIN(age) DESC, SUM(cost)"
    )
    assert query.names == ("n", "avg_age", "max_age", "min_age", "sum_cost")
    assert query.shown == ("n",)
    assert query.after.having == col("calculated").expression
    assert query.after.order == (Order(column="calculated_2", descending=True), Order(column="sum_cost"))


def test_names_of_select_may_be_calculated_with_in_having_and_order_by():
    query = read(
        "SELECT city, SUM(cost) / COUNT(*) AS r FROM visits GROUP BY city "
        "HAVING r > 2 AND COUNT(*) > 1 ORDER BY ROUND(r), 2 DESC"
    )
    assert query.after.having == ((col("r") > 2) & (col("count") > 1)).expression
    assert calculated(query)["round"] == (col("sum_cost") / col("count")).round().expression
    assert query.after.order == (Order(column="round"), Order(column="r", descending=True))
    assert query.shown == ("r",)


def test_keys_and_constants_are_calculated_with():
    query = read(
        "SELECT ward, ward * 10 AS w, FLOOR(age / 10) * 10 AS low, FLOOR(age / 10) * 10 + 9 AS high, 'x', 7 "
        "FROM visits GROUP BY ward, low HAVING COUNT(*) > ward"
    )
    assert query.names == ("count",)
    assert calculated(query)["w"] == (col("ward") * 10).expression
    assert calculated(query)["high"] == (col("low") + 9).expression
    assert query.shown == ("w", "high", "calculated", "calculated_2")
    assert query.after.having == (col("count") > col("ward")).expression


@pytest.mark.parametrize(
    ("items", "names"),
    [
        ("COUNT(*), COUNT(*)", ("count", "count_2")),
        ("SUM(age + 1), SUM(age + 2), COUNT(*) AS sum_2", ("sum", "sum_3", "sum_2")),
        ("ROUND(AVG(age)), ROUND(AVG(cost))", ("round", "round_2")),
        ("COALESCE(SUM(age), 0), CASE WHEN COUNT(*) > 1 THEN 1 ELSE 0 END", ("coalesce", "case")),
        ("SUM(age) / 2, 1 AS count, COUNT(*)", ("calculated", "count", "count_2")),
        ("MEAN(age) * 2, TRIMMED_MEAN(age, 0.1) + 1", ("calculated", "calculated_2")),
    ],
)
def test_columns_without_names_get_one(items, names):
    assert read(f"SELECT {items} FROM visits").shown == names  # noqa: S608


def test_a_hidden_name_leaves_the_names_of_select_alone():
    query = read("SELECT SUM(age) / COUNT(*) AS sum_age, AVG(cost) AS count FROM visits")
    assert query.names == ("count", "sum_age_2", "count_2")
    assert query.shown == ("sum_age", "count")
    query = read("SELECT SUM(age) / 2 AS x, COUNT(*) AS sum_age_lower FROM visits")
    assert query.names == ("sum_age_lower", "sum_age_2")


def test_a_column_of_any_name_is_never_taken_for_an_aggregate():
    """What stands in place of an aggregate is no name that could be written."""
    with pytest.raises(UnsupportedQuery, match="neither grouped by nor aggregated"):
        read('SELECT COUNT(*) / "Mixed Case" FROM visits')


def test_literals_stay_hidden():
    query = read("SELECT 5908273141 * COUNT(*) AS x, 'canary' AS y FROM visits HAVING SUM(age) > 5908273141")
    told = f"{query!r}{query.after!r}"
    assert "5908273141" not in told
    assert "canary" not in told
