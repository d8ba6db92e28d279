"""SQL made at random, harmless and not: what is accepted means what DuckDB means, and keeps people apart."""

# ruff: noqa: S608
from __future__ import annotations

import datetime
from collections import Counter

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.data import Limits, Salt
from discreet.data.compile.relations import PERSON, rows_of
from discreet.data.engines.base import fetch
from discreet.data.facts.relation_facts import columns_of_relation, is_single
from discreet.data.language.relations import leftmost
from discreet.errors import RequestRefused
from discreet.queries import parse
from effort import examples
from queries.clinic import arrow, row, visits
from queries.related import CITIES, HOLIDAYS, RELATED

PEOPLE = [1, 1, 1, 2, 2, 3, 4, 4, 4]
PLACES = ["Oslo", "Taipei", "Oslo", "Rome", "Oslo", None, "Taipei", "Oslo", "Rome"]


def rows(offset):
    """Rows in which no person has a day twice, so that days number a person's rows in one way."""
    return [
        row(
            patient=person,
            city=PLACES[(place + offset) % 9],
            ward=(place * offset) % 3 or None,
            age=20 + (place * 7 + offset) % 5 * 10,
            day=datetime.date(2026, 1, 21 + place + offset),
        )
        for place, person in enumerate(PEOPLE)
    ]


VISITS, STAFF = rows(1), rows(2)[2:]
ABSENT = 2


def opened(kept):
    found = {
        name: visits([one for one in listed if kept(one["patient"])], limits=Limits(rows=99))
        for name, listed in (("visits", VISITS), ("staff", STAFF))
    }
    return RELATED | found


EVERYBODY, OTHERS = opened(lambda person: True), opened(lambda person: person != ABSENT)

