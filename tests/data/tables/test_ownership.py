"""Rows that name no person: whose they are on every engine, and that nobody decides about anyone else."""

from __future__ import annotations

import pyarrow
import pytest

from data.tables.key_worlds import (
    LEGS,
    PEOPLE,
    SEALS,
    TRIPS,
    WORLDS,
    N,
    owned,
    persons_of,
    tables_of,
    without,
)
from data.three_engines import embedded, generated
from discreet.data import (
    EACH_ROW,
    CountPersons,
    CountRows,
    Group,
    Limits,
    PublicTable,
    Salt,
    Source,
    Sum,
    Table,
    compute,
    sensitivity,
    through,
)
from discreet.data.tables.ownership import owned_tables
from discreet.errors import ParameterError, UnsupportedQuery

SALT = Salt(value="salt")


def found(table):
    rows = table._rows()
    names = [table.person, *table._stored.columns]
    return sorted(zip(*(rows[name].to_pylist() for name in names), strict=True), key=repr)


def test_rows_are_those_of_the_only_person_that_they_lead_to(engine):
    @generated(engine, WORLDS)
    def check(world):
        tables = tables_of(world, engine)
        for name in (TRIPS, LEGS, SEALS):
            assert found(tables[name]) == owned(name, world)


def test_without_a_person_the_rows_of_all_others_are_the_same():
    @generated(embedded(), WORLDS)
    def check(world):
        here = tables_of(world)
        for person in sorted({row["who"] for row in world[PEOPLE]} - {None})[:2]:
            there = tables_of(without(person, world))
            for name in (TRIPS, LEGS, SEALS):
                assert found(there[name]) == [row for row in found(here[name]) if row[0] != person]


def test_a_key_that_two_persons_share_stays_shared_further_down():
    # The trip "t" of badge 2 is ann's and bob's, hence nobody's; ann has another trip "t". If only ann's
    # counted for its leg, the leg would be ann's, and gone without bob's rows: bob would decide about ann.
    world = {
        PEOPLE: [{"who": "ann", "badge": 1}, {"who": "ann", "badge": 2}, {"who": "bob", "badge": 2}],
        TRIPS: [{"badge": 2, "id": "t", "n": 0}, {"badge": 1, "id": "t", "n": 0}],
        LEGS: [{"trip": "t", "leg": 1, "n": 0}],
        SEALS: [],
    }
    assert persons_of(LEGS, world) == [{"ann", "bob"}]
    assert without("bob", world)[LEGS] == []
    assert found(tables_of(world)[LEGS]) == found(tables_of(without("bob", world))[LEGS]) == []


def test_one_person_moves_statistics_within_the_sensitivity():
    measures = (CountRows(), CountPersons(), Sum(column="n", bounds=N))
    plan = Group(source=Source(table=LEGS), measures=measures)

    @generated(embedded(), WORLDS)
    def check(world):
        here = tables_of(world, limits=Limits(rows=2))
        bound = sensitivity(plan, here).statistics
        for person in sorted({row["who"] for row in world[PEOPLE]} - {None})[:2]:
            there = tables_of(without(person, world), limits=Limits(rows=2))
            one, other = (compute(plan, tables, salt=SALT).values for tables in (here, there))
            for place, statistic in enumerate(bound):
                assert abs(int(one[place][0]) - int(other[place][0])) <= statistic.sensitivity.l1


def test_what_belongs_to_nobody_enters_no_answer(engine):
    world = {
        PEOPLE: [{"who": "ann", "badge": 1}, {"who": None, "badge": 2}, {"who": "bob", "badge": None}],
        TRIPS: [
            {"badge": 1, "id": "t", "n": 1},
            {"badge": 2, "id": "u", "n": 1},  # of a badge without a person
            {"badge": None, "id": "v", "n": 1},
            {"badge": 9, "id": "w", "n": 1},  # of no badge
            {"badge": 1, "id": None, "n": 1},
        ],
        LEGS: [{"trip": trip, "leg": 1, "n": 1} for trip in ("t", "t", "u", "v", "w", "x", None)],
        SEALS: [{"trip": "t", "leg": leg, "n": 1} for leg in (1, 2, None)],
    }
    tables = tables_of(world, engine)
    plans = {name: Group(source=Source(table=name), measures=(CountRows(),)) for name in (TRIPS, LEGS, SEALS)}
    counts = {name: compute(plan, tables, salt=SALT).values[0].tolist() for name, plan in plans.items()}
    assert counts == {TRIPS: [2], LEGS: [2], SEALS: [1]}


