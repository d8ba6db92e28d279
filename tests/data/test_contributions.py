from __future__ import annotations

import pyarrow

from data.test_behavior_values import numbered
from discreet.data import (
    EACH_ROW,
    Axis,
    Bounds,
    ContingencyTable,
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
from discreet.data.contributions import _cell, contributions
from discreet.data.engines.base import fetch

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
    found = fetch(contributions(plan, {"t": table}, SALT), table._backend)
    assert found.to_pylist() == [{"person": 7, "key_0": "a", "measure_1": 2, "measure_2": 1}]


def test_columns_named_like_the_internal_ones_do_not_leak_in():
    frame = pyarrow.table({"key_0": ["a", "b"], "measure_0": [10**6, 10**6], "person": [1, 2]})
    plan = Group(source=SOURCE, measures=(CountRows(),))
    for table in (Table(frame, person=EACH_ROW), Table(frame, person="person", limits=Limits(rows=1))):
        assert compute(plan, {"t": table}, salt=SALT)[CountRows()].tolist() == [2]


def test_tables_share_their_axes():
    """A row brings its cell on each axis once, however many tables ask for it; NULL if it has none."""
    frame = pyarrow.table({"x": [3.7, None], "k": ["b", "c"], "measure_axis_0": [1, 1]})
    bounds, keys = Bounds(0, 9, step=1, null=9), Keys(["a", "b"])
    table = Table(frame, person=EACH_ROW, columns={"x": bounds, "k": keys})
    wide, narrow = (Axis(column="x", values=bounds, width=width) for width in (4, 1))
    key = Axis(column="k", values=keys)
    tables = tuple(ContingencyTable(axes=axes) for axes in ((wide, key), (key, wide), (narrow,), (key,)))
    found = fetch(contributions(Group(source=SOURCE, measures=tables), {"t": table}, SALT), table._backend)
    assert found.to_pylist() == [
        {"measure_axis_0": 1, "measure_axis_1": 1, "measure_axis_2": 4},
        {"measure_axis_0": 2, "measure_axis_1": None, "measure_axis_2": 9},
    ]


def test_cells_are_exact_as_far_as_doubles_go(engine):
    """Quotients that are below an integer by 2^-53 of it are not rounded up to it."""
    lower, upper = -(2**52), 2**52
    widths = [3, 7, 10**9 + 7, 2**26 + 1, 2**30 - 1, 2**52 - 1, 2**52 + 1, 2**53, 2**53 + 1, 2**53 + 2, 2**80]
    values = {lower - 1, 2**63 - 1, -(2**63)}
    for width in widths:
        last = (upper - lower) // width
        values |= {
            lower + edge * width + shift for edge in (0, 1, last // 2, last - 1, last) for shift in (-1, 0, 1)
        }
    held = sorted(value for value in values if -(2**63) <= value < 2**63)
    table = engine.table(numbered(pyarrow.table({"x": pyarrow.array(held, pyarrow.int64())})))
    for width in widths:
        axis = Axis(column="x", values=Bounds(lower, upper), width=width)
        found = engine.values(table, cell=lambda rows, axis=axis: _cell(rows["x"], axis))["cell"]
        assert found == [(min(max(value, lower), upper) - lower) // width for value in held]
        assert max(found) == axis.cells - 1
