"""IN with a subquery on a public table is a list of constants, NULL as in SQL; places name columns."""

from __future__ import annotations

import datetime

import duckdb
import pyarrow
import pytest

from discreet.data import EACH_ROW, Keys, Table, col, compute, count, fresh_salt
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries import Offer, TableRequest, build_request, parse
from discreet.queries.binding.bind import bind

ROWS = pyarrow.table(
    {
        "city": ["Taipei", "Oslo", "Rome", None, "Oslo", "Quito"],
        "code": pyarrow.array([1, 2, None, 4, 2, 3]),
        "price": [0.1, 0.5, 0.1, 2.0, None, 0.3],
    }
)
PLACES = pyarrow.table(
    {
        "name": ["Taipei", "Oslo", "Oslo", None, "Rome"],
        "region": ["Asia", "Europe", "Europe", "Europe", "Europe"],
        "code": pyarrow.array([1, 2, 2, None, 9]),
        "price": [0.1, 0.2, float("nan"), None, 0.5],
        "since": [datetime.date(2020, 1, d) for d in (1, 2, 3, 4, 5)],
        "open": pyarrow.array([True, False, None, True, True]),
    }
)
TABLES = {
    "visits": Table(ROWS, person=EACH_ROW, columns={"city": Keys(["Taipei", "Oslo", "Rome", None])}),
    "places": PublicTable(PLACES),
}
CONDITIONS = [
    "city IN (SELECT name FROM places)",
    "city NOT IN (SELECT name FROM places)",
    "city IN (SELECT name FROM places WHERE name IS NOT NULL)",
    "city NOT IN (SELECT name FROM places WHERE region = 'Asia')",
    "city NOT IN (SELECT DISTINCT p.name FROM places AS p WHERE p.code IN (1, 2) AND NOT p.open)",
    "city IN (SELECT name FROM places WHERE region = 'Mars')",
    "city NOT IN (SELECT name FROM places WHERE region = 'Mars')",
    "city IN (SELECT name FROM places WHERE name IS NULL)",
    "city NOT IN (SELECT name FROM places WHERE name IS NULL)",
    "(city IN (SELECT name FROM places)) IS NULL",
    "code IN (SELECT code FROM places WHERE since BETWEEN DATE '2020-01-02' AND DATE '2020-01-04')",
    "price IN (SELECT price FROM places WHERE code = 1 OR region < 'B')",
    "city IN (SELECT name FROM places) OR code = 4",
    "code IN (SELECT code FROM places WHERE open)",
    "city NOT IN (SELECT name FROM places WHERE region LIKE 'A%' OR region = 'Mars')",
    "code IN (SELECT code FROM places WHERE name IN (SELECT name FROM places WHERE region = 'Europe'))",
    "city IN (SELECT name FROM places WHERE code > (SELECT AVG(code) FROM places))",
    "city IN (SELECT name FROM places WHERE code + 1 > 2 AND price < 1)",
    "city IN (SELECT name FROM places WHERE price > 0.1 AND UPPER(name) = 'OSLO')",
    "city NOT IN (SELECT name FROM places WHERE name IS NOT NULL GROUP BY name HAVING COUNT(*) > 1)",
    "LOWER(city) IN (SELECT LOWER(name) FROM places)",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_answer_is_that_of_duckdb(condition):
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE {condition}"  # noqa: S608
    with duckdb.connect() as connection:
        connection.register("visits", ROWS)
        connection.register("places", PLACES)
        (expected,) = connection.execute(sql).fetchone()
    plan = bind(parse(sql, TABLES), TABLES).plan
    assert int(compute(plan, TABLES, salt=fresh_salt())[plan.measures[0]][0]) == expected


def test_a_list_of_the_same_values_is_the_same_request():
    sql = "SELECT COUNT(*) AS n FROM visits WHERE city IN (SELECT name FROM places WHERE code > 1)"
    frame = TableRequest(table="visits").filter(col("city").isin(["Oslo", "Rome"])).agg(n=count())
    one, other = (build_request(query, TABLES, Offer(epsilon=1)) for query in (parse(sql, TABLES), frame))
    assert one.identity == other.identity


def test_it_narrows_keys():
    sql = "SELECT city, COUNT(*) AS n FROM visits WHERE city IN (SELECT name FROM places) GROUP BY city"
    narrow = sql.replace("FROM places", "FROM places WHERE code = 2")
    assert bind(parse(narrow, TABLES), TABLES).plan.keys[0].values.values == ("Oslo",)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("city IN (SELECT city FROM visits)", "each row is a separate person"),
        ("city IN (SELECT name FROM places JOIN visits ON name = city)", "each row is a separate person"),
        ("city IN (SELECT name FROM places UNION SELECT city FROM visits)", "UNION without ALL"),
        ("city IN (SELECT name, region FROM places)", "several columns"),
        ("city IN (SELECT name FROM places LIMIT 2)", "LIMIT"),
        ("price IN (SELECT price FROM places)", "NaN"),
        ("price IN (SELECT price + 0 FROM places)", "NaN|name of its own"),
        ("city IN (SELECT COUNT(*) FROM places)", "compare|IN"),
        ("code IN (SELECT name FROM places WHERE name IS NOT NULL)", "compare|IN"),
    ],
)
def test_what_is_refused(condition, message):
    with pytest.raises((UnsupportedQuery, UndeclaredColumn), match=message):
        bind(parse(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", TABLES), TABLES)  # noqa: S608


def test_places_in_select_name_keys_and_order():
    named = "SELECT city AS k, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC, k"
    placed = "SELECT city AS k, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 2 DESC, 1"
    assert parse(named, TABLES) == parse(placed, TABLES)
    plain = "SELECT COUNT(*), city FROM visits GROUP BY 2 ORDER BY 1"
    assert parse(plain, TABLES) == parse(
        "SELECT COUNT(*), city FROM visits GROUP BY city ORDER BY COUNT(*)", TABLES
    )
    calculated = "SELECT code > 1 AS big, COUNT(*) AS n FROM visits GROUP BY {} ORDER BY {}"
    assert parse(calculated.format(1, 1), TABLES) == parse(calculated.format("big", "big"), TABLES)


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("GROUP BY 3", "position that does not exist"),
        ("GROUP BY 0", "position that does not exist"),
        ("GROUP BY 2", "aggregate"),
        ("GROUP BY 1.5", "constant"),
        ("GROUP BY 'city'", "constant"),
        ("GROUP BY city ORDER BY 9", "position that does not exist"),
        ("GROUP BY city ORDER BY 'n'", "constant"),
        ("GROUP BY 1, city", "twice"),
    ],
)
def test_places_that_are_refused(clauses, message):
    with pytest.raises(UnsupportedQuery, match=message):
        parse(f"SELECT city, COUNT(*) AS n FROM visits {clauses}", TABLES)  # noqa: S608
