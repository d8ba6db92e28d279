"""Certified roots, logarithms, arc tangents and exponentials against mpmath at a higher precision."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import MPContext

from discreet.noise import elementary
from discreet.noise.elementary import (
    arctangent,
    enclose,
    exponential_minus,
    exponential_plus,
    logarithm,
    rational_root,
    square_root,
)

high = MPContext()
high.prec = 900

rationals = st.builds(
    lambda numerator, bits, shift: Fraction(numerator >> (120 - bits), 1 << shift),
    st.integers(0, (1 << 120) - 1),
    st.integers(0, 120),
    st.integers(0, 110),
)
precisions = st.sampled_from([8, 64, 96, 128, 320])


def real(x: Fraction):
    return high.mpf(x.numerator) / x.denominator


def holds(enclosure: tuple[int, int], value, bits: int) -> bool:
    return enclosure[0] <= high.ldexp(value, bits) <= enclosure[1]


@given(x=rationals, bits=precisions)
def test_every_function_encloses_its_value(x, bits):
    argument = enclose(x, bits)
    assert holds(argument, real(x), bits)
    assert holds(square_root(argument, bits), high.sqrt(real(x)), bits)
    assert holds(rational_root(x, bits), high.sqrt(real(x)), bits)
    assert holds(arctangent(argument, bits), high.atan(real(x)), bits)
    assert holds(exponential_minus(argument, bits), high.exp(-real(x)), bits)
    if argument[0] > 0:
        assert holds(logarithm(argument, bits), high.log(real(x)), bits)
    if x < 60:
        assert holds(exponential_plus(argument, bits), high.exp(real(x)), bits)


@given(x=rationals, bits=precisions, width=st.integers(0, 10**6))
def test_wide_arguments_are_enclosed_at_both_ends(x, bits, width):
    argument = (enclose(x, bits)[0], enclose(x, bits)[1] + width)
    for point in (x, Fraction(argument[1], 1 << bits)):
        assert holds(square_root(argument, bits), high.sqrt(real(point)), bits)
        assert holds(arctangent(argument, bits), high.atan(real(point)), bits)
        assert holds(exponential_minus(argument, bits), high.exp(-real(point)), bits)
        if argument[0] > 0:
            assert holds(logarithm(argument, bits), high.log(real(point)), bits)


@given(n=st.integers(1, 1 << 200), bits=precisions)
def test_enclosures_of_points_are_a_few_units_wide(n, bits):
    x = Fraction(n, 1 << bits)
    for width in (
        rational_root(x, bits),
        arctangent((n, n), bits),
        logarithm((n, n), bits),
        exponential_minus((n, n), bits),
    ):
        assert width[1] - width[0] <= 4


@pytest.mark.parametrize("bits", [8, 64, 320])
def test_constants(bits):
    for enclosure, value in ((elementary.pi(bits), high.pi), (elementary.log_two(bits), high.log(2))):
        assert holds(enclosure, value, bits)
        assert enclosure[1] - enclosure[0] <= 2


def test_the_logarithm_of_an_enclosure_that_reaches_zero_is_refused():
    with pytest.raises(ZeroDivisionError):
        logarithm((0, 5), 64)


@given(u=st.integers(0, 1 << 63), bits=st.just(64))
def test_the_series_themselves_enclose_without_guard_bits(u, bits):
    """What guard bits would hide: every partial sum is rounded to its own side."""
    exact = high.ldexp(high.mpf(u), -bits)
    assert holds(elementary._alternating(u, bits), high.atan(exact), bits)
    assert holds(elementary._artanh((u, u), bits), high.atanh(exact), bits)


@pytest.mark.parametrize("n", [2, 3, 5, 239])
@pytest.mark.parametrize("bits", [3, 17, 64, 100])
def test_arc_tangents_of_unit_fractions_are_enclosed_without_guard_bits(n, bits):
    enclosure = elementary._inverse_arctangent(n, bits)
    assert holds(enclosure, high.atan(high.mpf(1) / n), bits)
    assert enclosure[1] - enclosure[0] <= bits + 3
