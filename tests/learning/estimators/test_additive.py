"""Additive classifiers: step functions of columns, with bins that cost their share."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import accounting
from discreet.learning import AdditiveClassifier, LogisticRegression


def curved(count, source):
    """Ill in the middle: what no line can tell."""
    age = source.uniform(0, 100, (count, 1))
    return age, (np.abs(age[:, 0] - 50) < 20).astype(int)


@pytest.mark.statistical
def test_curves_are_found_that_lines_cannot_follow():
    ages, labels = curved(20_000, np.random.default_rng(2))
    stated = {"epsilon": 1, "delta": 1e-6, "columns": (0, 100), "classes": [0, 1]}
    found, line = AdditiveClassifier(bins=10, **stated), LogisticRegression(**stated)
    assert (found.fit(ages, labels).predict(ages) == labels).mean() > 0.9
    assert (line.fit(ages, labels).predict(ages) == labels).mean() < 0.7


def test_the_event_is_that_of_the_bins_and_of_the_weights():
    ages, labels = curved(100, np.random.default_rng(2))
    found = AdditiveClassifier(rho=0.1, columns=(0, 100), classes=[0, 1]).fit(ages, labels)
    assert abs(float(found.event_.concentrated_rho) - 0.1) < 1e-12
    assert accounting.epsilon(found.event_, delta=1e-6).upper < 2.5


def test_shapes_add_up_to_the_score_but_for_a_constant():
    """Every row's score is the sum of its steps, and a number that is the same for all rows."""
    source = np.random.default_rng(3)
    rows = np.column_stack([source.uniform(0, 100, 50), source.uniform(0, 100, 50)])
    found = AdditiveClassifier(rho=0.1, columns=(0, 100), classes=[0, 1]).fit(rows, [0, 1] * 25)
    scores = found.decision_function(rows)
    for place, shape in enumerate(found.shapes().values()):
        step = np.searchsorted(shape.ends[1:-1], rows[:, place], side="right")
        scores = scores - shape.values[step, 0]
        assert abs(shape.values.mean()) < 1e-9
        assert len(shape.names) == len(shape.values) == len(shape.ends) - 1
    assert np.ptp(scores) < 1e-9
    assert list(found.shapes()) == ["x0", "x1"]
