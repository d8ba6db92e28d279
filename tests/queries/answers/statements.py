"""A clinic with several cities, and statements about it: what they mean is what DuckDB says of the rows."""

# ruff: noqa: E501, S608

from __future__ import annotations

from contextlib import contextmanager
from functools import cache

import duckdb
import numpy as np
import pyarrow

from discreet.curator.release.release import assembled
from discreet.curator.request.request import Draw
from discreet.data import Bounds, Keys, Limits, Table, compute, fresh_salt
from discreet.data.facts.question_tables import QuestionTables
from discreet.data.tables.public_table import PublicTable
from discreet.queries.asking.settle import settle
from discreet.queries.question.terms import Terms

CITIES = ("Accra", "Berlin", "Cairo", "Delhi", "Essen", "Fargo")
WARDS = ("east", "north", "west")
PERSONS = 900


@cache
def rows():
    """Visits of which every group has some."""
    draw = np.random.default_rng(3)
    person = np.repeat(np.arange(PERSONS), draw.integers(1, 4, PERSONS))
    chances = np.array([40, 25, 16, 10, 6, 3]) / 100
    return pyarrow.table(
        {
            "patient": person,
            "city": draw.choice(CITIES, person.size, p=chances),
            "ward": draw.choice(WARDS, person.size),
            "cost": (draw.gamma(2, 20, person.size).round() / 1).clip(0, 200),
        }
    )


def places():
    """Public facts about the cities, and about one where nobody is."""
    return pyarrow.table(
        {
            "city": [*CITIES, "Genoa"],
            "region": ["south", "north", "south", "south", "north", "north", "south"],
            "beds": [10, 20, 30, 40, 50, 60, 70],
        }
    )


@cache
def tables():
    """The declared tables; no limit cuts anything."""
    visits = Table(
        rows(),
        person="patient",
        limits=Limits(rows=4),
        columns={"city": Keys(CITIES), "ward": Keys(WARDS), "cost": Bounds(0, 200, step=1)},
        version="1",
    )
    return QuestionTables({"visits": visits, "places": PublicTable(places())})


def asked(text, **terms):
    """A statement on its terms."""
    return settle(text, tables(), Terms.stated(**terms))


def exact(request):
    """The exact integers of every measurement of a request."""
    return [compute(one.plan, tables(), salt=fresh_salt()) for one in request.requests]


def released(request, integers=None, noisy=False):
    """The answer to a request for exact integers, with the noise that ships or without any."""
    draws = [
        [
            Draw(
                part=part, steps=part.mechanism.release(found[part.measure]) if noisy else found[part.measure]
            )
            for part in one.parts
        ]
        for one, found in zip(request.requests, integers or exact(request), strict=True)
    ]
    return assembled(request, draws, {"private": True})


@contextmanager
def database():
    """DuckDB over the rows."""
    with duckdb.connect() as connection:
        connection.register("visits", rows())
        connection.register("places", places())
        yield connection


def truth(text):
    """What DuckDB says of the rows: a list of rows."""
    with database() as connection:
        return connection.execute(text).fetchall()


COUNTS = "(SELECT city, COUNT(*) AS n FROM visits GROUP BY city) AS t"
WARD_SUMS = "(SELECT city, ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY city, ward) AS t"

