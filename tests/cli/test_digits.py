"""Six digits, rounded to the stated side."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.digits import above, below, reading

FRACTIONS = st.fractions(min_value=0, max_value=10**12, max_denominator=10**9)


@given(FRACTIONS)
def test_what_is_written_lies_on_its_side_and_near(value):
    high, low = (Fraction(text.replace(",", "")) for text in (above(value), below(value)))
    assert low <= value <= high
    assert high - low <= max(value, low) / 10**5


@pytest.mark.parametrize(
    ("value", "high", "low"),
    [
        (Fraction(1, 10), "0.1", "0.1"),
        (Fraction(1, 3), "0.333334", "0.333333"),
        (Fraction(0), "0", "0"),
        (Fraction(20), "20", "20"),
        (Fraction(12345678), "12,345,700", "12,345,600"),
        (Fraction(1, 10**7), "1e-7", "1e-7"),
        (Fraction(10) ** 40, "1e+40", "1e+40"),
    ],
)
def test_how_it_is_written(value, high, low):
    assert (above(value), below(value)) == (high, low)


def test_readings_are_the_fractions_they_stand_for():
    assert reading(0.30000000000000004) == "0.300001"
    assert reading(0.30000000000000004, Fraction(3, 10)) == "0.3"
    assert reading(0.1) == "0.1"
    assert reading(0.25, Fraction(3, 10)) == "0.25"
    assert reading(inf) == "infinity"
