"""A person's rows in any relation are a function of that person's own rows: values and presence."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data import relation_oracle, relation_plans
from discreet.data import Salt
from discreet.data.compile.relations import PERSON, rows_of
from discreet.data.engines.base import fetch
from discreet.data.language.relations import leftmost
from effort import examples

quick = settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))


def counted(relation, tables):
    """The rows of a relation as the engine has them: how many of each person and content."""
    rows = rows_of(relation, tables, Salt(value="5a17"))
    found = fetch(rows.table, tables[leftmost(relation).table]._backend).to_pylist()
    return Counter(
        (row[PERSON], relation_oracle.plain({name: row[inner] for name, inner in rows.names.items()}))
        for row in found
    )


def without(data, person):
    """The data without one person, in every private table."""
    kept = {
        table: [row for row in data[table] if row[column] != person]
        for table, column in relation_plans.PERSON.items()
    }
    return data | kept


def shuffled(data, seed):
    order = random.Random(seed)
    return {table: order.sample(rows, len(rows)) for table, rows in data.items()}


@pytest.mark.slow
@quick
@given(
    relation_plans.data,
    st.tuples(relation_plans.one_of_each(), st.lists(relation_plans.relations(), min_size=2, max_size=2)),
    st.sampled_from([1, 2, 3]),
    st.integers(0, 99),
)
def test_a_person_decides_about_nobody_else(data, relations, person, seed):
    tables, fewer, other = (
        relation_plans.opened(rows) for rows in (data, without(data, person), shuffled(data, seed))
    )
    for relation in (*relations[0], *relations[1]):
        everybody = counted(relation, tables)
        others = Counter({row: many for row, many in everybody.items() if row[0] != person})
        assert counted(relation, fewer) == others
        assert counted(relation, other) == everybody