GOOD = [
    ("*", ""),
    ("patient, city, age, day, ward", "WHERE age > 30"),
    ("patient, age, day, city AS town, ward", "WHERE city = 'Oslo' OR city IS NULL"),
    ("patient AS who, age", "WHERE patient <> 4"),
    ("DISTINCT patient, city", ""),
    ("patient, COUNT(*) AS k, MAX(age) AS age", "GROUP BY patient"),
    ("patient, city, COUNT(DISTINCT age) AS k, MIN(day) AS day", "WHERE age < 60 GROUP BY patient, city"),
    ("patient, MIN(city) AS city", "GROUP BY patient HAVING COUNT(*) > 1"),
    ("*, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) AS k", ""),
    ("*, ROW_NUMBER() OVER (PARTITION BY patient, city ORDER BY day DESC) AS k", ""),
    ("patient, age, COUNT(*) OVER (PARTITION BY patient, age) AS k", ""),
    ("*", "WHERE k = 1"),
    ("*", "WHERE k > 1"),
]
BAD = [
    ("DISTINCT city", ""),
    ("city, COUNT(*) AS k", "GROUP BY city"),
    ("COUNT(*) AS k", ""),
    ("patient, age", "GROUP BY patient"),
    ("*, ROW_NUMBER() OVER (ORDER BY day) AS k", ""),
    ("*, ROW_NUMBER() OVER (PARTITION BY city ORDER BY day) AS k", ""),
    ("patient, age, MAX(age) OVER (PARTITION BY city) AS k", ""),
    ("patient, COUNT(*) OVER () AS k", ""),
    ("patient, (SELECT MAX(age) FROM staff) AS k", ""),
    ("patient, age", "WHERE patient IN (SELECT patient FROM staff)"),
    ("patient, age", "WHERE EXISTS (SELECT 1 FROM staff s WHERE s.patient = a.patient)"),
    ("patient, age", "WHERE age = (SELECT MAX(age) FROM visits)"),
    ("city", "GROUP BY city HAVING COUNT(*) > 1"),
    ("patient, age", "LIMIT 2"),
    ("patient, age", "ORDER BY day LIMIT 1"),
    ("patient, age", "QUALIFY ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) = 1"),
    ("patient + 0 AS patient, COUNT(*) AS k", "GROUP BY patient + 0"),
]
# Lists that hide or forge the person: what is built on them must be refused where it needs him.
FORGED = [
    ("patient + 0 AS patient, age, city, day", ""),
    ("age AS patient, patient AS age, city, day", ""),
    ("age, city, day", ""),
]
JOINS = ["a.patient = b.patient", "a.patient = b.patient AND a.city = b.city"]
BAD_JOINS = ["a.city = b.city", "a.age = b.patient", "a.patient = b.patient OR a.age = b.age", "TRUE"]
KINDS = ["JOIN", "LEFT JOIN"]
BAD_KINDS = ["RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]
PUBLIC = [
    "JOIN cities c ON a.city = c.name",
    "LEFT JOIN cities c ON a.city = c.name",
    "JOIN holidays h ON a.day = h.day",
    "LEFT JOIN holidays h ON a.city = h.city",
]
BAD_PUBLIC = ["RIGHT JOIN cities c ON a.city = c.name", "CROSS JOIN cities c"]
SETS, BAD_SETS = ["UNION ALL"], ["UNION", "EXCEPT", "INTERSECT"]

tables = st.sampled_from(["visits", "visits", "staff"])


@st.composite
def selects(draw, depth=2):
    """A subquery; one part in about ten is one that could let people decide about others."""

    def choose(good, bad):
        return draw(st.sampled_from(bad if draw(st.integers(0, 9)) == 7 else good))

    def item():
        text = draw(st.one_of(tables, selects(depth - 1)) if depth else tables)
        return f"({text})" if text.startswith("SELECT") else text

    source = f"{item()} a"
    shape = draw(st.sampled_from(["plain", "plain", "private", "public", "union"]))
    listed, end = choose(GOOD, [*BAD, *FORGED, *FORGED])
    if shape == "private":
        source += f" {choose(KINDS, BAD_KINDS)} {item()} b ON {choose(JOINS, BAD_JOINS)}"
        listed, end = choose(
            [
                ("a.patient, a.age, b.city, b.day, a.ward", ""),
                ("a.patient, b.age", "WHERE a.age > 30"),
                ("a.*", ""),
            ],
            [("b.patient, a.age", ""), ("b.patient, COUNT(*) AS k", "GROUP BY b.patient")],
        )
    elif shape == "public":
        source += f" {choose(PUBLIC, BAD_PUBLIC)}"
        listed, end = choose(
            [("a.*", ""), ("a.patient, a.age, a.city, a.day", ""), ("DISTINCT a.patient, a.city", "")],
            [("DISTINCT a.city", ""), ("a.city, COUNT(*) AS k", "GROUP BY a.city")],
        )
    text = f"SELECT {listed} FROM {source} {end}".strip()
    if shape == "union":
        text += f" {choose(SETS, BAD_SETS)} SELECT {listed} FROM {item()} a {end}".rstrip()
    return text


def counted(relation, known):
    found = rows_of(relation, known, Salt(value="5a17"))
    table = fetch(found.table, known[leftmost(relation).table]._backend)
    return Counter(tuple(str(value) for value in one.values()) for one in table.to_pylist()), table[
        PERSON
    ].to_pylist()


def answered(text):
    with duckdb.connect() as connection:
        connection.register("visits", arrow(VISITS))
        connection.register("staff", arrow(STAFF))
        connection.register("cities", CITIES)
        connection.register("holidays", HOLIDAYS)
        return connection.execute(text).fetchone()[0]


@pytest.mark.hypothesis
def test_what_is_accepted_means_what_it_says_and_keeps_people_apart():
    outcomes = Counter()

    @settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
    @given(selects())
    def check(subquery):
        text = f"SELECT COUNT(*) AS n FROM ({subquery}) x"
        try:
            relation = parse(text, EVERYBODY).relation
            columns_of_relation(relation, EVERYBODY)
        except RequestRefused as error:
            outcomes["refused" if ";" in str(error) else "refused without a rewrite"] += 1
            return
        outcomes["accepted"] += 1
        everybody, people = counted(relation, EVERYBODY)
        assert len(people) == answered(text)
        others, present = counted(relation, OTHERS)
        assert others <= everybody
        assert Counter(present) == Counter(person for person in people if person != ABSENT)
        if is_single(relation, EVERYBODY):
            assert len(set(people)) == len(people)

    check()
    assert set(outcomes) == {"accepted", "refused"}
    assert min(outcomes.values()) >= examples(150) // 5
