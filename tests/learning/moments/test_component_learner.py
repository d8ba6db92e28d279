"""Components as a learner: those of numpy where there is little noise."""

from __future__ import annotations

import json

import numpy as np

from discreet.learning.design.features import Features
from discreet.learning.moments.component_learner import ComponentLearner
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.learning.training.budgets import stated_budget

FEATURES = Features.of([(0, 10), (-1, 1), (-200, 200)], ["a", "b", "c"], by_name=False)


def learner(components=2, **budget):
    stated = stated_budget(**(budget or {"rho": 10**12}))
    moments = NoisyMoments(columns=3, budget=stated, products=True)
    return ComponentLearner(features=FEATURES, components=components, moments=moments)


def test_what_is_public_is_plain_and_complete():
    found = learner(epsilon=1, delta=1e-6)
    assert found.columns == ("a", "b", "c")
    assert json.loads(json.dumps(found.parameters)) == found.parameters
    assert found.parameters != learner(1, epsilon=1, delta=1e-6).parameters
    assert "normal" in found.words
    assert [one.name for one in found.expectations(100)] == ["mean", "count", "variance"]


def test_components_are_those_of_the_covariances():
    source = np.random.default_rng(3)
    turned = np.array([[1.0, 0.0, 0.0], [0.05, 0.2, 0.0], [10.0, 0.0, 30.0]])
    rows = np.array([5.0, 0.0, 0.0]) + source.normal(0, 1, (5000, 3)).clip(-2.5, 2.5) @ turned.T
    drawn = learner().draw(list(rows.T))
    values, vectors = np.linalg.eigh(np.cov(rows.clip([0, -1, -200], [10, 1, 200]).T))
    assert np.allclose(np.square(drawn["deviations"]), values[::-1], rtol=1e-2, atol=1e-4)
    for found, exact in zip(drawn["components"], vectors.T[::-1], strict=False):
        assert abs(np.dot(found, exact)) > 0.9999
        assert max(found, key=abs) > 0
    assert json.loads(json.dumps(drawn)) == drawn
