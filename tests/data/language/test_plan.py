from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given

from data import strategies
from discreet.data import (
    Axis,
    Bounds,
    ContingencyTable,
    CountNonNull,
    CountRows,
    Factor,
    Filter,
    Group,
    GroupKey,
    Histogram,
    Keys,
    Moment,
    Source,
    Sum,
    col,
    describe,
    when,
)
from discreet.data.language.description import describe_measure
from discreet.data.language.relations import Named, Project, walk_relation
from discreet.errors import ParameterError, UnsupportedQuery

SOURCE = Source(table="visits")


def test_a_sum_knows_the_most_that_one_row_adds():
    bounds = Bounds(-3, 50, step=0.5)
    assert Sum(column="x", bounds=bounds).largest == 100
    assert Sum(column="x", bounds=bounds, center=10).largest == 80
    assert Sum(column="x", bounds=bounds, center=-3).largest == 106
    assert Sum(column="x", bounds=Bounds(10, 20)).largest == 20
    assert Sum(column="x", bounds=bounds, center=0.5) == Sum(column="x", bounds=bounds, center="1/2")


@pytest.mark.parametrize("center", [0.3, 51, float("nan")])
def test_a_center_is_a_point_of_the_grid(center):
    with pytest.raises(ParameterError):
        Sum(column="x", bounds=Bounds(-3, 50, step=0.5), center=center)


@pytest.mark.parametrize(
    ("values", "width", "cells"),
    [
        (Keys(["a", "b", None]), 1, 3),
        (Bounds(0, 110), 1, 111),
        (Bounds(0, 110), 10, 12),
        (Bounds(0, 110), 111, 1),
        (Bounds(0, 110), 110, 2),
        (Bounds(0, 110), 2**70, 1),
        (Bounds(-3, 50, step=0.5), 107, 1),
        (Bounds(-3, 50, step=0.5), 53, 3),
        (Bounds(7, 8), 1, 2),
    ],
)
def test_an_axis_knows_its_cells(values, width, cells):
    axis = Axis(column="x", values=values, width=width)
    assert axis.cells == cells
    table = ContingencyTable(axes=(axis, Axis(column="y", values=Keys([1, 2]))))
    assert table.width == 2 * cells
    assert Group(source=SOURCE, keys=(KEY,), measures=(table,)).size(table) == 4 * cells


def test_a_plan_knows_its_axes():
    wide, narrow = (Axis(column="x", values=Bounds(0, 9), width=width) for width in (5, 1))
    other = Axis(column="y", values=Keys([1, 2]))
    tables = [ContingencyTable(axes=axes) for axes in ((wide, other), (other, wide), (narrow,))]
    assert Group(source=SOURCE, measures=(CountRows(), *tables)).axes == (wide, other, narrow)
    assert Group(source=SOURCE, measures=(CountRows(),)).axes == ()


AXIS = Axis(column="x", values=Bounds(0, 9999))


@pytest.mark.parametrize(
    "build",
    [
        lambda: Axis(column=3, values=Bounds(0, 9)),
        lambda: Axis(column="x", values=["a"]),
        lambda: Axis(column="x", values=Bounds(0, 9), width=0),
        lambda: Axis(column="x", values=Bounds(0, 9), width=True),
        lambda: Axis(column="x", values=Bounds(0, 9), width=2.0),
        lambda: Axis(column="x", values=Keys([1, 2]), width=2),
        lambda: ContingencyTable(axes=()),
        lambda: ContingencyTable(axes=[AXIS]),
        lambda: ContingencyTable(axes=(GroupKey(column="x", values=Keys([1])),)),
        lambda: ContingencyTable(axes=(AXIS, Axis(column="x", values=Bounds(0, 9)))),
        lambda: Group(
            source=SOURCE,
            measures=(ContingencyTable(axes=(AXIS, Axis(column="y", values=Bounds(0, 1000)))),),
        ),
    ],
)
def test_impossible_tables_are_refused(build):
    with pytest.raises(UnsupportedQuery):
        build()


