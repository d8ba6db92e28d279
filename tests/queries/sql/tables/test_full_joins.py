"""FULL JOIN, and outer joins with conditions about both sides: the rows of DuckDB."""

from __future__ import annotations

import pytest

from discreet.data.facts.limits import limits_of
from discreet.data.facts.persons import person_columns
from discreet.errors import UnsupportedQuery
from discreet.queries import bind, parse
from queries.phrases import by_duckdb, counted, declared, frames

COUNT = "SELECT COUNT(*) AS n FROM "
JOINS = [
    "visits v FULL JOIN staff s ON v.patient = s.patient",
    "visits v FULL OUTER JOIN staff s ON v.patient = s.patient AND v.ward = s.ward",
    "visits v FULL JOIN staff s ON v.patient = s.patient AND v.ward = s.ward WHERE v.patient IS NULL",
    "visits v FULL JOIN staff s ON v.patient = s.patient AND v.ward = s.ward WHERE s.patient IS NULL",
    "visits v FULL JOIN staff s USING (patient) WHERE s.ward IS NULL OR v.ward = 1",
    "visits FULL JOIN staff s USING (patient, ward) WHERE ward = 2",
    "visits v FULL JOIN staff s USING (patient, ward) WHERE v.ward IS NULL",
    "(SELECT * FROM visits WHERE ward > 1) v FULL JOIN (SELECT * FROM staff WHERE ward < 3) s "
    "ON v.patient = s.patient",
    "visits v FULL JOIN staff s USING (patient) JOIN visits w USING (patient) WHERE w.ward = 1",
    "visits v LEFT JOIN staff s ON v.patient = s.patient AND v.ward > 1",
    "visits v LEFT JOIN staff s ON v.patient = s.patient AND v.ward > 1 WHERE s.patient IS NULL",
    "visits v LEFT JOIN staff s ON v.patient = s.patient AND s.day >= v.day AND s.ward > 1",
    "visits v LEFT JOIN staff s ON v.patient = s.patient AND (s.ward = v.ward OR v.ward = 1) "
    "WHERE s.ward = 2",
    "staff s RIGHT JOIN visits v ON v.patient = s.patient AND s.day >= v.day",
    "visits v ANTI JOIN staff s ON v.patient = s.patient AND s.day >= v.day",
    "visits v SEMI JOIN staff s ON v.patient = s.patient AND s.day >= v.day",
    "visits v LEFT JOIN cities c ON v.city = c.name AND c.ward > v.ward",
    "visits v LEFT JOIN cities c ON v.city = c.name AND v.ward = 1 WHERE c.name IS NULL",
]


@pytest.mark.few(8)
@pytest.mark.parametrize("tables", JOINS)
def test_rows_are_those_of_duckdb(tables):
    for seed in (21, 22):
        found = frames(seed)
        assert counted(COUNT + tables, declared(found)) == by_duckdb(COUNT + tables, found)[0][0]


def test_what_using_makes_one_is_the_person():
    tables = declared(frames(1))
    query = parse(
        "SELECT COUNT(DISTINCT patient) AS n FROM visits v FULL JOIN staff s USING (patient)", tables
    )
    assert len(person_columns(query.relation, tables)) == 1
    assert limits_of(query.relation, tables) == tables["visits"].limits
    apart = parse("SELECT COUNT(*) AS n FROM visits v FULL JOIN staff s ON v.patient = s.patient", tables)
    assert not person_columns(apart.relation, tables)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ("visits v FULL JOIN staff s ON v.ward = s.ward", "rows of different persons"),
        ("visits v FULL JOIN cities c ON v.city = c.name", "FULL JOIN with a public table"),
        ("visits v FULL JOIN staff s ON v.patient = s.patient AND v.ward > 1", "other than equal columns"),
        ("visits v NATURAL FULL JOIN staff s", "FULL JOIN of this kind"),
        ("visits v LEFT JOIN staff s ON v.ward > 1", "without columns that are equal"),
        ("visits v LEFT JOIN staff s ON v.ward = s.ward AND v.ward > 1", "rows of different persons"),
    ],
)
def test_rows_of_others_are_not_met(tables, words):
    known = declared(frames(1))
    with pytest.raises(UnsupportedQuery, match=words):
        bind(parse(COUNT + tables, known), known)
