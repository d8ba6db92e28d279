"""Combinations of a few noises: margins against sums over all outcomes, and against draws."""

from __future__ import annotations

from itertools import product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.mechanisms import Gaussian, Laplace
from discreet.workloads.error.combined_noise import combined_half_width
from discreet.workloads.error.intervals import half_width
from effort import examples
from significance import FALSE_ALARM

MECHANISMS = {
    "Laplace": Laplace(sensitivity=1, epsilon=1),
    "hardly any Laplace": Laplace(sensitivity=1, epsilon=20),
    "discrete Gaussian": Gaussian(sensitivity=1, rho="0.7"),
    "rounded Gaussian": Gaussian(sensitivity=1, mu="0.8"),
}


def weights_of(name):
    """Return P(N = n) for n = -12, …, 12 up to what is beyond: written once more, from the definitions."""
    places = np.arange(-12, 13)
    event = MECHANISMS[name].event
    if "Laplace" in name:
        ratio = exp(-1 / float(event.scale))
        return places, (1 - ratio) / (1 + ratio) * ratio ** np.abs(places)
    if name == "discrete Gaussian":
        weights = np.exp(-(places.astype(float) ** 2) / (2 * float(event.variance)))
        return places, weights / weights.sum()
    normal = stats.norm(scale=float(event.variance) ** 0.5)
    return places, normal.cdf(places + 0.5) - normal.cdf(places - 0.5)


def beyond(name, coefficients, margin):
    """Return P(abs(L) > margin), by going through all outcomes."""
    places, chances = weights_of(name)
    total = 0.0
    for outcome in product(range(len(places)), repeat=len(coefficients)):
        if abs(sum(one * places[place] for one, place in zip(coefficients, outcome, strict=True))) > margin:
            total += float(np.prod(chances[list(outcome)]))
    return total


@pytest.mark.parametrize("name", MECHANISMS)
@settings(max_examples=examples(25))
@given(
    st.lists(st.floats(-2, 2).filter(lambda one: abs(one) > 1e-3), min_size=1, max_size=2),
    st.sampled_from(["0.5", "0.9", "0.99"]),
)
def test_margins_hold_as_often_as_they_say_and_no_smaller_one_does(name, coefficients, confidence):
    mechanism = MECHANISMS[name]
    margin = combined_half_width(mechanism, coefficients, confidence)
    assert margin <= 1.05 * half_width(mechanism, sum(one**2 for one in coefficients), confidence)
    failure = 1 - float(confidence)
    assert beyond(name, coefficients, margin) <= failure + 1e-4  # some Laplace noise lies beyond 12 steps
    deviation = max(mechanism.error.variance**0.5, 0.25) * sum(one**2 for one in coefficients) ** 0.5
    assert beyond(name, coefficients, margin - 0.05 * deviation) >= failure - 1e-4


def test_a_single_noise_has_its_own_quantile():
    for name, mechanism in MECHANISMS.items():
        found = combined_half_width(mechanism, [1], "0.95")
        assert found == pytest.approx(mechanism.error.quantile("0.95"), abs=0.05), name
        assert combined_half_width(mechanism, [0, -3, 0], "0.95") == pytest.approx(3 * found)


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["Laplace", "discrete Gaussian"])
def test_many_noises_with_any_weights(name):
    mechanism, runs = MECHANISMS[name], 40_000
    coefficients = np.random.default_rng(2).normal(size=30)
    margin = combined_half_width(mechanism, coefficients.tolist(), "0.9")
    drawn = np.array([mechanism.release(np.zeros(runs, np.int64)) for _ in coefficients])
    missed = (np.abs(coefficients @ drawn) > margin).sum()
    assert stats.binom.ppf(FALSE_ALARM, runs, 0.08) <= missed <= stats.binom.isf(FALSE_ALARM, runs, 0.1)


@pytest.mark.parametrize(
    ("mechanism", "coefficients", "confidence"),
    [
        (Laplace(sensitivity=1, epsilon="0.001"), [1, 1], "0.95"),
        (MECHANISMS["Laplace"], [1] * 65, "0.95"),
        (MECHANISMS["Laplace"], [1, 1], "0.99999999"),
        (MECHANISMS["Laplace"], [0], "0.95"),
    ],
)
def test_otherwise_the_bound_for_any_coefficients_is_taken(mechanism, coefficients, confidence):
    bound = half_width(mechanism, float(sum(one**2 for one in coefficients)), confidence)
    assert combined_half_width(mechanism, coefficients, confidence) == bound
