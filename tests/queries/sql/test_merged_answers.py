"""A window around a subquery of groups is the window in that subquery: the same query, or nothing."""

from __future__ import annotations

import datetime

import pyarrow
import pytest

from discreet.data import Bounds, Dates, Keys, Limits, Table
from discreet.errors import RequestRefused
from discreet.queries.binding.bind import bind
from discreet.queries.sql.merged_answers import merged_windows
from discreet.queries.sql.statement import read
from discreet.queries.sql.syntax.parser import read_statement

DAY = datetime.date(2024, 1, 1)
TABLES = {
    "visits": Table(
        pyarrow.table({"patient": [1], "city": ["a"], "clinic": ["x"], "cost": [1.0], "day": [DAY]}),
        person="patient",
        limits=Limits(rows=3),
        columns={
            "city": Keys(["a", "b"]),
            "clinic": Keys(["x", "y"]),
            "cost": Bounds(0, 9, step=1),
            "day": Dates(DAY, datetime.date(2024, 12, 31)),
        },
    )
}
SHORT = {
    "{month}": "DATE_TRUNC('month', day)",
    "{groups}": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    "{each}": "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient",
    "\n": " ",
}


def long(text):
    for short, meant in SHORT.items():
        text = text.replace(short, meant)
    return text


MERGED = """
SELECT m, n, SUM(n) OVER (ORDER BY m) AS total
FROM (SELECT {month} AS m, COUNT(*) AS n FROM visits GROUP BY 1) AS t ORDER BY m
= SELECT {month} AS m, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY {month}) AS total
FROM visits GROUP BY {month} ORDER BY 1;
WITH t AS (SELECT {month} AS m, COUNT(*) AS n FROM visits GROUP BY m)
SELECT *, n - LAG(n) OVER (ORDER BY m) AS d FROM t
= SELECT {month} AS m, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY {month}) AS d
FROM visits GROUP BY {month};
SELECT city, RANK() OVER (ORDER BY n DESC) AS r FROM ({groups} HAVING n > 3) AS t WHERE n < 90
ORDER BY r LIMIT 3
= SELECT city, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY city
HAVING COUNT(*) > 3 AND COUNT(*) < 90 ORDER BY r LIMIT 3;
SELECT city, clinic, s FROM (SELECT city, clinic, SUM(cost) AS s,
ROW_NUMBER() OVER (PARTITION BY city ORDER BY SUM(cost) DESC) AS k FROM visits GROUP BY city, clinic) AS t
WHERE k = 1 ORDER BY city
= SELECT city, clinic, SUM(cost) AS s FROM visits GROUP BY city, clinic
QUALIFY ROW_NUMBER() OVER (PARTITION BY city ORDER BY SUM(cost) DESC) = 1 ORDER BY 1;
SELECT t.city, n FROM ({groups}) AS t QUALIFY SUM(n) OVER w > 3 WINDOW w AS (ORDER BY n)
= SELECT city, COUNT(*) AS n FROM visits GROUP BY city
QUALIFY SUM(COUNT(*)) OVER w > 3 WINDOW w AS (ORDER BY COUNT(*));
SELECT city, n AS k, RANK() OVER (ORDER BY n) AS r FROM (SELECT * FROM ({groups}) AS a WHERE n > 1) AS b
ORDER BY -k
= SELECT city, COUNT(*) AS k, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY city
HAVING COUNT(*) > 1 ORDER BY -COUNT(*);
SELECT c, n, SUM(n) OVER () AS s
FROM (SELECT city AS c, COUNT(*) AS n FROM visits WHERE cost > 1 GROUP BY c) AS t
= SELECT city AS c, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS s FROM visits WHERE cost > 1 GROUP BY city;
SELECT city, s AS n FROM (SELECT city, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY city
QUALIFY RANK() OVER (ORDER BY n) = 1) AS t
= SELECT city, SUM(cost) AS n FROM visits GROUP BY city QUALIFY RANK() OVER (ORDER BY COUNT(*)) = 1
"""


@pytest.mark.parametrize("both", MERGED.split(";"))
def test_it_is_the_query_with_the_window_inside(both):
    around, inside = long(both).split(" = SELECT")
    assert read(around, TABLES) == read(f"SELECT{inside}", TABLES)


OTHERS = """
SELECT city, SUM(n) OVER () AS s FROM ({groups} LIMIT 3) AS t;
SELECT DISTINCT city, SUM(n) OVER () AS s FROM ({groups}) AS t;
SELECT city, SUM(n) OVER () AS s FROM (SELECT DISTINCT city, COUNT(*) AS n FROM visits GROUP BY city) AS t;
SELECT city, SUM(n) OVER () AS s FROM ({groups}) AS t JOIN visits USING (city);
SELECT city, SUM(n) OVER () AS s FROM ({groups}) AS t WHERE n > (SELECT 3);
SELECT city, SUM(r) OVER () AS s
FROM (SELECT city, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY city) AS t;
SELECT city, SUM(n) OVER () AS s FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city)) AS t;
SELECT m AS city, SUM(n) OVER () AS s
FROM (SELECT {month} AS m, city AS c, COUNT(*) AS n FROM visits GROUP BY 1, 2) AS t;
SELECT city, SUM(n) OVER () AS s FROM (SELECT UPPER(city) AS city, COUNT(*) AS n FROM visits GROUP BY city) t;
SELECT a, SUM(n) OVER () AS s
FROM (SELECT city AS clinic, clinic AS a, COUNT(*) AS n FROM visits GROUP BY 1, 2) AS t;
SELECT city, n + 1 AS n, SUM(n) OVER () AS s FROM ({groups}) AS t QUALIFY n > 3;
SELECT city, SUM(nothing) OVER () AS s FROM ({groups}) AS t;
SELECT u.city, SUM(n) OVER () AS s FROM ({groups}) AS t;
SELECT city, SUM(n) OVER () AS s FROM (SELECT city, COUNT(*) FROM visits GROUP BY city) AS t;
SELECT a, SUM(n) OVER () AS s FROM ({groups}) AS t (a, n);
SELECT city, n FROM ({groups}) AS t WHERE n > 3
"""


@pytest.mark.parametrize("text", OTHERS.split(";"))
def test_nothing_of_another_meaning_is_merged(text):
    """Steps before the window, names that could mean two things, and statements without a window."""
    assert merged_windows(read_statement(long(text))) is None


@pytest.mark.parametrize("shown", ["patient, SUM(n) OVER (ORDER BY n)", "SUM(n) OVER ()"])
def test_groups_of_one_person_are_refused_as_by_themselves(shown):
    query = read(long("SELECT SHOWN AS s FROM ({each}) AS t".replace("SHOWN", shown)), TABLES)
    with pytest.raises(RequestRefused, match="'patient' is the person column"):
        bind(query, TABLES)


def test_what_would_grow_without_end_is_not_merged():
    text = long("{groups}")
    for _ in range(12):
        text = f"SELECT city, n + n + n + n AS n FROM ({text}) AS t"  # noqa: S608
    assert merged_windows(read_statement(f"SELECT city, SUM(n) OVER () AS s FROM ({text}) AS t")) is None  # noqa: S608
