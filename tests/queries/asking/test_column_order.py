"""Columns come in the order of SELECT, and keys that it leaves out only where rows need them."""

from __future__ import annotations

import csv
import io

import pytest

from curator.doors import COLUMNS, clinic, visits
from discreet.cli.rendering import render
from discreet.curator import Budget
from discreet.data import Keys, col, count
from discreet.queries.sql.select import parse

BY_BOTH = "FROM visits GROUP BY city, household"


@pytest.fixture
def curator(place):
    columns = {**COLUMNS, "household": Keys(range(7))}
    return clinic(place, tables={"visits": visits(columns=columns)}, budget=Budget(epsilon=1000, delta=1e-3))


@pytest.mark.parametrize(
    ("select", "shown"),
    [
        ("SELECT COUNT(*) AS n, household, city", ["n", "household", "city"]),
        ("SELECT city, COUNT(*) AS n, household, AVG(age) AS m", ["city", "n", "household", "m"]),
        ("SELECT COUNT(*) AS n, city", ["household", "n", "city"]),
        ("SELECT COUNT(*) AS n", ["city", "household", "n"]),
        ("SELECT AVG(age) * 2 AS m, city, COUNT(*) AS n, household", ["m", "city", "n", "household"]),
        ("SELECT COUNT(*) AS n, city || '!' AS c, household", ["n", "c", "household"]),
    ],
)
def test_one_question(curator, select, shown):
    release = curator.ask(f"{select} {BY_BOTH}", epsilon=1)
    assert list(release.shown) == shown
    assert str(release).splitlines()[0].split() == shown
    names = [name for name in release.columns() if not name.endswith(("_lower", "_upper"))]
    assert names == shown
    assert set(release.keys) == {"city", "household"}
    header = next(csv.reader(io.StringIO(render(release, "csv").decode())))
    assert header == [*release.columns(), "confidence"]
    assert list(release.to_pandas().columns) == list(release.columns())


def test_a_key_of_one_value_is_not_needed(curator):
    sql = "SELECT COUNT(*) AS n, household FROM visits WHERE city = 'Oslo' GROUP BY city, household"
    assert list(curator.ask(sql, epsilon=1).shown) == ["n", "household"]


def test_columns_do_not_depend_on_which_groups_are_left(curator):
    sql = f"SELECT COUNT(*) AS n {BY_BOTH} ORDER BY n DESC LIMIT 1"
    assert list(curator.ask(sql, epsilon=1).shown) == ["city", "household", "n"]
    sql = f"SELECT household, COUNT(*) AS n, city {BY_BOTH} HAVING n > 100000"
    release = curator.ask(sql, epsilon=1)
    assert len(release) == 0
    assert list(release.shown) == ["household", "n", "city"]


def test_chosen_keys_are_always_shown(place):
    curator = clinic(place, budget=Budget(epsilon=1000, delta=1e-2))
    sql = "SELECT COUNT(*) AS n, household FROM visits GROUP BY household"
    assert list(curator.ask(sql, epsilon=50, delta=1e-3).shown) == ["n", "household"]
    sql = "SELECT COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY household"
    assert list(curator.ask(sql, epsilon=50, delta=1e-3).shown) == ["household", "n", "m"]


def test_statements_of_several_answers(curator):
    sql = (
        "SELECT a.n AS first, a.city, a.n / (SELECT COUNT(*) FROM visits) AS share "
        "FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) AS a"
    )
    release = curator.ask(sql, epsilon=1)
    assert list(release.shown) == ["first", "city", "share"]
    assert list(release.columns())[:2] == ["first", "first_lower"]


def test_the_order_is_no_part_of_the_question(curator):
    one = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    other = "SELECT COUNT(*) AS n, city FROM visits GROUP BY city"
    assert parse(one, curator.tables) == parse(other, curator.tables)
    first = curator.ask(one, epsilon=1)
    again = curator.ask(other, epsilon=1)
    assert again.stored
    assert first["n"].tolist() == again["n"].tolist()


def test_dataframes_have_keys_first(curator):
    query = curator.table("visits").group_by("city").agg(n=count(), m=col("age").mean())
    assert list(curator.ask(query, epsilon=1).shown) == ["city", "n", "m"]
