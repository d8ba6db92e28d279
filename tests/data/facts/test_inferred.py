"""What calculations imply about their results holds in every row that keeps to what is declared about it."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import oracle
from discreet.data import Bounds, Dates, Keys, Type, coalesce, col, concat, greatest, least, type_of, when
from discreet.data.facts.inferred import completed, infer
from discreet.data.language.column_facts import ColumnFacts, types_of
from discreet.data.language.declarations import LARGEST_BOUND_STEPS
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from effort import examples

D = datetime.date
FIRST, LAST = D(2023, 12, 30), D(2025, 2, 3)
COLUMNS = {
    "age": ColumnFacts(type=Type.INTEGER, bounds=Bounds(0, 12)),
    "level": ColumnFacts(type=Type.INTEGER, bounds=Bounds(-6, 6, step=3)),
    "cost": ColumnFacts(type=Type.FLOAT, bounds=Bounds(-5, 3, step=0.25)),
    "price": ColumnFacts(type=Type.FLOAT, bounds=Bounds(0.5, 4, step=0.5)),
    "raw": ColumnFacts(type=Type.FLOAT),
    "n": ColumnFacts(type=Type.INTEGER, least=Fraction(0)),
    "debt": ColumnFacts(type=Type.FLOAT, most=Fraction(0)),
    "ward": ColumnFacts(type=Type.INTEGER, keys=Keys([7, 1, 3, None])),
    "city": ColumnFacts(type=Type.TEXT, keys=Keys(["Oslo", "Taipei", " x "])),
    "code": ColumnFacts(type=Type.TEXT, keys=Keys(["12", "-3", "no", None])),
    "name": ColumnFacts(type=Type.TEXT),
    "flag": ColumnFacts(type=Type.BOOLEAN),
    "day": ColumnFacts(type=Type.DATE, dates=Dates(FIRST, LAST)),
    "seen": ColumnFacts(type=Type.TIMESTAMP, dates=Dates(FIRST, LAST)),
    "picked": ColumnFacts(type=Type.DATE, keys=Keys([D(2024, 2, 29), D(2023, 1, 1)])),
}
oracle.TYPES |= types_of(COLUMNS)
KEPT = {
    "age": st.integers(0, 12),
    "level": st.sampled_from([-6, -3, 0, 3, 6]),
    "cost": st.one_of(st.sampled_from([-20, 12]), st.integers(-20, 12)).map(lambda quarters: quarters / 4),
    "price": st.integers(1, 8).map(lambda halves: halves / 2),
    "raw": st.floats(),
    "n": st.integers(0, 2**63 - 1),
    "debt": st.floats(max_value=0, allow_infinity=False),
    "ward": st.sampled_from([7, 1, 3, None]),
    "city": st.sampled_from(["Oslo", "Taipei", " x "]),
    "code": st.sampled_from(["12", "-3", "no", None]),
    "name": st.text(max_size=4),
    "flag": st.sampled_from([True, False, None]),
    "day": st.dates(FIRST, LAST),
    "seen": st.datetimes(
        datetime.datetime.combine(FIRST, datetime.time.min),
        datetime.datetime.combine(LAST, datetime.time.max),
    ),
    "picked": st.sampled_from([D(2024, 2, 29), D(2023, 1, 1)]),
}
row = st.fixed_dictionaries(KEPT)

numbers = st.sampled_from(["age", "level", "cost", "price", "raw", "n", "debt", "ward"]).map(col)
constants = st.sampled_from([0, 1, -2, 3, 0.5, 10, Fraction(1, 3)])
conditions = st.one_of(
    st.just(col("flag")),
    st.builds(lambda a, b: a < b, numbers, constants),
    st.just(col("city") == "Oslo"),
    st.just(col("raw").is_null()),
)


def grown(inner):
    either = st.one_of(inner, constants)
    return st.one_of(
        *(
            st.builds(operate, inner, either)
            for operate in (
                lambda a, b: a + b,
                lambda a, b: a - b,
                lambda a, b: a * b,
                lambda a, b: a / b,
                least,
                greatest,
                coalesce,
                lambda a, b: a.null_if(b),
            )
        ),
        *(inner.map(operate) for operate in (lambda a: a.abs(), lambda a: a.floor(), lambda a: a.ceil())),
        *(inner.map(operate) for operate in (lambda a: a.sign(), lambda a: a.sqrt(), lambda a: a * a)),
        st.builds(lambda a, d: a.round(d), inner, st.integers(-2, 3)),
        st.builds(lambda a, b: a.floor() % b.round(), inner, inner),
        st.builds(lambda a: a.floor() % 5, inner),
        inner.map(lambda a: a.clip(-3, 3.5)),
        inner.map(lambda a: a.bins(-2, 9, 4)),
        inner.map(lambda a: a.cast("integer")),
        st.builds(lambda c, a, b: when(c).then(a).otherwise(b), conditions, inner, either),
        st.builds(lambda c, a: when(c).then(a).when(~c).then(7), conditions, inner),
    )


of_others = st.sampled_from(
    [
        *(
            getattr(col(name), part)()
            for name in ("day", "seen", "picked")
            for part in ("year", "month", "quarter")
        ),
        *(getattr(col("day"), part)() for part in ("day", "day_of_week", "day_of_year")),
        *(getattr(col("seen"), part)() for part in ("hour", "minute")),
        col("day").days_since(col("seen")),
        col("day") - col("picked"),
        col("day") - D(2024, 1, 1),
        col("city").length(),
        col("name").length(),
        col("name").slice(1, 2).length(),
        col("flag").cast("integer"),
        col("code").cast("integer"),
    ]
)
calculated = st.one_of(
    st.recursive(st.one_of(numbers, numbers, of_others), grown, max_leaves=4),
    grown(numbers),
    conditions,
    of_others,
    st.sampled_from(
        [
            *(
                col(name).truncate(unit)
                for name in ("day", "seen")
                for unit in ("year", "quarter", "month", "week")
            ),
            col("seen").truncate("day"),
            col("day"),
            col("picked").truncate("month"),
            col("city").upper(),
            col("city").strip().lower(),
            col("city").slice(0, 2),
            col("city").replace("a", "bb"),
            concat(col("city"), "/", col("code")),
            col("code").coalesce("none"),
            col("code").coalesce(col("city")),
            col("city").null_if("Oslo"),
            col("ward").cast("text"),
            col("picked").cast("text"),
            col("code").cast("date"),
            when(col("raw") > 0).then("up").when(col("raw") < 0).then("down"),
            when(col("raw") > 0).then(col("city")).otherwise("none"),
            col("raw") > 0,
            col("city").like("O%"),
            (col("raw") > 0).coalesce(False),
            col("day").coalesce(D(2024, 5, 5)),
            greatest(col("day"), col("picked")),
            col("ward") % 3,
        ]
    ),
)


def admitted(formula):
    try:
        type_of(formula.expression, types_of(COLUMNS))
    except UnsupportedQuery:
        return False
    return True


@settings(max_examples=examples(250), deadline=None)
@given(calculated.filter(admitted), st.lists(row, min_size=8, max_size=8))
def test_values_keep_to_what_is_implied(formula, rows):
    facts = infer(formula.expression, COLUMNS)
    assert facts.type is type_of(formula.expression, types_of(COLUMNS))
    for kept in rows:
        value = oracle.evaluate(formula.expression, kept)
        if facts.keys is not None and value is not None:
            assert value in facts.keys.values, (formula, value, facts.keys)
        if value is None and facts.keys is not None and facts.type is Type.BOOLEAN:
            assert facts.keys.has_null, formula
        if value is None or not facts.type.is_number or math.isnan(value):
            continue
        if facts.bounds is not None:
            slack = facts.bounds.step / 2 + abs(Fraction(value)) / 2**40
            assert facts.bounds.lower - slack <= value <= facts.bounds.upper + slack, (formula, value, facts)
        for end, sign in ((facts.least, 1), (facts.most, -1)):
            if end is not None and abs(value) != float("inf"):
                assert (Fraction(value) - end) * sign >= -abs(Fraction(value)) / 2**40, (
                    formula,
                    value,
                    facts,
                )


@settings(max_examples=examples(200), deadline=None)
@given(calculated.filter(admitted))
def test_grids_are_within_what_doubles_hold(formula):
    bounds = infer(formula.expression, COLUMNS).bounds
    if bounds is not None:
        assert max(abs(bounds.lower_steps), abs(bounds.upper_steps)) <= LARGEST_BOUND_STEPS
        assert bounds.lower < bounds.upper


@pytest.mark.parametrize(
    ("formula", "bounds"),
    [
        (least(col("n"), 20), Bounds(0, 20)),
        (col("raw").clip(0, 100), Bounds(0, 100, step="0.00001")),
        (least(greatest(col("raw"), 0), 100), Bounds(0, 100, step="0.00001")),
        (col("age") + 1, Bounds(1, 13)),
        (-col("age"), Bounds(-12, 0)),
        (col("age") * 2.5, Bounds(0, 30, step=2.5)),
        (col("cost") / 3, Bounds(Fraction(-5, 3), 1, step=Fraction(1, 12))),
        (col("cost") + col("age"), Bounds(-5, 15, step=0.25)),
        (col("cost") * col("price"), Bounds(-20, 12, step=0.125)),
        (col("cost") / col("price"), Bounds(-10, 6, step="0.00001")),
        (col("cost").abs(), Bounds(0, 5, step=0.25)),
        (col("cost").round(), Bounds(-5, 3)),
        (col("price").floor(), Bounds(0, 4)),
        (col("cost").round(1), Bounds(-5, 3, step=0.1)),
        (col("cost") * col("cost"), Bounds(0, 25, step="0.0625")),
        (when(col("flag")).then(1).otherwise(0), Bounds(0, 1)),
        (when(col("flag")).then(1), Bounds(0, 1)),
        (when(col("flag")).then(-7), Bounds(-7, 0, step=7)),
        (when(col("flag")).then(col("age")).otherwise(20), Bounds(0, 20)),
        (col("age").coalesce(-4), Bounds(-4, 12)),
        (col("raw") > 3, Bounds(0, 1)),
        (col("age") % 5, Bounds(0, 4)),
        (col("level") % 5, Bounds(-4, 4)),
        (col("day") - D(2024, 1, 1), Bounds(-2, 399)),
        (col("name").slice(0, 3).length(), Bounds(0, 3)),
        (col("raw") + 1, None),
        (col("raw").abs(), None),
        (col("cost") / col("age"), None),
        (least(col("age"), col("raw")), None),
        (greatest(col("n"), 0), None),
    ],
)
def test_ranges(formula, bounds):
    assert infer(formula.expression, COLUMNS).bounds == bounds


def test_one_end_may_be_known():
    for formula, ends in [
        (col("n") + 1, (1, None)),
        (col("raw").abs(), (0, None)),
        (col("raw").sqrt(), (0, None)),
        (-col("n"), (None, 0)),
        (col("debt") * 2, (None, 0)),
        (col("n") * col("n"), (0, None)),
        (greatest(col("raw"), 3), (3, None)),
        (col("name").length(), (0, None)),
        (col("n") / 0.5, (0, None)),
    ]:
        facts = infer(formula.expression, COLUMNS)
        assert (facts.least, facts.most) == ends, formula


def test_times_within_one_year_have_that_year_alone():
    seen = ColumnFacts(type=Type.TIMESTAMP, dates=Dates(D(2024, 1, 1), D(2024, 12, 31)))
    assert infer(col("seen").year().expression, {"seen": seen}).keys == Keys([2024])


def test_a_column_that_may_be_null_does_not_bound_the_least():
    assert infer(least(col("age"), col("n")).expression, COLUMNS).bounds is None
    assert infer(least(col("age").coalesce(0), col("n")).expression, COLUMNS).bounds == Bounds(0, 12)


@pytest.mark.parametrize(
    ("formula", "keys"),
    [
        (when(col("raw") > 0).then("b").when(col("raw") < 0).then("a").otherwise("b"), ["b", "a"]),
        (when(col("raw") > 0).then("b"), ["b", None]),
        (col("raw") > 0, [False, True, None]),
        (col("raw").is_null(), [False, True]),
        ((col("raw") > 0).coalesce(False), [False, True]),
        (col("city").upper(), ["OSLO", "TAIPEI", " X "]),
        (col("code").coalesce("none"), ["12", "-3", "no", "none"]),
        (col("code").cast("integer"), [12, -3, None]),
        (col("day").month(), list(range(1, 13))),
        (col("day").year(), [2023, 2024, 2025]),
        (col("seen").truncate("year"), [D(2023, 1, 1), D(2024, 1, 1), D(2025, 1, 1)]),
        (col("picked").quarter(), [1]),
        (col("raw").bins(0, 1, 3), [0, 1, 2, 3, 4]),
        ((col("age") / 5).floor(), [0, 1, 2, 3]),
        ((col("age") / 5).floor() * 5, [0, 5, 10, 15]),
        (col("age") % 3, [0, 1, 2]),
        (col("ward") + 0, [1, 2, 3, 4, 5, 6, 7]),
        (col("level"), [-6, -3, 0, 3, 6]),
        (col("flag"), [False, True, None]),
        (col("seen").hour(), list(range(24))),
        (col("raw").sign(), [-1, 0, 1]),
    ],
)
def test_keys(formula, keys):
    found = infer(formula.expression, COLUMNS).keys
    assert list(found.values) == keys


@pytest.mark.parametrize(
    "formula",
    [
        col("name").upper(),
        col("raw").round(),
        col("cost"),
        col("cost") * 2,
        col("seen"),
        col("seen").truncate("hour"),
        when(col("flag")).then(0.5).otherwise(1),
        when(col("flag")).then(col("name")).otherwise("x"),
        col("n") + 1,
        col("name").cast("date"),
        (col("age") * 2**62).cast("integer"),
        (col("level") * -(2**62)).cast("integer"),
    ],
)
def test_no_keys_where_none_follow(formula):
    assert infer(formula.expression, COLUMNS).keys is None


def test_months_and_weeks_between_two_days():
    months = infer(col("day").truncate("month").expression, COLUMNS).keys.values
    assert months[0] == D(2023, 12, 1)
    assert months[-1] == D(2025, 2, 1)
    assert len(months) == 15
    weeks = infer(col("seen").truncate("week").expression, COLUMNS).keys.values
    assert {week.isoweekday() for week in weeks} == {1}
    assert weeks[0] <= FIRST < weeks[1]
    assert weeks[-1] <= LAST
    assert len(completed(COLUMNS["day"]).keys) == (LAST - FIRST).days + 1


def test_long_ranges_are_no_keys():
    wide = {"x": ColumnFacts(type=Type.INTEGER, bounds=Bounds(0, 10_000))}
    assert infer(col("x").expression, wide).keys is None
    assert len(infer((col("x") / 2).floor().expression, wide).keys) == 5001
    days = {"d": ColumnFacts(type=Type.DATE, dates=Dates(D(1, 1, 1), D(9999, 12, 31)))}
    assert infer(col("d").expression, days).keys is None
    assert len(infer(col("d").truncate("year").expression, days).keys) == 9999


def test_a_calculation_is_refused_under_its_types():
    with pytest.raises(UnsupportedQuery):
        infer((col("city") + 1).expression, COLUMNS)
    with pytest.raises(UndeclaredColumn):
        infer(col("nobody").expression, COLUMNS)
