"""Questions in which other people would decide about a row, by every trick we could think of: all refused.

What looks alike and is accepted keeps people apart; `test_neighbors` moves a person to see it.
"""

# ruff: noqa: E501, S608

from __future__ import annotations

from collections import Counter

import pytest

from discreet.data import col, count
from discreet.data.language.relations import Distinct, JoinPublic, PerPerson, Personal, Source, Union, Window
from discreet.data.salt import Salt
from discreet.data.tables.public_table import PublicTable
from discreet.errors import RequestRefused
from discreet.queries.binding.bind import bind
from discreet.queries.question.dataframe import TableRequest
from discreet.queries.sql.select import parse
from queries.test_neighbors import ask
from queries.worlds import CITIES, worlds

PAIR = worlds(5)
TABLES = PAIR.without

CUT = [
    "SELECT * FROM visits LIMIT 1",
    "SELECT * FROM visits ORDER BY cost",
    "SELECT * FROM visits OFFSET 1",
    "SELECT * FROM visits FETCH FIRST 1 ROWS ONLY",
    "SELECT TOP 1 * FROM visits",
    "SELECT * FROM visits TABLESAMPLE (10 PERCENT)",
    "SELECT * FROM crowd LIMIT 3",
    "SELECT patient, COUNT(*) AS k FROM visits GROUP BY patient ORDER BY k LIMIT 1",
    "(SELECT * FROM visits LIMIT 1)",
]
GLOBAL = [
    "SELECT DISTINCT city FROM visits",
    "SELECT DISTINCT ON (patient) * FROM visits",
    "SELECT DISTINCT * FROM crowd",
    "SELECT city, COUNT(*) AS k FROM visits GROUP BY city",
    "SELECT city, COUNT(*) AS k FROM visits GROUP BY city HAVING COUNT(*) > 2",
    "SELECT COUNT(*) AS k FROM visits",
    "SELECT patient, COUNT(*) AS k FROM visits GROUP BY ROLLUP(patient)",
    "SELECT patient, SUM(COUNT(*)) OVER () AS k FROM visits GROUP BY patient",
    "SELECT patient, city FROM visits UNION SELECT patient, city FROM staff",
    "SELECT patient, city FROM visits INTERSECT SELECT patient, city FROM staff",
    "SELECT patient, city FROM visits EXCEPT SELECT patient, city FROM staff",
    "SELECT patient, city FROM visits EXCEPT ALL SELECT patient, city FROM staff",
    "SELECT * FROM crowd UNION ALL SELECT * FROM crowd",
    "SELECT city FROM crowd UNION ALL SELECT city FROM visits",
]
SUBQUERIES = [
    "SELECT * FROM visits WHERE city IN (SELECT city FROM visits)",
    "SELECT * FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT * FROM visits WHERE cost >= ALL (SELECT cost FROM visits)",
    "SELECT patient, (SELECT MAX(cost) FROM visits) AS k FROM visits",
    "SELECT * FROM visits v JOIN LATERAL (SELECT * FROM staff s WHERE s.city = v.city) y ON TRUE",
]
WINDOWS = [
    "SELECT patient, RANK() OVER (ORDER BY cost) AS k FROM visits",
    "SELECT patient, ROW_NUMBER() OVER (ORDER BY cost) AS k FROM visits",
    "SELECT patient, ROW_NUMBER() OVER (PARTITION BY city ORDER BY cost) AS k FROM visits",
    "SELECT patient, COUNT(*) OVER () AS k FROM visits",
    "SELECT patient, MIN(cost) OVER (PARTITION BY ward) AS k FROM visits",
    "SELECT *, ROW_NUMBER() OVER w AS k FROM visits WINDOW w AS (ORDER BY cost)",
    "SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (ORDER BY cost) = 1",
    "SELECT city, ROW_NUMBER() OVER (PARTITION BY ward ORDER BY city) AS k FROM crowd",
]
JOINS = [
    "SELECT a.cost FROM visits a JOIN visits b ON a.city = b.city",
    "SELECT a.cost FROM visits a JOIN visits b ON a.patient = b.ward",
    "SELECT a.cost FROM visits a JOIN visits b ON a.patient <> b.patient",
    "SELECT a.cost FROM visits a JOIN visits b ON a.patient = b.patient OR a.city = b.city",
    "SELECT a.cost FROM visits a JOIN visits b ON TRUE",
    "SELECT a.cost FROM visits a, visits b",
    "SELECT a.cost FROM visits a CROSS JOIN visits b",
    "SELECT a.cost FROM visits a JOIN visits b USING (city)",
    "SELECT a.cost FROM visits a SEMI JOIN staff b ON a.city = b.city",
    "SELECT a.cost FROM visits a ASOF JOIN staff b ON a.day >= b.hired",
    "SELECT a.cost FROM visits a JOIN visits a ON a.patient = a.patient",
    "SELECT a.cost FROM crowd a JOIN crowd b ON a.city = b.city",
    "SELECT a.cost FROM crowd a JOIN visits b ON a.city = b.city",
    "SELECT a.cost FROM crowd a JOIN cities b ON a.city = b.name",
    "SELECT a.cost FROM crowd a JOIN wards b ON a.ward = b.floor",
]
FORGED = [
    f"SELECT a.cost FROM visits a JOIN (SELECT {forged} AS patient FROM visits) b ON a.patient = b.patient"
    for forged in (
        "ward",
        "patient + 0",
        "COALESCE(patient, 1)",
        "CAST(patient AS INTEGER)",
        "CAST(CAST(patient AS TEXT) AS INTEGER)",
        "CASE WHEN urgent THEN patient ELSE 1 END",
        "LEAST(patient, 1)",
        "NULLIF(patient, 3)",
    )
] + [
    "SELECT DISTINCT ward AS patient, city FROM visits",
    "SELECT DISTINCT patient + 0 AS patient, city FROM visits",
    "SELECT ward AS patient, COUNT(*) AS k FROM visits GROUP BY ward",
    "SELECT ward AS patient, COUNT(*) AS k FROM visits GROUP BY patient",
    "SELECT patient, COUNT(*) AS k FROM (SELECT ward AS patient FROM visits) v GROUP BY patient",
    "SELECT patient, COUNT(*) AS k FROM (SELECT *, ward AS patient FROM visits) v GROUP BY patient",
    "SELECT patient, COUNT(*) AS k FROM (SELECT LOWER(CAST(patient AS TEXT)) AS patient FROM visits) v GROUP BY patient",
    "SELECT patient, COUNT(*) AS k FROM (SELECT CAST(patient AS TEXT) || '' AS patient FROM visits) v GROUP BY patient",
    'SELECT "Patient", COUNT(*) AS k FROM (SELECT ward AS "Patient", patient AS p FROM visits) v GROUP BY "Patient"',
    'SELECT patient, COUNT(*) AS k FROM (SELECT ward AS "Patient", patient FROM visits) v GROUP BY patient',
    "SELECT p\u0430tient, COUNT(*) AS k FROM (SELECT ward AS p\u0430tient FROM visits) v GROUP BY p\u0430tient",
    "SELECT \uff50atient, COUNT(*) AS k FROM visits GROUP BY \uff50atient",
    "SELECT k, COUNT(*) AS n FROM (SELECT MAX(patient) AS k, patient FROM visits GROUP BY patient) v GROUP BY k",
    "SELECT b.patient AS p, COUNT(*) AS k FROM visits a LEFT JOIN staff b ON a.patient = b.patient GROUP BY b.patient",
    "SELECT b.patient AS p, b.cost FROM (SELECT s.patient, v.cost FROM visits v LEFT JOIN staff s "
    "ON v.patient = s.patient) b JOIN visits c ON b.patient = c.patient",
    "SELECT patient, COUNT(*) AS k FROM (SELECT patient FROM visits UNION ALL SELECT ward AS patient FROM visits) u "
    "GROUP BY patient",
    "SELECT patient, COUNT(*) AS k FROM (SELECT patient, ward FROM visits UNION ALL SELECT ward, patient FROM visits) u "
    "GROUP BY patient",
    "SELECT w.floor AS patient, COUNT(*) AS k FROM visits v JOIN wards w ON v.patient = w.ward GROUP BY w.floor",
    "SELECT x.cost FROM (SELECT patient, MAX(ward) AS other, MAX(cost) AS cost FROM visits GROUP BY patient) x "
    "JOIN visits v ON x.other = v.patient",
]
ELSEWHERE = [
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT name AS patient, region FROM cities",
    "SELECT * FROM visits WHERE RANDOM() < 0.5",
    "SELECT * FROM visits PIVOT (COUNT(*) FOR city IN ('a'))",
    "VALUES (1), (2)",
]


