"""Model selection: one budget for trying and choosing, and the conventions of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import discreet as dp
from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import (
    AdditiveClassifier,
    GaussianNB,
    LogisticRegression,
    ModelSelection,
    Pipeline,
    StandardScaler,
)
from discreet.learning.estimators.private_classifier import SEEN
from discreet.learning.estimators.selection_learner import SelectionLearner

SPLIT = "two fits of the same data differ by who is held out, and by their noise"
EXPECTED = dict.fromkeys(
    ["check_fit_idempotent", "check_classifier_data_not_an_array", "check_supervised_y_2d"], SPLIT
)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        ModelSelection(
            [("a", GaussianNB(classes=SEEN)), ("b", LogisticRegression(classes=SEEN))],
            rho=10**7,
            columns=(-20, 20),
        )
    ],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_the_conventions_of_scikit_learn_hold(estimator, check):
    check(estimator)


SOURCE = np.random.default_rng(9)
ROWS = SOURCE.uniform(0, 10, (6000, 2))
LABELS = (np.abs(ROWS[:, 0] - 5) < 2).astype(int)  # what no line can tell


def selection(**options):
    candidates = [
        ("line", LogisticRegression(classes=[0, 1])),
        ("steps", AdditiveClassifier(classes=[0, 1])),
        ("scaled", Pipeline([("s", StandardScaler()), ("nb", GaussianNB(classes=[0, 1]))])),
    ]
    return ModelSelection(
        **{"candidates": candidates, "columns": (0, 10), "epsilon": 2, "delta": 1e-6, **options}
    )


@pytest.mark.statistical
def test_the_best_of_three_is_chosen_for_one_budget():
    found = selection().fit(ROWS, LABELS)
    assert found.chosen_ in ("steps", "scaled")
    assert found.score(ROWS, LABELS) > 0.8  # a line predicts 0.6
    assert accounting.epsilon(found.event_, delta=1e-6).upper <= 2 + 1e-9
    assert np.allclose(found.predict_proba(ROWS).sum(axis=1), 1)


def test_people_with_several_rows_are_named():
    people = np.repeat(np.arange(3000), 2)
    found = selection(rows=2).fit(ROWS, LABELS, groups=people)
    assert accounting.epsilon(found.event_, delta=1e-6).upper <= 2 + 1e-9
    for options, groups in (({"rows": 2}, None), ({}, people)):
        with pytest.raises(ParameterError, match="groups"):
            selection(**options).fit(ROWS, LABELS, groups=groups)
    with pytest.raises(ParameterError, match="another length"):
        selection(rows=2).fit(ROWS, LABELS, groups=people[:-1])


def test_the_name_of_a_person_changes_nobody_else(monkeypatch):
    """In an array of one type 1 would become 1.0, or a text, by the name of another person; or fail."""
    seen = []

    def keep(self, values, people):
        seen.append(people.tolist())
        raise RuntimeError

    monkeypatch.setattr(SelectionLearner, "draw_people", keep)
    for last in ("x", None, [1], (1, 2)):
        with pytest.raises(RuntimeError):
            selection(rows=2).fit(ROWS[:4], LABELS[:4], groups=[1, 1.5, 2, last])
        assert seen[-1] == [1, 1.5, 2, last]
        assert list(map(type, seen[-1][:3])) == [int, float, int]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"candidates": []}, "not named"),
        ({"candidates": [("a", GaussianNB(classes=[0, 1], rho=1))]}, "rho of 'a'"),
        ({"candidates": [(str(n), GaussianNB(classes=[0, 1])) for n in range(101)]}, "at most 100"),
        ({"candidates": [("s", StandardScaler())]}, "not what this model predicts"),
        ({"held_out": 1}, "held_out"),
    ],
)
def test_what_is_no_selection_is_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        selection(**options).fit(ROWS, LABELS)


def test_a_table_declares_the_target_of_all_candidates():
    columns = {"a": (0, 10), "b": (0, 10)}
    stated = {"epsilon": 1, "delta": None, "rho": None, "rows": 1}
    copy, learner = selection()._of_table(columns, ("y", dp.Keys([0, 1])), **stated)
    copy._keep(learner, learner.draw([*ROWS.T, LABELS]))
    with pytest.raises(ParameterError, match="people are held out"):
        selection()._of_table(columns, ("y", dp.Keys([0, 1])), **stated | {"rows": 2})
    assert copy.chosen_ in ("line", "steps", "scaled")
