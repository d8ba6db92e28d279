"""Exact statistics agree with a slow oracle, and no person moves them by more than was declared."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import oracle, strategies
from data.strategies import PERSON, declared
from discreet.data import (
    Bounds,
    CountNonNull,
    CountRows,
    Filter,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Statistics,
    Sum,
    col,
    compute,
    engine_sql,
    fresh_salt,
    sensitivity,
    statistics,
)
from discreet.errors import EngineFailed, ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.noise import replay
from discreet.privacy import ADD_REMOVE_PERSON, Sensitivity
from effort import examples

SALT = Salt(value="5a17")
SOURCE = Source(table="t")


def exact(plan, rows, columns, limits, salt=SALT):
    return compute(plan, {"t": declared(rows, columns, limits)}, salt=salt)


@settings(max_examples=examples(40))
@given(
    strategies.plans(),
    strategies.rows_of(strategies.persons, min_size=5, max_size=16),
    strategies.limits,
    strategies.salts,
)
def test_statistics_are_those_of_the_oracle(case, rows, limits, salt):
    plan, columns = case
    found = exact(plan, rows, columns, limits, salt)
    assert [array.tolist() for array in found.values] == oracle.compute(plan, rows, PERSON, limits, salt)


@settings(max_examples=examples(30))
@given(strategies.plans(), strategies.rows_of(strategies.persons, max_size=10))
def test_each_row_may_be_a_person(case, rows):
    plan, columns = case
    found = exact(plan, rows, columns, None)
    assert [array.tolist() for array in found.values] == oracle.compute(plan, rows, None, None, SALT)


@settings(max_examples=examples(30))
@given(
    strategies.plans(), strategies.rows_of(strategies.persons, max_size=10), strategies.limits, st.randoms()
)
def test_the_order_of_rows_never_matters(case, rows, limits, random):
    plan, columns = case
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = (exact(plan, order, columns, limits) for order in (rows, shuffled))
    assert all(np.array_equal(a, b) for a, b in zip(one.values, other.values, strict=True))


def changes(one, other):
    return [
        [abs(int(a) - int(b)) for a, b in zip(x, y, strict=True)]
        for x, y in zip(one.values, other.values, strict=True)
    ]


def within(change, bound):
    """Whether a change keeps to a sensitivity in all four norms."""
    return (
        sum(entry > 0 for entry in change) <= bound.l0
        and sum(change) <= bound.l1
        and sum(entry**2 for entry in change) <= bound.squared_l2
        and max(change) <= bound.linf
    )


@settings(max_examples=examples(40))
@given(
    strategies.plans(),
    strategies.rows_of(strategies.persons, max_size=8),
    strategies.rows_of(st.just(99), min_size=1, max_size=10),
    strategies.limits,
    strategies.salts,
)
def test_one_person_moves_statistics_within_the_sensitivity(case, rows, theirs, limits, salt):
    plan, columns = case
    without, with_them = (exact(plan, both, columns, limits, salt) for both in (rows, rows + theirs))
    assert without.statistics == with_them.statistics
    assert repr(without) == repr(with_them)
    moved = changes(without, with_them)
    for change, statistic in zip(moved, without.statistics.statistics, strict=True):
        assert within(change, statistic.sensitivity)
    assert within([*chain(*moved)], without.statistics.joint())


COSTS = Bounds(-3, 50, step=0.5)
CITIES = Keys(["Taipei", "O'Hare", 'quo"te'])
PLAN = Group(
    source=SOURCE,
    keys=(GroupKey(column=strategies.CITY, values=CITIES),),
    measures=(
        CountRows(),
        CountNonNull(column=strategies.COST, bounds=COSTS),
        Sum(column=strategies.COST, bounds=COSTS, center=10),
    ),
)
COLUMNS = {strategies.COST: COSTS, strategies.CITY: CITIES}


def row(person, **values):
    empty = dict.fromkeys(strategies.SCHEMA.names)
    named = {"city": strategies.CITY, "cost": strategies.COST}
    return empty | {PERSON: person} | {named.get(name, name): value for name, value in values.items()}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("limits", "cities", "norms"),
    [
        # 7 rows in one group reach L1, L2 and the largest change; in several groups they reach L0.
        (Limits(rows=7), ["Taipei"], ("l1", "squared_l2", "linf")),
        (Limits(rows=7), ["Taipei", "O'Hare", 'quo"te'], ("l0", "l1")),
        (
            Limits(groups=2, rows_per_group=3),
            ["Taipei", "O'Hare", 'quo"te'],
            ("l0", "l1", "squared_l2", "linf"),
        ),
        (
            Limits(groups=5, rows_per_group=3),
            ["Taipei", "O'Hare", 'quo"te'],
            ("l0", "l1", "squared_l2", "linf"),
        ),
    ],
)
def test_the_sensitivity_is_attained(limits, cities, norms):
    theirs = [row(1, city=city, cost=1e9) for city in cities for _ in range(20)]
    before, after = (exact(PLAN, rows, COLUMNS, limits) for rows in ([], theirs))
    change = [*chain(*changes(before, after))]
    bound = after.statistics.joint()
    reached = {
        "l0": sum(entry > 0 for entry in change),
        "l1": sum(change),
        "squared_l2": sum(entry**2 for entry in change),
        "linf": max(change),
    }
    assert within(change, bound)
    assert {norm: reached[norm] for norm in norms} == {norm: getattr(bound, norm) for norm in norms}


def test_sensitivity_needs_no_data(monkeypatch):
    table = declared([row(1, city="Taipei", cost=5.0)], COLUMNS, Limits(rows=2))
    monkeypatch.setattr("discreet.data.engines.base.fetch", lambda *_: pytest.fail("data was read"))
    monkeypatch.setattr(type(table._backend), "raw_sql", lambda *_: pytest.fail("data was read"))
    found = sensitivity(PLAN, {"t": table})
    assert found.of(CountRows()).sensitivity == Sensitivity(l0=2, l1=2, squared_l2=4, linf=2)
    largest = 2 * (50 - 10)
    assert found.of(PLAN.measures[2]).sensitivity == Sensitivity(
        l0=2, l1=2 * largest, squared_l2=4 * largest**2, linf=2 * largest, neighbors=ADD_REMOVE_PERSON
    )
    assert found.joint([CountRows(), PLAN.measures[1]]) == Sensitivity(l0=4, l1=4, squared_l2=8, linf=2)
    assert found.of(PLAN.measures[2]).step == Fraction(1, 2)
    assert found.of(PLAN.measures[2]).center == 10


def test_every_declared_group_is_there_in_order():
    keys = (
        GroupKey(column=strategies.CITY, values=Keys(["b", None, "a"])),
        GroupKey(column="flag", values=Keys([True, False])),
    )
    plan = Group(source=SOURCE, keys=keys, measures=(CountRows(),))
    columns = {key.column: key.values for key in keys}
    rows = [row(1, city="a", flag=False), row(1, city=None, flag=True), row(1, city="zzz", flag=True)]
    found = exact(plan, rows, columns, Limits(rows=9))
    assert list(found.statistics.groups()) == [
        ("b", True), ("b", False), (None, True), (None, False), ("a", True), ("a", False)
    ]  # fmt: skip
    assert found[CountRows()].tolist() == [0, 0, 1, 0, 0, 1]
    assert found.statistics.shape == (3, 2)
    assert exact(plan, [], columns, Limits(rows=9))[CountRows()].tolist() == [0] * 6


def test_null_is_no_group_unless_declared():
    keys = (GroupKey(column=strategies.CITY, values=Keys(["a"])),)
    plan = Group(source=SOURCE, keys=keys, measures=(CountRows(),))
    rows = [row(1, city=None), row(2, city="a")]
    assert exact(plan, rows, {strategies.CITY: Keys(["a"])}, Limits(rows=1))[CountRows()].tolist() == [1]


def test_rows_outside_the_declared_keys_do_not_use_up_the_limit():
    rows = [row(1, city="elsewhere", cost=1.0)] * 50 + [row(1, city="Taipei", cost=50.0)] * 2
    found = exact(PLAN, rows, COLUMNS, Limits(rows=2))
    assert found[CountRows()].tolist() == [2, 0, 0]


def test_rows_that_a_filter_drops_do_not_use_up_the_limit():
    plan = Group(
        source=Filter(source=SOURCE, condition=(col("age") >= 18).expression), measures=(CountRows(),)
    )
    rows = [row(1, age=3)] * 50 + [row(1, age=20)] * 2
    assert exact(plan, rows, {}, Limits(rows=2))[CountRows()].tolist() == [2]


def test_nobody_owns_rows_without_a_person():
    plan = Group(source=SOURCE, measures=(CountRows(),))
    assert exact(plan, [row(None)] * 5 + [row(1)], {}, Limits(rows=3))[CountRows()].tolist() == [1]


def test_one_person_may_own_every_row():
    rows = [row(1, city="Taipei", cost=50.0)] * 1000
    found = exact(PLAN, rows, COLUMNS, Limits(groups=1, rows_per_group=4))
    assert [values.tolist() for values in found.values] == [[4, 0, 0], [4, 0, 0], [4 * 80, 0, 0]]


def test_totals_beyond_64_bits_are_clamped_and_nothing_fails():
    huge = Bounds(-(2**52), 2**52)
    plan = Group(source=SOURCE, measures=(Sum(column="age", bounds=huge),))
    rows = [row(person, age=2**63 - 1) for person in range(1500)]
    found = exact(plan, rows, {"age": huge}, Limits(rows=1))
    assert found.values[0].tolist() == [2**62]


@settings(max_examples=examples(10))
@given(strategies.salts)
def test_all_measures_see_one_sample(salt):
    """A sum of ones over the sample is its count, whatever the sample is."""
    ages = Bounds(0, 110)
    plan = Group(
        source=SOURCE,
        measures=(Sum(column="age", bounds=ages), CountNonNull(column="age", bounds=ages), CountRows()),
    )
    rows = [row(person, age=1 if number % 2 else None) for person in range(5) for number in range(9)]
    total, present, count = exact(plan, rows, {"age": ages}, Limits(rows=3), salt).values
    assert total == present
    assert count == 15


def test_a_plan_may_narrow_bounds_and_keys():
    plan = Group(
        source=SOURCE,
        keys=(GroupKey(column=strategies.CITY, values=Keys(["O'Hare"])),),
        measures=(Sum(column=strategies.COST, bounds=Bounds(0, 5, step=0.5)),),
    )
    rows = [row(1, city="O'Hare", cost=40.0), row(2, city="Taipei", cost=3.0)]
    found = exact(plan, rows, COLUMNS, Limits(rows=1))
    assert found.values[0].tolist() == [10]
    assert found.statistics.statistics[0].sensitivity.linf == 10


def test_a_plan_may_bring_keys_that_nobody_declared_if_they_are_of_the_columns_type():
    table = declared([], COLUMNS, Limits(rows=2))
    listed = Group(source=SOURCE, keys=(GroupKey(column="level", values=Keys([1])),), measures=(CountRows(),))
    assert sensitivity(listed, {"t": table}).cells == 1
    other = Group(
        source=SOURCE, keys=(GroupKey(column="level", values=Keys(["1"])),), measures=(CountRows(),)
    )
    with pytest.raises(UnsupportedQuery, match="keys of its own type"):
        sensitivity(other, {"t": table})


@pytest.mark.parametrize(
    "plan",
    [
        Group(source=Source(table="other"), measures=(CountRows(),)),
        Group(
            source=SOURCE,
            keys=(GroupKey(column=strategies.CITY, values=Keys(["new"])),),
            measures=(CountRows(),),
        ),
        Group(source=SOURCE, keys=(GroupKey(column="nothing", values=Keys([1])),), measures=(CountRows(),)),
        Group(source=SOURCE, measures=(Sum(column="age", bounds=Bounds(0, 9)),)),
        Group(source=SOURCE, measures=(Sum(column=strategies.CITY, bounds=Bounds(0, 9)),)),
        Group(source=SOURCE, measures=(Sum(column=strategies.COST, bounds=Bounds(-3, 51, step=0.5)),)),
        Group(source=SOURCE, measures=(Sum(column=strategies.COST, bounds=Bounds(-3, 50, step=0.25)),)),
        Group(source=SOURCE, measures=(Sum(column=strategies.COST, bounds=Bounds(-3, 50, step=0.5, nan=0)),)),
        Group(source=SOURCE, measures=(CountNonNull(column="age", bounds=Bounds(0, 9)),)),
        Group(source=SOURCE, measures=(CountNonNull(column="nothing"),)),
        Group(source=Filter(source=SOURCE, condition=(col("nope") < 3).expression), measures=(CountRows(),)),
    ],
)
def test_what_was_not_declared_is_refused(plan):
    table = declared([], COLUMNS, Limits(rows=2))
    for ask in (sensitivity, engine_sql, lambda plan, tables: compute(plan, tables, salt=SALT)):
        with pytest.raises(UndeclaredColumn):
            ask(plan, {"t": table})


def test_exact_values_are_never_shown():
    canary = 8675309
    rows = [row(person, city="Taipei", cost=float(person)) for person in range(canary % 1000)]
    found = exact(PLAN, rows, COLUMNS, Limits(rows=1))
    assert str(len(rows)) not in repr(found)
    assert str(len(rows)) not in str(found)
    assert not found.values[0].flags.writeable
    with pytest.raises(ParameterError):
        found[CountNonNull(column="age")]
    with pytest.raises(ParameterError):
        found.statistics.of(CountNonNull(column="age"))


def test_the_statement_that_is_shown_has_no_salt():
    table = declared([], COLUMNS, Limits(rows=2))
    assert "'…|row|'" in engine_sql(PLAN, {"t": table})


def test_salts_are_fresh_and_hidden():
    one, other = fresh_salt(), fresh_salt()
    assert one != other
    assert len(one.value) == 32
    assert one.value not in repr(one)
    with replay(7):
        first = fresh_salt()
    with replay(7):
        assert fresh_salt() == first


@pytest.mark.parametrize("looked_up", [0, 1 << 12])
def test_keys_are_found_alike_whether_few_or_many_rows_are_fetched(monkeypatch, looked_up):
    monkeypatch.setattr(statistics, "_LOOKED_UP", looked_up)
    cities = Keys(["Oslo", "Rome", None])
    ages = Keys([30, 40])
    keys = (GroupKey(column=strategies.CITY, values=cities), GroupKey(column="age", values=ages))
    plan = Group(source=SOURCE, keys=keys, measures=(CountRows(),))
    rows = [row(1, city="Rome", age=40), row(2, city=None, age=30), row(3, city="Rome", age=40)]
    found = exact(plan, rows, {strategies.CITY: cities, "age": ages}, Limits(rows=1))[CountRows()]
    assert found.tolist() == [0, 0, 0, 2, 1, 0]
    with pytest.raises(EngineFailed):
        statistics._positions(pyarrow.chunked_array([["Oslo", "Bern"]]), cities)


def test_many_keys_are_joined_not_listed():
    listed = Keys([f"key {number}" for number in range(1000)] + [None])
    plan = Group(
        source=SOURCE, keys=(GroupKey(column=strategies.CITY, values=listed),), measures=(CountRows(),)
    )
    rows = [row(person, city=f"key {person}") for person in range(990, 1010)] + [row(5, city=None)]
    found = exact(plan, rows, {strategies.CITY: listed}, Limits(rows=1))[CountRows()]
    assert found.tolist() == [0] * 990 + [1] * 10 + [1]
    numbers = Keys(range(1000))
    plan = Group(source=SOURCE, keys=(GroupKey(column="age", values=numbers),), measures=(CountRows(),))
    assert exact(plan, [row(1, age=999)], {"age": numbers}, Limits(rows=1))[CountRows()].sum() == 1


def test_statistics_are_values():
    table = declared([], COLUMNS, Limits(rows=2))
    one, other = (sensitivity(PLAN, {"t": table}) for _ in range(2))
    assert isinstance(one, Statistics)
    assert one == other
    assert hash(one) == hash(other)
