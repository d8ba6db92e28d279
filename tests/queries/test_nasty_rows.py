"""Rows that hold the worst values of every type: whatever is accepted is answered, since an error would tell.

Division by zero, texts that are not numbers, overflow, days that no calendar has, NaN, text of a million
characters: all have a value or NULL. Every calculation here is counted, compared, grouped by and aggregated.
"""

# ruff: noqa: E501, RUF005, S608

from __future__ import annotations

import datetime

import ibis
import pytest

from discreet.data import Bounds, Dates, Keys, Limits, Table, Type, col, compute
from discreet.data.key_counts import compute_key_counts
from discreet.data.language.plan import KeyPlan
from discreet.data.language.relations import Source
from discreet.data.salt import Salt
from discreet.queries.binding.bind import bind
from discreet.queries.question.dataframe import TableRequest
from discreet.queries.sql.select import parse
from queries.worlds import created

COLUMNS = {
    "i": ("BIGINT", ["0", "-1", "1", "9223372036854775807", "-9223372036854775808", "4503599627370497"]),
    "j": ("INTEGER", ["0", "-1", "2147483647", "-2147483648"]),
    "u": ("UBIGINT", ["0", "18446744073709551615", "9223372036854775808"]),
    "h": (
        "HUGEINT",
        ["0", "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728"],
    ),
    "d": ("DECIMAL(38, 10)", ["0", "9999999999999999999999999999.9999999999", "-0.0000000001"]),
    "f": (
        "DOUBLE",
        [
            "0",
            "'-0.0'",
            "'nan'",
            "'inf'",
            "'-inf'",
            "1.8e308",
            "-1.8e308",
            "5e-324",
            "9223372036854775808",
            "0.5",
        ],
    ),
    "g": ("REAL", ["0", "'nan'", "'inf'", "'-inf'", "3.4e38", "1e-45"]),
    "t": (
        "VARCHAR",
        [
            "''",
            "' '",
            "'nan'",
            "'inf'",
            "'1e999'",
            "'9223372036854775808'",
            "'-'",
            "'+'",
            "'.'",
            "'٣'",
            "'2026-02-30'",
        ]
        + [
            "'0000-00-00'",
            "'9999-99-99'",
            "'2026-13-01'",
            "'2024-02-29'",
            "'%'",
            "'\\'",
            "repeat('x', 1000000)",
        ]
        + [
            "repeat('9', 400)",
            "'a' || chr(0) || 'b'",
            "chr(128512)",
            "'1_0'",
            "'0x10'",
            "'true'",
            "'- 5'",
            "' 7 '",
        ],
    ),
    "y": (
        "DATE",
        [
            "'0001-01-01'",
            "'9999-12-31'",
            "'infinity'",
            "'-infinity'",
            "'290000-01-01'",
            "'4000-01-01 (BC)'",
            "'2026-01-31'",
        ],
    ),
    "s": (
        "TIMESTAMP",
        [
            "'0001-01-01'",
            "'9999-12-31 23:59:59.999999'",
            "'infinity'",
            "'-infinity'",
            "'290000-01-01'",
            "'4000-01-01 (BC) 00:00:00'",
        ],
    ),
    "z": (
        "TIMESTAMPTZ",
        ["'0001-01-01 00:00:00+00'", "'infinity'", "'-infinity'", "'290000-01-01 00:00:00+00'"],
    ),
    "n": ("TIMESTAMP_NS", ["'1677-09-22'", "'2262-04-11 23:47:16.854775'", "'infinity'", "'-infinity'"]),
    "b": ("BOOLEAN", ["TRUE", "FALSE"]),
}
DECLARED = {
    "i": Bounds(-5, 5),
    "f": Bounds(-1, 1, step=0.001, nan=0, infinity="drop", null=1),
    "g": Bounds(-1, 1, step=0.5),
    "d": Bounds(-10, 10, step=0.1),
    "h": Bounds(-3, 3, step=1),
    "u": Type.INTEGER,
    "t": Keys(["", "nan", None]),
    "y": Dates(datetime.date(2026, 1, 1), datetime.date(2026, 2, 1)),
}


