"""Joins of private tables by declared foreign keys, as people write them."""

# ruff: noqa: E501, S608
from __future__ import annotations

import duckdb
import pandas as pd
import pytest
from hypothesis import strategies as st

import discreet as dp
from data.tables.key_worlds import PEOPLE, WORLDS, tables_of, without
from data.three_engines import embedded, generated
from discreet.data import Salt, compute
from discreet.data.language.relations import JoinPersons, leftmost, walk_relation
from discreet.data.tables.ownership import owned_tables
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries import bind, parse
from queries.key_schemas import wholesaler, wholesaler_tables

FRAMES = wholesaler(seed=3, customers=40)


@pytest.fixture(scope="module")
def tables():
    return owned_tables(wholesaler_tables(FRAMES))


@pytest.fixture(scope="module")
def exactly():
    connection = duckdb.connect()
    for name, frame in FRAMES.items():
        connection.register(name, frame)
    return lambda sql: connection.sql(sql).fetchall()[0][0]


def counted(sql, tables):
    plan = bind(parse(sql, tables), tables).plan
    return int(compute(plan, tables, salt=Salt(value="s")).values[0][0])


SAME_ROWS = [
    "customer, orders, lineitem WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey",
    "lineitem, customer, orders WHERE l_orderkey = o_orderkey AND c_custkey = o_custkey AND l_quantity < 20",
    "orders JOIN lineitem ON o_orderkey = l_orderkey",
    "orders o JOIN customer c ON o.o_custkey = c.c_custkey JOIN lineitem l ON l.l_orderkey = o.o_orderkey AND l_tax > 0.02",
    "region, nation, customer, orders, lineitem WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey "
    "AND c_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA'",
    "orders LEFT JOIN lineitem ON o_orderkey = l_orderkey AND l_quantity > 45",
    "orders o SEMI JOIN lineitem l ON o.o_orderkey = l.l_orderkey AND l.l_quantity > 30",
    "orders o ANTI JOIN lineitem l ON o.o_orderkey = l.l_orderkey AND l.l_quantity > 30",
    "lineitem a JOIN lineitem b ON a.l_orderkey = b.l_orderkey AND a.l_linenumber = b.l_linenumber",
    "lineitem a, lineitem b WHERE a.l_orderkey = b.l_orderkey AND a.l_linenumber < b.l_linenumber",
    "(SELECT * FROM lineitem WHERE l_quantity > 10) l JOIN orders ON l_orderkey = o_orderkey WHERE o_custkey > 5",
    "orders JOIN (SELECT l_orderkey, SUM(l_quantity) AS q FROM lineitem GROUP BY l_orderkey) l ON o_orderkey = l_orderkey "
    "WHERE q > 60",
    "orders JOIN (SELECT DISTINCT l_orderkey, l_shipmode FROM lineitem) l ON o_orderkey = l_orderkey",
    "(SELECT l_orderkey AS k, ROW_NUMBER() OVER (PARTITION BY l_orderkey ORDER BY l_shipdate, l_partkey) AS i FROM lineitem) l "
    "WHERE i = 1",
    "(customer JOIN orders ON c_custkey = o_custkey) JOIN (lineitem JOIN part ON l_partkey = p_partkey) "
    "ON o_orderkey = l_orderkey WHERE p_size > 20",
]


@pytest.mark.few(9)
@pytest.mark.parametrize("rows", SAME_ROWS)
def test_a_join_by_keys_has_the_rows_of_duckdb(rows, tables, exactly):
    sql = f"SELECT COUNT(*) AS n FROM {rows}"
    assert counted(sql, tables) == exactly(sql)


