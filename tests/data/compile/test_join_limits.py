"""A person's rows are bounded before a join multiplies them, by their own rows and the salt alone."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from data import crowd_oracle, relation_oracle, relation_plans
from data.test_presence import counted, without
from data.test_relations import opened
from data.three_engines import SPARK
from discreet.data import (
    Bounds,
    CountRows,
    Group,
    Limits,
    Salt,
    Sum,
    Table,
    col,
    compute,
    engine_sql,
    sensitivity,
)
from discreet.data.compile.relations import PERSON, rows_of
from discreet.data.engines.base import fetch
from discreet.data.facts.fanout import LARGEST_MEETING, fan_out
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.expressions import Column
from discreet.data.language.relations import (
    Derive,
    Equality,
    Filter,
    JoinPersons,
    JoinPublic,
    Named,
    PerPerson,
    Personal,
    Source,
    Union,
    leftmost,
)
from discreet.data.tables.public_table import PublicTable
from effort import examples

SALT = Salt(value="5a17")
CROWD = 4096
SOURCE, VISITS = Source(table="t"), Source(table="visits")
EVERYTHING = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])


def beside(left, right=SOURCE, on=(), outer=False):
    """A join of private rows that adds one column under its own name."""
    depth = sum(1 for _ in relation_names(left))
    return JoinPersons(
        left=left,
        right=right,
        on=tuple(Equality(left=name, right=name) for name in on),
        columns=(Equality(left=f"y{depth}", right="x"),),
        outer=outer,
    )


def relation_names(relation):
    while isinstance(relation, JoinPersons):
        yield relation
        relation = relation.left


def table(engine, rows):
    """Rows of (person, x, z)."""
    who, x, z = (list(column) for column in zip(*rows, strict=True))
    arrow = pyarrow.table(
        {"id": pyarrow.array(who, pyarrow.int64()), "x": pyarrow.array(x, pyarrow.int64()), "z": z}
    )
    return engine.table(arrow, person="id", limits=Limits(rows=5), columns={"x": Bounds(0, 100)})


def counts(relation, tables):
    """How many rows each person has in a relation, counted by the engine."""
    rows = rows_of(relation, tables, SALT).table
    grouped = rows.group_by(PERSON).agg(rows=rows.count())
    found = fetch(grouped, tables[leftmost(relation).table]._backend)
    return dict(zip(found[PERSON].to_pylist(), found["rows"].to_pylist(), strict=True))


ALIKE = [(7, 1, 1)] * CROWD
FEW = [(who, x, 0) for who in (1, 2, 3) for x in range(who)]


def test_equal_rows_of_one_person_do_not_multiply(engine):
    relation, tables = SOURCE, {"t": table(engine, FEW + ALIKE)}
    for joins in range(1, 2 if engine.name == SPARK else 4):
        relation = beside(relation)
        found = counts(relation, tables)
        assert found == {1: 1, 2: 2 ** (joins + 1), 3: 3 ** (joins + 1), 7: LARGEST_MEETING}


def test_cells_do_not_multiply_either():
    # 16 cells of 256 rows, then 256 cells of 16: each join by itself multiplies within its cells.
    embedded = Table(
        pyarrow.table(
            {
                "id": [7] * CROWD,
                "x": [number // 256 for number in range(CROWD)],
                "z": [number // 16 for number in range(CROWD)],
            }
        ),
        person="id",
        limits=Limits(rows=5),
    )
    once = beside(SOURCE, on=("x",))
    assert counts(once, {"t": embedded}) == {7: LARGEST_MEETING}
    [many] = counts(beside(once, on=("z",)), {"t": embedded}).values()
    assert many <= LARGEST_MEETING


def test_public_rows_and_unions_do_not_multiply_crowds(engine):
    many = 300
    public = PublicTable(pyarrow.table({"key": [1] * many, "note": list(range(many))}))
    relation = JoinPublic(
        source=Union(sources=(SOURCE, SOURCE)), table="public", on=(Equality(left="x", right="key"),)
    )
    tables = {"t": table(engine, FEW + ALIKE), "public": public}
    assert counts(relation, tables) == {2: 2 * many, 3: 2 * many, 7: LARGEST_MEETING // many * many}
    outer = JoinPublic(source=SOURCE, table="public", on=(Equality(left="x", right="key"),), outer=True)
    assert counts(outer, tables) == {1: 1, 2: many + 1, 3: many + 2, 7: LARGEST_MEETING // many * many}


@pytest.mark.hypothesis
def test_rows_that_enter_are_those_of_the_rule(engine, monkeypatch):
    crowd_oracle.smaller(monkeypatch, root=2)
    thinned = Counter()

    @settings(EVERYTHING, max_examples=2)
    @given(relation_plans.data, relation_plans.one_of_each(most=2))
    def check(data, relations):
        tables = opened(engine, data)
        plain = {name: relation_plans.arrow(name, rows).to_pylist() for name, rows in data.items()}
        sources = [Source(table=name) for name in relation_plans.PERSON]
        usual = [
            JoinPersons(
                left=left,
                right=right,
                on=(Equality(left=name, right=name),) if name else (),
                columns=(),
                outer=outer,
            )
            for left, right, name, outer in (
                (sources[0], sources[0], None, False),
                (sources[0], sources[1], None, True),
                (sources[1], sources[0], "ward", True),
                (sources[0], sources[0], "city", False),
            )
        ]
        for relation in (*(one for one in relations if isinstance(one, JoinPersons | JoinPublic)), *usual):
            rows = rows_of(relation, tables, SALT)
            found = fetch(rows.table, tables[leftmost(relation).table]._backend).to_pylist()
            enters = crowd_oracle.entering(tables, SALT, most=4)
            expected = relation_oracle.rows(relation, plain, tables, enters)
            columns = columns_of_relation(relation, tables)
            assert Counter(
                (row[PERSON], relation_oracle.plain({name: row[inner] for name, inner in rows.names.items()}))
                for row in found
            ) == Counter(
                (who, relation_oracle.plain({name: row[name] for name in columns})) for who, row in expected
            ), relation
            check_fan_out(relation, plain, tables, expected)
            thinned[len(expected) < len(relation_oracle.rows(relation, plain, tables))] += 1

    check()
    assert thinned[True] > 0
    assert thinned[False] > 0


def check_fan_out(relation, plain, tables, rows):
    """A person has no more rows than the public bounds say."""
    bound = fan_out(relation, tables)
    largest = Counter()
    for name, column in relation_plans.PERSON.items():
        for who, many in Counter(row[column] for row in plain[name]).items():
            largest[who] = max(largest[who], many)
    for who, many in Counter(who for who, _ in rows).items():
        assert many <= bound.rows * largest[who]
        assert bound.person is None or many <= bound.person


def test_a_person_at_the_limit_is_left_alone(engine, monkeypatch):
    crowd_oracle.smaller(monkeypatch, root=4)
    at_limit, above = [(1, x, 0) for x in range(4)], [(2, x, 0) for x in range(5)]
    assert counts(beside(SOURCE), {"t": table(engine, at_limit + above)}) == {1: 16, 2: 15}
    # What is many on one side and one on the other is not multiplied.
    zero = Filter(source=SOURCE, condition=(col("x") == 0).expression)
    many = {"t": table(engine, [(1, x, 0) for x in range(16)] + [(2, x, 0) for x in range(20)])}
    assert counts(beside(SOURCE, zero), many) == {1: 16, 2: 16}
    assert counts(beside(zero, SOURCE), many) == {1: 16, 2: 20}


def test_one_person_with_thousands_of_rows_moves_no_one_else(engine):
    plan = Group(source=beside(SOURCE), measures=(CountRows(), Sum(column="x", bounds=Bounds(0, 100))))
    others = [(who, who + x, 0) for who in range(20) for x in range(who % 7)]
    crowd = [(99, x % 100, x) for x in range(2 * CROWD)]
    rows, total = sensitivity(plan, {"t": table(engine, others)}).statistics
    moved = [
        [
            int(value)
            for values in compute(plan, {"t": table(engine, rows)}, salt=SALT).values
            for value in values
        ]
        for rows in (others, others + crowd, random.Random(5).sample(crowd, len(crowd)) + others)
    ]
    assert moved[1] == moved[2]
    assert moved[1][0] - moved[0][0] == 5 == rows.sensitivity.l1
    assert abs(moved[1][1] - moved[0][1]) <= total.sensitivity.l1


@pytest.mark.hypothesis
def test_crowds_are_decided_by_their_own_rows(monkeypatch):
    crowd_oracle.smaller(monkeypatch, root=2)

    @settings(EVERYTHING, max_examples=examples(4))
    @given(relation_plans.data, relation_plans.one_of_each(most=1), st.sampled_from([1, 2, 3]), st.randoms())
    def check(data, relations, person, order):
        fewer = without(data, person)
        other = {name: order.sample(rows, len(rows)) for name, rows in data.items()}
        tables = [relation_plans.opened(rows) for rows in (data, fewer, other)]
        crowded = [one for one in relations if isinstance(one, JoinPersons | JoinPublic)]
        for relation in (*crowded, JoinPersons(left=VISITS, right=VISITS, columns=())):
            everybody, others, shuffled = (counted(relation, one) for one in tables)
            assert others == Counter({row: many for row, many in everybody.items() if row[0] != person})
            assert shuffled == everybody

    check()


def test_nothing_is_counted_where_nothing_multiplies():
    plain = Table(
        pyarrow.table({"id": [1], "x": [1], "z": [1]}),
        person="id",
        limits=Limits(rows=5),
        columns={"x": Bounds(0, 9)},
    )
    ahead = Table(pyarrow.table({"id": [1], "x": [1]}), person="id", limits=Limits(rows=5), prepare=True)
    cities = PublicTable(pyarrow.table({"key": [1, 1, 2], "note": [1, 2, 3]}))
    tables = {"t": plain, "ahead": ahead, "cities": cities}
    each = PerPerson(source=SOURCE, columns=(Personal(name="x", function="count"),))
    alone = Derive(source=SOURCE, columns=(Named(name="w", expression=Column(name="x")),))
    with_city = JoinPublic(source=SOURCE, table="cities", on=(Equality(left="x", right="key"),))
    for relation in (
        SOURCE,
        alone,
        with_city,
        beside(SOURCE, each),
        beside(each),
        beside(Source(table="ahead"), Source(table="ahead")),
    ):
        assert "cell_" not in engine_sql(Group(source=relation, measures=(CountRows(),)), tables)
    assert "cell_" in engine_sql(Group(source=beside(SOURCE), measures=(CountRows(),)), tables)
