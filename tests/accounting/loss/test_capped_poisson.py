"""Capped Poisson samples against every sample of small tables, and against the bound by total variation."""

from __future__ import annotations

from itertools import combinations
from math import comb, exp

import numpy as np
import pytest
from scipy.stats import binom

from accounting.loss.profiles import normal, of_densities, of_masses, upper
from discreet import accounting
from discreet.accounting import filters, renyi
from discreet.accounting.loss.capped_poisson import full_chance
from discreet.accounting.loss.pair import pair_of
from discreet.errors import BudgetExceeded
from discreet.privacy import events

GAUSSIAN = events.Gaussian(noise_multiplier=1)


def _kept(sample, most, rule):
    """The batches that a sample is cut down to, with their probabilities."""
    if len(sample) <= most:
        return {sample: 1.0}
    if rule == "first":
        return {tuple(sorted(sample)[:most]): 1.0}
    return {batch: 1 / comb(len(sample), most) for batch in combinations(sample, most)}


def _batches(units, rate, most, rule):
    """The law of the batch, by enumeration of all samples."""
    law = {}
    for size in range(len(units) + 1):
        for sample in combinations(units, size):
            chance = rate**size * (1 - rate) ** (len(units) - size)
            for batch, share in _kept(sample, most, rule).items():
                law[batch] = law.get(batch, 0.0) + chance * share
    return law


def _density(law, values, sigma):
    parts = [(chance, normal(sum(values[unit] for unit in batch), sigma)) for batch, chance in law.items()]
    return lambda x: sum(chance * part(x) for chance, part in parts)


@pytest.mark.few(6)
@pytest.mark.parametrize("rule", ["random", "first"])
@pytest.mark.parametrize("new", [-1, 5])
@pytest.mark.parametrize("others", [(1.0, 1.0, 1.0), (-1.0, -1.0, -1.0), (0.0, 0.0, 0.0), (1.0, -1.0, 0.5)])
def test_no_small_table_exceeds_the_pair(others, new, rule):
    rate, most, sigma = 0.4, 2, 0.8
    values = dict(enumerate(others)) | {new: 1.0}  # the new unit comes before all others, or after
    event = events.CappedPoissonSampled(
        events.Gaussian(noise_multiplier=sigma), rate=rate, most=most, population=len(values)
    )
    pair = pair_of(event)
    with_unit = _density(_batches(tuple(values), rate, most, rule), values, sigma)
    without = _density(_batches(tuple(range(len(others))), rate, most, rule), values, sigma)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        for direction, laws in enumerate([(with_unit, without), (without, with_unit)]):
            truth = of_densities(*laws, epsilon, -10, 10, kinks=[0.0])
            assert upper(pair, direction, epsilon) >= truth - 1e-9


def test_a_cap_that_is_ignored_would_be_exceeded():
    """Where the batch is full, a unit that replaces another is seen more than the sample with no cap says."""
    rate, most, sigma = 0.9, 1, 0.8
    values = {0: -1.0, 1: -1.0, 2: -1.0, -1: 1.0}
    with_unit = _density(_batches(tuple(values), rate, most, "first"), values, sigma)
    without = _density(_batches((0, 1, 2), rate, most, "first"), values, sigma)
    inner = events.Gaussian(noise_multiplier=sigma)
    truth = of_densities(with_unit, without, 2.0, -10, 10, kinks=[0.0])
    assert truth > upper(pair_of(events.PoissonSampled(inner, rate=rate)), 0, 2.0) * 1.5
    capped = events.CappedPoissonSampled(inner, rate=rate, most=most, population=4)
    assert truth <= upper(pair_of(capped), 0, 2.0)


def test_a_table_of_few_units_attains_the_sample_with_no_cap():
    event = events.CappedPoissonSampled(GAUSSIAN, rate=0.1, most=20, population=100)
    plain = accounting.delta(events.PoissonSampled(GAUSSIAN, rate=0.1), epsilon=0.5)
    found = accounting.delta(event, epsilon=0.5)
    assert found.lower == pytest.approx(plain.lower, rel=1e-6)
    assert found.upper >= plain.lower


