"""An average of several draws against the enumerated law of its error."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from data.strategies import declared
from discreet.curator.release.averaging import average_draws
from discreet.curator.request.request import Draw, Part
from discreet.data import CountRows, Group, Limits, Source, sensitivity
from discreet.mechanisms import Gaussian, Laplace

COUNT = CountRows()
STATISTIC = sensitivity(
    Group(source=Source(table="t"), measures=(COUNT,)), {"t": declared([], {}, Limits(rows=1))}
).of(COUNT)
REACH = 60
PAIRS = [
    (Laplace(sensitivity=1, scale=1), Laplace(sensitivity=1, scale=1)),
    (Laplace(sensitivity=1, scale="1/2"), Laplace(sensitivity=1, scale=3)),
    (Laplace(sensitivity=1, scale=2), Gaussian(sensitivity=1, sigma=2)),
]


def draw(mechanism, steps):
    return Draw(part=Part(statistic=STATISTIC, mechanism=mechanism), steps=np.asarray(steps, np.int64))


def law(mechanism):
    steps = np.arange(-REACH, REACH + 1)
    if isinstance(mechanism, Gaussian):
        weights = np.exp(-(steps**2.0) / (2 * float(mechanism.event.variance)))
    else:
        weights = np.exp(-np.abs(steps) / float(mechanism.event.scale))
    return steps, weights / weights.sum()


def averaged(pair):
    """Every pair of noises with its probability, and what the average of 0 becomes with them."""
    (first, p), (second, q) = (law(mechanism) for mechanism in pair)
    noises = np.meshgrid(first, second, indexing="ij")
    found = average_draws(
        [draw(mechanism, noise.ravel()) for mechanism, noise in zip(pair, noises, strict=True)]
    )
    return found, np.outer(p, q).ravel(), noises


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_average_is_the_nearest_step_to_the_one_of_least_variance(pair):
    found, _, noises = averaged(pair)
    demands = [1 / mechanism.error.variance for mechanism in pair]
    ideal = sum(d * noise.ravel() for d, noise in zip(demands, noises, strict=True)) / sum(demands)
    assert np.abs(found.steps - ideal).max() <= 0.5 + 2 * REACH / 1024 + 1e-9


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_error_is_never_above_what_is_said_of_it(pair):
    """The tail and the variance of the rounded average, by enumeration."""
    found, masses, _ = averaged(pair)
    error = found.part.mechanism.error
    for threshold in [Fraction(n, 4) for n in range(60)]:
        beyond = masses[np.abs(found.steps) > threshold].sum()
        assert beyond <= error.tail(threshold) + 1e-12
    for confidence in (0.5, 0.8, 0.95, 0.99, 0.9999):
        width = error.quantile(confidence)
        assert masses[np.abs(found.steps) <= width].sum() >= confidence - 1e-12
    assert (masses * found.steps.astype(float) ** 2).sum() <= error.variance + 1e-9


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_what_is_said_leaves_room_for_rounding(pair):
    """The average before rounding, which a reader cannot see, plus the half step that rounding may add."""
    found, masses, noises = averaged(pair)
    error = found.part.mechanism.error
    exact = sum(float(w) * noise.ravel() for w, noise in zip(error.weights, noises, strict=True))
    assert np.abs(found.steps - exact).max() <= error.rounding
    for threshold in [Fraction(n, 4) for n in range(60)]:
        beyond = masses[np.abs(exact) + 0.5 > threshold + 1e-9].sum()
        assert beyond <= error.tail(threshold) + 1e-12


def test_the_interval_of_an_average_is_narrower_than_of_one_draw():
    one = Laplace(sensitivity=1, scale=20)
    found = average_draws([draw(one, [7])] * 4)
    assert found.part.mechanism.error.quantile(0.95) < 0.6 * one.error.quantile(0.95)
    assert found.steps[0] == 7
