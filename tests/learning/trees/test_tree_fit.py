"""A released tree: predictions by walking it, and its text."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning import Split, TreeFit

SPLITS = (Split(feature=0, cut=1.0), Split(feature=1, cut=2.0), Split(feature=1, cut=5.0))
FIT = TreeFit(splits=SPLITS, counts=np.array([[9, 1], [0, 3], [-2, 4], [7, 7]]))


def walk(row):
    node = 0
    while node < 3:
        split = SPLITS[node]
        node = 2 * node + (1 if row[split.feature] <= split.cut else 2)
    return [0, 1, 1, 0][node - 3]


def test_rows_fall_into_the_leaves_that_a_walk_reaches():
    design = np.random.default_rng(1).integers(0, 8, (200, 2)).astype(float)
    design[0] = np.nan
    assert FIT.predict(design).tolist() == [walk(row) for row in design]
    assert FIT.predict(np.zeros((0, 2))).tolist() == []


def test_of_equal_counts_the_first_class_is_taken():
    assert FIT.classes.tolist() == [0, 1, 1, 0]


def test_it_is_told_in_lines():
    text = FIT.text(("age", "hours"))
    assert text.splitlines()[0] == "age <= 1"
    assert "  hours > 5\n    class 0  (counts [7, 7])" in text
    assert FIT.text().startswith("x0 <= 1")


def test_rows_with_too_few_features_are_refused():
    with pytest.raises(ParameterError):
        FIT.predict([[1.0]])
