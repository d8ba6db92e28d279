"""Linear classifiers as learners: the law of Newton steps, on rows of declared classes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.learning.design.features import Features
from discreet.learning.design.indicator_rows import DenseRows
from discreet.learning.design.targets import Classes
from discreet.learning.training.budgets import stated_budget
from discreet.learning.training.newton_learner import NewtonLearner, newton_expectations, rows_of_classes
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.learning.training.score_losses import LOGISTIC

FEATURES = Features.of([(0, 1), (0, 1)], ["x", "z"], by_name=False)


def learner(**stated):
    newton = NoisyNewton(
        grid=FEATURES.grid, loss=LOGISTIC, budget=stated_budget(**(stated or {"rho": Fraction(1, 2)}))
    )
    return NewtonLearner(features=FEATURES, target=Classes.of("y", [0, 1]), newton=newton)


def test_rows_of_no_class_are_left_out():
    target = Classes.of("y", [0, 1])
    held, known, numbers = rows_of_classes(target, [np.array([1.0, 2.0, 3.0]), np.array([1, 7, 0])])
    assert held[0][known].tolist() == [1.0, 3.0]
    assert numbers.tolist() == [1, 0]


def test_the_law_is_that_of_the_steps():
    found = learner()
    assert (found.event, found.guarantee) == (found.newton.event, found.newton.guarantee)
    assert np.shape(found.draw([np.zeros(5), np.ones(5), np.ones(5)])["weights"]) == (3, 1)


@pytest.mark.statistical
def test_expected_noise_is_that_of_a_mean_slope():
    """Of no rows the released gradient is noise alone, and is divided by the assumed number of rows."""
    found = learner()
    slope, moment = newton_expectations(found.newton, 100)
    rows = DenseRows(FEATURES.rows([np.empty(0), np.empty(0)]))
    drawn = [
        found.newton._released_gradient(rows, np.empty(0, np.int64), np.zeros((3, 1))) for _ in range(2_000)
    ]
    assert abs(np.std(drawn) / 100 / slope.standard_deviation - 1) < 0.1
    assert slope.margin / slope.standard_deviation == pytest.approx(1.96, rel=0.05)
    assert moment.standard_deviation > 0


def test_words_name_the_noise():
    assert "Laplace" in learner(epsilon=1).words
    assert "normal" in learner().words
