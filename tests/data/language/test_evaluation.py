"""Keys under functions: constants folded without an engine, by the rules that engines keep."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import function_oracle
from discreet.data import Type
from discreet.data.language.evaluation import evaluate_cast, nearest_integer
from discreet.data.language.functions.strings import UPPER
from discreet.data.language.functions.temporal import first_day


def test_letters_beyond_ascii_stay_as_engines_agree():
    assert UPPER.value("straße") == "STRAßE"


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (" 12 ", Type.INTEGER, 12),
        ("+7", Type.INTEGER, 7),
        ("1e3", Type.INTEGER, None),
        ("1" * 19, Type.INTEGER, None),
        ("٣", Type.INTEGER, None),
        (True, Type.INTEGER, 1),
        (True, Type.TEXT, "true"),
        (-3, Type.TEXT, "-3"),
        ("2026-02-29", Type.DATE, None),
        ("2028-02-29", Type.DATE, datetime.date(2028, 2, 29)),
        ("20280229", Type.DATE, None),
        (None, Type.TEXT, None),
    ],
)
def test_conversions_never_fail(value, kind, expected):
    found = evaluate_cast(value, kind)
    assert (type(found), found) == (type(expected), expected)


@given(
    st.one_of(
        st.text("0123456789.+- e", max_size=8),
        st.from_regex(r"\A {0,2}[+-]?[0-9]{0,43}\.?[0-9]{0,3} ?\Z"),
        st.sampled_from(
            ["73.0", "73.5", "-73.5", "0.49999999999999994", ".", "", "٣", "9223372036854775807"]
        ),
    )
)
def test_the_integer_next_to_a_text_is_that_of_its_float(text):
    assert nearest_integer(text) == function_oracle.cast(function_oracle.cast(text, "float"), "integer")
    assert nearest_integer(None) is None


def test_truncated_days_are_the_first_of_their_unit():
    for place in range(800):
        day = datetime.date(2027, 1, 1) + datetime.timedelta(days=place)
        assert first_day("day", day) == day
        week = first_day("week", day)
        assert week.isoweekday() == 1
        assert 0 <= (day - week).days < 7
        assert first_day("month", day) == day.replace(day=1)
        assert first_day("year", day) == day.replace(month=1, day=1)
        quarter = first_day("quarter", day)
        assert quarter.month in {1, 4, 7, 10}
        assert quarter.day == 1
        assert quarter.year == day.year
        assert 0 <= day.month - quarter.month < 3
