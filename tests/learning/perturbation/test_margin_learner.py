"""What learners by perturbation share: rows of declared classes, and stated parameters."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np

from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.perturbation.objective_learner import ObjectiveLearner
from discreet.learning.perturbation.objective_perturbation import ObjectivePerturbation
from discreet.learning.perturbation.output_learner import OutputLearner
from discreet.learning.perturbation.output_perturbation import OutputPerturbation
from discreet.learning.training.budgets import stated_budget
from discreet.learning.training.score_losses import LOGISTIC

FEATURES = Features.of([(0, 1), (0, 1)], ["x", "z"], by_name=False)
TARGET = Classes.of("y", [0, 1])


def learners(rows=1, **stated):
    said = {"grid": FEATURES.grid, "loss": LOGISTIC, "budget": stated_budget(**(stated or {"epsilon": 1}))}
    output, objective = (kind(rows=rows, **said) for kind in (OutputPerturbation, ObjectivePerturbation))
    return (
        OutputLearner(features=FEATURES, target=TARGET, mechanism=output),
        ObjectiveLearner(features=FEATURES, target=TARGET, mechanism=objective),
    )


def test_the_law_is_that_of_the_mechanism():
    for found in learners(rows=2):
        assert (found.event, found.guarantee) == (found.mechanism.event, found.mechanism.guarantee)
        assert (found.columns, found.rows) == (("x", "z", "y"), 2)


def test_rows_of_no_class_are_left_out(monkeypatch):
    for found in learners():
        seen = []

        def kept(self, rows, labels, seen=seen):
            del self
            seen.append((len(rows), labels.tolist()))
            return np.zeros((3, 1))

        monkeypatch.setattr(type(found.mechanism), "release_steps", kept)
        values = [np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.5, 0.5]), np.array([1, 7, 0])]
        assert found.draw(values) == {"weights": [[0.0]] * 3}
        assert seen == [(2, [1, 0])]


def test_parameters_say_all_that_the_law_depends_on():
    found = [json.dumps(one.parameters, sort_keys=True) for one in (*learners(), *learners(rows=2))]
    assert len(set(found)) == 4
    assert all(Fraction(one.parameters["regularization"]) > 0 for one in learners())
