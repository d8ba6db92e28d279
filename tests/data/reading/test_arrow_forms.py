"""What comes in as Arrow: each value by itself, by its type, and never with an error."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.reading.test_parquet_files import counts, texts
from discreet.data import EACH_ROW, Limits, Table
from discreet.data.reading.arrow_forms import lost_values, normal
from discreet.data.reading.normal_forms import LONGEST_TEXT
from discreet.data.tables.public_table import PublicTable

FAR = 1 << 62
DAY = datetime.datetime(2026, 1, 31)
SECONDS = 1769817600
COLUMNS = {
    "bad text": (texts(b"a", b"\xff", b"\xed\xa0\x80"), ["a", None, None]),
    "long text": (
        pyarrow.array(["a" * LONGEST_TEXT, "ä" * LONGEST_TEXT, ""]),
        ["a" * LONGEST_TEXT, None, ""],
    ),
    "large text": (pyarrow.array(["a", None, "b"], pyarrow.large_string()), ["a", None, "b"]),
    "text view": (pyarrow.array(["a", None, "b" * 20], pyarrow.string_view()), ["a", None, "b" * 20]),
    "dictionary": (texts(b"a", b"\xff", b"a").dictionary_encode(), ["a", None, "a"]),
    "seconds": (counts(SECONDS, FAR, -FAR, kind=pyarrow.timestamp("s")), [DAY, None, None]),
    "milliseconds": (counts(SECONDS * 1000, FAR, -FAR, kind=pyarrow.timestamp("ms")), [DAY, None, None]),
    "zoned seconds": (
        counts(SECONDS, FAR, -FAR, kind=pyarrow.timestamp("s", "Asia/Taipei")),
        [DAY.replace(tzinfo=datetime.UTC), None, None],
    ),
    "microseconds": (counts(SECONDS * 10**6, FAR, -FAR, kind=pyarrow.timestamp("us")), [DAY, None, None]),
    "nanoseconds": (counts(SECONDS * 10**9, FAR, 0, kind=pyarrow.timestamp("ns")), None),
    "zoned nanoseconds": (counts(SECONDS * 10**9, FAR, 0, kind=pyarrow.timestamp("ns", "UTC")), None),
    "days": (
        pyarrow.array([20484, 2**31 - 1, -(2**31)], pyarrow.int32()).cast(pyarrow.date32()),
        [DAY.date(), None, None],
    ),
    "days in milliseconds": (
        pyarrow.Array.from_buffers(
            pyarrow.date64(), 3, counts(SECONDS * 1000, FAR, -FAR, kind=pyarrow.int64()).buffers()
        ),
        [DAY.date(), None, None],
    ),
    "durations": (counts(1, FAR, -FAR, kind=pyarrow.duration("s")), [b"", b"", b""]),
    "times of day": (counts(1, FAR, -FAR, kind=pyarrow.time64("ns")), [b"", b"", b""]),
    "lists": (pyarrow.array([[1], None, []]), [b"", None, b""]),
    "records": (pyarrow.array([{"a": 1}, None, {"a": None}]), [b"", None, b""]),
    "bytes": (pyarrow.array([b"\xff" * 9, None, b""]), [b"", None, b""]),
    "wide decimals": (
        pyarrow.array([Decimal(10) ** 70, None, Decimal(1)], pyarrow.decimal256(76, 0)),
        [1e70, None, 1.0],
    ),
    "decimals": (pyarrow.array([Decimal("1.5"), None, Decimal(2)], pyarrow.decimal128(38, 1)), None),
    "halves": (pyarrow.array([1.5, math.inf, None], pyarrow.float16()), [1.5, math.inf, None]),
    "nothing": (pyarrow.nulls(3), [None, None, None]),
    "big": (pyarrow.array([2**64 - 1, 0, None], pyarrow.uint64()), [2**64 - 1, 0, None]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_can_be_opened_and_read(name):
    column, expected = COLUMNS[name]
    table = Table(pyarrow.table({"x": column, "row": [0, 1, 2]}), person=EACH_ROW)
    found = sorted(table._rows().to_pylist(), key=lambda row: row["row"])
    assert len(found) == 3
    if expected is not None:
        assert [row["x"] for row in found] == expected


@given(st.lists(st.binary(max_size=6), max_size=5))
def test_texts_are_judged_one_by_one(contents):
    def decoded(content):
        try:
            return content.decode()
        except UnicodeDecodeError:
            return None

    given_table = pyarrow.table({"x": texts(*contents)})
    found = normal(given_table, {})
    assert found["x"].to_pylist() == [decoded(content) for content in contents]
    missing = sum(decoded(content) is None for content in contents)
    assert lost_values(given_table, found) == ({"x": missing} if missing else {})


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5), st.sampled_from(["s", "ms", "us"]))
def test_times_are_judged_one_by_one(numbers, unit):
    scale = {"s": 10**6, "ms": 10**3, "us": 1}[unit]
    epoch = datetime.datetime(1970, 1, 1)

    def moment(number):
        try:
            return epoch + datetime.timedelta(microseconds=number * scale)
        except OverflowError:
            return None

    found = normal(pyarrow.table({"x": counts(*numbers, kind=pyarrow.timestamp(unit))}), {})
    assert found["x"].to_pylist() == [moment(number) for number in numbers]


def test_the_owner_alone_learns_what_was_lost():
    frame = pyarrow.table({"id": texts(b"a", b"\xff"), "x": [1, 2]})
    table = Table(frame, person="id", limits=Limits(rows=1))
    assert dict(table.lost().values) == {"id": 1}
    assert "lost" not in str(table.declaration)


def test_a_public_table_keeps_to_the_same_forms():
    table = PublicTable(
        pyarrow.table(
            {
                "name": ["a", "b" * (LONGEST_TEXT + 1)],
                "day": pyarrow.array([0, 2**31 - 1], pyarrow.int32()).cast(pyarrow.date32()),
            }
        )
    )
    assert table._rows().to_pylist() == [
        {"name": "a", "day": datetime.date(1970, 1, 1)},
        {"name": None, "day": None},
    ]
