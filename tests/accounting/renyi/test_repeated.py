"""The best of a random number of runs, by its exact law: F(P(at most y)) - F(P(less than y))."""

from __future__ import annotations

from itertools import permutations
from math import exp, log

import numpy as np
import pytest
from scipy.special import gammaln

from accounting.loss.profiles import of_masses
from discreet import accounting
from discreet.accounting import filters, renyi
from discreet.accounting.loss.pair import pair_of
from discreet.accounting.renyi.repeated import mean_runs
from discreet.errors import BudgetExceeded, ParameterError
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_ROW

P, Q = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.25, 0.25, 0.3, 0.2])
RUN = events.FiniteLaws(outcomes=list(zip(P.tolist(), Q.tolist(), strict=True)), neighbors=REPLACE_ROW)
LAWS = [(1, 0.1), (1, 0.01), (0, 0.05), (-0.5, 0.02), (3, 0.3)]


def _runs(shape, stop, most=20_000):
    """P(K = k) for k >= 1, by the definition."""
    k = np.arange(1.0, most)
    logs = k * np.log1p(-stop) - gammaln(k + 1)
    # C(k + shape - 1, k) is positive from k = 1 on, up to a common sign and factor.
    logs += gammaln(k + shape)
    weights = np.exp(logs - logs.max())
    return k, weights / weights.sum()


def _best(law, order, generating):
    """The law of the best outcome; later in `order` is better."""
    cumulative = np.concatenate([[0.0], np.cumsum(law[list(order)])])
    return np.diff(generating(np.minimum(cumulative, 1.0)))


def _negative_binomial(shape, stop):
    k, weights = _runs(shape, stop)
    return lambda t: np.array([float(weights @ x**k) for x in t])


def _divergence(p, q, order):
    return log((p**order * q ** (1 - order)).sum()) / (order - 1)


@pytest.mark.few(2)
@pytest.mark.parametrize(("shape", "stop"), LAWS)
def test_no_way_to_rank_exceeds_the_curve_or_the_epsilon(shape, stop):
    event = events.BestOfRuns(RUN, shape=shape, stop=stop)
    generating = _negative_binomial(shape, stop)
    orders = [1.5, 2.0, 5.0, 20.0]
    bounds = renyi.divergence(event, orders)
    charged = {epsilon: renyi.delta(event, epsilon) for epsilon in (0.1, 0.5)}
    tight = {epsilon: accounting.delta(event, epsilon=epsilon).upper for epsilon in charged}
    for ranking in permutations(range(4)):
        p, q = (_best(law, ranking, generating) for law in (P, Q))
        assert p.sum() == pytest.approx(1)
        for order, bound in zip(orders, bounds, strict=True):
            assert max(_divergence(p, q, order), _divergence(q, p, order)) <= bound
        assert np.abs(np.log(p / q)).max() <= float(event.pure_epsilon)
        for epsilon, most in charged.items():
            truth = max(of_masses(p, q, epsilon), of_masses(q, p, epsilon))
            assert truth <= min(most, tight[epsilon])


def test_the_epsilon_of_many_runs_is_nearly_attained():
    """Two rare outcomes, one of them the best: three times epsilon is needed, not two."""
    epsilon, stop = 0.1, 1e-4
    p = np.array([1 - 1e-3 * exp(epsilon), 1e-3 * exp(epsilon)])
    q = np.array([1 - 1e-3, 1e-3])
    generating = _negative_binomial(1, 1e-3)
    first, second = _best(p, (1, 0), generating), _best(q, (1, 0), generating)
    ratio = np.abs(np.log(first / second)).max()
    event = events.BestOfRuns(events.Pure(epsilon=epsilon), stop=stop)
    assert epsilon < ratio <= float(event.pure_epsilon) == pytest.approx(0.3)


