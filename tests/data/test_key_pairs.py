"""Pairs of persons and keys: each once, at most so many of a person, independent of others."""

from __future__ import annotations

import random

import numpy as np
import pyarrow
import pytest

from discreet.data import EACH_ROW, Limits, Table
from discreet.data.key_pairs import compute_key_pairs
from discreet.data.language.plan import KeyPlan
from discreet.data.language.relations import Source
from discreet.data.salt import Salt


def rows_of(persons):
    chance = random.Random(7)
    return [
        {"who": f"p{who}", "k": chance.choice(["a", "b", "c", None])} for who in persons for _ in range(5)
    ]


def pairs_of(rows, keys):
    table = Table(pyarrow.Table.from_pylist(rows), person="who", limits=Limits(rows=keys))
    plan = KeyPlan(source=Source(table="t"), column="k", keys=keys)
    found = compute_key_pairs(plan, {"t": table}, salt=Salt(value="salt"))
    assert repr(found) == "KeyPairs()"
    return found


@pytest.mark.parametrize("keys", [1, 2, 5])
def test_every_person_has_each_key_once_and_at_most_so_many(keys):
    rows = rows_of(range(40))
    found = pairs_of(rows, keys)
    listed = list(zip(found.persons.tolist(), found.keys.tolist(), strict=True))
    assert len(set(listed)) == len(listed)
    held = {}
    for row in rows:
        held.setdefault(row["who"], set()).add(row["k"])
    expected = sorted(min(len(one - {None}), keys) for one in held.values())
    counts = np.bincount(found.persons)
    assert sorted(counts.tolist()) == [one for one in expected if one]


def test_pairs_of_others_stay_as_they_are():
    rows = rows_of(range(30))
    for keys in (1, 2):
        named = []
        for kept in (rows, [row for row in rows if row["who"] != "p3"]):
            found = pairs_of(kept, keys)
            values = found._values.to_pylist()
            by_person = {}
            for who, key in zip(found.persons.tolist(), found.keys.tolist(), strict=True):
                by_person.setdefault(who, set()).add(values[key])
            named.append(sorted(map(sorted, by_person.values())))
        more, fewer = named
        for one in fewer:
            more.remove(one)
        assert len(more) == 1


def test_shown_keys_are_named_and_sorted():
    found = pairs_of(rows_of(range(40)), 5)
    assert found.chosen(np.ones(3, np.bool_)) == ("a", "b", "c")
    assert found.chosen(np.zeros(3, np.bool_)) == ()


def test_each_row_may_be_a_person():
    table = {"t": Table(pyarrow.table({"k": ["x", "x", "y"]}), person=EACH_ROW)}
    found = compute_key_pairs(
        KeyPlan(source=Source(table="t"), column="k", keys=1), table, salt=Salt(value="s")
    )
    assert found.persons.tolist() == [0, 1, 2]
