"""Limits and bounds that a question brings along: what one person adds is what they say, on every kind of table."""

# ruff: noqa: E501

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow
import pytest

from discreet.data import (
    EACH_ROW,
    Bounds,
    CountRows,
    Filter,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Sum,
    Table,
    col,
    compute,
    describe,
    from_json,
    outline,
    sensitivity,
    to_json,
)
from discreet.data.language.first_table import with_bounds, with_limits
from discreet.data.language.relations import JoinPersons, Union, leftmost
from discreet.errors import UndeclaredColumn, UnsupportedQuery

VISITS = Source(table="visits")
SALT = Salt(value="5a17")
CITY = GroupKey(column="city", values=Keys(["a", "b"]))


def table(*, rows=6, prepare=False, limits=None, persons=5, each=9):
    content = {
        "who": [person for person in range(persons) for _ in range(each)],
        "city": ["ab"[place % 2] for place in range(persons * each)],
        "cost": [float(place % 7) for place in range(persons * each)],
        "age": [place % 90 for place in range(persons * each)],
    }
    return Table(
        pyarrow.table(content),
        person="who",
        limits=limits or Limits(rows=rows),
        columns={"city": Keys(["a", "b"]), "age": Bounds(0, 110)},
        prepare=prepare,
    )


@pytest.mark.parametrize("prepare", [False, True])
@pytest.mark.parametrize("condition", [None, (col("age") >= 0).expression])
@pytest.mark.parametrize("limit", [1, 2, 5, 6])
def test_a_question_may_keep_fewer_rows_than_were_declared(prepare, condition, limit):
    """Also of a table that was bounded in advance by more: its sample is bounded again."""
    tables = {"visits": table(prepare=prepare)}
    relation = VISITS if condition is None else Filter(source=VISITS, condition=condition)
    plan = Group(source=with_limits(relation, Limits(rows=limit)), measures=(CountRows(),))
    assert sensitivity(plan, tables).statistics[0].sensitivity.l1 == limit
    assert compute(plan, tables, salt=SALT)[CountRows()].tolist() == [5 * limit]
    grouped = Group(source=plan.source, keys=(CITY,), measures=(CountRows(),))
    assert compute(grouped, tables, salt=SALT)[CountRows()].sum() == 5 * limit


def test_fewer_groups_than_were_declared():
    for prepare in (False, True):
        tables = {"visits": table(limits=Limits(groups=2, rows_per_group=3), prepare=prepare)}
        narrow = with_limits(VISITS, Limits(groups=1, rows_per_group=2))
        plan = Group(source=narrow, keys=(CITY,), measures=(CountRows(),))
        assert compute(plan, tables, salt=SALT)[CountRows()].sum() == 5 * 2
        assert sensitivity(plan, tables).statistics[0].sensitivity.l1 == 2


@pytest.mark.parametrize("stated", [Limits(rows=7), Limits(groups=1, rows_per_group=1)])
def test_wider_limits_and_those_of_another_kind_are_refused(stated):
    plan = Group(source=with_limits(VISITS, stated), measures=(CountRows(),))
    with pytest.raises(UnsupportedQuery, match="no wider"):
        sensitivity(plan, {"visits": table()})


def test_a_limit_that_is_still_to_be_bought_is_none_of_a_plan():
    from discreet.data import AUTO

    with pytest.raises(UnsupportedQuery):
        Source(table="visits", limits=Limits(rows=AUTO, at_most=5))


def test_limits_and_bounds_are_those_of_the_first_table():
    other = Source(table="others")
    joined = JoinPersons(left=VISITS, right=other, on=())
    assert leftmost(with_limits(joined, Limits(rows=2))).limits == Limits(rows=2)
    assert with_limits(joined, Limits(rows=2)).right == other
    united = with_bounds(Union(sources=(VISITS, other)), "cost", Bounds(0, 5))
    assert united.sources == (Source(table="visits", bounds=(("cost", Bounds(0, 5)),)), other)


def test_bounds_of_a_question_are_those_of_its_sums():
    tables = {"visits": table()}
    bounds = Bounds(0, 3, step=Fraction(1, 2))
    total = Sum(column="cost", bounds=bounds)
    plan = Group(source=with_bounds(VISITS, "cost", bounds), measures=(total,))
    exact = compute(
        Group(source=with_limits(plan.source, Limits(rows=6)), measures=(total,)), tables, salt=SALT
    )
    assert 0 < exact[total][0] <= 5 * 6 * 6
    assert sensitivity(plan, tables).statistics[0].sensitivity.l1 == 6 * 6
    with pytest.raises(UndeclaredColumn):
        sensitivity(Group(source=VISITS, measures=(total,)), tables)


@pytest.mark.parametrize("column", ["city", "who"])
def test_only_numbers_have_bounds(column):
    plan = Group(source=with_bounds(VISITS, column, Bounds(0, 3)), measures=(CountRows(),))
    with pytest.raises(UnsupportedQuery, match="cannot have them"):
        sensitivity(plan, {"visits": table()})


def test_declared_bounds_may_be_narrowed_and_not_widened():
    tables = {"visits": table()}
    sensitivity(Group(source=with_bounds(VISITS, "age", Bounds(10, 20)), measures=(CountRows(),)), tables)
    with pytest.raises(UnsupportedQuery, match="only narrow"):
        sensitivity(Group(source=with_bounds(VISITS, "age", Bounds(0, 111)), measures=(CountRows(),)), tables)


def test_plans_without_them_keep_their_bytes_and_others_come_back():
    plain = Group(source=VISITS, measures=(CountRows(),))
    assert b'{"node":"source","table":"visits"}' in to_json(plain)
    bounds = Bounds(0, 3, step=Fraction(1, 2))
    for limits in (Limits(rows=2), Limits(groups=1, rows_per_group=2)):
        source = with_bounds(with_limits(VISITS, limits), "cost", bounds)
        plan = Group(source=source, measures=(Sum(column="cost", bounds=bounds),))
        assert from_json(to_json(plan)) == plan
        assert to_json(plan) != to_json(plain)
    with pytest.raises(UnsupportedQuery):
        Source(table="visits", bounds=(("cost", bounds), ("age", bounds)))


def test_a_ledger_gets_the_limit_and_not_the_ends_of_stated_bounds():
    bounds = Bounds(0, 317, step=Fraction(1, 2))
    source = with_bounds(with_limits(VISITS, Limits(rows=2)), "cost", bounds)
    plan = Group(source=source, measures=(Sum(column="cost", bounds=bounds),))
    assert "317" not in str(outline(plan))
    assert "317" not in describe(plan)
    assert "at most 2 rows of a person" in describe(plan)


def test_where_each_row_is_a_person_there_is_nothing_to_limit():
    rows = Table(pyarrow.table({"x": [1, 2, 3]}), person=EACH_ROW)
    plan = Group(source=with_limits(Source(table="t"), Limits(rows=1)), measures=(CountRows(),))
    assert np.array_equal(compute(plan, {"t": rows}, salt=SALT)[CountRows()], [3])