@pytest.fixture(scope="module")
def tables():
    connection = ibis.duckdb.connect()
    connection.raw_sql(
        f"CREATE TABLE v (patient INTEGER, {', '.join(f'{name} {kind}' for name, (kind, _) in COLUMNS.items())})"
    )
    longest = max(len(values) for _, values in COLUMNS.values()) + 1
    for place in range(longest):
        # Every value meets others of the other columns, and NULL.
        row = [
            "NULL"
            if place % (len(values) + 1) == len(values)
            else f"CAST({values[place % (len(values) + 1)]} AS {kind})"
            for kind, values in COLUMNS.values()
        ]
        connection.raw_sql(f"INSERT INTO v VALUES ({place % 4}, {', '.join(row)})")
    limits = Limits(groups=2, rows_per_group=3)
    return {"v": Table(created(connection, "v"), person="patient", limits=limits, columns=DECLARED)}


NUMBERS = ["i", "j", "u", "h", "d", "f", "g"]
MOMENTS = ["y", "s", "z", "n"]
CALCULATED = [
    *(f"{one} / {other}" for one in ("i", "f", "h", "d") for other in ("j", "g", "u", "0 * i")),
    *(f"{one} {sign} {other}" for one in ("i", "f", "u") for sign in "+-*" for other in ("i", "f", "h", "d")),
    *(f"i * i * i * {one}" for one in NUMBERS),
    *(f"{name}({one})" for name in ("ABS", "FLOOR", "CEILING", "ROUND", "SIGN", "SQRT") for one in NUMBERS),
    *(f"ROUND({one}, {digits})" for one in NUMBERS for digits in (2, -3)),
    *(f"CAST({one} AS {kind})" for one in NUMBERS for kind in ("INTEGER", "DOUBLE")),
    *(f"CAST(t AS {kind})" for kind in ("INTEGER", "DOUBLE", "DATE")),
    *(f"CAST({one} AS TEXT)" for one in ("i", "j", "u", "y", "b")),
    *(f"CAST({one} AS {kind})" for one in MOMENTS for kind in ("DATE", "TIMESTAMP")),
    *(f"MOD({one}, {other})" for one in ("i", "j", "u") for other in ("i", "j", "u")),
    *(f"WIDTH_BUCKET({one}, -1, 1, 7)" for one in NUMBERS),
    *(f"LEAST({one}, 1)" for one in NUMBERS),
    *(f"COALESCE({one}, {other})" for one, other in (("i", "f"), ("u", "i"), ("h", "j"), ("d", "g"))),
    *(
        f"{part}({one})"
        for part in ("YEAR", "QUARTER", "MONTH", "DAY", "ISODOW", "DAYOFYEAR")
        for one in MOMENTS
    ),
    *(f"EXTRACT({part} FROM {one})" for part in ("hour", "minute") for one in ("s", "z", "n")),
    *(
        f"DATE_TRUNC('{unit}', {one})"
        for unit in ("year", "quarter", "month", "week", "day")
        for one in MOMENTS
    ),
    *(f"DATEDIFF('day', {one}, {other})" for one in MOMENTS for other in ("y", "s")),
    "y - CAST(t AS DATE)",
    *(f"{name}(t)" for name in ("UPPER", "LOWER", "TRIM", "LENGTH")),
    "SUBSTRING(t, 2, 3)",
    "SUBSTRING(t, 1000000)",
    "t || t || t",
    "REPLACE(t, 'x', 'yy')",
    "CASE WHEN t LIKE '%_x' THEN i ELSE j END",
    "CASE WHEN STARTS_WITH(t, t) AND ENDS_WITH(t, 'x') AND CONTAINS(t, '%') THEN 1 ELSE 0 END",
    "NULLIF(f, g)",
    "CASE WHEN f = f AND g > f AND h <> d AND u = i THEN 1 END",
]


def answered(text, tables):
    bound = bind(parse(text, tables), tables)
    return compute(bound.plan, tables, salt=Salt(value="salt"))


