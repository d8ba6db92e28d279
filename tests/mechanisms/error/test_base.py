"""What all error laws share."""

from __future__ import annotations

from fractions import Fraction
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms import Laplace
from discreet.mechanisms.error.base import SAFETY, ErrorLaw, allowed_failure
from discreet.mechanisms.error.laplace import LaplaceError, LaplaceMaximum


def test_confidence_is_read_as_it_was_typed():
    assert allowed_failure(0.99999) == 1e-5
    assert allowed_failure(1 - 1e-5) == 1e-5


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, float("nan"), "x", None, True])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        Laplace(sensitivity=1, epsilon=1).error.quantile(confidence)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), None, "x"])
def test_bad_thresholds_are_refused(threshold):
    with pytest.raises(ParameterError, match="threshold"):
        Laplace(sensitivity=1, epsilon=1).error.tail(threshold)


@given(
    scale=st.fractions(Fraction(1, 40), 200, max_denominator=50),
    step=st.sampled_from([Fraction(1), Fraction(1, 8), Fraction(3)]),
    size=st.integers(1, 50),
    confidence=st.fractions(Fraction(1, 100), Fraction(999_999, 10**6), max_denominator=10**6),
    guess=st.integers(0, 5000),
)
def test_quantiles_are_the_first_place_that_holds_whatever_is_guessed(scale, step, size, confidence, guess):
    for law in (LaplaceError(scale=scale, step=step), LaplaceMaximum(scale=scale, step=step, size=size)):
        found = law.quantile(confidence)
        steps, failure = Fraction(found) / step, float(1 - confidence)
        assert law.tail_in_steps(int(steps)) * SAFETY <= failure
        assert steps == 0 or law.tail_in_steps(int(steps) - 1) * SAFETY > failure
        with mock.patch.object(type(law), "_first_guess", return_value=guess):
            assert law.quantile(confidence) == found
        with mock.patch.object(type(law), "_first_guess", ErrorLaw._first_guess):
            assert law.quantile(confidence) == found


def test_a_guess_saves_the_search():
    law = LaplaceError(scale=Fraction(10**6))
    with mock.patch.object(
        LaplaceError, "tail_in_steps", autospec=True, side_effect=LaplaceError.tail_in_steps
    ) as asked:
        law.quantile(0.95)
    assert asked.call_count <= 4


def test_a_negative_threshold_is_always_exceeded():
    assert Laplace(sensitivity=1, epsilon=1).error.tail(-1) == 1.0


def test_an_impossible_tolerance_is_refused():
    with pytest.raises(ParameterError, match="tolerance"):
        Laplace.for_error(1e-9, sensitivity=1.0, grid=1)
