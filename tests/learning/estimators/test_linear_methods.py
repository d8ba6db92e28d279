"""The choice of a mechanism for linear classifiers: by name, and by a public rule."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning import LinearSVC, LogisticRegression
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.estimators.linear_methods import chosen_learner
from discreet.learning.perturbation.objective_learner import ObjectiveLearner
from discreet.learning.perturbation.output_learner import OutputLearner
from discreet.learning.training.budgets import stated_budget
from discreet.learning.training.newton_learner import NewtonLearner
from discreet.learning.training.score_losses import LOGISTIC, Softmax
from discreet.privacy.events import Pure

FEATURES = Features.of([(0, 1)], ["x"], by_name=False)
PURE, DELTA, RHO = {"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 1}


def chosen(method=None, classes=2, regularization=None, **stated):
    return chosen_learner(
        FEATURES,
        Classes.of("y", list(range(classes))),
        loss=LOGISTIC if classes == 2 else Softmax(classes),
        budget=stated_budget(**stated),
        rows=1,
        method=method,
        regularization=regularization,
    )


def test_a_name_chooses():
    for stated in (PURE, DELTA):
        kinds = [type(chosen(name, **stated)) for name in ("newton", "output", "objective")]
        assert kinds == [NewtonLearner, OutputLearner, ObjectiveLearner]


def test_the_rule_looks_at_the_budget_and_the_number_of_classes():
    assert isinstance(chosen(**PURE), ObjectiveLearner)
    for learner in (chosen(**DELTA), chosen(**RHO), chosen(classes=3, **PURE)):
        assert isinstance(learner, NewtonLearner)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"method": "best", **PURE}, "method"),
        ({"method": "output", "classes": 3, **PURE}, "method"),
        ({"method": "newton", "regularization": 1, **PURE}, "regularization"),
        ({"method": "objective", **RHO}, "rho"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, name):
    with pytest.raises(ParameterError, match=name):
        chosen(**wrong)


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
@pytest.mark.parametrize("method", ["output", "objective"])
def test_models_learn_what_is_there(kind, method):
    source = np.random.default_rng(3)
    design = source.uniform(0, 1, (2000, 2))
    labels = (design[:, 0] > 0.5).astype(int)
    model = kind(epsilon=10, columns=(0, 1), classes=[0, 1], method=method).fit(design, labels)
    assert (model.predict(design) == labels).mean() > 0.85
    assert model.event_ == Pure(epsilon=10)
    assert model.get_params()["method"] == method
