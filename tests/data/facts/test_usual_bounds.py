"""What is counted or added up of each person is bounded by the limits of the tables."""

# ruff: noqa: S608
from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.data import Bounds, Keys, Limits, compute, fresh_salt
from discreet.data.facts.relation_facts import _columns, columns_of_relation
from discreet.data.facts.usual_bounds import MOST_USUAL_ROWS, usual_count, usual_rows, usual_sum, with_usual
from discreet.data.language.column_facts import ColumnFacts
from discreet.data.language.types import Type
from discreet.errors import UndeclaredColumn
from discreet.queries import bind, parse
from queries.phrases import by_duckdb, declared, frames, measured

EACH = "SELECT patient, {} AS n FROM visits GROUP BY patient"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("visits", 50),
        ("visits v JOIN cities c ON v.city = c.name", 100),
        ("visits v JOIN staff s USING (patient)", 2500),
        ("(SELECT patient FROM visits UNION ALL SELECT patient FROM staff) x", 100),
        ("(SELECT patient, MIN(day) AS d FROM visits GROUP BY patient) x", 1),
        ("(SELECT patient, city FROM visits GROUP BY patient, city) x WHERE city = 'Oslo'", 50),
    ],
)
def test_rows_of_a_person_within_all_limits(rows, expected):
    tables = declared(frames(1))
    relation = parse(f"SELECT COUNT(*) AS n FROM {rows}", tables).relation
    assert usual_rows(relation, tables, _columns) == expected


def test_limits_by_groups_multiply():
    tables = declared(frames(1), Limits(groups=3, rows_per_group=4))
    relation = parse("SELECT COUNT(*) AS n FROM visits", tables).relation
    assert usual_rows(relation, tables, _columns) == 12
    many = declared(frames(1), Limits(rows=MOST_USUAL_ROWS + 1))
    assert usual_rows(relation, many, _columns) is None


def test_bounds_of_counts_and_sums():
    assert usual_count(7) == Bounds(0, 7)
    assert usual_sum(Bounds(-2, 5, step=0.5), 4) == Bounds(-8, 20, step=0.5)
    assert usual_sum(Bounds(2, 5), 4) == Bounds(0, 20)
    assert usual_sum(Bounds(0, 10**9, step=Fraction(1, 10**6)), 10**6) is None
    assert usual_count(None) is usual_sum(Bounds(0, 1), None) is None


def test_only_what_lacks_bounds_gets_usual_ones():
    plain = {"a": ColumnFacts(type=Type.INTEGER, bounds=Bounds(0, 9), usual=Bounds(0, 3))}
    assert with_usual(plain) is None
    lacking = {**plain, "b": ColumnFacts(type=Type.INTEGER, usual=Bounds(0, 3))}
    assert {name: facts.bounds for name, facts in with_usual(lacking).items()} == {
        "a": Bounds(0, 9),
        "b": Bounds(0, 3),
    }


QUESTIONS = [
    ("SELECT SUM(n) AS s FROM ({}) x", "COUNT(*)"),
    ("SELECT SUM(n) AS s FROM ({}) x", "COUNT(ward)"),
    ("SELECT SUM(n) AS s FROM ({}) x", "COUNT(DISTINCT city)"),
    ("SELECT SUM(n + 1) AS s FROM ({}) x WHERE n > 1", "COUNT(*)"),
    ("SELECT SUM(n) AS s FROM ({}) x", "SUM(ward)"),
]


@pytest.mark.parametrize(("around", "each"), QUESTIONS)
def test_within_the_limits_sums_are_those_of_duckdb(around, each):
    found = frames(5)
    text = around.format(EACH.format(each))
    assert measured(text, declared(found)) == [[by_duckdb(text, found)[0][0]]]


def test_windows_count_within_the_limits():
    found = frames(5)
    inner = "SELECT ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) AS k, COUNT(*) OVER "
    text = f"SELECT SUM(k) AS s, SUM(n) AS t FROM ({inner}(PARTITION BY patient) AS n FROM visits) x"
    assert [one for (one,) in measured(text, declared(found))] == list(by_duckdb(text, found)[0])


def test_beyond_the_limits_counts_are_clipped():
    found = frames(5)
    tables = declared(found, Limits(rows=2))
    text = f"SELECT SUM(n) AS s FROM ({EACH.format('COUNT(*)')}) x"
    clipped = text.replace("COUNT(*)", "LEAST(COUNT(*), 2)")
    assert measured(text, tables) == [[by_duckdb(clipped, found)[0][0]]]
    bound = bind(parse(text, tables), tables)
    assert bound.statistics.statistics[0].sensitivity.l1 == 2


def test_stated_bounds_stay_what_they_were():
    """LEAST(COUNT(*), 60) is bounded by 60, whatever the limits are: the question was asked before."""
    tables = declared(frames(5), Limits(rows=3))
    inner = EACH.format("LEAST(COUNT(*), 60)")
    relation = parse(f"SELECT SUM(n) AS s FROM ({inner}) x", tables).relation
    assert columns_of_relation(relation, tables)["n"].bounds == Bounds(0, 60)
    text = f"SELECT COUNT(n) AS c FROM ({EACH.format('SUM(cost)')}) x"
    plan = bind(parse(text, tables), tables).plan
    assert plan.measures[0].bounds is None
    compute(plan, tables, salt=fresh_salt())


def test_keys_are_implied_by_limits_in_groups_alone():
    tables = declared(frames(5), Limits(rows=3))
    text = f"SELECT n, COUNT(*) AS c FROM ({EACH.format('COUNT(*)')}) x GROUP BY n"
    query = parse(text, tables)
    assert columns_of_relation(query.relation, tables)["n"].keys is None
    (key,) = bind(query, tables).plan.keys
    assert key.values == Keys(range(4))
    with pytest.raises(UndeclaredColumn, match="needs keys"):
        bind(parse(f"SELECT MODE(n) AS m FROM ({EACH.format('COUNT(*)')}) x", tables), tables)
