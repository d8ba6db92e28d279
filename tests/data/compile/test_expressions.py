"""Conditions mean on the engine what they mean on paper, for every row."""

from __future__ import annotations

import datetime
from decimal import Decimal

import ibis
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import oracle, strategies
from discreet.data import EACH_ROW, Bounds, Table, Type, check_condition, col
from discreet.data.compile.expressions import compile_expression
from discreet.data.engines.base import fetch
from effort import examples

ibis_warns = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def truths(table, condition):
    """The value of a condition in each row."""
    check_condition(condition.expression, table.schema)
    rows = table._relation
    return fetch(rows.select(truth=compile_expression(condition.expression, rows)), table._backend)[
        "truth"
    ].to_pylist()


@settings(max_examples=examples(100))
@given(strategies.formulas, strategies.rows_of(st.just(1), min_size=1, max_size=8))
def test_conditions_are_those_of_the_oracle(formula, rows):
    table = strategies.declared(rows, {})
    assert truths(table, formula) == [oracle.evaluate(formula.expression, row) for row in rows]


COMPARISONS = [
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a.isin([b]),
]
NUMBERS = [0, -1, 2.5, 0.1, -128, 127, 128, 255, 256, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64]
NUMBERS += [-(2**63) - 1, 1e300, 10**400, -(10**400), "1e-400"]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pyarrow.int8(), [0, -1, -128, 127, None]),
        (pyarrow.uint8(), [0, 255, None]),
        (pyarrow.int32(), [0, -(2**31), 2**31 - 1, None]),
        (pyarrow.int64(), [0, -(2**63), 2**63 - 1, 2**53 + 1, 2**53, None]),
        (pyarrow.uint64(), [0, 2**64 - 1, 2**63, 2**63 - 1, None]),
        (pyarrow.float32(), [0.5, -0.0, float("nan"), float("inf"), 16777216.0, None]),
        (pyarrow.float64(), [0.1, -0.0, float("nan"), float("-inf"), 2.0**53, 1e300, 5e-324, None]),
        (pyarrow.decimal128(4, 1), [Decimal("2.5"), Decimal("-0.1"), Decimal("999.9"), None]),
        (pyarrow.decimal128(37, 10), [Decimal("2.5"), Decimal("9" * 27 + "." + "9" * 10), None]),
        (pyarrow.decimal128(20, 0), [Decimal(2**63), Decimal(10**20 - 1), Decimal(0), None]),
    ],
)
def test_numbers_compare_exactly_whatever_their_type(kind, values):
    table = Table(pyarrow.table({"x": pyarrow.array(values, kind)}), person=EACH_ROW)
    conditions = []
    for number in NUMBERS:
        typed = Decimal(number) if isinstance(number, str) else number
        conditions += [compare(col("x"), typed) for compare in COMPARISONS]
    rows = table._relation
    named = {f"c{place}": compile_expression(one.expression, rows) for place, one in enumerate(conditions)}
    found = fetch(rows.select(**named), table._backend)
    for place, condition in enumerate(conditions):
        expected = [oracle.evaluate(condition.expression, {"x": value}) for value in values]
        assert found[f"c{place}"].to_pylist() == expected, (kind, condition.expression)


def test_columns_of_different_numeric_types_compare():
    values = {
        "a": pyarrow.array([1, 2, 3, None, 2**53 + 1], pyarrow.int64()),
        "b": pyarrow.array([1.0, 2.5, float("nan"), 1.0, 2.0**53], pyarrow.float64()),
        "c": pyarrow.array([Decimal(1), Decimal(2), None, Decimal(3), Decimal(9)], pyarrow.decimal128(5, 2)),
        "d": pyarrow.array([1, 2**64 - 1, 3, 4, 5], pyarrow.uint64()),
    }
    table = Table(pyarrow.table(values), person=EACH_ROW)
    assert truths(table, col("a") == col("b")) == [True, False, False, None, True]
    assert truths(table, col("a") < col("b")) == [False, True, True, None, False]
    assert truths(table, col("a") >= col("c")) == [True, True, None, None, True]
    assert truths(table, col("d") > col("a")) == [False, True, False, None, False]
    assert truths(table, col("a") == col("a")) == [True, True, True, None, True]


def test_instants_compare_in_utc():
    moments = [datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), None]
    for unit in ("s", "ms", "us", "ns"):
        array = pyarrow.array(moments, pyarrow.timestamp(unit, "Asia/Taipei"))
        table = Table(pyarrow.table({"at": array}), person=EACH_ROW)
        assert table.schema["at"] is Type.INSTANT
        eight = datetime.timezone(datetime.timedelta(hours=8))
        assert truths(table, col("at") == datetime.datetime(2026, 1, 1, 8, tzinfo=eight)) == [True, None]
        assert truths(table, col("at") < datetime.datetime(9999, 1, 1, tzinfo=datetime.UTC)) == [True, None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_every_unit_compare_with_every_literal(unit):
    array = pyarrow.array([0, 2**62, -(2**62), None], pyarrow.int64()).cast(pyarrow.timestamp(unit))
    table = Table(pyarrow.table({"t": array}), person=EACH_ROW)
    found = truths(table, col("t") < datetime.datetime(9999, 12, 31))
    assert found[0] is True
    assert found[3] is None


def test_far_dates_compare_with_times():
    array = pyarrow.array([0, 2**31 - 1, -(2**31), None], pyarrow.int32()).cast(pyarrow.date32())
    table = Table(pyarrow.table({"d": array}), person=EACH_ROW)
    found = truths(table, col("d") < datetime.datetime(2026, 1, 1, 12))
    assert found[0] is True
    assert found[3] is None


def test_total_arithmetic():
    huge = [1e308, -1e308, 1e150, 5e-324, float("nan"), float("inf"), 0.0, -0.0, None]
    table = Table(pyarrow.table({"x": huge, "y": huge[::-1]}), person=EACH_ROW)
    for formula in (
        col("x") * col("y"),
        col("x") / col("y"),
        col("x") - col("y"),
        1 / col("x"),
        col("x") / 0,
    ):
        assert len(truths(table, formula > 0)) == len(huge)
    assert truths(table, col("x") / 0 == 1) == [None] * len(huge)
    assert truths(table, (col("x") * 10).is_null())[:1] == [True]


def test_long_conditions_compile():
    table = Table(pyarrow.table({"x": [1, 5000]}), person=EACH_ROW)
    condition = col("x") == 0
    for number in range(1, 1500):
        condition |= col("x") == number
    assert truths(table, condition) == [True, False]


def test_deep_conditions_compile():
    table = Table(pyarrow.table({"x": [1, 2]}), person=EACH_ROW)
    condition = col("x") == 1
    for number in range(30):
        condition = ~(condition | (col("x") == 100 + number))
    assert condition.expression.depth > 60
    assert truths(table, condition) == [True, False]


@ibis_warns
def test_integers_of_128_bits_are_decimals_of_38_digits():
    connection = ibis.duckdb.connect()
    connection.raw_sql(
        "CREATE TABLE t AS SELECT unnest([0, 170141183460469231731687303715884105727]::HUGEINT[]) AS x"
    )
    table = Table(connection.table("t"), person=EACH_ROW, columns={"x": Bounds(0, 5, step=1)})
    assert truths(table, col("x") > 2.5) == [False, None]
    assert truths(table, col("x").isin([0, 0.1])) == [True, None]