OWN_ROWS = [
    "SELECT patient, COUNT(*) AS k FROM visits GROUP BY ALL",
    "SELECT patient, COUNT(*) AS k FROM visits GROUP BY 1",
    "SELECT * FROM visits WHERE EXISTS (SELECT 1 FROM staff WHERE staff.patient = visits.patient)",
    "SELECT * FROM visits v WHERE cost > (SELECT AVG(cost) FROM visits u WHERE u.patient = v.patient)",
    "SELECT * FROM visits, UNNEST([1, 2, 3])",
    "SELECT patient, LAG(cost) OVER (PARTITION BY patient ORDER BY day) AS k FROM visits",
    "SELECT a.cost FROM visits a, visits b WHERE a.patient = b.patient",
    "SELECT cost FROM visits NATURAL JOIN staff",
    "SELECT a.cost FROM visits a RIGHT JOIN staff b ON a.patient = b.patient",
    "SELECT a.cost FROM visits a FULL JOIN staff b ON a.patient = b.patient",
    "SELECT a.cost FROM visits a ANTI JOIN staff b ON a.patient = b.patient",
    "SELECT c.name FROM cities c JOIN visits v ON v.city = c.name",
    "SELECT * FROM main.visits",
]
"""Spellings in which every row still depends on the rows of its person alone."""