def test_owners_may_count_what_belongs_to_nobody(engine):
    world = {
        PEOPLE: [{"who": "ann", "badge": 1}, {"who": None, "badge": 2}, {"who": "bob", "badge": 1}],
        TRIPS: [{"badge": badge, "id": "t", "n": 1} for badge in (1, 2, 3, None)],
        LEGS: [],
        SEALS: [],
    }
    tables = tables_of(world, engine)
    assert [tables[name].unowned() for name in (PEOPLE, TRIPS, LEGS)] == [1, 4, 0]


def test_a_table_may_be_prepared(engine):
    world = {
        PEOPLE: [{"who": f"p{one}", "badge": one} for one in range(5)],
        TRIPS: [{"badge": one % 5, "id": f"t{one}", "n": one % 3} for one in range(20)],
        LEGS: [{"trip": f"t{one % 25}", "leg": one, "n": one % 3} for one in range(60)],
        SEALS: [],
    }
    plan = Group(source=Source(table=LEGS), measures=(CountRows(), Sum(column="n", bounds=N)))
    results = []
    for limits in (Limits(rows=100), Limits(groups=1, rows_per_group=100)):
        for prepare in (False, True):
            tables = tables_of(world, engine, limits, prepare=prepare)
            results.append([one.tolist() for one in compute(plan, tables, salt=SALT).values])
    assert all(one == results[0] for one in results)


@pytest.mark.slow
def test_a_person_of_a_million_rows_is_one_person():
    million = 1_000_000
    people = pyarrow.table({"who": ["ann", "bob"]})
    trips = pyarrow.table({"id": [1, 2], "who": ["ann", "bob"]})
    legs = pyarrow.table({"trip": [1] * million + [2]})
    tables = owned_tables(
        {
            "people": Table(people, person="who", limits=Limits(rows=1)),
            "trips": Table(trips, person=through("people", on="who"), limits=Limits(rows=5)),
            "legs": Table(legs, person=through("trips", on="trip", to="id"), limits=Limits(rows=5)),
        }
    )
    exact = compute(Group(source=Source(table="legs"), measures=(CountRows(),)), tables, salt=SALT)
    assert exact.values[0].tolist() == [6]


def shop(child=None, parent=None, **others):
    parents = pyarrow.table({"id": [1, 2], "who": ["ann", "bob"], "price": [1.5, 2.5]})
    children = pyarrow.table({"parent": [1, 1, 2], "n": [1, 2, 3]})
    return {
        "parents": parent or Table(parents, person="who", limits=Limits(rows=3)),
        "children": Table(
            children, person=child or through("parents", on="parent", to="id"), limits=Limits(rows=3)
        ),
        **others,
    }


def test_the_person_column_is_added_under_a_name_that_is_free():
    tables = owned_tables(shop())
    assert tables["children"].person == "who"
    assert list(tables["children"].schema) == ["parent", "n", "who"]
    taken = pyarrow.table({"parent": [1], "Who": [7]})
    child = Table(taken, person=through("parents", on="parent", to="id"), limits=Limits(rows=1))
    assert owned_tables(shop() | {"children": child})["children"].person == "parents_who"
    named = owned_tables(shop(through("parents", on="parent", to="id", name="owner")))
    assert named["children"].person == "owner"
    with pytest.raises(ParameterError, match="that of another column"):
        owned_tables(shop(through("parents", on="parent", to="id", name="N")))


def test_a_key_that_is_the_person_is_the_person_column():
    people = Table(pyarrow.table({"id": [1, 2], "x": [1, 2]}), person="id", limits=Limits(rows=1))
    tables = owned_tables(shop(through("people", on="parent", to="id"), people=people))
    assert tables["children"].person == "parent"
    assert list(tables["children"].schema) == ["parent", "n"]
    named = owned_tables(shop(through("people", on="parent", to="id", name="who"), people=people))
    assert found(named["children"]) == [(1, 1, 1), (1, 1, 2), (2, 2, 3)]