def test_a_join_through_an_optional_parent_has_the_rows_of_duckdb(tables, exactly):
    frames = {name: FRAMES[name] for name in ("customer", "orders", "lineitem")}
    roomy = owned_tables(
        {
            "customer": dp.Table(frames["customer"], person="c_custkey", limits=dp.Limits(rows=100)),
            "orders": dp.Table(
                frames["orders"],
                person=dp.through("customer", on="o_custkey", to="c_custkey"),
                limits=dp.Limits(rows=100),
            ),
            "lineitem": dp.Table(
                frames["lineitem"],
                person=dp.through("orders", on="l_orderkey", to="o_orderkey"),
                limits=dp.Limits(rows=100),
            ),
        }
    )
    sql = (
        "SELECT COUNT(*) AS n FROM customer LEFT JOIN orders ON c_custkey = o_custkey "
        "LEFT JOIN lineitem ON l_orderkey = o_orderkey"
    )
    assert counted(sql, roomy) == exactly(sql)


def test_every_join_of_private_tables_equates_persons(tables):
    for rows in SAME_ROWS:
        relation = bind(parse(f"SELECT COUNT(*) AS n FROM {rows}", tables), tables).plan.source
        private = [node for node in walk_relation(relation) if isinstance(node, JoinPersons)]
        assert private or " JOIN " not in rows.replace("JOIN part", "")


def test_the_child_comes_first_so_that_its_limits_count(tables):
    for rows in SAME_ROWS[:5]:
        query = parse(f"SELECT COUNT(*) AS n FROM {rows}", tables)
        assert leftmost(query.relation).table == "lineitem"
    sql = "SELECT COUNT(*) AS n FROM customer, orders WHERE c_custkey = o_custkey"
    assert leftmost(parse(sql, tables).relation).table == "orders"
    # A table with a person column of its own is nobody's parent, and nobody's child.
    owner = dp.Table(FRAMES["orders"], person="o_custkey", limits=dp.Limits(rows=9))
    mixed = owned_tables({**tables, "orders": owner})
    for place, first in ((0, "lineitem"), (2, "lineitem")):
        query = parse(f"SELECT COUNT(*) AS n FROM {SAME_ROWS[place]}", mixed)
        assert leftmost(query.relation).table == first
    assert leftmost(parse(sql, mixed).relation).table == "customer"


def test_one_question_has_one_identity_whether_the_parent_or_the_child_is_written_first(tables):
    count = "SELECT COUNT(*) AS n FROM"
    first = parse(f"{count} orders, lineitem WHERE l_orderkey = o_orderkey", tables)
    second = parse(f"{count} lineitem JOIN orders ON o_orderkey = l_orderkey", tables)
    assert bind(first, tables).plan == bind(second, tables).plan


JOINS = (
    "trips, legs WHERE legs.trip = trips.id",
    "people, trips, legs WHERE people.badge = trips.badge AND trips.id = legs.trip",
    "legs a JOIN legs b ON a.trip = b.trip",
    "legs JOIN seals ON legs.trip = seals.trip AND legs.leg = seals.leg",
    "trips LEFT JOIN legs ON trips.id = legs.trip",
    "trips ANTI JOIN legs ON trips.id = legs.trip",
    "(SELECT trip, COUNT(*) AS m FROM legs GROUP BY trip) l WHERE m > 1",
)


@pytest.mark.slow
def test_one_person_moves_a_join_by_keys_within_the_sensitivity():
    @generated(embedded(), WORLDS, st.sampled_from(JOINS))
    def check(world, rows):
        sql = f"SELECT COUNT(*) AS n FROM {rows}"
        here = tables_of(world, limits=dp.Limits(rows=2))
        for person in {row["who"] for row in world[PEOPLE]} - {None}:
            there = tables_of(without(person, world), limits=dp.Limits(rows=2))
            assert abs(counted(sql, here) - counted(sql, there)) <= 2


