from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.events import compose
from discreet.synthesis.measuring.column_noises import column_noises, column_weight


@given(st.integers(1, 1 << 20))
def test_weights_are_the_two_thirds_power_rounded_up(cells):
    weight = column_weight(cells)
    assert (weight - 1) ** 3 < cells**2 <= weight**3


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=8), st.integers(1, 5))
def test_all_columns_together_cost_no_more_than_is_paid(shape, rows):
    noises = column_noises(shape, Fraction(1, 100), rows)
    paid = compose([noise.event for noise in noises]).concentrated_rho
    assert Fraction(1, 100) * Fraction(999, 1000) <= paid <= Fraction(1, 100)


def test_no_other_division_makes_the_sum_of_errors_much_smaller():
    shape, rho = (2, 30, 400), 0.01
    found = [noise.variance**0.5 for noise in column_noises(shape, Fraction(rho), 1)]
    error = sum(cells * deviation for cells, deviation in zip(shape, found, strict=True))
    for parts in product(range(1, 40), repeat=2):
        shares = [one / 40 for one in (*parts, 40 - sum(parts))]
        if min(shares) > 0:
            other = sum(cells / (2 * rho * share) ** 0.5 for cells, share in zip(shape, shares, strict=True))
            assert error <= other * 1.01
    equal = sum(cells / (2 * rho / 3) ** 0.5 for cells in shape)
    assert error < equal * 0.8


@pytest.mark.parametrize("cells", [1, 8, 27, 1000])
def test_cubes_have_whole_weights(cells):
    assert column_weight(cells) == round(cells ** (1 / 3)) ** 2