@pytest.mark.parametrize("start", range(0, len(CALCULATED), 8))
def test_every_calculation_has_a_value_or_none(start, tables):
    calculated = CALCULATED[start : start + 8]
    counted = ", ".join(f"COUNT({one}) AS n{place}" for place, one in enumerate(calculated))
    answered(f"SELECT {counted} FROM v", tables)
    told_apart = ", ".join(f"COUNT(DISTINCT {one}) AS n{place}" for place, one in enumerate(calculated))
    answered(f"SELECT t, {told_apart} FROM v GROUP BY t", tables)
    below = ", ".join(
        f"MAX(c{place}) AS m{place}, COUNT(DISTINCT c{place}) AS d{place}" for place in range(len(calculated))
    )
    named = ", ".join(f"{one} AS c{place}" for place, one in enumerate(calculated))
    grouped = f"SELECT patient, {below} FROM (SELECT patient, {named} FROM v) x GROUP BY patient"
    answered(f"SELECT COUNT(m0) AS n, COUNT(*) AS k FROM ({grouped}) x WHERE d0 < 3 OR m0 IS NULL", tables)


@pytest.mark.parametrize("column", ["i", "f", "g", "d", "h"])
def test_every_aggregate_has_a_value(column, tables):
    for text in ("SUM", "AVG", "VAR_POP", "STDDEV_SAMP", "MEDIAN", "MIN", "MAX"):
        answered(f"SELECT t, {text}({column}) AS n FROM v GROUP BY t", tables)
    answered(
        f"SELECT COVAR_POP({column}, b) AS n FROM (SELECT {column}, CAST(b AS INTEGER) AS b FROM v) x", tables
    )
    below = f"SELECT patient, t, SUM({column}) AS s, AVG({column}) AS a, MIN({column}) AS m FROM v GROUP BY patient, t"
    answered(f"SELECT COUNT(*) AS n, SUM(m) AS x FROM ({below}) x WHERE s > 0 OR a / s < 1", tables)


@pytest.mark.parametrize("column", list(COLUMNS))
def test_every_column_can_be_ordered_by_joined_and_counted(column, tables):
    numbered = f"SELECT patient, i, ROW_NUMBER() OVER (PARTITION BY patient, {column} ORDER BY {column} DESC) AS k FROM v"
    answered(f"SELECT SUM(i) AS n FROM ({numbered}) x WHERE k = 1", tables)
    joined = f"v a JOIN v b ON a.patient = b.patient AND a.{column} = b.{column}"
    answered(f"SELECT COUNT(*) AS n, COUNT(DISTINCT a.{column}) AS m FROM {joined}", tables)
    answered(f"SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, {column} FROM v) x", tables)
    twice = f"SELECT patient, {column} FROM v UNION ALL SELECT patient, {column} FROM v"
    answered(f"SELECT COUNT(DISTINCT {column}) AS n FROM ({twice}) x WHERE {column} IS NOT NULL", tables)
    if column in {"i", "j", "u", "t", "y", "b"}:
        plan = KeyPlan(source=Source(table="v"), column=column, keys=2)
        compute_key_counts(plan, tables, salt=Salt(value="salt"))


@pytest.mark.parametrize(
    "key", ["MONTH(y)", "DATE_TRUNC('week', y)", "UPPER(t)", "CAST(t AS INTEGER) > 3", "b", "i", "y"]
)
def test_every_key_of_a_calculation_finds_its_group(key, tables):
    answered(f"SELECT {key} AS k, COUNT(*) AS n, COUNT(DISTINCT f) AS m FROM v GROUP BY k", tables)


def test_in_asks_about_the_whole_condition_before_it(tables):
    below = "SELECT COUNT(*) AS n FROM v WHERE (b OR j > 1)"
    one, other = (
        answered(f"{below} {asked}", tables).values[0].tolist() for asked in ("IN (FALSE)", "= FALSE")
    )
    assert one == other


def test_a_condition_as_a_key_has_only_the_listed_values(tables):
    """Else a row whose key was not listed comes back, and whether the engine fails tells that it is there."""
    either = TableRequest(table="v").group_by(k=col("b") | (col("j") > 1)).agg(n=col("f").count_distinct())
    bound = bind(either.with_keys(k=[False]), tables)
    compute(bound.plan, tables, salt=Salt(value="salt"))
