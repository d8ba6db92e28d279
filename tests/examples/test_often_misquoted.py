"""What holds in place of often misquoted numbers, each worked out again by other means."""

from __future__ import annotations

from itertools import combinations, product
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy import stats

from examples import often_misquoted as example


@pytest.fixture(scope="module")
def said():
    return {one.about: one for one in example.statements()}


def test_sensitivities(said):
    assert said["four counts, sensitivity"].holds == 2  # by search in test_four_counts.py
    deviation = said["deviation of 100 values"]
    values = np.zeros(100)
    moved = values.copy()
    moved[0] = 1
    assert deviation.holds == pytest.approx(moved.std() - values.std(), rel=1e-9)
    assert deviation.holds < 1 / sqrt(100)


def test_the_total_error_of_all_ranges_is_a_count_of_queries_times_the_error_of_one(said):
    k = 64
    ranges = [(first, last) for first, last in combinations(range(k + 1), 2)]
    most = max(sum(first <= cell < last for first, last in ranges) for cell in range(k))
    quoted = said["all ranges of 64 cells, total"]
    assert quoted.holds == pytest.approx(len(ranges) * 2 * most**2, rel=1e-3)
    assert quoted.holds / quoted.written == pytest.approx(len(ranges), rel=1e-12)
    assert quoted.written == pytest.approx(k**4 / 8, rel=0.1)


def test_the_variance_and_the_total_error_of_ten_counts(said):
    assert said["variance of one of 10 counts"].holds == pytest.approx(2 * 10**2 / 0.1**2, rel=1e-3)
    total = said["L1 error of 10 counts, 95%"]
    # The sum of ten exponential laws of scale 10; discrete noise is a hair below.
    assert total.holds == pytest.approx(stats.gamma(10, scale=10).ppf(0.95), abs=1)
    assert total.written == pytest.approx(10 * 10 * log(10 / 0.05), abs=11)


def test_the_ratio_of_laplace_laws_is_at_most_what_holds_and_attains_it(said):
    ratios = [exp((abs(y - 1) - abs(y)) / 2) for y in np.linspace(-5, 5, 101)]
    assert max(ratios) == pytest.approx(said["ratio of Laplace laws, b = 2"].holds)
    assert min(ratios) == pytest.approx(1 / said["ratio of Laplace laws, b = 2"].holds)


def test_the_tail_of_the_distance_test_is_half_of_delta(said):
    tail = stats.laplace(scale=10).sf(log(1 / example.DELTA) / 0.1)
    assert tail == pytest.approx(example.DELTA / 2)
    ratio = exp(-0.1)
    least = next(t for t in range(200) if ratio ** (t + 1) / (1 + ratio) <= example.DELTA)
    assert said["distance test, threshold"].holds == least
    assert least == pytest.approx(log(1 / (2 * example.DELTA)) / 0.1, abs=1)


def test_a_training_run(said):
    epsilon, steps, delta = 1.2, example.STEPS, example.DELTA
    assert sqrt(2 * log(1.25 / delta)) / example.NOISE == pytest.approx(epsilon, abs=0.02)
    leading = said["strong composition, quoted"]
    assert leading.holds == pytest.approx(epsilon * sqrt(steps * log(1 / delta)))
    assert round(leading.holds) == 407
    assert steps > 1 / epsilon**2
    whole = epsilon * sqrt(2 * steps * log(1 / delta)) + steps * epsilon * (exp(epsilon) - 1)
    assert said["strong composition, proven"].holds == pytest.approx(whole)
    assert whole > steps * epsilon  # worse than adding up
    assert said["moments accountant"].written == pytest.approx(2.4)
    assert said["moments accountant"].holds == pytest.approx(_moments(), rel=1e-9)
    assert said["the same run, tight"].holds < said["moments accountant"].holds


def _moments() -> float:
    """The moments of a sampled Gaussian at whole orders, by the binomial sum, up to 33."""
    rate, sigma = float(example.RATE), example.NOISE
    found = []
    for order in range(2, 34):
        terms = [
            stats.binom(order, rate).pmf(k) * exp(k * (k - 1) / (2 * sigma**2)) for k in range(order + 1)
        ]
        moment = example.STEPS * log(sum(terms)) / (order - 1)
        found.append(moment + log(1 / example.DELTA) / (order - 1))
    return min(found)


def test_nothing_is_said_twice():
    names = [one.about for one in example.statements()]
    assert len(set(names)) == len(names)
    assert all(a.why != b.why for a, b in product(example.statements(), repeat=2) if a.about != b.about)


def test_it_prints_and_draws(capsys, tmp_path):
    example.main(str(tmp_path))
    assert "407.168" in capsys.readouterr().out
    assert (tmp_path / "often_misquoted.png").exists()