@pytest.mark.parametrize("mean", [0.5, 3.0, 30.0])
def test_poisson_runs_stay_below_their_curve(mean):
    event = events.BestOfPoissonRuns(RUN, mean=mean)
    orders = [1.5, 2.0, 5.0, 20.0]
    bounds = renyi.divergence(event, orders)
    for ranking in permutations(range(4)):
        p, q = (_best(law, ranking, lambda t: np.exp(mean * (t - 1))) for law in (P, Q))
        p, q = np.append(p, exp(-mean)), np.append(q, exp(-mean))
        assert p.sum() == pytest.approx(1)
        for order, bound in zip(orders, bounds, strict=True):
            assert max(_divergence(p, q, order), _divergence(q, p, order)) <= bound


@pytest.mark.parametrize(("shape", "stop"), LAWS)
def test_the_mean_number_of_runs_is_that_of_the_law(shape, stop):
    k, weights = _runs(shape, stop)
    assert mean_runs(shape, stop) == pytest.approx(float(weights @ k), rel=1e-6)


@pytest.mark.parametrize(("shape", "stop"), LAWS)
def test_the_curve_of_gaussian_runs_is_the_closed_form(shape, stop):
    """At the best order b = sqrt(log(1/stop) / rho): rho (b - 1) + log(1/stop) / b."""
    event = events.BestOfRuns(events.Gaussian(noise_multiplier=5), shape=shape, stop=stop)
    rho = 1 / 50
    least = 2 * (rho * log(1 / stop)) ** 0.5 - rho
    for order in (2.0, 8.0):
        known = rho * order + (1 + shape) * least + log(mean_runs(shape, stop)) / (order - 1)
        assert renyi.divergence(event, [order])[0] == pytest.approx(known, rel=5e-3)


def test_a_search_over_gaussian_runs_costs_a_few_runs_and_not_all_of_them():
    run = events.Gaussian(noise_multiplier=2)
    one = accounting.epsilon(run, delta=1e-6).upper
    found = accounting.epsilon(events.BestOfRuns(run, stop=0.01), delta=1e-6)
    assert not found.certified
    assert found.lower == 0
    assert one < found.upper < 5 * one < accounting.epsilon(run * 100, delta=1e-6).lower
    quiet = events.Gaussian(noise_multiplier=20)
    poisson = accounting.epsilon(events.BestOfPoissonRuns(quiet, mean=30), delta=1e-6).upper
    assert poisson < accounting.epsilon(quiet * 30, delta=1e-6).lower


def test_runs_with_a_delta_have_no_bound_and_filters_refuse_them():
    leaky = events.Approximate(epsilon=1, delta=1e-6)
    for event in (events.BestOfRuns(leaky, stop=0.1), events.BestOfPoissonRuns(leaky, mean=3)):
        with pytest.raises(ParameterError, match="best of runs with a delta"):
            renyi.divergence(event, [2.0])
        for budget in (filters.RenyiFilter([2], [1e6], delta=0.5), filters.PureFilter(1e6, delta=0.5)):
            with pytest.raises(BudgetExceeded):
                budget.spend(event)


def test_filters_charge_the_curve():
    event = events.BestOfRuns(events.Gaussian(noise_multiplier=10), stop=0.1)
    cost = renyi.divergence(event, [8.0])[0]
    budget = filters.RenyiFilter([8], [str(round(2.5 * cost, 6))])
    assert budget.remaining(event) == 2
    with pytest.raises(BudgetExceeded):
        filters.ZeroConcentratedFilter(100).spend(event)
    assert pair_of(event) is None
    filters.PureFilter(3).spend(events.BestOfRuns(events.Laplace(epsilon=1), stop=0.1))


@pytest.mark.parametrize(
    "bad", [{"shape": -1, "stop": 0.5}, {"stop": 0}, {"stop": 1}, {"shape": 1001, "stop": 0.5}]
)
def test_laws_out_of_range_are_refused(bad):
    with pytest.raises(ParameterError):
        events.BestOfRuns(RUN, **bad)


@pytest.mark.parametrize("mean", [0, -1, 10**7])
def test_means_out_of_range_are_refused(mean):
    with pytest.raises(ParameterError):
        events.BestOfPoissonRuns(RUN, mean=mean)
