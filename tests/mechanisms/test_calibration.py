"""The smallest parameter that suffices, and the best of what can be built."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms.calibration import least_error, smallest

REFUSED = None


def makers(plan):
    """Return one function for each entry: it builds (place, error), or refuses by its place."""

    def maker(place, error):
        def make():
            if error is REFUSED:
                raise ParameterError(f"place {place}", "is refused", "another")
            return place, error

        return make

    return [maker(place, error) for place, error in enumerate(plan)]


@given(st.lists(st.one_of(st.just(REFUSED), st.integers(0, 3)), min_size=1), st.none() | st.integers(0, 3))
def test_the_first_of_the_least_error_or_the_last_refusal(plan, before):
    built = None if before is None else ("before", before)
    listed = ([built] if built else []) + [(at, one) for at, one in enumerate(plan) if one is not REFUSED]
    if listed:
        least = min(error for _, error in listed)
        expected = next(one for one in listed if one[1] == least)
        assert least_error(makers(plan), lambda made: made[1], built=built) == expected
        return
    with pytest.raises(ParameterError, match=f"place {len(plan) - 1} "):
        least_error(makers(plan), lambda made: made[1])


def test_an_error_of_the_comparison_is_no_refusal():
    """What cannot be compared is a fault, and not passed over."""

    def error(made):
        raise ParameterError("error", "is wrong", "right")

    with pytest.raises(ParameterError, match="error is wrong"):
        least_error(makers([1, 2]), error)


def test_the_smallest_parameter_of_twelve_digits():
    wanted = Fraction(1, 3)
    found = smallest(lambda x: x >= wanted, "error")
    assert wanted <= found <= wanted * (1 + Fraction(1, 10**12))


def test_parameters_that_are_refused_for_their_size_do_not_suffice():
    def suffices(x):
        if x > 1000:
            raise ParameterError("epsilon", "is out of range", "smaller")
        return x >= 2

    assert 2 <= smallest(suffices, "error") <= 2 * (1 + Fraction(1, 10**12))
    with pytest.raises(ParameterError, match="error cannot be met"):
        smallest(lambda x: False, "error")
