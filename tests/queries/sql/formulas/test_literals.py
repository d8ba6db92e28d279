"""Literals mean exactly what was typed."""

# ruff: noqa: S608
from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Type
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries import parse
from queries.clinic import TABLES

UTC = datetime.UTC


def value(text, column="age"):
    condition = parse(f"SELECT COUNT(*) FROM visits WHERE {column} = {text}", TABLES).relation.condition
    return condition.right.value, condition.right.type


@pytest.mark.parametrize(
    ("text", "expected", "kind"),
    [
        ("40", 40, Type.INTEGER),
        ("007", 7, Type.INTEGER),
        ("0", 0, Type.INTEGER),
        ("-0", 0, Type.INTEGER),
        ("1e3", 1000, Type.INTEGER),
        ("5.", 5, Type.INTEGER),
        ("0.1", Fraction(1, 10), Type.DECIMAL),
        (".5", Fraction(1, 2), Type.DECIMAL),
        ("-2.50", Fraction(-5, 2), Type.DECIMAL),
        ("1E-3", Fraction(1, 1000), Type.DECIMAL),
        ("1 / 3", Fraction(1, 3), Type.DECIMAL),
        ("9007199254740993", 9007199254740993, Type.INTEGER),
        ("123456789012345678901234567890", 123456789012345678901234567890, Type.INTEGER),
        (
            "0.1000000000000000055511151231257827",
            Fraction("0.1000000000000000055511151231257827"),
            Type.DECIMAL,
        ),
        ("TRUE", True, Type.BOOLEAN),
        ("false", False, Type.BOOLEAN),
        ("''", "", Type.TEXT),
        ("'it''s'", "it's", Type.TEXT),
        (r"'\n\'", r"\n" + "\\", Type.TEXT),
        ("'a\nb -- c'", "a\nb -- c", Type.TEXT),
        ("'NULL'", "NULL", Type.TEXT),
        ("'日本 💶'", "日本 💶", Type.TEXT),
        ("DATE '2026-01-31'", datetime.date(2026, 1, 31), Type.DATE),
        ("date'0001-01-01'", datetime.date(1, 1, 1), Type.DATE),
        ("CAST('2026-01-31' AS DATE)", datetime.date(2026, 1, 31), Type.DATE),
        ("TIMESTAMP '2026-01-31'", datetime.datetime(2026, 1, 31), Type.TIMESTAMP),
        ("TIMESTAMP '2026-01-31 12:30'", datetime.datetime(2026, 1, 31, 12, 30), Type.TIMESTAMP),
        (
            "TIMESTAMP '2026-01-31T12:30:05.25'",
            datetime.datetime(2026, 1, 31, 12, 30, 5, 250000),
            Type.TIMESTAMP,
        ),
        (
            "TIMESTAMPTZ '2026-01-31 12:00:00+02:00'",
            datetime.datetime(2026, 1, 31, 10, tzinfo=UTC),
            Type.INSTANT,
        ),
        ("TIMESTAMPTZ '2026-01-31 12:00:00Z'", datetime.datetime(2026, 1, 31, 12, tzinfo=UTC), Type.INSTANT),
        (
            "TIMESTAMP WITH TIME ZONE '2026-01-31 12:00:00-05'",
            datetime.datetime(2026, 1, 31, 17, tzinfo=UTC),
            Type.INSTANT,
        ),
    ],
)
def test_literals(text, expected, kind):
    found = value(text, "urgent" if kind is Type.BOOLEAN else "age")
    assert found == (expected, kind)
    assert type(found[0]) is type(expected)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**20), max_value=10**20))
def test_numbers_are_exact(number):
    assert Fraction(value(f"{number:f}")[0]) == Fraction(Decimal(number))


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40))
def test_text_is_kept(text):
    quoted = text.replace("'", "''")
    assert value(f"'{quoted}'", "note") == (text, Type.TEXT)


@given(st.dates())
def test_dates_are_kept(day):
    assert value(f"DATE '{day.isoformat()}'", "day") == (day, Type.DATE)


@given(st.datetimes(timezones=st.none()))
def test_timestamps_are_kept(moment):
    assert value(f"TIMESTAMP '{moment}'", "seen") == (moment, Type.TIMESTAMP)


@pytest.mark.parametrize(
    "text",
    [
        "DATE '2026-1-31'",
        "DATE '2026-W05-6'",
        "DATE '2026-01-31 '",
        "DATE '２０２６-01-31'",
        "TIMESTAMP '2026-01-31 24:00:00'",
        "TIMESTAMP '2026-01-31 12:30:00.1234567'",
        "TIMESTAMP(3) '2026-01-31 12:30:00'",
        "TIMESTAMPTZ '9999-12-31 23:00:00-05:00'",
        "TIME '12:30'",
        "CAST('2026-01-31' AS DATE FORMAT 'YYYY')",
        "1e1235",
        "٣",
        "²",
    ],
)
def test_odd_literals_are_refused(text):
    with pytest.raises((UnsupportedQuery, UndeclaredColumn)):
        value(text)


def test_a_number_of_many_digits_is_refused_at_once():
    with pytest.raises(UnsupportedQuery, match="digits"):
        value("9" * 50_000)
