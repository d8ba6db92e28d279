"""Joins as people write them: one plan with the explicit spelling, and the rows of DuckDB."""

# ruff: noqa: S608
from __future__ import annotations

import random

import duckdb
import pyarrow
import pytest

from discreet.data import Bounds, Limits, Table, compute, fresh_salt, to_json
from discreet.data.facts.fanout import fan_out
from discreet.data.language.measures import CountRows
from discreet.data.language.plan import Group
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery
from discreet.queries import bind, parse
from queries.clinic import EXAMPLE, arrow
from queries.related import CITIES, HOLIDAYS, MORE, RELATED, STAFF
from queries.test_sql_relations import exact

COUNT = "SELECT COUNT(*) AS n FROM "
SAME = [
    ("visits v, cities c WHERE v.city = c.name", "visits v JOIN cities c ON v.city = c.name"),
    (
        "visits v, cities c WHERE v.age > 3 AND c.name = v.city AND c.region = 'Asia'",
        "visits v JOIN cities c ON c.name = v.city WHERE v.age > 3 AND c.region = 'Asia'",
    ),
    ("cities c, visits v WHERE v.city = c.name", "visits v JOIN cities c ON v.city = c.name"),
    ("cities c JOIN visits v ON v.city = c.name", "visits v JOIN cities c ON v.city = c.name"),
    ("cities AS c INNER JOIN visits AS v ON city = name", "visits JOIN cities ON city = name"),
    (
        "cities c, visits v, staff s WHERE c.name = v.city AND s.patient = v.patient AND v.age > s.age",
        "visits v JOIN cities c ON c.name = v.city JOIN staff s ON s.patient = v.patient WHERE v.age > s.age",
    ),
    (
        "visits v JOIN cities c ON v.city = c.name AND c.region = 'Asia' WHERE v.age > 3",
        "visits v JOIN cities c ON v.city = c.name WHERE c.region = 'Asia' AND v.age > 3",
    ),
    (
        "visits v LEFT JOIN staff s ON v.patient = s.patient AND s.age > 30",
        "visits v LEFT JOIN (SELECT * FROM staff WHERE age > 30) s ON v.patient = s.patient",
    ),
    ("(visits)", "visits"),
    ("((visits v))", "visits"),
    ("(visits) AS v JOIN (cities c) ON (v.city = c.name)", "visits v JOIN cities c ON v.city = c.name"),
    ("(visits v JOIN cities c ON v.city = c.name)", "visits v JOIN cities c ON v.city = c.name"),
    (
        "visits v JOIN (cities c JOIN holidays h ON c.name = h.city) ON v.city = c.name",
        "visits v JOIN cities c ON v.city = c.name JOIN holidays h ON c.name = h.city",
    ),
    (
        "visits v JOIN cities c JOIN holidays h ON c.name = h.city ON v.city = c.name",
        "visits v JOIN cities c ON v.city = c.name JOIN holidays h ON c.name = h.city",
    ),
    (
        "visits v RIGHT JOIN staff s ON v.patient = s.patient",
        "staff s LEFT JOIN visits v ON v.patient = s.patient",
    ),
    (
        "holidays h RIGHT OUTER JOIN visits v USING (city, day)",
        "visits v LEFT JOIN holidays h USING (city, day)",
    ),
    ("visits NATURAL JOIN holidays", "visits JOIN holidays USING (city, day)"),
    ("visits NATURAL LEFT JOIN holidays", "visits LEFT JOIN holidays USING (city, day)"),
    ("visits CROSS JOIN cities", "visits, cities"),
    ("cities CROSS JOIN visits", "visits JOIN cities ON TRUE"),
    (
        "visits v SEMI JOIN staff s ON v.patient = s.patient AND v.ward = s.ward",
        "visits v JOIN (SELECT patient, ward FROM staff GROUP BY patient, ward) s USING (patient, ward)",
    ),
    (
        "visits v ANTI JOIN staff s ON v.patient = s.patient WHERE v.age > 3",
        "visits v LEFT JOIN staff s ON v.patient = s.patient WHERE s.patient IS NULL AND v.age > 3",
    ),
    (
        "visits v ANTI JOIN cities c ON v.city = c.name",
        "visits v LEFT JOIN cities c ON v.city = c.name WHERE c.name IS NULL",
    ),
    (
        "clinic.visits v, geo.cities c WHERE v.city = c.name",
        "visits v JOIN cities c ON v.city = c.name",
    ),
]


