"""Means and variances as a learner: what is public before, and what is drawn."""

from __future__ import annotations

import json

import numpy as np

from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.moments.moment_learner import MomentLearner
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.learning.training.budgets import stated_budget

FEATURES = Features.of([(0, 10), (-1, 1)], ["a", "b"], by_name=False)
CLASSES = Classes.of("ill", ["no", "yes"])


def learner(target=None, **budget):
    groups = 1 if target is None else len(target.labels)
    moments = NoisyMoments(columns=2, groups=groups, budget=stated_budget(**(budget or {"rho": 10**12})))
    return MomentLearner(features=FEATURES, target=target, moments=moments)


def test_what_is_public_is_plain_and_complete():
    found = learner(CLASSES, epsilon=1)
    assert found.columns == ("a", "b", "ill")
    assert json.loads(json.dumps(found.parameters)) == found.parameters
    assert found.parameters != learner(epsilon=1).parameters
    assert "Laplace" in found.words
    assert "of each class" in found.words
    assert found.event == found.moments.event
    assert found.guarantee == stated_budget(epsilon=1).guarantee
    assert learner().columns == ("a", "b")


def test_rows_of_no_class_are_left_out():
    values = [np.array([2.0, 4.0, 9.0, 8.0]), np.array([0.5, 0.5, -1.0, 1.0])]
    labels = np.array(["no", "no", "yes", "dead"], dtype=object)
    drawn = learner(CLASSES).draw([*values, labels])
    assert np.allclose(drawn["counts"], [2, 1], atol=1e-4)
    assert np.allclose(drawn["means"], [[-0.4, 0.5], [0.8, -1.0]], atol=1e-3)
    assert json.loads(json.dumps(drawn)) == drawn


def test_expectations_are_the_deviations_of_the_noise():
    found = learner(epsilon=1)
    mean, count = found.expectations(1000)
    assert mean.standard_deviation == found.moments.deviation / 1000
    assert count.standard_deviation == found.moments.deviation / found.moments.weight
    assert mean.margin >= 1.959964 * mean.standard_deviation
