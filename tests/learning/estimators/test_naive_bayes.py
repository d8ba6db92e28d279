"""Gaussian naive Bayes: the model of scikit-learn without noise, and a usable one whatever rows hold."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

import discreet as dp
from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import GaussianNB
from discreet.learning.estimators.private_classifier import SEEN
from effort import sizes

LITTLE = {"rho": 10**12}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [GaussianNB(columns=(-20, 20), classes=SEEN, **LITTLE)],
    expected_failed_checks=lambda _: {
        "check_fit_idempotent": "two fits of the same data differ by their noise"
    },
)
def test_the_conventions_of_scikit_learn_hold(estimator, check):
    check(estimator)


def digits():
    rows, labels = load_digits(return_X_y=True)
    return rows, labels, {"columns": (0, 16), "classes": list(range(10))}


def test_without_noise_it_is_the_model_of_scikit_learn():
    rows, labels, declared = digits()
    found = GaussianNB(**LITTLE, **declared).fit(rows, labels)
    exact = naive_bayes.GaussianNB(var_smoothing=0.0).fit(rows + 1e-9, labels)
    assert np.allclose(found.theta_, exact.theta_, atol=0.01)
    wide = exact.var_ > 0.01
    assert np.allclose(found.var_[wide], exact.var_[wide], rtol=0.01)
    assert np.allclose(found.class_prior_, exact.class_prior_, atol=1e-4)
    assert np.allclose(found.class_count_, exact.class_count_, atol=0.1)


def test_log_probabilities_are_those_of_scikit_learn_for_the_same_numbers():
    rows, labels, declared = digits()
    found = GaussianNB(epsilon=5, delta=1e-6, **declared).fit(rows, labels)
    exact = naive_bayes.GaussianNB().fit(rows, labels)
    exact.theta_, exact.var_, exact.class_prior_ = found.theta_, found.var_, found.class_prior_
    assert np.allclose(found.predict_log_proba(rows), exact.predict_log_proba(rows))
    assert (found.predict(rows) == exact.predict(rows)).all()
    assert np.allclose(found.predict_proba(rows).sum(axis=1), 1)


@pytest.mark.statistical
def test_digits_are_told_apart_at_epsilon_one():
    rows, labels, declared = digits()
    found = GaussianNB(epsilon=1, delta=1e-6, **declared).fit(rows, labels)
    assert found.score(rows, labels) > 0.75
    assert accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9


BAD = [
    ([[np.nan, np.inf], [-np.inf, 1e300]], [0, 1]),
    ([[0.5, 0.5]] * 6, [0, 0, 0, 0, 0, 0]),
    ([[0.5, 0.5]] * 6, [0, 0, 0, 0, 0, 1]),
    (np.empty((0, 2)), np.empty(0)),
    ([[0.1, 0.2]], [1]),
    ([["a", None], [[], 1j]], ["x", 1]),
]


@pytest.mark.parametrize(
    ("rows", "labels"), BAD, ids=["odd", "one class", "a lone one", "none", "one", "text"]
)
def test_bad_rows_have_a_model(rows, labels):
    found = GaussianNB(epsilon=1, columns=(0, 1), classes=[0, 1, 2]).fit(rows, labels)
    assert (found.var_ > 0).all()
    assert np.isfinite(found.predict_log_proba([[0.3, 0.4], [np.nan, 9.0]])).all()
    assert found.class_prior_.sum() == pytest.approx(1)


@pytest.mark.parametrize("columns", sizes(300, 5000))
def test_more_columns_than_rows_are_fitted(columns):
    rows = np.random.default_rng(0).uniform(0, 1, (20, columns))
    found = GaussianNB(rho=1, columns=(0, 1), classes=[0, 1]).fit(rows, np.arange(20) % 2)
    assert np.isfinite(found.predict_log_proba(rows)).all()


def test_bounds_that_nobody_meets_have_a_model():
    found = GaussianNB(rho=1, columns=(1000, 2000), classes=["a", "b"]).fit([[1.0], [2.0]], ["a", "b"])
    assert set(found.predict([[5.0], [1500.0]])) <= {"a", "b"}


def test_rows_are_scored_alike_in_any_company():
    rows, labels, declared = digits()
    found = GaussianNB(epsilon=1, **declared).fit(rows, labels)
    together = found.predict_joint_log_proba(rows)
    for place in range(0, len(rows), 97):
        assert (found.predict_joint_log_proba(rows[place : place + 1])[0] == together[place]).all()


def test_copies_keep_public_numbers_only():
    rows, labels, declared = digits()
    found = GaussianNB(epsilon=1, **declared).fit(rows, labels)
    assert (pickle.loads(pickle.dumps(found)).predict(rows) == found.predict(rows)).all()
    assert all(np.size(one) <= 640 for one in vars(found).values() if isinstance(one, np.ndarray))
    assert not hasattr(clone(found), "theta_")


def test_keys_and_undeclared_facts_are_refused():
    for options, words in (({"columns": None}, "columns"), ({"columns": [dp.Keys(["a"])]}, "declares keys")):
        with pytest.raises(ParameterError, match=words):
            GaussianNB(epsilon=1, classes=[0, 1], **options).fit([["a"]], [0])
