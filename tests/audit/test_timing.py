from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from audit.right import IntegerLaplace
from discreet.audit.samples import collect
from discreet.audit.timing import TIMING_FALSE_ALARM, check_timing, rank_correlation, time_releases

RNG = np.random.default_rng(5)


def test_rank_correlation_is_spearmans():
    first, second = RNG.integers(0, 50, 2000), RNG.integers(0, 50, 2000) ** 2
    second = second + first * 10
    expected = stats.spearmanr(first, second).statistic
    assert rank_correlation(first, second) == pytest.approx(expected, abs=1e-3)
    assert rank_correlation(first, first) == pytest.approx(1, abs=1e-3)
    assert rank_correlation(first, -first) == pytest.approx(-1, abs=1e-3)


def test_what_explains_the_time_is_taken_out_by_strata():
    kind = RNG.integers(0, 2, 5000)
    times, noise = RNG.normal(size=5000) + 10 * kind, RNG.normal(size=5000) + 10 * kind
    assert rank_correlation(times, noise) > 0.5
    assert abs(rank_correlation(times, noise, kind)) < 0.1


def test_no_variation_means_no_correlation():
    assert rank_correlation(np.arange(5), np.ones(5)) is None
    assert rank_correlation(np.arange(3), np.arange(3), np.arange(3)) is None


def verdict(monkeypatch, correlations, count=10_000):
    """Check a first measurement and scripted later ones of the given correlations."""

    def measurement(strength):
        noise = RNG.integers(300, 10**6, count)
        times = RNG.permutation(count) if not strength else (np.argsort(np.argsort(noise)) * strength)
        return times.astype(np.int64), collect(noise.tolist())

    script = iter(correlations[1:])
    monkeypatch.setattr(
        "discreet.audit.timing.time_releases", lambda mechanism, value, count: measurement(next(script))
    )
    return check_timing(IntegerLaplace(), 0, *measurement(correlations[0]))


def test_a_correlation_counts_if_three_measurements_agree(monkeypatch):
    assert verdict(monkeypatch, [0]).verdict == "passed"
    assert verdict(monkeypatch, [1, 1, 1]).verdict == "failed"
    assert verdict(monkeypatch, [-1, -1, -1]).verdict == "failed"
    assert verdict(monkeypatch, [1, 0]).verdict == "passed"
    assert verdict(monkeypatch, [1, -1]).verdict == "passed"
    assert verdict(monkeypatch, [1, 1, 0]).verdict == "passed"


def test_the_limit_is_two_hundredths_at_a_hundred_thousand(monkeypatch):
    assert "up to 0.0199 is chance" in verdict(monkeypatch, [0], count=100_000).detail
    assert TIMING_FALSE_ALARM < 1e-9


def test_integers_that_python_keeps_ready_are_no_leak(monkeypatch):
    outputs = RNG.integers(-300, 300, 20_000)
    ready = (outputs >= -5) & (outputs <= 256)
    times = np.where(ready, 100, 200) + RNG.integers(0, 50, 20_000) - 30 * (outputs == 0)
    assert abs(rank_correlation(times, np.abs(outputs))) > 0.1
    measured = times, collect(outputs.tolist())
    monkeypatch.setattr("discreet.audit.timing.time_releases", lambda *arguments: measured)
    assert check_timing(IntegerLaplace(), 0, *measured).verdict == "passed"


def test_outputs_from_which_no_input_can_be_taken_are_skipped():
    times = np.arange(4)
    for value, outputs in (("a", [1, 2, 3, 4]), (0, ["a", "b", "c", "d"]), (3, [3, 3, 3, 3])):
        assert check_timing(IntegerLaplace(), value, times, collect(outputs)).verdict == "skipped"


def test_releases_are_timed_one_by_one():
    times, sample = time_releases(IntegerLaplace(), 5, 50)
    assert times.shape == sample.values.shape == (50,)
    assert (times > 0).all()
