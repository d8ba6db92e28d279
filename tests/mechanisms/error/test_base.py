"""What all error laws share."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Laplace
from discreet.mechanisms.error.base import allowed_failure


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


def test_a_negative_threshold_is_always_exceeded():
    assert Laplace(sensitivity=1, epsilon=1).error.tail(-1) == 1.0


def test_an_impossible_tolerance_is_refused():
    with pytest.raises(ParameterError, match="tolerance"):
        Laplace.for_error(1e-9, sensitivity=1.0, grid=1)