@pytest.mark.parametrize("below", OWN_ROWS)
def test_what_only_its_person_decides_is_answered(below):
    for text in (
        f"SELECT COUNT(*) AS n FROM ({below}) x",
        f"WITH q AS ({below}) SELECT COUNT(*) AS n FROM q",
    ):
        bind(parse(text, TABLES), TABLES)


@pytest.mark.parametrize("below", [*CUT, *GLOBAL, *SUBQUERIES, *WINDOWS, *JOINS, *FORGED, *ELSEWHERE])
def test_what_lets_others_decide_is_refused(below):
    for text in (
        f"SELECT COUNT(*) AS n FROM ({below}) x",
        f"WITH q AS ({below}) SELECT COUNT(*) AS n FROM q",
    ):
        with pytest.raises(RequestRefused) as caught:
            bind(parse(text, TABLES), TABLES)
        assert ";" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "WITH visits AS (SELECT ward AS patient, city FROM visits) SELECT COUNT(*) AS n FROM "
        "(SELECT patient, COUNT(*) AS k FROM visits GROUP BY patient) x",
        "WITH visits AS (SELECT patient, city FROM visits LIMIT 1) SELECT COUNT(*) AS n FROM visits",
        "WITH cities AS (SELECT city AS name, patient FROM visits) SELECT COUNT(*) AS n FROM visits v "
        "JOIN cities c ON v.city = c.name",
        "WITH RECURSIVE v AS (SELECT * FROM visits UNION ALL SELECT * FROM v) SELECT COUNT(*) AS n FROM v",
        "SELECT COUNT(*) AS n FROM cities",
        'SELECT COUNT(*) AS n FROM "VISITS"',
        "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient",
        "SELECT SUM(cost) OVER (PARTITION BY patient) AS n FROM visits",
    ],
)
def test_names_that_hide_others_are_refused(text):
    with pytest.raises(RequestRefused):
        bind(parse(text, TABLES), TABLES)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "text",
    [
        "WITH cities AS (SELECT patient, city AS name FROM visits) SELECT name, COUNT(*) AS n FROM cities GROUP BY name",
        "WITH visits AS (SELECT patient, cost FROM visits WHERE cost > 1) SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM (SELECT patient, patient AS p, ward FROM visits) x JOIN staff s ON x.p = s.patient",
        "SELECT COUNT(*) AS n FROM visits v JOIN wards w ON v.patient = w.ward",
        "SELECT COUNT(*) AS n FROM (SELECT w.ward AS patient, COUNT(*) AS k FROM visits v JOIN wards w "
        "ON v.patient = w.ward GROUP BY w.ward) x",
        "SELECT COUNT(*) AS n FROM (SELECT v.patient, s.ward AS w FROM visits v JOIN staff s ON v.patient = s.patient "
        "AND v.patient = s.ward) x JOIN visits y ON x.w = y.patient",
        "SELECT COUNT(*) AS n FROM visits a LEFT JOIN (SELECT patient, cost FROM staff WHERE cost > 1) b "
        "ON a.patient = b.patient WHERE b.cost IS NULL",
        "SELECT COUNT(*) AS n FROM crowd a LEFT JOIN wards b ON a.ward = b.ward LEFT JOIN wards c ON b.floor = c.ward",
        "SELECT COUNT(*) AS n FROM crowd a JOIN wards b ON a.cost = b.ward",
        "SELECT MOD(patient, 3) AS k, COUNT(*) AS n FROM visits GROUP BY k",
    ],
)
def test_what_only_looks_like_it_is_answered_and_keeps_people_apart(text):
    seen = Counter()
    for salt in ("a", "b"):
        ask(text, PAIR, Salt(value=salt), seen)
    assert not seen["refused"]


