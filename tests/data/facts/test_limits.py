"""Limits of relations over several tables: the widest of joined ones, the sum of those in a union."""

# ruff: noqa: S608

from __future__ import annotations

import duckdb
import pyarrow
import pyarrow.compute
import pytest

from discreet.data import AUTO, EACH_ROW, Keys, Limits, Table, compute
from discreet.data.facts.limits import counted_rows, declared_limits, limits_of, rows_within_limits
from discreet.data.salt import Salt
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery
from discreet.queries import parse
from discreet.queries.binding.bind import bind

PEOPLE = pyarrow.table({"who": [1, 2, 3], "x": [10, 20, 30]})
VISITS = pyarrow.table({"who": [1, 1, 1, 2, 4, 4], "x": [1, 2, 3, 4, 5, 6]})
FLOORS = pyarrow.table({"floor": [1, 2, 3, 4], "x": [1, 1, 2, 30]})
SALT = Salt(value="salt")


def tables() -> dict[str, Table | PublicTable]:
    return {
        "people": Table(PEOPLE, person="who", limits=Limits(rows=1)),
        "visits": Table(VISITS, person="who", limits=Limits(rows=3), columns={"x": Keys([1, 2, 3, 4])}),
        "wards": Table(VISITS, person="who", limits=Limits(groups=2, rows_per_group=3)),
        "halls": Table(VISITS, person="who", limits=Limits(groups=4, rows_per_group=1)),
        "bought": Table(VISITS, person="who", limits=Limits(rows=AUTO, at_most=50)),
        "alone": Table(VISITS, person=EACH_ROW),
        "floors": PublicTable(FLOORS),
    }


def relation_of(rows: str, known: dict[str, Table | PublicTable]):
    return parse(f"SELECT COUNT(*) AS n FROM {rows}", known).relation


def union(*names: str) -> str:
    return f"({' UNION ALL '.join(f'SELECT who, x FROM {name}' for name in names)}) AS t"


def test_the_widest_limits_of_joined_tables_count_in_any_order():
    rows = pyarrow.table({"who": [1, 1, 1, 2], "x": [1, 2, 3, 4]})
    tables = {
        "people": Table(pyarrow.table({"who": [1, 2]}), person="who", limits=Limits(rows=1)),
        "visits": Table(rows, person="who", limits=Limits(rows=20)),
        "wards": Table(rows, person="who", limits=Limits(groups=2, rows_per_group=3)),
    }
    for text, wide in (
        ("people JOIN visits USING (who)", Limits(rows=20)),
        ("visits JOIN people USING (who)", Limits(rows=20)),
        ("people LEFT JOIN visits USING (who)", Limits(rows=20)),
        ("people JOIN (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) t USING (who)", Limits(rows=1)),
        ("wards JOIN visits USING (who)", Limits(groups=2, rows_per_group=3)),
    ):
        relation = parse(f"SELECT COUNT(*) AS n FROM {text}", tables).relation
        if "COUNT(*) AS n FROM visits" in text:
            assert declared_limits(relation, tables) == wide
        else:
            assert limits_of(relation, tables) == wide


EACH = "(SELECT who, COUNT(*) AS x FROM visits GROUP BY who) AS each_one"


@pytest.mark.parametrize(
    ("parts", "limits"),
    [
        (("people", "visits"), Limits(rows=4)),
        (("visits", "visits"), Limits(rows=6)),
        (("people", "visits", "people"), Limits(rows=5)),
        (("wards", "halls"), Limits(groups=6, rows_per_group=4)),
        (("wards", "people"), Limits(rows=7)),
        (("bought", "visits"), Limits(rows=AUTO, at_most=53)),
        ((EACH, "visits"), Limits(rows=4)),
    ],
)
def test_the_limits_of_the_parts_of_a_union_add_up_in_any_order(parts, limits):
    known = tables()
    for order in (parts, parts[::-1]):
        relation = relation_of(union(*order), known)
        assert declared_limits(relation, known) == limits_of(relation, known) == limits
        assert rows_within_limits(relation, known) <= counted_rows(limits)


def test_a_sum_of_limits_ends_where_limits_end():
    known = tables() | {"visits": Table(VISITS, person="who", limits=Limits(rows=10**9))}
    assert limits_of(relation_of(union("visits", "visits"), known), known) == Limits(rows=10**9)


def test_a_union_in_which_each_row_is_a_person_has_one_row_of_each():
    known = tables()
    assert limits_of(relation_of("alone", known), known) == Limits(rows=1)


def test_the_rows_of_a_full_join_that_match_none_are_joined_rows():
    known = tables()
    for first, second in (("people", "visits"), ("visits", "people")):
        relation = relation_of(f"{first} FULL JOIN {second} USING (who)", known)
        assert limits_of(relation, known) == Limits(rows=3)
        assert rows_within_limits(relation, known) == 3


def test_a_question_may_state_no_more_than_the_parts_of_its_union_allow_together():
    known = tables()
    query = parse(f"SELECT COUNT(*) AS n FROM {union('people', 'visits')}", known)
    from discreet.data.language.first_table import with_limits

    assert limits_of(with_limits(query.relation, Limits(rows=4)), known) == Limits(rows=4)
    with pytest.raises(UnsupportedQuery, match=r"no wider: Limits\(rows=4\)"):
        limits_of(with_limits(query.relation, Limits(rows=5)), known)


@pytest.mark.parametrize(
    ("rows", "many"),
    [
        ("visits CROSS JOIN floors", 12),
        ("visits JOIN floors ON visits.x = floors.x", 6),
        ("visits JOIN floors ON visits.x < floors.floor", 12),
        ("people JOIN visits USING (who)", 3),
        ("(SELECT DISTINCT who, x FROM visits) AS t", 3),
        (EACH, 1),
        (f"{EACH} CROSS JOIN floors", 4),
    ],
)
def test_rows_of_public_tables_multiply_what_a_person_within_the_limits_has(rows, many):
    known = tables()
    assert rows_within_limits(relation_of(rows, known), known) == many


@pytest.mark.parametrize("parts", [("people", "visits"), ("visits", "people"), ("visits", "visits")])
def test_a_union_has_all_rows_of_persons_within_the_limits_and_moves_by_no_more_than_the_sum(parts):
    known = tables()
    text = f"SELECT COUNT(*) AS n FROM {union(*parts)}"
    bound = bind(parse(text, known), known)
    connection = duckdb.connect()
    for name, rows in (("people", PEOPLE), ("visits", VISITS)):
        connection.register(name, rows)
    ((exact,),) = connection.sql(text).fetchall()
    assert compute(bound.plan, known, salt=SALT).values[0].tolist() == [exact]
    without = dict(known)
    for name, rows in (("people", PEOPLE), ("visits", VISITS)):
        others = rows.filter(pyarrow.compute.not_equal(rows["who"], 1))
        without[name] = Table(others, person="who", limits=known[name].limits)
    (fewer,) = compute(bound.plan, without, salt=SALT).values
    assert (
        exact - fewer[0]
        == bound.statistics.statistics[0].sensitivity.l1
        == sum(known[name].limits.rows for name in parts)
    )
