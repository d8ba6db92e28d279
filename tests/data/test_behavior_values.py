"""One behavior on every engine: the same values of conditions, numbers, texts and times in every row."""

from __future__ import annotations

import datetime
import hashlib
from decimal import Decimal
from functools import partial
from unittest import mock

import pyarrow
import pytest
from hypothesis import strategies as st

from data import function_strategies, oracle, strategies
from data.language.test_functions import admitted, check
from data.three_engines import TEXTS, generated
from discreet.data import (
    Bounds,
    Salt,
    Source,
    Type,
    check_condition,
    col,
)
from discreet.data.compile.expressions import compile_expression
from discreet.data.engines.base import double, lot
from discreet.data.grid import steps

SALT = Salt(value="5a17")
SOURCE = Source(table="t")
NAN, INFINITY = float("nan"), float("inf")


def numbered(arrow):
    """The rows, with a number for each, so that their values can be told apart."""
    return arrow.append_column("row", pyarrow.array(range(arrow.num_rows), pyarrow.int64()))


def columns_of(**values):
    """A table of columns given as (type, values), filled up with NULL to one length."""
    longest = max(len(listed) for _, listed in values.values())
    arrays = {
        name: pyarrow.array([*listed, *[None] * (longest - len(listed))], kind)
        for name, (kind, listed) in values.items()
    }
    return numbered(pyarrow.table(arrays))


def truths(engine, table, formulas):
    """The values of some conditions in each row."""
    for formula in formulas:
        check_condition(formula.expression, table.schema)
    makers = {
        f"c{place}": partial(compile_expression, formula.expression) for place, formula in enumerate(formulas)
    }
    return list(engine.values(table, **makers).values())


def assert_truths(engine, arrow, formulas):
    """Conditions over a table are those of the oracle."""
    table = engine.table(arrow)
    found = truths(engine, table, formulas)
    rows = arrow.to_pylist()
    with mock.patch.dict(oracle.TYPES, table.schema):
        for formula, values in zip(formulas, found, strict=True):
            assert values == [oracle.evaluate(formula.expression, row) for row in rows], formula.expression


@pytest.mark.hypothesis
def test_conditions_are_those_of_the_oracle(engine):
    @generated(
        engine,
        st.lists(strategies.formulas, min_size=25, max_size=25),
        strategies.rows_of(st.just(1), min_size=12, max_size=20),
    )
    def check(formulas, rows):
        assert_truths(engine, numbered(strategies.arrow(rows)), formulas)


TYPES = {
    "int8": (pyarrow.int8(), [0, -1, -128, 127]),
    "uint8": (pyarrow.uint8(), [0, 255]),
    "int32": (pyarrow.int32(), [0, -(2**31), 2**31 - 1]),
    "int64": (pyarrow.int64(), [0, -(2**63), 2**63 - 1, 2**53 + 1, 2**53]),
    "uint64": (pyarrow.uint64(), [0, 2**64 - 1, 2**63, 2**63 - 1]),
    "float32": (pyarrow.float32(), [0.5, -0.0, NAN, INFINITY, 16777216.0]),
    "float64": (pyarrow.float64(), [0.1, -0.0, NAN, -INFINITY, 2.0**53, 1e300, 5e-324, -1e308]),
    "decimal4": (pyarrow.decimal128(4, 1), [Decimal("2.5"), Decimal("-0.1"), Decimal("999.9")]),
    "decimal37": (pyarrow.decimal128(37, 10), [Decimal("2.5"), Decimal("9" * 27 + "." + "9" * 10)]),
    "decimal38": (pyarrow.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(1 - 10**38), Decimal(3)]),
    "decimal29": (pyarrow.decimal128(29, 28), [Decimal("0.1234567890123456789012345678"), Decimal("-9")]),
}
NUMBERS = [
    0,
    -1,
    2.5,
    0.1,
    128,
    255,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**400,
    Decimal("1e-400"),
]


def test_numbers_of_every_type_compare_exactly(engine):
    arrow = columns_of(**TYPES)
    formulas = []
    for name in TYPES:
        for number in NUMBERS:
            formulas += [col(name) < number, col(name) == number]
        formulas += [col(name).isin(NUMBERS), col(name) >= col("float64"), col(name).is_null()]
    for start in range(0, len(formulas), 120):  # a statement of all columns at once takes Spark long
        assert_truths(engine, arrow, formulas[start : start + 120])


BOUNDS = [
    Bounds(0, 5000, step=0.01),
    Bounds(-1, 1, step="1/3"),
    Bounds(-(2**52), 2**52, step=1),
    Bounds(0, 10**9, step=1000),
    Bounds(18, 65, step="1/7", nan=18, infinity=65, null=20),
    Bounds(-3, 3, step=1, infinity="drop", null=0, nan=-3),
]


