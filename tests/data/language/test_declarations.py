from __future__ import annotations

import datetime
from fractions import Fraction

import pytest

from discreet.data import AUTO, EACH_ROW, Bounds, Dates, Keys, Limits, Type
from discreet.errors import ParameterError


def test_limits_are_of_one_kind():
    assert repr(Limits(rows=10)) == "Limits(rows=10)"
    assert repr(Limits(groups=4, rows_per_group=2)) == "Limits(groups=4, rows_per_group=2)"
    assert repr(EACH_ROW) == "EACH_ROW"
    with pytest.raises(ParameterError, match=r"by name; allowed: Limits\(rows=…\)"):
        Limits(3)


def test_a_limit_may_be_bought_up_to_a_number():
    bought = Limits(rows=AUTO, at_most=1000)
    assert repr(bought) == "Limits(rows=AUTO, at_most=1000)"
    assert (bought.rows, bought.is_bought) == (1000, True)
    assert bought != Limits(rows=1000)
    assert bought.contains(Limits(rows=1000))
    assert not bought.contains(Limits(rows=1001))
    assert not bought.contains(Limits(groups=1, rows_per_group=1))
    assert Limits(groups=4, rows_per_group=2).contains(Limits(groups=4, rows_per_group=1))
    assert not Limits(groups=4, rows_per_group=2).contains(Limits(groups=5, rows_per_group=1))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rows": AUTO},
        {"rows": 5, "at_most": 10},
        {"at_most": 10},
        {"rows": AUTO, "at_most": 0},
        {"rows": "auto", "at_most": 10},
        {"groups": AUTO, "rows_per_group": 1},
        {"rows": 1, "groups": 2, "rows_per_group": 1},
        {"rows": 1, "groups": 2},
        {"groups": 2},
        {"rows_per_group": 2},
        {"rows": 0},
        {"rows": -1},
        {"rows": 1.5},
        {"rows": True},
        {"rows": 10**10},
        {"groups": 0, "rows_per_group": 1},
    ],
)
def test_other_limits_are_refused(options):
    with pytest.raises(ParameterError):
        Limits(**options)


def test_bounds_are_exact():
    bounds = Bounds(0, 5000, step=0.01)
    assert (bounds.lower_steps, bounds.upper_steps) == (0, 500_000)
    assert bounds.step == Fraction(1, 100)
    assert bounds == Bounds("0", 5000.0, step="1/100")
    assert Bounds(0, 110).step == 1
    assert Bounds(0, 110) == Bounds(0, 110, step=1)
    assert not Bounds(0, 110).step_was_given
    assert repr(Bounds(0, 5000, step=0.01, nan=2.5)) == "Bounds(0, 5000, step=0.01, nan=2.5)"
    assert repr(Bounds(0, 1, infinity="drop")) == "Bounds(0, 1, step=1, infinity='drop')"
    assert bounds.steps(2.5, "x") == 250


@pytest.mark.parametrize(
    ("positional", "options", "name"),
    [
        ((0.0, 1.0), {}, "step"),
        ((5, 5), {}, "lower"),
        ((6, 5), {}, "lower"),
        ((0, 1), {"step": 0}, "step"),
        ((0, 1), {"step": -1}, "step"),
        ((0, 1), {"step": 1e-61}, "step"),
        ((0, 1), {"step": 0.3}, "upper"),
        ((0.05, 1), {"step": 0.1}, "lower"),
        ((0, 2**53), {}, "upper"),
        ((float("nan"), 1), {"step": 1}, "lower"),
        ((0, float("inf")), {"step": 1}, "upper"),
        ((0, 1), {"nan": "clamp"}, "nan"),
        ((0, 1), {"nan": 0.5}, "nan"),
        ((0, 1), {"null": 2}, "null"),
        ((0, 1), {"null": "zero"}, "null"),
        ((0, 1), {"infinity": "ignore"}, "infinity"),
    ],
)
def test_other_bounds_are_refused(positional, options, name):
    with pytest.raises(ParameterError) as refusal:
        Bounds(*positional, **options)
    assert refusal.value.parameter == name


def test_narrower_bounds_are_contained():
    outer = Bounds(0, 100, step=0.5, null=1)
    assert outer.contains(outer)
    assert outer.contains(Bounds(1, 99, step=0.5, null=1))
    for other in (
        Bounds(-1, 99, step=0.5, null=1),
        Bounds(1, 101, step=0.5, null=1),
        Bounds(1, 99, step=1, null=1),
    ):
        assert not outer.contains(other)
    assert not outer.contains(Bounds(1, 99, step=0.5))


def test_keys_keep_their_order():
    assert Keys(["b", "a", None]).values == ("b", "a", None)
    assert Keys(["b", "a", None]).has_null
    assert Keys(["b"]).type is Type.TEXT
    assert Keys(iter([3, 1])).values == (3, 1)
    assert Keys([datetime.date(2026, 1, 1)]).type is Type.DATE
    assert Keys([True]) != Keys([1])
    assert len(Keys(range(1000))) == 1000
    assert repr(Keys(range(1000))) == "Keys([0, 1, 2, … 1000 values])"
    assert Keys(["a", "b"]).contains(Keys(["b"]))
    assert not Keys(["a", "b"]).contains(Keys(["c"]))
    assert not Keys([1]).contains(Keys([True]))


@pytest.mark.parametrize(
    "values",
    [
        [],
        "abc",
        [None],
        ["a", "a"],
        ["a", 1],
        [1, True],
        [1.5],
        [2**63],
        [datetime.datetime(2026, 1, 1)],
        [1, 1.0],
    ],
)
def test_other_keys_are_refused(values):
    with pytest.raises(ParameterError):
        Keys(values)


def test_too_many_keys_are_refused():
    with pytest.raises(ParameterError):
        Keys(range(10**9))  # stops at the limit


def test_dates():
    first, last = datetime.date(2025, 1, 1), datetime.date(2026, 12, 31)
    declared = Dates(first, last)
    assert (declared.first, declared.last) == (first, last)
    assert declared == Dates(first, last)
    assert declared == Dates("2025-01-01", "2026-12-31")
    assert repr(declared) == "Dates(2025-01-01, 2026-12-31)"
    assert declared.contains(Dates(first, first))
    assert not Dates(first, first).contains(declared)


@pytest.mark.parametrize(
    "ends",
    [
        (datetime.date(2026, 1, 2), datetime.date(2026, 1, 1)),
        ("2026-01-32", "2026-02-02"),
        ("20260101", "20260102"),
        ("01.01.2026", "02.01.2026"),
        (datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 2)),
        (None, datetime.date(2026, 1, 1)),
        (1, 2),
    ],
)
def test_other_dates_are_refused(ends):
    with pytest.raises(ParameterError):
        Dates(*ends)
