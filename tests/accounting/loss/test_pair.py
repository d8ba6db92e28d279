"""Finite pairs, pairs that only bound, and the table of what every event has."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from accounting.loss.profiles import of_masses
from discreet.accounting import loss as losses
from discreet.accounting.loss.pair import NO_LOSS, BoundedPair, FinitePair, finite_pair, pair_of
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_PERSON, REPLACE_ROW

RESPONSE = events.RandomizedResponse(truth="3/4")
KINDS = {
    "Gaussian": (events.Gaussian(noise_multiplier=1), True),
    "Laplace": (events.Laplace(epsilon=1), True),
    "MatrixGaussian": (
        events.MatrixGaussian(noise_multiplier=1, sensitivity=2, steps=8, separation=4, most=2),
        True,
    ),
    "DiscreteLaplace": (events.DiscreteLaplace(sensitivity=3, scale=2), True),
    "DiscreteGaussian": (events.DiscreteGaussian(squared_sensitivity=9, variance=4, size=1), True),
    "RoundedGaussian": (events.RoundedGaussian(squared_sensitivity=9, variance=4, size=2), True),
    "a wide vector": (events.DiscreteGaussian(squared_sensitivity=9, variance=4, size=2), False),
    "MixtureOfGaussians": (events.MixtureOfGaussians(standard_deviation=1, contributions=[(1, 0.5)]), True),
    "RandomizedResponse": (RESPONSE, True),
    "UnaryEncoding": (events.UnaryEncoding(keep=0.5, flip=0.25, size=4), True),
    "FiniteLaws": (events.FiniteLaws(outcomes=[(0.5, 0.3), (0.4, 0.6)]), True),
    "PrivacyProfile": (events.PrivacyProfile(points=[(0, 0.2), (1, 1e-3)]), True),
    "Pure": (events.Pure(epsilon=1), True),
    "Approximate": (events.Approximate(epsilon=1, delta=1e-3), True),
    "ExponentialChoice": (events.ExponentialChoice(epsilon=1), True),
    "PermuteAndFlip": (events.PermuteAndFlip(epsilon=1), True),
    "NoisyMax": (events.NoisyMax(epsilon=1), True),
    "AboveThreshold": (events.AboveThreshold(epsilon=1, positives=2), True),
    "BestOfRuns": (events.BestOfRuns(events.Laplace(epsilon=1), stop=0.1), True),
    "BestOfPoissonRuns": (events.BestOfPoissonRuns(events.Laplace(epsilon=1), mean=10), False),
    "SparseVector": (events.SparseVector(events.Gaussian(noise_multiplier=2), query_epsilon=1), False),
    "ZeroConcentrated": (events.ZeroConcentrated(rho=1), False),
    "Renyi": (events.Renyi(curve=[(2, 0.1)]), False),
    "PoissonSampled": (events.PoissonSampled(events.Gaussian(noise_multiplier=1), rate=0.1), True),
    "CappedPoissonSampled": (
        events.CappedPoissonSampled(events.Gaussian(noise_multiplier=1), rate=0.1, most=20, population=100),
        True,
    ),
    "ReplacedPoissonGaussian": (events.ReplacedPoissonGaussian(noise_multiplier=1, rate=0.1), True),
    "SampledWithoutReplacement": (
        events.SampledWithoutReplacement(
            events.Pure(epsilon=1, neighbors=REPLACE_ROW), batch=1, population=9
        ),
        True,
    ),
    "SampledWithReplacement": (
        events.SampledWithReplacement(events.Pure(epsilon=1, neighbors=REPLACE_ROW), draws=1, population=9),
        False,
    ),
    "Shuffled": (events.Shuffled(RESPONSE, people=100), True),
    "Grouped": (
        events.Grouped(events.PoissonSampled(events.Gaussian(noise_multiplier=1), rate=0.1), size=2),
        False,
    ),
    "Composed": (events.Gaussian(noise_multiplier=1) * 2, True),
    "Parallel": (events.Parallel(RESPONSE, RESPONSE), False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_event_has_a_pair_or_none_as_the_table_says(kind):
    event, known = KINDS[kind]
    pair = pair_of(event)
    assert (pair is not None) == known
    if pair is None:
        return
    for direction in range(pair.directions):
        for side in ("lower", "upper"):
            law = pair.law(direction, side, 300)
            assert 0 <= law.delta(0.5) <= law.delta(0.0) <= 1
            assert law.infinity >= 0


def test_the_table_names_every_event():
    named = {name for name in events.__all__ if isinstance(getattr(events, name), type)} - {"Event"}
    assert all(name in losses.__doc__ for name in named)
    assert named <= set(KINDS) | {"Nothing"}


def test_finite_pairs_are_exact_in_both_directions():
    p, q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.6, 0.0, 0.3])
    pair = finite_pair(p, q, directions=2)
    for epsilon in (-1.0, 0.0, 0.7, 2.0):
        for direction, (first, second) in enumerate(((p, q), (q, p))):
            law = pair.law(direction, "upper", 3)
            assert law.delta(epsilon) + law.infinity == pytest.approx(of_masses(first, second, epsilon))
    assert pair.law(0, "upper", 3).infinity == 0.2
    assert pair.law(1, "upper", 3).infinity == 0.3
    assert pair.exact


def test_losses_that_are_known_are_kept():
    pair = finite_pair([0.5, 0.5], [0.5, 0.5], losses=[1e-20, -1e-20])
    assert pair.law(0, "lower", 3).largest == 1e-20
    assert sorted(pair.law(1, "lower", 3).losses) == [-1e-20, 1e-20]


def test_a_bounded_pair_takes_each_side_from_its_own():
    above, below = finite_pair([0.9, 0.1], [0.1, 0.9]), finite_pair([0.6, 0.4], [0.5, 0.5], directions=2)
    pair = BoundedPair(above, below)
    assert pair.directions == 2
    assert not pair.exact
    assert pair.law(1, "upper", 3).largest == pytest.approx(log(9))
    assert pair.law(0, "lower", 3).largest == pytest.approx(log(1.2))
    assert pair.law(1, "lower", 3).largest == pytest.approx(log(1.25))
    assert BoundedPair(above).law(0, "lower", 3).delta(0.0) == 0


def test_nothing_tells_nothing():
    assert isinstance(NO_LOSS, FinitePair)
    law = NO_LOSS.law(0, "upper", 3)
    assert (law.delta(0.0), law.infinity, law.largest) == (0.0, 0.0, 0.0)
    assert law.delta(-1.0) == pytest.approx(1 - exp(-1))


@pytest.mark.parametrize(
    "event",
    [
        events.Pure(epsilon=1000),
        events.DiscreteLaplace(sensitivity=1000, scale=1),
        events.DiscreteGaussian(squared_sensitivity=10**6, variance=1, size=1),
        events.MixtureOfGaussians(standard_deviation=1, contributions=[(30, 0.5)]),
        events.PoissonSampled(events.Gaussian(noise_multiplier="0.01"), rate=0.5),
        events.PoissonSampled(events.Laplace(epsilon=1000), rate=0.5),
        events.ExponentialChoice(epsilon=1000),
        events.PermuteAndFlip(epsilon=1000),
        events.RandomizedResponse(truth=Fraction(10**300 - 1, 10**300)),
        events.UnaryEncoding(keep=Fraction(10**300 - 1, 10**300), flip=0.5, size=2),
        events.Approximate(epsilon=1, delta=1),
        events.Shuffled(events.Pure(epsilon=1000, neighbors=REPLACE_PERSON), people=10),
    ],
    ids=lambda event: type(event).__name__,
)
def test_beyond_the_range_of_floats_there_is_none(event):
    assert pair_of(event) is None
