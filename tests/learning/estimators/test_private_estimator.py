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
from discreet.learning import (
    AdditiveClassifier,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    StandardScaler,
)
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
    with pytest.raises(ParameterError, match=r"columns .*1,000"):
        kind(**stated).fit(np.zeros((2, 5_000)), [0, 1])


ODD = [(1, 2), [1, 2], np.array([1, 2]), "text", None, pandas.NA, {}]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("others", [0, 1])
def test_what_an_entry_of_a_list_holds_changes_no_shape(odd, others):
    """Rows of pairs would be a third dimension for NumPy, unless another row has none."""
    rows = [[odd, odd], *[[0.1, 0.2]] * others]
    found = StandardScaler()._columns_of(rows, reset=True)
    assert [one.shape for one in found] == [(1 + others,)] * 2
    assert found[0][0] is odd
    scaler = StandardScaler(epsilon=1, columns=(0, 1)).fit(rows)
    assert np.isfinite(scaler.mean_).all()


@pytest.mark.parametrize("rows", [[[1, 2], [3]], [[1, 2], 3], [3, [1, 2]], [(1, 2), np.ones((2, 2))]])
def test_rows_of_several_lengths_are_refused_by_their_lengths(rows):
    with pytest.raises(ParameterError, match="several lengths"):
        StandardScaler(epsilon=1, columns=(0, 1)).fit(rows)


@pytest.mark.parametrize("rows", [[], [1, 2]])
def test_a_list_without_rows_has_one_dimension(rows):
    with pytest.raises(ParameterError, match="1 dimensions"):
        StandardScaler(epsilon=1, columns=(0, 1)).fit(rows)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(epsilon=1, columns=(0, 1), target=(0, 1)),
        LogisticRegression(epsilon=1, columns=(0, 1), classes=[0, 1]),
    ],
    ids=["number", "class"],
)
def test_a_complex_target_is_refused_without_its_values(model):
    with pytest.raises(ParameterError) as caught:
        model.fit(np.zeros((2, 1)), np.array([41j, 1]))
    assert "41" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "Float64"])
def test_a_missing_target_is_read_by_itself(dtype):
    model = LogisticRegression(classes=[0, 1])
    for held in ([1, 0, None], [1, 0, 1]):
        target, labels = model._read_target(pandas.Series(held, dtype=dtype))
        assert target.numbers(labels)[:2].tolist() == [1, 0]
