"""Generated calculations over columns that hold what is hard: every function on every type that it takes."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow
from hypothesis import strategies as st

from data import oracle
from discreet.data import Type, col, concat, greatest, least, when

SCHEMA = pyarrow.schema(
    [
        ("row", pyarrow.int64()),
        ("n", pyarrow.int64()),
        ("small", pyarrow.int16()),
        ("x", pyarrow.float64()),
        ("y", pyarrow.float64()),
        ("exact", pyarrow.decimal128(12, 3)),
        ("flag", pyarrow.bool_()),
        ("name", pyarrow.string()),
        ("other", pyarrow.string()),
        ("written", pyarrow.string()),
        ("day", pyarrow.date32()),
        ("end", pyarrow.date32()),
        ("seen", pyarrow.timestamp("us")),
        ("at", pyarrow.timestamp("us", "UTC")),
    ]
)
TYPES = {
    "n": Type.INTEGER,
    "small": Type.INTEGER,
    "x": Type.FLOAT,
    "y": Type.FLOAT,
    "exact": Type.DECIMAL,
    "flag": Type.BOOLEAN,
    "name": Type.TEXT,
    "other": Type.TEXT,
    "written": Type.TEXT,
    "day": Type.DATE,
    "end": Type.DATE,
    "seen": Type.TIMESTAMP,
    "at": Type.INSTANT,
}
oracle.TYPES |= TYPES

INTEGERS = [0, 1, -1, 2, 7, 10, 15, 99, 2**53 + 1, 2**62, -(2**63), 2**63 - 1, -(2**53) - 1]
FLOATS = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.285, 1.005, 0.49999999999999994, 4503599627370497.5]
FLOATS += [9007199254740993.0, 9.223372036854775e18, 2.0**63, -(2.0**63), 1e20, 1e300, -1e300, 5e-324, 1e-25]
FLOATS += [float("nan"), float("inf"), float("-inf"), 10.0, 100.0, 33.3, 66.6, 99.99999]
NAMES = [
    "",
    " ",
    "  a b ",
    "Straße",
    "ÉCLAIR éclair",
    "💶x💶",
    "日本",
    "a%b_c",
    "back\\slash",
    "tab\t",
    "\n",
    "I i ı İ",
]
NAMES += ["aaa", "abab", "A", "a", "ab\ncd", "e\u0301", "ﬀ", "Ǆ", "\u00a0x\u00a0", "x" * 50, "ZzAa", "it's"]
WRITTEN = [
    "12",
    " 12 ",
    "-7",
    "+7",
    "--7",
    "+",
    "-",
    "",
    ".",
    "1.5",
    ".5",
    "5.",
    "1e5",
    "1.5.5",
    "nan",
    "inf",
    "0x1",
]
WRITTEN += [
    "1" * 18,
    "1" * 19,
    "0" * 18,
    "1" * 40,
    "1" * 41,
    "12 3",
    "１２",
    "1_0",
    "12\n",
    "\t12",
    "0.1",
    "-0",
]
WRITTEN += ["2026-02-28", "2026-02-29", "2024-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "0001-01-01"]
WRITTEN += [
    "9999-12-31",
    "2026-13-01",
    "2026-00-10",
    "2026-04-31",
    "2026-1-31",
    "2026/01/31",
    "20260131",
    "26-01-31-",
]
WRITTEN += ["2026-01-31 ", "2026-01-31T00", "-026-01-31", "2026-01-3x", "today", "infinity", "epoch"]
DAYS = [
    *(
        datetime.date(year, 12, day)
        for year in (1, 1969, 1999, 2000, 2023, 2024, 2026, 9999)
        for day in (28, 31)
    ),
    *(datetime.date(year, 1, 1) for year in (1, 1900, 1970, 2000, 2024, 2026)),
    *(datetime.date(2024, month, 29) for month in (1, 2, 3, 4, 7, 10)),
    datetime.date(2026, 11, 15),
    datetime.date(2026, 11, 16),
]
CLOCK = [(0, 0, 0, 0), (23, 59, 59, 999999), (12, 30, 1, 1)]
TIMES = [datetime.datetime(day.year, day.month, day.day, *clock) for day in DAYS for clock in CLOCK]
INSTANTS = [time.replace(tzinfo=datetime.UTC) for time in TIMES]

values = {
    "n": st.one_of(st.sampled_from(INTEGERS), st.integers(-30, 120)),
    "small": st.integers(-32768, 32767),
    "x": st.one_of(st.sampled_from(FLOATS), st.floats(-10, 110)),
    "y": st.one_of(st.sampled_from(FLOATS), st.floats()),
    "exact": st.decimals(Decimal("-999999999.999"), Decimal("999999999.999"), places=3),
    "flag": st.booleans(),
    "name": st.one_of(
        st.sampled_from(NAMES), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
    ),
    "other": st.sampled_from([*NAMES, "a", "b", "aa"]),
    "written": st.sampled_from(WRITTEN),
    "day": st.one_of(st.sampled_from(DAYS), st.dates()),
    "end": st.one_of(st.sampled_from(DAYS), st.dates()),
    "seen": st.one_of(st.sampled_from(TIMES), st.datetimes()),
    "at": st.one_of(st.sampled_from(INSTANTS), st.datetimes(timezones=st.just(datetime.UTC))),
}
row = st.fixed_dictionaries(
    {name: st.one_of(st.none(), value, value, value) for name, value in values.items()}
)


def numbered(rows):
    listed = [{"row": place, **row} for place, row in enumerate(rows)]
    return pyarrow.Table.from_pylist(listed, schema=SCHEMA)


integers = st.sampled_from(["n", "small"]).map(col)
numbers = st.sampled_from(["n", "small", "x", "y", "exact"]).map(col)
texts = st.sampled_from(["name", "other", "written"]).map(col)
moments = st.sampled_from(["day", "end", "seen", "at"]).map(col)
times = st.sampled_from(["seen", "at"]).map(col)
constants = st.sampled_from([0, 1, -1, 10, 2.5, 0.1, 100, -(2**63), 2**70, 1e300])
parts = st.sampled_from(["", "a", "ab", " ", "💶", "é", "%", "_", "\\", "'", "\n"])
patterns = st.text(st.sampled_from("%_ab 💶é'\n^$.*["), max_size=6)


def grown_numbers(inner, texts, truths):
    """Calculations that give numbers, of numbers."""
    either = st.one_of(inner, constants)
    return st.one_of(
        inner.map(lambda a: a.abs()),
        inner.map(lambda a: a.floor()),
        inner.map(lambda a: a.ceil()),
        st.builds(lambda a, d: a.round(d), inner, st.integers(-15, 15)),
        inner.map(lambda a: a.round()),
        inner.map(lambda a: a.sign()),
        inner.map(lambda a: a.sqrt()),
        st.builds(lambda a, b: a.round() % b.round(), inner, inner),
        st.builds(lambda a, b: a.floor() % b, inner, st.sampled_from([0, 1, -1, 7, -7, 2**62])),
        st.builds(least, inner, either),
        st.builds(greatest, inner, either, either),
        st.builds(lambda a, b: a.coalesce(b), inner, either),
        st.builds(lambda a, b: a.null_if(b), inner, either),
        st.builds(lambda a: a.clip(0, 100), inner),
        st.builds(lambda c, a, b: when(c).then(a).otherwise(b), truths, inner, either),
        st.builds(lambda c, a: when(c).then(a), truths, inner),
        st.builds(lambda a, n: a.bins(*n), inner, buckets),
        inner.map(lambda a: a.cast("integer")),
        inner.map(lambda a: a.cast("float")),
        st.builds(lambda a, b: a + b, inner, either),
        st.builds(lambda a, b: a * b, inner, either),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, b: a / b, inner, either),
    )


buckets = st.sampled_from(
    [(0, 1, 10), (0, 100, 3), (-5, 5, 7), (0, 10, 1), (0.1, 0.7, 6), (0, 2**70, 4), (-1000, 1000, 50)]
)
grown_texts = st.one_of(
    texts,
    texts.map(lambda a: a.lower()),
    texts.map(lambda a: a.upper()),
    texts.map(lambda a: a.strip()),
    st.builds(
        lambda a, s, n: a.slice(s, n), texts, st.integers(0, 4), st.one_of(st.none(), st.integers(0, 4))
    ),
    st.builds(lambda a, n: a.tail(n), texts, st.integers(0, 5)),
    st.builds(lambda a, n, fill: a.pad_start(n, fill), texts, st.integers(0, 9), parts.filter(bool)),
    st.builds(lambda a, n, fill: a.pad_end(n, fill), texts, st.integers(0, 9), parts.filter(bool)),
    st.builds(lambda a, b: concat(a, "-", b), texts, texts),
    st.builds(lambda a, old, new: a.replace(old, new), texts, parts.filter(bool), parts),
    st.builds(lambda a, b: a.coalesce(b), texts, st.one_of(texts, parts)),
    st.builds(least, texts, st.one_of(texts, parts)),
    st.builds(lambda a, b: a.null_if(b), texts, st.one_of(texts, parts)),
    integers.map(lambda a: a.cast("text")),
    st.sampled_from(["day", "flag"]).map(lambda name: col(name).cast("text")),
    st.builds(lambda a: when(a == "a").then("A").when(a > "b").then(a).otherwise("?"), texts),
)
truths = st.one_of(
    st.just(col("flag")),
    st.builds(lambda a, b: a < b, numbers, st.one_of(numbers, constants)),
    st.builds(lambda a, b: a.starts_with(b), grown_texts, st.one_of(parts, texts)),
    st.builds(lambda a, b: a.ends_with(b), grown_texts, st.one_of(parts, texts)),
    st.builds(lambda a, b: a.contains(b), grown_texts, st.one_of(parts, texts)),
    st.builds(lambda a, b: a.like(b), texts, patterns),
    st.builds(lambda a, b: (a < b) == col("flag"), grown_texts, st.one_of(parts, grown_texts)),
    st.just(when(col("flag")).then("a").otherwise("B") < "b"),
    st.builds(lambda a: a.coalesce(False), st.just(col("flag"))),
    st.builds(lambda c: when(c.is_null()).then(False).otherwise(~c), st.just(col("flag"))),
)
offsets = (
    st.one_of(st.integers(-40, 40), st.integers(-9998, 9998)),
    st.sampled_from(["day", "week", "month", "year"]),
)
days = st.one_of(
    st.sampled_from(["day", "end"]).map(col),
    st.builds(
        lambda a, unit: a.truncate(unit),
        moments,
        st.sampled_from(["year", "quarter", "month", "week", "day"]),
    ),
    moments.map(lambda a: a.cast("date")),
    st.just(col("written").cast("date")),
    st.builds(lambda a, n, unit: a.offset(n, unit), st.sampled_from(["day", "end"]).map(col), *offsets),
    st.builds(greatest, st.just(col("day")), st.one_of(st.just(col("end")), st.sampled_from(DAYS))),
    st.builds(lambda a: col("day").coalesce(a), st.sampled_from(DAYS)),
)
hours = st.one_of(
    st.builds(lambda a, n, unit: a.offset(n, unit), times, *offsets),
    st.builds(lambda a, n: a.offset(n, "minute"), times, st.integers(-(10**7), 10**7)),
    st.builds(lambda a: a.truncate("hour"), times),
    moments.filter(lambda a: a.expression.name != "at").map(lambda a: a.cast("timestamp")),
    st.just(col("at").cast("timestamp")),
    st.builds(lambda a: least(col("seen"), a), st.sampled_from([*TIMES, *DAYS])),
)
of_moments = st.one_of(
    *(
        st.one_of(moments, days).map(lambda a, part=part: getattr(a, part)())
        for part in ("year", "quarter", "month", "day", "day_of_week", "day_of_year", "week", "epoch")
    ),
    *(times.map(lambda a, part=part: getattr(a, part)()) for part in ("hour", "minute", "second")),
    st.builds(lambda a, b: a.days_since(b), moments, st.one_of(moments, st.sampled_from(DAYS))),
    st.builds(lambda a, b: a - b, days, days),
)
of_texts = st.one_of(
    grown_texts.map(lambda a: a.length()),
    st.builds(lambda a, b: a.position(b), grown_texts, st.one_of(parts, texts)),
    st.sampled_from(["integer", "float"]).map(lambda kind: col("written").cast(kind)),
    st.sampled_from(["integer", "float"]).map(lambda kind: col("flag").cast(kind)),
)
calculated = st.one_of(
    st.recursive(
        st.one_of(numbers, numbers, of_texts, of_moments),
        lambda inner: grown_numbers(inner, texts, truths),
        max_leaves=3,
    ),
    grown_numbers(numbers, texts, truths),
    grown_texts,
    truths,
    days,
    hours,
    of_moments,
    of_texts,
)
"""Formulas of every type over the columns of `SCHEMA`."""
