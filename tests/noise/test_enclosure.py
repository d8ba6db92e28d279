from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.noise.enclosure import exponential, product, quotient
from noise.oracle import high

BITS = st.integers(1, 900)
SMALL = st.fractions(0, 4, max_denominator=10**6)
WIDE = st.fractions(0, 2000, max_denominator=10**9)
LONG = st.builds(
    lambda whole, low, length: whole + Fraction(low % (1 << length), (1 << length) - 1),
    st.integers(0, 50),
    st.integers(0, 1 << 1000),
    st.integers(900, 1000),
)


def encloses(enclosure: tuple[int, int], x: Fraction, bits: int) -> bool:
    exact = high.ldexp(high.exp(-high.mpf(x.numerator) / x.denominator), bits)
    return enclosure[0] <= exact <= enclosure[1]


@given(x=st.one_of(SMALL, WIDE, LONG), bits=BITS)
@settings(deadline=None)
def test_exponential_encloses_and_is_two_units_wide(x, bits):
    enclosure = exponential(x, bits)
    assert encloses(enclosure, x, bits)
    assert 0 <= enclosure[0] <= 1 << bits
    assert enclosure[1] - enclosure[0] <= 2


@given(x=st.integers(1, 900), bits=st.integers(1, 900), above=st.integers(-1, 1))
def test_exponential_is_right_on_both_sides_of_its_cut_off(x, bits, above):
    del x
    argument = bits + Fraction(above, 3)
    enclosure = exponential(argument, bits)
    assert encloses(enclosure, argument, bits)
    if above > 0:
        assert enclosure == (0, 1)


@pytest.mark.parametrize("bits", [1, 64, 320, 5000])
def test_exponential_of_zero_is_one(bits):
    assert exponential(Fraction(0), bits) == (1 << bits, 1 << bits)


@pytest.mark.parametrize("x", [10**6, 2**64, 10**300, Fraction(10**300, 3)])
def test_exponential_of_a_huge_number_is_at_once_next_to_nothing(x):
    assert exponential(Fraction(x), 320) == (0, 1)


@pytest.mark.parametrize("exponent", [1, 40, 64, 300, 1000, 4000])
def test_exponential_of_a_tiny_number_stays_below_one(exponent):
    x = Fraction(1, 1 << exponent)
    low, high_end = exponential(x, 320)
    # 1 - x <= exp(-x) <= 1 - x + x^2 / 2
    assert low <= (1 - x + x * x / 2) * 2**320
    assert high_end >= (1 - x) * 2**320
    assert high_end - low <= 2


@given(
    a=st.tuples(st.integers(0, 10**9), st.integers(0, 99)),
    b=st.tuples(st.integers(1, 10**9), st.integers(0, 99)),
    bits=st.integers(0, 80),
)
def test_product_and_quotient_enclose_all_corners(a, b, bits):
    left, right = (a[0], a[0] + a[1]), (b[0], b[0] + b[1])
    unit = Fraction(1, 1 << bits)
    low, high_end = product(left, right, bits)
    divided_low, divided_high = quotient(left, right, bits)
    for x in left:
        for y in right:
            assert low * unit <= (x * unit) * (y * unit) <= high_end * unit
            assert divided_low * unit <= Fraction(x, y) <= divided_high * unit
    # Directed rounding gives away less than one unit at either end.
    assert (low + 1) * unit > (left[0] * unit) * (right[0] * unit)
    assert (high_end - 1) * unit < (left[1] * unit) * (right[1] * unit) or high_end == 0
    assert (divided_low + 1) * unit > Fraction(left[0], right[1])
    assert (divided_high - 1) * unit < Fraction(left[1], right[0]) or divided_high == 0


@given(
    bits=st.integers(4, 60),
    share=st.floats(0.01, 0.99),
    off=st.integers(-4, 4),
    extra=st.integers(4, 40),
)
def test_exponential_encloses_values_next_to_a_grid_point(bits, share, off, extra):
    """Where guard bits cannot hide it, either end has to be on the right side of a multiple of 2^-bits."""
    target = high.mpf(max(int(share * 2**bits), 1)) + high.ldexp(off, -extra)
    x = Fraction(int(high.floor(high.ldexp(high.log(high.ldexp(1, bits) / target), 400))), 1 << 400)
    if x >= 0:
        assert encloses(exponential(x, bits), x, bits)