@pytest.mark.parametrize(
    ("population", "rate", "most"), [(10, 0.3, 5), (1000, 0.01, 30), (10**6, 1e-3, 1300)]
)
def test_the_chance_of_a_full_batch_is_the_binomial_tail_from_above(population, rate, most):
    event = events.CappedPoissonSampled(GAUSSIAN, rate=rate, most=most, population=population)
    truth = binom.sf(most - 1, population - 1, rate)
    assert truth * (1 - 1e-9) <= full_chance(event) <= truth * (1 + 1e-5)


def test_a_cap_that_no_table_reaches_is_none():
    event = events.CappedPoissonSampled(GAUSSIAN, rate=0.1, most=100, population=100)
    assert full_chance(event) == 0
    assert pair_of(event) == pair_of(event.uncapped)
    assert full_chance(events.CappedPoissonSampled(GAUSSIAN, rate=0.5, most=10, population=100)) == 1


def test_it_is_never_above_what_total_variation_says():
    """Chua et al. 2024: delta + (1 + e^epsilon) T P(the batch overflows)."""
    steps, epsilon = 200, 1.5
    plain = accounting.delta(events.PoissonSampled(GAUSSIAN, rate=0.01) * steps, epsilon=epsilon)
    event = events.CappedPoissonSampled(GAUSSIAN, rate=0.01, most=150, population=10_000)
    found = accounting.delta(event * steps, epsilon=epsilon)
    overflow = binom.sf(150, 10_000, 0.01)
    assert found.certified
    assert plain.lower <= found.upper <= plain.upper + (1 + exp(epsilon)) * steps * overflow


def test_pure_steps_stay_pure_by_enumeration():
    """Randomized response about whether the batch sums to more than 0, on tables of four units."""
    rate, most, truth = 0.5, 2, 0.7
    inner = events.Pure(epsilon=0.85)  # log(7 / 3) = 0.847
    event = events.CappedPoissonSampled(inner, rate=rate, most=most, population=4)
    values = {0: -1, 1: -1, 2: -1, 3: 2}

    def report(law):
        yes = sum(chance for batch, chance in law.items() if sum(values[unit] for unit in batch) > 0)
        up = truth * yes + (1 - truth) * (1 - yes)
        return np.array([up, 1 - up])

    p, q = (report(_batches(units, rate, most, "random")) for units in ((0, 1, 2, 3), (0, 1, 2)))
    for epsilon in (0.0, 0.2, 0.5):
        assert of_masses(p, q, epsilon) <= upper(pair_of(event), 0, epsilon) + 1e-12
        assert of_masses(q, p, epsilon) <= upper(pair_of(event), 1, epsilon) + 1e-12
    assert float(event.pure_epsilon) > float(event.uncapped.pure_epsilon)
    for order in (1.5, 2.0, 10.0):
        found = renyi.divergence(event, [order])[0]
        assert found >= np.log((p**order * q ** (1 - order)).sum()) / (order - 1) - 1e-12
        assert found <= float(event.pure_epsilon)
    assert renyi.extra_delta(event) == 0


def test_the_renyi_curve_is_that_of_the_sample_outside_the_chance_of_a_full_batch():
    event = events.CappedPoissonSampled(GAUSSIAN, rate=0.01, most=180, population=10_000)
    assert renyi.divergence(event, [3.0]) == renyi.divergence(event.uncapped, [3.0])
    assert renyi.extra_delta(event * 10) == pytest.approx(10 * full_chance(event))
    filters.RenyiFilter([8], [5], delta=1e-8).spend(event * 100)
    with pytest.raises(BudgetExceeded):
        filters.RenyiFilter([8], [5]).spend(event)
    with pytest.raises(BudgetExceeded):
        filters.PureFilter(100, delta=0.5).spend(event)
    assert event.concentrated_rho == 4 * GAUSSIAN.concentrated_rho


def test_a_step_without_a_pair_for_two_units_costs_infinite_loss_where_the_batch_is_full():
    inner = events.MixtureOfGaussians(standard_deviation=1, contributions=[(1, 0.5)])
    event = events.CappedPoissonSampled(inner, rate=0.1, most=20, population=100)
    assert pair_of(event).law(0, "upper", 500).infinity >= full_chance(event)
    assert pair_of(event).law(0, "upper", 500).infinity == pytest.approx(full_chance(event), rel=1e-6)