VISITS, CROWD = TableRequest(table="visits"), TableRequest(table="crowd")
LATER = TableRequest(table="visits", relation=Source(table="visits"))


@pytest.mark.parametrize(
    "build",
    [
        lambda: TableRequest(table="cities").agg(n=count()),
        lambda: VISITS.join("staff", on="city").agg(n=count()),
        lambda: VISITS.join("visits", on="patient").agg(n=count()),
        lambda: VISITS.join(TableRequest(table="cities"), on="city").agg(n=count()),
        lambda: VISITS.join("cities").agg(n=count()),
        lambda: VISITS.join("cities", on={"city": "name"}, how="right").agg(n=count()),
        lambda: CROWD.join("cities", on={"city": "name"}).agg(n=count()),
        lambda: CROWD.join(VISITS).agg(n=count()),
        lambda: VISITS.join(CROWD).agg(n=count()),
        lambda: CROWD.union(CROWD).agg(n=count()),
        lambda: CROWD.select("city").union(VISITS.select("city")).agg(n=count()),
        lambda: CROWD.union(CROWD.filter(col("age") > 3)).agg(n=count()),
        lambda: CROWD.distinct().agg(n=count()),
        lambda: CROWD.per_person(k=count()).agg(n=count()),
        lambda: CROWD.number("cost").agg(n=count()),
        lambda: VISITS.group_by("patient").agg(n=count()),
        lambda: TableRequest(table="crowd", relation=Distinct(source=Source(table="crowd"))).agg(n=count()),
        lambda: TableRequest(
            table="x", relation=JoinPublic(source=Source(table="visits"), table="staff", on=())
        ).agg(n=count()),
        lambda: TableRequest(
            table="x",
            relation=PerPerson(
                source=Source(table="cities"), columns=(Personal(name="k", function="count"),)
            ),
        ).agg(n=count()),
        lambda: TableRequest(
            table="x", relation=Union(sources=(Source(table="crowd"), Source(table="visits")))
        ).agg(n=count()),
        lambda: TableRequest(
            table="x", relation=Window(source=Source(table="crowd"), name="k", function="count")
        ).agg(n=count()),
    ],
)
def test_dataframes_that_let_others_decide_are_refused(build):
    with pytest.raises(RequestRefused):
        bind(build(), TABLES)


def test_a_dataframe_cannot_forge_the_person():
    """Whatever a column is called, rows are grouped and joined by the person that travels beside them."""
    forged = VISITS.derive(patient=col("ward"))
    for request in (
        forged.per_person(k=count()).agg(n=count()),
        forged.distinct().agg(n=count()),
        forged.join(VISITS.select("cost"), columns={"other": "cost"}).agg(n=count()),
        forged.select("patient")
        .union(VISITS.select("patient"))
        .per_person("patient", k=count())
        .agg(n=count()),
        forged.number("cost").filter(col("number") == 1).agg(n=count()),
    ):
        bound = bind(request, TABLES)
        from queries.test_neighbors import check_statistics

        check_statistics(bound.plan, bound.statistics, PAIR, Salt(value="salt"))


def test_a_public_table_of_a_private_name_is_told_apart():
    tables = {**TABLES, "VISITS": PublicTable(CITIES)}
    for text in ("SELECT COUNT(*) AS n FROM Visits", 'SELECT COUNT(*) AS n FROM "VISITS"'):
        with pytest.raises(RequestRefused):
            bind(parse(text, tables), tables)
    assert bind(parse('SELECT COUNT(*) AS n FROM "visits"', tables), tables).plan.source == Source(
        table="visits"
    )