EXACT = {
    "aggregates": f"SELECT COUNT(*) AS k, SUM(n) AS s, AVG(n) AS a, MIN(n) AS lo, MAX(n) AS hi FROM {COUNTS}",
    "spread": f"SELECT STDDEV(n) AS s, VAR_POP(n) AS v, QUANTILE_DISC(n, 0.5) AS m FROM {COUNTS}",
    "filter": f"SELECT city, n * 2 AS twice FROM {COUNTS} WHERE n > 200 ORDER BY city",
    "filtered aggregates": f"SELECT AVG(n) AS a, COUNT(*) AS k FROM {COUNTS} WHERE n > 200",
    "with": f"WITH t AS (SELECT * FROM {COUNTS}) SELECT a.city, a.n - b.m AS d FROM t a, "
    "(SELECT AVG(n) AS m FROM t) b ORDER BY a.city",
    "groups of groups": f"SELECT city, MAX(total) AS m, SUM(n) AS n FROM {WARD_SUMS} GROUP BY city ORDER BY 1",
    "having": f"SELECT city, SUM(n) AS n FROM {WARD_SUMS} GROUP BY city HAVING MAX(n) > 150 ORDER BY n DESC",
    "public join": f"SELECT region, SUM(n) AS n, SUM(beds) AS b FROM {COUNTS} JOIN places USING (city) "
    "GROUP BY region ORDER BY region",
    "outer join": f"SELECT p.city, t.n FROM places p LEFT JOIN {COUNTS} ON p.city = t.city ORDER BY p.city",
    "full join": "SELECT city, n FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city "
    "HAVING COUNT(*) > 200) AS a FULL JOIN (SELECT city, beds FROM places WHERE beds > 30) AS b USING (city) "
    "ORDER BY city",
    "answers": "SELECT a.city, a.n, b.m, a.n / b.m AS r FROM (SELECT city, COUNT(*) AS n FROM visits "
    "GROUP BY city) a JOIN (SELECT city, AVG(cost) AS m FROM visits WHERE cost > 50 GROUP BY city) b "
    "ON a.city = b.city WHERE a.city <> 'Accra' ORDER BY a.city",
    "comma": "SELECT a.city, a.n, b.n AS dear FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) a, "
    "(SELECT city, COUNT(*) AS n FROM visits WHERE cost > 50 GROUP BY city) b WHERE a.city = b.city ORDER BY 1",
    "union all": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city UNION ALL "
    "SELECT 'all', COUNT(*) FROM visits ORDER BY n DESC",
    "parentheses": "(SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) UNION "
    "(SELECT city, COUNT(*) FROM visits GROUP BY city) ORDER BY n DESC LIMIT 4",
    "intersect": "SELECT city FROM visits GROUP BY city HAVING COUNT(*) > 200 INTERSECT "
    "SELECT city FROM places WHERE beds > 15 ORDER BY city",
    "except": "SELECT city FROM visits GROUP BY city HAVING COUNT(*) > 50 EXCEPT "
    "SELECT city FROM visits GROUP BY city HAVING AVG(cost) > 41 ORDER BY city",
    "share": "SELECT city, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM visits) AS p FROM visits GROUP BY city "
    "ORDER BY city",
    "above the mean": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING COUNT(*) > "
    f"(SELECT AVG(n) FROM {COUNTS}) ORDER BY city",
    "scalars alone": "SELECT (SELECT SUM(cost) FROM visits) / (SELECT COUNT(DISTINCT patient) FROM visits) AS x",
    "scalar in where": f"SELECT city FROM {COUNTS} WHERE n = (SELECT MAX(n) FROM {COUNTS})",
    "public scalar": "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT MAX(beds) FROM places)",
    "scalar that is missing": f"SELECT city, n + (SELECT n FROM {COUNTS} WHERE n < 0 ORDER BY n LIMIT 1) AS x "
    f"FROM {COUNTS} ORDER BY city",
    "limit": f"SELECT SUM(n) AS s FROM (SELECT * FROM {COUNTS} ORDER BY n DESC LIMIT 2) AS u",
    "classes": f"SELECT CASE WHEN n > 200 THEN 'large' ELSE 'small' END AS size, COUNT(*) AS k, SUM(n) AS s "
    f"FROM {COUNTS} GROUP BY size ORDER BY size",
    "distinct": f"SELECT DISTINCT region FROM {COUNTS} JOIN places USING (city) ORDER BY region",
    "per person inside": "SELECT MAX(m) AS m FROM (SELECT city, AVG(k) AS m FROM (SELECT patient, city, "
    "LEAST(COUNT(*), 4) AS k FROM visits GROUP BY patient, city) v GROUP BY city) w",
    "three deep": f"SELECT AVG(s) AS a FROM (SELECT region, SUM(n) AS s FROM {COUNTS} JOIN places USING (city) "
    "GROUP BY region) u",
    "filter of aggregates": f"SELECT SUM(n) FILTER (WHERE city < 'D') AS a, COUNT_IF(n > 200) AS k FROM {COUNTS}",
    "star": f"SELECT * FROM {COUNTS} ORDER BY n LIMIT 3",
    "decimals": f"SELECT SUM(n) AS s FROM {COUNTS} JOIN places USING (city) WHERE beds * 0.1 <= 3.0",
    "words": f"SELECT MIN(city) AS first, MAX(city) AS last, COUNT(DISTINCT city) AS k FROM {COUNTS}",
}
"""Statements whose answers must be those of SQL if there is hardly any noise."""
