"""Norms from above, and coefficients that leave room for rounding, against doubles and fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from discreet.learning.deep.accelerator.coefficients import bounded_norms, coefficients_for

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def doubles(*values):
    return torch.tensor(values, dtype=torch.float64, device=DEVICE)


@pytest.mark.parametrize(("examples", "parts"), [(1, 0), (1, 1), (33, 65), (70, 200)])
def test_norms_are_roots_of_sums_and_a_little_more(examples, parts):
    generator = torch.Generator().manual_seed(examples)
    squares = torch.rand(examples, parts, generator=generator, dtype=torch.float64) * 1e3
    found = bounded_norms(squares.to(DEVICE)).cpu()
    for norm, row in zip(found.tolist(), squares.tolist(), strict=True):
        exact = sum((Fraction(value) for value in row), Fraction(0))
        assert Fraction(norm) ** 2 > exact
        assert norm <= float(exact) ** 0.5 * (1 + 2.0**-23) + 2.0**-27


def test_a_sum_that_is_not_finite_is_an_infinite_norm_and_one_below_zero_is_none():
    inf, nan = float("inf"), float("nan")
    found = bounded_norms(
        doubles([1.0, inf], [1.0, -inf], [inf, -inf], [nan, 1.0], [1e308, 1e308], [1.0, -2.0], [3.0, 1.0])
    )
    assert found[:5].tolist() == [inf] * 5
    assert found[5:].tolist() == pytest.approx([2.0**-28, 2.0])


def test_norms_of_any_size_are_from_above():
    """Of large sums, the little that is added to all norms makes up for no rounding."""
    squares = torch.rand(50, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64) * 1e40
    for norm, row in zip(bounded_norms(squares.to(DEVICE)).tolist(), squares.tolist(), strict=True):
        assert Fraction(norm) ** 2 > sum(Fraction(value) for value in row)


def test_a_sum_that_is_too_large_is_an_infinite_norm():
    """Of a norm of 2^100 or more, a product of 16-bit floats might not be finite."""
    assert bounded_norms(doubles([2.0**199, 2.0**199], [2.0**199, 0.0])).tolist() == pytest.approx(
        [float("inf"), 2.0**99.5]
    )


def found_for(factors, norms, weights, **terms):
    usual = {"longest": 1000, "roundings": [], "rounding": 0.0, "limits": []}
    found, _ = coefficients_for(doubles(*factors), doubles(*norms), doubles(*weights), **{**usual, **terms})
    return found.tolist()


def test_coefficients_leave_room_for_rounding():
    roundings = [doubles(30.0, 0.0), doubles(40.0, 0.0)]
    found = found_for([2.0, 1.0], [1.0, 1.0], [1.0, 0.5], roundings=roundings, rounding=144.0)
    assert found == pytest.approx([2 * (1000 - 2644**0.5), 500 - 12], rel=1e-6)
    assert Fraction(found[1]) <= 500 - 12  # a number that becomes a float may not become smaller


def test_without_room_nothing_is_added():
    assert found_for([1.0, 1.0], [1.0, 1.0], [0.001, 1.0], rounding=4.0) == pytest.approx(
        [0.0, 998.0], rel=1e-6
    )


def test_no_coefficient_exceeds_a_limit():
    found = found_for(
        [1.0] * 3, [1.0] * 3, [1.0] * 3, limits=[doubles(5.0, 2e3, 0.0), doubles(7.0, 1e9, 1.0)]
    )
    assert found == [5.0, 1000.0, 0.0]


def test_padding_and_what_is_not_finite_have_none():
    inf, nan = float("inf"), float("nan")
    assert found_for([1.0, 1.0, nan, 0.0], [1.0, inf, inf, nan], [0.0, 1.0, 1.0, 1.0]) == [0.0] * 4


def test_those_count_whose_norm_is_finite_and_padding():
    inf, nan, ones = float("inf"), float("nan"), doubles(1.0, 1.0, 1.0, 1.0)
    terms = {"longest": 1000, "roundings": [], "rounding": 0.0, "limits": []}
    _, counted = coefficients_for(ones, doubles(1.0, inf, nan, inf), doubles(1.0, 1.0, 1.0, 0.0), **terms)
    assert counted.tolist() == [True, False, False, True]


@pytest.mark.parametrize("count", [1, 31, 33, 600])
def test_any_number_of_examples(count):
    found = found_for([1.0] * count, [1.0] * count, [1.0] * count, limits=[doubles(*range(count))])
    assert found == [float(min(place, 1000)) for place in range(count)]
