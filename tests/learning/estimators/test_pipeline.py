"""Pipelines: one budget for all stages, and the conventions of scikit-learn."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pandas
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import (
    PCA,
    GaussianNB,
    KMeans,
    LogisticRegression,
    MinMaxScaler,
    Pipeline,
    StandardScaler,
)
from discreet.learning.estimators.private_classifier import SEEN

LITTLE = {"rho": 10**7, "columns": (-20, 20)}
NOISE = "two fits of the same data differ by their noise"
EMPTY = "no rows have a fit like any others: a refusal would tell that there are none"


def expected(model):
    found = {"check_fit_idempotent": NOISE}
    return found if model.steps[-1][0] == "nb" else found | {"check_estimators_empty_data_messages": EMPTY}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        Pipeline([("scale", StandardScaler()), ("nb", GaussianNB(classes=SEEN))], **LITTLE),
        Pipeline([("scale", MinMaxScaler()), ("turn", PCA())], **LITTLE),
    ],
    expected_failed_checks=expected,
)
def test_the_conventions_of_scikit_learn_hold(estimator, check):
    check(estimator)


SOURCE = np.random.default_rng(5)
FRAME = pandas.DataFrame({"a": SOURCE.uniform(0, 10, 3000), "b": SOURCE.normal(0, 1, 3000)})
LABELS = np.where(FRAME["a"] + FRAME["b"] > 5, "ill", "well")
BOUNDS = {"a": (0, 10), "b": (-50, 50)}


def pipeline(**options):
    steps = [("scale", StandardScaler()), ("say", LogisticRegression(classes=["ill", "well"]))]
    return Pipeline(**{"steps": steps, "columns": BOUNDS, "epsilon": 1, "delta": 1e-6, **options})


@pytest.mark.statistical
def test_all_stages_together_cost_one_budget():
    found = pipeline().fit(FRAME, LABELS)
    assert found.score(FRAME, LABELS) > 0.85
    assert 0.99 <= accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9
    assert found.classes_.tolist() == ["ill", "well"]
    assert np.allclose(found.predict_proba(FRAME).sum(axis=1), 1)
    assert ((found.decision_function(FRAME) > 0) == (found.predict(FRAME) == "well")).all()


def test_shares_are_a_tenth_for_what_prepares_and_the_rest_for_the_last():
    free = [("m", MinMaxScaler()), ("s", StandardScaler()), ("p", PCA())]
    tenth = Fraction(1, 10)
    assert Pipeline(free)._divided(free) == [0, tenth, 1 - tenth]
    many = [(f"s{place}", StandardScaler()) for place in range(11)]
    assert Pipeline(many)._divided(many) == [Fraction(1, 20)] * 10 + [Fraction(1, 2)]
    assert Pipeline(free, shares=[9, 1, 3])._divided(free) == [0, Fraction(1, 4), Fraction(3, 4)]


def test_what_costs_nothing_leaves_all_to_the_others():
    found = Pipeline([("m", MinMaxScaler()), ("p", PCA())], rho=Fraction(1, 2), columns=(0, 1))
    assert found.fit([[0.5, 0.5]]).event_.concentrated_rho == Fraction(1, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shares": [1]}, "2 numbers"),
        ({"shares": [0, 1]}, "without budget"),
        ({"columns": None}, "columns are not declared"),
        ({"steps": [("nb", GaussianNB(classes=["a", "b"])), ("p", PCA())]}, "in between"),
        ({"steps": [("p", PCA(epsilon=1))]}, "epsilon of 'p'"),
    ],
)
def test_what_is_not_a_pipeline_is_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        pipeline(**options).fit(FRAME, LABELS)


def test_a_pipeline_has_what_its_last_stage_has():
    clusters = Pipeline([("m", MinMaxScaler()), ("k", KMeans(2))], rho=10, columns=BOUNDS).fit(FRAME)
    assert clusters.predict(FRAME).shape == (3000,)
    assert clusters.transform(FRAME).shape == clusters.fit_transform(FRAME).shape == (3000, 2)
    assert not hasattr(clusters, "predict_proba")
    assert not hasattr(pipeline(), "transform")
    assert clusters.get_feature_names_out().tolist() == ["kmeans0", "kmeans1"]


def test_copies_keep_public_numbers_only():
    found = pipeline().fit(FRAME, LABELS)
    held = pickle.dumps(found)
    assert len(held) < 20_000
    assert (pickle.loads(held).predict(FRAME) == found.predict(FRAME)).all()
    assert not hasattr(found.steps[0][1], "mean_")


def test_a_table_declares_the_target_of_the_last_stage():
    import discreet as dp

    copy, learner = pipeline()._of_table(
        BOUNDS, ("y", dp.Keys(["ill", "well"])), epsilon=1, delta=1e-6, rho=None, rows=2
    )
    assert copy.get_params()["say__classes"] == ["ill", "well"]
    assert learner.columns == ("a", "b", "y")
    assert learner.rows == 2
    drawn = learner.draw([*(FRAME[name].to_numpy() for name in FRAME), LABELS])
    copy._keep(learner, drawn)
    assert set(copy.predict(FRAME)) <= {"ill", "well"}


@pytest.mark.parametrize("rows", [[[np.nan, np.inf]], np.empty((0, 2)), [["a", None], [[], 1j]]])
def test_bad_rows_have_a_fit(rows):
    found = pipeline(columns=(0, 1)).fit(rows, ["ill"] * len(rows))
    assert np.isfinite(found.predict_proba([[0.5, np.nan]])).all()
