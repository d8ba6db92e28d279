"""The rules of the records: values on public keys and at doubles are those of the oracle."""

from __future__ import annotations

import datetime
from fractions import Fraction
from itertools import product

import pytest

from data import function_oracle
from discreet.data import Bounds, Dates, Keys, Type, col
from discreet.data.facts.inferred import infer
from discreet.data.language.column_facts import ColumnFacts
from discreet.data.language.functions import FUNCTIONS
from discreet.data.language.functions.rules import INTEGERS, MOMENTS, NUMBERS, TEXTS

INTEGER = [-(10**12), -151, -15, -2, -1, 0, 1, 2, 3, 14, 15, 149, 150, 10**12]
SAMPLES = {
    NUMBERS: INTEGER,
    INTEGERS: INTEGER,
    TEXTS: ["", " ", "a", " Aé z ", "aaaa", "-a-b-", "ÉéßǄ"],
    MOMENTS: [datetime.date(*day) for day in ((1, 1, 1), (2024, 2, 29), (2023, 12, 31), (9999, 12, 31))],
}
CONSTANTS = {
    "round": [(), (2,), (-1,), (-2,), (-15,)],
    "width_bucket": [(0, 10, 4), (Fraction(-1, 3), Fraction(1, 3), 7), (-200, 200, 1)],
    "substring": [(1,), (2,), (9,), (1, 0), (2, 3)],
    "right": [(0,), (1,), (2,), (9,)],
    "lpad": [(0, "x"), (3, "-"), (9, "ab")],
    "rpad": [(0, "x"), (3, "-"), (9, "ab")],
    "replace": [("a", ""), ("aa", "a"), ("-", "--"), ("x", "y")],
}
UNITS = ("year", "quarter", "month", "week", "day")


def calls(function):
    """Operands of a function: values that keys can have, with constants where it takes them."""
    values = SAMPLES[function.takes]
    if function.name == "date_trunc":
        return [operands for operands in product(UNITS, values) if operands != ("week", values[-1])]
    if function.name == "date_add":
        amounts = [
            ("day", 1),
            ("day", -400),
            ("month", 1),
            ("month", -13),
            ("month", 119_987),
            ("day", 3_652_058),
        ]
        return [(*amount, value) for amount, value in product(amounts, values)]
    if function.name in CONSTANTS:
        return [(value, *constants) for value, constants in product(values, CONSTANTS[function.name])]
    return list(product(values, repeat=function.operands[0]))


@pytest.mark.parametrize("function", [one for one in FUNCTIONS.values() if one.value is not None], ids=repr)
def test_values_on_keys_are_those_of_the_oracle(function):
    for operands in calls(function):
        found, expected = function.value(*operands), function_oracle.call(function, operands)
        assert found == expected, (operands, found, expected)
        assert type(found) is type(expected)


@pytest.mark.parametrize("name", ["floor", "ceiling"])
def test_values_at_doubles_are_those_of_the_oracle(name):
    for number in (-2.5, -2.0, -0.0, 0.49999999999999994, 0.5, 1.0, 4503599627370495.5):
        assert FUNCTIONS[name].at(number, (), False) == function_oracle.call(FUNCTIONS[name], (number,))


def test_buckets_at_doubles_are_those_of_the_oracle():
    bucket = FUNCTIONS["width_bucket"]
    for constants in CONSTANTS["width_bucket"]:
        for number in (-1e9, -0.5, -1 / 3, 0.0, 0.3, 2.5, 9.999999, 10.0, 1e9):
            assert bucket.at(number, constants, False) == function_oracle.call(bucket, (number, *constants))


def test_a_bucket_at_an_end_that_no_double_is_says_nothing_of_integers():
    edge = 2**53 + 1
    assert FUNCTIONS["width_bucket"].at(float(2**53), (edge, edge + 2, 1), True) is None
    assert FUNCTIONS["width_bucket"].at(float(2**53), (edge, edge + 2, 1), False) == 1.0


def test_sign_is_minus_one_nought_or_one_whatever_is_declared():
    sign = col("x").sign().expression
    for facts in (
        ColumnFacts(type=Type.FLOAT),
        ColumnFacts(type=Type.INTEGER),
        ColumnFacts(type=Type.DECIMAL, bounds=Bounds(-(10**6), 10**6)),
    ):
        found = infer(sign, {"x": facts})
        assert found.type is Type.INTEGER
        assert (found.bounds.lower, found.bounds.upper, found.bounds.step) == (-1, 1, 1)
        assert found.keys == Keys([-1, 0, 1])
    assert infer(sign, {"x": ColumnFacts(type=Type.INTEGER, keys=Keys([5, 7]))}).keys == Keys([1])


def test_what_is_added_moves_the_declared_days():
    facts = ColumnFacts(type=Type.DATE, dates=Dates(datetime.date(2024, 1, 30), datetime.date(2024, 3, 31)))
    moved = infer(col("d").offset(1, "month").expression, {"d": facts})
    assert moved.dates == Dates(datetime.date(2024, 2, 29), datetime.date(2024, 4, 30))
    assert infer(col("d").offset(9000, "year").expression, {"d": facts}).dates is None
    times = {"d": ColumnFacts(type=Type.TIMESTAMP, dates=facts.dates)}
    later = infer(col("d").offset(1, "second").expression, times).dates
    assert later == Dates(datetime.date(2024, 1, 30), datetime.date(2024, 4, 1))


def test_seconds_are_bounded_by_the_declared_days():
    facts = ColumnFacts(
        type=Type.TIMESTAMP, dates=Dates(datetime.date(1969, 12, 31), datetime.date(1970, 1, 1))
    )
    found = infer(col("d").epoch().expression, {"d": facts}).bounds
    assert (found.lower, found.upper, found.step) == (-86_400, 86_399, 1)


@pytest.mark.parametrize(
    ("formula", "facts", "low", "high"),
    [
        (col("x").ln(), ColumnFacts(type=Type.FLOAT), -46.5, 46.5),
        (col("x").ln(), ColumnFacts(type=Type.INTEGER, bounds=Bounds(1, 100)), 0, 4.7),
        (col("x").log(10), ColumnFacts(type=Type.INTEGER, bounds=Bounds(-5, 1000)), -20.2, 3.01),
        (col("x").log(0.5), ColumnFacts(type=Type.INTEGER, bounds=Bounds(1, 8)), -3.01, 0),
        (col("x").exp(), ColumnFacts(type=Type.INTEGER, bounds=Bounds(-100, 2)), 0, 7.4),
        (col("x").exp(), ColumnFacts(type=Type.INTEGER, bounds=Bounds(0, 1000)), 0, 1e20),
    ],
)
def test_ranges_of_logarithms_and_powers_of_e(formula, facts, low, high):
    found = infer(formula.expression, {"x": facts}).bounds
    assert found.lower == pytest.approx(low, rel=0.1, abs=0.1)
    assert found.upper == pytest.approx(high, rel=0.1, abs=0.1)


def test_the_exponential_function_has_no_upper_bound_where_its_operand_has_none():
    assert infer(col("x").exp().expression, {"x": ColumnFacts(type=Type.FLOAT)}).bounds is None
