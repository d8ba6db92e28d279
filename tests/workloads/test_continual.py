"""The counter under continual observation."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads import ContinualCounter, Prefixes, ToeplitzRoot


def test_one_charge_covers_the_stream():
    counter = ContinualCounter(50, rho=0.5)
    event = counter.event
    assert event.rho == 0.5
    assert event.size == 50
    assert event.squared_sensitivity == ToeplitzRoot(50).squared_column_norm2
    for _ in range(50):
        counter.add(1)
    assert counter.event == event
    assert counter.seen == 50
    with pytest.raises(ParameterError, match="all used"):
        counter.add(1)


@pytest.mark.slow
@pytest.mark.statistical
def test_errors_are_as_computed_at_every_step():
    increments = [3, 0, 5, 2, 8, 1, 1, 0]
    truth = np.cumsum(increments)
    runs = 1500
    errors, variances = [], []
    for _ in range(runs):
        counter = ContinualCounter(8, rho=0.5)
        answers = [counter.add(increment) for increment in increments]
        errors.append([answer.value - exact for answer, exact in zip(answers, truth, strict=True)])
        variances = [answer.variance for answer in answers]
    assert np.mean(np.square(errors), axis=0) == pytest.approx(variances, rel=8 * np.sqrt(2 / runs))
    assert np.mean(variances) == pytest.approx(ContinualCounter(8, rho=0.5).expected_error.mean_square)


def test_steps_measure_what_the_matrix_does_and_see_nothing_later(monkeypatch):
    """With the noise taken out, each step releases its entry of A x; so it depends on no later increment."""
    seen = []
    counter = ContinualCounter(6, rho=0.5)
    monkeypatch.setattr(type(counter._one_step), "release", lambda self, value: seen.append(value) or value)
    increments = np.array([4, 0, 7, 1, 2, 9])
    totals = [counter.add(int(increment)).value for increment in increments]
    assert seen == ToeplitzRoot(6).measure(increments).tolist()
    assert totals == pytest.approx(np.cumsum(increments))


def test_epsilon_and_delta_and_rows():
    counter = ContinualCounter(16, epsilon=1, delta=1e-6, rows=2)
    assert counter.event.squared_sensitivity == 4 * ToeplitzRoot(16).squared_column_norm2
    assert counter._one_step.event.variance == counter.event.variance
    variance = counter._mechanism.error.variance
    assert counter.expected_error.total == pytest.approx(variance * ToeplitzRoot(16).trace(Prefixes(16)))


@pytest.mark.parametrize(
    "build",
    [
        lambda: ContinualCounter(0, rho=1),
        lambda: ContinualCounter(4),
        lambda: ContinualCounter(4, rho=1).add(0.5),
    ],
)
def test_bad_input_is_refused(build):
    with pytest.raises(ParameterError):
        build()


@pytest.mark.parametrize("huge", [2**62 + 1, 2**63, 2**64, -(2**100)])
def test_increments_of_any_size_are_clamped_without_a_word(monkeypatch, huge):
    seen = []
    counter = ContinualCounter(5, rho=1)
    monkeypatch.setattr(type(counter._one_step), "release", lambda self, value: seen.append(value) or value)
    counter.add(huge)
    clamped = [(2**29 - 1) * (1 if huge > 0 else -1), 0, 0, 0, 0]
    assert seen == ToeplitzRoot(5).measure(clamped).tolist()[:1]


def test_errors_of_streams_are_computed_in_parts(monkeypatch):
    whole = ToeplitzRoot(23).trace(Prefixes(23))
    single = [ToeplitzRoot(23).variance(Prefixes(23).row(index)) for index in range(23)]
    monkeypatch.setattr("discreet.workloads.strategies.toeplitz._COLUMNS_AT_ONCE", 4)
    assert ToeplitzRoot(23).trace(Prefixes(23)) == pytest.approx(whole)
    assert whole == pytest.approx(sum(single))


def test_errors_of_long_streams_are_stated():
    """Against every fiftieth step: variances change slowly."""
    strategy = ToeplitzRoot(12000)
    single = [strategy.variance(Prefixes(12000).row(index)) for index in range(24, 12000, 50)]
    counter = ContinualCounter(12000, rho=1)
    variance = counter._mechanism.error.variance
    assert counter.expected_error.mean_square == pytest.approx(variance * np.mean(single), rel=0.005)
