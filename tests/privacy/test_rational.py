from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.rational import (
    confidence_level,
    float_above,
    float_below,
    float_written,
    non_negative,
    positive,
    probability,
    rational,
    show,
    whole,
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (-0.25, Fraction(-1, 4)),
        (1e-6, Fraction(1, 10**6)),
        (5e-324, Fraction(5, 10**324)),
        (-0.0, Fraction(0)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Decimal("0e999999999"), Fraction(0)),
        ("1/3", Fraction(1, 3)),
        (" -2 / 6 ", Fraction(-1, 3)),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("1e-6", Fraction(1, 10**6)),
        (np.int64(7), Fraction(7)),
        (np.uint8(255), Fraction(255)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(13421773, 2**27)),
        (np.float16(0.1), Fraction(819, 8192)),
        (np.longdouble(0.5), Fraction(1, 2)),
    ],
)
def test_a_number_is_what_was_typed(typed, meant):
    exact = rational(typed, "epsilon")
    assert exact == meant
    assert type(exact.numerator) is int
    assert type(exact.denominator) is int


def test_ten_tenths_are_one():
    assert sum((rational(0.1, "epsilon") for _ in range(10)), Fraction(0)) == 1


def test_a_fraction_of_numpy_integers_cannot_overflow():
    half = rational(Fraction(np.int64(2**62), np.int64(3)), "epsilon")
    assert half * 8 == Fraction(2**65, 3)


