"""Estimators made of estimators: parameters of parts, and what only the whole may say."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from discreet.errors import ParameterError
from discreet.learning import PCA, GaussianNB, MinMaxScaler, Pipeline
from discreet.learning.estimators.composite import named_parts


def test_parameters_of_parts_are_reached_by_their_names():
    found = Pipeline([("turn", PCA(2)), ("say", GaussianNB(classes=[0, 1]))], epsilon=1)
    assert found.get_params()["turn__n_components"] == 2
    found.set_params(turn__n_components=3, epsilon=2)
    assert (found.steps[0][1].n_components, found.epsilon) == (3, 2)
    copy = clone(found)
    assert copy.steps[0][1] is not found.steps[0][1]
    assert copy.get_params()["say__classes"] == [0, 1]
    assert "turn__n_components" not in found.get_params(deep=False)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([], "not named"),
        (3, "not named"),
        ([PCA()], "not named"),
        ([("a", object())], "not named"),
        ([("a", PCA()), ("a", PCA())], "a name twice"),
        ([("a", PCA(epsilon=1))], "epsilon of 'a'"),
        ([("a", PCA(columns=(0, 1)))], "columns of 'a'"),
        ([("a", PCA(rows=2))], "rows of 'a'"),
    ],
)
def test_parts_that_say_what_the_whole_says_are_refused(parts, words):
    with pytest.raises(ParameterError, match=words):
        named_parts(parts, "steps")


def test_parts_without_a_budget_of_their_own_are_parts():
    parts = [("m", MinMaxScaler()), ("p", PCA())]
    assert named_parts(parts, "steps") == parts
