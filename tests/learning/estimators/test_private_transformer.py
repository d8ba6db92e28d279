"""Estimators that change columns: the conventions of scikit-learn, bad rows, and rows by themselves."""

from __future__ import annotations

import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import discreet as dp
from discreet.errors import ParameterError
from discreet.learning import PCA, KMeans, MinMaxScaler, StandardScaler

NOISE = "two fits of the same data differ by their noise"
EMPTY = "no rows have a fit like any others: a refusal would tell that there are none"
EXPECTED = {"check_fit_idempotent": NOISE, "check_estimators_empty_data_messages": EMPTY}
EXPECTED_OF = {
    "MinMaxScaler": {"check_estimators_empty_data_messages": EMPTY},
    "StandardScaler": {
        "check_estimator_sparse_array": "sets with_mean of whatever is called StandardScaler",
        "check_estimator_sparse_matrix": "sets with_mean of whatever is called StandardScaler",
    },
    "KMeans": {"check_clustering": "which rows are in which cluster is not released: there is no labels_"},
}
LITTLE = {"rho": 10**7, "columns": (-20, 20)}


def expected(model):
    name = type(model).__name__
    return EXPECTED_OF[name] if name == "MinMaxScaler" else EXPECTED | EXPECTED_OF.get(name, {})


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [MinMaxScaler(columns=(-20, 20)), StandardScaler(**LITTLE), PCA(**LITTLE), KMeans(3, **LITTLE)],
    expected_failed_checks=expected,
)
def test_the_conventions_of_scikit_learn_hold(estimator, check):
    check(estimator)


def models(columns=(0, 1), **budget):
    budget = budget or {"epsilon": 1, "delta": 1e-6}
    return [
        MinMaxScaler(columns=columns),
        StandardScaler(columns=columns, **budget),
        PCA(2, columns=columns, **budget),
        KMeans(3, columns=columns, **budget),
    ]


BAD = {
    "odd": [[np.nan, np.inf, 0.0], [-np.inf, 1e300, -1e300]],
    "constant": [[0.5, 0.5, 0.5]] * 9,
    "none": np.empty((0, 3)),
    "one": [[0.1, 0.2, 0.3]],
    "text": [["a", None, []], [1j, {}, 10**400]],
}


@pytest.mark.parametrize("rows", BAD.values(), ids=BAD)
@pytest.mark.parametrize("model", models(), ids=lambda model: type(model).__name__)
def test_bad_rows_have_a_fit_and_are_transformed(model, rows):
    found = clone(model).fit(rows)
    assert np.isfinite(found.transform(rows)).all()
    assert np.isfinite(found.transform([[9.0, -9.0, np.nan]])).all()


@pytest.mark.parametrize("model", models(), ids=lambda model: type(model).__name__)
def test_rows_become_the_same_in_any_company_within_stated_bounds(model):
    rows = np.random.default_rng(2).uniform(-0.2, 1.2, (2000, 3))
    found = clone(model).fit(rows)
    together = found.transform(rows)
    for place in range(0, 2000, 119):
        assert (found.transform(rows[place : place + 1])[0] == together[place]).all()
    bounds = np.array(found._bounds_out())
    assert bounds.shape == (together.shape[1], 2)
    inside = (together >= bounds[:, 0] - 1e-9) & (together <= bounds[:, 1] + 1e-9)
    assert inside.mean() > 0.99
    assert len(found._names_out(["a", "b", "c"])) == together.shape[1]


@pytest.mark.parametrize("model", models({"a": (0, 1), "b": (0, 5)}), ids=lambda model: type(model).__name__)
def test_frames_keep_their_names(model):
    frame = pandas.DataFrame({"a": [0.1, 0.9, 0.4], "b": [1.0, 4.0, 2.0]})
    found = clone(model).set_output(transform="pandas").fit(frame)
    shown = found.transform(frame)
    assert list(shown.columns) == found.get_feature_names_out().tolist()
    assert found.feature_names_in_.tolist() == ["a", "b"]
    if isinstance(model, MinMaxScaler | StandardScaler):
        assert list(shown.columns) == ["a", "b"]


@pytest.mark.parametrize("model", models(), ids=lambda model: type(model).__name__)
def test_copies_keep_public_numbers_only(model):
    rows = np.random.default_rng(2).uniform(0, 1, (500, 3))
    found = clone(model).fit(rows)
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.transform(rows) == found.transform(rows)).all()
    assert all(np.size(one) < 20 for one in vars(found).values() if isinstance(one, np.ndarray))
    assert not hasattr(clone(found), "features_")


@pytest.mark.parametrize("model", models([(0, 1), dp.Keys(["x"])]), ids=lambda model: type(model).__name__)
def test_keys_are_refused(model):
    with pytest.raises(ParameterError, match="declares keys"):
        clone(model).fit([[0.5, "x"]])
    with pytest.raises(ParameterError, match="not declared"):
        clone(model).set_params(columns=None).fit([[0.5, "x"]])
