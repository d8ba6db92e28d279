"""Short rationals on their stated side."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from mpmath import MPContext

from discreet.mechanisms.admissible.certificates import (
    BITS,
    exponential_of,
    hyperbolic_cosine,
    root_below,
    rounded_down,
    rounded_up,
    short_above,
    short_below,
)

high = MPContext()
high.prec = 700


@given(st.fractions(min_value=Fraction(1, 10**40), max_value=10**40))
def test_rounding_stays_on_its_side_and_close(x):
    low, top = rounded_down(x), rounded_up(x)
    assert low <= x <= top
    assert top - low <= x / 10**12
    assert rounded_down(Fraction(0)) == rounded_up(Fraction(0)) == 0


@given(st.integers(0, 1 << 400))
def test_enclosed_numbers_are_rounded_outward(n):
    assert short_below((n, n)) <= Fraction(n, 1 << BITS) <= short_above((n, n))


@given(st.integers(0, 10**60), st.sampled_from([2, 3, 4, 6]))
def test_roots_are_floors(n, order):
    root = root_below(n, order)
    assert root**order <= n < (root + 1) ** order


@given(st.fractions(min_value=-50, max_value=50, max_denominator=10**9))
def test_exponentials_of_either_sign(x):
    value = high.mpf(x.numerator) / x.denominator
    for enclosure, expected in (
        (exponential_of(x), high.exp(value)),
        (hyperbolic_cosine(x), high.cosh(value)),
    ):
        assert enclosure[0] <= high.ldexp(expected, BITS) <= enclosure[1]
