"""Figures of models: what is drawn is what was released."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.errors import ParameterError
from discreet.learning import AdditiveClassifier, CostRelease, GNMax, LogisticRegression, cost_curve, plot

FRAME = pandas.DataFrame({"age": [10.0, 60.0, 90.0] * 40, "city": ["a", "b", "a"] * 40})
STATED = {
    "rho": 1,
    "columns": {"age": dp.Bounds(0, 100), "city": dp.Keys(["a", "b"])},
    "classes": ["ill", "well"],
}
LABELS = ["ill", "well", "well"] * 40


@pytest.fixture
def additive():
    return AdditiveClassifier(**STATED).fit(FRAME, LABELS)


def test_coefficients_are_drawn_from_the_largest_on():
    model = LogisticRegression(**STATED).fit(FRAME, LABELS)
    ends = np.column_stack([model.coef_[0] - 1, model.coef_[0] + 2])
    drawn = plot.coefficients(model, intervals=ends, most=2)
    heights = drawn.get_lines()[0].get_ydata()
    assert np.allclose(np.sort(np.abs(heights)), np.sort(np.abs(model.coef_[0]))[1:])
    names = [text.get_text() for text in drawn.get_xticklabels()]
    assert names[0] == model.get_feature_names_out()[np.argmax(np.abs(model.coef_[0]))]
    with pytest.raises(ParameterError, match="intervals"):
        plot.coefficients(model, intervals=[[0, 1]])


def test_shapes_are_steps_of_numbers_and_points_of_keys(additive):
    age, city = plot.shapes(additive)
    shape = additive.shapes()["age"]
    line = age.get_lines()[0]
    assert np.allclose(line.get_xdata(), shape.ends)
    assert np.allclose(line.get_ydata()[:-1], shape.values[:, 0])
    assert np.allclose(city.get_lines()[0].get_ydata(), additive.shapes()["city"].values[:, 0])
    assert age.get_xlabel() == "age"
    assert len(plot.shapes(additive, ["city"])) == 1
    with pytest.raises(ParameterError, match="age, city"):
        plot.shapes(additive, ["nothing"])


def test_accuracy_has_a_line_for_each_model_and_one_without_privacy():
    drawn = plot.accuracy([0.1, 1], {"linear": [0.8, 0.83], "additive": [0.81, 0.85]}, without=0.85)
    assert [list(line.get_ydata()) for line in drawn.get_lines()] == [
        [0.8, 0.83],
        [0.81, 0.85],
        [0.85, 0.85],
    ]
    assert drawn.get_xscale() == "log"


def test_costs_are_drawn_over_the_number_of_queries():
    votes, release = GNMax(sigma=10, teachers=100, classes=3), CostRelease(order=8, rho="0.05", decay="0.2")
    curve = cost_curve(votes, np.full(60, 100), release=release, delta=1e-5, queries=[10, 60])
    drawn = plot.costs(curve)
    worst, released = drawn.get_lines()[:2]
    assert worst.get_xdata().tolist() == [10, 60]
    assert np.allclose(worst.get_ydata(), curve.worst)
    assert np.allclose(released.get_ydata(), curve.released)
    assert "1e-05" in drawn.get_ylabel()
