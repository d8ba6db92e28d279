"""What samplers take: exact rationals, numbers of values, and vectors of exponents; nothing else."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise.parameters import check_draws, check_exponents, check_rate, check_rational


def test_exact_numbers_stay_what_they_are():
    assert check_rational(3, "scale") == Fraction(3)
    assert check_rational(Fraction(1, 3), "scale") == Fraction(1, 3)
    assert check_rate(Fraction(1, 10**30)) == Fraction(1, 10**30)
    assert [check_draws(size) for size in (0, np.int64(7), 1 << 48)] == [0, 7, 1 << 48]


@pytest.mark.parametrize("value", [0.5, True, "1/2", None, np.float64(1)])
def test_what_may_have_been_rounded_is_refused(value):
    with pytest.raises(ParameterError, match="scale"):
        check_rational(value, "scale")


@pytest.mark.parametrize("rate", [0, -1, Fraction(-1, 10**30)])
def test_rates_are_positive(rate):
    with pytest.raises(ParameterError, match="rate"):
        check_rate(rate)


@pytest.mark.parametrize("size", [-1, (1 << 48) + 1, True, 2.0, None])
def test_sizes_are_counts(size):
    with pytest.raises(ParameterError, match="size"):
        check_draws(size)


def test_exponents_are_a_vector_of_counts():
    exponents = np.array([0, 5, 2**63 - 1])
    assert check_exponents(exponents) is exponents
    assert check_exponents(np.array([], np.int64)).size == 0
    for bad in (np.array([-1]), np.array([1.0]), np.array([[1]]), [1], np.array([1], np.int32)):
        with pytest.raises(ParameterError, match="exponents"):
            check_exponents(bad)
