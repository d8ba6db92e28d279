"""What a subquery is about: names mean what is inside first, and conditions are told apart."""

from __future__ import annotations

import pytest
from sqlglot import exp

from discreet.queries.sql.rows.from_clause import FromClause
from discreet.queries.sql.rows.inside_subquery import is_about_row, read_inside, select_of
from discreet.queries.sql.rows.subqueries import subquery
from discreet.queries.sql.syntax.parser import read_select
from discreet.queries.sql.tables.joins import PublicItem
from discreet.queries.sql.tables.scope import FoundColumn
from queries.phrases import declared, frames

TABLES = declared(frames(1))


def inside(query, *operands):
    """What a subquery is about, in the WHERE of a query on visits v."""
    rows = FromClause(TABLES, subquery)
    around = rows.of(read_select("SELECT COUNT(*) FROM visits v"))
    listed = [read_select(f"SELECT {one}").expressions[0] for one in operands]
    return read_inside(read_select(query), listed, around, rows)


@pytest.mark.parametrize(
    ("query", "operands", "pairs", "rest"),
    [
        ("SELECT 1 FROM staff s WHERE s.patient = v.patient", [], [("patient", "patient")], 0),
        ("SELECT 1 FROM staff WHERE patient = v.patient", [], [("patient", "patient")], 0),
        ("SELECT 1 FROM staff s WHERE patient = patient", [], [], 0),
        ("SELECT 1 FROM staff s WHERE ward = 1 AND city = 'Oslo'", [], [], 1),
        ("SELECT 1 FROM staff s WHERE s.day > v.day AND v.ward = s.ward", [], [("ward", "ward")], 1),
        ("SELECT patient, ward FROM staff", ["patient", "ward"], [("patient",) * 2, ("ward",) * 2], 0),
        ("SELECT ward + 1 FROM staff s WHERE s.patient = v.patient", ["ward"], [("patient",) * 2], 1),
        ("SELECT 1 FROM staff WHERE EXISTS (SELECT 1 FROM cities WHERE cities.ward = staff.ward)", [], [], 0),
    ],
)
def test_conditions_are_told_apart(query, operands, pairs, rest):
    found = inside(query, *operands)
    assert [(one.around, one.within.column) for one in found.pairs] == pairs
    assert len(found.rest) == rest
    assert len(found.compared) == len(operands)
    assert all(node.find(FoundColumn) for node in found.rest)


def test_public_rows_are_worked_out_at_once():
    found = inside("SELECT 1 FROM cities c JOIN cities d USING (ward) WHERE d.name = v.city AND c.name > 'P'")
    assert isinstance(found.rows, PublicItem)
    assert found.rows.public._rows().to_pylist() == [{"column 0": "Rome"}]


def test_what_takes_rows_as_they_are():
    plain = "SELECT ward FROM staff WHERE ward = 1"
    assert isinstance(select_of(exp.Subquery(this=read_select(plain))), exp.Select)
    for other in (
        "SELECT MAX(ward) FROM staff",
        "SELECT ward FROM staff GROUP BY ward",
    ):
        assert select_of(read_select(other)) is None
    rows = FromClause(TABLES, subquery)
    around = rows.of(read_select("SELECT COUNT(*) FROM visits v"))
    assert not is_about_row(read_select(plain), around, rows)
    assert is_about_row(read_select(f"{plain} OR v.ward = 1"), around, rows)
