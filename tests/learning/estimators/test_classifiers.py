"""Classifiers: the conventions of scikit-learn, declared facts alone, and fits of bad data."""

from __future__ import annotations

import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import discreet as dp
from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import AdditiveClassifier, LinearSVC, LogisticRegression
from discreet.learning.design.targets import Classes
from discreet.learning.estimators.private_classifier import SEEN, labels_of
from discreet.privacy.guarantees import ApproximateDP

KINDS = [LogisticRegression, LinearSVC, AdditiveClassifier]
NOISE = "two fits of the same data differ by their noise"
EXPECTED = dict.fromkeys(
    ["check_classifier_data_not_an_array", "check_supervised_y_2d", "check_fit_idempotent"], NOISE
)
FOR_CHECKS = {"epsilon": 100, "delta": 1e-3, "columns": (-20, 20), "classes": SEEN}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([kind(**FOR_CHECKS) for kind in KINDS], expected_failed_checks=lambda _: EXPECTED)
def test_the_conventions_of_scikit_learn_hold(estimator, check):
    check(estimator)


def made_up(count, source):
    age, city = source.uniform(0, 100, count), source.choice(["a", "b", "c"], count)
    score = (age - 50) / 10 + 2 * (city == "b")
    frame = pandas.DataFrame({"age": age, "city": city})
    return frame, np.where(score + source.logistic(size=count) > 0, "ill", "well")


FRAME, LABELS = made_up(5_000, np.random.default_rng(1))
DECLARED = {"age": dp.Bounds(0, 100), "city": dp.Keys(["a", "b", "c"])}


def model(kind=LogisticRegression, **options):
    stated = {"epsilon": 1, "delta": 1e-6, "columns": DECLARED, "classes": ["ill", "well"]}
    return kind(**{**stated, **options})


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_predicts_and_says_what_it_cost(kind):
    found = model(kind).fit(FRAME, LABELS)
    assert (found.predict(FRAME) == LABELS).mean() > 0.75  # the best is 0.91, one class for all 0.58
    assert found.guarantee_ == ApproximateDP(epsilon=1, delta=1e-6)
    assert accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9
    assert found.classes_.tolist() == ["ill", "well"]
    assert found.feature_names_in_.tolist() == ["age", "city"]


def test_coefficients_are_in_the_units_of_the_columns():
    found = model().fit(FRAME, LABELS)
    assert found.get_feature_names_out().tolist() == ["age", "city=a", "city=b", "city=c"]
    keys = (FRAME["city"].to_numpy()[:, None] == np.array(["a", "b", "c"])).astype(float)
    scores = found.coef_[0, 0] * FRAME["age"] + keys @ found.coef_[0, 1:] + found.intercept_[0]
    assert np.allclose(scores, found.decision_function(FRAME))


def test_probabilities_add_up_and_grow_with_scores():
    found = model().fit(FRAME, LABELS)
    chances = found.predict_proba(FRAME)
    assert np.allclose(chances.sum(axis=1), 1)
    assert (np.argsort(chances[:, 1]) == np.argsort(found.decision_function(FRAME))).all()
    assert np.allclose(np.exp(found.predict_log_proba(FRAME)), chances)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_keep_public_numbers_only(kind):
    found = model(kind).fit(FRAME, LABELS)
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.predict(FRAME) == found.predict(FRAME)).all()
    assert all(np.size(value) < 100 for value in vars(found).values() if isinstance(value, np.ndarray))
    assert not hasattr(clone(found), "weights_")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("ages", "cities", "labels"),
    [
        ([np.nan, np.inf, -np.inf, 1e300], ["a", None, 3, "z"], ["ill", "well", "ill", "well"]),
        ([0.0, 0.0], ["a", "a"], ["ill", "ill"]),
        ([5.0], ["b"], ["well"]),
        ([5.0, 6.0], ["b", "b"], ["dead", "unborn"]),
    ],
)
def test_bad_data_have_a_fit_like_any_other(kind, ages, cities, labels):
    frame = pandas.DataFrame({"age": ages, "city": pandas.Series(cities, dtype=object)})
    assert np.isfinite(model(kind).fit(frame, labels).weights_).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": None}, "columns are not declared"),
        ({"classes": None}, "classes are not declared"),
        ({"classes": ["ill"]}, "one class"),
        ({"classes": "ill"}, "is text"),
        ({"epsilon": None}, "one budget"),
        ({"rho": 1}, "one budget"),
    ],
)
def test_what_is_not_stated_is_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        model(**options).fit(FRAME, LABELS)


def test_a_person_with_many_rows_costs_more_noise():
    one, many = (model(rows=rows).fit(FRAME, LABELS) for rows in (1, 20))
    assert accounting.epsilon(many.event_, delta=1e-6).upper <= 1 + 1e-9
    assert one.event_ != many.event_


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_decides_how_another_is_read(kind):
    """Lists in which one entry would change the type of all: the others are what they were."""
    columns = [dp.Keys([1, 2]), dp.Keys(["a", "b"]), (0, 1)]
    rows, labels = [[1, "a", 0.5], [2, "b", 0.25]] * 50, [0, 1] * 50
    found = model(kind, columns=columns, classes=[0, 1])
    alone = found.fit(rows, labels).features_
    target = Classes.of("y", [0, 1])
    numbers = target.numbers(labels_of(labels, seen=False))
    for odd in ([1, None, 0.5], ["x", "a", 0.5], [1, "a", "n/a"], [1j, "a", 10**400], [[], {}, -(10**400)]):
        for label in ("x", None, 0.5, [], 1j):
            held = found._columns_of([*rows, odd], reset=False)
            assert (
                alone.encoded([one[:100] for one in held])
                == alone.encoded(found._columns_of(rows, reset=False))
            ).all()
            more = labels_of([*labels, label], seen=False)
            assert (target.numbers(more)[:100] == numbers).all()
            assert np.isfinite(found.fit([*rows, odd], [*labels, label]).weights_).all()
    assert (numbers >= 0).all()
    assert alone.encoded(found._columns_of(rows, reset=False))[:, :4].sum() == 200


def test_no_rows_have_a_fit():
    assert np.isfinite(model().fit(FRAME[:0], LABELS[:0]).weights_).all()
    found = model(columns=(0, 1), classes=[0, 1]).fit(np.empty((0, 3)), np.empty(0))
    assert np.isfinite(found.weights_).all()


def test_keys_beyond_floats_are_refused():
    with pytest.raises(ParameterError, match=r"up to 2\^53"):
        model(columns={"age": (0, 1), "city": dp.Keys([2**53 + 1])}).fit(FRAME, LABELS)
    with pytest.raises(ParameterError, match=r"up to 2\^53"):
        model(classes=[0, 2**53 + 1]).fit(FRAME, LABELS)


NO_TABLES = [[123456.0, 2.0], [[123456.0], [1.0, 2.0]], np.full((1, 1, 1), 123456.0), np.array([[123456j]])]


@pytest.mark.parametrize("wrong", NO_TABLES, ids=["a row", "ragged", "a cube", "complex"])
def test_what_is_no_table_is_refused_without_its_values(wrong):
    with pytest.raises(ParameterError, match=r"2D array|Complex|several lengths") as caught:
        model(columns=(0, 1), classes=[0, 1]).fit(wrong, [0, 1])
    assert "123456" not in str(caught.value)
