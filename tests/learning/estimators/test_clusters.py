"""Clusters: near those of scikit-learn without noise, and found at a usual epsilon."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import cluster
from sklearn.datasets import load_iris

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import KMeans

IRIS = load_iris().data
BOUNDS = [(4, 8), (2, 5), (0, 7), (0, 3)]


def test_without_noise_rows_are_as_near_as_to_the_centers_of_scikit_learn():
    found = KMeans(3, rho=10**7, columns=BOUNDS).fit(IRIS)
    exact = cluster.KMeans(3, n_init=10, random_state=0).fit(IRIS)
    assert -found.score(IRIS) <= 1.05 * exact.inertia_
    assert found.score(IRIS) == pytest.approx(-(found.transform(IRIS).min(axis=1) ** 2).sum())
    assert (found.predict(IRIS) == found.transform(IRIS).argmin(axis=1)).all()
    assert not hasattr(found, "labels_")
    assert not hasattr(found, "inertia_")


@pytest.mark.statistical
def test_at_epsilon_one_far_places_are_found():
    source = np.random.default_rng(8)
    places = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])
    rows = places[source.integers(0, 3, 6000)] + source.normal(0, 0.4, (6000, 2))
    found = KMeans(3, epsilon=1, delta=1e-6, columns=(0, 10)).fit(rows)
    assert np.linalg.norm(places[:, None] - found.cluster_centers_, axis=2).min(axis=1).max() < 1.0
    assert accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9


def test_a_fit_and_its_predictions_in_one_call():
    numbers = KMeans(2, rho=100, columns=(0, 10)).fit_predict(np.repeat([[1.0], [9.0]], 200, axis=0))
    assert len(set(numbers[:200])) == len(set(numbers[200:])) == 1
    assert numbers[0] != numbers[-1]


def test_more_clusters_than_rows_have_centers_within_bounds():
    found = KMeans(20, rho=1, columns=(0, 10)).fit([[5.0], [6.0]])
    assert found.cluster_centers_.shape == (20, 1)
    assert ((found.cluster_centers_ >= 0) & (found.cluster_centers_ <= 10)).all()


@pytest.mark.parametrize("count", [0, 1001, 2.5])
def test_other_numbers_of_clusters_are_refused(count):
    with pytest.raises(ParameterError, match="n_clusters"):
        KMeans(count, rho=1, columns=(0, 10)).fit([[5.0]])
