"""Counts by combinations of keys: exact, bounded for each person, of rows that have all keys."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pyarrow
import pytest

from discreet.data import Keys, Limits, Table
from discreet.data.combination_counts import (
    check_combinations,
    combination_counts_sql,
    compute_combination_counts,
)
from discreet.data.language.plan import GroupKey, KeyCountPlan
from discreet.data.language.relations import Source
from discreet.data.language.serialization import from_json, to_json
from discreet.data.salt import Salt
from discreet.errors import UnsupportedQuery

LIMITS = [
    Limits(rows=1),
    Limits(rows=3),
    Limits(groups=2, rows_per_group=1),
    Limits(groups=2, rows_per_group=2),
]


def rows_of(persons, seed):
    chance = random.Random(seed)
    return [
        {"who": who, "a": chance.choice(["x", "y", None]), "b": chance.choice([1, 2, 3])}
        for who in persons
        for _ in range(chance.randrange(1, 9))
    ]


def plan_of(limits, *, persons, listed=()):
    keys = limits.rows or limits.groups
    rows = 1 if persons else limits.rows or limits.rows_per_group
    total = keys if persons or limits.rows else keys * rows
    return KeyCountPlan(
        source=Source(table="t"), columns=("a", "b"), listed=listed, keys=keys, rows=rows, total=total
    )


def counted(rows, limits, plan):
    schema = pyarrow.schema([("who", pyarrow.int64()), ("a", pyarrow.string()), ("b", pyarrow.int64())])
    table = Table(pyarrow.Table.from_pylist(rows, schema), person="who", limits=limits)
    found = compute_combination_counts(plan, {"t": table}, salt=Salt(value="salt"))
    assert repr(found) == "CombinationCounts()"
    return dict(found.chosen(found.counts))


@pytest.mark.parametrize("persons", [True, False])
@pytest.mark.parametrize("limits", LIMITS)
def test_counts_of_neighbors_differ_by_what_one_person_may_add(limits, persons):
    plan = plan_of(limits, persons=persons)
    for seed in range(4):
        rows = rows_of(range(12), seed)
        with_all = counted(rows, limits, plan)
        without = counted([row for row in rows if row["who"] != 5], limits, plan)
        moved = {key: count - without.get(key, 0) for key, count in with_all.items()}
        assert set(without) <= set(with_all)
        moves = [move for move in moved.values() if move]
        assert all(0 < move <= plan.rows for move in moves)
        assert len(moves) <= plan.keys
        assert sum(moves) <= plan.total


def test_within_the_limits_counts_are_exact():
    rows = rows_of(range(20), 3)
    limits = Limits(groups=20, rows_per_group=20)
    exact = Counter((row["a"], row["b"]) for row in rows if row["a"] is not None)
    assert counted(rows, limits, plan_of(limits, persons=False)) == exact
    persons = Counter({(row["a"], row["b"], row["who"]) for row in rows if row["a"] is not None})
    expected = Counter(key[:2] for key in persons)
    assert counted(rows, limits, plan_of(limits, persons=True)) == expected


def test_of_listed_keys_only_those_are_counted_and_null_may_be_one():
    rows, limits = rows_of(range(20), 4), Limits(groups=20, rows_per_group=20)
    listed = (GroupKey(column="a", values=Keys(["x", None])),)
    found = counted(rows, limits, plan_of(limits, persons=False, listed=listed))
    assert found == Counter((row["a"], row["b"]) for row in rows if row["a"] != "y")
    assert list(found) == sorted(found, key=lambda key: (key[0] is None, key))


def test_a_plan_that_counts_more_than_the_limits_is_refused():
    table = {
        "t": Table(pyarrow.table({"who": [1], "a": ["x"], "b": [1]}), person="who", limits=Limits(rows=3))
    }
    good = plan_of(Limits(rows=3), persons=False)
    check_combinations(good, table)
    for wrong in (Limits(rows=4), Limits(rows=2), Limits(groups=3, rows_per_group=2)):
        with pytest.raises(UnsupportedQuery):
            check_combinations(plan_of(wrong, persons=False), table)
    assert "count" in combination_counts_sql(good, table).lower()


def test_fractions_are_no_keys():
    table = {
        "t": Table(pyarrow.table({"who": [1], "a": [0.5], "b": [1]}), person="who", limits=Limits(rows=1))
    }
    with pytest.raises(UnsupportedQuery, match="cannot be grouped by"):
        check_combinations(plan_of(Limits(rows=1), persons=True), table)


def test_plans_are_read_as_they_were_written():
    plan = plan_of(LIMITS[1], persons=False, listed=(GroupKey(column="b", values=Keys([1, 2])),))
    assert from_json(to_json(plan)) == plan


def test_texts_that_no_key_can_be_are_left_out():
    data = {"who": np.arange(4), "a": ["x", "y\0", "x", "x"], "b": [1, 1, 1, 2]}
    limits = Limits(rows=1)
    table = Table(pyarrow.table(data), person="who", limits=limits)
    found = compute_combination_counts(plan_of(limits, persons=True), {"t": table}, salt=Salt(value="s"))
    assert found.chosen(found.counts) == [(("x", 1), 2), (("x", 2), 1)]
