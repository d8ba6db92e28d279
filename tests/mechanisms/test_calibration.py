"""The smallest parameter that suffices, against thresholds that are known."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.calibration import smallest


@pytest.mark.parametrize("threshold", ["0.000000002", "0.1", "1/3", "1", "2.718281828459", "123456.789"])
def test_the_threshold_is_found_from_above(threshold):
    exact = Fraction(threshold)
    found = smallest(lambda x: x >= exact, "error")
    assert exact <= found <= exact * (1 + Fraction(1, 10**11))


def test_parameters_that_are_refused_for_their_size_are_passed_over():
    def suffices(x):
        if x > 100:
            raise ParameterError("epsilon", "is too large", "at most 100")
        return x >= 3

    assert 3 <= smallest(suffices, "error") <= 3 + Fraction(1, 10**10)


def test_what_nothing_meets_is_blamed_on_its_parameter():
    with pytest.raises(ParameterError, match="error"):
        smallest(lambda x: False, "error")
