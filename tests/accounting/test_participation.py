"""Sensitivities under participation against every pattern, and events against the laws by definition."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from math import sqrt

import numpy as np
import pytest

from discreet import accounting
from discreet.accounting import filters
from discreet.accounting.participation import (
    banded_event,
    cyclic_sensitivity,
    matrix_event,
    separated_sensitivity,
)
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_PERSON

SUMS = np.tril(np.ones((12, 12)))


def _patterns(steps, apart, most):
    for size in range(1, most + 1):
        for places in combinations(range(steps), size):
            if all(after - before >= apart for before, after in pairwise(places)):
                yield list(places)


def _random_strategies(count, low):
    generator = np.random.default_rng()
    for _ in range(count):
        steps = int(generator.integers(2, 10))
        apart, most = int(generator.integers(1, steps + 1)), int(generator.integers(1, 5))
        strategy = np.tril(generator.uniform(low, 1, (steps, steps)))
        yield strategy, apart, min(most, -(-steps // apart)), generator


def test_the_sensitivity_is_the_worst_of_all_patterns_where_nothing_is_negative():
    for strategy, apart, most, _ in _random_strategies(60, 0.0):
        gram = strategy.T @ strategy
        truth = max(sqrt(gram[np.ix_(s, s)].sum()) for s in _patterns(len(gram), apart, most))
        found = separated_sensitivity(strategy, separation=apart, most=most)
        assert found.lower == pytest.approx(truth, rel=1e-9)
        assert found.upper == pytest.approx(truth, rel=1e-9)


def test_where_sets_are_many_the_bound_by_rows_holds(monkeypatch):
    monkeypatch.setattr("discreet.accounting.participation._FEW_SETS", 0)
    for strategy, apart, most, _ in _random_strategies(60, 0.0):
        gram = strategy.T @ strategy
        truth = max(sqrt(gram[np.ix_(s, s)].sum()) for s in _patterns(len(gram), apart, most))
        found = separated_sensitivity(strategy, separation=apart, most=most)
        assert found.lower <= truth * (1 + 1e-9)
        assert truth <= found.upper * (1 + 1e-9)
        if most == 1:
            assert found.upper == pytest.approx(truth, rel=1e-9)


def test_banded_strategies_are_exact():
    for strategy, apart, most, _ in _random_strategies(60, 0.0):
        banded = np.triu(strategy, 1 - apart)
        gram = banded.T @ banded
        truth = max(sqrt(gram[np.ix_(s, s)].sum()) for s in _patterns(len(gram), apart, most))
        found = separated_sensitivity(banded, separation=apart, most=most)
        assert found.upper == pytest.approx(truth, rel=1e-9)
        assert found.lower == pytest.approx(truth, rel=1e-9)


def test_no_vectors_exceed_the_bound_where_entries_are_negative():
    for strategy, apart, most, generator in _random_strategies(30, -1.0):
        found = separated_sensitivity(strategy, separation=apart, most=most)
        assert found.lower <= found.upper
        for places in _patterns(len(strategy), apart, most):
            vectors = generator.normal(size=(len(places), 3))
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            assert np.linalg.norm(strategy[:, places] @ vectors) <= found.upper


def test_cyclic_patterns_are_looked_at_one_by_one():
    for strategy, period, _, _ in _random_strategies(30, 0.0):
        columns = [strategy[:, start::period].sum(axis=1) for start in range(period)]
        found = cyclic_sensitivity(strategy, period=period)
        assert found.upper == pytest.approx(max(map(np.linalg.norm, columns)), rel=1e-9)
        assert found.lower == pytest.approx(found.upper, rel=1e-9)
        separated = separated_sensitivity(strategy, separation=period)
        assert separated.upper >= found.lower


def test_falling_coefficients_are_worst_at_regular_steps():
    coefficients = 1 / np.sqrt(1 + np.arange(40.0))
    strategy = np.array([[coefficients[i - j] if i >= j else 0 for j in range(40)] for i in range(40)])
    found = separated_sensitivity(strategy, separation=8)
    assert found.lower == pytest.approx(cyclic_sensitivity(strategy, period=8).upper, rel=1e-9)
    assert found.upper <= 1.02 * found.lower


def test_the_event_is_a_gaussian_of_that_multiplier():
    event = matrix_event(SUMS, standard_deviation=20, separation=4, most=2)
    sensitivity = separated_sensitivity(SUMS, separation=4, most=2).upper
    assert float(event.standard_deviation) == pytest.approx(20)
    assert float(event.sensitivity) >= sensitivity
    same = events.Gaussian(noise_multiplier=event.noise_multiplier)
    assert accounting.epsilon(event, delta=1e-6).upper == accounting.epsilon(same, delta=1e-6).upper
    assert accounting.epsilon(event + same, delta=1e-6) == accounting.epsilon(same * 2, delta=1e-6)
    assert filters.GaussianFilter(2).remaining(event) == filters.GaussianFilter(2).remaining(same)
    assert event.concentrated_rho == same.concentrated_rho
    assert events.group(event, 2) == events.group(same, 2)


def test_a_replaced_unit_moves_twice_as_far():
    once = matrix_event(SUMS, standard_deviation=20, separation=4)
    replaced = matrix_event(SUMS, standard_deviation=20, separation=4, neighbors=REPLACE_PERSON)
    assert replaced.sensitivity == 2 * once.sensitivity
    assert replaced.standard_deviation == once.standard_deviation


def _delta_by_definition(means, chances, other_means, sigma, epsilon):
    """H of two mixtures of normal laws whose means span a plane, on a fine grid of that plane."""
    basis = np.linalg.qr(np.array([mean for mean in means if np.any(mean)]).T)[0][:, :2]
    axis = np.linspace(-9, 9, 401)
    x, y = np.meshgrid(axis, axis)

    def density(centers):
        total = np.zeros_like(x)
        for center, chance in zip(centers, chances, strict=True):
            a, b = center @ basis / sigma
            total += chance * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 2) / (2 * np.pi)
        return total

    gap = density(means) - np.exp(epsilon) * density(other_means)
    return float(np.maximum(gap, 0).sum()) * (axis[1] - axis[0]) ** 2


@pytest.mark.parametrize("replaced", [False, True])
def test_a_banded_mechanism_on_samples_is_its_definition(replaced):
    """Four steps, two bands: a unit of the first part may be sampled at steps 0 and 2."""
    strategy = np.array([[1, 0, 0, 0], [0.6, 1, 0, 0], [0, 0.6, 1, 0], [0, 0, 0.6, 1.0]])
    sigma, rate = 1.3, 0.3
    relation = {"neighbors": REPLACE_PERSON} if replaced else {}
    event = banded_event(strategy, bands=2, standard_deviation=sigma, rate=rate, **relation)
    drawn = list(product((0, 1), repeat=2))
    means = [strategy[:, [0, 2]] @ np.array(which, float) for which in drawn]
    chances = [np.prod([rate if one else 1 - rate for one in which]) for which in drawn]
    others = [-mean if replaced else 0 * mean for mean in means]
    for epsilon in (0.0, 0.3, 1.0):
        forth = _delta_by_definition(means, chances, others, sigma, epsilon)
        back = _delta_by_definition(means, chances, others, sigma, -epsilon)
        truth = max(forth, 1 - np.exp(epsilon) * (1 - back))  # the other order
        found = accounting.delta(event, epsilon=epsilon)
        assert found.lower <= truth * (1 + 1e-3) + 1e-5
        assert found.upper >= truth * (1 - 1e-3) - 1e-5


@pytest.mark.parametrize(
    "bad",
    [
        np.ones((3, 3)),
        np.ones((2, 3)),
        np.zeros((2, 2)),
        np.array([[np.nan]]),
        np.array([[1e200]]),
        np.ones(3),
    ],
    ids=["not triangular", "not square", "zero", "nan", "huge", "flat"],
)
def test_what_is_no_strategy_is_refused(bad):
    with pytest.raises(ParameterError, match="strategy"):
        separated_sensitivity(bad, separation=1)


def test_bands_parts_and_schedules_are_checked():
    with pytest.raises(ParameterError, match="bands"):
        banded_event(SUMS, bands=3, standard_deviation=1, rate=0.1)
    with pytest.raises(ParameterError, match="separation"):
        separated_sensitivity(SUMS, separation=0)
    with pytest.raises(ParameterError, match="relation"):
        matrix_event(SUMS, standard_deviation=1, separation=2, neighbors=REPLACE_PERSON.group(2))
    with pytest.raises(ParameterError, match="more than fits"):
        events.MatrixGaussian(noise_multiplier=1, sensitivity=1, steps=10, separation=4, most=4)
