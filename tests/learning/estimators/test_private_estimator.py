"""What all estimators share: copies for tables, and models that are rebuilt from what was drawn."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone

from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.learning import AdditiveClassifier, LinearSVC, LogisticRegression
from discreet.learning.estimators.private_estimator import PrivateEstimator

KINDS = [LogisticRegression, LinearSVC, AdditiveClassifier]
COLUMNS = {"age": Bounds(0, 100), "city": Keys(["a", "b"])}
FRAME = pandas.DataFrame({"age": [10.0, 90.0] * 20, "city": ["a", "b"] * 20})
OFFER = {"epsilon": 1, "delta": 1e-6, "rho": None}


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_rebuilt_from_what_was_drawn(kind):
    """Stored numbers give the same model, to the last bit, and its copies hold nothing else."""
    model, learner = kind()._of_table(COLUMNS, ("state", Keys(["ill", "well", None])), rows=2, **OFFER)
    values = [FRAME["age"].to_numpy(), FRAME["city"].to_numpy(), np.array(["ill", "well"] * 20)]
    drawn = learner.draw(values)
    again = clone(model)
    again.feature_names_in_, again.n_features_in_ = model.feature_names_in_, model.n_features_in_
    model._keep(learner, drawn)
    again._keep(learner, json.loads(json.dumps(drawn)))
    assert (model.decision_function(FRAME) == again.decision_function(FRAME)).all()
    assert model.get_params()["rows"] == 2
    assert model.get_params()["classes"] == ["ill", "well"]
    assert model.event_ == learner.event
    kept = pickle.loads(pickle.dumps(model))
    assert (kept.predict(FRAME) == model.predict(FRAME)).all()


def test_the_model_that_is_given_stays_unfitted():
    given = LogisticRegression(rows=7)
    copy, _ = given._of_table(COLUMNS, ("state", Keys(["ill", "well"])), rows=2, **OFFER)
    assert (given.rows, given.columns, copy.rows) == (7, None, 2)


def test_a_number_is_not_a_class():
    with pytest.raises(ParameterError, match="target is a number"):
        LogisticRegression()._of_table(COLUMNS, ("age", Bounds(0, 100)), rows=1, **OFFER)


def test_an_estimator_without_a_target_refuses_one():
    with pytest.raises(ParameterError, match="not what this model predicts"):
        PrivateEstimator._declared_target(LogisticRegression(), "state", Keys(["a", "b"]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "rows",
    [
        np.full((3, 8), 1e300),
        np.zeros((3, 8)),
        np.full((1, 8), -np.inf),
        np.full((4, 8), 0.5),
        np.random.default_rng(0).normal(0, 1, (5, 60)),
    ],
    ids=["norm 1e300", "norm 0", "infinities", "constant", "more columns than rows"],
)
def test_rows_of_any_kind_have_a_fit(kind, rows):
    stated = {"epsilon": 1, "delta": 1e-6, "columns": (0, 1), "classes": ["ill", "well"]}
    labels = np.array(["well"] + ["ill"] * (len(rows) - 1))
    assert np.isfinite(kind(**stated).fit(rows, labels).weights_).all()


@pytest.mark.parametrize("kind", KINDS)
def test_five_thousand_columns_are_refused_with_how_many_there_may_be(kind):
    stated = {"epsilon": 1, "delta": 1e-6, "columns": (0, 1), "classes": [0, 1]}
    with pytest.raises(ParameterError, match=r"columns .*1000"):
        kind(**stated).fit(np.zeros((2, 5_000)), [0, 1])