REFUSED = {
    "orders a, orders b WHERE a.o_totalprice = b.o_totalprice": "a.o_custkey = b.o_custkey",
    "orders, lineitem WHERE o_totalprice = l_extendedprice": "l_orderkey",
    "orders, lineitem WHERE o_orderkey = l_linenumber": "rows of different persons meet",
    "orders, lineitem WHERE o_orderkey = l_orderkey + 1": "rows of different persons meet",
    "orders, lineitem WHERE o_orderkey < l_orderkey": "rows of different persons meet",
    "orders, lineitem WHERE o_orderkey = l_orderkey OR l_quantity = 1": "rows of different persons meet",
    "customer, lineitem WHERE c_custkey = l_orderkey": "rows of different persons meet",
    "orders o, (SELECT l_orderkey + 1 AS l_orderkey FROM lineitem) l WHERE o.o_orderkey = l.l_orderkey": "meet",
    "(SELECT l_suppkey, COUNT(*) AS n FROM lineitem GROUP BY l_suppkey) s": "add the person to GROUP BY",
    "(SELECT DISTINCT l_shipmode FROM lineitem) s": "DISTINCT without the person",
    "(SELECT ROW_NUMBER() OVER (PARTITION BY l_partkey ORDER BY l_tax) AS i FROM lineitem) s": "several persons",
    "(SELECT o_orderkey, COUNT(*) AS n FROM customer LEFT JOIN orders ON c_custkey = o_custkey "
    "GROUP BY o_orderkey) s": "add the person to GROUP BY",
}


@pytest.mark.parametrize("rows", REFUSED)
def test_joins_in_which_persons_would_meet_are_refused(rows, tables):
    with pytest.raises(UnsupportedQuery, match=REFUSED[rows]):
        parse(f"SELECT COUNT(*) AS n FROM {rows}", tables)


def test_the_person_column_gives_way_to_columns_of_its_name(tables, exactly):
    alone = "SELECT COUNT(DISTINCT o_custkey) AS n FROM lineitem"
    sql = "SELECT COUNT(DISTINCT o_custkey) AS n FROM lineitem JOIN orders ON l_orderkey = o_orderkey"
    assert counted(alone, tables) == counted(sql, tables) == exactly(sql)
    starred = "SELECT COUNT(*) AS n FROM (SELECT * FROM lineitem) l WHERE o_custkey = 1"
    with pytest.raises(UndeclaredColumn):
        parse(starred, tables)
    by_person = (
        "SELECT COUNT(*) AS n FROM (SELECT o_custkey, COUNT(*) AS m FROM lineitem GROUP BY o_custkey) l"
    )
    assert counted(by_person, tables) == exactly(sql)


def test_keys_of_two_columns_must_be_equal_in_both():
    frames = {
        "person": pd.DataFrame({"id": [1, 2]}),
        "a": pd.DataFrame({"x": [1, 1, 2], "y": [1, 2, 1], "id": [1, 2, 1]}),
        "b": pd.DataFrame({"x": [1, 1, 2, 2], "y": [1, 2, 1, 2]}),
    }
    limits = dp.Limits(rows=9)
    made = owned_tables(
        {
            "a": dp.Table(frames["a"], person="id", limits=limits),
            "b": dp.Table(frames["b"], person=dp.through("a", on=["x", "y"]), limits=limits),
            "c": dp.Table(frames["b"], person=dp.through("a", on=["x", "y"]), limits=limits),
        }
    )
    assert counted("SELECT COUNT(*) AS n FROM a JOIN b USING (x, y)", made) == 3
    assert counted("SELECT COUNT(*) AS n FROM a NATURAL JOIN b", made) == 3
    for rows in (
        "a JOIN b ON a.x = b.x",
        "a JOIN b ON a.x = b.y AND a.y = b.x",
        # b has the first column of one row's key and the second of another's: a third key
        "a JOIN c ON a.x = c.x AND a.y = c.y JOIN b ON b.x = a.x AND b.y = c.x",
    ):
        with pytest.raises(UnsupportedQuery, match="meet"):
            parse(f"SELECT COUNT(*) AS n FROM {rows}", made)
