"""One meaning of relations on every engine, and public tables on their way to it."""

from __future__ import annotations

import datetime
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from data import relation_oracle, relation_plans
from discreet.data import Limits, Salt
from discreet.data.compile.relations import PERSON, rows_of
from discreet.data.engines.base import fetch
from discreet.data.facts.relation_facts import columns_of_relation, is_single
from discreet.data.language.relations import Order, Source, Window, leftmost
from discreet.data.tables.public_table import PublicTable
from effort import examples

SALT = Salt(value="5a17")


def opened(engine, data):
    """Tables of some rows in an engine."""
    private = {
        name: engine.table(
            relation_plans.arrow(name, data[name]),
            person=person,
            limits=Limits(rows=4),
            columns={
                one: known
                for one, known in relation_plans.COLUMNS.items()
                if one in relation_plans.SCHEMAS[name].names
            },
        )
        for name, person in relation_plans.PERSON.items()
    }
    public = {name: PublicTable(relation_plans.arrow(name, data[name])) for name in ("cities", "calendar")}
    return private | public


@pytest.mark.hypothesis
def test_rows_are_those_of_the_oracle(engine):
    @settings(
        max_examples=examples(max(2, engine.examples // 2)),
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(relation_plans.data, relation_plans.one_of_each(most=3))
    def check(data, relations):
        tables = opened(engine, data)
        plain = {table: relation_plans.arrow(table, rows).to_pylist() for table, rows in data.items()}
        for relation in relations:
            rows = rows_of(relation, tables, SALT)
            found = fetch(rows.table, tables[leftmost(relation).table]._backend).to_pylist()
            expected = relation_oracle.rows(relation, plain, tables)
            columns = columns_of_relation(relation, tables)
            assert Counter(
                (row[PERSON], relation_oracle.plain({name: row[inner] for name, inner in rows.names.items()}))
                for row in found
            ) == Counter(
                (who, relation_oracle.plain({name: row[name] for name in columns})) for who, row in expected
            ), relation
            if is_single(relation, tables):
                assert max(Counter(row[PERSON] for row in found).values(), default=1) == 1

    check()


def test_missing_values_are_numbered_last(engine):
    day = datetime.date(2026, 1, 31)
    rows = [
        {"patient": 1, "ward": ward, "day": when}
        for ward, when in ((1, None), (2, day), (None, day), (3, None))
    ]
    tables = opened(engine, {"visits": rows, "tests": [], "cities": [], "calendar": []})
    for descending, expected in ((False, [1, 2, 3, None]), (True, [3, 2, 1, None])):
        relation = Window(
            source=Source(table="visits"),
            name="k",
            function="row number",
            order=(Order(column="ward", descending=descending),),
        )
        found = rows_of(relation, tables, SALT)
        listed = fetch(found.table, tables["visits"]._backend).to_pylist()
        assert [row["ward"] for row in sorted(listed, key=lambda row: row["k"])] == expected