@pytest.mark.parametrize(
    "bad",
    [
        True,
        np.True_,
        math.nan,
        math.inf,
        -math.inf,
        np.float32("nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        None,
        [1],
        np.array([1.0]),
        1j,
        b"1",
        "",
        "nan",
        "inf",
        "1/0",
        "1/-2",
        "1//2",
        "0x10",
        "1_000",
        "٣",
        "1e",
        "--1",
    ],
)
def test_what_is_no_number_is_refused_by_name(bad):
    with pytest.raises(ParameterError, match=r"^epsilon "):
        rational(bad, "epsilon")


@pytest.mark.parametrize(
    "huge",
    [
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
        Decimal((0, (1,), 10**17)),
        "1e999999",
        "1e-999999",
        "1e99999999999999999999",
        "9" * 100_000,
        "1/" + "9" * 1300,
        "1." + "1" * 2000,
        2**4096,
        Fraction(1, 2**4096),
        10**5000,
    ],
    ids=lambda huge: type(huge).__name__,
)
def test_numbers_too_long_to_hold_are_refused_at_once(huge):
    with pytest.raises(ParameterError, match=r"^scale "):
        rational(huge, "scale")


def test_the_longest_numbers_that_are_held():
    assert rational(2**4096 - 1, "scale") == 2**4096 - 1
    assert rational("1e1233", "scale") == 10**1233


def test_messages_never_hold_the_value():
    for bad in ("secret 271828", "271828e999999", Decimal("271828e99999"), -271828):
        with pytest.raises(ParameterError) as caught:
            rational(bad, "value", positive=True)
        assert "271828" not in str(caught.value)


def test_sign_is_checked():
    with pytest.raises(ParameterError, match="greater than 0"):
        rational(0, "scale", positive=True)
    with pytest.raises(ParameterError, match="0 or greater"):
        non_negative("-1/3", "epsilon")
    assert non_negative(0, "epsilon") == 0


def test_several_numbers_are_checked_under_their_own_names():
    assert positive(scale=0.1, grid=2) == {"scale": Fraction(1, 10), "grid": Fraction(2)}
    with pytest.raises(ParameterError, match=r"^grid is not positive"):
        positive(scale=1, grid=0)


@pytest.mark.parametrize("zero", [True, False])
@pytest.mark.parametrize("one", [True, False])
def test_a_probability_lies_between_its_ends(zero, one):
    assert probability("1/3", "rate", zero=zero, one=one) == Fraction(1, 3)
    allowed = f"{'at least' if zero else 'above'} 0 and {'at most' if one else 'below'} 1"
    for value, fits in ((0, zero), (1, one), (-1e-300, False), (Fraction(10**300 + 1, 10**300), False)):
        if fits:
            assert probability(value, "rate", zero=zero, one=one) == value
        else:
            with pytest.raises(ParameterError, match=f"^rate is out of range; allowed: {allowed}$"):
                probability(value, "rate", zero=zero, one=one)


def test_a_confidence_leaves_a_failure_that_is_a_float():
    closest = 1 - Fraction(1, 10**300)
    assert confidence_level(0.95) == Fraction(19, 20)
    assert float(1 - confidence_level(closest)) > 0
    for bad in (0, 1, -1, 2, 1 - Fraction(1, 10**301)):
        with pytest.raises(ParameterError, match=r"^confidence is out of range"):
            confidence_level(bad)


@pytest.mark.parametrize(
    "bad", [True, 1.0, "1", None, Fraction(1), -1, 0, 11, np.float64(3), 2**5000], ids=type
)
def test_whole_refuses_what_is_no_integer_in_range(bad):
    with pytest.raises(ParameterError, match=r"^size "):
        whole(bad, "size", least=1, most=10)


def test_whole_returns_plain_integers():
    assert type(whole(np.int32(5), "size", least=1)) is int


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_comes_back(x):
    assert float(rational(x, "x")) == x


@given(st.integers(-(10**40), 10**40), st.integers(1, 10**40))
def test_directed_floats_enclose_tightly(numerator, denominator):
    x = Fraction(numerator, denominator)
    low, high = float_below(x), float_above(x)
    assert Fraction(low) <= x <= Fraction(high)
    assert high in (low, math.nextafter(low, math.inf))
    assert (low == high) == (Fraction(float(x)) == x)


def test_directed_floats_at_the_ends():
    largest = Fraction(sys.float_info.max)
    assert float_above(largest) == sys.float_info.max
    assert float_above(largest + 1) == math.inf
    assert float_below(largest + 1) == sys.float_info.max
    assert float_below(-largest * 2) == -math.inf
    assert float_above(-largest * 2) == -sys.float_info.max
    assert float_above(Fraction(1, 10**400)) == 5e-324
    assert float_below(Fraction(1, 10**400)) == 0.0


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(-3), "-3"),
        (Fraction(1, 4), "0.25"),
        (Fraction(100), "100"),
        (Fraction(10**14), "100000000000000"),
        (Fraction(1, 10**6), "1e-6"),
        (Fraction(15, 10**11), "1.5e-10"),
        (Fraction(10**30), "1e30"),
        (Fraction(1, 3), "1/3"),
        (Fraction(22, 7), "22/7"),
        (Fraction(10**20 + 1, 3 * 10**20), "≈0.333333"),
        (Fraction(1, 3**2000), "≈5.72125e-955"),
        (Fraction(2**40 + 1), "1099511627777"),
    ],
)
def test_show(x, text):
    assert show(x) == text


def test_a_number_that_is_spelled_too_long_is_refused_before_it_is_computed():
    for spelled in ("1." + "0" * 1300, Decimal("1." + "0" * 1300), Decimal("1" * 10**5)):
        with pytest.raises(ParameterError, match="too long"):
            rational(spelled, "scale")
    assert rational("1." + "0" * 1200, "scale") == 1


@given(st.fractions())
def test_a_written_float_reads_as_the_number_or_is_on_the_stated_side(x):
    for found, on_its_side in (
        (float_written(x), float_above(x)),
        (float_written(x, below=True), float_below(x)),
    ):
        assert rational(found, "x") == x or found == on_its_side


def test_amounts_that_were_typed_are_written_as_typed():
    tenth = Fraction(1, 10)
    assert float_written(3 * tenth) == 0.3 < float_above(3 * tenth)
    assert float_written(26 * tenth, below=True) == 2.6 > float_below(26 * tenth)
    assert float_written(Fraction(10) ** 400) == math.inf
