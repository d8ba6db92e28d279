"""Principal components: those of scikit-learn without noise, and near them with a little."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.datasets import load_digits

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import PCA

DIGITS = load_digits().data


def test_without_noise_they_are_those_of_scikit_learn():
    found = PCA(6, rho=10**12, columns=(0, 16)).fit(DIGITS)
    exact = decomposition.PCA(6, svd_solver="full").fit(DIGITS)
    assert np.allclose(found.explained_variance_, exact.explained_variance_, rtol=2e-3)
    assert np.allclose(found.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=2e-3)
    assert np.allclose(found.singular_values_, exact.singular_values_, rtol=2e-3)
    assert found.noise_variance_ == pytest.approx(exact.noise_variance_, rel=2e-3)
    assert np.allclose(np.abs(found.components_ @ exact.components_.T), np.eye(6), atol=1e-3)
    assert np.allclose(np.abs(found.transform(DIGITS)), np.abs(exact.transform(DIGITS)), atol=0.05)


def test_rows_are_rebuilt_from_all_components():
    found = PCA(rho=1, columns=(0, 16)).fit(DIGITS)
    assert np.allclose(found.components_ @ found.components_.T, np.eye(64))
    assert np.allclose(found.inverse_transform(found.transform(DIGITS)), DIGITS)


@pytest.mark.statistical
def test_a_strong_direction_is_found_at_epsilon_one():
    source = np.random.default_rng(1)
    rows = source.normal(0, 0.3, (5000, 1)) @ np.array([[0.6, 0.8, 0.0]]) + source.normal(0, 0.03, (5000, 3))
    found = PCA(1, epsilon=1, delta=1e-6, columns=(-1, 1)).fit(rows)
    assert abs(found.components_[0] @ [0.6, 0.8, 0.0]) > 0.97
    assert found.explained_variance_[0] == pytest.approx(0.09, rel=0.2)
    assert accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9


def test_more_components_or_columns_than_there_may_be_are_refused():
    with pytest.raises(ParameterError, match="at most 3"):
        PCA(4, rho=1, columns=(0, 1)).fit(np.zeros((5, 3)))
    with pytest.raises(ParameterError, match="1000"):
        PCA(2, rho=1, columns=(0, 1)).fit(np.zeros((2, 5000)))


def test_more_columns_than_rows_have_components():
    found = PCA(2, rho=1, columns=(0, 1)).fit(np.full((3, 40), 0.5))
    assert np.isfinite(found.components_).all()
    assert (found.explained_variance_ >= 0).all()
