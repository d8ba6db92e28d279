"""Rows for a fit: values on their grids, at most so many of a person, whoever else is there."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import numpy as np
import pyarrow
import pytest

from discreet.data import EACH_ROW, Bounds, Keys, Limits, Table
from discreet.data.language.expressions import Column, Compare, literal
from discreet.data.language.measures import Axis
from discreet.data.language.plan import RowPlan
from discreet.data.language.relations import Filter, JoinPersons, Source
from discreet.data.language.serialization import from_json, to_json
from discreet.data.row_values import NOT_LISTED, check_row_plan, compute_rows, rows_of_a_person
from discreet.data.salt import Salt
from discreet.errors import UndeclaredColumn, UnsupportedQuery

SCHEMA = pyarrow.schema(
    [("who", pyarrow.string()), ("x", pyarrow.float64()), ("k", pyarrow.string()), ("y", pyarrow.int64())]
)
BOUNDS, KEYS, LABELS = Bounds(0, 10, step=0.5), Keys(["a", "b", None]), Keys([0, 1])
AXES = tuple(Axis(column=name, values=values) for name, values in (("x", BOUNDS), ("k", KEYS), ("y", LABELS)))
ODD = [
    {"who": "p", "x": float("nan"), "k": "a", "y": 0},
    {"who": "p", "x": float("inf"), "k": "z", "y": 1},
    {"who": "p", "x": -1e300, "k": None, "y": 1},
    {"who": "q", "x": None, "k": "b", "y": 0},
    {"who": "q", "x": 3.3, "k": "b", "y": 7},
    {"who": "q", "x": 3.3, "k": "b", "y": None},
    {"who": None, "x": 1.0, "k": "a", "y": 1},
]


def table_of(rows, *, engine=None, person="who", limits=3, **options):
    arrow = pyarrow.Table.from_pylist(rows, schema=SCHEMA)
    declared = {"columns": {"x": BOUNDS, "k": KEYS, "y": LABELS}, "limits": Limits(rows=limits), **options}
    if person is EACH_ROW:
        del declared["limits"]
    return Table(arrow if engine is None else engine.source(arrow), person=person, **declared)


def plan_of(rows=3, source=None, **options):
    stated = {"columns": AXES, "target": "y", "reader": "test", **options}
    return RowPlan(source=source or Source(table="t"), rows=rows, **stated)


def found(table, plan=None, salt="salt"):
    """The rows, as a multiset, with what is not a number as None."""
    columns = compute_rows(plan or plan_of(table.limits.rows), {"t": table}, salt=Salt(value=salt))
    plain = [[None if one != one else one for one in column.tolist()] for column in columns]  # noqa: PLR0124
    return Counter(zip(*plain, strict=True))


def test_values_are_on_their_grids_and_rows_without_a_target_are_left_out(engine):
    assert found(table_of(ODD, engine=engine)) == Counter(
        {(None, "a", 0): 1, (10.0, NOT_LISTED, 1): 1, (0.0, None, 1): 1, (None, "b", 0): 1}
    )


def test_all_engines_choose_the_same_rows_of_a_person(engine):
    rows = [{"who": f"p{n % 4}", "x": n / 3, "k": "ab"[n % 2], "y": n % 2} for n in range(60)]
    assert found(table_of(rows, engine=engine, limits=2)) == found(table_of(rows, limits=2))


@pytest.mark.parametrize("limits", [1, 3])
@pytest.mark.parametrize("bound_ahead", [False, True])
def test_one_person_moves_as_many_rows_as_the_limit_and_no_others(limits, bound_ahead):
    """The person owns nearly every row, in equal and in different ones; those of the others stay."""
    others = [{"who": f"p{n % 9}", "x": n % 7, "k": "ab"[n % 2], "y": n % 2} for n in range(90)]
    owner = [{"who": "owner", "x": n % 50 / 5, "k": "ab"[n % 2], "y": n % 2} for n in range(500)]
    plan = plan_of(limits)
    with mock.patch("discreet.data.prepared.sample.fresh_salt", return_value=Salt(value="salt")):
        with_owner, without = (
            found(table_of(rows, limits=limits, **({"prepare": True} if bound_ahead else {})), plan)
            for rows in (others + owner, others)
        )
    assert without.total() == 9 * limits
    assert not without - with_owner
    assert (with_owner - without).total() == limits


def test_without_lots_one_person_would_move_all_their_rows():
    """The control: the same rows where nothing is drawn."""
    rows = [{"who": "owner", "x": n % 50 / 5, "k": "a", "y": 0} for n in range(500)]
    with mock.patch("discreet.data.lots.sample_rows", lambda rows, limit, salt: rows):
        assert found(table_of(rows)).total() == 500
    assert found(table_of(rows)).total() == 3


def test_filters_come_before_lots_and_joins_are_bounded():
    rows = [{"who": "p", "x": n % 10, "k": "a", "y": n % 2} for n in range(40)]
    above = Compare(operator=">", left=Column(name="x"), right=literal(8))
    table = table_of(rows, limits=3)
    kept = found(table, plan_of(3, Filter(source=Source(table="t"), condition=above)))
    assert kept == Counter({(9.0, "a", 1): 3})
    joined = JoinPersons(left=Source(table="t"), right=Source(table="t"), on=(), columns=())
    assert found(table, plan_of(3, joined)).total() == 3


def test_limits_by_groups_are_those_of_one_group():
    arrow = pyarrow.Table.from_pylist([{**ODD[0], "x": n} for n in range(9)], schema=SCHEMA)
    limits = Limits(groups=5, rows_per_group=2)
    table = Table(arrow, person="who", limits=limits, columns={"x": BOUNDS, "k": KEYS, "y": LABELS})
    assert rows_of_a_person(Source(table="t"), {"t": table}) == 2
    assert found(table, plan_of(2)).total() == 2


def test_each_row_may_be_a_person():
    table = table_of(ODD, person=EACH_ROW)
    assert rows_of_a_person(Source(table="t"), {"t": table}) == 1
    assert found(table, plan_of(1)).total() == 5


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"columns": (Axis(column="x", values=Bounds(0, 11, step=0.5)),), "target": None}, UndeclaredColumn),
        ({"columns": (Axis(column="k", values=Keys(["z"])),), "target": None}, UndeclaredColumn),
        ({"columns": (Axis(column="nothing", values=BOUNDS),), "target": None}, UndeclaredColumn),
        ({"rows": 4}, UnsupportedQuery),
    ],
)
def test_what_was_not_declared_is_refused(options, refusal):
    with pytest.raises(refusal):
        check_row_plan(plan_of(**{"rows": 3, **options}), {"t": table_of(ODD)})


def test_a_plan_reads_a_column_once_and_is_written_in_one_way():
    with pytest.raises(UnsupportedQuery, match="twice"):
        plan_of(columns=(AXES[0], AXES[0]), target=None)
    with pytest.raises(UnsupportedQuery, match="wrong type"):
        plan_of(target="nothing")
    plan = plan_of()
    assert from_json(to_json(plan)) == plan
    assert len({to_json(one) for one in (plan, plan_of(4), plan_of(target=None), plan_of(reader="x"))}) == 4


def test_no_rows_are_columns_of_no_rows():
    columns = compute_rows(plan_of(), {"t": table_of([])}, salt=Salt(value="salt"))
    assert [(len(one), one.dtype) for one in columns] == [(0, np.float64), (0, object), (0, object)]


def test_all_rows_of_a_person_have_one_shard(engine):
    rows = [{"who": f"p{n % 30}", "x": n % 30 / 3, "k": "ab"[n % 2], "y": n % 2} for n in range(90)]
    table, plan = table_of(rows, engine=engine), plan_of(shards=7)
    *_, shards = compute_rows(plan, {"t": table}, salt=Salt(value="salt"))
    values, *_ = compute_rows(plan, {"t": table}, salt=Salt(value="salt"))
    pairs = set(zip(values.tolist(), shards.tolist(), strict=True))
    assert len(values) == 90
    assert set(shards.tolist()) <= set(range(7))
    assert len(set(shards.tolist())) >= 2
    assert len(pairs) <= 30  # x tells 21 values of 30 persons apart, who are in one shard each
    *_, alone = compute_rows(plan, {"t": table_of(rows[:1], engine=engine)}, salt=Salt(value="salt"))
    assert (values[0], int(alone[0])) in pairs
    *_, others = compute_rows(plan, {"t": table}, salt=Salt(value="another"))
    assert others.tolist() != shards.tolist()


def sharded(rows, shards, engine=None):
    """Each row with its shard, as a multiset, where each row is a person."""
    return found(table_of(rows, engine=engine, person=EACH_ROW), plan_of(1, shards=shards))


def test_where_each_row_is_a_person_equal_rows_are_spread_over_shards(engine):
    rows = [{"who": None, "x": None, "k": "a", "y": n % 2} for n in range(200)]
    spread = sharded(rows, 8, engine)
    assert spread.total() == 200
    assert {shard for *_, shard in spread} == set(range(8))
    assert max(spread.values()) < 40  # 12.5 on average: 0 would be every second row if content decided alone


def test_where_each_row_is_a_person_one_more_leaves_the_shards_of_others():
    for extra in (*ODD[:4], {**ODD[6], "x": 7.0}):
        before, after = sharded(ODD * 3, 5), sharded([extra, *ODD * 3], 5)
        assert before <= after
        assert (after - before).total() == 1


def test_a_plan_without_shards_is_written_as_before():
    assert b"shards" not in to_json(plan_of())
    assert from_json(to_json(plan_of(shards=7))) == plan_of(shards=7)
    for bad in (1, 2.5, "7", True):
        with pytest.raises(UnsupportedQuery, match="wrong type"):
            plan_of(shards=bad)
