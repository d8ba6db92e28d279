"""Calibration is on the safe side and as close to the edge as it says."""

from __future__ import annotations

import pytest

from discreet.accounting import calibrate, epsilon
from discreet.errors import ParameterError
from discreet.privacy import events


def run(sigma, rate="0.01", steps=10_000):
    return events.PoissonSampled(events.Gaussian(noise_multiplier=sigma), rate=rate) * steps


def test_the_noise_of_the_lecture_for_epsilon_one():
    sigma = calibrate(run, epsilon=1, delta=1e-6, between=(1, 20))
    assert sigma == pytest.approx(4.3021, abs=2e-4)
    assert epsilon(run(sigma), delta=1e-6).upper <= 1
    assert epsilon(run(sigma * 0.9999), delta=1e-6).upper > 1


def test_a_rate_is_the_largest_that_keeps_the_promise():
    rate = calibrate(lambda q: run(4, rate=q), epsilon=1, delta=1e-6, between=(1e-4, 0.5))
    assert epsilon(run(4, rate=rate), delta=1e-6).upper <= 1
    assert epsilon(run(4, rate=rate * 1.001), delta=1e-6).upper > 1


@pytest.mark.parametrize("between", [(0, 1), (2, 1), (-1, 3)])
def test_bad_brackets_are_refused(between):
    with pytest.raises(ParameterError, match="between"):
        calibrate(run, epsilon=1, delta=1e-6, between=between)


def test_a_bracket_without_an_answer_is_refused():
    with pytest.raises(ParameterError, match="holds no parameter"):
        calibrate(run, epsilon=1, delta=1e-6, between=(1, 2))
