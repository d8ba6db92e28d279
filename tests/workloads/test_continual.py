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
