"""Additive classifiers as learners: the event is known before the bins are."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data import Keys
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.training.additive_learner import AdditiveLearner, indicator_rows
from discreet.learning.training.budgets import stated_budget
from discreet.learning.training.score_losses import LOGISTIC

FEATURES = Features.of([(0, 1), Keys(["a", "b"])], ["x", "city"], by_name=False)


def learner(bins=4, rows=1, **stated):
    return AdditiveLearner(
        features=FEATURES,
        target=Classes.of("y", [0, 1]),
        loss=LOGISTIC,
        budget=stated_budget(**(stated or {"rho": 0.5})),
        rows=rows,
        bins=bins,
    )


@pytest.mark.parametrize("values", [np.zeros(500), np.linspace(0, 1, 500), np.repeat([0.1, 0.9], 250)])
def test_the_number_of_coordinates_that_is_paid_for_does_not_depend_on_bins(values):
    found = learner()
    width = found.newton.grid.columns
    assert width == 2 + 7 + 1
    drawn = found.draw([values, np.array(["a", "b"] * 250), np.array([0, 1] * 250)])
    kept = found.binned(drawn["edges"])
    assert len(drawn["weights"]) == len(kept.names) + 1 <= width
    assert found.event == learner().event


def test_rows_by_places_are_the_rows_of_the_features():
    """None too long, so none is shortened; a row that is not of a class is left out."""
    source = np.random.default_rng(3)
    values = [source.uniform(-1, 2, 300), source.choice(["a", "b", "c"], 300)]
    values[0][:3] = [np.nan, np.inf, -np.inf]
    known = np.arange(300) % 7 > 0
    found = learner()
    for edges in ([[]], [[0.25, 0.5]], [np.linspace(0, 1, 22)[1:-1].tolist()]):
        binned = found.binned(edges)
        rows = indicator_rows(binned, values, found.newton.grid, known)
        held = np.zeros((len(rows), rows.width + 1), dtype=np.int64)
        np.put_along_axis(held, rows.places.astype(np.int64), rows.step, axis=1)
        assert (held[:, :-1] == binned.rows(values, found.newton.grid, known=known)).all()


def test_the_event_is_that_of_the_histogram_and_the_steps():
    found = learner()
    assert found.event == found.histogram.event + found.newton.event
    assert float(found.event.concentrated_rho) == pytest.approx(0.5)
    assert float(found.histogram.event.concentrated_rho) == pytest.approx(0.025)


def test_a_person_with_many_rows_moves_the_histogram_as_often():
    one, many = learner(), learner(rows=3)
    assert many.histogram.event.squared_sensitivity == 9 * one.histogram.event.squared_sensitivity
