"""The normal tail against mpmath."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import MPContext

from discreet.noise.elementary import enclose
from discreet.noise.normal import upper_tail

high = MPContext()
high.prec = 1200


def tail(x: Fraction):
    return high.erfc(high.mpf(x.numerator) / x.denominator / high.sqrt(2)) / 2


@given(
    x=st.fractions(min_value=-40, max_value=40, max_denominator=10**9),
    bits=st.sampled_from([16, 64, 128, 320]),
)
def test_the_tail_is_enclosed_tightly(x, bits):
    low, above = upper_tail(enclose(x, bits), bits)
    assert low <= high.ldexp(tail(x), bits) <= above
    assert above - low <= 4


@given(x=st.fractions(min_value=-20, max_value=20, max_denominator=10**6), width=st.integers(0, 1 << 70))
def test_intervals_are_enclosed_at_both_ends(x, width):
    bits = 64
    argument = enclose(x, bits)[0], enclose(x, bits)[1] + width
    low, above = upper_tail(argument, bits)
    for point in (x, Fraction(argument[1], 1 << bits)):
        assert low <= high.ldexp(tail(point), bits) <= above


@pytest.mark.parametrize("sign", [-1, 1])
def test_far_out_the_tail_is_zero_or_one_to_a_unit(sign):
    low, above = upper_tail(enclose(Fraction(sign * 2**300), 64), 64)
    assert (low, above) == ((0, 1) if sign > 0 else ((1 << 64) - 1, 1 << 64))


@given(low=st.integers(-(1 << 60), -1), width=st.integers(1, 1 << 62))
def test_an_argument_of_unknown_sign_is_enclosed_around_one_half(low, width):
    bits = 64
    found = upper_tail((low, max(low + width, 0)), bits)
    for end in (low, 0, max(low + width, 0)):
        assert found[0] <= high.ldexp(tail(Fraction(end, 1 << bits)), bits) <= found[1]
    assert found[1] - found[0] <= width + abs(low)
