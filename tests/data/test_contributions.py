from __future__ import annotations

import pyarrow

from discreet.data import (
    EACH_ROW,
    Bounds,
    CountNonNull,
    CountRows,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Sum,
    Table,
    compute,
)
from discreet.data.contributions import contributions
from discreet.data.engine import fetch

SALT = Salt(value="0")
SOURCE = Source(table="t")


def test_only_fixed_names_and_bounded_integers_reach_the_aggregation():
    frame = pyarrow.table({"person": [7, None], "key_0": ["a", "a"], "rows": [3.7, 1.0], "measure_0": [1, 1]})
    bounds = Bounds(0, 2, step=0.5)
    table = Table(
        frame, person="person", limits=Limits(rows=1), columns={"rows": bounds, "key_0": Keys(["a"])}
    )
    plan = Group(
        source=SOURCE,
        keys=(GroupKey(column="key_0", values=Keys(["a"])),),
        measures=(CountRows(), Sum(column="rows", bounds=bounds, center=1), CountNonNull(column="measure_0")),
    )
    found = fetch(contributions(plan, {"t": table}), table._backend)
    assert found.to_pylist() == [{"person": 7, "key_0": "a", "measure_1": 2, "measure_2": 1}]


def test_columns_named_like_the_internal_ones_do_not_leak_in():
    frame = pyarrow.table({"key_0": ["a", "b"], "measure_0": [10**6, 10**6], "person": [1, 2]})
    plan = Group(source=SOURCE, measures=(CountRows(),))
    for table in (Table(frame, person=EACH_ROW), Table(frame, person="person", limits=Limits(rows=1))):
        assert compute(plan, {"t": table}, salt=SALT)[CountRows()].tolist() == [2]
