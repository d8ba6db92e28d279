"""Subqueries and WITH over public tables alone: calculated at once, with the rows that DuckDB gives."""

# ruff: noqa: S608
from __future__ import annotations

import pyarrow
import pytest

from discreet.data import Bounds, Limits, Table, compute, fresh_salt, to_json
from discreet.data.language.measures import CountRows
from discreet.data.language.plan import Group
from discreet.data.language.relations import JoinPublic, walk_relation
from discreet.data.language.serialization import from_json, outline
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery
from discreet.queries import parse
from queries.related import RELATED
from queries.sql.tables.test_join_order import by_duckdb
from queries.test_sql_relations import exact

COUNT = "SELECT COUNT(*) AS n FROM"
COUNTED = [
    "COUNT visits v JOIN (SELECT name FROM cities WHERE region = 'Europe') c ON v.city = c.name",
    "WITH e AS (SELECT name, people FROM cities WHERE region = 'Europe') "
    "COUNT e, visits v WHERE v.city = e.name AND e.people > 5",
    "COUNT visits v JOIN (SELECT region, COUNT(*) AS k, SUM(people) AS p FROM cities "
    "GROUP BY region HAVING COUNT(*) < 3) r ON v.ward = r.k",
    "COUNT visits v LEFT JOIN cities c ON v.city = c.name AND c.region = 'Europe' WHERE c.name IS NULL",
    "COUNT visits v SEMI JOIN holidays h ON v.city = h.city",
    "COUNT visits v CROSS JOIN (SELECT 30 AS a) x WHERE v.age > x.a",
    "COUNT visits v, (SELECT MAX(people) AS m FROM cities) x WHERE v.age * 100000 > x.m",
    "COUNT visits WHERE city IN (SELECT c.name FROM cities c JOIN holidays h ON name = city)",
    "COUNT visits v LEFT JOIN (SELECT c.name, h.holiday FROM cities c LEFT JOIN holidays h "
    "ON c.name = h.city) x ON v.city = x.name",
    "WITH a AS (SELECT name FROM cities), b AS (SELECT name AS city FROM a WHERE name > 'O') "
    "COUNT b JOIN visits USING (city)",
    "COUNT visits v JOIN (WITH a AS (SELECT name FROM cities) SELECT * FROM a) c ON city = name",
    "COUNT visits v JOIN (SELECT name AS city FROM cities UNION ALL SELECT city FROM holidays) x "
    "USING (city)",
    "COUNT visits v LEFT JOIN (SELECT day FROM holidays WHERE day < DATE '2026-02-01') h ON v.day = h.day",
    "COUNT (SELECT a.name, b.people * 0.5 AS half FROM cities a, cities b "
    "WHERE a.region = b.region) x, visits v WHERE v.city = x.name AND x.half > 400000.25",
]


@pytest.mark.few(6)
@pytest.mark.parametrize("text", COUNTED)
def test_rows_of_public_subqueries_are_those_of_duckdb(text):
    text = text.replace("COUNT ", f"{COUNT} ")
    assert exact(text) == by_duckdb(text)


def test_a_plan_holds_the_rows_and_hides_them():
    inside = "SELECT name, people + 5908273141 AS p FROM cities"
    query = parse(f"{COUNT} visits JOIN ({inside}) c ON city = name", RELATED)
    (join,) = [node for node in walk_relation(query.relation) if isinstance(node, JoinPublic)]
    assert len(join.table.rows) == 4
    assert from_json(to_json(query.relation)) == query.relation
    told = f"{query!r}{query.relation!r}{outline(query.relation)}"
    assert "Taipei" not in told
    assert "5908" not in told


def test_the_order_of_public_rows_makes_no_other_question():
    text = "SELECT COUNT(*) AS n FROM visits JOIN (SELECT name FROM places) c ON city = name"
    found = [
        to_json(parse(text, {**RELATED, "places": PublicTable(pyarrow.table({"name": names}))}).relation)
        for names in (["a", "b", None], [None, "b", "a"], ["a", "b", "c"])
    ]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    "inside",
    [
        "SELECT * FROM read_csv('canary.csv')",
        "SELECT * FROM 'canary.csv'",
        "SELECT * FROM information_schema.tables",
        "SELECT name FROM cities, duckdb_settings()",
        "SELECT getenv('HOME') AS name FROM cities",
        "SELECT CURRENT_TIMESTAMP AS name FROM cities",
        "SELECT name FROM cities ORDER BY name",
        "SELECT name FROM cities TABLESAMPLE (10 PERCENT)",
        "SELECT name FROM cities WHERE EXISTS (SELECT 1 FROM visits)",
        "SELECT a.name FROM (WITH frame AS (SELECT name FROM cities) SELECT * FROM frame) a, frame",
        "SELECT name, people / 0 AS p FROM cities",
        "SELECT a.name FROM (WITH pg_class AS (SELECT name FROM cities) SELECT * FROM pg_class) a, pg_class",
        "WITH sqlite_master AS (SELECT name FROM sqlite_master) SELECT * FROM sqlite_master",
        "WITH a AS (SELECT name FROM pg_type), pg_type AS (SELECT name FROM cities) SELECT * FROM a",
    ],
)
def test_nothing_but_public_tables_is_read(inside):
    with pytest.raises(
        Exception, match=r"not in the language|there is no (such )?table|as if it were private"
    ) as caught:
        parse(f"SELECT COUNT(*) AS n FROM visits v JOIN ({inside}) c ON v.city = c.name", RELATED)
    assert "canary" not in str(caught.value)


def test_subqueries_of_many_rows_or_pairs_are_refused():
    many = {**RELATED, "many": PublicTable(pyarrow.table({"k": list(range(20_000))}))}
    for inside in ("SELECT k FROM many", "SELECT a.k FROM many a, many b WHERE a.k = 5 AND b.k = 5"):
        with pytest.raises(UnsupportedQuery, match=r"5000 rows|of this size"):
            parse(f"SELECT COUNT(*) AS n FROM visits v JOIN ({inside}) c ON v.age = c.k", many)
    parse("SELECT COUNT(*) AS n FROM visits v JOIN (SELECT k FROM many WHERE k < 100) c ON age = k", many)


def test_public_rows_that_multiply_move_a_person_within_the_limits():
    """A person with many rows that each find many public ones moves no one else, and counts five."""
    rows = [[1] * count + [2, 2, 3] for count in (0, 1, 2000)]
    steps = PublicTable(pyarrow.table({"k": [7] * 100 + [8]}))
    text = "SELECT COUNT(*) AS n FROM (SELECT k + 0 AS k FROM steps) s, crowd c WHERE s.k = c.x"
    found, salt = [], fresh_salt()
    for people in rows:
        frame = pyarrow.table({"person": people, "x": [7] * len(people)})
        crowd = Table(frame, person="person", limits=Limits(rows=5), columns={"x": Bounds(0, 10)})
        tables = {"crowd": crowd, "steps": steps}
        plan = Group(source=parse(text, tables).relation, measures=(CountRows(),))
        found.append(int(compute(plan, tables, salt=salt).values[0][0]))
    assert found == [10, 15, 15]