@pytest.mark.parametrize(("written", "explicit"), SAME)
def test_a_join_is_that_of_the_explicit_spelling(written, explicit):
    one, other = parse(COUNT + written, RELATED), parse(COUNT + explicit, RELATED)
    assert one == other
    assert to_json(one.relation) == to_json(other.relation)


COUNTED = [
    *(written for written, _ in SAME if "clinic." not in written),
    "visits v JOIN cities c ON v.age * 50000 < c.people",
    "visits v, cities c WHERE v.age * 50000 < c.people AND c.region <> 'Asia'",
    "visits v JOIN cities c ON v.city = c.name OR v.age = 30",
    "visits v JOIN cities c ON v.city = c.name AND (c.region = 'Asia' OR v.age > 40)",
    "visits v JOIN cities c ON c.name = c.region OR v.city = v.note",
    "visits v JOIN staff s ON v.patient = s.patient AND v.age + 1 < s.age",
    "visits v RIGHT JOIN staff s ON v.patient = s.patient AND v.age > 30",
    "visits v LEFT JOIN staff s ON v.patient = s.patient AND s.age > 30 WHERE s.age IS NULL",
    "visits v SEMI JOIN staff s ON v.patient = s.patient AND s.age > 20 AND v.age > 30 WHERE age < 100",
    "visits v ANTI JOIN staff s ON v.patient = s.patient AND s.age > 20 WHERE age < 100",
    "visits v SEMI JOIN cities c ON v.city = c.name",
    "holidays NATURAL JOIN visits",
    "visits NATURAL LEFT JOIN holidays WHERE holiday IS NULL",
    "visits v LEFT JOIN (staff s JOIN cities c ON s.city = c.name) ON v.patient = s.patient",
    "visits v LEFT JOIN (staff s JOIN cities c ON s.city = c.name) ON v.patient = s.patient "
    "WHERE c.region = 'Europe'",
    "cities c JOIN staff s ON c.name = s.city RIGHT JOIN visits v ON v.patient = s.patient",
    "cities c LEFT JOIN holidays h ON c.name = h.city JOIN visits v ON v.city = c.name",
    "cities c LEFT JOIN holidays h ON c.name = h.city, visits v WHERE v.city = c.name AND h.day IS NULL",
    "visits v LEFT JOIN staff s ON v.patient = s.patient, holidays h WHERE h.city = s.city",
    "holidays h, visits v LEFT JOIN staff s ON v.patient = s.patient WHERE h.city = s.city",
    "holidays JOIN visits USING (city) WHERE city = 'Oslo'",
    "holidays JOIN visits USING (city, day) JOIN staff s USING (patient) WHERE visits.age > 3",
    "visits v, visits w WHERE v.patient = w.patient AND v.day < w.day",
    "(SELECT * FROM cities c JOIN visits v ON v.city = c.name) x WHERE region = 'Europe'",
    "(SELECT city, holiday FROM holidays JOIN visits USING (city)) x WHERE city = 'Oslo'",
    "(SELECT city, age FROM visits UNION ALL "
    "SELECT * FROM (SELECT c.name, v.age FROM cities c, visits v) y) x "
    "WHERE city = 'Rome'",
]


def by_duckdb(text):
    with duckdb.connect() as connection:
        for name, rows in (("visits", [*EXAMPLE, *MORE]), ("staff", STAFF)):
            connection.register(name, arrow(row for row in rows if row["patient"] is not None))
        connection.register("cities", CITIES)
        connection.register("holidays", HOLIDAYS)
        return connection.execute(text).fetchone()[0]


@pytest.mark.few(10, slow=10)
@pytest.mark.parametrize("written", COUNTED)
def test_rows_are_those_of_duckdb(written):
    assert exact(COUNT + written) == by_duckdb(COUNT + written)


