"""Numbers become the integers of the oracle, near their grid points and within their bounds."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import oracle
from discreet.data import EACH_ROW, Bounds, Table
from discreet.data.engines.base import fetch
from discreet.data.grid import steps
from effort import examples

SPECIAL = [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1e308, -1e308, None]
ALL_BOUNDS = [
    Bounds(0, 5000, step=0.01),
    Bounds(-3, 3, step=0.1),
    Bounds(-300, 500, step=5),
    Bounds(-1, 1, step="1/3"),
    Bounds(0, 2**52, step=1),
    Bounds(-(2**52), 2**52, step=1),
    Bounds(0, 10**9, step=1000),
    Bounds(18, 65, step="1/7", nan=18, infinity=65, null=20),
    Bounds(-3, 3, step=1, infinity="drop", null=0, nan=-3),
]


def indices(values, kind, bounds):
    table = Table(pyarrow.table({"x": pyarrow.array(values, kind)}), person=EACH_ROW)
    rows = table._relation
    return fetch(rows.select(k=steps(rows["x"], bounds)), table._backend)["k"].to_pylist()


@settings(max_examples=examples(60))
@given(st.sampled_from(ALL_BOUNDS), st.lists(st.one_of(st.floats(-10, 5000), st.floats()), max_size=30))
def test_floats_become_the_integers_of_the_oracle(bounds, values):
    values = values + SPECIAL
    found = indices(values, pyarrow.float64(), bounds)
    assert found == [oracle.steps(value, bounds) for value in values]
    for value, index in zip(values, found, strict=True):
        assert index is None or bounds.lower_steps <= index <= bounds.upper_steps
        if value is not None and math.isfinite(value) and bounds.lower <= Fraction(value) <= bounds.upper:
            distance = abs(Fraction(value) / bounds.step - index)
            assert distance <= Fraction(1, 2) + Fraction(abs(index) + 1, 2**51)


@pytest.mark.few(20)
@pytest.mark.parametrize("bounds", ALL_BOUNDS)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pyarrow.int8(), [-128, -1, 0, 1, 127, None]),
        (pyarrow.int64(), [-(2**63), -1, 0, 1, 2, 3, 2**53 + 1, 2**63 - 1, None]),
        (pyarrow.uint64(), [0, 1, 2**63 - 1, 2**63, 2**64 - 1, None]),
        (pyarrow.bool_(), [True, False, None]),
        (pyarrow.float32(), [0.5, 1.5, 2.5, -0.5, float("nan"), float("inf"), None]),
        (pyarrow.decimal128(12, 3), [Decimal("0.005"), Decimal("17.125"), Decimal("-0.5"), None]),
        (pyarrow.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(1 - 10**38), Decimal(3), None]),
    ],
)
def test_numbers_of_every_type_become_integers(kind, values, bounds):
    assert indices(values, kind, bounds) == [oracle.steps(value, bounds) for value in values]


def test_halves_go_upward_and_cents_stay_cents():
    assert indices([0.5, 1.5, -0.5, -1.5], pyarrow.float64(), Bounds(-5, 5, step=1)) == [1, 2, 0, -1]
    cents = [number / 100 for number in range(10_000)]
    assert indices(cents, pyarrow.float64(), Bounds(0, 100, step=0.01)) == list(range(10_000))


def test_each_special_value_has_its_rule():
    values = [float("nan"), float("inf"), float("-inf"), None]
    assert indices(values, pyarrow.float64(), Bounds(-3, 7, step=1)) == [None, 7, -3, None]
    rules = Bounds(-3, 7, step=1, nan=1, infinity=2, null=3)
    assert indices(values, pyarrow.float64(), rules) == [1, 2, 2, 3]
    assert indices(values, pyarrow.float64(), Bounds(-3, 7, step=1, infinity="drop")) == [None] * 4