def test_declarations_that_cannot_hold_are_refused_when_tables_meet():
    each = Table(pyarrow.table({"id": [1]}), person=EACH_ROW)
    for tables, words in (
        (shop(through("nowhere", on="parent")), "not declared"),
        (shop(through("public", on="parent"), public=PublicTable(pyarrow.table({"parent": [1]}))), "public"),
        (shop(through("parents", on="parent")), "does not have"),
        (shop(through("parents", on="parent", to="who")), "integer, with 'who', text"),
        (shop(through("parents", on="parent", to="price")), "float"),
        (shop(through("children", on="parent")), "through the table itself"),
        (shop(through("parents", on="parent", to="id"), each), "each row is a person"),
    ):
        with pytest.raises(ParameterError, match=words):
            owned_tables(tables)
    with pytest.raises(ParameterError, match="does not have"):
        shop(through("parents", on="nothing"))


def test_tables_that_belong_to_each_other_in_a_circle_are_refused():
    rows = pyarrow.table({"a": [1]})
    one = Table(rows, person=through("other", on="a"), limits=Limits(rows=1))
    other = Table(rows, person=through("one", on="a"), limits=Limits(rows=1))
    with pytest.raises(ParameterError, match="through the table itself"):
        owned_tables({"one": one, "other": other})


def test_keys_of_both_sides_may_be_of_other_types_of_numbers():
    wide = pyarrow.table({"id": pyarrow.array([1, 2**63], pyarrow.uint64()), "who": ["ann", "bob"]})
    parent = Table(wide, person="who", limits=Limits(rows=1))
    assert found(owned_tables(shop(parent=parent))["children"]) == [("ann", 1, 1), ("ann", 1, 2)]


def test_a_table_is_not_asked_before_its_persons_are_known():
    tables = shop()
    plan = Group(source=Source(table="children"), measures=(CountRows(),))
    with pytest.raises(UnsupportedQuery, match="come through another"):
        compute(plan, tables, salt=SALT)
    with pytest.raises(ParameterError, match="is not known without the other table"):
        tables["children"].unowned()
    with pytest.raises(ParameterError, match="needs the table of its persons"):
        Table(
            pyarrow.table({"a": [1]}), person=through("b", on="a"), limits=Limits(rows=1), prepare=True
        ).prepare()


def test_persons_are_found_once_and_again_where_the_parent_changes():
    declared = shop()
    first = owned_tables(declared)
    assert owned_tables(first) == first
    assert first["children"].version == "1; parents: 1"
    newer = Table(
        pyarrow.table({"id": [1, 2], "who": ["zoe", "zoe"]}), person="who", limits=Limits(rows=3), version="2"
    )
    second = owned_tables({**first, "parents": newer})
    assert second["children"].version == "1; parents: 2"
    assert {who for who, *_ in found(second["children"])} == {"zoe"}
    assert {who for who, *_ in found(first["children"])} == {"ann", "bob"}


def test_a_declaration_says_through_what():
    declaration = owned_tables(shop())["children"].declaration
    assert declaration["through"] == {"table": "parents", "on": ["parent"], "to": ["id"]}
    assert "through" not in owned_tables(shop())["parents"].declaration
    assert repr(shop()["children"]).startswith("Table(person=through('parents', on='parent', to='id')")


def test_tables_of_one_server_may_have_connections_of_their_own(postgres):
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA keys")
        connection.execute(
            "CREATE TABLE keys.orders AS SELECT n AS id, n % 3 AS who FROM generate_series(1, 9) n"
        )
        connection.execute("CREATE TABLE keys.lines AS SELECT n % 12 AS o FROM generate_series(1, 24) n")
    declared = {
        "lines": Table(
            f"{postgres}#keys.lines", person=through("orders", on="o", to="id"), limits=Limits(rows=9)
        ),
        "orders": Table(f"{postgres}#keys.orders", person="who", limits=Limits(rows=9)),
    }
    tables = owned_tables(declared)
    exact = compute(Group(source=Source(table="lines"), measures=(CountRows(),)), tables, salt=SALT)
    assert exact.values[0].tolist() == [18]
    frame = Table(pyarrow.table({"o": [1]}), person=through("orders", on="o", to="id"), limits=Limits(rows=9))
    with pytest.raises(ParameterError, match="in another database"):
        owned_tables(declared | {"lines": frame})