ITEMS = {"v": "visits v", "s": "staff s", "c": "cities c", "h": "holidays h", "w": "visits w"}
LINKS = (
    "v.patient = s.patient, v.patient = w.patient, s.patient = w.patient, v.city = c.name, h.city = v.city, "
)
LINKS += "s.city = c.name, c.name = h.city, s.city = h.city, v.day = h.day, w.city = c.name, w.ward = s.ward"
OTHERS = (
    "v.age > 30, c.region = 'Europe', s.age < 50, h.holiday = 'b', s.age IS NULL, c.people > v.age, w.age > 9"
)


def named(condition):
    return {part[0] for part in condition.split() if part[1:2] == "."}


def draw_joins(draw):
    """Draw a FROM and WHERE of two to four items."""
    order = draw.sample(list(ITEMS), draw.choice([2, 3, 3, 4]))
    links, others = LINKS.split(", "), OTHERS.split(", ")
    seen, text, where = {order[0]}, ITEMS[order[0]], []
    for one in order[1:]:
        seen.add(one)
        fitting = [link for link in links if one in named(link) and named(link) <= seen]
        said = draw.sample(fitting, min(len(fitting), draw.choice([1, 1, 2])))
        said += [other for other in others if named(other) <= seen and draw.random() < 0.15]
        kind = draw.choice(
            [",", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN", "SEMI JOIN", "ANTI JOIN"]
        )
        if kind in {",", "CROSS JOIN"} or not said:
            where += said
            text = f"({text}) CROSS JOIN {ITEMS[one]}"
        else:
            text = f"{text} {kind} {ITEMS[one]} ON {' AND '.join(said)}"
            text = f"({text})" if draw.random() < 0.3 else text
        seen -= {one} if kind in {"SEMI JOIN", "ANTI JOIN"} else set()
    where += [other for other in others if named(other) <= seen and draw.random() < 0.2]
    where = [condition for condition in where if named(condition) <= seen]
    return text + (f" WHERE {' AND '.join(where)}" if where else "")


@pytest.mark.few(0, slow=1)
@pytest.mark.parametrize("seed", range(6))
def test_joins_written_at_random_have_the_rows_of_duckdb(seed):
    draw, answered = random.Random(seed), 0
    for _ in range(40):
        text = COUNT + draw_joins(draw)
        try:
            found = exact(text)
        except UnsupportedQuery:
            continue
        answered += 1
        assert found == by_duckdb(text), text
    assert answered >= 8


def test_a_star_lists_columns_in_the_order_of_from():
    other = "SELECT 'a' AS a, 'canary' AS b, 7 AS c, 'b' AS d, 2 AS e FROM visits"
    first = "SELECT * FROM cities JOIN (SELECT city, age FROM visits) v ON name = city"
    query = f"SELECT COUNT(*) AS n FROM ({first} UNION ALL {other}) x WHERE region = 'canary' AND people = 7"
    assert exact(query) == 5


def crowd(rows):
    """A table in which a person has some rows, and three others have two each."""
    people = [*[1] * rows, 2, 2, 3, 3, 4, 4]
    frame = pyarrow.table({"person": people, "x": [*range(rows), 1, 2, 3, 4, 5, 6]})
    return Table(frame, person="person", limits=Limits(rows=5), columns={"x": Bounds(0, 10)})


@pytest.mark.parametrize("written", ["crowd CROSS JOIN steps", "steps, crowd", "steps JOIN crowd ON x < k"])
def test_a_person_of_many_rows_moves_no_one_else_in_all_pairs(written):
    steps = PublicTable(pyarrow.table({"k": list(range(100))}))
    query = parse(COUNT + written, {"crowd": crowd(0), "steps": steps})
    plan, salt = Group(source=query.relation, measures=(CountRows(),)), fresh_salt()
    found = [
        int(compute(plan, {"crowd": crowd(rows), "steps": steps}, salt=salt).values[0][0])
        for rows in (0, 1, 3000)
    ]
    assert fan_out(query.relation, {"crowd": crowd(0), "steps": steps}).rows == 100
    assert found[0] == 15
    assert all(abs(one - found[0]) <= 5 for one in found)


def test_all_pairs_with_too_many_public_rows_are_refused():
    tables = {"crowd": crowd(0), "steps": PublicTable(pyarrow.table({"k": list(range(70_000))}))}
    query = parse(COUNT + "crowd CROSS JOIN steps", tables)
    with pytest.raises(UnsupportedQuery, match="one row could become more than 65536 rows"):
        bind(query, tables)
