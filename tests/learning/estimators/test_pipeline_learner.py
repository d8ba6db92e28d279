"""Stages as one learner: an event that is known before, and that is what is drawn."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import (
    PCA,
    AdditiveClassifier,
    GaussianNB,
    KMeans,
    LogisticRegression,
    ModelSelection,
    StandardScaler,
)
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.estimators.pipeline_learner import PipelineLearner, Stage
from discreet.learning.training.budgets import stated_budget

FEATURES = Features.of([(0, 10), (0, 1), (-5, 5)], ["a", "b", "c"], by_name=False)
TARGET = Classes.of("y", [0, 1])
LAST = [GaussianNB(), LogisticRegression(), AdditiveClassifier()]
SOURCE = np.random.default_rng(3)
VALUES = [SOURCE.uniform(0, 10, 400), SOURCE.uniform(0, 1, 400), SOURCE.normal(0, 1, 400)]
LABELS = (VALUES[0] > 5).astype(int)


def learner(last, rows=1, **budget):
    stages = [
        Stage(name="scale", model=StandardScaler(), share=Fraction(1, 5)),
        Stage(name="turn", model=PCA(2), share=Fraction(1, 5)),
        Stage(name="last", model=last, share=Fraction(3, 5)),
    ]
    stated = stated_budget(**(budget or {"rho": Fraction(1, 2)}))
    return PipelineLearner(stages=stages, features=FEATURES, target=TARGET, budget=stated, rows=rows)


@pytest.mark.parametrize("last", LAST, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("rows", [1, 3])
def test_the_event_that_is_planned_is_that_of_the_stages_that_run(last, rows):
    found = learner(last, rows)
    for values, labels in ((VALUES, LABELS), ([one[:0] for one in VALUES], LABELS[:0])):
        models = found.fitted(found.draw([*values, labels]))
        assert [model.event_ for model in models] == [one.event for one in found.planned]
    assert found.event.concentrated_rho <= Fraction(1, 2)
    assert found.event.concentrated_rho > Fraction(49, 100)


@pytest.mark.parametrize("budget", [{"epsilon": 1, "delta": 1e-6}, {"epsilon": 1}])
def test_the_budget_is_kept(budget):
    found = learner(GaussianNB(), **budget)
    assert accounting.epsilon(found.event, delta=budget.get("delta", 0)).upper <= 1 + 1e-9
    assert found.guarantee == stated_budget(**budget).guarantee


def test_what_is_public_and_what_is_drawn_is_plain():
    found = learner(GaussianNB())
    assert found.columns == ("a", "b", "c", "y")
    assert json.loads(json.dumps(found.parameters)) == found.parameters
    drawn = found.draw([*VALUES, LABELS])
    assert json.loads(json.dumps(drawn)) == drawn
    rebuilt = found.fitted(json.loads(json.dumps(drawn)))[-1]
    assert (rebuilt.theta_ == found.fitted(drawn)[-1].theta_).all()
    assert len(found.expectations(100)) >= 6
    assert found.words.startswith("scale: ")


def test_stages_read_what_the_stages_before_them_make():
    """With little noise the last stage has the means of turned, scaled columns."""
    found = learner(GaussianNB(), rho=10**9)
    scale, turn, last = found.fitted(found.draw([*VALUES, LABELS]))
    rows = np.column_stack(VALUES)
    made = turn.transform(scale.transform(rows))
    for number in (0, 1):
        assert np.allclose(last.theta_[number], made[number == LABELS].mean(axis=0), atol=0.02)


def test_a_last_stage_may_have_no_target():
    stages = [
        Stage(name="scale", model=StandardScaler(), share=Fraction(1, 2)),
        Stage(name="near", model=KMeans(2), share=Fraction(1, 2)),
    ]
    budget = stated_budget(rho=1)
    found = PipelineLearner(stages=stages, features=FEATURES, target=None, budget=budget, rows=1)
    assert found.columns == ("a", "b", "c")
    assert found.fitted(found.draw(VALUES))[-1].cluster_centers_.shape == (2, 3)


class Greedy(GaussianNB):
    """A stage that plans one budget, and runs with another."""

    planned: ClassVar[list[int]] = []

    def _learner(self, features, target, budget, rows):
        self.planned.append(1)
        return super()._learner(features, target, stated_budget(rho=len(self.planned)), rows)


def test_a_stage_that_runs_another_learner_than_was_planned_is_refused():
    found = learner(Greedy())
    with pytest.raises(ParameterError, match="than was planned"):
        found.draw([*VALUES, LABELS])


def test_a_selection_as_a_stage_is_refused_where_a_person_has_several_rows():
    last = ModelSelection([("a", GaussianNB()), ("b", LogisticRegression())])
    assert learner(last).planned[-1].kind == "selection"
    with pytest.raises(ParameterError, match="whose they are"):
        learner(last, rows=2)
