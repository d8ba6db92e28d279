"""Numbers for readers, rounded to the stated side."""

from __future__ import annotations

import math
from fractions import Fraction
from math import inf

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.privacy.decimals import (
    above,
    below,
    float_text_above,
    float_text_below,
    percent_above,
    percent_below,
    reading,
    show_above,
    show_below,
)
from discreet.privacy.rational import rational, show

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


@given(st.floats(1e-300, 1e300))
def test_floats_are_enclosed_by_six_digits(value):
    above, below = (float(write(value).replace(",", "")) for write in (float_text_above, float_text_below))
    assert below <= value <= above
    assert above - below <= 1.1e-5 * value


def test_floats_read_well():
    assert float_text_above(0.9468668) == "0.946867"
    assert float_text_below(12112.0139) == "12,112"
    assert float_text_above(0) == "0"
    assert float_text_above(math.inf) == "infinity"


@given(st.fractions(0, 100), st.fractions(0, 10))
@example(Fraction(10), Fraction(1))
def test_shares_are_rounded_against_us(part, whole):
    above, below = percent_above(part, whole), percent_below(part, whole)
    if part > 10 * whole:
        assert above == "over 1000%"
    elif whole:
        assert Fraction(above[:-1]) / 100 >= part / whole >= Fraction(below[:-1]) / 100
        assert Fraction(above[:-1]) - Fraction(below[:-1]) <= Fraction(1, 100)
    else:
        assert above == "0.00%"


@given(st.fractions(max_denominator=10**30), st.integers(-40, 40))
def test_sentences_hold_the_fraction_or_lie_on_the_stated_side(value, power):
    value = value * Fraction(10) ** power
    high, low = (rational(write(value), "x") for write in (show_above, show_below))
    assert low <= value <= high
    assert high - low <= abs(value) / 10**5
    if not show(value).startswith("≈"):
        assert low == high == value


@pytest.mark.parametrize(
    ("scale", "high", "low"),
    [
        (1, "0.333334", "0.333333"),
        (10**8, "33333400", "33333300"),
        (10**16, "3.33334e15", "3.33333e15"),
        (Fraction(1, 10**6), "3.33334e-7", "3.33333e-7"),
        (Fraction(1, 10**400), "3.33334e-401", "3.33333e-401"),
    ],
)
def test_both_sides_of_a_sentence_are_spelled_alike(scale, high, low):
    value = Fraction(10**40 + 1, 3 * 10**40) * scale
    assert (show_above(value), show_below(value)) == (high, low)
