"""Pairs of laws that events from numbers, batches, matrices and repeated runs allow."""

from __future__ import annotations

import math

import numpy as np

from accounting.pairs_of_laws import gaussian, laplace, mixture, poisson, response
from discreet.privacy import REPLACE_ROW, events

UP, MIDDLE = gaussian(1)
DOWN = gaussian(1, -1.0)[0]


def best(law, generating):
    """Two outcomes, of which the second is better."""
    first = generating(law[0])
    return np.array([first, 1 - first])


def above(value):
    """Whether a question with Laplace noise of scale 2 lies above a threshold with normal noise around 0."""
    z = np.linspace(-12, 12, 4001)
    weight = np.exp(-(z**2) / 2)
    gap = (z - value) / 2
    yes = np.where(gap >= 0, np.exp(-np.abs(gap)) / 2, 1 - np.exp(-np.abs(gap)) / 2)
    chance = float(weight @ yes / weight.sum())
    return np.array([chance, 1 - chance])


def geometric(t):
    return 0.1 * t / (1 - 0.9 * t)


TWO = np.array([0.75, 0.25]), np.array([0.5, 0.5])
CHARGED_RECORDS = {
    "FiniteLaws": (
        events.FiniteLaws(outcomes=[("3/4", "1/2"), ("1/4", "1/2")]),
        "pure rho renyi",
        [TWO],
    ),
    "FiniteLaws, with missing mass": (
        events.FiniteLaws(outcomes=[("1/2", "1/4"), ("1/4", "1/2")], neighbors=REPLACE_ROW),
        "renyi",
        [(np.array([0.25, 0.5, 0.25, 0]), np.array([0, 0.25, 0.5, 0.25]))],
    ),
    "PrivacyProfile": (
        events.PrivacyProfile(points=[(0.5, "0.33"), (1, "1/20")]),
        "renyi",
        [response(math.e, 0.05)],
    ),
    "CappedPoissonSampled": (
        events.CappedPoissonSampled(events.Laplace(epsilon=2), rate="1/3", most=2, population=4),
        "pure rho renyi",
        poisson(1 / 3, laplace(2)),
    ),
    "CappedPoissonSampled, Gaussian": (
        events.CappedPoissonSampled(events.Gaussian(noise_multiplier=1), rate="1/3", most=2, population=4),
        "rho renyi",
        poisson(1 / 3, gaussian(1)),
    ),
    "ReplacedPoissonGaussian": (
        events.ReplacedPoissonGaussian(noise_multiplier=1, rate="1/3"),
        "rho renyi",
        [(mixture(1 / 3, MIDDLE, UP), mixture(1 / 3, MIDDLE, DOWN))],
    ),
    "MatrixGaussian": (
        events.MatrixGaussian(noise_multiplier=1, sensitivity=2, steps=8, separation=4, most=2),
        "rho renyi mu",
        [gaussian(1)],
    ),
    "BestOfRuns": (
        events.BestOfRuns(events.FiniteLaws(outcomes=[("3/4", "1/2"), ("1/4", "1/2")]), stop=0.1),
        "pure rho renyi",
        [tuple(best(law, geometric) for law in laws) for laws in (TWO, [law[::-1] for law in TWO])],
    ),
    "BestOfRuns, with a delta": (
        events.BestOfRuns(events.Approximate(epsilon=1, delta="1/20"), stop=0.1),
        "",
        [],
    ),
    "BestOfPoissonRuns": (
        events.BestOfPoissonRuns(events.FiniteLaws(outcomes=[("3/4", "1/2"), ("1/4", "1/2")]), mean=3),
        "renyi",
        [
            tuple(
                np.array(
                    [math.exp(-3), math.exp(3 * law[0] - 3) - math.exp(-3), 1 - math.exp(3 * law[0] - 3)]
                )
                for law in TWO
            )
        ],
    ),
    "SparseVector": (
        events.SparseVector(events.Gaussian(noise_multiplier=1), query_epsilon=1),
        "renyi",
        [(above(value), above(value + 1)) for value in (-4.0, -1.0, 0.0, 3.0)],
    ),
}