KEY = GroupKey(column="city", values=Keys(["a", "b"]))


@pytest.mark.parametrize(
    "build",
    [
        lambda: Group(source=SOURCE, measures=()),
        lambda: Group(source=SOURCE, measures=(CountRows(), CountRows())),
        lambda: Group(source=SOURCE, keys=(KEY, KEY), measures=(CountRows(),)),
        lambda: Group(source=SOURCE, measures=tuple(CountNonNull(column=f"c{n}") for n in range(1001))),
        lambda: Group(
            source=SOURCE,
            keys=tuple(GroupKey(column=f"k{n}", values=Keys(range(100))) for n in range(4)),
            measures=(CountRows(),),
        ),
    ],
)
def test_impossible_plans_are_refused(build):
    with pytest.raises(UnsupportedQuery):
        build()


def test_stacked_filters_are_refused_before_they_are_too_many():
    conditions = [(col("age") == number).expression for number in range(1000)]
    with pytest.raises(UnsupportedQuery, match="AND"):
        reduce(lambda node, condition: Filter(source=node, condition=condition), conditions, SOURCE)


def test_the_number_of_groups():
    assert Group(source=SOURCE, measures=(CountRows(),)).cells == 1
    assert Group(source=SOURCE, measures=(CountRows(),)).shape == ()
    other = GroupKey(column="flag", values=Keys([True, False, None]))
    assert Group(source=SOURCE, keys=(KEY, other), measures=(CountRows(),)).shape == (2, 3)


def test_a_plan_is_described_without_its_literals():
    condition = (
        (col("age") < 8675309) & ~col("name").isin(["canary", "y"]) | (col("a") * 2 > 1) | col("f").is_null()
    )
    plan = Group(
        source=Filter(source=SOURCE, condition=condition.expression),
        keys=(KEY,),
        measures=(
            CountRows(),
            CountNonNull(column="cost"),
            Sum(column="cost", bounds=Bounds(0, 5, step=0.5), center=2),
            ContingencyTable(
                axes=(Axis(column="age", values=Bounds(0, 110)), Axis(column="city", values=KEY.values))
            ),
        ),
    )
    assert describe(plan).splitlines() == [
        "group by city (2 keys)",
        "  count of rows",
        "  count of cost",
        "  sum of cost - 2 in [0, 5], step 0.5",
        "  table of age (111 cells) by city (2 keys)",
        "  filter ((age < ?) and (not (name in (?, ?)))) or ((a * ?) > ?) or (f is null)",
        "    source visits",
    ]
    assert describe(Group(source=SOURCE, measures=(CountRows(),))).startswith("all rows together")


@given(strategies.plans())
def test_every_plan_can_be_walked_and_described(case):
    plan, _ = case
    assert list(walk_relation(plan.source))[-1] == Source(table="t")
    relations, narrowed = len(list(walk_relation(plan.source))), int(bool(plan.present))
    assert len(describe(plan).splitlines()) == 1 + relations + len(plan.measures) + narrowed
    assert all(describe_measure(measure) in describe(plan) for measure in plan.measures)


def test_bounds_that_follow_from_literals_are_not_described():
    bounds = Bounds(0, 8675309)
    columns = (Named(name="x", expression=when(col("age") < 8675309).then(8675309).otherwise(0).expression),)
    measures = (
        CountRows(),
        Sum(column="x", bounds=bounds, center=4000000),
        Histogram(column="x", values=Bounds(0, 675309)),
        Moment(factors=(Factor(column="x", bounds=Bounds(0, 675309), center=0, power=1),), shift=0),
        ContingencyTable(axes=(Axis(column="x", values=Bounds(1, 675309)),)),
    )
    for one in measures:
        text = describe(Group(source=Project(source=SOURCE, columns=columns), measures=(one,)))
        assert "675309" not in text
        assert any(
            words in text for words in ("in its bounds", "over its bounds", "of its bounds", "of rows")
        )
        assert "675309" in describe_measure(one) or one == CountRows()