def test_numbers_of_every_type_become_the_integers_of_the_oracle(engine):
    arrow = columns_of(**TYPES, flag=(pyarrow.bool_(), [True, False]))
    table = engine.table(arrow)
    makers = {
        f"{name} {place}": lambda rows, name=name, bounds=bounds: steps(rows[name], bounds)
        for name in [*TYPES, "flag"]
        for place, bounds in enumerate(BOUNDS)
    }
    for column, found in engine.values(table, **makers).items():
        name, place = column.split()
        values = arrow[name].to_pylist()
        assert found == [oracle.steps(value, BOUNDS[int(place)]) for value in values], (
            name,
            BOUNDS[int(place)],
        )


def test_text_compares_by_code_point(engine):
    arrow = columns_of(text=(pyarrow.string(), [*TEXTS, None]))
    assert_truths(engine, arrow, [col("text") < text for text in TEXTS])
    assert_truths(engine, arrow, [col("text") == text for text in TEXTS])
    assert_truths(engine, arrow, [col("text").isin(TEXTS[::2]), col("text") >= col("text")])


def test_lots_and_lengths_are_those_of_python(engine):
    texts = [*TEXTS, *(str(number) for number in range(200))]
    table = engine.table(columns_of(text=(pyarrow.string(), texts)))
    found = engine.values(
        table, lot=lambda rows: lot(rows["text"]), length=lambda rows: rows["text"].length()
    )
    digests = [hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts]
    assert found == {"lot": [int(one[:15], 16) for one in digests], "length": [len(text) for text in texts]}


def test_doubles_reach_the_engine_to_the_last_bit(engine):
    numbers = [0.1, 1e-7, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, -0.3, INFINITY]
    table = engine.table(columns_of(x=(pyarrow.int64(), [1])))
    makers = {f"c{place}": lambda _, number=number: double(number) for place, number in enumerate(numbers)}
    assert [values[0] for values in engine.values(table, **makers).values()] == numbers


def test_points_in_time_compare_in_utc(engine):
    utc, noon = datetime.UTC, datetime.datetime(2026, 1, 1, 12)
    eight = datetime.timezone(datetime.timedelta(hours=8))
    arrow = columns_of(
        at=(
            pyarrow.timestamp("us", "UTC"),
            [noon.replace(tzinfo=utc), datetime.datetime(1969, 7, 20, tzinfo=utc)],
        ),
        seen=(pyarrow.timestamp("us"), [noon, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)]),
        day=(pyarrow.date32(), [noon.date(), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    )
    table = engine.table(arrow)
    assert [table.schema[name] for name in ("at", "seen", "day")] == [Type.INSTANT, Type.TIMESTAMP, Type.DATE]
    formulas = [
        col("at") == noon.replace(hour=20, tzinfo=eight),
        col("at") < datetime.datetime(1970, 1, 1, tzinfo=utc),
        col("at") <= noon.replace(microsecond=1, tzinfo=utc),
        col("seen") == noon,
        col("seen") > datetime.datetime(9999, 12, 31, 23, 59, 59, 999998),
        col("seen") < noon.date(),
        col("day") < noon,
        col("day").isin([noon.date(), datetime.datetime(1, 1, 1)]),
        col("day") == datetime.date(9999, 12, 31),
    ]
    found = truths(engine, table, formulas)
    rows = arrow.to_pylist()
    assert found == [[oracle.evaluate(formula.expression, row) for row in rows] for formula in formulas]


def test_arithmetic_is_total(engine):
    huge = [1e308, -1e308, 1e150, 5e-324, NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e20, 1e-21]
    arrow = columns_of(
        x=(pyarrow.float64(), huge),
        y=(pyarrow.float64(), huge[::-1]),
        k=(pyarrow.int64(), [2**63 - 1, -(2**63), 0]),
        d=(pyarrow.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(0)]),
    )
    x, y, k, d = (col(name) for name in "xykd")
    values = [x * y, x / y, x - y, 1 / x, x / 0, k * k, k / k, k - d, d * d * d, 1 / d, x * x * y * y]
    assert_truths(
        engine, arrow, [condition for value in values for condition in (value > 0.5, value.is_null())]
    )


@pytest.mark.hypothesis
def test_calculations_are_those_of_the_oracle(engine):
    @generated(
        engine,
        st.lists(function_strategies.calculated.filter(admitted), min_size=15, max_size=15),
        st.lists(function_strategies.row, min_size=12, max_size=12),
    )
    def check_all(formulas, rows):
        table = engine.table(function_strategies.numbered(rows))
        makers = {
            f"c{place}": partial(compile_expression, one.expression) for place, one in enumerate(formulas)
        }
        found = engine.values(table, **makers)
        for formula, values in zip(formulas, found.values(), strict=True):
            check(values, formula, rows)
