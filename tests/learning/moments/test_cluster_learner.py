"""Clusters as a learner: what is public before, and centers in the units of the columns."""

from __future__ import annotations

import json

import numpy as np

from discreet.learning.design.features import Features
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.cluster_learner import ClusterLearner
from discreet.learning.moments.noisy_clusters import NoisyClusters
from discreet.learning.training.budgets import stated_budget

FEATURES = Features.of([(0, 10), (100, 120)], ["a", "b"], by_name=False)


def learner(count=2, **budget):
    stated = stated_budget(**(budget or {"rho": 10**6}))
    clusters = NoisyClusters(grid=BoxGrid.of(FEATURES), clusters=count, budget=stated)
    return ClusterLearner(features=FEATURES, clusters=clusters)


def test_what_is_public_is_plain_and_complete():
    found = learner(epsilon=1)
    assert found.columns == ("a", "b")
    assert json.loads(json.dumps(found.parameters)) == found.parameters
    assert found.parameters != learner(3, epsilon=1).parameters
    assert found.event == found.clusters.event
    (center,) = found.expectations(50)
    assert center.standard_deviation == found.clusters.deviation / 50


def test_centers_are_in_the_units_of_the_columns():
    values = [np.repeat([2.0, 8.0], 500), np.repeat([105.0, 115.0], 500)]
    drawn = learner().draw(values)
    assert np.allclose(sorted(drawn["centers"]), [[2, 105], [8, 115]], atol=0.2)
    assert json.loads(json.dumps(drawn)) == drawn
