"""Scalers: those of scikit-learn without noise, and none at all where bounds say everything."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import preprocessing

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import MinMaxScaler, StandardScaler
from discreet.privacy.events import Nothing

ROWS = np.random.default_rng(6).normal([1, -2, 50], [0.5, 0.1, 20], (4000, 3))
BOUNDS = [(-2, 4), (-3, -1), (-50, 150)]


def test_without_noise_it_is_the_scaler_of_scikit_learn():
    found = StandardScaler(rho=10**12, columns=BOUNDS).fit(ROWS)
    exact = preprocessing.StandardScaler().fit(ROWS)
    assert np.allclose(found.mean_, exact.mean_, atol=1e-3)
    assert np.allclose(found.var_, exact.var_, rtol=1e-3)
    assert np.allclose(found.transform(ROWS), exact.transform(ROWS), atol=0.01)
    assert np.allclose(found.inverse_transform(found.transform(ROWS)), ROWS)
    assert found.n_samples_seen_ == pytest.approx(4000, abs=0.1)


@pytest.mark.statistical
def test_at_epsilon_one_scaled_columns_have_about_unit_variance():
    found = StandardScaler(epsilon=1, columns=BOUNDS).fit(ROWS)
    assert np.allclose(found.transform(ROWS).mean(axis=0), 0, atol=0.3)
    assert np.allclose(found.transform(ROWS).std(axis=0), 1, atol=0.3)
    assert accounting.epsilon(found.event_, delta=0).upper <= 1


def test_a_constant_column_is_not_blown_up_to_noise():
    found = StandardScaler(epsilon=1, columns=(0, 100)).fit(np.full((2000, 2), 30.0))
    assert np.abs(found.transform([[30.0, 30.0]])).max() < 3


def test_declared_bounds_cost_nothing():
    found = MinMaxScaler(columns=[(0, 10), (-1, 1)]).fit([[3, 4]])
    assert found.event_ == Nothing
    assert found.guarantee_.epsilon == 0
    assert found.transform([[0, 1], [5, 0], [99, np.nan]]).tolist() == [[0, 1], [0.5, 0.5], [1, 0.5]]
    assert found.inverse_transform([[0.5, 0.25]]).tolist() == [[5, -0.5]]
    other = MinMaxScaler(columns=(0, 10), feature_range=(-1, 1)).fit([[3]])
    assert other.transform([[0], [10]]).tolist() == [[-1], [1]]


def test_what_has_no_room_and_what_a_table_cannot_say_is_refused():
    with pytest.raises(ParameterError, match="no room"):
        MinMaxScaler(columns=(0, 1), feature_range=(1, 1)).fit([[0.5]])
    with pytest.raises(ParameterError, match="stage of a Pipeline"):
        MinMaxScaler()._of_table({"a": (0, 1)}, None, epsilon=1, delta=None, rho=None, rows=1)
    with pytest.raises(ParameterError, match="one budget"):
        StandardScaler(columns=(0, 1)).fit([[0.5]])
